"""The items of plans: which boxes of tensors, and which other objects, are written and read. Owns: how items are made."""
import io

import jtensor

from ..world import _get_default_group
from .metadata import BytesStorageMetadata, ChunkStorageMetadata, MetadataIndex, TensorProperties
from .planner import LoadItemType, ReadItem, TensorWriteData, WriteItem, WriteItemType

__all__ = ["create_read_items_for_chunk_list"]


def _whole(tensor):
    """All of a tensor as one box."""
    return ChunkStorageMetadata(jtensor.Size([0] * tensor.dim()), tensor.size())


def _create_write_items(name, value):
    if hasattr(value, "__create_write_items__"):
        return value.__create_write_items__(name, value)
    if not isinstance(value, jtensor.Tensor):
        return [WriteItem(MetadataIndex(name), WriteItemType.BYTE_IO)]
    box = _whole(value)
    data = TensorWriteData(box, TensorProperties.create_from_tensor(value), value.size())
    return [WriteItem(MetadataIndex(name, box.offsets), WriteItemType.TENSOR, tensor_data=data)]


def _create_read_items(name, known, value):
    if isinstance(known, BytesStorageMetadata):
        index, nowhere = MetadataIndex(name), jtensor.Size((0,))
        return [ReadItem(LoadItemType.BYTE_IO, index, nowhere, index, nowhere, nowhere)]
    try:
        boxes = _create_chunk_list(value)
    except ValueError as error:
        raise ValueError(f"Invalid checkpoint metadata for {name}, expected BytesStorageMetadata but found {type(known)}") from error
    return create_read_items_for_chunk_list(name, known, boxes)


def _create_chunk_list(value):
    """The boxes of a tensor that this process has. ValueError for what is no tensor."""
    if hasattr(value, "__create_chunk_list__"):
        return value.__create_chunk_list__()
    if isinstance(value, jtensor.Tensor):
        return [_whole(value)]
    raise ValueError(f"Unsupported Type, expecting one of [Tensor, DTensor, ShardedTensor] ,but got {type(value)}")


def create_read_items_for_chunk_list(fqn, checkpoint_md, local_chunks):
    """What is read for the boxes ``local_chunks`` of a tensor: where they meet with those that a `TensorStorageMetadata` has."""
    items = []
    for at, mine in enumerate(local_chunks):
        for place, kept in enumerate(checkpoint_md.chunks):
            meeting = _meeting(mine, kept)
            if meeting is not None:
                to, source, lengths = meeting
                items.append(ReadItem(LoadItemType.TENSOR, MetadataIndex(fqn, mine.offsets, at), to,
                                      MetadataIndex(fqn, kept.offsets, place), source, lengths))
    return items


def _meeting(mine, kept):
    """(where the common part of two boxes begins in the one, in the other, how long it is), or None if there is none."""
    to, source, lengths = [], [], []
    for a, wide, b, long in zip(mine.offsets, mine.sizes, kept.offsets, kept.sizes, strict=True):
        start, end = max(a, b), min(a + wide, b + long)
        if start >= end:
            return None
        to.append(start - a)
        source.append(start - b)
        lengths.append(end - start)
    return jtensor.Size(to), jtensor.Size(source), jtensor.Size(lengths)


def narrowed(tensor, offsets, lengths):
    """The part of a tensor, as a view, that begins at ``offsets``."""
    for dim, (start, length) in enumerate(zip(offsets, lengths, strict=True)):
        if length < tensor.size(dim):
            tensor = tensor.narrow(dim, start, length)
    return tensor


def _init_state_dict(nest):
    """Replaces tensors without memory in a nest by ones that have some, on the CPU (ValueError without a group), and objects that it does
    not know by None, as PyTorch does: what is read takes their places.
    """
    if isinstance(nest, jtensor.Tensor):
        if not nest.is_meta:
            return nest
        _get_default_group()                    # PyTorch asks it for the device
        return jtensor.empty_like(nest, device="cpu")
    if isinstance(nest, dict):
        for key, value in nest.items():
            nest[key] = _init_state_dict(value)
        return nest
    if isinstance(nest, list | tuple):
        return (list if isinstance(nest, list) else tuple)(map(_init_state_dict, nest))
    return nest if isinstance(nest, int | float | str | bytes | io.BytesIO) else None
