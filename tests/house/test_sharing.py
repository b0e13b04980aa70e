"""Memory of others as tensors, as PyTorch takes and gives it."""
import itertools
import warnings

import numpy as np
import pytest

import jtensor


def outcome(library, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(eval(call, {"t": library, "b": bytearray(range(16)), "np": np}))
        except Exception as error:
            return type(error), str(error)


@pytest.mark.parametrize("call", [
    "t.frombuffer(b, dtype=t.uint8)", "t.frombuffer(b, dtype=t.int32, offset=4)", "t.frombuffer(b, dtype=t.int32, count=2)",
    "t.frombuffer(b, dtype=t.int32, offset=3)", "t.frombuffer(b, dtype=t.int32, count=9)", "t.frombuffer(b, dtype=t.int32, count=0)",
    "t.frombuffer(b, dtype=t.int32, offset=16)", "t.frombuffer(bytearray(), dtype=t.int32)", "t.frombuffer(bytes(b), dtype=t.uint8)",
    "t.frombuffer(3, dtype=t.uint8)", "t.frombuffer(b, dtype=t.float32, requires_grad=True)", "t.frombuffer(b, dtype=t.bfloat16)",
    "t.is_signed(t.ones(1, dtype=t.uint8))", "t.get_device(t.ones(1))", "t.is_distributed(t.ones(1))", "t.fill(t.ones(2), 3)",
    "t.fill(t.ones(2, requires_grad=True), 3.5)", "t.fill(t.ones(2), t.tensor(2))", "t.resize_as_(t.arange(6), t.ones(2, 2))",
    "t.unravel_index(t.tensor([3, 5]), (2, 3))", "t.unravel_index(t.tensor(3), 4)", "t.unravel_index(t.tensor([7, -1]), (2, 3))",
    "t.unravel_index(t.tensor([1.0]), (2, 3))", "t.unravel_index(t.tensor([1]), (2, -3))", "t.unravel_index(t.tensor([1]), (2.0, 3))",
    "np.from_dlpack(t.arange(3))", "t.utils.dlpack.from_dlpack(t.ones(2))", "t.from_dlpack(np.arange(3.0))"])
def test_as_in_pytorch(call):
    assert outcome(jtensor, call) == outcome(pytest.importorskip("torch"), call)


def test_memory_is_shared():
    buffer, array, tensor = bytearray(4), np.zeros(2), jtensor.zeros(2)
    jtensor.frombuffer(buffer, dtype=jtensor.uint8)[1] = 7
    jtensor.from_dlpack(array)[0] = 7
    jtensor.from_dlpack(tensor)[0] = 7
    assert buffer[1] == array[0] == tensor[0] == 7
    np.from_dlpack(tensor)                     # read-only or not, it is the same memory
    view = tensor.numpy()
    tensor.add_(1)
    assert view.tolist() == tensor.tolist()


def test_a_read_only_buffer_is_copied_with_a_warning():
    data = bytes(4)
    with pytest.warns(UserWarning, match="not writable"):
        made = jtensor.frombuffer(data, dtype=jtensor.uint8)
    made[0] = 1
    assert data == bytes(4)


ARRAYS = ["np.array(3.5)", "np.float32(2)", "np.arange(3.)", "np.arange(6).reshape(2, 3).T",
          "np.lib.stride_tricks.as_strided(np.ones(3), (2, 3), (0, 8))", "bytearray(16)", "[1, 2]", "2.5",
          "t.arange(3.)[1:]", "t.ones(2, requires_grad=True)", "t.ones(2, requires_grad=True) * 2"]


@pytest.mark.filterwarnings("ignore:torch.asarray")
@pytest.mark.parametrize("source", ARRAYS)
def test_asarray_shares_what_pytorch_shares(source):
    """Every combination of ``copy``, ``dtype`` and ``requires_grad``: what is made, whether it is the source's memory, and the error."""
    def seen(library, copy, dtype, requires_grad):
        obj = eval(source, {"t": library, "np": np})
        try:
            made = library.asarray(obj, copy=copy, dtype=dtype and getattr(library, dtype), **requires_grad)
        except Exception as error:
            return type(error).__name__, str(error)
        before = made.detach().tolist()
        if isinstance(obj, bytearray):
            obj[0] = 7
        else:
            (obj.detach() if hasattr(obj, "detach") else np.asarray(obj))[...] = 7
        return (before, made.tolist() == before, made is obj, str(made.dtype)[-7:], made.stride(), made.requires_grad, made.is_leaf,
                made._version, made.untyped_storage().nbytes())
    torch = pytest.importorskip("torch")
    asked = {}, {"requires_grad": False}, {"requires_grad": True}
    for case in itertools.product((None, True, False), (None, "float64", "float32"), asked):
        assert seen(jtensor, *case) == seen(torch, *case), case
