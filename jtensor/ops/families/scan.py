"""Running sums and their kin along a dimension: cumsum, cumprod, cummax, cummin, logcumsumexp, diff, trapezoid.

Owns: scans. May not know: tensors as objects.
"""
import functools
import math

import jax
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ..operator import Tensor, op
from ..registry import composite
from .composing import put_out
from .numeric import is_complex, is_integral, not_implemented, wide, wrap_dim

_SCAN = {"out": True, "inplace": True}


def _check_dim(self, dim, dtype=None):
    wrap_dim(dim, self.ndim)


def _summed(x, dtype):
    if dtype is not None:
        x = x.real if is_complex(x) and not dtype.is_complex else x
        return x.astype(dtype.numpy) if x.dtype != dtype.numpy else x
    return x.astype(jnp.int64) if is_integral(x) else x


def _flat_or(function, x, dim):
    """0-d tensors are scanned as if they had one dimension."""
    return function(x.reshape(1), 0).reshape(()) if x.ndim == 0 else function(x, dim % x.ndim)


BLOCK = 64


def running_sum(x, axis):
    """Cumulative sums; long floating ones by blocks: a triangle of ones inside each, and the sums of the blocks before it."""
    if x.shape[axis] <= BLOCK or not jnp.issubdtype(x.dtype, jnp.floating):
        return lax.cumsum(x, axis)
    n = x.shape[axis]
    rows = jnp.moveaxis(x, axis, -1)
    pad = -n % BLOCK
    rows = jnp.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, pad)])
    blocks = rows.reshape(*rows.shape[:-1], -1, BLOCK)
    inside = lax.cumsum(blocks, blocks.ndim - 1)
    totals = inside[..., -1]
    so_far = running_sum(totals, totals.ndim - 1)
    before = jnp.concatenate([jnp.zeros_like(so_far[..., :1]), so_far[..., :-1]], -1)
    done = (inside + before[..., None]).reshape(rows.shape)[..., :n]
    return jnp.moveaxis(done, -1, axis)


@wide
def _cumulate(x, dim):
    return _flat_or(running_sum, x, dim)


@wide
def _cumulate_back(x, dim):
    return _flat_or(lambda a, d: jnp.flip(running_sum(jnp.flip(a, d), d), d), x, dim)


def _check_sum(name):
    def check(self, dim, dtype):
        _check_dim(self, dim, dtype)
        if dtype is dtypes.bool:
            raise not_implemented(f"{name}_out_cpu", dtype)
    return check


def _check_into_bools(name):
    def check(self, dim, dtype):
        _check_dim(self, dim, dtype)
        if self.dtype is dtypes.bool:
            raise not_implemented(f"{name}_out_cpu", self.dtype)
    return check


def _handed_on(grad, node):
    """The gradient itself where nothing is put together: of a single number, or along a dimension of size 1."""
    shape, dim = node.plan.inputs[0].shape, node.plan.notes.template[1]
    return (grad,) if math.prod(shape) <= 1 or shape[dim] == 1 else None


@op(None, check=_check_sum("cumsum"), check_inplace=_check_into_bools("cumsum"), **_SCAN, double="FlipBackward0", inverse=_handed_on,
    grad={"self": lambda grad, dim: _cumulate_back(grad, dim)})
