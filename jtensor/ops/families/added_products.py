"""Matrix products that are added to a third tensor: addmm, addmv, addbmm, baddbmm, addr.

Owns: these sums, with ``beta`` and ``alpha``, and what is checked of three. May not know: how a product is computed, which is in
`contracting`.
"""

from functools import partial

import jax.numpy as jnp

from ...base import dtypes
from ..operator import Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .arithmetic import check_factor
from .composing import check_expand, conj_times, times
from .contracting import (
    bmm_left,
    bmm_of,
    bmm_right,
    contract,
    flipped_left,
    flipped_of,
    flipped_right,
    mm_left,
    mm_of,
    mm_right,
    outer_of,
)
from .numeric import common_dtype, size_at, widened
from .products import check_mv_types, no_bool, same_type, shown

_WIDE, _OWN = ({"beta": rule, "alpha": rule} for rule in ("wide", "own"))


def _plus(self, product, beta, alpha, shape):
    """``beta * self + alpha * product``; a ``beta`` of 0 takes nothing from ``self``, not even NaN. The product may be wider."""
    total = product if self is None else times(product, alpha)
    term = widened(self) if product.dtype != self.dtype else self
    if type(beta) is int:
        added = times(term, beta)
    else:
        b = jnp.asarray(beta)
        added = jnp.where(b == 0, jnp.zeros_like(term), times(term, b))
    return jnp.broadcast_to((added + total).astype(self.dtype), shape)


def _whole(self, shape):
    """PyTorch's error where a product cannot be written to a tensor (a Spec), which is not broadcast."""
    if tuple(self.size) != tuple(shape):
        raise RuntimeError(f"Bad in-place call: input tensor size {list(self.size)} and output tensor size {list(shape)} should match")


def _one_type(self, mat1, mat2):
    for name, s in (("self", self), ("mat1", mat1)):
        if s.dtype is not mat2.dtype:
            raise RuntimeError(f"{name} and mat2 must have the same dtype, but got {dtypes.scalar_name(s.dtype)} and "
                               f"{dtypes.scalar_name(mat2.dtype)}")


def _check_addmm(self, mat1, mat2, beta, alpha, fits=check_expand):
    for name, s in (("mat1", mat1), ("mat2", mat2)):
        if s.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {s.ndim}-D tensor")
    _one_type(self, mat1, mat2)
    if mat1.size[1] != mat2.size[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shown(mat1)} and {shown(mat2)})")
    fits(self, (mat1.size[0], mat2.size[1]))
    no_bool("addmm_impl_cpu_", mat1.dtype)


@op(check=lambda self, mat1, mat2, flips, beta, alpha: _check_addmm(self, mat1, mat2, beta, alpha), name="addmm_flipped", fits=_WIDE,
    double={"self": "=", "mat1": "MmBackward0", "mat2": "MmBackward0"}, backward="AddmmBackward0", function=False, method=False, grad={
        "self": lambda grad, beta: conj_times(grad, beta),
        "mat1": lambda grad, mat2, alpha, flips: conj_times(flipped_left(grad, mat2, flips), alpha),
        "mat2": lambda grad, mat1, alpha, flips: conj_times(flipped_right(grad, mat1, flips), alpha)}, quirks=Quirks(ends_in_view=True))
def addmm_flipped(self: Tensor, mat1: Tensor, mat2: Tensor, flips, *, beta: Number = 1, alpha: Number = 1):
    """`addmm` of operands of which some lie transposed in memory."""
    product = flipped_of(mat1, mat2, flips, True)
    return _plus(self, product, beta, alpha, product.shape)


