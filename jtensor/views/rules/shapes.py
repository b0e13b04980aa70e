"""Rules that change a shape: ``view``, ``reshape``, ``flatten``, ``expand``, ``as_strided``.

Where PyTorch answers with a view or, failing that, a copy (``reshape``, ``flatten``, ``unflatten``, ``ravel``), the rule answers with
the geometry, or with stride None: copy, then.
"""

from __future__ import annotations

import math

from ...base.geometry import contiguous_strides, expand_strides, is_contiguous
from .dims import wrap_dim

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints, int]
MaybeGeometry = tuple[Ints, Ints | None, int]

_MSG_NO_VIEW = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
    "subspaces). Use .reshape(...) instead."
)
# What PyTorch trips over when a negative size gets past its checks.
_MSG_NEGATIVE = "numel: integer multiplication overflow"
_LEGACY_NAMES = {"Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"}


# ------------------------------------------------------------------------------------------------- view, reshape

def infer_size(shape: Ints, count: int) -> Ints:
    """The shape with its -1 filled in so that it holds ``count`` elements.

    >>> infer_size((2, -1), 6)
    (2, 3)
    """
    known, open_at = 1, None
    for at, length in enumerate(shape):
        if length == -1:
            if open_at is not None:
                raise RuntimeError("only one dimension can be inferred")
            open_at = at
        elif length >= 0:
            known *= length
        else:
            raise RuntimeError(f"invalid shape dimension {length} at index {at} of shape {list(shape)}")
    if open_at is None:
        if known == count:
            return tuple(shape)
    elif known > 0 and count % known == 0:
        return (*shape[:open_at], count // known, *shape[open_at + 1 :])
    elif known == 0 and count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can be any "
            "value and is ambiguous"
        )
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")


def compute_view_strides(size: Ints, stride: Ints, new_size: Ints) -> Ints | None:
    """Strides that show the same elements in the same order as ``new_size`` (no -1), or None where there are none.

    The old dimensions fall into blocks that are each contiguous in memory; a new dimension must stay inside one block.

    >>> compute_view_strides((2, 3), (3, 1), (6,)), compute_view_strides((2, 3), (1, 2), (6,))
    ((1,), None)
    """
    if not size:
        return (1,) * len(new_size)
    if 0 in size:
        return tuple(stride) if tuple(size) == tuple(new_size) else contiguous_strides(new_size)
    new_stride = [0] * len(new_size)
    at = len(new_size) - 1
    pace = stride[-1]
    block = filled = 1
    for dim in range(len(size) - 1, -1, -1):
        block *= size[dim]
        if dim == 0 or (size[dim - 1] != 1 and stride[dim - 1] != block * pace):
            while at >= 0 and (filled < block or new_size[at] == 1):
                new_stride[at] = filled * pace
                filled *= new_size[at]
                at -= 1
            if filled != block:
                return None
            if dim:
                pace = stride[dim - 1]
                block = filled = 1
    return tuple(new_stride) if at < 0 else None


def view(size: Ints, stride: Ints, offset: int, shape: Ints) -> Geometry:
    """``x.view(shape)``.

    >>> view((2, 3), (3, 1), 0, (-1, 2))
    ((3, 2), (2, 1), 0)
    """
    shape = infer_size(shape, math.prod(size))
    new_stride = compute_view_strides(size, stride, shape)
    if new_stride is None:
        raise RuntimeError(_MSG_NO_VIEW)
    return shape, new_stride, offset


def reshape(size: Ints, stride: Ints, offset: int, shape: Ints) -> MaybeGeometry:
    """``x.reshape(shape)``; stride None where it must copy.

    >>> reshape((2, 3), (1, 2), 0, (-1,))
    ((6,), None, 0)
    """
    shape = infer_size(shape, math.prod(size))
    new_stride = compute_view_strides(size, stride, shape)
    return (shape, None, 0) if new_stride is None else (shape, new_stride, offset)


def flatten(size: Ints, stride: Ints, offset: int, start_dim: int = 0, end_dim: int = -1) -> MaybeGeometry:
    """``x.flatten(start_dim, end_dim)``; stride None where it must copy."""
    rank = len(size)
    start, end = wrap_dim(start_dim, rank), wrap_dim(end_dim, rank)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if rank == 0:
        return reshape(size, stride, offset, (1,))
    if start == end:
        return size, stride, offset
    return reshape(size, stride, offset, (*size[:start], math.prod(size[start : end + 1]), *size[end + 1 :]))


