"""Functions of sparse tensors that move elements: transposes, pieces, joins.

Owns: these entries of the table, with their gradients. May not know: arithmetic.
"""
import numpy as np

import jtensor

from ..tensor.creating.from_data import from_host
from .answering import answers
from .graph import assembled, at_places, coalesced, recorded, wants
from .patterns import Pattern
from .refusals import refused
from .tensors import is_sparse, sparse


def _dim(x, dim, extra=0):
    n = x.ndim + extra
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def _permuted(x, dims, name, back):
    count = x._pattern.sparse_dim
    if any(d < count for d in dims[count:]):
        raise RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only transpositions "
                           "within sparse and dense dimensions are supported.")
    order = dims[:count]
    pattern = x._pattern
    if order != list(range(count)):
        pattern = Pattern(pattern.indices.index_select(0, jtensor.tensor(order)), [pattern.size[d] for d in order])
    values = x._elements
    if dims[count:] != list(range(count, len(dims))):
        values = values.permute(0, *[d - count + 1 for d in dims[count:]])
    made = sparse(pattern, values)
    made._coalesced = x._coalesced and (pattern is x._pattern or not x._nnz())
    return recorded(name, made, [x], lambda g: (back(g),))


def _swapped(x, a, b, name):
    dims = list(range(x.ndim))
    dims[a], dims[b] = dims[b], dims[a]
    return _permuted(x, dims, name, lambda g: g.transpose(a, b))


@answers("T")
def reversed_dims(input):
    return permute(input, list(range(input.ndim))[::-1])


@answers("mT")
def last_two(input):
    return transpose(input, -2, -1)


@answers("H", "mH", "adjoint")
def adjoint(input):
    """The conjugate of the transpose."""
    return transpose(input, -2, -1).conj()


@answers("t")
def t(input, name="t"):
    """The transpose."""
    if is_sparse(input) and (input._pattern.sparse_dim > 2 or input._elements.ndim > 1):
        raise RuntimeError(f"{name}() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input._pattern.sparse_dim} sparse "
                           f"and {input._elements.ndim - 1} dense dimensions")
    if input.ndim < 2:
        return _permuted(input, list(range(input.ndim)), "TBackward0", lambda g: g)
    return _swapped(input, 0, 1, "TBackward0")


@answers("swapaxes")
def swapaxes(input, axis0, axis1):
    return transpose(input, axis0, axis1)


