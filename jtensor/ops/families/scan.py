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
from ..quirks import Quirks
from ..registry import composite
from .composing import put_out
from .exponentials import log_of_sum
from .numeric import is_complex, is_integral, larger, not_implemented, wide, wrap_dim
from .running import accumulated_in, along, running_product, running_sum

_SCAN = {"out": True, "inplace": True}


def _check_dim(self, dim, dtype=None):
    wrap_dim(dim, self.ndim)


def _summed(x, dtype):
    if dtype is not None:
        x = x.real if is_complex(x) and not dtype.is_complex else x
        return x.astype(dtype.numpy) if x.dtype != dtype.numpy else x
    return x.astype(jnp.int64) if is_integral(x) else x


def _flat_or(function, x, dim):
    """A 0-d tensor stays as it is."""
    return x if x.ndim == 0 else function(x, dim % x.ndim)


def _cumulate(x, dim):
    return _flat_or(running_sum, x, dim)


def _cumulate_back(x, dim):
    return _flat_or(lambda a, d: running_sum(a, d, reverse=True), x, dim)


def _check_sum(name):
    def check(self, dim, dtype):
        _check_dim(self, dim, dtype)
        if dtype is dtypes.bool:
            raise not_implemented(f"{name}_out_cpu", dtype)
    return check


def _check_into_bools(name):
    def check(self, dim, dtype):
        _check_dim(self, dim, dtype)
        if dtype is not None and dtype is not self.dtype:
            raise RuntimeError(f"Bad in-place call: input tensor dtype {dtypes.cpp_name(self.dtype)} and output tensor dtype "
                               f"{dtypes.cpp_name(dtype)} should match")
        if self.dtype is dtypes.bool:
            raise not_implemented(f"{name}_out_cpu", self.dtype)
    return check


def _handed_on(grad, node):
    """The gradient itself where nothing is put together: of a single number, or along a dimension of size 1."""
    shape, dim = node.plan.inputs[0].shape, node.plan.notes.template[1]
    return (grad,) if math.prod(shape) <= 1 or shape[dim] == 1 else None


@op(None, check=_check_sum("cumsum"), check_inplace=_check_into_bools("cumsum"), **_SCAN, double="FlipBackward0", inverse=_handed_on,
    grad={"self": lambda grad, dim: _cumulate_back(grad, dim)}, quirks=Quirks(out_whole=True))
def cumsum(self: Tensor, dim, *, dtype=None):
    """Sums of all elements up to each one along ``dim``; integers add up in int64.

    >>> torch.cumsum(torch.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    x = _summed(self, dtype)
    return _cumulate(x.astype(jnp.int64), dim) != 0 if x.dtype == jnp.bool_ else _cumulate(x, dim)


@wide
def _cumprod_gradient(grad, self, result, dim):
    if self.ndim == 0 or self.size == 0:
        return grad
    return _of_products(grad, self.astype(grad.dtype), result, dim % self.ndim)


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def _of_products(grad, x, result, axis):
    zero = x == 0
    plain = running_sum(conj_times(result, grad), axis, reverse=True) / jnp.conj(jnp.where(zero, jnp.ones_like(x), x))
    return lax.cond(jnp.any(zero), lambda: jnp.where(zero, _at_zeros(grad, x, axis), plain), lambda: plain)


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


def _at_zeros(grad, x, axis):
    """What reaches a zero: the products of all others up to each place. The products with the first zero taken out serve it; a later one
    gets nothing."""
    zero = x == 0
    first = zero & (running_sum(zero.astype(jnp.int32), axis) == 1)
    without = running_product(jnp.where(first, jnp.ones_like(x), x), axis)
    reached = running_sum(first.astype(jnp.int32), axis) > 0
    total = jnp.sum(jnp.where(reached, jnp.conj(without) * grad, jnp.zeros_like(grad)), axis=axis, keepdims=True)
    return jnp.where(first, total, jnp.zeros_like(grad))


@op(None, check=_check_sum("cumprod"), check_inplace=_check_into_bools("cumprod"), grad={"self": _cumprod_gradient}, **_SCAN,
    double="DivBackward0", inverse=_handed_on, quirks=Quirks(out_whole=True))
def cumprod(self: Tensor, dim, *, dtype=None):
    """Products of all elements up to each one along ``dim``.

    >>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """
    return _flat_or(running_product, _summed(self, dtype), dim)


# -- running extrema --------------------------------------------------------------------------------------------------

@wide
def _running_extremum(x, dim, better):
    """(values, indices): the best so far, the last of equals; NaN is better than anything and stays."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    if not x.size:
        return x, jnp.zeros(x.shape, jnp.int64)
    axis = dim % x.ndim
    places = lax.broadcasted_iota(jnp.int64, x.shape, axis)

    def pick(a, b):
        (av, ai), (bv, bi) = a, b
        take = better(bv, av) | (bv == av) | (bv != bv)
        take = take & ~((av != av) & (bv == bv))
        return jnp.where(take, bv, av), jnp.where(take, bi, ai)
    first = lax.index_in_dim(x, 0, axis, keepdims=False)
    return along(pick, (first, jnp.zeros(first.shape, jnp.int64)), (x, places), axis)


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


@op(None, check=_check_extremum("cummax"), grad={"self": _scatter_back}, double="ScatterAddBackward0!", **_PAIR, quirks=Quirks(writes=2))
def cummax(self: Tensor, dim):
    """``(values, indices)`` of the largest so far along ``dim``.

    >>> torch.cummax(torch.tensor([1, 3, 2]), 0).values
    tensor([1, 3, 3])
    """
    return _running_extremum(self, dim, lambda a, b: _less(b, a))


