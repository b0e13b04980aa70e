"""Sequences of different lengths: padded into one tensor, or packed without the padding.

A packed sequence has all first steps, then all second steps and so on, the longest sample first, so that those that are
still running at step t are its first ``batch_sizes[t]``:

    a a a        batch_sizes 3 2 1
    b b     ->   a b c | a b | a
    c
"""
import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

import jtensor

from ...ops.families.composing import only_tensors
from ...ops.families.embedding import packed_rows
from ...tensor.core import Tensor as Tensor
from ...tensor.creating.from_data import from_host
from ...tensor.recording.together import elements_of

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence", "unpad_sequence",
           "pack_sequence", "unpack_sequence"]


def bind(optional, fn):
    """``fn(optional)``, or None for None."""
    return None if optional is None else fn(optional)


class PackedSequence_(NamedTuple):
    data: object
    batch_sizes: object
    sorted_indices: object
    unsorted_indices: object


def _on_each(fn, tensor):
    return None if tensor is None else fn(tensor)


class PackedSequence(PackedSequence_):
    """The data of several sequences without padding, how many run at each step, and how they were sorted."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                             "They should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
                             "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The data in another dtype or on another device; the sequence itself where that changes nothing."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self

        def move(t):
            return t.to(data.device)

        return type(self)(data, self.batch_sizes, _on_each(move, self.sorted_indices), _on_each(move, self.unsorted_indices))

    def cuda(self, device=None):
        """On a GPU."""
        return self.to("cuda" if device is None else device)

    def cpu(self):
        """On the CPU."""
        return self.to("cpu")

    def pin_memory(self):
        """In pinned memory."""
        def pin(t):
            return t.pin_memory()

        return type(self)(pin(self.data), pin(self.batch_sizes), _on_each(pin, self.sorted_indices),
                          _on_each(pin, self.unsorted_indices))

    def double(self):
        """Data in float64."""
        return self.to(dtype=jtensor.float64)

    def float(self):
        """Data in float32."""
        return self.to(dtype=jtensor.float32)

    def half(self):
        """Data in float16."""
        return self.to(dtype=jtensor.float16)

    def long(self):
        """Data in int64."""
        return self.to(dtype=jtensor.int64)

    def int(self):
        """Data in int32."""
        return self.to(dtype=jtensor.int32)

    def short(self):
        """Data in int16."""
        return self.to(dtype=jtensor.int16)

    def char(self):
        """Data in int8."""
        return self.to(dtype=jtensor.int8)

    def byte(self):
        """Data in uint8."""
        return self.to(dtype=jtensor.uint8)

    @property
    def is_cuda(self):
        """Whether the data are on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data are in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation):
    """The permutation that undoes one; None for None."""
    if permutation is None:
        return None
    places = jtensor.arange(0, permutation.numel(), device=permutation.device)
    return jtensor.empty_like(permutation, memory_format=jtensor.contiguous_format).scatter_(0, permutation, places)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs ``(T, N, *)`` (``(N, T, *)`` with ``batch_first``) of which sample i has ``lengths[i]`` steps.

    ``enforce_sorted``: the lengths have to be decreasing; else the samples are sorted first.
    """
    if not isinstance(input, jtensor.Tensor):
        raise TypeError(f"_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    lengths = jtensor.as_tensor(lengths, dtype=jtensor.int64)
    order = None
    if not enforce_sorted:
        lengths, order = jtensor.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if lengths.device.type != "cpu" or lengths.dim() != 1:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got "
                           f"{lengths.dim()}D {lengths.device} Long tensor")
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if batch_first:
        input = input.transpose(0, 1)
    batch, steps = input.size(1), lengths.tolist()
    if len(steps) != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(steps)} (batch_size={batch})")
    if steps[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(later > earlier for earlier, later in zip(steps, steps[1:])):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                           "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
                           "do not need ONNX exportability.")
    runs = np.array(steps) > np.arange(steps[0])[:, None]
    there = np.flatnonzero(runs[:input.size(0)])            # lengths that say more are believed, as PyTorch does: an RNN then refuses
    data = packed_rows(input, jtensor.tensor(there, device=input.device))
    return PackedSequence(data, jtensor.tensor(runs.sum(1)), order, None)


def _rows(data, sizes):
    """The rows of a packed sequence that its steps name. Where there are fewer, the error is PyTorch's, which goes by stretches of equal
    steps."""
    if data.size(0) != sum(sizes):
        begin = 0
        for size, alike in itertools.groupby(sizes):
            steps = len(list(alike))
            data[begin:begin + steps * size].view(steps, size, *data.shape[1:])
            begin += steps * size
        data = data[:begin]
    return data


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded tensor of a packed sequence, and the lengths; ``total_length``: padded up to that many steps."""
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                             f"total_length={total_length} and max sequence length being {steps}")
        steps = total_length
    data, batch = _rows(sequence.data, sizes), sizes[0]
    padded = data.new_full((steps, batch, *data.shape[1:]), padding_value)
    runs = np.arange(batch) < np.array(sizes)[:, None]
    flat = padded.view(steps * batch, *data.shape[1:])
    index = jtensor.tensor(np.flatnonzero(runs), device=data.device)
    padded = flat.index_copy(0, index, data).view(steps, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = jtensor.tensor(runs.sum(0))
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences ``(L_i, *)`` in one tensor ``(max L, N, *)``, the shorter ones padded at the "right" or "left".

    >>> import jtensor as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    only_tensors(sequences)
    if not sequences[0].dim():
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    longest, trailing = max(s.size(0) for s in sequences), sequences[0].shape[1:]
    dims = (len(sequences), longest) if batch_first else (longest, len(sequences))
    lying = elements_of(sequences) if all(s.shape[1:] == trailing for s in sequences) else None
    if lying is not None and lying[0].dtype.type(padding_value) == padding_value:       # samples of a batch: put together where they are
        padded = np.full((*dims, *trailing), padding_value, lying[0].dtype)
        by_sample = padded if batch_first else padded.swapaxes(0, 1)
        for row, sequence in zip(by_sample, lying, strict=True):
            (row[longest - len(sequence):] if padding_side == "left" else row[:len(sequence)])[...] = sequence
        return from_host(padded, sequences[0].dtype, ours=True)
    padded = sequences[0].new_full((*dims, *trailing), padding_value)
    for i, sequence in enumerate(sequences):
        sample = padded[i] if batch_first else padded[:, i]
        start = longest - sequence.size(0) if padding_side == "left" else 0
        sample.narrow(0, start, sequence.size(0)).copy_(sequence)
    return padded


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor, each without its padding."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    return [sequence[:int(length)].clone(memory_format=jtensor.contiguous_format)
            for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences ``(L_i, *)``."""
    lengths = jtensor.as_tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed one, in the order in which they were given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
