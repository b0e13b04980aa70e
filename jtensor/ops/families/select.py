"""Slices picked and written along one dimension by a vector of indices.

Owns: index_select, index_add, index_copy, index_fill, index_reduce. Bounds are checked before. Flat positions are in `take`.
May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np

from ...base import dtypes, sites
from ...views.rules import as_strided
from ..build import cast_to
from ..operator import RAW, Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .bounds import check_bounds, out_of_bounds
from .composing import conj_times, held_number_fits, history_allows, memory_allows, number_fits, put_out, times
from .index import add_at, read_at, set_at
from .numeric import not_implemented, size_at, wrap_dim
from .scatter_reduce import combine, reduce_gradients

_INDEX_TYPES = (dtypes.int64, dtypes.int32)


def _raised(x):
    return x.reshape(1) if x.ndim == 0 else x


def _pick(x, dim, index):
    """``x[:, index]`` along ``dim``; a 0-d tensor has one element."""
    if x.ndim == 0:
        return x
    return read_at(x, [index.reshape(-1)], (dim % x.ndim,))


def _write(how, x, dim, index, values):
    shape = x.shape
    x = _raised(x)
    dim %= x.ndim
    index = index.reshape(-1)
    full = x.shape[:dim] + index.shape + x.shape[dim + 1:]
    return how(x, [index], (dim,), jnp.broadcast_to(_raised(values), full)).reshape(shape)


def _length(self, dim):
    return self.size[dim % self.ndim] if self.ndim else 1


# -- index_select -----------------------------------------------------------------------------------------------------

def _check_select(self, dim, index):
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in _INDEX_TYPES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    axis = wrap_dim(dim, self.ndim)
    if not self.ndim and index.numel != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel} value(s)")
    if index.numel and not _length(self, axis):
        raise IndexError("index out of range in self") if self.ndim == 1 else \
            RuntimeError("index_select(): self indexing axis dim should be positive")


def _select_gradient(grad, dim, index, shapes):
    return _write(add_at, jnp.zeros(shapes[0], grad.dtype), dim, index, grad)


@op(name="index_select.raw", backward="IndexSelectBackward0", check=_check_select, nondiff=("index",),
    grad={"self": _select_gradient}, **RAW, double="IndexAddBackward0", quirks=Quirks(writes=1))
def index_select_raw(self: Tensor, dim, index: Tensor):
    """The slices that a vector names."""
    return _pick(self, dim, index)


@composite()
def index_select(input, dim, index, *, out=None):
    """The slices along ``dim`` that the vector ``index`` names, copied. IndexError out of bounds; negative indices are.

    >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 0, torch.tensor([1, 1]))
    tensor([[3, 4],
            [3, 4]])
    """
    made = index_select_raw(input, dim, index)
    length = _length(input._spec, dim)
    by_slices = wrap_dim(dim, input._spec.ndim) == 1 or input._spec.ndim > 1 and not input._spec.numel
    check_bounds(index, length, lambda n: IndexError("index out of range in self") if not by_slices else
                 RuntimeError(f"INDICES element is out of DATA bounds, id={n} axis_dim={length}"))
    return put_out("index_select", made, out, apart=(input,), asked_first=True)


# -- index_add --------------------------------------------------------------------------------------------------------

def _check_slices(name, self, dim, index, source):
    """What PyTorch asks of slices to be added or reduced into others."""
    axis = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(f"{name}_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
                         f"{dtypes.scalar_name(index.dtype)} and size: {list(index.size)}")
    if index.dtype not in _INDEX_TYPES:
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {dtypes.scalar_name(index.dtype)}")
    if self.dtype is not source.dtype:
        raise RuntimeError(f"{name}_(): self ({dtypes.scalar_name(self.dtype)}) and source ({dtypes.scalar_name(source.dtype)}) must "
                           "have the same scalar type")
    if axis and axis >= source.ndim:
        raise RuntimeError(f"{name}_(): Indexing dim {axis} is out of bounds of the source tensor with dim {source.ndim}")
    if index.numel != (source.size[axis] if source.ndim else 1):
        raise RuntimeError(f"{name}_(): Number of indices ({index.numel}) should be equal to source.size(dim): ({size_at(source, axis)}), "
                           f"for dim: {axis}")
    ours, theirs = list(self.size), list(source.size)
    if ours and theirs:
        del ours[axis], theirs[axis]
    if ours != theirs:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
                           f"{list(self.size)} source.shape = {list(source.size)}")


def _check_add(self, dim, index, source, alpha):
    _check_slices("index_add", self, dim, index, source)


@op(
    name="index_add.raw",
    backward="IndexAddBackward0",
    check=_check_add,
    nondiff=("index",),
    grad={
        "self": lambda grad: grad,
        "source": lambda grad, dim, index, source, alpha: conj_times(_pick(grad, dim, index).reshape(source.shape), alpha),
    },
    double={"self": "=", "source": "ExpandBackward0!"},
    **RAW,
    quirks=Quirks(ends_in_view="source", apart=True),
)
def index_add_raw(self: Tensor, dim, index: Tensor, source: Tensor, *, alpha: Number = 1):
    """The source's slices added at the slices that a vector names."""
    return _write(add_at, self, dim, index, times(source, alpha))


