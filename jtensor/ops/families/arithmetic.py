"""Arithmetic of two and three tensors: sums, products, and what lies between.

Owns: add, sub, rsub, mul, addcmul, addcdiv, lerp. Quotients and remainders are in `division`, powers in `power`.
May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ..build import broadcast_shapes
from ..layout import operand, pointwise
from ..operator import Number, Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .composing import conj_times, is_number, is_one, times
from .numeric import cast, cast_like, common_dtype, is_complex, not_implemented, wide, widened

conj = jnp.conj


# -- sums and products ------------------------------------------------------------------------------------------------

def check_factor(common, factor, name):
    """PyTorch's refusals of a factor by its kind alone."""
    if getattr(factor, "kind", None) == "b" and common is not dtypes.bool:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if getattr(factor, "kind", "i") in "fc" and common.category < 2:
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")


def _check_alpha(common, alpha):
    if not hasattr(alpha, "kind"):
        return
    check_factor(common, alpha, "alpha")
    if alpha.kind == "c" and not common.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def _passed_on(grad, node):
    """The gradient of a sum of tensors is the gradient; an ``alpha`` is left to the formula."""
    return None if not is_one(node.plan.notes.template[2]) else (grad,) * len(node.needs)


def _difference_passed_on(grad, node):
    return None if not is_one(node.plan.notes.template[2]) else tuple([-grad if at else grad for at in node.needs]) \
        if len(node.plan.inputs) == 2 else None


def _product_of_gradient(grad, node):
    if len(node.plan.inputs) == 1:
        return (grad * node.scalars[0],) if type(node.scalars[0]) in (int, float) else None
    return tuple([grad * node.saved_tensor(1 - at) for at in node.needs])


_ALPHA, _MINUS_ALPHA = {"alpha": "own"}, {"alpha": "negated"}              # a difference adds the negated product


def _check_add(self, other, alpha):
    if alpha != 1:
        _check_alpha(common_dtype(self, other), alpha)


@op("numeric", inplace=True, out=True, check=_check_add, fits=_ALPHA, inverse=_passed_on,
    grad={"self": lambda grad: grad, "other": lambda grad, alpha: conj_times(grad, alpha)},
    double={"self": "=", "other": "=*"})
def add(self: TensorOrNumber, other: TensorOrNumber, *, alpha: Number = 1):
    """``input + alpha * other``, element by element, with broadcasting and type promotion.

    >>> torch.add(torch.tensor([1., 2.]), torch.tensor([10., 20.]), alpha=2)
    tensor([21., 42.])
    """
    return _plus(self, other, _rounded(alpha, other))


def _rounded(alpha, term):
    """A factor as PyTorch's kernels of sums have it: in the type of the sum, however narrow. A complex one is cast when it has been
    negated, which decides the signs of its zeros."""
    return alpha if is_one(alpha) or is_complex(term) else cast_like(alpha, term)


@wide
def _plus(self, other, alpha):
    return self + _scaled(other, alpha)


def _scaled(x, alpha):
    """``alpha * x`` of the second term. PyTorch multiplies a complex one by 1, too: a part that is not finite spoils the other."""
    if is_one(alpha) and is_complex(x):
        return lax.complex(x.real - x.imag * 0, x.imag + x.real * 0)
    return times(x, alpha)


def check_subtraction(self, other):
    """PyTorch's refusals to subtract truth values."""
    a, b = getattr(self, "dtype", None), getattr(other, "dtype", None)
    if a is dtypes.bool and b is dtypes.bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. "
                           "Use the `^` or `logical_xor()` operator instead.")
    if a is dtypes.bool or b is dtypes.bool:
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. "
                           "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")


def _check_sub(self, other, alpha):
    check_subtraction(self, other)
    _check_add(self, other, alpha)


@wide
def _minus(self, other, alpha):
    if not is_complex(other):
        return self - _scaled(other, alpha)
    if is_one(alpha):                       # -1 times the second term, which has other zeros
        return self + lax.complex(-other.real - other.imag * 0, other.real * 0 - other.imag)
    return self + times(other, -alpha)


