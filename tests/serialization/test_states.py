"""What tensors of subclasses have beside their elements travels by files, pickles and copies: attributes, slots, what the class says."""
import copy
import io
import pickle

import pytest

import jtensor

from .both_ways import through


class Saying(jtensor.Tensor):
    """Says itself what its state is."""

    def __getstate__(self):
        return "mark", self.extra

    def __setstate__(self, state):
        self.marker, self.extra = state


class Slotted(jtensor.Tensor):
    """Has an attribute that is a slot, and is of its own class when it is copied."""

    __slots__ = ("elem", "empty")

    def new_empty(self, *args, **kwargs):
        return super().new_empty(*args, **kwargs).as_subclass(Slotted)


class SlottedParameter(jtensor.nn.Parameter):
    """The same of a parameter, which its pickle makes a plain one."""

    __slots__ = ("elem",)


WAYS = {"file": lambda x: through(x, jtensor.save, jtensor.load, weights_only=False), "pickle": lambda x: pickle.loads(pickle.dumps(x)),
        "copy": copy.copy, "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_a_class_says_what_its_state_is(way):
    x = jtensor.ones(2).as_subclass(Saying)
    x.extra, x.other = 3, 4
    made = WAYS[way](x)
    assert type(made) is Saying and made.tolist() == [1, 1] and made.__dict__ == {"marker": "mark", "extra": 3}


@pytest.mark.parametrize("way", WAYS)
def test_slots_travel(way):
    x = jtensor.ones(2).as_subclass(Slotted)
    x.extra, x.elem = 3, [4]
    made = WAYS[way](x)
    assert type(made) is Slotted and made.tolist() == [1, 1] and made.__dict__ == {"extra": 3}
    assert made.elem == [4] and (made.elem is x.elem) == (way == "copy") and not hasattr(made, "empty")


@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_slots_of_a_parameter_become_attributes(way):
    x = SlottedParameter(jtensor.ones(2))
    x.elem, x.extra = [4], 3
    made = WAYS[way](x)
    assert type(made) is jtensor.nn.Parameter and made.__dict__ == {"extra": 3, "elem": [4]} and made.requires_grad


class Reduced:
    """Says by a function of `torch._utils` how it is put together."""

    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce_ex__(self, protocol):
        return self.reduced


def spoofed(library, layout):
    """A sparse tensor with an index that is out of its range, in a file."""
    indices = [library.tensor([[3, 1]])] if layout == "sparse_coo" else [library.tensor([0, 2]), library.tensor([0, 3])]
    size = (3,) if layout == "sparse_coo" else (1, 3)
    file = io.BytesIO()
    library.save(Reduced(library._utils._rebuild_sparse_tensor, (getattr(library, layout), (*indices, library.ones(2), size))), file)
    return file.getvalue()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
def test_sparse_tensors_of_files_are_checked_where_invariants_are(layout):
    torch = pytest.importorskip("torch")
    errors = []
    for library in (torch, jtensor):
        for written in (spoofed(torch, layout), spoofed(jtensor, layout)):
            assert library.load(io.BytesIO(written))._nnz() == 2
            with library.sparse.check_sparse_tensor_invariants(), pytest.raises(RuntimeError) as caught:
                library.load(io.BytesIO(written))
            errors.append(str(caught.value).partition("\n")[0])
    assert len(set(errors)) == 1
    assert "is not satisfied" in errors[0] or "size is inconsistent with indices: for dim 0" in errors[0]


def test_a_class_of_another_library_whose_name_begins_with_torch(monkeypatch):
    monkeypatch.setattr(Slotted, "__module__", "torchother.tensors")
    x = jtensor.ones(2).as_subclass(Slotted)
    file = io.BytesIO()
    with pytest.raises(pickle.PicklingError, match="torchother"):               # it is named, and there is no such module
        jtensor.save(x, file)
