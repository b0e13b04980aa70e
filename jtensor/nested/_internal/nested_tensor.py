"""The class of nested tensors in the layout ``jagged``, and how one is made of its parts: names that libraries and pickles look up here."""
from ..graph import as_nested
from ..graph import joined as buffer_from_jagged
from ..jagged import NestedTensor, _rebuild_njt
from ..lengths import length_of as get_tensor_symint
from ..making import from_list, known


def jagged_from_list(tensors, offsets=None, dtype=None, device=None):
    """(the nested tensor of a list, its offsets)."""
    made = from_list(tensors, dtype, device)
    if offsets is not None:
        made = nested_view_from_values_offsets(made.values(), offsets, made._ragged_idx, made._min_seqlen, made._max_seqlen)
    return made, made._offsets


def nested_view_from_values_offsets(values, offsets, ragged_idx=1, min_seqlen=None, max_seqlen=None):
    """The nested tensor of values cut at offsets, on their memory."""
    return as_nested(values, offsets, None, ragged_idx, known(min_seqlen, max_seqlen))


def nested_view_from_values_offsets_lengths(values, offsets, lengths, ragged_idx=1, min_seqlen=None, max_seqlen=None):
    """The same with lengths, where there are holes."""
    return as_nested(values, offsets, lengths, ragged_idx, known(min_seqlen, max_seqlen))


__all__ = ["NestedTensor", "_rebuild_njt", "buffer_from_jagged", "get_tensor_symint"]
