"""Norms: vector norms, the old `norm`, distances, renorm, logsumexp.

Owns: what a norm of order p is and its gradient, which is 0 where the norm is 0. Matrix norms that need a decomposition are linalg's.
May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
from jax import lax

from ...base import dtypes, sites
from ...base.naming import type_name
from ..operator import Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .arithmetic import check_subtraction
from .numeric import axes_of, cast, is_complex, restored, wide, wrap_dim

_PRIVATE = {"function": False, "method": False, "out": True}
INF = math.inf


# -- of any order -----------------------------------------------------------------------------------------------------

def norm_over(x, p, axes, keepdim):
    """The p-norm over axes; p is a Python number."""
    size = jnp.abs(x)
    if p == 0:
        return jnp.sum((x != 0).astype(size.dtype), axis=axes, keepdims=keepdim)
    if p == 1 or x.size == math.prod(n for axis, n in enumerate(x.shape) if axis not in axes):      # of one element: its size
        return jnp.sum(size, axis=axes, keepdims=keepdim)
    if p == 2:
        squares = jnp.square(x.real) + jnp.square(x.imag) if is_complex(x) else x * x
        return jnp.sqrt(jnp.sum(squares, axis=axes, keepdims=keepdim))
    if p in (INF, -INF):
        return (jnp.max if p > 0 else jnp.min)(size, axis=axes, keepdims=keepdim)
    total = jnp.sum(lax.pow(size, jnp.full_like(size, p)), axis=axes, keepdims=keepdim)
    return lax.pow(total, jnp.full_like(total, 1 / p))


def _unit(x):
    if not is_complex(x):
        return jnp.sign(x)
    size = jnp.abs(x)
    return jnp.where(size == 0, jnp.zeros_like(x), x / jnp.where(size == 0, jnp.ones_like(size), size).astype(x.dtype))


def norm_gradient(grad, x, p, norm, axes, keepdim):
    """The gradient of the p-norm, with PyTorch's subgradients where it has none."""
    grad, norm = restored(grad, axes, keepdim), restored(norm, axes, keepdim)
    if p == 0:
        return jnp.zeros_like(x)
    if p == 1:
        return _unit(x) * grad.astype(x.dtype)
    zero = norm == 0
    safe = jnp.where(zero, jnp.ones_like(norm), norm)
    if p == 2:
        return jnp.where(zero, jnp.zeros_like(x), x * (grad / safe).astype(x.dtype))
    size = jnp.abs(x)
    if p in (INF, -INF):
        hit = (size == norm) | ((size != size) & (norm != norm))
        count = jnp.sum(hit.astype(norm.dtype), axis=axes, keepdims=True)
        return jnp.where(hit, _unit(x) * (grad / count).astype(x.dtype), jnp.zeros_like(x))
    if p < 1:
        direction = _unit(x) * jnp.where(size == 0, jnp.zeros_like(size), _power(size, p - 1)).astype(x.dtype)
    elif p < 2:
        direction = _unit(x) * _power(size, p - 1).astype(x.dtype)
    else:
        direction = x * _power(size, p - 2).astype(x.dtype)
    return jnp.where(zero, jnp.zeros_like(x), direction * (grad * _power(safe, 1 - p)).astype(x.dtype))


def _power(x, p):
    return jnp.ones_like(x) if p == 0 else x if p == 1 else lax.pow(x, jnp.full_like(x, p))


def _in_type(x, dtype):
    return x if dtype is None or x.dtype == dtype.numpy else x.astype(dtype.numpy)


@wide
def _vector_gradient(grad, self, result, ord, dim, keepdim, dtype):
    x = _in_type(self, dtype)
    return norm_gradient(grad, x, ord, result, axes_of(dim, x.ndim), keepdim)


def _check_vector_norm(self, ord, dim, keepdim, dtype):
    if self.dtype.category < 2:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{dtypes.scalar_name(self.dtype)}")
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    axes = axes_of(dim, self.ndim)
    if dtype is not None:
        _check_norm_type("linalg.vector_norm", self, dtype)
    if (ord < 0 or ord == INF) and self.numel == 0:
        if dim in (None, ()):
            raise RuntimeError(f"linalg.vector_norm cannot compute the {_g(ord)} norm on an empty tensor because the operation "
                               "does not have an identity")
        for axis, written in zip(axes, dim if isinstance(dim, tuple) else (dim,), strict=False):
            if self.ndim and self.size[axis] == 0:
                raise RuntimeError(f"linalg.vector_norm cannot compute the {_g(ord)} norm on the dimension {written}because this "
                                   "dimension is empty and the operation does not have an identity")            # without a space


