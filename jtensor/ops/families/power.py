"""Powers and roots: pow in its three forms, float_power, sqrt, rsqrt, square, reciprocal, ldexp, hypot, Vandermonde's matrices.

Owns: which exponents are products. May not know: tensors as objects.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..fitting import number_fits
from ..operator import Number, Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .division import quotient
from .numeric import is_complex, is_integral, not_implemented, refuses, wide

conj = jnp.conj


# -- pow --------------------------------------------------------------------------------------------------------------

def integer_power(x, n):
    """An integer array to the power of an integer array: wraps on overflow; a negative power of anything but ±1 is 0."""
    if x.ndim and n.ndim:
        x, n = (a.reshape((1,) * (max(x.ndim, n.ndim) - a.ndim) + a.shape) for a in (x, n))
    # The base is squared in its own shape: XLA's simplifier would take a broadcast out square by square, and say that it is stuck.
    result, base, left = jnp.ones(jnp.broadcast_shapes(x.shape, n.shape), x.dtype), x, jnp.where(n < 0, jnp.zeros_like(n), n)
    bits = jnp.iinfo(n.dtype).bits
    for _ in range(bits):
        result = jnp.where(left & 1 != 0, result * base, result)
        base, left = base * base, lax.shift_right_logical(left, jnp.ones_like(left))
    if not jnp.issubdtype(n.dtype, jnp.signedinteger):
        return result
    odd = jnp.where(n & 1 != 0, x, jnp.ones_like(x))
    return jnp.where(n < 0, jnp.where(x == 1, x, jnp.where(x == -1, odd, jnp.zeros_like(x))), result)


def static_power(x, n):
    """An array to the power of a Python number."""
    if isinstance(n, complex):
        if not is_complex(x):
            kind = dtypes.of_numpy(x.dtype).computed_complex().numpy if not is_integral(x) else dtypes.default_complex().numpy
            x = x.astype(kind)
        if n.imag != 0:
            return _raised(x, jnp.full_like(x, n))
        n = n.real
    if x.dtype == jnp.bool_:
        if isinstance(n, bool):
            return x | (not n)
        x = x.astype(jnp.int64)
    if n == 0:
        return jnp.ones_like(x)
    if n == 1:
        return x
    if is_integral(x):
        return lax.integer_pow(x, int(n))
    if n == 2:
        return x * x
    if n == 3:
        return x * x * x
    if n == -2:
        return 1 / (x * x)
    if n == -1:
        return 1 / x
    if n == 0.5:
        return root(x)
    if n == -0.5:
        return 1 / root(x)
    with np.errstate(over="ignore"):                             # beyond the type it is infinite
        return _raised(x, jnp.full_like(x, n))


def _raised(x, n):
    """``x ** n``; of a complex zero what PyTorch makes of it: nothing, infinity or NaN, by the sign of the exponent's real part."""
    made = lax.pow(x, n)
    if not is_complex(x):
        return made
    positive, unknown = n.real > 0, jnp.full_like(n.real, jnp.nan)
    real = jnp.where(positive, 0, jnp.where(n.real < 0, jnp.inf, unknown))
    imag = jnp.where(positive, jnp.where(n.imag < 0, 0.0, jnp.full_like(unknown, -0.0)), unknown)
    return jnp.where(x == 0, lax.complex(real, imag), made)


def root(x):
    """The square root; below the negative numbers (-1-0j) it lies on the negative imaginary axis, where XLA's does not."""
    if not jnp.iscomplexobj(x):
        return jnp.sqrt(x)
    found = jnp.sqrt(x)
    return lax.complex(found.real, jnp.copysign(found.imag, x.imag))


def power(x, n):
    """An array to the power of an array of the same type."""
    if x.dtype == jnp.bool_:
        return x | ~n
    if is_integral(x):
        return integer_power(x, n)
    return _raised(*jnp.broadcast_arrays(x, n))


@wide
def _scalar_gradient(grad, self, exponent):
    if exponent == 0:
        return jnp.zeros_like(grad)
    e = exponent.real if isinstance(exponent, complex) and exponent.imag == 0 else exponent
    slope = static_power(self, e - 1)
    return grad * conj(slope * jnp.asarray(e, slope.dtype))


@wide
def _base_gradient(grad, self, exponent):
    zero = jnp.zeros((), grad.dtype)
    return jnp.where(exponent == 0, zero, grad * conj(exponent * power(self, exponent - 1)))


@wide
def _exponent_gradient(grad, self, exponent, result):
    corner = (self == 0) & ((exponent.real >= 0) & (exponent.imag == 0) if is_complex(exponent) else exponent >= 0)
    return jnp.where(corner, jnp.zeros((), grad.dtype), grad * conj(result * jnp.log(self)))


def _check_scalar(self, exponent):
    if self.dtype.category < 2 and type(exponent) is int and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if self.dtype.category < 2 and type(exponent) is int:
        number_fits(exponent, dtypes.int64)
        number_fits(exponent, self.dtype)


_POW = {"inplace": True, "out": True, "function": False, "method": False}


