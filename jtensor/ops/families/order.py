"""What stands where in order: median, nanmedian, mode, quantile, nanquantile.

Owns: selections by rank. NaN is larger than everything. May not know: tensors as objects; sorting and kthvalue are in `sort`.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base.geometry import contiguous_strides
from ..operator import Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .composing import NO_DIM, NO_KEEPDIM, no_keepdim, no_none, no_out, put_out
from .extrema import no_empty, share_evenly, to_selected
from .numeric import is_floating, not_implemented, wide, wrap_dim
from .sort import ranked, sorted_along

_PRIVATE = {"function": False, "method": False, "out": True}


def _nowhere(x):
    return jnp.isnan(x) if is_floating(x) else jnp.zeros(x.shape, jnp.bool_)


def _selection(grads, result1, shapes, dim, keepdim):
    return to_selected(grads[0], result1, shapes[0], dim, keepdim)


_PAIR = {"nondiff": (1,), "outputs": ("values", "indices"), "grad": {"self": _selection}, **_PRIVATE}


def _check_along(name, kernel):
    def check(self, dim, keepdim):
        no_empty(name, self, (wrap_dim(dim, self.ndim),))
        if self.dtype.is_complex or self.dtype.category == 0:
            raise not_implemented(kernel, self.dtype)
    return check


# -- median -----------------------------------------------------------------------------------------------------------

def _median_rank(x, axis, ignore):
    n = x.shape[axis]
    if not is_floating(x):
        return (n - 1) // 2
    nans = _nowhere(x).sum(axis, keepdims=True, dtype=jnp.int64)
    if ignore:
        return jnp.maximum((n - nans - 1) // 2, 0)
    return jnp.where(nans > 0, n - nans, (n - 1) // 2)


def _median(x, dim, keepdim, ignore):
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = dim % x.ndim
    found = ranked(x, _median_rank(x, axis, ignore), axis)
    return found if keepdim else tuple(jnp.squeeze(a, axis) for a in found)


_NOTHING = {"int32": -2**31, "int64": -2**63}               # what a NaN becomes in wide integers


def _median_of_all(x, ignore):
    if x.size == 0:
        return jnp.full((), jnp.nan if is_floating(x) else _NOTHING.get(x.dtype.name, 0), x.dtype)
    x = x.reshape(-1)
    return ranked(x, _median_rank(x, 0, ignore), 0)[0][0]


def _check_kind(self):
    if self.dtype.is_complex or self.dtype.category == 0:
        raise not_implemented("median_cpu", self.dtype)


@op(None, name="median_all", backward="MedianBackward0", grad={"self": share_evenly}, check=_check_kind, **_PRIVATE,
    double="MaskedFillBackward1!", quirks=Quirks(writes=1))
def median_all(self: Tensor):
    """The median of all elements."""
    return _median_of_all(self, False)


@op(None, name="nanmedian_all", backward="NanmedianBackward0", grad={"self": share_evenly}, check=_check_kind, **_PRIVATE,
    double="MaskedFillBackward1!", quirks=Quirks(writes=1))
def nanmedian_all(self: Tensor):
    """The median of all elements that are not NaN."""
    return _median_of_all(self, True)


@op(None, name="median_dim", backward="MedianBackward1", check=_check_along("median", "median_out"), **_PAIR, double="ScatterBackward0",
    quirks=Quirks(writes=2, out_apart=True))
def median_dim(self: Tensor, dim, keepdim=False):
    """(values, indices) of the medians along a dimension."""
    return _median(self, dim, keepdim, False)


@op(None, name="nanmedian_dim", backward="NanmedianBackward1", check=_check_along("median", "median_out"), **_PAIR,
    quirks=Quirks(writes=2, out_apart=True))
def nanmedian_dim(self: Tensor, dim, keepdim=False):
    """(values, indices) of the medians along a dimension, NaN left out."""
    return _median(self, dim, keepdim, True)


@composite(asked=True)
def median(input, dim=NO_DIM, keepdim=NO_KEEPDIM, *, out=None):
    """The median: of all elements, or ``(values, indices)`` along ``dim``. Of two in the middle it is the lower; NaN if there is one.

    >>> torch.median(torch.tensor([3., 1., 2., 4.]))
    tensor(2.)
    """
    if dim is NO_DIM:
        no_keepdim(keepdim)
        return median_all(input) if out is None else no_out()
    no_none(dim)
    more = {} if out is None else {"out": out}
    return median_dim(input, dim, keepdim is not NO_KEEPDIM and keepdim, **more)


@composite(asked=True)
def nanmedian(input, dim=NO_DIM, keepdim=NO_KEEPDIM, *, out=None):
    """The median of what is not NaN.

    >>> torch.nanmedian(torch.tensor([3., float("nan"), 2.]))
    tensor(2.)
    """
    if dim is NO_DIM:
        no_keepdim(keepdim)
        return nanmedian_all(input) if out is None else no_out()
    no_none(dim)
    more = {} if out is None else {"out": out}
    return nanmedian_dim(input, dim, keepdim is not NO_KEEPDIM and keepdim, **more)


# -- mode --------------------------------------------------------------------------------------------------------------

def _check_mode(self, dim, keepdim):
    no_empty("mode", self, (wrap_dim(dim, self.ndim),))
    if self.dtype.is_complex:
        raise not_implemented("mode_cpu", self.dtype)


@op(None, nondiff=(1,), outputs=("values", "indices"), out=True, check=_check_mode, grad={"self": _selection},
    quirks=Quirks(writes=2, out_apart=True))
def mode(self: Tensor, dim=-1, keepdim=False):
    """``(values, indices)`` of the most frequent elements along ``dim``, the smallest of equally frequent ones.

    >>> torch.mode(torch.tensor([1, 2, 2, 3])).values
    tensor(2)
    """
    if self.ndim == 0:
        return self, jnp.zeros((), jnp.int64)
    axis = dim % self.ndim
    values, places = sorted_along(jnp.moveaxis(self, axis, -1), self.ndim - 1)
    at = lax.broadcasted_iota(jnp.int64, values.shape, values.ndim - 1)
    fresh = jnp.concatenate([jnp.ones_like(values[..., :1], jnp.bool_), values[..., 1:] != values[..., :-1]], -1)
    begun = lax.cummax(jnp.where(fresh, at, jnp.zeros_like(at)), values.ndim - 1)
    best = jnp.argmax(at - begun, -1, keepdims=True)
    value, place = jnp.take_along_axis(values, best, -1), jnp.take_along_axis(places, best, -1)
    if keepdim:
        return jnp.moveaxis(value, -1, axis), jnp.moveaxis(place, -1, axis)
    return value[..., 0], place[..., 0]


# -- quantile ---------------------------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantiles(x, q, dim, keepdim, interpolation, ignore):
    """The quantiles, those of different q along a new first dimension."""
    axis = 0 if dim is None or x.ndim == 0 else dim % x.ndim
    rows = x.reshape(-1) if dim is None or x.ndim == 0 else jnp.moveaxis(x, axis, -1)
    n = rows.shape[-1]
    nans = jnp.isnan(rows).sum(-1, keepdims=True, dtype=jnp.int64)
    ordered, _ = sorted_along(rows, -1)
    points = q.reshape(-1)
    if ignore:
        rank = points * jnp.maximum(n - nans - 1, 0).astype(x.dtype)
    else:
        rank = jnp.where(nans > 0, jnp.asarray(n - 1, x.dtype), points * (n - 1))
    rank = jnp.broadcast_to(rank, (*rows.shape[:-1], points.size))
    if interpolation == "lower":
        rank = jnp.floor(rank)
    elif interpolation == "higher":
        rank = jnp.ceil(rank)
    elif interpolation == "nearest":
        rank = lax.round(rank, lax.RoundingMethod.TO_NEAREST_EVEN)
    low = jnp.floor(rank)
    below = jnp.take_along_axis(ordered, low.astype(jnp.int64), -1)
    if interpolation in ("linear", "midpoint"):
        weight = jnp.full_like(rank, 0.5) if interpolation == "midpoint" else rank - low
        above = jnp.take_along_axis(ordered, jnp.ceil(rank).astype(jnp.int64), -1)
        span = above - below
        below = jnp.where(weight < 0.5, below + weight * span, above - span * (1 - weight))
    done = jnp.moveaxis(below, -1, 0)
    if keepdim:
        done = done.reshape(points.size, *[1] * x.ndim) if dim is None else jnp.expand_dims(done, axis + 1) if x.ndim else done
    return done if q.ndim else done[0]


def _quantiles_last(specs, outputs, statics):
    """The quantiles for different q lie side by side in memory."""
    shape = outputs[0].shape
    if len(specs) < 2 or not specs[1].ndim:
        return [None]
    return [(1, *contiguous_strides((*shape[1:], shape[0]))[:-1])]


@op(None, name="quantile_of", backward="SqueezeBackward4", saves=("self", "q"), layout=_quantiles_last, **_PRIVATE)
@wide
def quantile_of(self: Tensor, q: TensorOrNumber, dim=None, keepdim=False, *, interpolation="linear", ignore=False):
    """The values below which the fractions ``q`` of the elements lie."""
    return _quantiles(self, q.astype(self.dtype), dim, keepdim, interpolation, ignore)


def _quantile(ignore, input, q, dim, keepdim, interpolation, out):
    """Both functions; PyTorch's errors name `quantile` in either."""
    q = q.item() if isinstance(q, np.bool_) else q
    if (is_number := isinstance(q, (int, float))) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    if input.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if not is_number and q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if input.dtype.name not in ("float32", "float64"):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if is_number:
        q = float(q)
    else:
        if q.dtype is not input.dtype:
            raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
        if q.device != input.device:
            raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")
        if not q.is_meta and not bool(((q >= 0) & (q <= 1)).all()):
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
        if interpolation != "linear":
            q = q.detach()               # only linear interpolation depends on q smoothly
    if dim is not None:
        wrap_dim(dim, input.ndim)
    if out is not None and out.dtype is not input.dtype:
        raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")
    return put_out("quantile", quantile_of(input, q, dim, keepdim, interpolation=interpolation, ignore=ignore), out,
                   copied=True, recorded=True)


@composite(asked=True)
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The values below which the fractions ``q`` (a number or a 1-d tensor) of the elements lie; NaN if there is a NaN.

    >>> torch.quantile(torch.tensor([0., 1., 2., 3.]), 0.5)
    tensor(1.5000)
    """
    return _quantile(False, input, q, dim, keepdim, interpolation, out)


@composite(asked=True)
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """`quantile` of what is not NaN.

    >>> torch.nanquantile(torch.tensor([0., float("nan"), 2.]), 0.5)
    tensor(1.)
    """
    return _quantile(True, input, q, dim, keepdim, interpolation, out)
