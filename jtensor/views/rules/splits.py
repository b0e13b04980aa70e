"""Rules that answer with several views: ``chunk``, ``split``, ``tensor_split``, ``hsplit``, ``unbind``, ...

Each gives a list of geometries.
"""

from __future__ import annotations

from .dims import narrow, select, slice_, wrap_dim

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints, int]


def _runs(size: Ints, stride: Ints, offset: int, dim: int, lengths) -> list[Geometry]:
    parts, start = [], 0
    for length in lengths:
        parts.append(narrow(size, stride, offset, dim, start, length))
        start += length
    return parts


def chunk(size: Ints, stride: Ints, offset: int, chunks: int, dim: int = 0) -> list[Geometry]:
    """``x.chunk(chunks, dim)``: at most ``chunks`` equal parts, the last one shorter.

    >>> [size for size, _, _ in chunk((5,), (1,), 0, 3)]
    [(2,), (2,), (1,)]
    """
    if not size:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = wrap_dim(dim, len(size))
    if size[dim] == 0:
        return [(size, stride, offset)] * chunks
    return split(size, stride, offset, -(-size[dim] // chunks), dim)


def split(size: Ints, stride: Ints, offset: int, split_size: int | Ints, dim: int = 0) -> list[Geometry]:
    """``x.split(split_size, dim)``: parts of one length, or of the lengths in a sequence (``split_with_sizes``).

    >>> [start for _, _, start in split((5,), (1,), 0, (1, 4))]
    [0, 1]
    """
    if not size:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if not isinstance(split_size, int):
        return _split_with_sizes(size, stride, offset, list(split_size), dim)
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    dim = wrap_dim(dim, len(size))
    length = size[dim]
    if split_size == 0:
        if length:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}")
        return [(size, stride, offset)]
    full, rest = divmod(length, split_size)
    return _runs(size, stride, offset, dim, [split_size] * full + [rest] * (rest > 0 or full == 0))


def _split_with_sizes(size: Ints, stride: Ints, offset: int, lengths: list[int], dim: int) -> list[Geometry]:
    have = size[wrap_dim(dim, len(size))]
    if min(lengths, default=0) < 0:
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={lengths}")
    if sum(lengths) != have:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {have} (input tensor's size at dimension {dim}), "
            f"but got split_sizes={lengths}"
        )
    return _runs(size, stride, offset, dim, lengths)


def tensor_split(size: Ints, stride: Ints, offset: int, sections: int | Ints, dim: int = 0) -> list[Geometry]:
    """``x.tensor_split(sections, dim)``: that many parts as equal as can be, or cuts at the indices of a sequence.

    >>> [size for size, _, _ in tensor_split((5,), (1,), 0, 3)]
    [(2,), (2,), (1,)]
    """
    if not size:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = wrap_dim(dim, len(size))
    if isinstance(sections, int):
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        least, longer = divmod(size[dim], sections)
        return _runs(size, stride, offset, dim, [least + (at < longer) for at in range(sections)])
    ends = [*sections, size[dim]]
    return [slice_(size, stride, offset, dim, start, end) for start, end in zip([0, *ends], ends, strict=False)]


def _along(name: str, size: Ints, stride: Ints, offset: int, sections: int | Ints, least: int, dim: int) -> list[Geometry]:
    if len(size) < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(size)} dimensions!"
        )
    # A negative number of sections that divides gets as far as tensor_split's own complaint.
    if isinstance(sections, int) and (sections == 0 or size[dim] % sections):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {size[dim]} is not divisible by "
            f"the split_size {sections}!"
        )
    return tensor_split(size, stride, offset, sections, dim)


def hsplit(size: Ints, stride: Ints, offset: int, sections: int | Ints) -> list[Geometry]:
    """``x.hsplit(sections)``: columns of a matrix, or parts of a vector."""
    return _along("hsplit", size, stride, offset, sections, 1, 0 if len(size) == 1 else 1)


def vsplit(size: Ints, stride: Ints, offset: int, sections: int | Ints) -> list[Geometry]:
    """``x.vsplit(sections)``: rows."""
    return _along("vsplit", size, stride, offset, sections, 2, 0)


def dsplit(size: Ints, stride: Ints, offset: int, sections: int | Ints) -> list[Geometry]:
    """``x.dsplit(sections)``: parts along the third dimension."""
    return _along("dsplit", size, stride, offset, sections, 3, 2)


def unbind(size: Ints, stride: Ints, offset: int, dim: int = 0) -> list[Geometry]:
    """``x.unbind(dim)``: every slot of a dimension, and iteration over a tensor.

    >>> unbind((2, 3), (3, 1), 0)
    [((3,), (1,), 0), ((3,), (1,), 3)]
    """
    dim = wrap_dim(dim, len(size), scalars_too=False)
    return [select(size, stride, offset, dim, index) for index in range(size[dim])]