def _whole_of_bool(d):
    return dtypes.int64 if d is dtypes.bool else d


@op("numeric", name="pow_Tensor_Scalar", backward="PowBackward0", check=_check_scalar, grad={"self": _scalar_gradient},
    result_dtype=_whole_of_bool, **_POW, double="MulBackward0",
    quirks=Quirks(kept=("self",), factor=True, constant_if=lambda plan: plan.notes.template[1] == 0, real_part=True))
@wide
def pow_Tensor_Scalar(self: Tensor, exponent):
    """A tensor to the power of a number, which is part of the operation."""
    return static_power(self, exponent)


@wide
def _to_number(x, n, kind):
    """An array to the power of a number, which PyTorch has in the array's own type ``kind``."""
    return _raised(x, jnp.full_like(x, n.astype(kind).astype(x.dtype)))


@wide
def _times(x, n):
    return x * n.astype(x.dtype)


def _number_gradient(grad, self, exponent):
    return grad * _times(_to_number(self, exponent - 1, self.dtype), exponent)


@op("numeric", name="pow_Tensor_Number", backward="PowBackward0", grad={"self": _number_gradient}, fits={"exponent": "narrow"}, **_POW,
    double="MulBackward0", quirks=Quirks(factor=True))
def pow_Tensor_Number(self: Tensor, exponent: Number):
    """A tensor to the power of a number that may be another next time."""
    return _to_number(self, exponent, self.dtype)


@op("float", name="pow_Integer_Scalar", backward="PowBackward0", **_POW, double="MulBackward0")
@wide
def pow_Integer_Scalar(self: Tensor, exponent):
    """An integer tensor to the power of a float."""
    return static_power(self, exponent)


@op("numeric", name="pow_Tensor_Tensor", backward="PowBackward1", grad={"self": _base_gradient, "exponent": _exponent_gradient}, **_POW,
    check=refuses("pow", "bool"), double={"self": "WhereBackward0", "exponent": "MulBackward0"}, quirks=Quirks(saved_first=True))
@wide
def pow_Tensor_Tensor(self: Tensor, exponent: Tensor):
    """A tensor to the power of a tensor."""
    return power(self, exponent)


@op("numeric", name="pow_Scalar", backward="PowBackward2", layout="contiguous", grad={"exponent": _exponent_gradient}, out=True,
    function=False, method=False, check=refuses("pow", "bool"), double="MulBackward0", quirks=Quirks(factor=True))
@wide
def pow_Scalar(self: TensorOrNumber, exponent: Tensor):
    """A number to the power of a tensor."""
    return jnp.broadcast_to(power(self, exponent), exponent.shape)


# Exponents that make a power, or its gradient, a product or a root: they are part of the operation.
_SPECIAL = frozenset((-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4))


def _choose(input, exponent):
    if type(exponent) in (float, int) and exponent not in _SPECIAL and not isinstance(input, (int, float, complex)) \
            and input.dtype.is_floating_point:
        return pow_Tensor_Number
    if not isinstance(exponent, (int, float, complex)):
        return pow_Scalar if isinstance(input, (int, float, complex)) else pow_Tensor_Tensor
    if isinstance(exponent, float) and input.dtype.category < 2:
        return pow_Integer_Scalar
    return pow_Tensor_Scalar


@composite()
def pow(input, exponent, *, out=None):
    """``input ** exponent``; base or exponent may be a number. Integers to a negative number raise ``RuntimeError``.

    >>> torch.pow(torch.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    """
    operator = _choose(input, exponent)
    if operator is pow_Tensor_Tensor and (isinstance(exponent, np.generic) or isinstance(input, np.generic)):
        return pow(*[x.item() if isinstance(x, np.generic) else x for x in (input, exponent)], out=out)
    return operator(input, exponent) if out is None else operator(input, exponent, out=out)


@composite(function=False)
def pow_(input, exponent):
    """``pow``, written back into the tensor."""
    exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
    if isinstance(exponent, complex) and not input.dtype.is_complex:            # which, being static, does not promote
        wide = dtypes.result_type([input.dtype], [], [dtypes.default_complex()])
        raise RuntimeError(f"result type {_title(wide)} can't be cast to the desired output type {_title(input.dtype)}")
    return _choose(input, exponent).inplace_form(input, exponent)


def _as_double(x):
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, (int, float)):
        return float(x)
    if isinstance(x, complex):
        return x
    return x.to(dtypes.complex128 if x.dtype.is_complex else dtypes.float64)


@composite()
def float_power(input, exponent, *, out=None):
    """``pow`` in float64 or complex128.

    >>> torch.float_power(torch.tensor([1, 2]), 2)
    tensor([1., 4.], dtype=torch.float64)
    """
    base, exponent = _as_double(input), _as_double(exponent)
    if isinstance(exponent, complex) and not isinstance(base, (float, complex)):
        base = base.to(dtypes.complex128)
    if out is not None:
        expected = dtypes.complex128 if any(isinstance(x, complex) or getattr(x, "dtype", None) is dtypes.complex128
                                            for x in (base, exponent)) else dtypes.float64
        if out.dtype is not expected:
            raise RuntimeError(f"the output given to float_power has dtype {_title(out.dtype)} but the operation's result requires "
                               f"dtype {_title(expected)}")
    return pow(base, exponent, out=out)


