"""Comparisons and questions about single elements: what is equal, smaller, finite, NaN.

Owns: eq, ne, lt, le, gt, ge, isnan and its kin, signbit, isclose, isin, equal, allclose. Results are bool and have no gradient.
May not know: tensors as objects.
"""
import jax.numpy as jnp

from ...base import devices, dtypes
from ..loops import searchsorted
from ..operator import Tensor, TensorOrNumber, op
from ..registry import composite
from .numeric import cast, common_dtype, is_complex, is_floating, not_implemented, refuses

_COMPARISON = {"inplace": True, "out": True, "nondiff": ("self", "other", 0)}


def _ordered(name):
    def check(self, other):
        common = common_dtype(self, other)
        if common.is_complex:
            raise not_implemented(f"{name}_cpu", common)
    return check


# -- two tensors ------------------------------------------------------------------------------------------------------

@op("bool", **_COMPARISON)
def eq(self: Tensor, other: TensorOrNumber):
    """Where the two are equal.

    >>> torch.eq(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([ True, False])
    """
    return self == other


@op("bool", **_COMPARISON)
def ne(self: Tensor, other: TensorOrNumber):
    """Where the two differ; NaN differs from everything.

    >>> torch.ne(torch.tensor([1, 2]), 1)
    tensor([False,  True])
    """
    return self != other


