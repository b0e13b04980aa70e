"""`torch.segment_reduce`: sums, means and extremes of pieces of a tensor. Owns: that function, which is made of operators."""
import jtensor

from .base.errors import missing

_KINDS = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0), "max": ("amax", float("-inf")), "min": ("amin", float("inf"))}


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Reduces pieces of ``data`` along its first dimension; ``lengths`` (or ``offsets``, one more) say where they lie.

    ``reduce``: "sum", "mean", "prod", "max" or "min"; ``initial``: what each piece begins with. An empty piece gives that, or what the
    reduction of nothing is (NaN for the mean). ``RuntimeError`` where the lengths do not add up, unless ``unsafe``.

    >>> torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "max", lengths=torch.tensor([1, 3]))
    tensor([1., 4.])
    """
    if reduce not in _KINDS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if axis != 0 or (lengths if offsets is None else offsets).dim() != 1:
        raise missing("segment_reduce along another dimension than the first", "data.movedim(axis, 0), with lengths of one dimension")
    if offsets is not None:
        lengths = offsets.diff()
    if not unsafe:
        if bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if offsets is None and int(lengths.sum()) != data.size(0):
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                               "!unsafe.")
    how, nothing = _KINDS[reduce]
    begin = 0 if offsets is None else int(offsets[0])
    data = data[begin:begin + int(lengths.sum())]
    where = jtensor.repeat_interleave(jtensor.arange(lengths.size(0)), lengths).view(-1, *[1] * (data.dim() - 1)).expand_as(data)
    start = jtensor.full((lengths.size(0), *data.shape[1:]), nothing if initial is None else initial, dtype=data.dtype, device=data.device)
    found = start.scatter_reduce(0, where, data, how, include_self=True)
    if reduce != "mean":
        return found
    counts = lengths.view(-1, *[1] * (data.dim() - 1)).to(data.dtype)
    return found / counts if initial is None else jtensor.where(counts > 0, found / counts, found)


__all__ = ["segment_reduce"]
