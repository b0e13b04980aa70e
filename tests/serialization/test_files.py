"""Files of PyTorch's format: what one library saves the other loads; nothing runs that a file asks for; a path is written whole or not at
all."""
import collections
import contextlib
import io
import pickle
import zipfile

import numpy as np
import pytest

import jtensor
from jtensor.serialization import names

from .both_ways import same, through

DTYPES = ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64", "complex128",
          "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_in_both_directions(name):
    torch = pytest.importorskip("torch")
    ours, theirs = (library.arange(6).to(getattr(library, name)).view(2, 3).t()[1:] for library in (jtensor, torch))
    same(ours, through(ours, jtensor.save, torch.load))
    same(through(theirs, torch.save, jtensor.load), theirs)
    same(through(ours, jtensor.save, jtensor.load), theirs)


def content(library):
    base = library.arange(4.0)
    z = library.tensor([1 + 2j, 3 - 1j])
    named = library.ones(2)
    named.note = "kept"
    return {
        "base": base,
        "view": base[1:3],
        "flag": library.ones(2, requires_grad=True),
        "conj": z.conj(),
        "neg": library.tensor([1 + 2j, 3 - 1j]).conj().imag,
        "parameter": library.nn.Parameter(library.ones(2, 1), requires_grad=False),
        "empty": library.empty(0, 3),
        "named": named,
        "nested": [(1, 2.5, None, True), {"k": "v"}, {1, 2}, collections.OrderedDict(a=library.zeros(()))],
        "facts": [library.float16, library.Size([2, 3]), library.device("cpu")],
    }


def check(found, library):
    theirs = content(library)
    assert list(found) == list(theirs)
    assert found["base"].untyped_storage().data_ptr() == found["view"].untyped_storage().data_ptr()
    found["view"][0] = 9
    assert found["base"].tolist() == [0, 9, 2, 3]
    assert type(found["parameter"]) is library.nn.Parameter and not found["parameter"].requires_grad
    assert found["named"].note == "kept" and found["flag"].requires_grad and found["empty"].shape == (0, 3)
    assert found["conj"].is_conj() and found["conj"].tolist() == [1 - 2j, 3 + 1j]
    assert found["neg"].is_neg() and found["neg"].tolist() == [-2, 1]
    assert found["nested"][0] == (1, 2.5, None, True) and found["nested"][1:3] == [{"k": "v"}, {1, 2}]
    assert isinstance(found["nested"][3], collections.OrderedDict) and found["nested"][3]["a"].shape == ()
    assert found["facts"] == theirs["facts"]


def test_containers_views_and_marks():
    check(through(content(jtensor), jtensor.save, jtensor.load), jtensor)


def test_pytorch_loads_our_files_and_we_load_its():
    torch = pytest.importorskip("torch")
    check(through(content(jtensor), jtensor.save, torch.load), torch)
    check(through(content(torch), torch.save, jtensor.load), jtensor)


def test_state_of_modules_and_optimizers_travels():
    torch = pytest.importorskip("torch")

    def trained(library):
        library.manual_seed(0)
        model = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.BatchNorm1d(3))
        optimizer = library.optim.Adam(model.parameters(), lr=0.1)
        model(library.ones(4, 2)).sum().backward()
        optimizer.step()
        return model, optimizer

    (ours, our_optimizer), (theirs, their_optimizer) = trained(jtensor), trained(torch)
    state = through({"model": theirs.state_dict(), "optimizer": their_optimizer.state_dict()}, torch.save, jtensor.load)
    assert str(ours.load_state_dict(state["model"])) == "<All keys matched successfully>"
    our_optimizer.load_state_dict(state["optimizer"])
    state = through({"model": ours.state_dict(), "optimizer": our_optimizer.state_dict()}, jtensor.save, torch.load)
    assert str(theirs.load_state_dict(state["model"])) == "<All keys matched successfully>"
    their_optimizer.load_state_dict(state["optimizer"])
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())


class Point:
    def __init__(self, x):
        self.x = x


def test_weights_only_makes_nothing_that_is_not_listed():
    written = io.BytesIO()
    jtensor.save(Point(jtensor.ones(1)), written)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        jtensor.load(io.BytesIO(written.getvalue()))
    with jtensor.serialization.safe_globals([Point]):
        assert jtensor.load(io.BytesIO(written.getvalue())).x.item() == 1
    assert not jtensor.serialization.get_safe_globals()
    assert jtensor.load(io.BytesIO(written.getvalue()), weights_only=False).x.item() == 1