@op("bool", check=_ordered("lt"), **_COMPARISON)
def lt(self: Tensor, other: TensorOrNumber):
    """Where ``input < other``.

    >>> torch.lt(torch.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    return self < other


@op("bool", check=_ordered("le"), **_COMPARISON)
def le(self: Tensor, other: TensorOrNumber):
    """Where ``input <= other``.

    >>> torch.le(torch.tensor([1, 3]), 2)
    tensor([ True, False])
    """
    return self <= other


@op("bool", check=_ordered("gt"), **_COMPARISON)
def gt(self: Tensor, other: TensorOrNumber):
    """Where ``input > other``.

    >>> torch.gt(torch.tensor([1, 3]), 2)
    tensor([False,  True])
    """
    return self > other


@op("bool", check=_ordered("ge"), **_COMPARISON)
def ge(self: Tensor, other: TensorOrNumber):
    """Where ``input >= other``.

    >>> torch.ge(torch.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    return self >= other


# -- one tensor -------------------------------------------------------------------------------------------------------

_QUESTION = {"nondiff": ("self", 0), "result_dtype": lambda d: dtypes.bool}


def _nowhere(x):
    return jnp.zeros(x.shape, jnp.bool_)


@op("bool", **_QUESTION)
def isnan(self: Tensor):
    """Where an element is NaN (of a complex number: either part).

    >>> torch.isnan(torch.tensor([1., float("nan")]))
    tensor([False,  True])
    """
    return self != self


@op("bool", **_QUESTION)
def isinf(self: Tensor):
    """Where an element is infinite, in either direction.

    >>> torch.isinf(torch.tensor([1., float("-inf")]))
    tensor([False,  True])
    """
    if is_complex(self):
        return jnp.isinf(self.real) | jnp.isinf(self.imag)
    return jnp.isinf(self) if is_floating(self) else _nowhere(self)


@op("bool", **_QUESTION)
def isfinite(self: Tensor):
    """Where an element is neither infinite nor NaN.

    >>> torch.isfinite(torch.tensor([1., float("inf"), float("nan")]))
    tensor([ True, False, False])
    """
    if is_complex(self):
        return jnp.isfinite(self.real) & jnp.isfinite(self.imag)
    return jnp.isfinite(self) if is_floating(self) else ~_nowhere(self)


@op("bool", out=True, check=refuses("isposinf", "complex", error=RuntimeError("isposinf does not support complex inputs.")), **_QUESTION)
def isposinf(self: Tensor):
    """Where an element is +inf.

    >>> torch.isposinf(torch.tensor([float("inf"), float("-inf")]))
    tensor([ True, False])
    """
    return self == jnp.inf if is_floating(self) else _nowhere(self)


@op("bool", out=True, check=refuses("isneginf", "complex", error=RuntimeError("isneginf does not support complex inputs.")), **_QUESTION)
def isneginf(self: Tensor):
    """Where an element is -inf.

    >>> torch.isneginf(torch.tensor([float("inf"), float("-inf")]))
    tensor([False,  True])
    """
    return self == -jnp.inf if is_floating(self) else _nowhere(self)


@op("bool", out=True, **_QUESTION,
    check=refuses("signbit_cpu", "complex", "of 8 bits", error=NotImplementedError("signbit is not implemented for complex tensors.")))
def signbit(self: Tensor):
    """Where the sign bit is set: negative numbers, and -0.

    >>> torch.signbit(torch.tensor([-0., 1.]))
    tensor([ True, False])
    """
    if is_floating(self):
        return jnp.signbit(self)
    return _nowhere(self) if self.dtype == jnp.bool_ else self < 0


@op("bool", **_QUESTION)
def isreal(self: Tensor):
    """Where the imaginary part is zero.

    >>> torch.isreal(torch.tensor([1j, 1 + 0j]))
    tensor([False,  True])
    """
    return self.imag == 0 if is_complex(self) else ~_nowhere(self)


# -- nearness ---------------------------------------------------------------------------------------------------------

def _check_isclose(self, other, rtol, atol, equal_nan):
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{_title(self.dtype)} did not match {_title(other.dtype)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance:g}")


def _title(d):
    return dtypes.scalar_name(d)


def near(a, b, rtol, atol, equal_nan):
    """Equal, or both finite and within ``atol + rtol * |b|``."""
    same = a == b
    if equal_nan and not (a.dtype == jnp.bool_ or jnp.issubdtype(a.dtype, jnp.integer)):
        same = same | ((a != a) & (b != b))
    if not jnp.issubdtype(a.dtype, jnp.inexact):
        a, b = a.astype(jnp.float64), b.astype(jnp.float64)
    gap = jnp.abs(a - b)
    kind = gap.dtype
    return same | (jnp.isfinite(gap) & (gap <= cast(atol, kind) + cast(rtol, kind) * jnp.abs(b)))


@op("bool", check=_check_isclose, nondiff=("self", "other", 0))
def isclose(self: Tensor, other: Tensor, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where ``|input - other| <= atol + rtol * |other|``, or both are equal.

    >>> torch.isclose(torch.tensor([1., 2.]), torch.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    return near(self, other, rtol, atol, equal_nan)


@composite(asked=True)
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether `isclose` holds everywhere; a Python bool.

    >>> torch.allclose(torch.tensor([1.]), torch.tensor([1.000001]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@op("bool", name="_equal", function=False, method=False, layout="contiguous", nondiff=("self", "other", 0))
def _equal(self: Tensor, other: Tensor):
    """Whether all elements are equal, as a 0-d tensor."""
    return jnp.all(self == other)


@composite()
def equal(input, other):
    """Whether two tensors have the same size and equal elements; a Python bool.

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    a, b = input._spec, other._spec
    if a.size != b.size:
        return False
    if a.device is devices.meta or b.device is devices.meta:
        from ...tensor.calling.arguments import NO_META_KERNEL
        raise NotImplementedError(NO_META_KERNEL.format("equal"))
    if a.dtype is b.dtype and a.device is b.device is devices.cpu and a.numel <= _FEW:
        from ...tensor.looking import host_copy
        return bool((host_copy(input, "bool()") == host_copy(other, "bool()")).all())
    return bool(_equal(input, other))


_FEW = 1 << 16               # elements that are compared where they lie


def _together(a, b):
    """Both in their promoted type, though they are not broadcast."""
    given = [dtypes.of_numpy(x.dtype) for x in (a, b)]
    common = dtypes.result_type([d for d, x in zip(given, (a, b)) if x.ndim], [d for d, x in zip(given, (a, b)) if not x.ndim], [])
    return a.astype(common.numpy), b.astype(common.numpy)


@op(None, name="isin_Tensor", function=False, method=False, nondiff=("elements", "test_elements", 0), out=True)
def _isin(elements: TensorOrNumber, test_elements: TensorOrNumber, *, invert=False):
    """Membership, by comparison with every test element."""
    elements, test_elements = _together(elements, test_elements)
    flat = jnp.ravel(test_elements)
    if flat.size <= 64:
        found = (elements[..., None] == flat).any(-1)
    else:
        flat = jnp.sort(flat)
        at = jnp.clip(searchsorted(flat, elements), 0, flat.size - 1)
        found = flat[at] == elements
    return ~found if invert else found


@composite(method=False)
def isin(elements, test_elements, *, assume_unique=False, invert=False, out=None):
    """Where an element is one of ``test_elements``; either may be a number. ``assume_unique`` changes nothing here.

    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3]))
    tensor([False,  True,  True])
    """
    for given in (elements, test_elements):
        kind = given._spec.dtype if hasattr(given, "_spec") else dtypes.bool if isinstance(given, bool) else None
        if kind is dtypes.bool or kind is not None and kind.is_complex:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtypes.scalar_name(kind)}")
    more = {} if out is None else {"out": out}
    return _isin(elements, test_elements, invert=invert, **more)