@op(None, check=_check_extremum("cummin"), grad={"self": _scatter_back}, double="ScatterAddBackward0!", **_PAIR, quirks=Quirks(writes=2))
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


def _decaying_sum(fresh, kept, axis, reverse=False):
    """Sums of ``fresh`` in which, at each place, what came before counts ``kept`` times."""
    def add(so_far, here):
        (total, all_kept), (fresh, kept) = so_far, here
        return total * kept + fresh, all_kept * kept
    shape = fresh.shape[:axis] + fresh.shape[axis + 1:]
    return along(add, (jnp.zeros(shape, fresh.dtype), jnp.ones(shape, fresh.dtype)), (fresh, kept), axis, reverse)[0]


def _share(a, b):
    """``exp(a - b)`` of what is not larger; 1 of equals, infinite ones among them."""
    return jnp.where(a == b, jnp.ones_like(a), jnp.exp(a - b))


def _shifted(x, axis, first):
    """What stands one place before each, and at first a number."""
    begin = jnp.full_like(lax.slice_in_dim(x, 0, 1, axis=axis), first)
    return jnp.concatenate([begin, lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)], axis)


@wide
def _log_running(x, dim, reverse=False):
    """The largest so far, and the logarithm of a sum of shares of it: the exponentials of all places are computed at once."""
    if x.ndim == 0 or not x.size:
        return x
    axis = dim % x.ndim
    if is_complex(x):
        return lax.associative_scan(log_of_sum, x, axis=axis, reverse=reverse)
    first = jnp.full(x.shape[:axis] + x.shape[axis + 1:], -jnp.inf, x.dtype)
    top = along(larger, first, x, axis).astype(accumulated_in(x.dtype))
    before, here = _shifted(top, axis, -jnp.inf), x.astype(top.dtype)
    share = _share(jnp.minimum(here, before), jnp.maximum(here, before))
    others = _decaying_sum(share, jnp.where(here > before, share, jnp.ones_like(share)), axis)
    return jnp.where(jnp.isinf(top), top, top + jnp.log1p(others)).astype(x.dtype)


@wide
def _logcumsumexp_gradient(grad, self, result, dim):
    if self.ndim == 0 or self.size == 0:
        return grad
    if is_complex(self):
        return jnp.conj(jnp.exp(_log_running(jnp.log(jnp.conj(grad)) - result, dim, reverse=True) + self))
    axis, wider = dim % self.ndim, accumulated_in(self.dtype)
    x, sums = self.astype(wider), result.astype(wider)
    kept = _share(_shifted(sums, axis, -jnp.inf), sums)                         # of a sum in the next one
    after = jnp.flip(_shifted(jnp.flip(kept, axis), axis, 0), axis)
    return (jnp.exp(x - sums) * _decaying_sum(grad.astype(wider), after, axis, reverse=True)).astype(self.dtype)


@op(None, out=True, grad={"self": _logcumsumexp_gradient}, check=_check_logcumsumexp, double="SubBackward0",
    inverse=lambda grad, node: (grad,) if not node.plan.inputs[0].shape or 0 in node.plan.inputs[0].shape else None,
    quirks=Quirks(out_whole=True))
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
        if out is not None and out._spec.dtype is not input.dtype:
            raise RuntimeError(f"expected scalar_type {dtypes.scalar_name(input.dtype)} but found {dtypes.scalar_name(out._spec.dtype)}")
        return put_out("diff", input.clone(), out)
    x = input if len(parts) == 1 else _cat(parts, axis)
    import jtensor
    step = jtensor.logical_xor if x.dtype is dtypes.bool else jtensor.sub
    for left in reversed(range(min(n, x.shape[axis]))):
        size = x.shape[axis]
        high, low = x.narrow(axis, 1, max(size - 1, 0)) if size else x, x.narrow(axis, 0, max(size - 1, 0))
        x = step(high, low) if left or out is None else step(high, low, out=out)
    return x if out is None or x is out else step(x, x, out=out)


def _slices(y, dim):
    n = y.shape[dim]
    if not n:
        return y, y
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


def _check_distance(name, dx):
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


@composite(method=False, asked=True)
def trapezoid(y, x=None, *, dx=None, dim=-1):
    """The area under ``y`` by the trapezoidal rule, at the points ``x`` or at distances ``dx``.

    >>> torch.trapezoid(torch.tensor([1., 2., 3.]))
    tensor(4.)
    """
    if not y.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, y.ndim)
    if y.shape[dim] == 0:
        return y.new_zeros(y.shape[:dim] + y.shape[dim + 1:])
    if isinstance(x, (int, float)):
        x, dx = None, x
    if x is not None:
        return _areas("trapezoid", y, x, dim).sum(dim) / 2.0
    _check_alone("trapezoid", y)
    _check_distance("trapezoid", dx)
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
    if not y.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if isinstance(x, (int, float)):
        x, dx = None, x
    if x is not None:
        return _areas("cumulative_trapezoid", y, x, dim).cumsum(dim) / 2.0
    _check_alone("cumulative_trapezoid", y)
    _check_distance("cumulative_trapezoid", dx)
    left, right = _slices(y, dim)
    return ((left + right) * ((1 if dx is None else dx) / 2.0)).cumsum(dim)