def _check_norm_type(name, self, dtype):
    if dtype.category < 2:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtypes.scalar_name(dtype)}")
    if self.dtype.is_complex != dtype.is_complex:
        raise RuntimeError(f"{name}: dtype should be {'complex' if self.dtype.is_complex else 'real'} for "
                           f"{'complex' if self.dtype.is_complex else 'real'} inputs, but got {dtypes.scalar_name(dtype)}")
    if dtypes.promote_types(self.dtype, dtype) is not dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({dtypes.scalar_name(self.dtype)}) should be convertible without narrowing "
                           f"to the specified dtype ({dtypes.scalar_name(dtype)})")


def _g(p):
    return f"{p:g}"


def _none_of_counts(place):
    """An ``inverse``: the norm of order 0 counts, so that nothing arrives at its inputs, not even zeros, as in PyTorch; of the other orders
    there is a formula. ``place``: where the order is among the arguments."""
    return lambda grad, node: (None,) * len(node.needs) if node.plan.notes.template[place] == 0 else None


@op(None, name="linalg_vector_norm", check=_check_vector_norm, grad={"self": _vector_gradient}, **_PRIVATE, double="MulBackward0",
    inverse=_none_of_counts(1), quirks=Quirks(factor=True, by_elements=True))
def linalg_vector_norm(self: Tensor, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of order ``ord`` of the elements along ``dim``, whatever the shape.

    >>> torch.linalg.vector_norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    return wide(norm_over)(_in_type(self, dtype), ord, axes_of(dim, self.ndim), keepdim)


@composite()
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm over ``dim``: of order ``p``, Frobenius ("fro") or the sum of singular values ("nuc").

    >>> torch.norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    if not hasattr(input, "_spec"):
        raise AttributeError(f"'{type_name(type(input))}' object has no attribute 'layout'")
    if isinstance(p, (list, tuple)) or hasattr(p, "_spec") and p._spec.ndim:
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type_name(type(p))}")
    if isinstance(dim, str):
        raise TypeError(f"linalg_vector_norm(): argument 'dim' (position 3) must be tuple of ints, not {type_name(type(dim))}")
    if input.dtype.category < 2 and (dtype is None or p == "nuc"):
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{dtypes.scalar_name(input.dtype)}")
    if keepdim is not True and keepdim is not False:
        raise TypeError(f"linalg_vector_norm(): argument 'keepdim' (position 4) must be bool, not {type_name(type(keepdim))}")
    more = {} if out is None else {"out": out}
    if p == "nuc":
        import importlib

        from ...base.errors import missing
        try:
            linalg = importlib.import_module("jtensor.linalg")
        except ModuleNotFoundError:
            raise missing("the nuclear norm", "norms of a number's order") from None
        return linalg.matrix_norm(input, "nuc", tuple(range(input.dim())) if dim is None else dim, keepdim, dtype=dtype, **more)
    if p == "fro" or p is None:
        if p == "fro" and isinstance(dim, (tuple, list)) and len(dim) > 2:
            raise RuntimeError("linalg.matrix_norm: dim must be a 2-tuple. Got " + " ".join(map(str, dim)))
        p = 2
    if isinstance(p, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return linalg_vector_norm(input, p, dim, keepdim, dtype=dtype, **more)


_DEPRECATED = ("at::{0}_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. "
               "Please use `linalg.{1}, dim, keepdim)` instead")


@composite(method=False)
def frobenius_norm(input, dim, keepdim=False, *, out=None):
    """The square root of the sum of squares over one or two dimensions.

    >>> torch.frobenius_norm(torch.tensor([[3., 4.]]), (0, 1))
    tensor(5.)
    """
    sites.warn_once(_DEPRECATED.format("frobenius", "vector_norm(A, 2."))
    return norm(input, 2, dim, keepdim, out=out)


@composite(method=False)
def nuclear_norm(input, dim=None, keepdim=False, *, out=None):
    """The sum of the singular values of matrices, in the last two dimensions unless ``dim`` names others.

    >>> torch.nuclear_norm(torch.eye(2))
    tensor(2.)
    """
    sites.warn_once(_DEPRECATED.format("nuclear", "matrix_norm(A, 'nuc'"))
    if dim is True or dim is False:                              # the form without dimensions
        dim, keepdim = None, dim
    dim = (-2, -1) if dim is None else (dim, dim) if isinstance(dim, int) else tuple(dim)
    from .matrix_norms import linalg_matrix_norm
    return linalg_matrix_norm(input, "nuc", dim, keepdim, **({} if out is None else {"out": out}))


@wide
def _dist_gradient(grad, self, other, p, result):
    away = self - other
    return norm_gradient(grad, away, p, result, tuple(range(away.ndim)), False)


def _check_dist(self, other, p):
    if isinstance(p, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    check_subtraction(self, other)
    common = dtypes.result_type(*[[s.dtype for s in (self, other) if bool(s.ndim) is of_rank] for of_rank in (True, False)], [])
    if common.category < 2:
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{dtypes.scalar_name(common)} instead.")
    if (p < 0 or p == INF) and not (self.numel and other.numel):
        raise RuntimeError(f"linalg.vector_norm cannot compute the {_g(p)} norm on an empty tensor because the operation does not have an "
                           "identity")


@op("numeric", layout="contiguous", check=_check_dist, grad={
    "self": lambda grad, self, other, p, result: _dist_gradient(grad, self, other, p, result),
    "other": lambda grad, self, other, p, result: -_dist_gradient(grad, self, other, p, result)}, double="MulBackward0",
    inverse=_none_of_counts(2), quirks=Quirks(by_elements=True))
@wide
def dist(self: Tensor, other: Tensor, p=2):
    """The p-norm of the difference of two tensors.

    >>> torch.dist(torch.tensor([0., 0.]), torch.tensor([3., 4.]))
    tensor(5.)
    """
    away = self - other
    return norm_over(away, p, tuple(range(away.ndim)), False)


# -- renorm -----------------------------------------------------------------------------------------------------------

def _check_renorm(self, p, dim, maxnorm):
    if not isinstance(p, (int, float)):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if self.dtype.category < 2:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{dtypes.scalar_name(self.dtype)}")
    axes_of(dim, self.ndim)


def _slices_sizes(x, p, dim, maxnorm):
    """(the norms of the slices along ``dim``, the greatest that may stay, the axes of a slice)."""
    axes = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    sizes = norm_over(x, p, axes, True)
    return sizes, cast(maxnorm if maxnorm <= float(jnp.finfo(sizes.dtype).max) else INF, sizes.dtype), axes


@wide
def _renorm_gradient(grad, self, p, dim, maxnorm):
    sizes, most, axes = _slices_sizes(self, p, dim, maxnorm)
    inverse = 1 / (sizes + 1e-7)
    along = jnp.sum((grad * jnp.conj(self)).real, axis=axes, keepdims=True)
    slope = norm_gradient(along, self, p, sizes, axes, True)
    return jnp.where(sizes > most, (most * inverse).astype(grad.dtype) * (grad - inverse.astype(grad.dtype) * slope), grad)


@op("numeric", layout="contiguous", inplace=True, out=True, check=_check_renorm, grad=_renorm_gradient)
@wide
def renorm(self: Tensor, p, dim, maxnorm):
    """Each slice along ``dim`` whose p-norm is above ``maxnorm`` scaled down to it.

    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    sizes, most, _ = _slices_sizes(self, p, dim, maxnorm)
    factor = jnp.where(sizes > most, most / (sizes + 1e-7), jnp.ones_like(sizes))
    return self * factor.astype(self.dtype)


# -- logsumexp --------------------------------------------------------------------------------------------------------

def _check_logsumexp(self, dim, keepdim):
    axes_of(dim, self.ndim)


@wide
def _log_of_sum(x, axes, keepdim):
    if x.size == 0:
        return jnp.log(jnp.sum(jnp.exp(x), axis=axes, keepdims=keepdim))
    top = jnp.max(x.real if is_complex(x) else x, axis=axes, keepdims=True)
    top = jnp.where(jnp.isinf(top), jnp.zeros_like(top), top)
    total = jnp.sum(jnp.exp(x - top.astype(x.dtype)), axis=axes, keepdims=keepdim)
    return jnp.log(total) + (top if keepdim else jnp.squeeze(top, axes)).astype(total.dtype)


@wide
def _logsumexp_gradient(grad, self, result, dim, keepdim):
    axes = axes_of(dim, self.ndim)
    grad, result = restored(grad, axes, keepdim), restored(result, axes, keepdim)
    return grad * jnp.conj(jnp.exp(self - result))


@op("float", out=True, layout="contiguous", check=_check_logsumexp, grad={"self": _logsumexp_gradient}, double="MulBackward0",
    quirks=Quirks(by_elements=True))
def logsumexp(self: Tensor, dim, keepdim=False):
    """``log(sum(exp(input)))`` over ``dim`` without overflow on the way.

    >>> torch.logsumexp(torch.tensor([0., 0.]), 0)
    tensor(0.6931)
    """
    return _log_of_sum(self, axes_of(dim, self.ndim), keepdim)


@composite(method=False)
def norm_except_dim(v, pow=2, dim=0):
    """The norm of order ``pow`` over all dimensions but one, which keep size one; over all of them where ``dim`` is -1.

    >>> torch.norm_except_dim(torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5.],
            [1.]])
    """
    if dim == -1:
        return v.norm(pow)
    kept, shape = wrap_dim(dim, v.ndim), [1] * (v.ndim - 1)
    if kept == 0:
        return v.reshape(v.shape[0], -1).norm(pow, 1).view(-1, *shape)
    if kept == v.ndim - 1:
        return v.reshape(-1, v.shape[-1]).norm(pow, 0).view(*shape, -1)
    return norm_except_dim(v.transpose(0, kept), pow, 0).transpose(0, kept)