def _title(d):
    return dtypes.scalar_name(d)


@composite(function=False)
def float_power_(input, exponent):
    """``float_power``, written back into the tensor, which has to be of float64 or complex128."""
    expected = dtypes.complex128 if input.dtype.is_complex or isinstance(exponent, complex) or (
        not isinstance(exponent, (int, float)) and exponent.dtype.is_complex) else dtypes.float64
    if input.dtype is not expected:
        raise RuntimeError(f"the base given to float_power_ has dtype {_title(input.dtype)} but the operation's result requires dtype "
                           f"{_title(expected)}")
    return pow_(input, _as_double(exponent))


# -- roots and the like -----------------------------------------------------------------------------------------------

@op("float", inplace=True, out=True, grad=lambda grad, result: grad / (2 * conj(result)), double="DivBackward0")
def sqrt(self: Tensor):
    """The square root of each element; NaN for negative real numbers.

    >>> torch.sqrt(torch.tensor([4., 9.]))
    tensor([2., 3.])
    """
    return root(self)


@op("float", inplace=True, out=True, grad=lambda grad, result: -0.5 * grad * conj(static_power(result, 3)), double="MulBackward0")
@wide
def rsqrt(self: Tensor):
    """One over the square root of each element.

    >>> torch.rsqrt(torch.tensor([4., 16.]))
    tensor([0.5000, 0.2500])
    """
    return 1 / root(self)


@op("float", inplace=True, out=True, grad=lambda grad, result: -grad * conj(result * result), double="MulBackward0",
    quirks=Quirks(factor=True))
def reciprocal(self: Tensor):
    """``1 / input``.

    >>> torch.reciprocal(torch.tensor([2., 4.]))
    tensor([0.5000, 0.2500])
    """
    return quotient(jnp.ones_like(self), self)


@composite()
def square(input, *, out=None):
    """``input ** 2``.

    >>> torch.square(torch.tensor([1., -3.]))
    tensor([1., 9.])
    """
    return pow_Tensor_Scalar(input, 2) if out is None else pow_Tensor_Scalar(input, 2, out=out)


@composite()
def square_(input):
    """``square``, written back into the tensor."""
    return pow_Tensor_Scalar.inplace_form(input, 2)


@op("numeric", inplace=True, out=True, check=refuses("hypot_cpu", "bool", "integral", "complex"),
    grad={"self": lambda grad, self, result: grad * self / result, "other": lambda grad, other, result: grad * other / result},
    double="DivBackward0")
@wide
def hypot(self: Tensor, other: Tensor):
    """``sqrt(input² + other²)`` without overflow on the way.

    >>> torch.hypot(torch.tensor([3.]), torch.tensor([4.]))
    tensor([5.])
    """
    return jnp.hypot(self, other)


LN2 = 0.6931471805599453


def _check_ldexp(self, other):
    if other.dtype is dtypes.bool and self.dtype.category == 2:
        raise not_implemented("ldexp_cpu_exp", other.dtype)


@op("float", inplace=True, out=True, check=_check_ldexp,
    grad={"self": lambda grad, other: grad * conj(jnp.exp2(other)), "other": lambda grad, result: grad * conj(result) * LN2})
def ldexp(self: Tensor, other: Tensor):
    """``input * 2 ** other``.

    >>> torch.ldexp(torch.tensor([1.]), torch.tensor([3]))
    tensor([8.])
    """
    return self * lax.pow(*jnp.broadcast_arrays(jnp.full_like(other, 2), other))


# -- columns of powers ------------------------------------------------------------------------------------------------

@composite("linalg_vander", function=False, method=False, asked=True)
def linalg_vander(x, *, N=None):
    """The powers ``0`` to ``N - 1`` of each element along a new last dimension.

    >>> torch.linalg.vander(torch.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """
    import jtensor
    if x._spec.dtype is dtypes.bool or x._spec.dtype.itemsize == 2 and x._spec.dtype.is_floating_point:
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, but got "
                           f"{dtypes.scalar_name(x._spec.dtype)}")
    x = x if x._spec.ndim else x.unsqueeze(0)
    n = x._spec.size[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x._spec.size, n - 1).cumprod(-1)
    return jtensor.cat([powers.new_ones((*x._spec.size, 1)), powers], -1)


@composite(method=False)
def vander(x, N=None, increasing=False):
    """The powers of a vector's elements as columns, the highest first unless ``increasing``; ``N`` columns, by default as many as rows.

    >>> torch.vander(torch.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.size(0) if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    import jtensor
    if not (x.is_floating_point() or x.is_complex()):
        x = x.long()
    powers = [jtensor.ones_like(x)]
    while len(powers) < n:
        powers.append(powers[-1] * x)
    powers = powers[:n] if increasing else powers[:n][::-1]
    return jtensor.stack(powers, 1) if n else x.new_empty(x.size(0), 0)