@op("numeric", inplace=True, out=True, check=_check_sub, fits=_MINUS_ALPHA, inverse=_difference_passed_on,
    grad={"self": lambda grad: grad, "other": lambda grad, alpha: -conj_times(grad, alpha)},
    double={"self": "=", "other": "MulBackward1"})
def sub(self: TensorOrNumber, other: TensorOrNumber, *, alpha: Number = 1):
    """``input - alpha * other``, element by element. Bool tensors raise ``RuntimeError``.

    >>> torch.sub(torch.tensor([5., 6.]), 2)
    tensor([3., 4.])
    """
    return _minus(self, other, _rounded(alpha, other))


def _check_rsub(self, other, alpha):
    broadcast_shapes([tuple(s.size) for s in (other, self) if hasattr(s, "size")])
    _check_sub(other, self, alpha)


def _as_subtracted(specs, outputs, statics):
    """The other one is the first operand of the difference."""
    return [pointwise(out.shape, [operand(s) for s in reversed(specs)]) for out in outputs]


_RSUB = {"check": _check_rsub, "fits": _MINUS_ALPHA, "function": False, "method": False,
             "grad": {"self": lambda grad, alpha: -conj_times(grad, alpha), "other": lambda grad: grad}}


@op("numeric", name="rsub_Tensor", backward="RsubBackward0", layout=_as_subtracted, **_RSUB, double={"self": "NegBackward0", "other": "="})
def rsub_Tensor(self: Tensor, other: TensorOrNumber, *, alpha: Number = 1):
    """``other - alpha * self`` of two tensors."""
    return _minus(other, self, _rounded(alpha, self))


@op("numeric", name="rsub_Scalar", backward="RsubBackward1", **_RSUB, double={"self": "NegBackward0", "other": "="})
def rsub_Scalar(self: Tensor, other: TensorOrNumber, *, alpha: Number = 1):
    """``other - alpha * self`` of a number and a tensor."""
    return _minus(other, self, _rounded(alpha, self))


@composite(method=False)
def rsub(input, other, *, alpha=1):
    """``other - alpha * input``.

    >>> torch.rsub(torch.tensor([1., 2.]), 10)
    tensor([9., 8.])
    """
    operator = rsub_Scalar if is_number(other) else rsub_Tensor
    return operator(input, other) if is_one(alpha) else operator(input, other, alpha=alpha)


@op("numeric", inplace=True, out=True, inverse=_product_of_gradient, unrounded=("other",),
    grad={"self": lambda grad, other: grad * conj(other), "other": lambda grad, self: grad * conj(self)}, double="MulBackward0")
def mul(self: TensorOrNumber, other: TensorOrNumber):
    """The product, element by element, with broadcasting and type promotion.

    >>> torch.mul(torch.tensor([1, 2]), 2.5)
    tensor([2.5000, 5.0000])
    """
    return self * other


# -- of three ---------------------------------------------------------------------------------------------------------

def _check_addcdiv(self, tensor1, tensor2, value):
    if tensor1.dtype.category < 2 and tensor2.dtype.category < 2:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
            "tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "
            "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
            "addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes.")


def _check_addcmul(self, tensor1, tensor2, value):
    if common_dtype(self, tensor1, tensor2) is dtypes.bool:
        raise not_implemented("addcmul_cpu_out", dtypes.bool)


@op("numeric", inplace=True, out=True, check=_check_addcmul, fits={"value": "wide"},
    grad={"self": lambda grad: grad,
          "tensor1": lambda grad, tensor2, value: grad * conj(times(tensor2, value)),
          "tensor2": lambda grad, tensor1, value: grad * conj(times(tensor1, value))},
    double={"self": "=", "tensor1": "MulBackward0", "tensor2": "MulBackward0"}, quirks=Quirks(computed=("tensor1", "tensor2")))
