"""Quotients and remainders of two tensors.

Owns: div and its roundings, true_divide, floor_divide, remainder, fmod. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ...trace.plan import is_for_cpu
from ..operator import Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .bounds import extremes
from .composing import is_number
from .numeric import common_dtype, is_integral, no_derivative, not_implemented, wide

conj = jnp.conj


# -- quotients --------------------------------------------------------------------------------------------------------

def quotient(a, b):
    """``a / b``, rounded once. XLA's quotient of float32 on a GPU is off by up to two units in the last place, PyTorch's is not: there it
    is float64's, which is rounded right once more, since that has more than twice the digits."""
    if a.dtype != jnp.float32 or b.dtype != jnp.float32 or is_for_cpu():
        return a / b
    return (a.astype(jnp.float64) / b.astype(jnp.float64)).astype(jnp.float32)


@op("float", name="div_Tensor", backward="DivBackward0", inplace=True, out=True, function=False, method=False, unrounded=("other",),
    grad={"self": lambda grad, other: grad / conj(other),
          "other": lambda grad, self, other: -grad * conj((self / other) / other)},
    double={"self": "DivBackward0", "other": "MulBackward0"}, quirks=Quirks(met_first=True))
def div_Tensor(self: TensorOrNumber, other: TensorOrNumber):
    """The true quotient: what ``/`` is."""
    return quotient(self, other)


@op("float", name="div_Scalar", backward="DivBackward1", function=False, method=False, unrounded=("other",),
    grad={"self": lambda grad, other: grad / conj(other)}, double="DivBackward1")
def div_Scalar(self: Tensor, other: TensorOrNumber):
    """The true quotient by a number, as PyTorch's own functions ask for it; ``/`` in Python is `div_Tensor` there, too."""
    return quotient(self, other)


MANY = 1 << 14          # elements that are worth compiling a loop for


def rest_of(a, b):
    """C's remainder, which is exact: of many numbers of float32 on the CPU through float64, for XLA asks the C library, number by number.

    There a quotient below 2**29, times the divisor, is exact, and so is what it leaves; larger quotients are gone down to in turns.
    """
    if a.dtype != jnp.float32 or a.size < MANY or not is_for_cpu():
        return lax.rem(a, b)
    rest, divisor = (jnp.where(jnp.signbit(x), -x, x).astype(jnp.float64) for x in (a, b))

    def left(rest, divisor):
        lost = rest - jnp.trunc(rest / divisor) * divisor
        return jnp.where(rest < divisor, rest, jnp.where(lost < 0, lost + divisor, lost))

    def is_large(quotient):
        return (quotient >= 1 << 29) & (quotient < jnp.inf)

    def turn(rest):
        quotient = rest / divisor
        power = lax.bitcast_convert_type(lax.bitcast_convert_type(quotient, jnp.int64) & (0x7FF << 52), jnp.float64) * 2.0**-28
        return jnp.where(is_large(quotient), left(rest, divisor * power), rest)

    def gone_down(rest):
        return lax.while_loop(lambda rest: jnp.any(is_large(rest / divisor)), turn, rest)

    # Whether there are any is asked in float32, with room for what that rounds: the loop would divide them all once to find none.
    perhaps = (jnp.abs(a / b) >= 1 << 28) & (b != 0) & (jnp.abs(a) < jnp.inf)
    rest = left(lax.cond(jnp.any(perhaps), gone_down, lambda rest: rest, rest), divisor)
    return jnp.where(jnp.signbit(a), -rest, rest).astype(a.dtype)


def floor_quotient(a, b):
    """The quotient rounded down; floats as Python divides them, through the exact remainder."""
    if is_integral(a):
        safe = jnp.where(b == 0, jnp.ones_like(b), b)
        q = lax.div(*jnp.broadcast_arrays(a, safe))
        return q - ((lax.rem(*jnp.broadcast_arrays(a, safe)) != 0) & ((a < 0) != (b < 0))).astype(q.dtype)
    a, b = jnp.broadcast_arrays(a, b)
    whole, rest = quotient(a, b), rest_of(a, b)
    q = quotient(a - rest, b)
    q = jnp.where((rest != 0) & ((b < 0) != (rest < 0)), q - 1, q)
    down = jnp.floor(q)
    down = jnp.where(q - down > 0.5, down + 1, down)
    return jnp.where(b == 0, whole, jnp.where(q == 0, jnp.copysign(jnp.zeros_like(q), whole), down))


def trunc_quotient(a, b):
    """The quotient rounded towards zero."""
    if is_integral(a):
        safe = jnp.where(b == 0, jnp.ones_like(b), b)
        return lax.div(*jnp.broadcast_arrays(a, safe))
    return jnp.trunc(quotient(a, b))