@op(inplace=True, out=True, check=_check_addmm, check_inplace=partial(_check_addmm, fits=_whole), fits=_WIDE,
    double={"self": "=", "mat1": "MmBackward0", "mat2": "MmBackward0"},
    flipped=(addmm_flipped, {"mat1": "a", "mat2": "b"}), grad={
    "self": lambda grad, beta: conj_times(grad, beta),
    "mat1": lambda grad, mat2, alpha: conj_times(mm_left(grad, mat2), alpha),
    "mat2": lambda grad, mat1, alpha: conj_times(mm_right(grad, mat1), alpha)}, quirks=Quirks(ends_in_view=True))
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """``beta * input + alpha * (mat1 @ mat2)`` for matrices; ``input`` is expanded to the product's shape.

    >>> torch.addmm(torch.ones(2), torch.eye(2), torch.eye(2))
    tensor([[2., 1.],
            [1., 2.]])
    """
    return _plus(self, mm_of(mat1, mat2, True), beta, alpha, (mat1.shape[0], mat2.shape[1]))


def _check_addmv(self, mat, vec, beta, alpha, fits=None):
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.size[1] != vec.size[0] or self.numel not in (1, mat.size[0]):
        raise RuntimeError(f"size mismatch, got input ({size_at(self, 0)}), mat ({shown(mat)}), vec ({vec.size[0]})")
    check_mv_types(self, mat, vec)
    if fits is not None:
        fits(self, mat.size[:1])


@op(inplace=True, out=True, check=_check_addmv, check_inplace=partial(_check_addmv, fits=_whole), fits=_OWN, grad={
    "self": lambda grad, beta: conj_times(grad, beta),
    "mat": lambda grad, vec, alpha: conj_times(outer_of(grad, jnp.conj(vec)), alpha),
    "vec": lambda grad, mat, alpha: conj_times(contract(jnp.conj(mat), grad, ((0,), (0,))), alpha)},
    double={"self": "=", "mat": "MulBackward0", "vec": "MvBackward0"}, quirks=Quirks(ends_in_view=True))
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """``beta * input + alpha * (mat @ vec)``.

    >>> torch.addmv(torch.ones(2), torch.eye(2), torch.tensor([1., 2.]))
    tensor([2., 3.])
    """
    return _plus(self, contract(mat, vec, ((1,), (0,)), keep_wide=True), beta, alpha, (mat.shape[0],))


