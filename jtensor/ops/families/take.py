"""Elements read and written by their positions in the flattened tensor: take, put.

Owns: these two; slices along a dimension are picked in `select`. Bounds are checked before. May not know: tensors as objects, but in
composites.
"""
import jax.numpy as jnp

from ...base import dtypes
from ...base.determinism import alert
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .bounds import check_bounds
from .composing import history_allows, memory_allows, put_out
from .index import add_at, read_at, set_at


def _check_take(self, index):
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {dtypes.scalar_name(index.dtype)}")
    if self.numel == 0 and index.numel:
        raise IndexError("take(): tried to take from an empty tensor")


def _take_gradient(grad, self, index):
    flat = jnp.zeros((self.size,), grad.dtype)
    return add_at(flat, [index.reshape(-1)], (0,), grad.reshape(-1)).reshape(self.shape)


@op(name="take.raw", backward="TakeBackward0", check=_check_take, nondiff=("index",), grad={"self": _take_gradient}, **RAW,
    double="PutBackward0!", quirks=Quirks(like_input=True, writes=1))
def take_raw(self: Tensor, index: Tensor):
    """The elements at flat positions."""
    return read_at(self.reshape(-1), [index], (0,))


def _flat_bounds(index, n):
    check_bounds(index, n, lambda at: IndexError(f"out of range: tried to access index {at} on a tensor of {n} elements."), negative=True)


@composite()
def take(input, index, *, out=None):
    """The elements at positions of the flattened tensor, in the index's shape.

    >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, -1]))
    tensor([1, 4])
    """
    _check_take(input._spec, index._spec)
    _flat_bounds(index, input._spec.numel)
    return put_out("take", take_raw(input, index), out, (input, index), asked_first=True)


def _check_put(self, index, source, accumulate):
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {dtypes.scalar_name(index.dtype)}")
    if self.dtype is not source.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{dtypes.scalar_name(self.dtype)} and source.dtype = {dtypes.scalar_name(source.dtype)}")
    if index.numel != source.numel:
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                         f"{source.numel}, index.numel() = {index.numel}")
    if self.numel == 0 and index.numel:
        raise IndexError("put_(): Tried to put elements into an empty tensor")


def _put_self(grad, index, accumulate):
    if accumulate:
        return grad
    return set_at(grad.reshape(-1), [index.reshape(-1)], (0,), jnp.zeros((), grad.dtype)).reshape(grad.shape)


@op(name="put.raw", backward="PutBackward0", layout="like", check=_check_put, nondiff=("index",), grad={
    "self": _put_self,
    "source": lambda grad, index, source: read_at(grad.reshape(-1), [index], (0,)).reshape(source.shape)},
    double={"source": "ViewBackward0!"}, **RAW, quirks=Quirks(accumulates=True, ends_in_view="source", apart=True))
def put_raw(self: Tensor, index: Tensor, source: Tensor, accumulate=False):
    """The source's elements at flat positions."""
    how = add_at if accumulate else set_at
    return how(self.reshape(-1), [index.reshape(-1)], (0,), source.reshape(-1)).reshape(self.shape)


@composite(asked=True)
def put(input, index, source, accumulate=False):
    """A copy of the tensor with the elements of ``source`` at positions of the flattened tensor (``accumulate``: added).

    >>> torch.zeros(2, 2).put(torch.tensor([1, 2]), torch.tensor([5., 6.]))
    tensor([[0., 5.],
            [6., 0.]])
    """
    if not accumulate:
        alert("put_")
    _check_put(input._spec, index._spec, source._spec, accumulate)
    _flat_bounds(index, input._spec.numel)
    return put_raw(input, index, source, bool(accumulate))


@composite(function=False)
def put_(self, index, source, accumulate=False):
    """``put``, written back into the tensor."""
    if not accumulate:
        alert("put_")
    history_allows(self, source)
    _check_put(self._spec, index._spec, source._spec, accumulate)
    memory_allows(self, index, source, internal=True)
    _flat_bounds(index, self._spec.numel)
    return put_raw.inplace_form(self, index, source, bool(accumulate))
