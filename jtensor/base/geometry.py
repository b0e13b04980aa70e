"""Geometry of strided memory: size, stride and offset as plain tuples, counted in elements.

This room owns the questions that can be answered from a geometry alone: how large, how dense, in what order,
does it overlap itself or another one.  Every answer is the one PyTorch computes, with its quirks at sizes 0 and 1,
because users can see it (``stride()``, ``is_contiguous()``, "Please clone() the tensor ...").

It knows nothing of tensors, storages, dtypes or arrays.
"""

from __future__ import annotations

import math

NO = "no"
YES = "yes"
FULL = "full"
PARTIAL = "partial"
TOO_HARD = "too_hard"

Ints = tuple[int, ...]


def numel(size: Ints) -> int:
    """Number of elements.

    >>> numel((2, 3)), numel(()), numel((4, 0))
    (6, 1, 0)
    """
    return math.prod(size)


def contiguous_strides(size: Ints) -> Ints:
    """Strides of a fresh tensor: the last dimension moves fastest; a size of 0 counts as 1.

    >>> contiguous_strides((2, 3, 4)), contiguous_strides((2, 0, 4))
    ((12, 4, 1), (4, 4, 1))
    """
    strides = []
    step = 1
    for length in reversed(size):
        strides.append(step)
        step *= length if length > 1 else 1
    return tuple(reversed(strides))


# ---------------------------------------------------------------------------------------------- memory formats

_CHANNELS_LAST = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}


def _dense_in_order(size: Ints, stride: Ints, order) -> bool:
    """Do the dimensions of ``order`` (fastest first) follow each other without a gap?  Size 1 may have any stride."""
    expected = 1
    for dim in order:
        if size[dim] != 1:
            if stride[dim] != expected:
                return False
            expected *= size[dim]
    return True


def is_contiguous(size: Ints, stride: Ints) -> bool:
    """Row-major without gaps; whatever has no elements is contiguous.

    >>> is_contiguous((2, 1), (1, 99)), is_contiguous((2, 3), (1, 2))
    (True, False)
    """
    return 0 in size or _dense_in_order(size, stride, range(len(size) - 1, -1, -1))


def is_channels_last(size: Ints, stride: Ints) -> bool:
    """``is_contiguous(memory_format=torch.channels_last)``: N, H, W, C in memory."""
    return len(size) == 4 and _dense_in_order(size, stride, _CHANNELS_LAST[4])


def is_channels_last_3d(size: Ints, stride: Ints) -> bool:
    """``is_contiguous(memory_format=torch.channels_last_3d)``: N, D, H, W, C in memory."""
    return len(size) == 5 and _dense_in_order(size, stride, _CHANNELS_LAST[5])


def channels_last_strides(size: Ints) -> Ints:
    """Strides of a fresh channels-last tensor of 4 or 5 dimensions (here a size of 0 counts as 0).

    >>> channels_last_strides((2, 3, 4, 5))
    (60, 1, 15, 3)
    """
    strides = [0] * len(size)
    step = 1
    for dim in _CHANNELS_LAST[len(size)]:
        strides[dim] = step
        step *= size[dim]
    return tuple(strides)


def strides_in_format(size: Ints, wanted) -> Ints | None:
    """Strides of a tensor made in a ``torch.memory_format``; None where that says nothing (``preserve_format``, or no format).

    >>> strides_in_format((2, 3, 4, 5), "torch.channels_last"), strides_in_format((2, 3), "torch.preserve_format")
    ((60, 1, 15, 3), None)
    """
    name = str(wanted).rpartition(".")[2]
    rank = {"channels_last": 4, "channels_last_3d": 5}.get(name)
    if rank is None:
        return contiguous_strides(size) if name == "contiguous_format" else None
    if len(size) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {name} format")
    return channels_last_strides(size)


def looks_channels_last(size: Ints, stride: Ints) -> bool:
    """Do the strides *suggest* channels last (what ``suggest_memory_format`` asks)?  Gaps are allowed; ties go to row-major.

    A stride of 0 on the channels, and strides that are equally well row-major (N111 and 1C11 tensors), say no.
    """
    order = _CHANNELS_LAST.get(len(size))
    if order is None or stride[1] == 0:
        return False
    least = 0
    for dim in order:
        if size[dim] == 0 or stride[dim] < least:
            return False
        if dim == 0 and least == stride[1]:
            return False
        least = stride[dim] * size[dim] if size[dim] > 1 else stride[dim]
    return True


def is_non_overlapping_and_dense(size: Ints, stride: Ints) -> bool:
    """Some order of the dimensions is contiguous: every cell of the stretch from first to last is met exactly once.

    >>> is_non_overlapping_and_dense((2, 3), (1, 2)), is_non_overlapping_and_dense((2, 3), (4, 1))
    (True, False)
    """
    if 0 in size:
        return True
    expected = 1
    for step, length in sorted((t, s) for s, t in zip(size, stride, strict=True) if s > 1):
        if step != expected:
            return False
        expected *= length
    return True


# -------------------------------------------------------------------------------------------------- overlap

def has_internal_overlap(size: Ints, stride: Ints) -> str:
    """``"no"``, ``"yes"`` or ``"too_hard"``: may two positions of the view be one cell?  In-place writes refuse ``"yes"``.

    Only expanded dimensions are recognised; anything else that is not dense is too hard to tell, and let through.

    >>> has_internal_overlap((3, 4), (0, 1)), has_internal_overlap((3, 2), (4, 1))
    ('yes', 'too_hard')
    """
    if is_non_overlapping_and_dense(size, stride):
        return NO
    for length, step in zip(size, stride, strict=True):
        if step == 0 and length > 1:
            return YES
    return TOO_HARD


