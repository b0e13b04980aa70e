"""Storages by themselves: made, read, written, resized and shared with tensors as PyTorch's are."""
import copy
import io
import operator
import os
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import jtensor

from ..parity.lines import alike, listed

LINES = listed(r'''
    s = F([1, 2, 3]); s, s.size(), len(s), s.nbytes(), s[1], s[-1], s.tolist(), list(s)
    torch.zeros(2 ** 62, 2 ** 62)
    torch.empty(2 ** 62, device="meta")
    torch.ones(4).repeat(2 ** 60)
    torch.ones(1).expand(2 ** 62).shape, torch.empty(2 ** 62, 0).shape, torch.empty(2 ** 61, dtype=torch.int8, device="meta").shape
    s = torch.FloatStorage(3); s.size()
    s = torch.FloatStorage(); s.size(), s.tolist()
    s = F([1, 2, 3]); s[0] = 7; s[1:] = 5; s.tolist()
    s = F([1, 2, 3]); setitem(s, 0, 7); setitem(s, slice(1, 3), 5); s.tolist()
    s = F([1, 2, 3]); s.fill_(4).tolist()
    s = F([1, 2, 3]); s.copy_(torch.FloatStorage([4, 5, 6])).tolist()
    s = F([1, 2, 3]); s.copy_(torch.DoubleStorage([4, 5, 6])).tolist()
    s = F([1, 2, 3]); c = s.clone(); s.fill_(0); c.tolist()
    s = F([1, 2, 3]); s.resize_(5); s.size(), s[0], s[2]
    s = F([1, 2, 3]); s.resize_(2); s.size()
    s = F([1, 2, 3]); s.double(), s.long().tolist(), s.half().dtype, s.int().type(), s.bool().tolist()
    s = F([1, 2, 3]); s.type(), s.dtype, s.device, s.is_cuda, s.element_size(), s.is_shared(), s.is_pinned(), s.get_device()
    s = F([1, 2, 3]); type(s), isinstance(s, torch.FloatStorage), isinstance(s, torch.TypedStorage), isinstance(s, torch.DoubleStorage)
    s = F([1, 2, 3]); s[5]
    s = F([1, 2, 3]); s[0:2]
    s = F([1, 2, 3]); s["a"]
    s = F([1, 2, 3]); s.cpu() is s, s.untyped().size(), s.cpu().tolist()
    s = F([1, 2, 3]); s == F([1, 2, 3]), s == s
    s = F([1, 2, 3]); torch.FloatTensor(s)
    s = F([1, 2, 3]); t = torch.empty(0).set_(s); t[0] = 9; s.tolist(), t
    s = F([1, 2, 3]); torch.empty(0).set_(s, 1, (2,), (1,))
    x = torch.arange(4.); s = x.storage(); setitem(s, 0, 8); x, s.size(), type(s).__name__
    x = torch.arange(4.)[1:]; s = x.untyped_storage(); s.size(), s.nbytes(), len(s), s[3], s.tolist()[:8]
    x = torch.arange(2, dtype=torch.int32); s = x.untyped_storage(); s[0] = 7; s.tolist()
    x = torch.arange(2, dtype=torch.int32); s = x.untyped_storage(); setitem(s, 0, 7); x
    x = torch.arange(2, dtype=torch.int32); s = x.untyped_storage(); s.fill_(1); x
    x = torch.arange(2, dtype=torch.int32); s = x.untyped_storage().clone(); x.fill_(9); s.tolist()
    x = torch.arange(2, dtype=torch.int32); x.untyped_storage().copy_(torch.ones(2, dtype=torch.int32).untyped_storage()); x
    x = torch.arange(4, dtype=torch.uint8); s = x.untyped_storage(); s[1:3].tolist()
    x = torch.arange(4, dtype=torch.uint8); s = x.untyped_storage(); s
    s = torch.UntypedStorage(4); s.size(), s.nbytes(), s.device, s.type(), s.element_size()
    s = torch.UntypedStorage([1, 2]); s.tolist()
    s = torch.UntypedStorage(); s.tolist()
    s = torch.UntypedStorage(4); s.fill_(0); s.tolist()
    s = torch.UntypedStorage(2); s.resize_(6); s.nbytes()
    s = torch.UntypedStorage(8).fill_(0); torch.empty(0).set_(s)
    s = torch.UntypedStorage(8).fill_(0); torch.tensor([], dtype=torch.float32).set_(s, 0, (2,), (1,))
    s = torch.UntypedStorage(8).fill_(0); s.float().tolist()
    torch.TypedStorage([1., 2.], dtype=torch.float64)
    torch.TypedStorage(2, dtype=torch.int32).size()
    torch.TypedStorage(wrap_storage=torch.UntypedStorage(8).fill_(0), dtype=torch.float32).tolist()
    torch.TypedStorage().dtype
    [getattr(torch, k + "Storage")([1]) for k in "Double Long Int Short Char Byte Half Bool BFloat16".split()]
    torch.FloatStorage.dtype, torch.LongStorage.dtype
    torch.FloatStorage, torch.UntypedStorage, torch.TypedStorage, torch.Storage, torch.Storage([1, 2]).tolist()
    torch.is_storage(torch.FloatStorage(2)), torch.is_storage(torch.ones(2)), torch.is_storage(torch.UntypedStorage(2))
    torch.FloatStorage("a")
    torch.FloatStorage([1], dtype=torch.int32)
    torch.FloatStorage(1, 2)
    torch.ByteStorage.from_buffer(bytearray([1, 2, 3]), "native").tolist()
    torch.FloatStorage.from_buffer(bytearray(8), "little").size()
    torch.UntypedStorage.from_buffer(bytearray([1, 2]), dtype=torch.uint8).tolist()
    x = torch.ones(2); x.storage().data_ptr() == x.data_ptr(), x.untyped_storage().data_ptr() == x.data_ptr()
    x = torch.ones(2); x.untyped_storage().resize_(0); x.untyped_storage().size()
    x = torch.ones(4); x.storage().resize_(0); x.storage().size()
    x = torch.ones(2); y = x.view(2, 1); x.storage()._cdata == y.storage()._cdata
    torch.ones(2).resize_(2, 4, 2**29, 2**29)
    torch.ones(2).resize_(8, 8, 2**29, 2**29)
    torch.ones(2).resize_(0, 4, 2**61)
    torch.ones(2).resize_(0, 2**61).shape
    x = torch.ones(2); x.storage().is_sparse, x.untyped_storage().is_sparse, x.untyped_storage().is_cuda
    x = torch.FloatStorage([1, 2]); y = copy.deepcopy(x); x.fill_(0); y.tolist()
    x = torch.ones(2); y = copy.copy(x.untyped_storage()); x.fill_(0); y.tolist()
    pickle.loads(pickle.dumps(torch.FloatStorage([1, 2]))).tolist()
    b = io.BytesIO(); torch.save(torch.FloatStorage([1, 2]), b); _ = b.seek(0); torch.load(b, weights_only=False).tolist()
    torch.FloatStorage([1, 2]).pin_memory()
    torch.FloatStorage([1., 2.]).to(device="cpu").tolist()
    hash(torch.FloatStorage([1.])) is not None
    torch.TypedStorage(wrap_storage=torch.UntypedStorage(8))
    torch.TypedStorage(wrap_storage=8, dtype=torch.float32)
    torch.TypedStorage(wrap_storage=torch.UntypedStorage(8), dtype=torch.float32, device="cpu")
    torch.TypedStorage(3, wrap_storage=torch.UntypedStorage(8), dtype=torch.float32)
    torch.TypedStorage(0, 0)
    torch.TypedStorage(0, dtype=0)
    torch.FloatStorage(torch.ones(1))
    torch.FloatStorage(wrap_storage=torch.FloatStorage(2))
    torch.FloatStorage(np.int16(3)).size(), torch.UntypedStorage(np.uint8(3)).size(), torch.TypedStorage(np.int64(0)).size()
    torch.UntypedStorage("a")
    torch.UntypedStorage(2.5)
    torch.UntypedStorage([1.5])
    torch.UntypedStorage([300, -1]).tolist()
    torch.UntypedStorage(-2)
    s = torch.UntypedStorage(list(range(16))); s.byteswap(torch.complex64); s.tolist()
    torch.UntypedStorage(3).byteswap(torch.int16)
    torch.UntypedStorage([1, 2]).new().size()
    torch.UntypedStorage([1, 2])["a"]
    torch.UntypedStorage([1, 2])[True]
    F([1.])["a"]
    setitem(F([1.]), "a", 1)
    setitem(F([1.]), 0, F([1.]))
    F([1.]).fill_(F([1.]))
    s = torch.UntypedStorage([1, 2, 3]); setitem(s, 0, 300); setitem(s, slice(1, None), 7); s.tolist()
    setitem(torch.UntypedStorage(1), 4, 1)
    setitem(torch.UntypedStorage(1), 0, 1.5)
    F([1.]).pickle_storage_type()
    issubclass(F, torch.TypedStorage), issubclass(torch.TypedStorage, torch.UntypedStorage), isinstance(F([1.]), torch.UntypedStorage)
    torch.tensor(F([1.]), dtype=torch.int32)
    torch.tensor(F([1., 2.])), torch.tensor(torch.UntypedStorage([1, 2, 3, 4, 5]), dtype=torch.int16), torch.as_tensor(F([1.]))
    s = F([1., 2.]); x = torch.tensor(s); x[0] = 9; s.tolist()
    torch.empty(0, dtype=torch.int32).set_(F([1.]))
    torch.TypedStorage(4, dtype=torch.float32, device="meta")[0]
    torch.TypedStorage(0, dtype=torch.float32, device="meta")[0]
    list(torch.TypedStorage(0, dtype=torch.float32, device="meta"))
    torch.UntypedStorage(4, device="meta").tolist()
    torch.UntypedStorage(4, device="meta")
    x = torch.ones(2); a = x.untyped_storage().resizable(); x.numpy(); a, x.untyped_storage().resizable(), x.storage().resizable()
    torch.FloatStorage.from_buffer(bytearray(b"abcdefgh"), "little", count=1).size()
    torch.IntStorage.from_buffer(bytearray(b"abcd"), byte_order="big").tolist()
    torch.IntStorage.from_buffer(bytearray(b"abcde"), byte_order="big")
    torch.IntStorage.from_buffer(bytearray(b"abcd"), byte_order="x")
    torch.IntStorage.from_buffer(bytearray(b"abcd"))
    torch.IntStorage.from_buffer(bytearray(b"abcd"), "little", 2)
    s = F([1., 2.]); q = copy.deepcopy([s, s.untyped()]); setitem(q[0], 0, 5); q[1].tolist(), s.tolist()
    x = torch.ones(2); q = copy.deepcopy([x, x.storage(), x.view(1, 2)]); _ = q[0].add_(1); q[1].tolist(), q[2], x
''')