@wide
def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1):
    """``input + value * tensor1 * tensor2``.

    >>> torch.addcmul(torch.ones(2), torch.tensor([1., 2.]), torch.tensor([3., 4.]), value=0.5)
    tensor([2.5000, 5.0000])
    """
    return self + times(tensor1, value) * tensor2


@op("numeric", inplace=True, out=True, check=_check_addcdiv, fits={"value": "wide"},
    grad={"self": lambda grad: grad,
          "tensor1": lambda grad, tensor2, value: grad * conj(cast_like(value, tensor2) / tensor2),
          "tensor2": lambda grad, tensor1, tensor2, value: -grad * conj(times(tensor1, value) / (tensor2 * tensor2))},
    double={"self": "=", "tensor1": "MulBackward0", "tensor2": "MulBackward0"})
@wide
def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1):
    """``input + value * tensor1 / tensor2``; two integer tensors cannot be divided and raise ``RuntimeError``.

    >>> torch.addcdiv(torch.zeros(2), torch.tensor([1., 2.]), torch.tensor([4., 4.]), value=2)
    tensor([0.5000, 1.0000])
    """
    return self + times(tensor1, value) / tensor2


@wide
def _between(start, end, weight):
    near = start + weight * (end - start)
    far = end - (end - start) * (1 - weight)
    size = abs(weight) if is_complex(weight) else weight
    low = size < 0.5
    return jnp.where(low, near, far)


def _check_lerp(self, end, weight):
    if self.dtype is not end.dtype:
        raise RuntimeError(f"expected dtype {dtypes.cpp_name(self.dtype)} for `end` but got dtype {dtypes.cpp_name(end.dtype)}")
    if getattr(weight, "ndim", 0) and self.dtype is not weight.dtype:            # a number in a tensor is promoted
        raise RuntimeError(f"expected dtype {dtypes.cpp_name(self.dtype)} for `weight` but got dtype {dtypes.cpp_name(weight.dtype)}")
    kind = common_dtype(self, weight) if hasattr(weight, "ndim") else self.dtype
    if kind.category < 2:
        raise not_implemented("lerp_kernel_tensor" if hasattr(weight, "ndim") else "lerp_kernel_scalar", kind)


@op("numeric", name="lerp_Scalar", backward="LerpBackward0", inplace=True, out=True, function=False, method=False,
    promoted=("self", "end"), check=_check_lerp, fits={"weight": "wide"},
    grad={"self": lambda grad, weight: grad * conj(1 - cast_like(weight, grad)),
          "end": lambda grad, weight: grad * conj(cast_like(weight, grad))}, double="MulBackward1")
def lerp_Scalar(self: Tensor, end: Tensor, weight: Number):
    """Interpolation with one weight for all elements."""
    return _between(self, end, cast(weight, widened(self).dtype))


@op("numeric", name="lerp_Tensor", backward="LerpBackward1", inplace=True, out=True, function=False, method=False, check=_check_lerp,
    grad={"self": lambda grad, weight: grad * conj(1 - weight), "end": lambda grad, weight: grad * conj(weight),
          "weight": lambda grad, self, end: grad * conj(end - self)})
def lerp_Tensor(self: Tensor, end: Tensor, weight: Tensor):
    """Interpolation with a weight for each element."""
    return _between(self, end, weight)


@composite()
def lerp(input, end, weight, *, out=None):
    """``input + weight * (end - input)``: the input at weight 0, ``end`` at weight 1. The dtypes have to be equal.

    >>> torch.lerp(torch.tensor([0., 10.]), torch.tensor([10., 20.]), 0.25)
    tensor([ 2.5000, 12.5000])
    """
    operator = lerp_Scalar if is_number(weight) else lerp_Tensor
    return operator(input, end, weight) if out is None else operator(input, end, weight, out=out)


@composite(function=False)
def lerp_(input, end, weight):
    """``lerp``, written back into the tensor."""
    return (lerp_Scalar if is_number(weight) else lerp_Tensor).inplace_form(input, end, weight)