@pytest.mark.parametrize("call", ["cos\nsystem", "builtins\neval", "builtins\ngetattr", "jtensor\nload"])
def test_a_hostile_file_runs_nothing(call):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02c" + call.encode() + b"\nX\x04\x00\x00\x00true\x85R.")
        archive.writestr("archive/version", b"3\n")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        jtensor.load(file)


def text(written):
    return b"X" + len(written).to_bytes(4, "little") + written.encode()


STATE = b"(N}" + text("marked") + text("yes") + b"stb."
HOSTILE = [b"ctorch.serialization\n_get_layout\n" + text("save") + b"\x85R" + text("hello") + text("PATH") + b"\x86R.",
           b"ctorch.serialization\n_get_layout\n" + text("nn") + b"\x85R.",
           b"ctorch\nTensor\n" + STATE, b"ctorch._utils\n_rebuild_tensor_v2\n" + STATE, b"ctorch\nFloatStorage\n" + STATE,
           b"ctorch\nFloatStorage\n" + STATE.replace(b"(N}", b"}").replace(b"stb", b"sb"),
           b"ctorch\nfloat32\n" + STATE,
           b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch.serialization\n_get_layout\nctorch\nTensor\n"
           + text("torch.strided") + b"\x85" + STATE[:-2] + b"tR."]


@pytest.mark.parametrize("older", [False, True], ids=["zip", "older"])
@pytest.mark.parametrize("pickled", HOSTILE)
def test_a_hostile_file_calls_and_changes_nothing_of_the_library(pickled, older, tmp_path):
    """Not by what a function that may be named answers, nor by states of classes, functions and types."""
    pickled = b"\x80\x02" + pickled.replace(text("PATH"), text(str(tmp_path / "written")))
    file = io.BytesIO()
    jtensor.save(0, file, _use_new_zipfile_serialization=not older)
    if older:
        written = file.getvalue()
        plain = pickle.dumps(0, 2)
        assert plain in written
        file = io.BytesIO(written.replace(plain, pickled))
    else:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("archive/version", "3\n")
            archive.writestr("archive/data.pkl", pickled)
    file.seek(0)
    with pytest.raises((pickle.UnpicklingError, KeyError)):
        jtensor.load(file)
    touched = (jtensor.Tensor, jtensor._utils._rebuild_tensor_v2, jtensor.float32, jtensor.strided, names.TENSORS["torch", "FloatStorage"])
    assert not list(tmp_path.iterdir()) and not any(hasattr(one, "marked") for one in touched)


def test_some_modules_are_blocked_whoever_allows_them():
    import posix
    file = io.BytesIO()
    jtensor.save(posix.getpid, file)
    with jtensor.serialization.safe_globals([posix.getpid]), pytest.raises(
            pickle.UnpicklingError, match="unsupported GLOBAL posix.getpid whose module posix is blocked"):
        jtensor.load(io.BytesIO(file.getvalue()))


def test_a_module_as_a_whole():
    model = jtensor.nn.Linear(2, 2)
    found = through(model, jtensor.save, jtensor.load, weights_only=False)
    assert isinstance(found, jtensor.nn.Linear) and found.weight.tolist() == model.weight.tolist()


