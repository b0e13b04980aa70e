"""Whole objects in files, in both directions: models, schedules, layouts, storages; the names by which a file asks for them."""
import collections
import copy
import fractions
import io
import operator
import pickle
import warnings

import numpy as np
import pytest

import jtensor

from .both_ways import same, through


def whole(library):
    nn = library.nn
    layer = nn.TransformerEncoderLayer(4, 2, 6, activation=nn.functional.gelu, batch_first=True)
    return {"x": library.arange(24.0).reshape(2, 3, 4) / 10,
            "models": [nn.LSTM(4, 3, bidirectional=True, batch_first=True), nn.Sequential(nn.GRU(4, 2)), layer.eval(),
                       nn.Upsample(scale_factor=2), nn.utils.weight_norm(nn.Linear(4, 2)),
                       nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4))],
            "parts": [nn.GRUCell(4, 2), nn.ParameterList([nn.Parameter(library.ones(2))]), nn.MultiheadAttention(4, 2), nn.PixelShuffle(2)],
            "functions": [library.sigmoid, nn.functional.relu, nn.init.zeros_],
            "step": library.optim.lr_scheduler.StepLR(library.optim.SGD([library.zeros(1)], 0.1), 2),
            "transform": library.distributions.ExpTransform(), "storage": library.ones(2).untyped_storage()}


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated", "ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("there", [True, False], ids=["from PyTorch", "to PyTorch"])
def test_whole_models_in_both_directions(there):
    torch = pytest.importorskip("torch")
    source, target = (torch, jtensor) if there else (jtensor, torch)
    torch.manual_seed(0), jtensor.manual_seed(0)
    given = whole(source)
    found = through(given, source.save, target.load, weights_only=False)
    for before, after in zip(given["models"], found["models"], strict=True):
        assert type(after).__module__ == type(before).__module__.replace(source.__name__, target.__name__, 1)
        wanted, seen = before(given["x"]), after(found["x"])
        for one, other in zip(*((y if isinstance(y, tuple) else (y,))[:1] for y in (wanted, seen)), strict=True):
            np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)
    assert [repr(part) for part in found["parts"]] == [repr(part) for part in given["parts"]]
    assert [f(target.zeros(1)).item() for f in found["functions"]] == [0.5, 0.0, 0.0]
    assert found["step"].state_dict() == given["step"].state_dict() and type(found["transform"]).__name__ == "ExpTransform"
    assert isinstance(found["storage"], target.storage.TypedStorage) and list(found["storage"]) == [0, 0, 128, 63] * 2


def test_a_function_that_no_module_shows_is_refused():
    def hidden():
        pass
    hidden.__module__, hidden.__qualname__ = "jtensor.linalg", "hidden"
    with pytest.raises(pickle.PicklingError, match="it's not found as jtensor.linalg.hidden"):
        jtensor.save(hidden, io.BytesIO())


@pytest.mark.parametrize("path", ["linalg.norm", "fft.rfft", "special.i0e", "nn.functional.linear", "nn.functional.gelu"])
def test_pytorch_reads_functions_where_it_has_them(path):
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    jtensor.save(operator.attrgetter(path)(jtensor), file)
    file.seek(0)
    assert torch.load(file, weights_only=False) is operator.attrgetter(path)(torch)


class Renamed(pickle.Unpickler):
    """Python's own unpickler where our library goes by PyTorch's name."""

    def find_class(self, module, name):
        return super().find_class("jtensor" + module.removeprefix("torch") if module.startswith("torch") else module, name)


def test_pickles_of_pytorch_are_read():
    torch = pytest.importorskip("torch")
    base = torch.arange(6.0)
    given = [base, base.view(2, 3).t()[1:], torch.nn.Parameter(torch.ones(2)), torch.eye(2).to_sparse(), torch.float64, torch.Size([2]),
             torch.device("cpu"), torch.strided]
    found = Renamed(io.BytesIO(pickle.dumps(given))).load()
    same(found[0], given[0]), same(found[1], given[1])
    assert type(found[2]) is jtensor.nn.Parameter and found[2].requires_grad and found[3].to_dense().tolist() == [[1, 0], [0, 1]]
    assert found[4:] == [jtensor.float64, jtensor.Size([2]), jtensor.device("cpu"), jtensor.strided]


def test_a_tensor_that_takes_all_of_its_memory_is_read_as_it_lies():
    """The products of a model that was loaded as a whole are those of the model that was saved, to the bit; views still share."""
    jtensor.manual_seed(0)
    model, x = jtensor.nn.Linear(6, 8), jtensor.randn(16, 6)
    column, image = jtensor.randn(3, 4).t(), jtensor.randn(2, 3, 4, 5).to(memory_format=jtensor.channels_last)
    base = jtensor.arange(6.0)
    loaded, *others, line, square = through([model, column, image, base, base.view(2, 3)], jtensor.save, jtensor.load, weights_only=False)
    assert jtensor.equal(loaded(x), model(x))
    for ours, read in zip([column, image], others, strict=True):
        assert jtensor.equal(read, ours) and read.stride() == ours.stride()
    for read in loaded.weight, *others, line:
        assert read._spec is read._storage.spec
    square[1] = 9
    assert line.tolist() == [0, 1, 2, 9, 9, 9] and square.data_ptr() == line.data_ptr()


def _with_a_hook(library):
    layer = library.nn.Linear(1, 1)
    layer._register_load_state_dict_pre_hook(print)
    return layer


