"""Distances between rows: cdist and pdist.

Owns: p-norms of all differences, and their gradients, which are 0 where a distance is 0. May not know: tensors as objects, but in
composites.
"""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ...trace.plan import is_for_cpu, is_particular
from ..build import broadcast_shapes
from ..loops import scan
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import refuses

_MANY = 1024                # elements from which on a round of a loop is worth its start (on accelerators, none is)


def _part(away, p):
    """What a difference adds to a norm, before the root."""
    size = jnp.abs(away)
    if p == 0:
        return jnp.where(size != size, size, (size != 0).astype(away.dtype))             # a NaN makes the whole distance one
    return away * away if p == 2 else size if p in (1, math.inf) else size ** p


def _root(total, p):
    return jnp.sqrt(total) if p == 2 else total if p in (0, 1, math.inf) else total ** (1 / p)


def _distances(x1, x2, p, above_nan=False):
    """The norms of all differences of rows, column after column: at once they would be as many as rows times rows times columns.

    ``above_nan``: the largest difference is that of numbers, where there is one, and 0 where there is none.
    """
    def part_of(away):
        part = _part(away, p)
        return jnp.where(part != part, jnp.zeros_like(part), part) if above_nan and p == math.inf else part
    n = max(x1.ndim, x2.ndim)
    a, b = (jnp.moveaxis(x.reshape(*(1,) * (n - x.ndim), *x.shape), -1, 0) for x in (x1, x2))
    a, b = a[..., :, None], b[..., None, :]
    shape = np.broadcast_shapes(a.shape[1:], b.shape[1:])
    is_particular()
    if math.prod(shape) < _MANY or not is_for_cpu():
        parts = part_of(a - b)
        return _root(parts.max(0, initial=0) if p == math.inf else parts.sum(0), p)

    def add(total, columns):
        part = part_of(columns[0] - columns[1])
        return jnp.maximum(total, part) if p == math.inf else total + part, None
    return _root(scan(add, jnp.zeros(shape, a.dtype), (a, b))[0], p)


def _slope(away, norm, p):
    """The derivative of the norm by each difference."""
    norm = norm[..., None]
    zero = jnp.zeros((), away.dtype)
    if p == 0:
        return jnp.zeros_like(away)
    if p == 1:
        return jnp.sign(away)
    safe = jnp.where(norm == 0, jnp.ones_like(norm), norm)
    if p == 2:
        return jnp.where(norm == 0, zero, away / safe)
    if p == math.inf:
        return jnp.sign(away) * (jnp.abs(away) == norm)
    size = jnp.where(away == 0, jnp.ones_like(away), jnp.abs(away))
    return jnp.where((norm == 0) | (away == 0), zero, jnp.sign(away) * size ** (p - 1) / safe ** (p - 1))


# -- cdist ------------------------------------------------------------------------------------------------------------

def _first(grad, x1, x2, p, result):
    """The gradient of the first rows, by one after the other of the second ones."""
    others, grads, norms = jnp.moveaxis(x2, -2, 0), jnp.moveaxis(grad, -1, 0), jnp.moveaxis(result, -1, 0)
    shape = *result.shape[:-1], x1.shape[-1]

    def add(total, row):
        other, grad, norm = row
        return total + grad[..., None] * _slope(x1 - other[..., None, :], norm, p), None
    is_particular()
    if math.prod(shape) >= _MANY and is_for_cpu():
        return scan(add, jnp.zeros(shape, grad.dtype), (others, grads, norms))[0]
    return (grad[..., None] * _slope(x1[..., :, None, :] - x2[..., None, :, :], result, p)).sum(-2)


def _second(grad, x1, x2, p, result):
    return _first(jnp.swapaxes(grad, -1, -2), x2, x1, p, jnp.swapaxes(result, -1, -2))


