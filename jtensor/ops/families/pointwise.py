"""Functions of one element: signs, angles, complex parts, replacement of what is not finite.

Owns: unary mathematics that is neither exponential (`exponentials`), trigonometric (`trigonometry`), rounding (`rounding`), an activation
nor a special function.
May not know: tensors as objects.
"""
import math
import numbers

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..layout import operand, pointwise
from ..operator import Number, Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .composing import history_allows
from .numeric import cast, is_complex, is_floating, is_integral, refuses, zeros_gradient

conj = jnp.conj


# -- signs ------------------------------------------------------------------------------------------------------------

_BOOL_NEG = RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                         "use the `~` or `logical_not()` operator instead.")


def _real_result(d):
    return d.to_real()


def unit(x):
    """The sign; of a complex number the number of length 1 in its direction."""
    if is_complex(x):
        size = jnp.abs(x)
        return jnp.where(size == 0, jnp.zeros_like(x), x / jnp.where(size == 0, jnp.ones_like(size), size).astype(x.dtype))
    if x.dtype == jnp.bool_:
        return x
    if is_integral(x):
        return jnp.sign(x)
    return ((x > 0).astype(x.dtype) - (x < 0).astype(x.dtype))


@op("numeric", inplace=True, out=True, check=refuses("neg", "bool", error=_BOOL_NEG), grad=lambda grad: -grad, double="NegBackward0")
def neg(self: Tensor):
    """Each element with the opposite sign. A bool tensor raises ``RuntimeError``.

    >>> torch.neg(torch.tensor([1., -2.]))
    tensor([-1.,  2.])
    """
    return -self


@op("numeric", inplace=True, out=True, result_dtype=_real_result, check=refuses("abs_cpu", "bool"),
    grad=lambda grad, self: grad * unit(self), double="MulBackward0", quirks=Quirks(kept=("self",), factor=True))
def abs(self: Tensor):
    """The absolute value; of complex numbers the length, which is real.

    >>> torch.abs(torch.tensor([-1., 2.]))
    tensor([1., 2.])
    """
    return jnp.abs(self)


@composite()
def abs_(input):
    """``abs``, written back into the tensor, which may not be complex."""
    if input.dtype.is_complex:
        history_allows(input)
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return abs.inplace_form(input)


@op("numeric", inplace=True, out=True, grad=zeros_gradient, check=refuses(
    "sign", "complex", error=NotImplementedError("Unlike NumPy, torch.sign is not intended to support complex numbers. "
                                                 "Please use torch.sgn instead.")), double="-")
def sign(self: Tensor):
    """-1, 0 or 1 as the element is negative, zero (or NaN) or positive.

    >>> torch.sign(torch.tensor([-3., 0., 2.]))
    tensor([-1.,  0.,  1.])
    """
    return unit(self)


def _sgn_gradient(grad, self, result):
    if not is_complex(self):
        return jnp.zeros_like(grad)
    size = jnp.abs(self)
    safe = jnp.where(size == 0, jnp.ones_like(size), size)
    along = (conj(result) * grad).real
    return jnp.where(size == 0, jnp.zeros_like(grad), (grad - along.astype(grad.dtype) * result) / safe.astype(grad.dtype))


def _is_real(plan):
    return not plan.inputs[0].dtype.is_complex


@op("numeric", inplace=True, out=True, grad=_sgn_gradient, quirks=Quirks(constant_if=_is_real))
def sgn(self: Tensor):
    """The sign, also of complex numbers: ``input / |input|``, 0 at 0.

    >>> torch.sgn(torch.tensor([3 + 4j]))
    tensor([0.6000+0.8000j])
    """
    return unit(self)


@composite()
def positive(input):
    """The input itself; a bool tensor raises ``RuntimeError``.

    >>> torch.positive(torch.tensor([1., -2.]))
    tensor([ 1., -2.])
    """
    if input._spec.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def _signed_like(x, y):
    return jnp.copysign(*jnp.broadcast_arrays(x, y))


def _copysign_gradient(grad, self, result):
    ratio = result / self
    return jnp.where(self == 0, jnp.zeros((), grad.dtype), ratio) * grad


_COPYSIGN = {"inplace": True, "out": True, "function": False, "method": False}


@op("float", name="copysign_Tensor", check=refuses("copysign_cpu", "complex", "of 8 bits"), **_COPYSIGN,
    backward="CopysignBackward0", grad={"self": _copysign_gradient, "other": lambda grad: jnp.zeros_like(grad)},
    double={"self": "MulBackward0", "other": "-"})
def copysign_Tensor(self: Tensor, other: Tensor):
    """The size of one with the sign of another."""
    return _signed_like(self, other)


@op("float", name="copysign_Scalar", check=refuses("copysign_cpu", "complex", "of 8 bits"), **_COPYSIGN,
    backward="CopysignBackward1", grad={"self": _copysign_gradient}, double="MulBackward0")
def copysign_Scalar(self: Tensor, other: TensorOrNumber):
    """The size of a tensor with the sign of a number."""
    return _signed_like(self, other)


def _copysign_form(other):
    return copysign_Scalar if isinstance(other, (numbers.Number, np.generic)) else copysign_Tensor


@composite()
def copysign(input, other, *, out=None):
    """The size of ``input`` with the sign of ``other``, zeros included.

    >>> torch.copysign(torch.tensor([1., 2.]), torch.tensor([-1., 0.]))
    tensor([-1.,  2.])
    """
    return _copysign_form(other)(input, other) if out is None else _copysign_form(other)(input, other, out=out)


@composite(function=False)
def copysign_(input, other):
    """``copysign``, written back into the tensor."""
    return _copysign_form(other).inplace_form(input, other)


# -- complex numbers --------------------------------------------------------------------------------------------------

