"""Choice and bits: where, logical and bitwise operators, shifts, gcd and lcm, heaviside.

Owns: what bits and truth values do. May not know: tensors as objects.
"""
import jax.numpy as jnp
from jax import lax

from ...base import dtypes, sites
from ..build import broadcast_inplace, broadcast_shapes
from ..layout import operand, pointwise
from ..operator import Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .composing import number_fits
from .numeric import common_dtype, no_derivative, not_implemented

# -- where ------------------------------------------------------------------------------------------------------------


def _check_condition(condition):
    if condition.dtype not in (dtypes.bool, dtypes.uint8):
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{dtypes.scalar_name(condition.dtype)}")
    if condition.dtype is dtypes.uint8:
        sites.warn_once("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of "
                        "PyTorch. Use a boolean condition instead.")


def _choose(condition, yes, no):
    return jnp.where(condition != 0, yes, no)


_WHERE = {"backward": "WhereBackward0", "promoted": ("self", "other"), "nondiff": ("condition",), "grad": {
    "self": lambda grad, condition: jnp.where(condition != 0, grad, jnp.zeros_like(grad)),
    "other": lambda grad, condition: jnp.where(condition != 0, jnp.zeros_like(grad), grad)}}


@op("numeric", name="where_self", function=False, method=False, out=True, **_WHERE,
    check=lambda condition, self, other: _check_condition(condition), double="WhereBackward0",
    quirks=Quirks(saved_first=True, keeps_complex=True))
def where_self(condition: Tensor, self: TensorOrNumber, other: TensorOrNumber):
    """One tensor's elements where the condition holds, another's elsewhere."""
    return _choose(condition, self, other)


def _layout_of_method(specs, outputs, statics):
    self, condition, *other = map(operand, specs)
    return [pointwise(outputs[0].shape, (condition, self, *other), not other)]


@op("numeric", name="where_method", method=False, function=False, layout=_layout_of_method, **_WHERE,
    check=lambda self, condition, other: _check_condition(condition), double="WhereBackward0",
    quirks=Quirks(saved_first=True, keeps_complex=True))
def where_method(self: Tensor, condition: Tensor, other: TensorOrNumber):
    """The elements of this tensor where the condition holds, those of ``other`` elsewhere."""
    return _choose(condition, self, other)


_NUMBERS = frozenset((int, float, complex))


def _fits_beside(number, other):
    """Refuses a number that the type of the result, which the other operand decides, does not hold."""
    kind = other._spec.dtype if hasattr(other, "_spec") else dtypes.of_scalar(other)
    number_fits(number, dtypes.result_type((kind,), (), (dtypes.of_scalar(number),)), alone=True)