@op(name="cdist.raw", backward="CdistBackward0", grad={"x1": _first, "x2": _second}, **RAW, quirks=Quirks(no_derivative="_cdist_backward"))
def cdist_raw(x1: Tensor, x2: Tensor, p):
    """The p-norms of all differences of rows."""
    return _distances(x1, x2, p, above_nan=True)                 # unlike `pdist`'s, PyTorch's loop passes over NaN


def _product(a, b):
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


def _ratio(grad, result):
    return jnp.where(result == 0, jnp.zeros_like(grad), grad / jnp.where(result == 0, jnp.ones_like(result), result))


def _euclid_first(grad, x1, x2, result):
    ratio = _ratio(grad, result)
    return x1 * ratio.sum(-1, keepdims=True) - _product(ratio, x2)


def _euclid_second(grad, x1, x2, result):
    ratio = jnp.swapaxes(_ratio(grad, result), -1, -2)
    return x2 * ratio.sum(-1, keepdims=True) - _product(ratio, x1)


@op(name="euclidean_dist.raw", backward="EuclideanDistBackward0", grad={"x1": _euclid_first, "x2": _euclid_second}, **RAW)
def euclidean_raw(x1: Tensor, x2: Tensor):
    """Euclidean distances of all rows by one matrix product, as PyTorch computes many of them."""
    left = jnp.concatenate([x1 * -2, (x1 * x1).sum(-1, keepdims=True), jnp.ones((*x1.shape[:-1], 1), x1.dtype)], -1)
    right = jnp.concatenate([x2, jnp.ones((*x2.shape[:-1], 1), x2.dtype), (x2 * x2).sum(-1, keepdims=True)], -1)
    return jnp.sqrt(jnp.maximum(_product(left, jnp.swapaxes(right, -1, -2)), 0))


_MODES = {"use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}


@composite(method=False, asked=True)
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distances of all rows: ``(*, P, M)`` and ``(*, R, M)`` to ``(*, P, R)``.

    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.]]))
    tensor([[5.]])
    """
    if not isinstance(compute_mode, (str, type(None))) or compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = x1._spec, x2._spec
    for name, s in (("X1", a), ("X2", b)):
        if s.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {s.ndim}D")
    if a.size[-1] != b.size[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {a.size[-1]} X2: {b.size[-1]}")
    for name, s in (("X1", a), ("X2", b)):
        if s.dtype.category != 2:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {dtypes.scalar_name(s.dtype)}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {dtypes.scalar_name(a.dtype)} but found {dtypes.scalar_name(b.dtype)}")
    refuses("cdist", "narrow")(a)
    rows = max(a.size[-2], b.size[-2])
    broadcast_shapes([tuple(a.size[:-2]), tuple(b.size[:-2])])
    mode = _MODES[compute_mode]
    if p == 2 and (mode == 1 or mode == 0 and rows > 25):
        return euclidean_raw(x1, x2)
    return cdist_raw(x1, x2, float(p))


# -- pdist ------------------------------------------------------------------------------------------------------------

def _pairs(n):
    return np.triu_indices(n, 1)


def _pdist_gradient(grad, self, p, result):
    def of_all(values):
        upper = jnp.zeros((self.shape[0],) * 2, values.dtype).at[_pairs(self.shape[0])].set(values)
        return upper + upper.T
    return _first(of_all(grad), self, self, p, of_all(result))


def _check_pdist(self, p):
    if self.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if not self.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if self.size[0] > 1 and self.size[1]:
        refuses("pdist", "narrow")(self)


@op(name="pdist", backward="PdistBackward0", grad={"self": _pdist_gradient}, method=False, check=_check_pdist,
    quirks=Quirks(no_derivative="_pdist_backward"))
def pdist(self: Tensor, p=2.0):
    """The p-norm distances of all pairs of rows: ``(N, M)`` to ``(N (N - 1) / 2,)``.

    >>> torch.pdist(torch.tensor([[0., 0.], [3., 4.]]))
    tensor([5.])
    """
    return _distances(self, self, p)[_pairs(self.shape[0])]