def _angle_gradient(grad, self):
    if not is_complex(self):
        return jnp.zeros_like(grad)
    size = jnp.square(self.real) + jnp.square(self.imag)
    safe = jnp.where(size == 0, jnp.ones_like(size), size)
    turned = grad * 1j * (self / safe.astype(self.dtype)) if is_complex(grad) else (
        lax.complex(-self.imag / safe * grad, self.real / safe * grad))
    return jnp.where(size == 0, jnp.zeros_like(turned), turned)


def _angle_layout(specs, outputs, statics):
    own = specs[0]
    return [None if own.dtype.is_complex else pointwise(outputs[0].shape, [operand(own)])]


@op("float", layout=_angle_layout, out=True, result_dtype=_real_result, grad=_angle_gradient,
    quirks=Quirks(constant_if=_is_real, saved_first=True, out_asked_first=True))
def angle(self: Tensor):
    """The angle of complex numbers in radians; of real ones 0 or π.

    >>> torch.angle(torch.tensor([1j, -1. + 0j]))
    tensor([1.5708, 3.1416])
    """
    if is_complex(self):
        return jnp.arctan2(self.imag, self.real)
    flat = jnp.where(self < 0, jnp.full_like(self, math.pi), jnp.zeros_like(self))
    return jnp.where(jnp.isnan(self), self, flat)


@op("numeric", name="_conj_physical", backward="ConjPhysicalBackward0", function=False, method=False, inplace=True, out=True,
    grad=lambda grad: conj(grad), quirks=Quirks(inplace_node="ConjPhysicalBackward1"))
def _conj_physical(self: Tensor):
    """The complex conjugates, computed."""
    return conj(self)


@composite()
def conj_physical_(input):
    """``conj_physical``, written back into the tensor."""
    return _conj_physical.inplace_form(input)


@composite()
def conj_physical(input, *, out=None):
    """The complex conjugates, computed (and not a view); a real tensor is answered as it is.

    >>> torch.conj_physical(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    if out is not None:
        return _conj_physical(input, out=out)
    return _conj_physical(input) if input.dtype.is_complex else input


def _check_complex(what):
    def check(first, second):
        if first.dtype.name not in ("float16", "float32", "float64") or second.dtype.name not in ("float16", "float32", "float64"):
            raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {dtypes.scalar_name(first.dtype)} and "
                               f"{dtypes.scalar_name(second.dtype)}")
        if first.dtype is not second.dtype:
            raise RuntimeError(f"Expected object of scalar type {dtypes.scalar_name(first.dtype)} but got scalar type "
                               f"{dtypes.scalar_name(second.dtype)} for second argument")
        if first.dtype is dtypes.float16:
            from ...base.errors import missing
            raise missing("complex32", "complex64")
    return check


def _parts_of_gradient(grad, node):
    for at in node.needs:
        node.saved_tensor(at)                                      # PyTorch keeps them, so that a write to one is an error
    return tuple([grad.imag if at else grad.real for at in node.needs])


@op("numeric", out=True, method=False, check=_check_complex("complex"), result_dtype=lambda d: d.computed_complex(),
    grad={"real": lambda grad, real: grad.real, "imag": lambda grad, imag: grad.imag}, inverse=_parts_of_gradient,
    quirks=Quirks(first="real"))
def complex(real: Tensor, imag: Tensor):
    """Complex numbers of their real and imaginary parts, which have the same floating-point type.

    >>> torch.complex(torch.tensor([1.]), torch.tensor([2.]))
    tensor([1.+2.j])
    """
    return lax.complex(*jnp.broadcast_arrays(real, imag))


def _polar_size_gradient(grad, result):
    return (conj(grad) * unit(result)).real


def _polar_angle_gradient(grad, result):
    return (conj(grad) * (result * 1j)).real


@op("numeric", out=True, method=False, check=_check_complex("polar"), result_dtype=lambda d: d.computed_complex(),
    grad={"abs": _polar_size_gradient, "angle": _polar_angle_gradient}, quirks=Quirks(first="abs"))
def polar(abs: Tensor, angle: Tensor):
    """Complex numbers of their lengths and angles.

    >>> torch.polar(torch.tensor([2.]), torch.tensor([0.]))
    tensor([2.+0.j])
    """
    abs, angle = jnp.broadcast_arrays(abs, angle)
    return lax.complex(abs * jnp.cos(angle), abs * jnp.sin(angle))


# -- what is not finite -----------------------------------------------------------------------------------------------

@op("numeric", inplace=True, out=True, layout="like", double="MulBackward0!",
    grad=lambda grad, self: grad * jnp.isfinite(self).astype(grad.dtype), quirks=Quirks(real_only="nan_to_num", out_asked_first=True))
def nan_to_num(self: Tensor, nan: Number = None, posinf: Number = None, neginf: Number = None):
    """NaN and the infinities replaced: by 0 and the largest and lowest finite number unless others are given.

    >>> torch.nan_to_num(torch.tensor([float("nan"), float("inf")]), posinf=9.)
    tensor([0., 9.])
    """
    if is_complex(self):
        return lax.complex(_finite(self.real, nan, posinf, neginf), _finite(self.imag, nan, posinf, neginf))
    return _finite(self, nan, posinf, neginf) if is_floating(self) else self


def _finite(x, nan, posinf, neginf):
    limits = jnp.finfo(x.dtype)
    x = jnp.where(jnp.isnan(x), cast(0.0 if nan is None else nan, x.dtype), x)
    x = jnp.where(x == jnp.inf, cast(limits.max if posinf is None else posinf, x.dtype), x)
    return jnp.where(x == -jnp.inf, cast(limits.min if neginf is None else neginf, x.dtype), x)