def _ready(operator, self, dim, index, source, *more, kind=RuntimeError, prefix="", inplace=False):
    if inplace:
        history_allows(self, source)
        if operator is index_copy_raw:
            wrap_dim(dim, self._spec.ndim)
            memory_allows(self, index, source, internal=True)
    operator.check(self._spec, dim, index._spec, source._spec, *more)
    if inplace:
        memory_allows(self, index, source, internal=True)
    size = _length(self._spec, dim)
    if operator is index_add_raw and self._spec.ndim == 1 or operator is index_reduce_raw:
        check_bounds(index, size, lambda at: IndexError("index out of range in self"))
    check_bounds(index, size, out_of_bounds(dim % max(self._spec.ndim, 1), size, kind, prefix))


@composite()
def index_add(input, dim, index, source, *, alpha=1, out=None):
    """A copy of the tensor with ``alpha * source`` added, slice by slice, at the slices along ``dim`` that ``index`` names.

    >>> torch.index_add(torch.zeros(2), 0, torch.tensor([1, 1]), torch.tensor([1., 2.]))
    tensor([0., 3.])
    """
    _ready(index_add_raw, input, dim, index, source, 1)
    return put_out("index_add", index_add_raw(input, dim, index, source, alpha=_factor(input, alpha)), out)


@composite(function=False)
def index_add_(self, dim, index, source, *, alpha=1):
    """``index_add``, written back into the tensor."""
    _ready(index_add_raw, self, dim, index, source, 1, inplace=True)
    return index_add_raw.inplace_form(self, dim, index, source, alpha=_factor(self, alpha))


def _factor(self, alpha):
    """The factor of what is added, if the tensor's type has it."""
    alpha = alpha.item() if isinstance(alpha, np.generic) else alpha
    return number_fits(alpha, self._spec.dtype) if isinstance(alpha, (bool, int, float, complex)) else alpha


# -- index_copy -------------------------------------------------------------------------------------------------------

def _check_copy(self, dim, index, source):
    axis = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    n = _length(source, dim)
    if source.ndim == 0 and index.numel != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.numel})")
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexError("index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
                         f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})")
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {dtypes.scalar_name(index.dtype)}")
    if self.dtype is not source.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{dtypes.scalar_name(self.dtype)} and (source) {dtypes.scalar_name(source.dtype)}")
    ours = [m for d, m in enumerate(self.size) if d != axis]
    theirs = [m for d, m in enumerate(source.size) if d != axis]
    if ours != theirs:
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
                           f"{' '.join(map(str, ours))} at dimension {axis} and source slice shape: {' '.join(map(str, theirs))} at "
                           f"dimension {0 if source.ndim == 0 else axis}.")
    if source.ndim and index.numel != n:
        raise IndexError(f"index_copy_(): Number of indices ({index.numel}) should be equal to source.size(dim) ({n})")


def _zero_slices(grad, dim, index):
    return _write(set_at, grad, dim, index, jnp.zeros((), grad.dtype))