def test_a_path_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "model.pt"
    jtensor.save(jtensor.ones(2), path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        jtensor.save([jtensor.zeros(2), lambda: None], path)
    assert jtensor.load(path).tolist() == [1, 1] and [found.name for found in tmp_path.iterdir()] == ["model.pt"]
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        jtensor.save(1, tmp_path / "nowhere" / "x.pt")


def test_hooks_are_not_written():
    x = jtensor.ones(2, requires_grad=True)
    x.register_hook(print)
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        jtensor.save(x, io.BytesIO())


def test_one_storage_as_two_types_cannot_be_saved():
    torch = pytest.importorskip("torch")
    for library in (jtensor, torch):
        t = library.ones(2)
        with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as different types"):
            library.save([t, t.view(library.int32)], io.BytesIO())
        empty, file = library.ones(0), io.BytesIO()                              # which has no data that would be viewed
        library.save([empty, empty.view(library.int32)], file)
        file.seek(0)
        assert [str(t.dtype) for t in library.load(file)] == ["torch.float32", "torch.int32"]


def test_records_are_aligned():
    file = io.BytesIO()
    jtensor.save([jtensor.ones(3), jtensor.ones(5)], file)
    raw = file.getvalue()
    for info in zipfile.ZipFile(file).infolist():
        name, extra = (int.from_bytes(raw[info.header_offset + at:info.header_offset + at + 2], "little") for at in (26, 28))
        assert (info.header_offset + 30 + name + extra) % 64 == 0


def test_map_location():
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(torch.ones(2, device="meta"), file)
    for place in ("cpu", jtensor.device("cpu"), {"cpu": "cpu"}, lambda storage, name: storage, None):
        file = io.BytesIO()
        jtensor.save(jtensor.ones(2), file)
        file.seek(0)
        assert str(jtensor.load(file, map_location=place).device) == "cpu"


@pytest.mark.skipif(jtensor.cuda.is_available(), reason="here it can be loaded")
def test_files_of_a_gpu_say_how_to_load_them():
    file, other = io.BytesIO(), io.BytesIO()
    jtensor.save(jtensor.ones(2), file)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    written = other.getvalue()
    for place in (None, "cuda", {"cuda:0": "cuda:1"}):
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but"):
            jtensor.load(io.BytesIO(written), map_location=place)
    for place in ("cpu", {"cuda:0": "cpu"}):
        assert jtensor.load(io.BytesIO(written), map_location=place).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of .* \(tagged with foo\)"):
        jtensor.load(io.BytesIO(written), map_location="foo")


@pytest.mark.parametrize("damaged", [b"", b"text", b"PK\x03\x04 cut"])
def test_damaged_files_say_so(damaged):
    with pytest.raises((EOFError, IndexError, RuntimeError, pickle.UnpicklingError)):
        jtensor.load(io.BytesIO(damaged))


def test_archives_of_others_are_refused_as_in_pytorch():
    torch = pytest.importorskip("torch")
    damaged = [b"hello"]
    for held in (["x.txt"], ["x/y"], ["b/c", "a/data.pkl"], ["x.txt", "a/data.pkl"], ["a/version", "a/b"], ["a/.data/version", "a/"]):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name in held:
                archive.writestr(name, "3\n")
        damaged.append(file.getvalue())
    for data in damaged:
        with pytest.raises((KeyError, RuntimeError)) as theirs:
            torch.load(io.BytesIO(data))
        with pytest.raises(theirs.type) as ours:
            jtensor.load(io.BytesIO(data))
        assert str(ours.value) == str(theirs.value)


def older(obj):
    """A file as PyTorch wrote them before 1.6."""
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(obj, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    return file


def test_files_from_before_the_zip_format():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.).view(2, 3)
    held = [x, x.t()[1:], x.half(), torch.ones(1, dtype=torch.complex64).conj(), torch.empty(0), torch.nn.Parameter(torch.ones(2))]
    read = jtensor.load(older(held))
    for ours, theirs in zip(read, held, strict=True):
        same(ours, theirs)
    read[0][0, 1] = 9
    assert read[1][0, 0] == 9
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    found = jtensor.load(older({"net": net.state_dict(), "kind": torch.float16, "size": torch.Size([1])}))
    assert type(found["net"]) is collections.OrderedDict and list(found["net"]) == list(net.state_dict())
    assert found["kind"] is jtensor.float16 and found["size"] == (1,)
    with pytest.raises(RuntimeError, match="unexpected EOF, expected 3 more bytes"):
        jtensor.load(io.BytesIO(older(x).getvalue()[:-3]))


def test_a_file_is_read_from_where_it_is(tmp_path):
    """As in PyTorch: behind other data; objects of the older format one after the other; a file that was just written holds no more."""
    torch = pytest.importorskip("torch")
    found = []
    for library in (torch, jtensor):
        for zipped, count in ((True, 1), (False, 2)):
            with open(tmp_path / "several", "w+b") as file:
                pickle.dump("first", file)
                for k in range(count):
                    library.save(library.ones(2) + k, file, _use_new_zipfile_serialization=zipped)
                size = (tmp_path / "several").stat().st_size               # nothing is kept back until the file is closed
                with pytest.raises(EOFError):
                    library.load(file)
                file.seek(0)
                found.append((pickle.load(file), *(library.load(file).tolist() for _ in range(count)), size == file.seek(0, 2)))
    assert found[:2] == found[2:] == [("first", [1, 1], True), ("first", [1, 1], [2, 2], True)]


def test_references_of_python_2_that_stay_bytes():
    """A file of PyTorch 0.4 in Python 2.7: its texts are bytes, those that name storages among them."""
    written = (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}U\rlittle_endian\x88s."
               b"\x80\x02](U\x02\xc5\xbcctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x017U\x03cpu"
               b"\x8a\x01\x01NtQK\x00K\x01\x85K\x01\x85\x89NtRe.\x80\x02]U\x017a.\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80?")
    for options in ({}, {"weights_only": False}):
        with contextlib.nullcontext() if options else pytest.warns(UserWarning, match="pickle_load_args only works if"):
            text, number = jtensor.load(io.BytesIO(written), encoding="bytes", **options)
        assert text == b"\xc5\xbc" and number.tolist() == [1]
    assert jtensor.load(io.BytesIO(written), weights_only=False, encoding="utf-8")[0] == "\u017c"


