"""Order along a dimension: sort, argsort, topk, kthvalue, msort.

Owns: order-preserving integer keys. Float comparators are slow in XLA, so that a sort is one of integers: of 32-bit keys with their
positions in the low half of one int64, of wider ones with the positions beside them, or beneath if all are near each other. NaN is greater
than everything; ties keep their order; which of equal elements `topk` and `kthvalue` pick is not defined by PyTorch. May not know: tensors
as objects, but in composites.
"""
import operator

import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ...trace.plan import is_for_cpu, is_particular
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import put_out
from .numeric import not_implemented, wrap_dim
from .scatter import scatter_at

MANY, LONG = 1 << 12, 1 << 8            # elements in all that are worth compiling two sorts for, and of a row to look for one in it

# -- keys -------------------------------------------------------------------------------------------------------------

def keys_of(x):
    """Integers in the order of ``x``: int32 for types of at most 32 bits, else int64. -0.0 equals 0.0, all NaNs are one."""
    if x.dtype == jnp.bool_:
        return x.astype(jnp.int32)
    if jnp.issubdtype(x.dtype, jnp.integer):
        if x.dtype.itemsize < 4 or x.dtype == jnp.int32:
            return x.astype(jnp.int32)
        if x.dtype == jnp.uint64:
            return lax.bitcast_convert_type(x ^ jnp.uint64(1 << 63), jnp.int64)
        return x.astype(jnp.int64)
    if x.dtype.itemsize < 4:
        x = x.astype(jnp.float32)
    whole, top = (jnp.int32, 31) if x.dtype == jnp.float32 else (jnp.int64, 63)
    x = jnp.where(x == 0, jnp.zeros_like(x), x)
    bits = lax.bitcast_convert_type(x, whole)
    low = jnp.asarray((1 << top) - 1, whole)
    return jnp.where(x != x, low, jnp.where(bits < 0, bits ^ low, bits))


def order(x, axis, descending):
    """Positions (int64) that put ``x`` in order along an axis; ties keep theirs."""
    keys = keys_of(x)
    if descending:
        keys = ~keys
    positions = lax.broadcasted_iota(jnp.int64, x.shape, axis)
    if keys.dtype == jnp.int32:
        packed = lax.sort((keys.astype(jnp.int64) << 32) | positions, dimension=axis, is_stable=False)
        return packed & jnp.int64(0xFFFFFFFF)

    def apart():
        return lax.sort((keys, positions), dimension=axis, is_stable=True, num_keys=1)[1]
    if x.size < MANY or jnp.issubdtype(x.dtype, jnp.floating) or not is_for_cpu():
        return apart()
    low = max(x.shape[axis] - 1, 1).bit_length()
    least = jnp.min(keys)
    near = (jnp.max(keys) - least).astype(jnp.uint64) < 1 << (63 - low)             # integers seldom need their 64 bits
    return lax.cond(near, lambda: lax.sort((keys - least << low) | positions, dimension=axis, is_stable=False) & ((1 << low) - 1), apart)


def pick(x, positions, axis):
    """``take_along_axis`` with positions known to be in bounds."""
    return jnp.take_along_axis(x, positions, axis, mode="promise_in_bounds")


def sorted_along(x, dim, descending=False):
    """(values, positions) in order along ``dim``."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = dim % x.ndim
    positions = order(x, axis, descending)
    return pick(x, positions, axis), positions


def ranked(x, rank, axis):
    """(values, positions) of the elements that a sort would put at ``rank`` (an int, or an array of size 1 along the axis); keeps the axis.

    Of many, they are looked for among the keys by halves, and nothing is put in order.
    """
    if x.size < MANY or x.shape[axis] < LONG or not is_for_cpu():
        values, positions = sorted_along(x, axis)
        if isinstance(rank, int):
            return tuple(lax.slice_in_dim(a, rank, rank + 1, axis=axis) for a in (values, positions))
        return tuple(jnp.take_along_axis(a, rank, axis) for a in (values, positions))
    keys = keys_of(x)

    def half(ends):
        low, high = ends
        middle = (low & high) + ((low ^ high) >> 1)
        enough = jnp.sum(keys <= middle, axis, dtype=jnp.int32, keepdims=True) > rank
        return jnp.where(enough, low, middle + 1), jnp.where(enough, middle, high)
    ends = jnp.min(keys, axis, keepdims=True), jnp.max(keys, axis, keepdims=True)
    key = lax.while_loop(lambda ends: jnp.any(ends[0] < ends[1]), half, ends)[0]
    positions = jnp.argmax(keys == key, axis, keepdims=True).astype(jnp.int64)
    return pick(x, positions, axis), positions


# -- sort -------------------------------------------------------------------------------------------------------------

def _check_sort(self, dim, descending):
    wrap_dim(dim, self.ndim)
    if self.dtype.is_complex:
        raise RuntimeError(f" Sort does not support complex dtypes on {self.device.type.upper()}")


def _both_like(specs, outputs, statics):
    from ..layout import like
    strides = like(tuple(specs[0].size), specs[0].stride)
    return [strides, strides]


def back(grads, result1, dim, shapes):
    """The gradient of values picked along a dimension."""
    if not shapes[0]:
        return grads[0]
    return scatter_at(jnp.zeros(shapes[0], grads[0].dtype), dim, result1, grads[0], "add")


_PAIR = {"nondiff": (1,), "outputs": ("values", "indices"), "grad": {"self": back}, **RAW}


@op(name="sort_dim.default", backward="SortBackward0", check=_check_sort, layout=_both_like, **_PAIR, double="ScatterBackward0",
    quirks=Quirks(writes=2, into_ordinary=True))
def sort_default(self: Tensor, dim=-1, descending=False):
    """Values in order, and where they were."""
    return sorted_along(self, dim, descending)


@op(name="sort_dim.stable", backward="SortBackward1", check=_check_sort, layout=_both_like, **_PAIR, double="ScatterBackward0",
    quirks=Quirks(writes=2, into_ordinary=True))
def sort_stable(self: Tensor, dim=-1, descending=False):
    """`sort_default`, named as PyTorch names the stable sort's node."""
    return sorted_along(self, dim, descending)


