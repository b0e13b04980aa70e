"""Matrix products: mm, bmm, mv, dot, vdot.

Owns: what is checked of two factors, without type promotion, and these operators. `matmul` chooses among them; sums with a third tensor
are in `added_products`, `einsum`, `tensordot` and products of other kinds in `einsum` and `contraction`. May not know: tensors as objects.
"""

import jax.numpy as jnp

from ...base import dtypes
from ..operator import Tensor, op
from ..quirks import Quirks
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
from .numeric import not_implemented, size_at

# -- checks -----------------------------------------------------------------------------------------------------------


def no_bool(kernel, d):
    if d is dtypes.bool:
        raise not_implemented(kernel, d)


def shown(s):
    return f"{s.size[0]}x{s.size[1]}"


def _check_mm(self, mat2, name="self"):
    if self.ndim != 2:
        raise RuntimeError(f"{name} must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if self.size[1] != mat2.size[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shown(self)} and {shown(mat2)})")
    if self.dtype is not mat2.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {dtypes.cpp_name(self.dtype)} != "
                           f"{dtypes.cpp_name(mat2.dtype)}")
    no_bool("addmm_impl_cpu_", self.dtype)


def _check_bmm(self, mat2, kernel="bmm"):
    for at, s in ((1, self), (2, mat2)):
        if s.ndim != 3:
            raise RuntimeError(f"batch{at} must be a 3D tensor")
    expected = [self.size[0], self.size[2]]
    if list(mat2.size[:2]) != expected:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {list(mat2.size[:2])}.")
    same_type(self, mat2)
    no_bool(kernel, self.dtype)


def same_type(a, b):
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {dtypes.scalar_name(a.dtype)} but found {dtypes.scalar_name(b.dtype)}")


def _check_mv(self, vec):
    size_at(self, 0)                                     # PyTorch makes the result first
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.size[1] != vec.size[0]:
        raise RuntimeError(f"size mismatch, got input ({self.size[0]}), mat ({shown(self)}), vec ({vec.size[0]})")
    check_mv_types(vec, self, vec)


def check_mv_types(result, mat, vec):
    if not result.dtype is mat.dtype is vec.dtype:
        first, second, third = (dtypes.scalar_name(s.dtype) for s in (result, mat, vec))
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {first}, {second}, and {third}")
    no_bool("addmv_impl_cpu", mat.dtype)


def _check_dot(name):
    def check(self, other):
        if self.ndim != 1 or other.ndim != 1:
            raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
        if self.dtype is not other.dtype:
            raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                               f"{dtypes.scalar_name(self.dtype)} and {dtypes.scalar_name(other.dtype)}")
        if self.numel != other.numel:
            raise RuntimeError(f"inconsistent tensor size, expected tensor [{self.numel}] and src [{other.numel}] to have the same "
                               f"number of elements, but got {self.numel} and {other.numel} elements respectively")
        no_bool(name, self.dtype)
    return check


# -- products of two --------------------------------------------------------------------------------------------------

@op(out=True, check=lambda self, mat2, flips: _check_mm(self, mat2), double="MmBackward0", name="mm_flipped", backward="MmBackward0",
    function=False, method=False,
    grad={"self": lambda grad, mat2, flips: flipped_left(grad, mat2, flips),
          "mat2": lambda grad, self, flips: flipped_right(grad, self, flips)}, quirks=Quirks(right=1))
def mm_flipped(self: Tensor, mat2: Tensor, flips):
    """`mm` of operands of which some lie transposed in memory."""
    return flipped_of(self, mat2, flips)


@op(out=True, check=_check_mm, double="MmBackward0", flipped=(mm_flipped, {"self": "a", "mat2": "b"}),
    grad={"self": lambda grad, mat2: mm_left(grad, mat2), "mat2": lambda grad, self: mm_right(grad, self)}, quirks=Quirks(right=1))
def mm(self: Tensor, mat2: Tensor):
    """The product of two matrices ``(n, k)`` and ``(k, m)`` of one type; no broadcasting.

    >>> torch.mm(torch.tensor([[1., 2.]]), torch.tensor([[3.], [4.]]))
    tensor([[11.]])
    """
    return mm_of(self, mat2)


@op(out=True, check=_check_bmm, double="BmmBackward0",
    grad={"self": lambda grad, mat2: bmm_left(grad, mat2), "mat2": lambda grad, self: bmm_right(grad, self)},
    quirks=Quirks(out_fold="last"))
def bmm(self: Tensor, mat2: Tensor):
    """The products of the matrices in two batches: ``(b, n, k)`` and ``(b, k, m)`` to ``(b, n, m)``.

    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).shape
    torch.Size([2, 1, 1])
    """
    return bmm_of(self, mat2)


@op(out=True, check=_check_mv,
    grad={"self": lambda grad, vec: outer_of(grad, jnp.conj(vec)), "vec": lambda grad, self: contract(jnp.conj(self), grad, ((0,), (0,)))},
    double={"self": "MulBackward0", "vec": "MvBackward0"}, quirks=Quirks(out_fold="last"))
def mv(self: Tensor, vec: Tensor):
    """The product of a matrix ``(n, k)`` and a vector ``(k,)``.

    >>> torch.mv(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    """
    return contract(self, vec, ((1,), (0,)))


@op(out=True, check=_check_dot("dot"),
    grad={"self": lambda grad, tensor: grad * jnp.conj(tensor), "tensor": lambda grad, self: grad * jnp.conj(self)},
    double="MulBackward0")
def dot(self: Tensor, tensor: Tensor):
    """The sum of the products of two vectors' elements; complex numbers are not conjugated.

    >>> torch.dot(torch.tensor([2., 3.]), torch.tensor([2., 1.]))
    tensor(7.)
    """
    return contract(self, tensor, ((0,), (0,)))


@op(out=True, check=_check_dot("vdot"),
    grad={"self": lambda grad, other: jnp.conj(grad) * other, "other": lambda grad, self: grad * self})
def vdot(self: Tensor, other: Tensor):
    """``dot`` with the first vector conjugated.

    >>> torch.vdot(torch.tensor([1j]), torch.tensor([1j]))
    tensor(1.+0.j)
    """
    return contract(jnp.conj(self), other, ((0,), (0,)))
