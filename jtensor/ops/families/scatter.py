"""Elements picked and placed along one dimension by an index of the result's shape.

Owns: gather, take_along_dim, scatter, scatter_add. Indices are in bounds by `bounds`, and never negative. Other reductions are in
`scatter_reduce`. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes, sites
from ..build import cast_to
from ..operator import RAW, Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .bounds import check_bounds, out_of_bounds
from .composing import history_allows, memory_allows, number_fits, put_out
from .numeric import NARROW, no_derivative, wrap_dim

_INDEX_TYPES = (dtypes.int64, dtypes.int32)

# -- places -----------------------------------------------------------------------------------------------------------


def _raised(x):
    return x.reshape(1) if x.ndim == 0 else x


def places_of(index, dim):
    """Coordinates, one array a dimension, that an index along ``dim`` names."""
    return tuple(index if d == dim else lax.broadcasted_iota(index.dtype, index.shape, d) for d in range(index.ndim))


def gather_at(x, dim, index, rows=False):
    """``x[i, ..., index[i, ..., k], ...]`` of arrays; ``rows``: the index has one element for each slice along ``dim``."""
    if rows:
        return jnp.moveaxis(jnp.moveaxis(x, dim, 0).at[index.reshape(-1)].get(mode="promise_in_bounds"), 0, dim)
    if index.size == 0 or x.size == 0:                   # of nothing there is nothing to gather: the bounds say so
        return jnp.zeros(index.shape, x.dtype)
    shape = index.shape
    x, index = _raised(x), _raised(index)
    dim %= x.ndim
    return x.at[places_of(index, dim)].get(mode="promise_in_bounds").reshape(shape)


def scatter_at(x, dim, index, source, how, rows=False):
    """``x`` with ``source`` (of the index's shape) placed along ``dim``: "set", "add", "multiply", "min" or "max". ``rows``: the index has
    one element for each slice of the source along ``dim``, which goes where a slice of ``x`` is."""
    if index.size == 0:
        return x
    shape = x.shape
    x, index = _raised(x), _raised(index)
    dim %= x.ndim
    if x.dtype == jnp.bool_ and how in ("add", "multiply"):
        how = "max" if how == "add" else "min"
    wide = jnp.float32 if x.dtype in NARROW and how in ("add", "multiply") else x.dtype
    if rows:
        place = jnp.moveaxis(x.astype(wide), dim, 0).at[index.reshape(-1)]
        made = getattr(place, how)(jnp.moveaxis(source.astype(wide), dim, 0), mode="promise_in_bounds")
        return jnp.moveaxis(made, 0, dim).astype(x.dtype)
    place = x.astype(wide).at[places_of(index, dim)]
    return getattr(place, how)(source.astype(wide).reshape(index.shape) if source.ndim or not source.shape == () else source.astype(wide),
                               mode="promise_in_bounds").astype(x.dtype).reshape(shape)


def one_of_each(self, dim, index, source=None):
    """(the index, False), or where it is one expanded to all other dimensions, which it covers, (one element for each slice, True).

    Then whole slices are moved: what graph networks do with an index of edges. To be asked when all sizes have been checked.
    """
    spec, size = index._spec, index._spec.size
    n = spec.ndim
    if n < 2 or not spec.numel:
        return index, False
    axis = dim % n
    beside = [d for d in range(n) if d != axis]
    if source is not None and source._spec.size[axis] != size[axis] or not any(size[d] > 1 for d in beside):
        return index, False
    for d in beside:
        if spec.stride[d] and size[d] > 1 or size[d] != self._spec.size[d] or source is not None and size[d] != source._spec.size[d]:
            return index, False
    for d in beside:
        index = index.narrow(d, 0, 1)
    return index, True


def cut(source, index, rows=False):
    """The part of the source that the index covers."""
    if rows:
        return source
    if index.size == 0:
        return jnp.zeros(index.shape, source.dtype)
    if source.ndim != index.ndim:                           # one of them has no dimension
        return source.reshape(-1)[:1].reshape(index.shape)
    return source[tuple(slice(0, n) for n in index.shape)]


def padded(x, shape):
    """A gradient of the covered part in the source's shape."""
    if x.shape == tuple(shape):
        return x
    if x.size == 0:
        return jnp.zeros(shape, x.dtype)
    if len(shape) != x.ndim:                                # `cut` has taken one element
        x = x.reshape((1,) * len(shape))
    return jnp.pad(x, [(0, n - m) for n, m in zip(shape, x.shape, strict=True)])


# -- gather -----------------------------------------------------------------------------------------------------------

def _check_gather(self, dim, index, rows=False):
    axis = wrap_dim(dim, self.ndim)
    if index.numel and index.dtype not in _INDEX_TYPES:
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    if index.numel == 0:
        return
    if (self.ndim or 1) != (index.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d in range(self.ndim):
        if d != axis and index.size[d] > self.size[d]:
            raise RuntimeError(f"Size does not match at dimension {d} expected index {list(index.size)} to be no larger than self "
                               f"{list(self.size)} apart from dimension {axis}")


def _gather_gradient(grad, self, dim, index, rows):
    return scatter_at(jnp.zeros(self.shape, grad.dtype), dim, index, grad, "add", rows)


@op(name="gather.raw", backward="GatherBackward0", check=_check_gather, nondiff=("index",), grad={"self": _gather_gradient}, **RAW,
    double="ScatterAddBackward0!", quirks=Quirks(writes=1))
def gather_raw(self: Tensor, dim, index: Tensor, rows=False):
    """The elements that an index names along ``dim``, or whole slices (`one_of_each`)."""
    return gather_at(self, dim, index, rows)


def _gathered(input, dim, index):
    same = index._spec.ndim == input._spec.ndim                 # else it is refused
    return gather_raw(input, dim, *(one_of_each(input, dim, index) if same else (index,)))


def _size_along(self, dim):
    n = self._spec.ndim
    return self._spec.size[dim % n] if n else 1


@composite()
def gather(input, dim, index, *, sparse_grad=False, out=None):
    """``result[i][j] = input[index[i][j]][j]`` for ``dim=0``, and so on: an element for each of the index.

    The index has as many dimensions as the input and no larger sizes, but along ``dim``. RuntimeError out of bounds. ``sparse_grad``:
    the input's gradient is a sparse tensor.

    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    if sparse_grad and input.requires_grad and out is None:
        from ...sparse.embedding import gather as with_sparse_gradient
        return with_sparse_gradient(input, dim, index)
    made = _gathered(input, dim, index)
    size = _size_along(input, dim)
    check_bounds(index, size, out_of_bounds(dim % max(input._spec.ndim, 1), size, RuntimeError))
    return put_out("gather", made, out, (input, index))


@composite()
def take_along_dim(input, indices, dim=None, *, out=None):
    """``gather`` with the sizes beside ``dim`` broadcast; without ``dim`` of the flattened tensor. Negative indices are not taken.

    >>> x = torch.tensor([[3, 1], [2, 4]])
    >>> torch.take_along_dim(x, torch.argmax(x, dim=1, keepdim=True), dim=1)
    tensor([[3],
            [4]])
    """
    if dim is None:
        return gather(input.view(-1), 0, indices.view(-1), out=out)
    if indices._spec.dtype is not dtypes.int64:
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{dtypes.scalar_name(indices._spec.dtype)}")
    n, m = input._spec.ndim, indices._spec.ndim
    if n != m:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                           f"{n} dimensions for input, and {m} dimensions for indices")
    axis = wrap_dim(dim, n)
    if not n:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    from ..build import broadcast_shapes
    ours, theirs = list(input._spec.size), list(indices._spec.size)
    ours[axis] = theirs[axis] = 1
    shape = list(broadcast_shapes([tuple(ours), tuple(theirs)]))
    shape[axis] = indices._spec.size[axis]
    index = indices.expand(shape)
    n = shape[axis] = input._spec.size[axis]
    check_bounds(index, n, out_of_bounds(axis, n, RuntimeError), negative=True)
    return put_out("take_along_dim", _gathered(input.expand(shape), axis, index.remainder(n) if n else index), out)


# -- scatter ----------------------------------------------------------------------------------------------------------

def check_scatter(self, dim, index, src=None, rows=False, name="scatter"):
    axis = wrap_dim(dim, self.ndim)
    if index.numel and index.dtype not in _INDEX_TYPES:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if hasattr(src, "ndim") and src.dtype is not self.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if index.numel == 0:
        return
    is_tensor = hasattr(src, "ndim")
    if (self.ndim or 1) != (index.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    beside = any(d != axis and index.size[d] > self.size[d] for d in range(min(self.ndim, index.ndim)))
    if is_tensor and (src.ndim or 1) != (index.ndim or 1):
        if 0 < src.ndim < index.ndim and not beside and all(n <= m for n, m in zip(index.size, src.size, strict=False)):
            wrap_dim(src.ndim, src.ndim)                             # its size there is asked for before
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    past = is_tensor and (any(n > m for n, m in zip(index.size, src.size or (1,), strict=False)) or not src.numel)
    if beside or past:
        end = f" and to be no larger size than src {list(src.size)}" if is_tensor else ""
        raise RuntimeError(f"Expected index {list(index.size)} to be no larger than self {list(self.size)} apart from dimension "
                           f"{axis}{end}")


def _zero_at(grad, dim, index):
    return scatter_at(grad, dim, index, jnp.zeros((), grad.dtype) * jnp.zeros(index.shape, grad.dtype), "set")


def _from_added(grad, dim, index, shapes, rows):
    return padded(gather_at(grad, dim, index, rows), shapes[2])


def _from_source(grad, dim, index, shapes):
    return _from_added(grad, dim, index, shapes, False)


@op(name="scatter.src", backward="ScatterBackward0", check=check_scatter, nondiff=("index",),
    grad={"self": _zero_at, "src": _from_source}, **RAW, quirks=Quirks(apart=True))
def scatter_src(self: Tensor, dim, index: Tensor, src: Tensor):
    """The source's elements placed along ``dim``."""
    return scatter_at(self, dim, index, cut(src, index), "set")


@op(name="scatter.value", backward="ScatterBackward1", check=check_scatter, nondiff=("index",), grad={"self": _zero_at}, **RAW,
    quirks=Quirks(apart=True))
def scatter_value(self: Tensor, dim, index: Tensor, value: Number):
    """A number placed along ``dim``."""
    return scatter_at(self, dim, index, jnp.broadcast_to(cast_to(jnp.asarray(value), self.dtype), index.shape), "set")


def _check_reduced(self, dim, index, src, reduce):
    check_scatter(self, dim, index, src)
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if hasattr(src, "numel"):
        sites.warn_once("The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
                        "release. Use torch.scatter_reduce instead for more reduction options.")


@op(name="scatter.reduce", backward="NotImplemented", check=_check_reduced, nondiff=("index",),
    grad=no_derivative("scatter", "self", "src"), **RAW, quirks=Quirks(apart=True))
def scatter_reduced(self: Tensor, dim, index: Tensor, src: Tensor, reduce):
    """The source's elements added to, or multiplied into, what is along ``dim``."""
    return scatter_at(self, dim, index, cut(src, index), reduce)


@op(name="scatter.value_reduce", backward="NotImplemented", check=_check_reduced, nondiff=("index",),
    grad=no_derivative("scatter", "self"), **RAW, quirks=Quirks(apart=True))
def scatter_value_reduced(self: Tensor, dim, index: Tensor, src: Number, reduce):
    """A number added to, or multiplied into, what is along ``dim``."""
    return scatter_at(self, dim, index, jnp.broadcast_to(cast_to(jnp.asarray(src), self.dtype), index.shape), reduce)


def _scatter_call(name, self, dim, index, src, value, reduce, inplace=False):
    """(operator, arguments) for one of scatter's forms, with the index checked."""
    given = src if src is not None else value
    if given is None:
        raise TypeError(f"{name}() received an invalid combination of arguments")
    if isinstance(given, np.generic):
        given = given.item()
    number = isinstance(given, (bool, int, float, complex))
    sources = () if number else (given,)
    if inplace:
        history_allows(self, *sources)
    if reduce is not None:
        operator, arguments = (scatter_value_reduced if number else scatter_reduced), (self, dim, index, given, reduce)
    else:
        operator, arguments = (scatter_value if number else scatter_src), (self, dim, index, given)
    operator.check(self._spec, dim, index._spec, given if number else given._spec, *arguments[4:])
    if inplace:
        memory_allows(self, index, *sources, internal=True)
    if number:
        arguments = (*arguments[:3], number_fits(given, self._spec.dtype), *arguments[4:])
    size = _size_along(self, dim)
    check_bounds(index, size, out_of_bounds(dim % max(self._spec.ndim, 1), size, RuntimeError))
    return operator, arguments


@composite()
def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """A copy of the tensor with ``src`` (a tensor, or a number) at ``result[index[i][j]][j]`` for ``dim=0``, and so on.

    Of several elements for one place one is taken. RuntimeError out of bounds.

    >>> torch.scatter(torch.zeros(2, 2), 1, torch.tensor([[1], [0]]), 5.)
    tensor([[0., 5.],
            [5., 0.]])
    """
    operator, arguments = _scatter_call("scatter", input, dim, index, src, value, reduce)
    return put_out("scatter", operator(*arguments), out, asked_first=True)


@composite(function=False)
def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """``scatter``, written back into the tensor; ``reduce`` may be "add" or "multiply"."""
    operator, arguments = _scatter_call("scatter_", self, dim, index, src, value, reduce, True)
    return operator.inplace_form(*arguments)


@op(name="scatter_add.raw", backward="ScatterAddBackward0", check=check_scatter, nondiff=("index",),
    grad={"self": lambda grad: grad, "src": _from_added}, double={"self": "="}, **RAW, quirks=Quirks(apart=True))
def scatter_add_raw(self: Tensor, dim, index: Tensor, src: Tensor, rows=False):
    """The source's elements added along ``dim``, or whole slices (`one_of_each`)."""
    return scatter_at(self, dim, index, cut(src, index, rows), "add", rows)


def checked(operator, self, dim, index, src, *more, inplace=False):
    if inplace:
        history_allows(self, src)
    operator.check(self._spec, dim, index._spec, src._spec, *more)
    if inplace:
        memory_allows(self, index, src, internal=True)
    size = _size_along(self, dim)
    check_bounds(index, size, out_of_bounds(dim % max(self._spec.ndim, 1), size, RuntimeError))


@composite()
def scatter_add(input, dim, index, src, *, out=None):
    """A copy of the tensor with ``src`` added at the places that the index names along ``dim``.

    >>> torch.scatter_add(torch.zeros(2), 0, torch.tensor([0, 0, 1]), torch.ones(3))
    tensor([2., 1.])
    """
    checked(scatter_add_raw, input, dim, index, src)
    index, rows = one_of_each(input, dim, index, src)
    return put_out("scatter_add", scatter_add_raw(input, dim, index, src, rows), out, asked_first=True)


@composite(function=False)
def scatter_add_(self, dim, index, src):
    """``scatter_add``, written back into the tensor."""
    checked(scatter_add_raw, self, dim, index, src, inplace=True)
    index, rows = one_of_each(self, dim, index, src)
    return scatter_add_raw.inplace_form(self, dim, index, src, rows)