def test_files_are_written_as_before_the_zip_format(tmp_path):
    """PyTorch reads them, and so do we: shared memory, parameters, views that conjugate; types that it had no storages for are refused."""
    torch = pytest.importorskip("torch")
    x = jtensor.arange(6.).view(2, 3)
    held = [x, x.t()[1:], x.half(), jtensor.ones(1, dtype=jtensor.complex64).conj(), jtensor.empty(0),
            jtensor.nn.Parameter(jtensor.ones(2)),
            {"net": jtensor.nn.Linear(2, 3).state_dict(), "kind": jtensor.float16, "size": jtensor.Size([1])}]
    jtensor.save(held, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert not zipfile.is_zipfile(tmp_path / "old.pt")
    theirs, read = torch.load(tmp_path / "old.pt"), jtensor.load(tmp_path / "old.pt")
    for ours, other in zip(held[:-1], theirs[:-1], strict=True):
        same(ours, other)
    for ours, other in zip(read[:-1], theirs[:-1], strict=True):
        same(ours, other)
    theirs[0][0, 1] = 9
    assert theirs[1][0, 0] == 9 and theirs[-1]["kind"] is torch.float16 and list(theirs[-1]["net"]) == ["weight", "bias"]
    with pytest.raises(NotImplementedError, match="older format; what works: the zip format"):
        jtensor.save(x.to(jtensor.float8_e5m2), io.BytesIO(), _use_new_zipfile_serialization=False)


def test_functions_without_a_name_are_refused_as_by_pickle():
    torch = pytest.importorskip("torch")

    def of_here():
        return 0
    for obj in (lambda: 1, of_here, lambda_of_module, [test_functions_without_a_name_are_refused_as_by_pickle.__code__]):
        said = []
        for library in (torch, jtensor):
            with pytest.raises(Exception) as raised:
                library.save(obj, io.BytesIO())
            said.append((raised.type, str(raised.value)))
        assert said[0] == said[1]


lambda_of_module = lambda: 2


class Calls:
    """What reading it would call is seen."""

    def __reduce__(self):
        return Calls.made.append, (1,)
    made = []


def test_an_older_file_makes_nothing_either_that_is_not_allowed():
    kind = older([Calls()])
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        jtensor.load(kind)
    with pytest.raises(pickle.UnpicklingError):
        jtensor.load(io.BytesIO(pickle.dumps(Calls(), 2)))
    assert not Calls.made


def test_a_function_as_map_location_is_given_the_bytes():
    seen = []
    file = io.BytesIO()
    jtensor.save(jtensor.tensor([1., 2.]), file)
    for read in (file, older(pytest.importorskip("torch").tensor([1., 2.]))):
        read.seek(0)
        jtensor.load(read, map_location=lambda storage, place: seen.append((storage.tolist(), place)))
    assert seen == [([0, 0, 128, 63, 0, 0, 0, 64], "cpu")] * 2


def test_a_parameter_is_one_again_under_the_name_of_torch(monkeypatch):
    monkeypatch.setattr(jtensor.nn.Parameter, "__module__", "torch.nn.parameter")           # as it is called in a script
    found = through(jtensor.nn.Parameter(jtensor.ones(2)), jtensor.save, jtensor.load)
    assert type(found) is jtensor.nn.Parameter and found.is_leaf and found.requires_grad and found._base is None