def _not_of_8_bits(kernel, common, other):
    if common.is_floating_point and common.itemsize == 1:
        raise not_implemented(kernel if getattr(other, "ndim", 0) else f"{kernel}_reduced_float", common)


def _check_mode(self, other, rounding_mode):
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    common = common_dtype(self, other)
    if common is dtypes.bool:
        raise not_implemented("div_floor_cpu" if rounding_mode == "floor" else "div_trunc_cpu", common)
    if common.is_complex:
        raise not_implemented("div_floor_cpu" if rounding_mode == "floor" else "div_trunc_cpu", common)
    if rounding_mode is not None:
        _not_of_8_bits(f"div_{rounding_mode}_cpu", common, other)


@op("numeric", name="div_Tensor_mode", backward="DivBackward2", inplace=True, out=True, function=False, method=False, check=_check_mode,
    grad={"self": lambda grad, other: jnp.zeros_like(grad), "other": lambda grad, self, other: jnp.zeros_like(grad)}, double="-")
@wide
def div_Tensor_mode(self: TensorOrNumber, other: TensorOrNumber, *, rounding_mode):
    """The quotient rounded down ("floor") or towards zero ("trunc")."""
    return (floor_quotient if rounding_mode == "floor" else trunc_quotient)(self, other)


def no_zero_divisor(self, other):
    """Raises where an integer would be divided by zero, which PyTorch does at once; looks at the divisor if it is an integer tensor."""
    if isinstance(other, (float, complex)) or (not isinstance(self, (int, float, complex)) and self.dtype.category >= 2):
        return
    if isinstance(self, bool) or getattr(self, "dtype", None) is dtypes.bool:
        bits = 64
        if isinstance(other, bool) or getattr(other, "dtype", None) is dtypes.bool:
            return                                               # there is no such division at all
    else:
        bits = 8 * getattr(self, "dtype", dtypes.int64).itemsize
    if isinstance(other, int):
        if other % (1 << bits) == 0:                             # in the type of the quotient
            raise RuntimeError("ZeroDivisionError")
    elif other.dtype.category < 2 and not isinstance(self, (float, complex)):
        from ...tensor.lifted.batching import whole
        found = extremes(other)
        if found is not None and other.ndim == 0 and not isinstance(self, int) and self.ndim:
            found = [number % (1 << bits) for number in found]
            if found[0] == 0:
                raise RuntimeError("ZeroDivisionError")
        if found is not None and found[0] <= 0 <= found[1] and not bool(whole(other).all()):
            raise RuntimeError("ZeroDivisionError")


@composite(aliases=("divide",))
def div(input, other, *, rounding_mode=None, out=None):
    """The quotient: true (``None``), rounded towards zero ("trunc") or down ("floor").

    Integers divide to the default float unless they are rounded; dividing integers by zero raises ``RuntimeError``.

    >>> torch.div(torch.tensor([7., -7.]), 2, rounding_mode="floor")
    tensor([ 3., -4.])
    """
    if rounding_mode is None:
        return div_Tensor(input, other) if out is None else div_Tensor(input, other, out=out)
    if rounding_mode in ("floor", "trunc"):
        no_zero_divisor(input, other)
    more = {} if out is None else {"out": out}
    return div_Tensor_mode(input, other, rounding_mode=rounding_mode, **more)


@composite(function=False, aliases=("divide_",))
def div_(input, other, *, rounding_mode=None):
    """``div``, written back into the tensor."""
    if rounding_mode is None:
        return div_Tensor.inplace_form(input, other)
    no_zero_divisor(input, other)
    return div_Tensor_mode.inplace_form(input, other, rounding_mode=rounding_mode)


@composite()
def true_divide(input, other, *, out=None):
    """``torch.div`` without rounding.

    >>> torch.true_divide(torch.tensor([3]), 2)
    tensor([1.5000])
    """
    return div_Tensor(input, other) if out is None else div_Tensor(input, other, out=out)


@composite(function=False)
def true_divide_(input, other):
    """``true_divide``, written back into the tensor."""
    return div_Tensor.inplace_form(input, other)


@op("numeric", name="floor_divide_Tensor", backward="NotImplemented", inplace=True, out=True, function=False, method=False,
    check=lambda self, other: _check_mode(self, other, "floor"), grad=no_derivative("floor_divide", "self", "other"),
    quirks=Quirks(quiet_made=True, quiet_written=True))
@wide
def floor_divide_Tensor(self: TensorOrNumber, other: TensorOrNumber):
    """The quotient rounded down: what ``//`` is."""
    return floor_quotient(self, other)