def overlap_between(size_a: Ints, stride_a: Ints, offset_a: int, size_b: Ints, stride_b: Ints, offset_b: int,
                    bytes_a: int = 1, bytes_b: int = 1) -> str:
    """``"full"``, ``"partial"``, ``"no"`` or ``"too_hard"`` for two views of one storage, whose elements take so many bytes.

    Written-to against read: ``"partial"`` is refused.  (Being the very same tensor is ``"full"`` before any of this.)

    >>> overlap_between((3,), (1,), 0, (3,), (1,), 1), overlap_between((3,), (1,), 0, (3,), (1,), 3)
    ('partial', 'no')
    """
    count_a, count_b = math.prod(size_a), math.prod(size_b)
    if count_a == 0 or count_b == 0:
        return NO
    if not (is_non_overlapping_and_dense(size_a, stride_a) and is_non_overlapping_and_dense(size_b, stride_b)):
        return TOO_HARD
    begin_a, end_a = offset_a * bytes_a, (offset_a + count_a) * bytes_a
    begin_b, end_b = offset_b * bytes_b, (offset_b + count_b) * bytes_b
    if begin_a == begin_b and end_a == end_b:
        return FULL if tuple(stride_a) == tuple(stride_b) else PARTIAL
    return PARTIAL if begin_a < end_b and begin_b < end_a else NO


def is_injective(size: Ints, stride: Ints) -> bool:
    """Can it be proved cheaply that no two positions share a cell?  (Stricter than PyTorch's question; for our scatters.)"""
    reach = 0
    for step, length in sorted((t, s) for s, t in zip(size, stride, strict=True) if s > 1):
        if step <= reach:
            return False
        reach += step * (length - 1)
    return True


def extent(size: Ints, stride: Ints, offset: int = 0) -> int:
    """Storage elements that the view needs: one past its last cell, offset included; 0 where it has no elements.

    >>> extent((2, 3), (3, 1)), extent((2, 3), (1, 2), 4), extent((0, 3), (3, 1), 4)
    (6, 10, 0)
    """
    if 0 in size:
        return 0
    return offset + 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))


# ------------------------------------------------------------------------------------------- order of dimensions

def fastest_first(size: Ints, strides: tuple[Ints, ...]) -> list[int]:
    """Dimensions sorted by stride, fastest first, as PyTorch's iterators sort them.

    The order is an insertion sort with an *ambiguous* answer (a stride of 0 says nothing), so it is not a sort by any key:
    ambiguous neighbours are looked past.  The first operand of ``strides`` with an opinion decides; equal strides put
    the longer dimension outside.
    """
    rank = len(size)
    order = list(range(rank - 1, -1, -1))

    def outranks(inner: int, outer: int) -> int:
        for stride in strides:
            a, b = stride[inner], stride[outer]
            if a == 0 or b == 0:
                continue
            if a != b:
                return -1 if a < b else 1
            if size[inner] > size[outer]:
                return 1
        return 0

    for start in range(1, rank):
        at = start
        for below in range(start - 1, -1, -1):
            verdict = outranks(order[below], order[at])
            if verdict > 0:
                order[below], order[at] = order[at], order[below]
                at = below
            elif verdict < 0:
                break
    return order


def _packed(size: Ints, order) -> Ints:
    strides = [0] * len(size)
    step = 1
    for dim in order:
        strides[dim] = step
        if size[dim] > 1:
            step *= size[dim]
    return tuple(strides)


def memory_order(size: Ints, stride: Ints) -> Ints:
    """The permutation that lists dimensions slowest first, as PyTorch walks the memory of one tensor.

    >>> memory_order((2, 3), (3, 1)), memory_order((2, 3), (1, 2))
    ((0, 1), (1, 0))
    """
    return tuple(reversed(fastest_first(size, (stride,))))


def infer_dense_strides(size: Ints, stride: Ints) -> Ints:
    """Strides of ``empty_like(x)`` (``preserve_format``): a dense tensor keeps its own, any other keeps its order, packed.

    >>> infer_dense_strides((2, 3), (1, 2)), infer_dense_strides((2, 3), (1, 10)), infer_dense_strides((2, 3), (0, 1))
    ((1, 2), (1, 2), (3, 1))
    """
    if is_non_overlapping_and_dense(size, stride):
        return tuple(stride)
    return _packed(size, fastest_first(size, (stride,)))


def expand_strides(size: Ints, stride: Ints, new_size: Ints) -> Ints | None:
    """Strides after expanding to ``new_size`` (no -1 in it), or None where a size is neither equal nor 1.

    >>> expand_strides((3, 1), (1, 1), (2, 3, 4)), expand_strides((3,), (1,), (4,))
    ((0, 1, 0), None)
    """
    missing = len(new_size) - len(size)
    if missing < 0:
        return None
    if not size:
        return (0,) * len(new_size)
    strides = [0] * len(new_size)
    for dim in range(len(new_size) - 1, -1, -1):
        own = dim - missing
        if own >= 0:
            length, step = size[own], stride[own]
        else:
            # A new leading dimension of size 1 goes on counting from the one behind it, as PyTorch's does.
            length, step = 1, new_size[dim + 1] * strides[dim + 1]
        if length == new_size[dim]:
            strides[dim] = step
        elif length != 1:
            return None
    return tuple(strides)
