"""Factories of regular numbers: `linspace`, `logspace`, `range`, and the coordinates of triangles.

Owns: their argument forms. What is computed is recorded by `ops.families.create`.
"""
import math

import numpy as np

from ...base import devices, dtypes, sites
from ...ops.families import create as ops
from ...ops.families.numeric import not_implemented
from ...ops.fitting import as_double, number_fits
from ..core import Tensor
from ..dispatch import call
from ..lifted.batching import is_batch, slice_by_slice
from .create import _checked, _device, _finish, _out, _type, arange


def _number(x):
    return x.item() if isinstance(x, Tensor) else dtypes.fits_a_word(x)


def _step(start, end, steps, kind):
    """The distance of ``steps`` numbers, rounded as PyTorch rounds it; 0 where there is none, or what computes them works it out."""
    if not ops.is_given(kind) or steps < 2:
        return 0.0
    one = np.float32 if kind is dtypes.float32 else np.float64
    whole = int if kind.category < 2 else float
    with np.errstate(all="ignore"):
        return float((one(whole(end)) - one(whole(start))) / one(steps - 1))


def _spaced(name, operator, start, end, steps, extra, out, dtype, layout, device, requires_grad):
    _checked(layout)
    wide = {side: x._spec.ndim for side, x in (("start", start), ("end", end)) if isinstance(x, Tensor)}
    if any(wide.values()):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got "
                           f"{' and '.join([f'{side} with {n} dimension(s)' for side, n in wide.items()])}.")
    given = [x for x in (start, end) if isinstance(x, Tensor)]
    if any(map(is_batch, given)):
        def made_between(slices):
            ends = [slices.pop(0) if isinstance(x, Tensor) else x for x in (start, end)]
            return _spaced(name, operator, *ends, steps, extra, None, dtype if out is None else out.dtype, layout, device, False)
        made = slice_by_slice(made_between, given)
        return _finish(made, requires_grad) if out is None else _out(name, made, out, requires_grad, dtype)
    start, end = _number(start), _number(end)
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({type(start).__name__}, {type(end).__name__}, "
                        f"{type(steps).__name__})")
    steps = steps.__index__()
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    default = dtypes.default_complex() if complex in (type(start), type(end)) else None
    kind = _type(dtype, out.dtype if out is not None else default)
    if default is not None and dtype is not None and not kind.is_complex:
        raise RuntimeError(f"torch.{name}(): inferred dtype {dtypes.converted_name(default)} can't be safely cast to passed dtype "
                           f"{dtypes.scalar_name(kind)}")
    if kind is dtypes.bool and steps > 1:
        raise not_implemented(name + "_cpu", kind)
    if steps > 0:
        start = number_fits(start, kind)
    if steps > 1:
        end = number_fits(end, kind)
    made = call(operator, (start, end, extra(start, end, steps, kind), steps, kind, _device(device)))
    return _finish(made, requires_grad) if out is None else _out(name, made, out, requires_grad, dtype)


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """``steps`` numbers at equal distances from ``start`` to ``end``, both included.

    >>> torch.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _spaced("linspace", ops.linspace_of, start, end, steps, _step, out, dtype, layout, device, requires_grad)


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """``base`` to the powers ``linspace(start, end, steps)``.

    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    return _spaced("logspace", ops.logspace_of, start, end, steps, lambda *_: float(base), out, dtype, layout, device, requires_grad)


def range(start, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Like `arange`, with ``end`` included; always of the default float type unless ``dtype`` says otherwise."""
    sites.warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's "
               "range builtin. Instead, use torch.arange, which produces values in [start, end).")
    if end is None:
        start, end = 0, start
    start, end, step = map(as_double, (start, end, step))
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if start != end and (step > 0) != (end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int((end - start) / step + 1)
    kind = _type(dtype)
    if kind.category in (0, 3):
        raise not_implemented("range_cpu", kind)
    made = arange(0, count, 1, dtype=dtypes.int64, device=device or devices.cpu)                    # not the chosen one
    made = (made.to(dtypes.float64) * step + start).to(kind)
    return _finish(made, requires_grad) if out is None else _out("range", made, out, requires_grad, dtype)


FUNCTIONS = {f.__name__: f for f in (linspace, logspace, range)}
