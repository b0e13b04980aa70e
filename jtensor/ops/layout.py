"""Strides of results, as PyTorch computes them.

`pointwise` is TensorIterator's rule: the result keeps the permutation of its inputs, ambiguities are settled by the first operand that
has an opinion; `like` that of `empty_like`; `suggested` that of convolutions
and pools: channels last, or row-major. Pure functions of sizes and strides, on `base.geometry`, which knows density and order.
"""
from ..base.geometry import (
    channels_last_strides,
    contiguous_strides,
    fastest_first,
    is_channels_last,
    is_contiguous,
    is_non_overlapping_and_dense,
    looks_channels_last,
)
from ..base.geometry import infer_dense_strides as like


def broadcast_strides(size, stride, shape):
    """Strides of an operand seen in the broadcast shape (0 where it is repeated)."""
    lead = len(shape) - len(size)
    return (0,) * lead + tuple(0 if n == 1 and m != 1 else s for n, s, m in zip(size, stride, shape[lead:], strict=True))


def operand(spec):
    """(size, stride) of a tensor as a pointwise operator finds it: one with a conjugate or negative bit is copied before."""
    return tuple(spec.size), like(spec.size, spec.stride) if spec.conj or spec.neg else spec.stride


def pointwise(shape, operands, numbers=False):
    """Strides of a new result of ``shape``; operands are (size, stride) pairs in order, ``numbers`` says that there are Python numbers
    too."""
    shape = tuple(shape)
    if not numbers and all(tuple(size) == shape for size, _ in operands):
        if all(is_contiguous(shape, stride) for _, stride in operands):
            return contiguous_strides(shape)
        if all(is_channels_last(shape, stride) for _, stride in operands):
            return channels_last_strides(shape)
        first = tuple(operands[0][1])
        if all(tuple(stride) == first for _, stride in operands) and is_non_overlapping_and_dense(shape, first):
            return first
    order = fastest_first(shape, tuple(broadcast_strides(size, stride, shape) for size, stride in operands))
    strides, step = [0] * len(shape), 1
    for d in order:
        strides[d] = step
        step *= shape[d]
    if 0 in shape:
        return contiguous_strides(shape) if order == list(range(len(shape) - 1, -1, -1)) else tuple(strides)
    return tuple(strides)


def suggested(size, stride, shape):
    """Strides of a result of ``shape`` in the memory format that a tensor's geometry suggests: channels last, or None for row-major."""
    return channels_last_strides(shape) if len(shape) == len(size) and looks_channels_last(size, stride) else None


def of_all(geometries, shape):
    """Strides of tensors put together: channels last if all of them suggest that, else None."""
    strides = [suggested(size, stride, shape) for size, stride in geometries]
    return None if None in strides else strides[0]


def columns(shape):
    """Strides of what LAPACK has written: matrices column by column."""
    return (*contiguous_strides(tuple(shape))[:-2], 1, max(shape[-2], 1))


class Within(tuple):
    """Strides of a result that lies at the start of a larger memory, of ``elements`` elements: a reduction into its first argument."""

    def __new__(cls, strides, elements):
        self = super().__new__(cls, strides)
        self.elements = elements
        return self


__all__ = ["Within", "broadcast_strides", "columns", "like", "of_all", "operand", "pointwise", "suggested"]