def _schedule(library, mode):
    optimizer = library.optim.SGD([library.nn.Parameter(library.ones(1))], lr=0.1, momentum=0.5)
    return library.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.9, step_size_up=2, mode=mode, gamma=0.5)


def _rates(schedule):
    rates = []
    for _ in range(7):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                        # that the loaded optimizer's step is not the one that was watched
            schedule.optimizer.step()
            schedule.step()
        rates += schedule.get_last_lr()
    return rates


OBJECTS = {
    "lazy": (lambda library: library.nn.LazyLinear(3), repr),
    "named tuple": (lambda library: library.tensor([3.0, 1.0]).max(0), repr),
    "generator": (lambda library: library.Generator().manual_seed(5), lambda g: (g.initial_seed(), g.get_state().sum().item())),
    **{mode: (lambda library, mode=mode: _schedule(library, mode), _rates) for mode in ("triangular", "triangular2", "exp_range")},
    "spectral": (lambda library: library.nn.utils.spectral_norm(library.nn.Linear(2, 2)), lambda m: sorted(m.state_dict()._metadata[""])),
    "hook": (_with_a_hook, lambda m: [str(k) for k in m.load_state_dict(m.state_dict())]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_whole_objects_in_both_directions(name):
    """What a file names is there in both libraries: classes, functions of classes, and how an object is put together again."""
    torch = pytest.importorskip("torch")
    make, told = OBJECTS[name]
    expected = told(make(torch))
    for save, load in (jtensor, jtensor), (jtensor, torch), (torch, jtensor):
        assert told(through(make(save), save.save, load.load, weights_only=False)) == expected, (save, load)


def test_a_state_of_a_schedule_that_has_its_function():
    """PyTorch wrote them so before its version 2.5."""
    torch = pytest.importorskip("torch")
    optimizer = jtensor.optim.SGD([jtensor.nn.Parameter(jtensor.ones(1))], lr=0.1)
    schedule = jtensor.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2)
    state = {**schedule.state_dict(), "anneal_func": torch.optim.swa_utils.SWALR._cosine_anneal}
    schedule.load_state_dict(through(state, torch.save, jtensor.load, weights_only=False))
    rates = []
    for _ in range(2):
        optimizer.step()
        schedule.step()
        rates += schedule.get_last_lr()
    assert rates == pytest.approx([0.3, 0.5])


def test_layouts_travel_and_stay_the_only_ones_of_their_kind():
    torch = pytest.importorskip("torch")
    for name in ("strided", "sparse_coo", "sparse_csr"):
        for library, other in ((jtensor, torch), (torch, jtensor), (jtensor, jtensor)):
            file = io.BytesIO()
            library.save({"layout": getattr(library, name)}, file)
            for weights_only in (True, False):
                assert other.load(io.BytesIO(file.getvalue()), weights_only=weights_only)["layout"] is getattr(other, name)
    for one in (jtensor.strided, jtensor.sparse_bsc, jtensor.channels_last, jtensor.preserve_format):
        assert pickle.loads(pickle.dumps(one)) is copy.copy(one) is copy.deepcopy([one])[0] is one


def test_bytes_and_meta_tensors_in_both_directions():
    torch = pytest.importorskip("torch")
    for ours, theirs in ((jtensor, torch), (torch, jtensor)):
        held = [b"ab\xff\x00", bytearray(b"a\xfe"), theirs.ones(2, 3, device="meta").t(),
                theirs.nn.Parameter(theirs.ones(1, device="meta", dtype=theirs.float16))]
        found = through(held, theirs.save, ours.load)
        assert found[:2] == held[:2]
        for read, written in zip(found[2:], held[2:], strict=True):
            assert read.is_meta and (tuple(read.shape), read.stride(), str(read.dtype), read.requires_grad) == (
                tuple(written.shape), written.stride(), str(written.dtype), written.requires_grad)
            assert type(read).__name__ == type(written).__name__


def test_names_in_a_file_that_are_not_safe():
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save([fractions.Fraction(1, 2), torch.nn.ReLU(), torch.ones(1), b"x"], file)
    found = []
    for library in (torch, jtensor):
        file.seek(0)
        found.append(set(library.serialization.get_unsafe_globals_in_checkpoint(file)))
    assert found[0] == found[1]
    with pytest.raises(pickle.UnpicklingError, match="^Weights only load failed"):
        jtensor.load(io.BytesIO(b"of another format"))
    memory = through(jtensor.ones(1).untyped_storage(), jtensor.save, jtensor.load)
    assert "[torch.storage.TypedStorage(" in str(memory)


@pytest.mark.parametrize("obj, named", [(collections.defaultdict(list), [collections.defaultdict, list]), (frozenset([1]), [frozenset]),
                                        (slice(1, 2), [slice]), (int, [int])])
def test_plain_classes_are_refused_until_they_are_allowed(obj, named):
    torch = pytest.importorskip("torch")
    for library in (torch, jtensor):
        file = io.BytesIO()
        library.save(obj, file)
        with pytest.raises(pickle.UnpicklingError, match="^Weights only load failed"):
            library.load(io.BytesIO(file.getvalue()))
        assert library.load(io.BytesIO(file.getvalue()), weights_only=False) == obj
        with library.serialization.safe_globals(named):
            assert library.load(io.BytesIO(file.getvalue())) == obj