@pytest.fixture(autouse=True)
def out_of_date_is_said_already():
    """That typed storages are out of date is said once in a process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jtensor.ones(1).storage()
        pytest.importorskip("torch").ones(1).storage()


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    alike("F = torch.FloatStorage; " + line, setitem=operator.setitem, copy=copy, pickle=pickle, io=io, np=np)


def test_what_there_is_not():
    with pytest.raises(NotImplementedError, match="jtensor does not have"):
        jtensor.FloatStorage([1.0]).type("torch.DoubleStorage")


def test_bytes_of_a_file(tmp_path):
    torch = pytest.importorskip("torch")
    name = str(tmp_path / "bytes")
    (tmp_path / "bytes").write_bytes(bytes(range(1, 33)))
    for lib in (torch, jtensor):
        mapped = lib.UntypedStorage.from_file(name, False, 32)
        assert (mapped.nbytes(), mapped[4:8].tolist(), mapped.filename) == (32, [5, 6, 7, 8], None)
        part = lib.asarray(mapped[8:16], dtype=lib.uint8)
        assert part.view(lib.int32).tolist() == [0x0C0B0A09, 0x100F0E0D] and lib.asarray(mapped[:8]).dtype == lib.int64
        part.zero_()
        assert (tmp_path / "bytes").read_bytes() == bytes(range(1, 33))
        with pytest.raises(RuntimeError, match="is smaller than the required mapping size <100>"):
            lib.UntypedStorage.from_file(name, False, 100)
        with pytest.raises(RuntimeError, match="unable to open file"):
            lib.UntypedStorage.from_file(name + "?", False, 4)


def test_safetensors(tmp_path):
    """Which writes what lies at a tensor's address, and reads storages of files; in a process where torch means jtensor."""
    pytest.importorskip("safetensors")
    script = """if True:
        import torch
        from safetensors.torch import load_file, save_file, save_model, load_model
        x = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.arange(4).to(torch.bfloat16), "c": torch.ones(2, 3).t().contiguous()}
        save_file(x, "x.safetensors")
        print(all(torch.equal(x[name], y) for name, y in load_file("x.safetensors").items()))
        model = torch.nn.Linear(3, 2)
        save_model(model, "m.safetensors")
        other = torch.nn.Linear(3, 2)
        print(load_model(other, "m.safetensors"), torch.equal(model.weight, other.weight), type(other.weight).__module__)
    """
    ran = subprocess.run([sys.executable, "-m", "jtensor", "-c", script], cwd=tmp_path, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(pathlib.Path(jtensor.__file__).parents[1])})
    assert ran.stdout.split("\n")[:2] == ["True", "(set(), []) True torch.nn.parameter"], ran.stderr


def test_a_tensor_whose_memory_was_resized_to_nothing_shows_no_other_memory():
    """PyTorch reads at no address then, and dies."""
    x = jtensor.arange(4.)
    x.untyped_storage().resize_(0)
    for look in (x.tolist, x[1:3].tolist, x[:1].item, x.numpy, lambda: repr(x), lambda: (x + 1).tolist()):
        with pytest.raises(ValueError, match="leaves a memory of 0 elements"):
            look()


def test_a_tensor_whose_memory_was_cut_short_shows_no_other_memory():
    """PyTorch reads what lies behind it."""
    x = jtensor.arange(4.)
    x.untyped_storage().resize_(8)
    for look in (x.tolist, x[1:].tolist, x.numpy, lambda: repr(x), lambda: (x + 1).tolist()):
        with pytest.raises(ValueError, match="leaves a memory of 2 elements"):
            look()
