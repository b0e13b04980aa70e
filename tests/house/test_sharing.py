"""Memory of others as tensors, as PyTorch takes and gives it."""
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
