"""Embeddings whose table gets a sparse gradient: an element for each index that was looked up.

Owns: `embedding` and `embedding_bag` with ``sparse=True``, and `gather` with ``sparse_grad=True``. The forward pass is the dense one's.
"""
import numpy as np

import jtensor

from ..tensor.creating.from_data import from_host
from .graph import assembled, recorded, wants
from .patterns import Pattern


def embedding(weight, indices, padding_idx, scale_grad_by_freq):
    """`torch.embedding` of a table that requires a gradient."""
    made = jtensor.embedding(weight.detach(), indices, padding_idx)

    def pull(grad):
        if scale_grad_by_freq:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        return (_rows(grad.reshape(indices.numel(), weight.shape[1]), indices.reshape(-1), weight, padding_idx),)
    return recorded("EmbeddingBackward0", made, [weight], pull, [indices])


def _rows(values, indices, weight, padding_idx):
    """The sparse gradient of a table of which these rows get these values, but not the row of the padding."""
    if not values.numel():                                       # rows without elements are none
        indices, values = indices[:0], values[:0]
    lines = indices.to(jtensor.int64, copy=True).reshape(1, -1)             # the caller's may be written to afterwards
    if padding_idx >= 0:
        host = Pattern(lines, ()).host()[0]
        keep = np.flatnonzero(host != padding_idx)
        lines = from_host(host[keep].astype(np.int64).reshape(1, -1))
        values = values.index_select(0, from_host(keep))
    return assembled(Pattern(lines, (weight.shape[0],)), values)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx):
    """`torch.embedding_bag` of a table that requires a gradient: sums (``mode`` 0) and means (1)."""
    factors = None if per_sample_weights is None else per_sample_weights.detach()
    made, bags, sizes, most = jtensor.embedding_bag(weight.detach(), indices, offsets, False, mode, False, factors, include_last_offset,
                                                    padding_idx)
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]

    def pull(grad):
        if scale_grad_by_freq:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        rows = grad.index_select(0, bags)
        of_factors = None
        if wants(per_sample_weights):
            of_factors = (rows * weight.index_select(0, indices)).sum(1)
            of_factors = of_factors if padding < 0 else jtensor.where(indices == padding, 0, of_factors)
        if mode == 1:
            rows = rows / sizes.clamp(min=1).to(rows.dtype).index_select(0, bags)[:, None]
        elif per_sample_weights is not None:
            rows = rows * per_sample_weights[:, None]
        return _rows(rows, indices, weight, padding) if wants(weight) else None, of_factors
    inputs = [weight, per_sample_weights]
    kept = [x for x in (indices, per_sample_weights) if x is not None]
    return recorded("EmbeddingBagBackward0", made, inputs, pull, kept), bags, sizes, most


def gather(input, dim, index):
    """`torch.gather` of a tensor that requires a gradient."""
    made = jtensor.gather(input.detach(), dim, index)

    def pull(grad):
        dims = range(input.ndim)
        lines = [index if d == dim % input.ndim else
                 jtensor.arange(index.shape[d]).reshape([-1 if d == e else 1 for e in dims]).expand(index.shape) for d in dims]
        places = jtensor.stack([line.reshape(-1) for line in lines]) if lines else jtensor.zeros((0, 1), dtype=jtensor.int64)
        return (assembled(Pattern(places, input.shape), grad.reshape(-1)),)
    return recorded("GatherBackward0", made, [input], pull, [index])