@composite()
def floor_divide(input, other, *, out=None):
    """The quotient rounded down. Not differentiable; dividing integers by zero raises ``RuntimeError``.

    >>> torch.floor_divide(torch.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """
    input, other = dtypes.plain_number(input), dtypes.plain_number(other)
    no_zero_divisor(input, other)
    return floor_divide_Tensor(input, other) if out is None else floor_divide_Tensor(input, other, out=out)


@composite(function=False)
def floor_divide_(input, other):
    """``floor_divide``, written back into the tensor."""
    no_zero_divisor(input, other)
    return floor_divide_Tensor.inplace_form(input, other)


# -- remainders -------------------------------------------------------------------------------------------------------

def modulo(a, b):
    """The remainder with the divisor's sign."""
    a, b = jnp.broadcast_arrays(a, b)
    if is_integral(a):
        b = jnp.where(b == 0, jnp.ones_like(b), b)
    rest = rest_of(a, b)
    return jnp.where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest)


def _rest(a, b):
    a, b = jnp.broadcast_arrays(a, b)
    return rest_of(a, jnp.where(b == 0, jnp.ones_like(b), b) if is_integral(a) else b)


def _check_rest(kernel):
    def check(self, other):
        common = common_dtype(self, other)
        if common is dtypes.bool or common.is_complex:
            raise not_implemented(kernel, common)
    return check


_REMAINDER = {"inplace": True, "out": True, "function": False, "method": False, "check": _check_rest("remainder_cpu")}
_FMOD = {"inplace": True, "out": True, "function": False, "method": False, "check": _check_rest("fmod_cpu")}


@op("numeric", name="remainder_Scalar", backward="RemainderBackward0", grad={"self": lambda grad: grad}, **_REMAINDER, double="=")
@wide
def remainder_Scalar(self: Tensor, other: TensorOrNumber):
    """The remainder by a number."""
    return modulo(self, other)


@op("numeric", name="remainder_Tensor", backward="RemainderBackward1", **_REMAINDER,
    grad={"self": lambda grad: grad, "other": lambda grad, self, other: -grad * wide(floor_quotient)(self, other)},
    double={"self": "=", "other": "MulBackward0"})
@wide
def remainder_Tensor(self: Tensor, other: Tensor):
    """The remainder by a tensor."""
    return modulo(self, other)


@op("numeric", name="remainder_Scalar_Tensor", backward="NotImplemented", out=True, function=False, method=False,
    check=_check_rest("remainder_cpu"), grad=no_derivative("remainder", "other"))
@wide
def remainder_Scalar_Tensor(self: TensorOrNumber, other: Tensor):
    """The remainder of a number, which PyTorch does not differentiate."""
    return modulo(self, other)


@op("numeric", name="fmod_Scalar", backward="FmodBackward0", grad={"self": lambda grad: grad}, **_FMOD, double="=")
@wide
def fmod_Scalar(self: Tensor, other: TensorOrNumber):
    """C's remainder by a number."""
    return _rest(self, other)


@op("numeric", name="fmod_Tensor", backward="FmodBackward1", **_FMOD,
    grad={"self": lambda grad: grad, "other": lambda grad, self, other: -grad * wide(trunc_quotient)(self, other)},
    double={"self": "=", "other": "MulBackward0"})
@wide
def fmod_Tensor(self: Tensor, other: Tensor):
    """C's remainder by a tensor."""
    return _rest(self, other)


@composite()
def remainder(input, other, *, out=None):
    """The remainder of the division, with the divisor's sign, as Python's ``%``.

    >>> torch.remainder(torch.tensor([-3., 3.]), 2)
    tensor([1., 1.])
    """
    input, other = dtypes.plain_number(input), dtypes.plain_number(other)
    no_zero_divisor(input, other)
    operator = remainder_Scalar if is_number(other) else remainder_Scalar_Tensor if is_number(input) else remainder_Tensor
    return operator(input, other) if out is None else operator(input, other, out=out)


@composite(function=False)
def remainder_(input, other):
    """``remainder``, written back into the tensor."""
    no_zero_divisor(input, other)
    return (remainder_Scalar if is_number(other) else remainder_Tensor).inplace_form(input, other)


@composite()
def fmod(input, other, *, out=None):
    """The remainder of the division, with the dividend's sign, as C's ``fmod``.

    >>> torch.fmod(torch.tensor([-3., 3.]), 2)
    tensor([-1.,  1.])
    """
    no_zero_divisor(input, other)
    operator = fmod_Scalar if is_number(other) else fmod_Tensor
    return operator(input, other) if out is None else operator(input, other, out=out)


@composite(function=False)
def fmod_(input, other):
    """``fmod``, written back into the tensor."""
    no_zero_divisor(input, other)
    return (fmod_Scalar if is_number(other) else fmod_Tensor).inplace_form(input, other)
