"""`torch.segment_reduce`: sums, means and extremes of pieces of a tensor. Owns: that function, which is made of operators."""
import jtensor

from .ops.families.numeric import not_implemented, wrap_dim
from .tensor.lifted.batching import whole

_KINDS = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0), "max": ("amax", float("-inf")), "min": ("amin", float("inf"))}


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Reduces pieces of ``data`` along a dimension; ``lengths`` (or ``offsets``, one more) say where they lie, along their last one.

    ``axis`` is that last dimension: those before it are batches, each with its own pieces.
    ``reduce``: "sum", "mean", "prod", "max" or "min"; ``initial``: what each piece begins with. An empty piece gives that, or what the
    reduction of nothing is (NaN for the mean). ``RuntimeError`` where the lengths do not add up, unless ``unsafe``.

    >>> torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "max", lengths=torch.tensor([1, 3]))
    tensor([1., 4.])
    """
    if reduce not in _KINDS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    axis = wrap_dim(axis, data.dim())
    told, name = (lengths, "lengths") if offsets is None else (offsets, "offsets")
    if data.dim() < told.dim():
        raise RuntimeError(f"Expected data.dim() >= {name}_value.dim() to be true, but got false.")
    if axis != told.dim() - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if data.dtype.category != 2:
        raise not_implemented("_segment_reduce_cpu", data.dtype)
    if told.dtype not in (jtensor.int32, jtensor.int64):
        raise not_implemented(f"_segment_reduce_{name}_cpu_kernel1", told.dtype)
    if offsets is not None:
        lengths = offsets.diff()
    if not unsafe:
        if bool(whole(lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if offsets is None and bool(whole(lengths.sum(-1) != data.size(axis)).any()):
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                               "!unsafe.")
    how, nothing = _KINDS[reduce]
    pieces, batch, beside = lengths.size(-1), lengths.shape[:-1], data.dim() - axis - 1
    ends = lengths.cumsum(-1) if offsets is None else offsets.narrow(-1, 1, pieces).contiguous()
    at = jtensor.arange(data.size(axis), dtype=ends.dtype).expand(*batch, -1).contiguous()
    where = jtensor.searchsorted(ends, at, right=True)                 # one more than there are, of what belongs to no piece
    if offsets is not None:
        where = where.masked_fill(at < offsets.narrow(-1, 0, 1), pieces)
    where = where.view(*where.shape, *[1] * beside).expand_as(data)
    first = nothing if initial is None else initial
    if how != "sum" and data.requires_grad:
        return SegmentReduce.apply(data, where, axis, how, first, pieces)
    found = _of_pieces(data, where, axis, how, first, pieces)
    if reduce != "mean":
        return found
    counts = lengths.view(*lengths.shape, *[1] * beside).to(data.dtype)
    return found / counts if initial is None else jtensor.where(counts > 0, found / counts, found)


def _of_pieces(data, where, axis, how, first, pieces):
    start = jtensor.full((*data.shape[:axis], pieces + 1, *data.shape[axis + 1:]), first, dtype=data.dtype, device=data.device)
    return start.scatter_reduce(axis, where, data, how, include_self=True).narrow(axis, 0, pieces).contiguous()


class SegmentReduce(jtensor.autograd.Function):
    """Extremes and products, whose gradients are not those of `scatter_reduce`: what a piece begins with takes no share, a NaN does."""

    generate_vmap_rule = True

    @staticmethod
    def forward(data, where, axis, how, first, pieces):
        return _of_pieces(data, where, axis, how, first, pieces)

    @staticmethod
    def setup_context(ctx, inputs, output):
        data, where, *about = inputs
        ctx.save_for_backward(data, where, output)
        ctx.about = about

    @staticmethod
    def backward(ctx, grad):
        data, where, found = ctx.saved_tensors
        axis, how, first, pieces = ctx.about
        zero = data.new_zeros(())

        def seen(of_pieces):
            return jtensor.cat([of_pieces, jtensor.zeros_like(of_pieces.narrow(axis, 0, 1))], axis).gather(axis, where)

        def counted(which):
            return seen(_of_pieces(which.to(jtensor.int64), where, axis, "sum", 0, pieces))
        if not pieces:
            return jtensor.zeros_like(data), None, None, None, None, None
        grad, nan = seen(grad), data.isnan()
        if how != "prod":
            mine = nan | (data == seen(found))
            share = jtensor.where(mine, grad / counted(mine).to(grad.dtype), zero)
        else:
            none = data == 0
            others = seen(_of_pieces(jtensor.where(nan | none, zero + 1, data), where, axis, how, first, pieces))
            others = others * jtensor.where(counted(none) > none.to(jtensor.int64), zero, zero + 1)
            others = jtensor.where(counted(nan) > nan.to(jtensor.int64), zero + float("nan"), others)
            share = jtensor.where(nan | none, grad * others, grad * seen(found) / data)
        return jtensor.where(where == pieces, zero, share), None, None, None, None, None


__all__ = ["segment_reduce"]


_segment_reduce = segment_reduce            # the operator's own name, which libraries ask for
