"""`make_tensor`: random tensors of every dtype, for tests. May not know: how numbers are drawn."""
import math
import warnings
from collections.abc import Sequence

import jtensor


def _bounds(dtype, low, high):
    """The interval to draw from, within what the dtype has. ValueError for one that is empty or outside."""
    whole = not (dtype.is_floating_point or dtype.is_complex)
    if dtype is jtensor.bool:
        lowest, end, defaults = 0, 2, (0, 2)
    elif whole:
        info = jtensor.iinfo(dtype)
        lowest, end, defaults = info.min, info.max + (dtype is not jtensor.int64), (-9, 10)
    else:
        info = jtensor.finfo(dtype)
        lowest, end, defaults = info.min, info.max, (-9, 9)
    low, high = (default if given is None else given for given, default in zip((low, high), defaults))
    if any(isinstance(x, float) and math.isnan(x) for x in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low == high and not whole:
        warnings.warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 and will "
                      "be removed in 2.3. Use `torch.full(...)` instead.", FutureWarning, stacklevel=3)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < lowest or low >= end:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
                         f"[{lowest}, {end})")
    low, high = (min(max(x, lowest), end) for x in (low, high))
    return (math.ceil(low), math.ceil(high)) if whole else (low, high)


def _filled(made, low, high):
    """Uniform numbers, also of an interval that is wider than the largest number."""
    if high - low >= jtensor.finfo(made.dtype).max:
        made.uniform_(low / 2, high / 2).mul_(2)
    else:
        made.uniform_(low, high)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
                memory_format=None):
    """A tensor of random numbers of ``[low, high)``, by default about zero: PyTorch's, for the same seed.

    ``noncontiguous``: every second number of a larger one, along the last dimension. ``exclude_zero``: the smallest positive number
    stands for zeros. Raises ValueError for an interval that the dtype does not have, and for options that exclude each other.

    >>> torch.testing.make_tensor(3, 2, dtype=torch.int64, device="cpu", low=4, high=5)
    tensor([[4, 4],
            [4, 4],
            [4, 4]])
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    shape, whole = tuple(shape), not (dtype.is_floating_point or dtype.is_complex)
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
                         f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}")
    if requires_grad and whole:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    low, high = _bounds(dtype, low, high)
    if whole:
        result = jtensor.randint(low, high, shape, device=device, dtype=dtype)
    else:
        narrow = dtype.itemsize == 1
        result = jtensor.empty(shape, device=device, dtype=jtensor.float32 if narrow else dtype)
        _filled(jtensor.view_as_real(result) if dtype.is_complex else result, low, high)
        result = result.to(dtype) if narrow else result
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if whole else jtensor.finfo(dtype).tiny
    if not whole:
        result.requires_grad = requires_grad
    return result