def cumsum(self: Tensor, dim, *, dtype=None):
    """Sums of all elements up to each one along ``dim``; integers add up in int64.

    >>> torch.cumsum(torch.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    x = _summed(self, dtype)
    return _cumulate(x.astype(jnp.int64), dim) != 0 if x.dtype == jnp.bool_ else _cumulate(x, dim)


@wide
def _cumulative_product(x, dim):
    return _flat_or(lax.cumprod, x, dim)


@wide
def _cumprod_gradient(grad, self, result, dim):
    if self.ndim == 0 or self.size == 0:
        return grad
    return _of_products(grad, self.astype(grad.dtype), result, dim % self.ndim)


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def _of_products(grad, x, result, axis):
    weighted = lax.cumsum(conj_times(result, grad), axis, reverse=True)
    zero = x == 0
    plain = weighted / jnp.conj(jnp.where(zero, jnp.ones_like(x), x))
    return jnp.where(zero, _at_zeros(grad, x, axis, x.shape[axis]), plain)


@_of_products.defjvp
def _of_products_slope(axis, primals, tangents):
    """Of the same gradient by a tree of products, in which nothing is divided, so that zeros do no harm. ``result`` depends on ``x``."""
    def by_tree(grad, x):
        _, pull = jax.vjp(lambda v: lax.associative_scan(jnp.multiply, v, axis=axis), x)
        return jnp.conj(pull(jnp.conj(grad))[0])
    return _of_products(*primals, axis), jax.jvp(by_tree, primals[:2], tangents[:2])[1]


def conj_times(a, b):
    """``conj(a) * b``."""
    return jnp.conj(a) * b


def _at_zeros(grad, x, axis, n):
    """What reaches a zero: the products of all others up to each place. The products with the first zero taken out serve it; a later one
    gets nothing."""
    zero = x == 0
    first = zero & (lax.cumsum(zero.astype(jnp.int32), axis) == 1)
    without = lax.cumprod(jnp.where(first, jnp.ones_like(x), x), axis)
    reached = lax.cumsum(first.astype(jnp.int32), axis) > 0
    total = jnp.sum(jnp.where(reached, jnp.conj(without) * grad, jnp.zeros_like(grad)), axis=axis, keepdims=True)
    return jnp.where(first, total, jnp.zeros_like(grad))


@op(None, check=_check_sum("cumprod"), check_inplace=_check_into_bools("cumprod"), grad={"self": _cumprod_gradient}, **_SCAN,
    double="DivBackward0", inverse=_handed_on)
def cumprod(self: Tensor, dim, *, dtype=None):
    """Products of all elements up to each one along ``dim``.

    >>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """
    return _cumulative_product(_summed(self, dtype), dim)


# -- running extrema --------------------------------------------------------------------------------------------------

def _running_extremum(x, dim, better):
    """(values, indices): the best so far, the last of equals; NaN is better than anything and stays."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = dim % x.ndim
    places = lax.broadcasted_iota(jnp.int64, x.shape, axis)

    def pick(a, b):
        (av, ai), (bv, bi) = a, b
        take = better(bv, av) | (bv == av) | (bv != bv)
        take = take & ~((av != av) & (bv == bv))
        return jnp.where(take, bv, av), jnp.where(take, bi, ai)
    return lax.associative_scan(pick, (x, places), axis=axis)


def _scatter_back(grads, self, result1, dim):
    """Gradients added up at the places they were taken from; PyTorch saves the input, too."""
    grad = grads[0]
    if grad.ndim == 0 or grad.size == 0:
        return grad
    axis = dim % grad.ndim
    rows, at = jnp.moveaxis(grad, axis, -1), jnp.moveaxis(result1, axis, -1)
    shape = rows.shape
    rows, at = rows.reshape(-1, shape[-1]), at.reshape(-1, shape[-1])
    line = lax.broadcasted_iota(jnp.int64, rows.shape, 0)
    total = jnp.zeros_like(rows).at[line, at].add(rows)
    return jnp.moveaxis(total.reshape(shape), -1, axis)


_PAIR = {"nondiff": (1,), "outputs": ("values", "indices"), "out": True}


def _check_extremum(name):
    def check(self, dim):
        if not self.ndim and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        if self.numel:                                             # else nobody asks whether there is such a dimension
            wrap_dim(dim, self.ndim)
        if self.dtype.is_complex:
            raise not_implemented(f"{name}_cpu", self.dtype)
    return check


def _less(a, b):
    return ~a & b if a.dtype == jnp.bool_ else a < b


@op(None, check=_check_extremum("cummax"), grad={"self": _scatter_back}, double="ScatterAddBackward0!", **_PAIR)
def cummax(self: Tensor, dim):
    """``(values, indices)`` of the largest so far along ``dim``.

    >>> torch.cummax(torch.tensor([1, 3, 2]), 0).values
    tensor([1, 3, 3])
    """
    return _running_extremum(self, dim, lambda a, b: _less(b, a))


@op(None, check=_check_extremum("cummin"), grad={"self": _scatter_back}, double="ScatterAddBackward0!", **_PAIR)
def cummin(self: Tensor, dim):
    """``(values, indices)`` of the smallest so far along ``dim``.

    >>> torch.cummin(torch.tensor([3, 1, 2]), 0).values
    tensor([3, 1, 1])
    """
    return _running_extremum(self, dim, _less)


def _check_logcumsumexp(self, dim):
    wrap_dim(dim, self.ndim)
    if self.dtype.category < 2:
        raise not_implemented("logcumsumexp_out_cpu", self.dtype)


@wide
def _log_running(x, dim, reverse=False):
    if x.ndim == 0:
        return x
    from .exponentials import log_of_sum
    return lax.associative_scan(log_of_sum, x, axis=dim % x.ndim, reverse=reverse)