def _check_addbmm(self, batch1, batch2, beta, alpha):
    check_expand(self, (size_at(batch1, 1), size_at(batch2, 2)))
    for at, s in ((1, batch1), (2, batch2)):
        if s.ndim != 3:
            raise RuntimeError(f"batch{at} must be a 3D tensor")
    if batch1.size[0] != batch2.size[0]:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {batch1.size[0]} and {batch2.size[0]}")
    if batch1.size[2] != batch2.size[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({batch1.size[1]}x{batch1.size[2]} and {batch2.size[1]}x{batch2.size[2]})")
    _one_type(self, batch1, batch2)
    no_bool("addbmm", batch1.dtype)


@op(inplace=True, out=True, check=_check_addbmm, fits=_WIDE, grad={
    "self": lambda grad, beta: conj_times(grad, beta),
    "batch1": lambda grad, batch2, alpha: conj_times(jnp.moveaxis(contract(grad, jnp.conj(batch2), ((1,), (2,))), 0, 1), alpha),
    "batch2": lambda grad, batch1, alpha: conj_times(contract(jnp.conj(batch1), grad, ((1,), (0,))), alpha)},
    quirks=Quirks(ends_in_view=True))
def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """``beta * input + alpha * sum(batch1[i] @ batch2[i])``.

    >>> torch.addbmm(torch.zeros(1, 1), torch.ones(2, 1, 3), torch.ones(2, 3, 1))
    tensor([[6.]])
    """
    product = contract(batch1, batch2, ((0, 2), (0, 1)), keep_wide=True)
    return _plus(self, product, beta, alpha, product.shape)


def _check_baddbmm(self, batch1, batch2, beta, alpha, fits=None):
    shape = [size_at(batch, d) for batch, d in ((batch1, 0), (batch1, 1), (batch2, 2))]
    check_expand(self, shape)                            # PyTorch expands before it looks at the factors
    for at, s in ((1, batch1), (2, batch2)):
        if s.ndim != 3:
            raise RuntimeError(f"batch{at} must be a 3D tensor")
    if self.dtype is not batch1.dtype:
        raise RuntimeError(f"Input dtypes must be the same, got: input {dtypes.cpp_name(self.dtype)}, batch1: "
                           f"{dtypes.cpp_name(batch1.dtype)}, batch2: {dtypes.cpp_name(batch2.dtype)}")
    expected = [batch1.size[0], batch1.size[2]]
    if list(batch2.size[:2]) != expected:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {list(batch2.size[:2])}.")
    same_type(batch1, batch2)
    if fits is not None:
        fits(self, shape)
    no_bool("baddbmm", batch1.dtype)


@op(inplace=True, out=True, check=_check_baddbmm, check_inplace=partial(_check_baddbmm, fits=_whole), fits=_WIDE, grad={
    "self": lambda grad, beta: conj_times(grad, beta),
    "batch1": lambda grad, batch2, alpha: conj_times(bmm_left(grad, batch2), alpha),
    "batch2": lambda grad, batch1, alpha: conj_times(bmm_right(grad, batch1), alpha)},
    double={"self": "=", "batch1": "BmmBackward0", "batch2": "BmmBackward0"}, quirks=Quirks(ends_in_view=True))
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """``beta * input + alpha * bmm(batch1, batch2)``.

    >>> torch.baddbmm(torch.zeros(1), torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
    """
    product = bmm_of(batch1, batch2, True)
    return _plus(self, product, beta, alpha, product.shape)


def _check_addr(self, vec1, vec2, inplace):
    for name, s in (("vec1", vec1), ("vec2", vec2)):
        if s.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {s.ndim}-D")
    if not inplace:
        check_expand(self, (vec1.numel, vec2.numel))
    elif self.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {self.ndim}D tensor for input")
    elif tuple(self.size) != (vec1.numel, vec2.numel):
        raise RuntimeError(f"size mismatch, input: {list(self.size)}, v1: {list(vec1.size)}, v2: {list(vec2.size)}")


def _check_addr_raw(self, vec1, vec2, beta, alpha):
    common = common_dtype(self, vec1, vec2)
    check_factor(common, beta, "beta")
    check_factor(common, alpha, "alpha")


@op("numeric", name="addr_raw", backward="AddrBackward0", check=_check_addr_raw, fits=_OWN, inplace=True, out=True,
    method=False, function=False, grad={
    "self": lambda grad, beta: conj_times(grad, beta),
    "vec1": lambda grad, vec2, alpha: conj_times(contract(grad, jnp.conj(vec2), ((1,), (1,))), alpha),
    "vec2": lambda grad, vec1, alpha: conj_times(contract(grad, jnp.conj(vec1), ((0,), (0,))).swapaxes(0, 1), alpha)})
def addr_raw(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1):
    """``addr`` of a column and a row, so that broadcasting is that of three matrices."""
    product = vec1 * vec2
    if product.dtype == jnp.bool_:
        return (jnp.asarray(beta).astype(bool) & self) | (jnp.asarray(alpha).astype(bool) & product)
    return _plus(self, product, beta, alpha, product.shape)


def _addr_args(self, vec1, vec2, inplace=False):
    _check_addr(self._spec, vec1._spec, vec2._spec, inplace)
    return self, vec1.unsqueeze(1), vec2.unsqueeze(0)


@composite()
def addr(input, vec1, vec2, *, beta=1, alpha=1, out=None):
    """``beta * input + alpha * outer(vec1, vec2)``.

    >>> torch.addr(torch.zeros(2, 2), torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    more = {} if out is None else {"out": out}
    return addr_raw(*_addr_args(input, vec1, vec2), beta=beta, alpha=alpha, **more)


@composite(function=False)
def addr_(self, vec1, vec2, *, beta=1, alpha=1):
    """``addr``, written back into the tensor."""
    return addr_raw.inplace_form(*_addr_args(self, vec1, vec2, True), beta=beta, alpha=alpha)