def ravel(size: Ints, stride: Ints, offset: int) -> MaybeGeometry:
    """``x.ravel()``: a view of a contiguous tensor, else a copy (also where ``reshape(-1)`` would find a view)."""
    return reshape(size, stride, offset, (math.prod(size),)) if is_contiguous(size, stride) else ((math.prod(size),), None, 0)


def unflatten(size: Ints, stride: Ints, offset: int, dim: int, sizes: Ints) -> Geometry:
    """``x.unflatten(dim, sizes)``: always a view.

    >>> unflatten((6, 2), (2, 1), 0, 0, (-1, 3))
    ((2, 3, 2), (6, 2, 1), 0)
    """
    dim = wrap_dim(dim, len(size))
    sizes = tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    # PyTorch wraps whatever goes wrong inside, except a product that does not fit, which gets a sentence of its own.
    if not size:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    try:
        inferred = infer_size(sizes, size[dim])
    except RuntimeError as error:
        if "is invalid for input" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size[dim]}) in the input tensor"
        ) from None
    return view(size, stride, offset, (*size[:dim], *inferred, *size[dim + 1 :]))


# ------------------------------------------------------------------------------------------------------ expand

def _legacy_type(name: str) -> str:
    return f"torch.{name}Tensor" if name in _LEGACY_NAMES else f"CPU{name}Type"


def expand(size: Ints, stride: Ints, offset: int, new_size: Ints, scalar_name: str = "Float") -> Geometry:
    """``x.expand(new_size)``, ``expand_as``, ``broadcast_to``; -1 keeps a dimension.  ``scalar_name`` is the dtype's in messages.

    >>> expand((3, 1), (1, 1), 0, (2, -1, 4))
    ((2, 3, 4), (0, 1, 0), 0)
    """
    rank, new_rank = len(size), len(new_size)
    if new_rank < rank:
        raise RuntimeError(
            f"expand({_legacy_type(scalar_name)}{{{list(size)}}}, size={list(new_size)}): the number of sizes provided ({new_rank}) "
            f"must be greater or equal to the number of dimensions in the tensor ({rank})"
        )
    lengths = list(new_size)
    missing = new_rank - rank
    # The last dimension that does not fit is the one that PyTorch names.  A 0-d tensor takes any sizes as they are.
    for dim in range(new_rank - 1 if rank else -1, -1, -1):
        have = size[dim - missing] if dim >= missing else 1
        if new_size[dim] == -1:
            if dim < missing:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {dim}")
            lengths[dim] = have
        elif new_size[dim] != have and have != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({new_size[dim]}) must match the existing size ({have}) at non-singleton dimension "
                f"{dim}.  Target sizes: {list(new_size)}.  Tensor sizes: {list(size)}"
            )
    if min(lengths, default=0) < 0 and 0 not in lengths:
        raise RuntimeError(_MSG_NEGATIVE)
    return tuple(lengths), expand_strides(size, stride, tuple(lengths)), offset


# --------------------------------------------------------------------------------------------------- as_strided

def as_strided(
    offset: int, new_size: Ints, new_stride: Ints, new_offset: int | None, storage_bytes: int, itemsize: int
) -> Geometry:
    """``x.as_strided(size, stride, offset)``: any geometry that the storage can hold.  ``offset`` is x's own, the default.

    >>> as_strided(1, (2, 2), (1, 1), None, 24, 4)
    ((2, 2), (1, 1), 1)
    """
    start = offset if new_offset is None else new_offset
    if len(new_size) != len(new_stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if min(new_stride, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(new_stride)}")
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    if 0 not in new_size:
        _check_storage(new_size, new_stride, start, storage_bytes, itemsize)
    return tuple(new_size), tuple(new_stride), start


def _check_storage(size: Ints, stride: Ints, start: int, storage_bytes: int, itemsize: int) -> None:
    if any(length < 0 and pace for length, pace in zip(size, stride, strict=True)):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    needed = itemsize * (start + 1 + sum((length - 1) * pace for length, pace in zip(size, stride, strict=True)))
    if needed > storage_bytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and itemsize {itemsize} requiring a "
            f"storage size of {needed} are out of bounds for storage of size {storage_bytes}"
        )
    if min(size, default=0) < 0:
        raise RuntimeError(_MSG_NEGATIVE)