@composite()
def sort(input, dim=-1, descending=False, stable=None, *, out=None):
    """The elements in order along ``dim``, and their positions: (values, indices). NaN is last; ties keep their order.

    >>> torch.sort(torch.tensor([3., 1., 2.])).values
    tensor([1., 2., 3.])
    """
    form = sort_default if stable is None else sort_stable
    return put_out("sort", form(input, dim, bool(descending)), out)


@composite(asked=True)
def argsort(input, dim=-1, descending=False, *, stable=False, out=None):
    """The positions that put the elements in order along ``dim``.

    >>> torch.argsort(torch.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
    """
    return put_out("argsort", sort_default(input.detach(), dim, bool(descending))[1], out)


@composite()
def msort(input, *, out=None):
    """The elements in order along the first dimension.

    >>> torch.msort(torch.tensor([[3, 1], [2, 4]]))
    tensor([[2, 1],
            [3, 4]])
    """
    return put_out("msort", sort_default(input, 0, False)[0], out)


# -- the first ones ---------------------------------------------------------------------------------------------------

def _check_topk(self, k, dim, largest, sorted):
    axis = wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self.size[axis] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype.is_complex:
        raise RuntimeError(f" topk does not support complex dtypes on {self.device.type.upper()}")
    if self.dtype is dtypes.bool:
        raise RuntimeError(f"topk does not support bool dtypes on {self.device.type.upper()}")


@op(name="topk_dim.raw", backward="TopkBackward0", check=_check_topk, **_PAIR, double="ScatterBackward0", quirks=Quirks(writes=2))
def topk_raw(self: Tensor, k, dim=-1, largest=True, sorted=True):
    """The first elements of a sort, and where they were."""
    if self.ndim == 0:
        return self, jnp.zeros((), jnp.int64)                  # of none of it, too
    axis = dim % self.ndim
    n = self.shape[axis]
    is_particular()
    if k * 8 > n or self.dtype != jnp.float32:
        positions = lax.slice_in_dim(order(self, axis, largest), 0, k, axis=axis)
        return pick(self, positions, axis), positions
    x = jnp.moveaxis(self, axis, -1)
    x = jnp.where(x != x, jnp.inf, x) if largest else jnp.where(x != x, -jnp.inf, -x)
    positions = jnp.moveaxis(lax.top_k(x, k)[1].astype(jnp.int64), -1, axis)
    return pick(self, positions, axis), positions


@composite()
def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """The ``k`` largest (or smallest) elements along ``dim`` in order, and their positions: (values, indices).

    >>> torch.topk(torch.tensor([1., 3., 2.]), 2).values
    tensor([3., 2.])
    """
    if not isinstance(k, int):
        k = operator.index(k)
    return put_out("topk", topk_raw(input, k, dim, bool(largest), bool(sorted)), out)


def _check_kth(self, k, dim, keepdim):
    axis = wrap_dim(dim, self.ndim)
    n = self.size[axis] if self.ndim else 1
    if self.ndim and n == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {axis} to have non-zero size.")
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if self.dtype.is_complex or self.dtype.category == 0:
        raise not_implemented("kthvalue_cpu", self.dtype)


def _kth_gradient(grads, result1, dim, keepdim, shapes):
    from .extrema import to_selected
    return to_selected(grads[0], result1, shapes[0], dim, keepdim)


@op(name="kthvalue_dim.raw", backward="KthvalueBackward0", check=_check_kth, nondiff=(1,), outputs=("values", "indices"),
    grad={"self": _kth_gradient}, **RAW, double="ScatterBackward0", quirks=Quirks(writes=2))
def kthvalue_raw(self: Tensor, k, dim=-1, keepdim=False):
    """The k-th element of a sort, and where it was."""
    if self.ndim == 0:
        return self, jnp.zeros((), jnp.int64)
    axis = dim % self.ndim
    found = ranked(self, k - 1, axis)
    return found if keepdim else tuple(x.squeeze(axis) for x in found)


@composite()
def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """The ``k``-th smallest element (from 1) along ``dim``, and its position: (values, indices).

    >>> torch.kthvalue(torch.tensor([5., 1., 3.]), 2).values
    tensor(3.)
    """
    return put_out("kthvalue", kthvalue_raw(input, k, dim, bool(keepdim)), out, (input,))
