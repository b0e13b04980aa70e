"""Reductions of sparse tensors whose masked-out elements are not among their elements any more: of the elements that there are.

Owns: these, for COO and CSR, with PyTorch's limits. May not know: masks.
"""
import jtensor

from .filling import highest, lowest

_NO_LAYOUT = "masked {} expects {} tensor (got {} tensor)"


def refuse(name, x, expected="strided"):
    """PyTorch's error for a layout that a function does not take."""
    if x.layout is not jtensor.strided:
        raise ValueError(_NO_LAYOUT.format(name, expected, x.layout))


def with_mask(name, x, mask):
    """PyTorch's error for a sparse tensor without a mask, whose missing elements would count."""
    if mask is None and x.layout is not jtensor.strided:
        raise ValueError(f"masked {name} expects explicit mask for {str(x.layout).removeprefix('torch.')} tensor input")


def reduced(name, x, dims, keepdim, dtype):
    """The reduction ``name`` of a sparse tensor over dimensions."""
    return (_of_coordinates if x.layout is jtensor.sparse_coo else _of_rows)(name, x, dims, bool(keepdim), dtype)


def _to_one(name, values):
    """Elements reduced to one, along the first dimension."""
    if not values.shape[0] and name in ("amax", "amin"):
        end = lowest if name == "amax" else highest
        return jtensor.full(values.shape[1:], end(name, values, True), dtype=values.dtype, device=values.device)
    return getattr(jtensor, name)(values, dim=0)


def _grouped(name, values, groups, count):
    """Elements reduced by groups."""
    out = values.new_empty((count, *values.shape[1:]))
    groups = groups.reshape(-1, *[1] * (values.ndim - 1)).expand(values.shape)
    return out.scatter_reduce_(0, groups, values, reduce=name, include_self=False)


def _of_coordinates(name, x, dims, keepdim, dtype):
    values, at, count = x._values().to(dtype), x._indices(), x.sparse_dim()
    size = [1 if d in dims else n for d, n in enumerate(x.shape)] if keepdim else [n for d, n in enumerate(x.shape) if d not in dims]
    inner = [d + 1 - count for d in dims if d >= count]
    if inner and name != "sum":
        return NotImplemented
    values = values.sum(inner, keepdim=keepdim) if inner else values.clone()
    gone = [d for d in dims if d < count]
    if len(gone) == count:
        values = _to_one(name, values)
        return (values.reshape([1] * count + list(values.shape)) if keepdim else values).to(dtype).to_sparse()
    if keepdim:
        at = at.clone()
        at[gone] = 0
    else:
        at = at[[d for d in range(count) if d not in gone]]
    if at.numel():
        at, groups = jtensor.unique(at, return_inverse=True, dim=1)
        wide = jtensor.float32 if dtype in (jtensor.float16, jtensor.bfloat16) else dtype
        values = _grouped(name, values.to(wide), groups, at.shape[1]).to(dtype)
    return jtensor.sparse_coo_tensor(at, values, size, dtype=dtype, device=x.device)


def _of_rows(name, x, dims, keepdim, dtype):
    if not keepdim:
        kind = RuntimeError if name in ("sum", "prod") else AssertionError
        raise kind("reduction operations on CSR tensors with keepdim=False is unsupported")
    values, rows, columns = x.values().to(dtype), x.crow_indices(), x.col_indices()
    if not dims:
        return x
    if dims == (0,):
        columns, groups = jtensor.unique(columns, return_inverse=True)
        values = _grouped(name, values, groups, columns.shape[0])
        rows, size = jtensor.tensor([0, columns.shape[0]]), [1, x.shape[1]]
    elif dims == (1,):
        if name not in ("sum", "prod") and not dtype.is_floating_point:
            kinds = {jtensor.int32: "Int", jtensor.int64: "Long", jtensor.int16: "Short", jtensor.int8: "Char", jtensor.uint8: "Byte",
                     jtensor.bool: "Bool"}
            raise NotImplementedError(f'"_segment_reduce_cpu" not implemented for \'{kinds.get(dtype, dtype)}\'')
        lengths = jtensor.diff(rows)
        there = lengths != 0
        groups = jtensor.repeat_interleave(jtensor.arange(int(there.sum())), lengths[there])
        values = _grouped(name, values, groups, int(there.sum()))
        rows = jtensor.cat([rows.new_zeros(1), there.cumsum(0)])
        columns, size = columns.new_zeros(values.shape[0]), [x.shape[0], 1]
    else:
        count = min(1, values.numel())
        values = (values.mean(0, keepdim=True) if name == "mean" else _to_one(name, values).reshape(1)) if count else values[:0]
        rows, columns = jtensor.tensor([0, count]), columns.new_zeros(count)
        size = [1, 1 if name in ("sum", "prod") else count]
    return jtensor.sparse_csr_tensor(rows, columns, values, size, dtype=dtype, device=x.device)
