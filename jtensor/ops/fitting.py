"""Numbers that a type must hold.

Owns: which they are, PyTorch's refusal of the others, and what of a declaration (`fits`) tells the type. May not know: tensors.
"""
import functools
import math

import jax.numpy as jnp
import numpy as np

from ..base import dtypes


def number_fits(value, dtype, alone=False):
    """``value``, if it can be put into a tensor of ``dtype``; else PyTorch's error. A bool tensor takes any number by its truth.

    ``alone``: into a single element; on its way to one of a narrow float it is a double, and what is too large becomes infinite.
    """
    kind = type(dtypes.fits_a_word(value))
    if dtype.category == 0:
        return bool(value) if kind is complex else value
    if kind is complex and value.imag == 0 and not dtype.is_complex:
        value, kind = value.real, float
    if alone and (dtype is dtypes.float16 or dtype is dtypes.bfloat16):
        if kind is not complex and _overflows(value, dtype):
            return math.copysign(math.inf, value)
        dtype = dtypes.float64
    elif alone and dtype.name in _EIGHT_BITS:
        return value
    if kind is not complex:
        bad = _overflows(value, dtype)
    else:
        bad = not dtype.is_complex or _overflows(value.real, dtype) or _overflows(value.imag, dtype)
    if bad:
        raise RuntimeError(f"value cannot be converted to type {dtypes.converted_name(dtype)} without overflow")
    return float(value) if kind is int and value >= 1 << 63 and dtype.category > 1 else value


def as_double(number):
    """A number where PyTorch wants a double: of a complex one its real part, if it has no other."""
    if not isinstance(number, complex):
        return number
    if number.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return number.real


def _overflows(value, dtype):
    """Whether a real number is beyond a type's range, or that of a complex one's parts; infinities are in that of floats."""
    if dtype.category == 1:
        least, most = _range(dtype)
        return not (-most if type(value) is int and not dtype.is_signed else least) <= value <= most
    most = _LARGEST.get(dtype.name)
    return most is not None and abs(value) > most and (abs(value) != math.inf or dtype.name in _FINITE)


@functools.cache
def _range(dtype):
    info = np.iinfo(dtype.numpy)
    return info.min, info.max


_LARGEST = {"float16": 65504.0, "bfloat16": float(jnp.finfo(jnp.bfloat16).max), "float32": float(np.finfo(np.float32).max)}
_LARGEST["complex64"] = _LARGEST["float32"]
_EIGHT_BITS = {"float8_e4m3fn": 448.0, "float8_e4m3fnuz": 240.0, "float8_e5m2": 57344.0, "float8_e5m2fnuz": 57344.0}
_FINITE = frozenset(_EIGHT_BITS) - {"float8_e5m2"}                          # those that have no infinity
_LARGEST |= _EIGHT_BITS


# -- of operators -----------------------------------------------------------------------------------------------------


@functools.cache
def bounds(dtype, negated=False):
    """(least, most): numbers between them, whole or not, are held by the type, or minus them are; of others `number_fits` knows."""
    most = _LARGEST.get(dtype.name, math.inf) if dtype.category else math.inf
    least, most = _range(dtype) if dtype.category == 1 else (-most, most)
    return (-most, -least) if negated else (least, most)


def fitting(operator, given, dtype):
    """What of an operator's numbers has to fit, where it computes in ``dtype``: (parameter's name, type, whether it is negated)."""
    narrow = dtype is dtypes.float16 or dtype is dtypes.bfloat16
    return tuple([(name, dtypes.float32 if rule == "wide" and narrow else dtype, rule == "negated")
                  for name, rule in operator.fits.items() if name in given and (narrow or rule != "narrow")])


def common_bounds(fits):
    """(least, most), between which all of them do."""
    found = [bounds(dtype, negated) for _, dtype, negated in fits]
    return max([least for least, _ in found]), min([most for _, most in found])


def fit(plan, places, args):
    """Refuses the numbers among a call's arguments that the plan's types do not hold; ``places``: {parameter's name: place}."""
    for name, dtype, negated in plan.fits:
        number = args[places[name]]
        number = number.item() if hasattr(number, "item") else number
        number_fits(-number if negated else number, dtype)