@wide
def _logcumsumexp_gradient(grad, self, result, dim):
    if self.ndim == 0 or self.size == 0:
        return grad

    def back(logarithms):
        return jnp.exp(_log_running(logarithms - result, dim, reverse=True) + self)
    if is_complex(self):
        return jnp.conj(back(jnp.log(jnp.conj(grad))))
    return jax.vjp(lambda x: _log_running(x, dim), self)[1](grad)[0]     # more accurate than a difference of exponentials


@op(None, out=True, grad={"self": _logcumsumexp_gradient}, check=_check_logcumsumexp,
    inverse=lambda grad, node: (grad,) if not node.plan.inputs[0].shape or 0 in node.plan.inputs[0].shape else None)
def logcumsumexp(self: Tensor, dim):
    """Logarithms of the sums of exponentials up to each element along ``dim``.

    >>> torch.logcumsumexp(torch.tensor([0., 0.]), 0)
    tensor([0.0000, 0.6931])
    """
    return _log_running(self, dim)


# -- differences and areas --------------------------------------------------------------------------------------------

def _cat(tensors, dim):
    import importlib
    return importlib.import_module("jtensor").cat(tensors, dim)


@composite(asked=True)
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """The differences of neighbours along ``dim``, ``n`` times over; of bools the exclusive or.

    >>> torch.diff(torch.tensor([1, 3, 6]))
    tensor([2, 3])
    """
    if input.ndim < 1:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = wrap_dim(dim, input.ndim)
    parts = [t for t in (prepend, input, append) if t is not None]
    for t in (prepend, append):
        if t is not None and t.ndim != input.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        if t is not None:
            for d in range(input.ndim):
                if d != axis and t.shape[d] != input.shape[d]:
                    raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except along "
                                       f"the differencing dimension; input.size({d}) = {input.shape[d]}, "
                                       f"but got tensor.size({d}) = {t.shape[d]}")
    if n == 0:                                        # whatever stands beside it
        return put_out("diff", input.clone(), out)
    x = input if len(parts) == 1 else _cat(parts, axis)
    for _ in range(min(n, x.shape[axis])):
        size = x.shape[axis]
        high, low = x.narrow(axis, 1, max(size - 1, 0)) if size else x, x.narrow(axis, 0, max(size - 1, 0))
        x = high.logical_xor(low) if x.dtype is dtypes.bool else high - low
    return put_out("logical_xor" if x.dtype is dtypes.bool else "sub", x, out)


def _slices(y, dim):
    n = y.shape[dim]
    return y.narrow(dim, 0, n - 1), y.narrow(dim, 1, n - 1)


def _areas(name, y, x, dim):
    """The sums of neighbours, each times their distance."""
    if any(t.dtype is dtypes.bool for t in (x, y)):
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    left, right = _slices(y, dim)
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = x.reshape([-1 if d == dim else 1 for d in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x.shape))
    before, behind = _slices(x, dim)
    return (left + right) * (behind - before)


def _check_alone(name, y):
    if y.dtype is dtypes.bool:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")


@composite(method=False, asked=True)
def trapezoid(y, x=None, *, dx=None, dim=-1):
    """The area under ``y`` by the trapezoidal rule, at the points ``x`` or at distances ``dx``.

    >>> torch.trapezoid(torch.tensor([1., 2., 3.]))
    tensor(4.)
    """
    dim = wrap_dim(dim, y.ndim)
    if y.shape[dim] == 0:
        return y.sum(dim)
    if isinstance(x, (int, float)):
        x, dx = None, x
    if x is not None:
        return _areas("trapezoid", y, x, dim).sum(dim) / 2.0
    _check_alone("trapezoid", y)
    return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * (1 if dx is None else dx)


@composite(method=False, asked=True)
def trapz(y, x=None, *, dx=None, dim=-1):
    """The same as `trapezoid`.

    >>> torch.trapz(torch.tensor([1., 2., 3.]))
    tensor(4.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@composite(method=False, asked=True)
def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """The areas under ``y`` up to each point, by the trapezoidal rule.

    >>> torch.cumulative_trapezoid(torch.tensor([1., 2., 3.]))
    tensor([1.5000, 4.0000])
    """
    dim = wrap_dim(dim, y.ndim)
    if isinstance(x, (int, float)):
        x, dx = None, x
    if x is not None:
        return _areas("cumulative_trapezoid", y, x, dim).cumsum(dim) / 2.0
    _check_alone("cumulative_trapezoid", y)
    left, right = _slices(y, dim)
    return ((left + right) * ((1 if dx is None else dx) / 2.0)).cumsum(dim)