@answers("transpose", "swapdims")
def transpose(input, dim0, dim1):
    a, b, count = _dim(input, dim0), _dim(input, dim1), input._pattern.sparse_dim
    if max(a, b) >= count:
        raise RuntimeError(f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {count}, d0: {a}, d1: {b}")
    return _swapped(input, a, b, "TransposeBackward0")


@answers("permute")
def permute(input, *order, dims=None):
    """The dimensions in another order, sparse ones among themselves."""
    if dims is None:
        dims = order[0] if len(order) == 1 and not isinstance(order[0], int) else order
    dims = list(dims)
    if len(dims) != input.ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
                           f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(dims)}")
    dims = [_dim(input, d) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted(input, dims, "PermuteBackward0", lambda g: g.permute([dims.index(d) for d in range(len(dims))]))


@answers("unsqueeze")
def unsqueeze(input, dim):
    """A dimension of length one more."""
    dim, count, pattern = _dim(input, dim, 1), input._pattern.sparse_dim, input._pattern
    if dim <= count:
        line = jtensor.zeros((1, pattern.nnz), dtype=jtensor.int64)
        indices = jtensor.cat([pattern.indices[:dim], line, pattern.indices[dim:]])
        made = sparse(Pattern(indices, [*pattern.size[:dim], 1, *pattern.size[dim:]]), input._elements)
    else:
        made = sparse(pattern, input._elements.unsqueeze(dim - count + 1))
    return recorded("UnsqueezeBackward0", made, [input], lambda g: (g.sum(dim),))


# -- pieces ------------------------------------------------------------------------------------------------------------


def _kept(x, keep, rows, size, back, name, coalesced_too):
    """The elements at the positions ``keep`` (an ndarray), at the new ``rows`` of indices.

    ``back``: where new indices were before; a gradient is put there, from each place once, however many elements fall on it.
    """
    pattern, origin = Pattern(from_host(rows), size), x._pattern.size
    made = sparse(pattern, x._elements.index_select(0, from_host(keep)))
    made._coalesced = made._coalesced if coalesced_too is None else coalesced_too

    def pull(grad):
        merged = pattern.merged()
        return (assembled(Pattern(from_host(back(merged.host().copy())), origin), at_places(grad, merged)),)
    return recorded(name, made, [x], pull)


@answers("select")
def select(input, dim, index):
    """What lies at one index of a dimension."""
    return _select(input, dim, index)


def _select(x, dim, index):
    dim, index = _dim(x, dim), int(index)
    length, count = x.shape[dim], x._pattern.sparse_dim
    if not -length <= index < length:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {dim}")
    index %= length
    if dim >= count:
        made = sparse(x._pattern, x._elements.select(dim - count + 1, index), x._coalesced)

        def pull(grad):
            merged = x._pattern.merged()
            zeros = x._elements.new_zeros((merged.nnz, *x.shape[count:]))
            return (assembled(merged, zeros.select_scatter(at_places(grad, merged), dim - count + 1, index), True),)
        return recorded("SelectBackward0", made, [x], pull)
    x = coalesced(x) if count == 1 else x
    host = x._pattern.host()
    keep = np.flatnonzero(host[dim] == index)
    if count == 1:                                                  # nothing sparse is left
        values = x._elements.index_select(0, from_host(keep)).sum(0).to(x.dtype)
        pattern = x._pattern

        def of_one(grad):
            at = Pattern(pattern.indices.index_select(1, from_host(keep)), pattern.size)
            return (assembled(at, grad[None].expand(len(keep), *grad.shape), True),)
        return recorded("SelectBackward0", values, [x], of_one)
    rows = np.delete(host[:, keep], dim, 0)
    return _kept(x, keep, rows, [n for d, n in enumerate(x._pattern.size) if d != dim], lambda lines: np.insert(lines, dim, index, 0),
                 "SelectBackward0", None)


@answers("narrow_copy")
def narrow_copy(input, dim, start, length):
    """A range of indices of a dimension."""
    if not 0 <= dim < input.ndim:
        raise RuntimeError(f"Dimension {dim} out of range. Expecting 0 <= dim < {input.ndim}.")
    count = input._pattern.sparse_dim
    if start < 0 or length < 0 or start + length > input.shape[dim]:
        raise RuntimeError("Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
                           f"{input.shape[dim]}).")
    if dim >= count:
        return _of_dense_dim(input, lambda v: v.narrow(dim - count + 1, start, length).contiguous(), "NarrowCopyBackward0")
    host = input._pattern.host()
    keep = np.flatnonzero((host[dim] >= start) & (host[dim] < start + length))
    rows = host[:, keep].copy()
    rows[dim] -= start
    size = [length if d == dim else n for d, n in enumerate(input._pattern.size)]
    return _kept(input, keep, rows, size, lambda lines: _mapped(lines, dim, lambda line: line + start), "NarrowCopyBackward0",
                 input._coalesced)


def _mapped(lines, dim, function):
    lines[dim] = function(lines[dim])
    return lines


def _of_dense_dim(x, function, name):
    if not wants(x):
        return sparse(x._pattern, function(x._elements), x._coalesced)
    from .graph import elements_of
    x = coalesced(x)
    return assembled(x._pattern, function(elements_of(x)), True, name)


@answers("index_select")
def index_select(input, dim, index, *, out=None):
    """The entries of a dimension that ``index`` names, in its order."""
    dim, count = _dim(input, dim), input._pattern.sparse_dim
    if index.ndim != 1 or index.layout is not jtensor.strided or index.dtype is not jtensor.int64:
        raise IndexError("index_select() argument index must be 1-D strided (non-sparse) long-tensor.")
    if dim >= count:
        return _of_dense_dim(input, lambda v: v.index_select(dim - count + 1, index), "IndexSelectBackward0")
    host, wanted = input._pattern.host(), np.asarray(index.detach().reshape(-1).tolist(), np.int64)
    length = input.shape[dim]
    outside = (wanted < -length) | (wanted >= length)
    if outside.any():
        raise IndexError(f"index_select(): index contains {wanted[outside][0]} that is out of range for tensor of size "
                         f"{list(input.shape)} at dimension {dim}")
    wanted = np.where(wanted < 0, wanted + length, wanted)
    by_line = np.argsort(host[dim], kind="stable")
    lines = host[dim][by_line]
    begins, ends = np.searchsorted(lines, wanted), np.searchsorted(lines, wanted, "right")
    lengths = ends - begins
    keep = by_line[np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(begins, lengths)]
    rows = host[:, keep].copy()
    rows[dim] = np.repeat(np.arange(len(wanted)), lengths)
    size = [len(wanted) if d == dim else n for d, n in enumerate(input._pattern.size)]
    return _kept(input, keep, rows, size, lambda lines: _mapped(lines, dim, lambda line: wanted[line]), "IndexSelectBackward0", None)


@answers("unbind", "__iter__")
def unbind(input, dim=0):
    return tuple([_select(input, dim, at) for at in range(input.shape[_dim(input, dim)])])


@answers("__getitem__")
def getitem(input, index):
    """Integers, ``None``, ``:`` and ``...``; a range of indices has no kernel."""
    index = index if isinstance(index, tuple) else (index,)
    if not is_sparse(input) or any(isinstance(i, (jtensor.Tensor, list, np.ndarray)) for i in index):
        raise refused("index.Tensor", (input, *index))
    return walked(input, index)


def walked(input, index):
    """What lies at integers; ``None``, ``:`` and ``...`` beside them."""
    if Ellipsis in index:
        at = index.index(Ellipsis)
        named = sum(i is not None and i is not Ellipsis for i in index)
        index = (*index[:at], *[slice(None)] * (input.ndim - named), *index[at + 1:])
    dim, named, total = 0, 0, input.ndim                  # where the next one goes, and which dimension that was at first
    for one in index:
        if one is None:
            input, dim = input.unsqueeze(dim), dim + 1
        elif isinstance(one, slice):
            if one != slice(None) and one.indices(input.shape[dim]) != (0, input.shape[dim], 1):
                input.narrow(dim, 0, 1)                                        # which has no kernel, as a range has none
            dim, named = dim + 1, named + 1
        else:
            if dim >= input.ndim:
                raise IndexError(f"too many indices for tensor of dimension {total}")
            if isinstance(one, int) and not -input.shape[dim] <= one < input.shape[dim]:
                raise IndexError(f"index {one} is out of bounds for dimension {named} with size {input.shape[dim]}")
            input, named = input.select(dim, one), named + 1
    return input


@answers("__setitem__")
def setitem(input, index, value):
    if is_sparse(input):
        raise TypeError("Cannot assign to a sparse tensor")
    raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                       f"{input.type()} and src type = {value.type()}")