@op(name="index_copy.raw", backward="IndexCopyBackward0", check=_check_copy, nondiff=("index",), grad={
    "self": _zero_slices,
    "source": lambda grad, dim, index, source: _pick(grad, dim, index).reshape(source.shape)}, double={"source": "ExpandBackward0!"}, **RAW,
    quirks=Quirks(ends_in_view="source", apart=True))
def index_copy_raw(self: Tensor, dim, index: Tensor, source: Tensor):
    """The source's slices in place of the slices that a vector names."""
    return _write(set_at, self, dim, index, source)


@composite()
def index_copy(input, dim, index, source, *, out=None):
    """A copy of the tensor with the slices of ``source`` in place of the slices along ``dim`` that ``index`` names.

    >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1., 2.]))
    tensor([2., 0., 1.])
    """
    _ready(index_copy_raw, input, dim, index, source, kind=IndexError, prefix="index_copy_(): ")
    return put_out("index_copy", index_copy_raw(input, dim, index, source), out)


@composite(function=False)
def index_copy_(self, dim, index, source):
    """``index_copy``, written back into the tensor."""
    _ready(index_copy_raw, self, dim, index, source, kind=IndexError, prefix="index_copy_(): ", inplace=True)
    return index_copy_raw.inplace_form(self, dim, index, source)


# -- index_fill -------------------------------------------------------------------------------------------------------

def _check_fill(self, dim, index, value):
    if index.dtype is not dtypes.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not self.dtype.is_complex and (isinstance(value, complex) or getattr(value, "kind", None) == "c" or
                                      getattr(getattr(value, "dtype", None), "is_complex", False)):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")


def _filled(self, dim, index, value):
    return _write(set_at, self, dim, index, cast_to(jnp.asarray(value), self.dtype))


@op(name="index_fill.Scalar", backward="IndexFillBackward0", layout="like", check=_check_fill, nondiff=("index",),
    grad={"self": _zero_slices}, **RAW, quirks=Quirks(overlap_allowed=True, overlap_warns=("index_fill_",), anyhow=True))
def index_fill_Scalar(self: Tensor, dim, index: Tensor, value: Number):
    """A number in the slices that a vector names."""
    return _filled(self, dim, index, value)


@op(name="index_fill.Tensor", backward="IndexFillBackward1", layout="like", check=_check_fill, nondiff=("index",), grad={
    "self": _zero_slices, "value": lambda grad, dim, index: (grad - _zero_slices(grad, dim, index)).sum()}, **RAW,
    quirks=Quirks(keeps_complex=True, overlap_allowed=True, overlap_warns=("index_fill_",), anyhow=True))
def index_fill_Tensor(self: Tensor, dim, index: Tensor, value: Tensor):
    """A 0-d tensor's value in the slices that a vector names."""
    return _filled(self, dim, index, value)


def _fill_call(self, dim, index, value):
    number = isinstance(value, (bool, int, float, complex, np.generic))
    operator = index_fill_Scalar if number else index_fill_Tensor
    dims = 0 if number else value._spec.ndim
    if dims:                                                                    # of which both forms speak before anything else
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {dims} dimension(s).")
    operator.check(self._spec, dim, index._spec, value if number else value._spec)
    if self._spec.numel:
        (number_fits if number else held_number_fits)(value, self._spec.dtype)
    axis, size = dim % max(self._spec.ndim, 1), _length(self._spec, dim)
    if _slices_exist(self, axis, index._spec.numel):
        check_bounds(index, size, out_of_bounds(axis, size), negative=True)
    return operator


def _slices_exist(self, axis, count):
    """Whether ``count`` slices have any elements; PyTorch makes a tensor of so many that lie on the first, for which there must be room."""
    spec = self._spec
    if spec.numel:
        return count > 0
    size, stride = list(spec.size), list(spec.stride)
    size[axis], stride[axis] = count, 0
    if 0 in size:
        return False
    as_strided(self._offset, size, stride, self._offset, self._storage.nbytes(), spec.dtype.itemsize)
    return True


