"""Nested tensors as dense ones, filled up to the same length, and back: `Tensor.to_padded_tensor`.

Owns: which row of one is which row of the other, worked out on the host once for each tensor of offsets.
"""
import functools

import numpy as np

import jtensor

from ..tensor.creating.from_data import from_host
from .answering import answers
from .graph import as_nested, recorded
from .lengths import numbers


@functools.lru_cache(64)
def _rows_padded(bounds, count, total):
    """For each place of ``(B, count)`` the row among ``total`` that stands there; ``total`` itself where none does."""
    starts, ends = np.array(bounds[:-1], np.int64)[:, None], np.array(bounds[1:], np.int64)[:, None]
    at = starts + np.arange(count)
    return np.where(at < ends, at, total).reshape(-1)


@functools.lru_cache(64)
def _rows_joined(bounds, count, total):
    """For each of ``total`` rows the place of ``(B, count)`` where it stands; one past the last where it does not."""
    batch = len(bounds) - 1
    rows = np.full(total, batch * count, np.int64)
    for part, (start, end) in enumerate(zip(bounds, bounds[1:], strict=False)):
        length = min(end - start, count)
        rows[start:start + length] = part * count + np.arange(length)
    return rows


def _taken(flat, rows, fill):
    """Rows of a dense tensor by number; the one past its last is ``fill``."""
    more = flat.new_full((1, *flat.shape[1:]), fill)
    return jtensor.cat([flat, more]).index_select(0, from_host(rows).to(flat.device))


def padded(values, offsets, fill, count, ragged=1):
    """The dense tensor ``(B, ..., count, ...)`` of values that the offsets cut; a function with a gradient."""
    if ragged > 1:
        values = values.transpose(ragged - 1, 0)
    bounds, total = numbers(offsets), values.shape[0]
    made = _taken(values, _rows_padded(bounds, count, total), fill).reshape(len(bounds) - 1, count, *values.shape[1:])
    return made.transpose(ragged, 1) if ragged > 1 else made


def unpadded(dense, offsets, total, ragged=1):
    """The values, ``total`` along the ragged dimension, of a dense tensor that is filled up: the other way; a function with a gradient."""
    if ragged > 1:
        dense = dense.transpose(ragged, 1)
    count = dense.shape[1]
    made = _taken(dense.reshape(dense.shape[0] * count, *dense.shape[2:]), _rows_joined(numbers(offsets), count, total), 0)
    return made.transpose(ragged - 1, 0) if ragged > 1 else made


@answers("to_padded_tensor", "nested.to_padded_tensor", "nested_to_padded_tensor")
def to_padded_tensor(self, padding, output_size=None, out=None):
    if out is not None:
        raise NotImplementedError("aten.to_padded_tensor.out")
    if self._lengths is not None:
        raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes")
    at, total, offsets = self._ragged_idx, self._values.shape[self._ragged_idx - 1], self._offsets
    longest = self._maybe_max_seqlen
    count = output_size[at] if output_size is not None else self._values.shape[0] if longest is None else longest
    like = self._structure()

    def pull(grad):
        return (as_nested(unpadded(grad, offsets, total, at), *like),)
    return recorded("ToPaddedTensorBackward0", padded(self._values.detach(), offsets, padding, count, at), [self], pull)


def from_padded(dense, x):
    """The nested tensor of a dense one that is filled up, with the lengths of ``x``."""
    return as_nested(unpadded(dense, x._offsets, x._values.shape[x._ragged_idx - 1], x._ragged_idx), *x._structure())


def filled_up(x, fill=0.):
    """A nested tensor as a dense one that is as long as its longest part, or as all of them if that is not known; with history."""
    longest = x._maybe_max_seqlen
    size = [0] * x.dim()
    size[x._ragged_idx] = x._values.shape[x._ragged_idx - 1] if longest is None else longest
    return to_padded_tensor(x, fill, size)

