"""What masked functions share: the mask as it is taken, dimensions, and what stands in the place of a masked-out element.

Owns: these, with PyTorch's errors. May not know: the functions.
"""
import sys

import jtensor


def mask_of(input, mask):
    """The mask as truth values in the input's shape and layout; None for none. A sparse one lets nothing through where it has no
    element."""
    if mask is None:
        return None
    if input.layout not in (jtensor.strided, jtensor.sparse_coo, jtensor.sparse_csr):
        raise ValueError(f"_input_mask expects strided or sparse COO or sparse CSR tensor but got {input.layout}")
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    if mask.layout is not input.layout or mask.shape != input.shape:
        mask = in_layout(_dense(mask).broadcast_to(input.shape), input) if mask.shape != input.shape else in_layout(mask, input)
    mask = mask.coalesce() if mask.layout is jtensor.sparse_coo else mask
    if mask.dtype is not jtensor.bool:
        mask = mask.ne(0) if mask.layout is jtensor.strided else mask.to(dtype=jtensor.bool)
    return mask


def _dense(mask):
    return mask if mask.layout is jtensor.strided else mask.to_dense()


def in_layout(mask, input):
    """A mask in the layout of the input."""
    if mask.layout is input.layout:
        return mask
    if input.layout is jtensor.strided:
        return mask.to_dense()
    if input.layout is jtensor.sparse_csr:
        return mask.to_sparse_csr()
    return mask.to_sparse(input.sparse_dim()) if mask.layout is jtensor.strided else mask.to_sparse()


def filled(input, mask, value):
    """The input with ``value`` where the mask is False; of a masked tensor, which has its own mask, an ordinary tensor."""
    if is_masked(input):
        from .maskedtensor.combining import combined
        return combined(input, value)
    mask = mask_of(input, mask)
    return input if mask is None else replaced(mask, input, value)


def replaced(mask, input, value):
    """The input with ``value`` where a mask of its shape and layout is False; of a sparse one, the elements that the mask lets through."""
    if mask.layout is jtensor.sparse_coo:
        return coo_where(mask, input, value)
    if mask.layout is jtensor.sparse_csr:
        return csr_where(mask, input, value)
    return jtensor.where(mask, input, jtensor.full((), value, dtype=input.dtype, device=input.device))


def is_masked(input):
    """Whether this is a masked tensor; there is none before their room is named."""
    room = sys.modules.get("jtensor.masked.maskedtensor.core")
    return room is not None and room.is_masked_tensor(input)


def coo_where(mask, input, value):
    """The elements that a sparse mask lets through: the input's, 0 where it has none; ``value`` where the mask lets part of one through."""
    there = rows = mask.values()
    for dim in range(input.sparse_dim(), 0, -1) if mask.dense_dim() else ():       # as PyTorch counts them, which fits where both are one
        rows = rows.any(dim=dim)
    at = mask.indices()[:, rows]
    found = input.coalesce().sparse_mask(pattern_of(at, input)).values()
    if mask.dense_dim():
        found = jtensor.where(there[rows], found, value)
    return jtensor.sparse_coo_tensor(at, found, input.shape, is_coalesced=True)


def pattern_of(at, like):
    """A sparse tensor with elements at these places, in order, and the shape of another."""
    values = jtensor.ones((at.shape[1], *like.shape[at.shape[0]:]), dtype=like.dtype, device=like.device)
    return jtensor.sparse_coo_tensor(at, values, like.shape, is_coalesced=True)


def csr_where(mask, input, value):
    """The same of tensors in the layout CSR."""
    return coo_where(mask.to_sparse_coo(), input.to_sparse_coo(), value).to_sparse_csr()


def dims_of(input, dim):
    """The dimensions that are meant, from the front: all for None; each once."""
    count = max(input.ndim, 1)
    if dim is None:
        return tuple(range(input.ndim))
    found = []
    for one in (dim if isinstance(dim, (tuple, list)) else (dim,)):
        if not -count <= one < count:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {one})")
        if one % count in found:
            raise RuntimeError(f"dim={one % count} appears multiple times in the list of dims")
        found.append(one % count)
    return tuple(sorted(found))


def summed_dtype(input, dtype):
    """What sums and products are in: int64 for integers and truth values."""
    if dtype is not None:
        return dtype
    return input.dtype if input.is_floating_point() or input.is_complex() else jtensor.int64


def lowest(name, input, mask):
    """The number that no other is below; without a mask none is wanted, and there is none of truth values."""
    return _end(name, input, mask, "-inf", "min")


def highest(name, input, mask):
    """The number that no other is above."""
    return _end(name, input, mask, "inf", "max")


def _end(name, input, mask, infinite, end):
    dtype = input.dtype
    if mask is None or dtype.is_floating_point or dtype.is_complex and name == "logsumexp":
        return float(infinite)
    if dtype is jtensor.bool:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    return getattr(jtensor.iinfo(dtype), end)


def counted(input, dims, mask, keepdim):
    """How many elements each result is made of."""
    mask = mask_of(input, mask)
    if mask is None:
        mask = jtensor.ones(input.shape, dtype=jtensor.bool, device=input.device)
    return mask.sum(dims, keepdim=bool(keepdim))
