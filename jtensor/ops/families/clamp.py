"""Numbers kept between bounds: clamp, clamp_min, clamp_max, with numbers or tensors for bounds.

Owns: their forms and the gradients of both sides. NaN stays NaN, and a bound that is NaN makes it. May not know: tensors as objects.
"""
import numpy as np

from ...base import dtypes
from ..fitting import as_double
from ..operator import RAW, Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import common_dtype, kept_where, larger, not_implemented, smaller


def _check_real(self):
    """PyTorch asks first whether a number beside floats is NaN."""
    if self.dtype.category == 2:
        raise RuntimeError("value cannot be converted to type double without overflow")


def _check_clamp(self, min, max):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = common_dtype(*[g for g in (self, min, max) if g is not None])
    tensors = hasattr(min if min is not None else max, "ndim")
    one = min is None or max is None                     # PyTorch takes the greater or smaller one then
    if common.is_complex:
        if not tensors:
            _check_real(self)
        if tensors and one and not self.dtype.is_complex:
            raise not_implemented("minimum_cpu" if min is None else "maximum_cpu", common)
        raise NotImplementedError("clamp is not supported for complex types")
    if common is dtypes.bool and not (tensors and one):
        name = "clamp" if not one else "clamp_min" if max is None else "clamp_max"
        raise not_implemented("clamp_kernel_impl" if tensors else f"{name}_scalar_" + ("cpu" if one else "kernel_impl"), common)


def _between(self, min, max):
    x = self if min is None else larger(self, min)
    return x if max is None else smaller(x, max)


def _inside(grad, self, min, max):
    mask = True
    if min is not None:
        mask = self >= min
    if max is not None:
        mask = mask & (self <= max)
    return kept_where(grad, mask)


def _at_min(grad, self, min, max):
    return kept_where(grad, (self < min) if max is None else (min < max) & (self < min))


def _at_max(grad, self, min, max):
    return kept_where(grad, (self > max) if min is None else (self > max) | (max < min))


@op("numeric", name="clamp_Scalar", backward="ClampBackward1", inplace=True, out=True, check=_check_clamp, **RAW,
    fits={"min": "own", "max": "own"}, grad={"self": _inside}, double="WhereBackward0!", quirks=Quirks(saved_first=True))
def clamp_Scalar(self: Tensor, min: TensorOrNumber = None, max: TensorOrNumber = None):
    """Kept between two numbers."""
    return _between(self, min, max)


@op("numeric", name="clamp_Tensor", backward="ClampBackward0", inplace=True, out=True, check=_check_clamp, **RAW,
    grad={"self": _inside, "min": _at_min, "max": _at_max}, double="WhereBackward0!", quirks=Quirks(saved_first=True))
def clamp_Tensor(self: Tensor, min: TensorOrNumber = None, max: TensorOrNumber = None):
    """Kept between the elements of two tensors."""
    return _between(self, min, max)


_NUMBERS = (int, float, complex, np.generic, type(None))


def _clamp_form(min, max):
    return clamp_Scalar if isinstance(min, _NUMBERS) and isinstance(max, _NUMBERS) else clamp_Tensor


@composite(aliases=("clip",))
def clamp(input, min=None, max=None, *, out=None):
    """Each element kept between ``min`` and ``max``, numbers or tensors. On a bound the gradient goes to the input.

    >>> torch.clamp(torch.tensor([-1., 0.5, 2.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    min, max = _plain(input, min), _plain(input, max)
    form = _clamp_form(min, max)
    return form(input, min, max) if out is None else form(input, min, max, out=out)


@composite(aliases=("clip_",))
def clamp_(input, min=None, max=None):
    """``clamp``, written back into the tensor."""
    min, max = _plain(input, min), _plain(input, max)
    return _clamp_form(min, max).inplace_form(input, min, max)


def _plain(input, bound):
    return as_double(bound) if bound.__class__ is complex and input.dtype.category == 2 else bound


def _check_one_bound(name):
    def check(self, bound):
        common = common_dtype(self, bound)
        if common.is_complex:
            if hasattr(bound, "ndim"):
                raise not_implemented("maximum_cpu" if name == "clamp_min" else "minimum_cpu", common)
            raise NotImplementedError("clamp is not supported for complex types")
        if common is dtypes.bool and not hasattr(bound, "ndim"):
            raise not_implemented(f"{name}_scalar_cpu", common)
    return check


_AT_LEAST = {"inplace": True, "out": True, "check": _check_one_bound("clamp_min"), **RAW}
_AT_MOST = {"inplace": True, "out": True, "check": _check_one_bound("clamp_max"), **RAW}


@op("numeric", name="clamp_min_Scalar", backward="ClampMinBackward0", fits={"min": "own"}, **_AT_LEAST,
    grad={"self": lambda grad, self, min: kept_where(grad, self >= min)}, double="WhereBackward0!", quirks=Quirks(saved_first=True))
def clamp_min_Scalar(self: Tensor, min: TensorOrNumber):
    """At least a number."""
    return larger(self, min)


@op("numeric", name="clamp_min_Tensor", backward="ClampMinBackward1", **_AT_LEAST,
    grad={"self": lambda grad, self, min: kept_where(grad, self >= min), "min": lambda grad, self, min: kept_where(grad, self < min)},
    double="WhereBackward0!", quirks=Quirks(saved_first=True))
def clamp_min_Tensor(self: Tensor, min: Tensor):
    """At least a tensor's elements."""
    return larger(self, min)


@op("numeric", name="clamp_max_Scalar", backward="ClampMaxBackward0", fits={"max": "own"}, **_AT_MOST,
    grad={"self": lambda grad, self, max: kept_where(grad, self <= max)}, double="WhereBackward0!", quirks=Quirks(saved_first=True))
def clamp_max_Scalar(self: Tensor, max: TensorOrNumber):
    """At most a number."""
    return smaller(self, max)


@op("numeric", name="clamp_max_Tensor", backward="ClampMaxBackward1", **_AT_MOST,
    grad={"self": lambda grad, self, max: kept_where(grad, self <= max), "max": lambda grad, self, max: kept_where(grad, self > max)},
    double="WhereBackward0!", quirks=Quirks(saved_first=True))
def clamp_max_Tensor(self: Tensor, max: Tensor):
    """At most a tensor's elements."""
    return smaller(self, max)


@composite()
def clamp_min(input, min, *, out=None):
    """Each element, but at least ``min``.

    >>> torch.clamp_min(torch.tensor([-1., 2.]), 0)
    tensor([0., 2.])
    """
    form = clamp_min_Scalar if isinstance(min, _NUMBERS) else clamp_min_Tensor
    return form(input, min) if out is None else form(input, min, out=out)


@composite()
def clamp_min_(input, min):
    """``clamp_min``, written back into the tensor."""
    return (clamp_min_Scalar if isinstance(min, _NUMBERS) else clamp_min_Tensor).inplace_form(input, min)


@composite()
def clamp_max(input, max, *, out=None):
    """Each element, but at most ``max``.

    >>> torch.clamp_max(torch.tensor([-1., 2.]), 0)
    tensor([-1.,  0.])
    """
    form = clamp_max_Scalar if isinstance(max, _NUMBERS) else clamp_max_Tensor
    return form(input, max) if out is None else form(input, max, out=out)


@composite()
def clamp_max_(input, max):
    """``clamp_max``, written back into the tensor."""
    return (clamp_max_Scalar if isinstance(max, _NUMBERS) else clamp_max_Tensor).inplace_form(input, max)