@composite(method=False)
def where(condition, input=None, other=None, *, out=None):
    """The elements of ``input`` where ``condition`` holds, those of ``other`` elsewhere; alone, the places where it holds.

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1, 2]), 0)
    tensor([1, 0])
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input.__class__ in _NUMBERS:
        _fits_beside(input, other)
    if other.__class__ in _NUMBERS:
        _fits_beside(other, input)
    return where_self(condition, input, other) if out is None else where_self(condition, input, other, out=out)


@composite("where", function=False)
def where_by_method(self, condition, other):
    """The elements of this tensor where ``condition`` holds, those of ``other`` elsewhere.

    >>> torch.tensor([1, 2]).where(torch.tensor([True, False]), 0)
    tensor([1, 0])
    """
    if other.__class__ in _NUMBERS:
        _fits_beside(other, self)
    return where_method(self, condition, other)


# -- truth ------------------------------------------------------------------------------------------------------------

_LOGICAL = {"inplace": True, "out": True, "nondiff": ("self", "other", 0)}


@op("bool", inplace=True, out=True, nondiff=("self", 0), quirks=Quirks(untracked=True))
def logical_not(self: Tensor):
    """Where an element is zero.

    >>> torch.logical_not(torch.tensor([0, 2]))
    tensor([ True, False])
    """
    return self == 0


@op("bool", **_LOGICAL, quirks=Quirks(untracked=True))
def logical_and(self: Tensor, other: Tensor):
    """Where both are not zero.

    >>> torch.logical_and(torch.tensor([1, 0]), torch.tensor([5, 5]))
    tensor([ True, False])
    """
    return (self != 0) & (other != 0)


@op("bool", **_LOGICAL, quirks=Quirks(untracked=True))
def logical_or(self: Tensor, other: Tensor):
    """Where one or both are not zero.

    >>> torch.logical_or(torch.tensor([1, 0]), torch.tensor([0, 0]))
    tensor([ True, False])
    """
    return (self != 0) | (other != 0)


@op("bool", **_LOGICAL, quirks=Quirks(untracked=True))
def logical_xor(self: Tensor, other: Tensor):
    """Where exactly one is not zero.

    >>> torch.logical_xor(torch.tensor([1, 1]), torch.tensor([0, 5]))
    tensor([ True, False])
    """
    return (self != 0) ^ (other != 0)


# -- bits -------------------------------------------------------------------------------------------------------------

def _whole(kernel, shifts=False, shapes=len):
    """Refuses types that are not whole numbers, after shapes that do not go together."""
    def check(self, other=None):
        shapes([s for s in (self, other) if hasattr(s, "size")])
        common = common_dtype(*[g for g in (self, other) if g is not None])
        if common.category >= 2 or (shifts and common is dtypes.bool):
            raise not_implemented(kernel, common)
    return check


def _bits(kernel, shifts=False):
    return {"inplace": True, "out": True, "nondiff": ("self", "other", 0),
            "check": _whole(kernel, shifts, lambda found: broadcast_shapes([tuple(s.size) for s in found])),
            "check_inplace": _whole(kernel, shifts, lambda found: broadcast_inplace(*found))}


@op("numeric", inplace=True, out=True, nondiff=("self", 0), check=_whole("bitwise_not_cpu"), quirks=Quirks(keeps_history=True))
def bitwise_not(self: Tensor):
    """Every bit turned over; of bools the logical not.

    >>> torch.bitwise_not(torch.tensor([0, 5]))
    tensor([-1, -6])
    """
    return ~self


@op("numeric", **_bits("bitwise_and_cpu"), quirks=Quirks(keeps_history=True))
def bitwise_and(self: TensorOrNumber, other: TensorOrNumber):
    """The bits that both have.

    >>> torch.bitwise_and(torch.tensor([6]), 3)
    tensor([2])
    """
    return self & other


@op("numeric", **_bits("bitwise_or_cpu"), quirks=Quirks(keeps_history=True))
def bitwise_or(self: TensorOrNumber, other: TensorOrNumber):
    """The bits that either has.

    >>> torch.bitwise_or(torch.tensor([6]), 3)
    tensor([7])
    """
    return self | other


@op("numeric", **_bits("bitwise_xor_cpu"), quirks=Quirks(keeps_history=True))
def bitwise_xor(self: TensorOrNumber, other: TensorOrNumber):
    """The bits that exactly one has.

    >>> torch.bitwise_xor(torch.tensor([6]), 3)
    tensor([5])
    """
    return self ^ other


def _width(x):
    return jnp.iinfo(x.dtype).bits


def _shift_left(x, n):
    x, n = jnp.broadcast_arrays(x, n)
    beyond = (n < 0) | (n >= _width(x))
    return jnp.where(beyond, jnp.zeros_like(x), lax.shift_left(x, jnp.where(beyond, jnp.zeros_like(n), n)))


def _shift_right(x, n):
    x, n = jnp.broadcast_arrays(x, n)
    most = _width(x) - 1 if jnp.issubdtype(x.dtype, jnp.signedinteger) else _width(x)
    beyond = (n < 0) | (n >= most)
    shift = lax.shift_right_arithmetic if jnp.issubdtype(x.dtype, jnp.signedinteger) else lax.shift_right_logical
    far = shift(x, jnp.full_like(n, most)) if most < _width(x) else jnp.zeros_like(x)
    return jnp.where(beyond, far, shift(x, jnp.where(beyond, jnp.zeros_like(n), n)))


@op("numeric", **_bits("lshift_cpu", True), quirks=Quirks(keeps_history=True))
def bitwise_left_shift(self: TensorOrNumber, other: TensorOrNumber):
    """Shifted left by ``other`` bits; 0 where the shift is negative or not less than the width.

    >>> torch.bitwise_left_shift(torch.tensor([1, 3]), 2)
    tensor([ 4, 12])
    """
    return _shift_left(self, other)


@op("numeric", **_bits("rshift_cpu", True), quirks=Quirks(keeps_history=True))
def bitwise_right_shift(self: TensorOrNumber, other: TensorOrNumber):
    """Shifted right by ``other`` bits, keeping the sign.

    >>> torch.bitwise_right_shift(torch.tensor([8, -8]), 2)
    tensor([ 2, -2])
    """
    return _shift_right(self, other)


# -- whole numbers ----------------------------------------------------------------------------------------------------

@op("numeric", **_bits("gcd_cpu", True), quirks=Quirks(keeps_history=True))
def gcd(self: Tensor, other: Tensor):
    """The greatest common divisor, not negative.

    >>> torch.gcd(torch.tensor([12, 7]), torch.tensor([8, 21]))
    tensor([4, 7])
    """
    return _common_divisor(*jnp.broadcast_arrays(self, other))


def _common_divisor(a, b):
    """Euclid's, without asking which is the greater: the smallest integer stays negative, and JAX's own would turn for ever."""
    def turn(pair):
        a, b = pair
        ends = a == 0
        return jnp.where(ends, a, lax.rem(b, jnp.where(ends, jnp.ones_like(a), a))), jnp.where(ends, b, a)
    return lax.while_loop(lambda pair: jnp.any(pair[0] != 0), turn, (jnp.abs(a), jnp.abs(b)))[1]


@op("numeric", **_bits("lcm_cpu", True), quirks=Quirks(keeps_history=True))
def lcm(self: Tensor, other: Tensor):
    """The least common multiple, not negative.

    >>> torch.lcm(torch.tensor([4, 5]), torch.tensor([6, 10]))
    tensor([12, 10])
    """
    a, b = jnp.broadcast_arrays(self, other)
    common = _common_divisor(a, b)
    if a.dtype.itemsize < 4:                                    # as in C, where the product of small integers is an int
        a, b, common = (x.astype(jnp.int32) for x in (a, b, common))
    safe = jnp.where(common == 0, jnp.ones_like(common), common)
    return jnp.where(common == 0, jnp.zeros_like(a), jnp.abs(lax.div(a, safe) * b)).astype(self.dtype)


def _check_heaviside(self, values):
    if self.dtype.is_complex or values.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


@op("numeric", inplace=True, out=True, check=_check_heaviside, backward="NotImplemented", grad=no_derivative("heaviside", "self", "values"),
    quirks=Quirks(quiet_made=True))
def heaviside(self: Tensor, values: Tensor):
    """0 where negative, 1 where positive, ``values`` where zero.

    >>> torch.heaviside(torch.tensor([-1., 0., 1.]), torch.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    step = (self > 0).astype(self.dtype)
    return jnp.where(self == 0, values, step)