# -- joins -------------------------------------------------------------------------------------------------------------


@answers("cat", "concat", "concatenate")
def cat(tensors, dim=0, *, out=None):
    """Sparse tensors side by side."""
    for at, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {at}.")
    first = tensors[0]
    dim, count = _dim(first, dim), first._pattern.sparse_dim
    for at, x in enumerate(tensors):
        if x.ndim != first.ndim or any(a != b for d, (a, b) in enumerate(zip(first.shape, x.shape, strict=True)) if d != dim):
            raise RuntimeError(f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), but "
                               f"found shape: {list(x.shape)} at position {at}.")
        if x._pattern.sparse_dim != count:
            raise RuntimeError(f"All tensors must have the same sparse_dim and dense_dim: {count}, {first.dense_dim()}, but tensor at "
                               f"position {at} has {x._pattern.sparse_dim}, {x.dense_dim()}.")
    kind = jtensor.result_type(first, first)
    for x in tensors[1:]:
        kind = jtensor.promote_types(kind, x.dtype)
    starts = np.cumsum([0, *[x.shape[dim] for x in tensors]]).tolist()
    if dim < count:
        size = [starts[-1] if d == dim else n for d, n in enumerate(first._pattern.size)]
        shifts = [jtensor.tensor([[s if d == dim else 0] for d in range(count)]) for s in starts]
        indices = jtensor.cat([x._pattern.indices + shift for x, shift in zip(tensors, shifts, strict=False)], 1)
        made = sparse(Pattern(indices, size), jtensor.cat([x._elements.to(kind) for x in tensors]), False)
    else:
        values = []
        for x, start in zip(tensors, starts, strict=False):
            before, after = list(x._elements.shape), list(x._elements.shape)
            before[dim - count + 1], after[dim - count + 1] = start, starts[-1] - start - x.shape[dim]
            zeros = x._elements.new_zeros
            values.append(jtensor.cat([zeros(before), x._elements, zeros(after)], dim - count + 1).to(kind))
        made = sparse(Pattern(jtensor.cat([x._pattern.indices for x in tensors], 1), first._pattern.size), jtensor.cat(values), False)

    def pull(grad):
        return [_piece(grad, x, dim, start) if wants(x) else None for x, start in zip(tensors, starts, strict=False)]
    return recorded("CatBackward0", made, list(tensors), pull)


def _piece(grad, x, dim, start):
    return grad.narrow_copy(dim, start, x.shape[dim]) if is_sparse(grad) else grad.narrow(dim, start, x.shape[dim])


@answers("vstack", "row_stack")
def vstack(tensors, *, out=None):
    return cat(tensors, 0)


@answers("hstack")
def hstack(tensors, *, out=None):
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


@answers("movedim", "moveaxis")
def movedim(input, source, destination):
    source, destination = ([x] if isinstance(x, int) else list(x) for x in (source, destination))
    source, destination = [_dim(input, d) for d in source], [_dim(input, d) for d in destination]
    rest = iter([d for d in range(input.ndim) if d not in source])
    return permute(input, [source[destination.index(d)] if d in destination else next(rest) for d in range(input.ndim)])


@answers("stack")
def stack(tensors, dim=0, *, out=None):
    for at, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {at}.")
        if x.shape != tensors[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                               f"{list(x.shape)} at entry {at}")
    return cat([x.unsqueeze(dim) for x in tensors], dim)


@answers("reshape", "flatten", "einsum", "tensordot", "inner", "unflatten")
def reshape(*args, **kwargs):
    raise RuntimeError("reshape is not implemented for sparse tensors")


@answers("expand", "repeat", "broadcast_to", "tile")
def expand(*args, **kwargs):
    raise RuntimeError("expand is unsupported for Sparse tensors")