@composite()
def index_fill(input, dim, index, value):
    """A copy of the tensor with ``value`` (a number or 0-d tensor) in the slices along ``dim`` that ``index`` names.

    >>> torch.index_fill(torch.zeros(3), 0, torch.tensor([0, -1]), 1)
    tensor([1., 0., 1.])
    """
    return _fill_call(input, dim, index, value)(input, dim, index, value)


@composite(function=False)
def index_fill_(self, dim, index, value):
    """``index_fill``, written back into the tensor."""
    history_allows(self, *() if isinstance(value, (bool, int, float, complex, np.generic)) else (value,))
    if index._spec.dtype is dtypes.int64:
        memory_allows(self, index)
    return _fill_call(self, dim, index, value).inplace_form(self, dim, index, value)


# -- index_reduce -----------------------------------------------------------------------------------------------------

def _check_reduce(self, dim, index, source, reduce, include_self):
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    _check_slices("index_reduce", self, dim, index, source)
    kernel = None
    if self.dtype is dtypes.bool and reduce == "mean":
        kernel = "div_floor_cpu"
    elif self.dtype.is_complex and reduce in ("amax", "amin"):
        kernel = "maximum_cpu" if reduce == "amax" else "minimum_cpu"
    if self.dtype.is_complex or self.dtype is dtypes.bool:
        if self.ndim <= 1:
            kernel = "index_func_"                          # of which slices of several dimensions have no need
        elif not include_self:
            kernel = "index_reduce_func_exclude_input_init"
    if kernel is not None:
        raise not_implemented(kernel, self.dtype)


def _slices(dim, index, shape):
    """(how slices are written, how they are read) for the general reductions."""
    names = {"set": lambda p, v: p.set(v, mode="promise_in_bounds"), "add": lambda p, v: p.add(v, mode="promise_in_bounds"),
             "multiply": lambda p, v: p.multiply(v, mode="promise_in_bounds"), "min": lambda p, v: p.min(v, mode="promise_in_bounds"),
             "max": lambda p, v: p.max(v, mode="promise_in_bounds")}

    def places(x, source, how):
        raised = _raised(x)
        how = "min" if how == "multiply" and x.dtype == jnp.bool_ else how
        axis = dim % raised.ndim
        place = (slice(None),) * axis + (index.reshape(-1),)
        return names[how](raised.at[place], source.reshape(raised.shape[:axis] + (index.size,) + raised.shape[axis + 1:])).reshape(x.shape)
    return places, (lambda x: _pick(x, dim, index).reshape(shape))


def _reduce_gradient(which):
    def formula(grad, self, dim, index, source, result, reduce, include_self):
        places, pick = _slices(dim, index, source.shape)
        return reduce_gradients(grad, self, source, result, reduce, include_self, places, pick)[which]
    return formula


@op(name="index_reduce.raw", backward="IndexReduceBackward0", check=_check_reduce, nondiff=("index",),
    grad={"self": _reduce_gradient(0), "source": _reduce_gradient(1)}, **RAW, quirks=Quirks(apart=True))
def index_reduce_raw(self: Tensor, dim, index: Tensor, source: Tensor, reduce, include_self=True):
    """The source's slices reduced into the slices that a vector names."""
    return combine(self, _slices(dim, index, source.shape)[0], source, reduce, include_self)


_BETA = "index_reduce() is in beta and the API may change at any time."


@composite()
def index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None):
    """A copy of the tensor with the slices of ``source`` reduced ("prod", "mean", "amax", "amin") into those that ``index`` names.

    >>> torch.index_reduce(torch.ones(2), 0, torch.tensor([0, 0]), torch.tensor([2., 3.]), "prod")
    tensor([6., 1.])
    """
    _ready(index_reduce_raw, input, dim, index, source, reduce, include_self)
    sites.warn_once(_BETA)
    return put_out("index_reduce", index_reduce_raw(input, dim, index, source, reduce, include_self), out)


@composite(function=False)
def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """``index_reduce``, written back into the tensor."""
    _ready(index_reduce_raw, self, dim, index, source, reduce, include_self, inplace=True)
    sites.warn_once(_BETA)
    return index_reduce_raw.inplace_form(self, dim, index, source, reduce, include_self)
