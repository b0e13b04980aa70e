"""Strides of results, as PyTorch computes them.

`pointwise` is TensorIterator's rule: the result keeps the permutation of its inputs, ambiguities are settled by the first operand that
has an opinion. Pure functions of sizes and strides.
"""
from ..trace.spec import contiguous_strides


def broadcast_strides(size, stride, shape):
    """Strides of an operand seen in the broadcast shape (0 where it is repeated)."""
    lead = len(shape) - len(size)
    return (0,) * lead + tuple(0 if n == 1 and m != 1 else s for n, s, m in zip(size, stride, shape[lead:], strict=True))


def pointwise(shape, operands, numbers=False):
    """Strides of a new result of ``shape``; operands are (size, stride) pairs in order, ``numbers`` says that there are Python numbers
    too."""
    shape = tuple(shape)
    if not numbers and all(tuple(size) == shape for size, _ in operands):
        if all(_contiguous(shape, stride) for _, stride in operands):
            return contiguous_strides(shape)
        first = tuple(operands[0][1])
        if all(tuple(stride) == first for _, stride in operands) and _dense(shape, first):
            return first
    order = permutation(shape, [broadcast_strides(size, stride, shape) for size, stride in operands])
    strides, step = [0] * len(shape), 1
    for d in order:
        strides[d] = step
        step *= shape[d]
    if 0 in shape:
        return contiguous_strides(shape) if order == list(range(len(shape) - 1, -1, -1)) else tuple(strides)
    return tuple(strides)


def _contiguous(size, stride):
    """Whether elements lie in their logical order; the strides of dimensions of size 1 do not matter, nor any without elements."""
    if 0 in size:
        return True
    expected = 1
    for n, s in zip(reversed(size), reversed(stride)):
        if n != 1:
            if s != expected:
                return False
            expected *= n
    return True


def _dense(size, stride):
    if 0 in size:
        return True
    expected = 1
    for s, n in sorted((s, n) for n, s in zip(size, stride, strict=True) if n > 1):
        if s != expected:
            return False
        expected *= n
    return True


def permutation(shape, strides):
    """Dimensions from the fastest to the slowest, as TensorIterator sorts them: insertion sort with ambiguous comparisons."""
    perm = list(range(len(shape) - 1, -1, -1))

    def should_swap(a, b):
        for stride in strides:
            sa, sb = stride[a], stride[b]
            if sa == 0 or sb == 0:
                continue
            if sa < sb:
                return -1
            if sa > sb:
                return 1
            if shape[a] > shape[b]:
                return 1
        return 0

    for i in range(1, len(perm)):
        at = i
        for j in range(i - 1, -1, -1):
            compared = should_swap(perm[j], perm[at])
            if compared > 0:
                perm[j], perm[at] = perm[at], perm[j]
                at = j
            elif compared < 0:
                break
    return perm


def like(size, stride):
    """Strides of `empty_like(preserve_format)`: the input's if dense, else the permutation of its strides."""
    if _dense(size, stride):
        return tuple(stride)
    return pointwise(tuple(size), [(tuple(size), tuple(stride))])
