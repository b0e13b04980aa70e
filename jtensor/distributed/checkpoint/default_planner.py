"""What is written and read of a state by whom: what all processes have alike by one of them, the rest by its own.

Owns: the planners that `save` and `load` take. May not know: where checkpoints are kept.
"""
import collections
import dataclasses
import io
import itertools
import logging
import math

import jtensor

from ._nested_dict import flatten_state_dict, unflatten_state_dict
from ._traverse import set_element
from .metadata import BytesStorageMetadata, Metadata, TensorStorageMetadata
from .planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner, WriteItemType
from .planner_helpers import _create_read_items, _create_write_items, _init_state_dict, narrowed
from .utils import find_state_dict_object

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner", "create_default_global_load_plan", "create_default_global_save_plan",
           "create_default_local_load_plan", "create_default_local_save_plan"]

_log = logging.getLogger(__name__)
_LONGEST = 500              # of what an error says


def _rebuilt(state_dict):
    """The nest anew, of plain dictionaries with texts as keys."""
    return unflatten_state_dict(*flatten_state_dict(state_dict))


class DefaultSavePlanner(SavePlanner):
    """Writes each leaf of a nest by itself (``flatten_state_dict``), each by the process that has the least to write, or the first
    (``dedup_save_to_lowest_rank``). The same plan is made anew each time, whatever ``enable_plan_caching`` says.
    """

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True, dedup_replicated_tensors=None,
                 dedup_save_to_lowest_rank=False, enable_plan_caching=False):
        self.flatten_state_dict, self.flatten_sharded_tensors = flatten_state_dict, flatten_sharded_tensors
        self.mappings, self.dedup_save_to_lowest_rank = {}, dedup_save_to_lowest_rank
        if dedup_replicated_tensors is not None:
            _log.warning("DefaultSavePlanner's `dedup_replicated_tensors` argument is being deprecated, and no longer has any effect. "
                         "Please remove this argument from your call.")

    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        """Takes the state that is to be written."""
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        elif self.flatten_sharded_tensors:
            state_dict = _rebuilt(state_dict)
        self.state_dict, self.is_coordinator = state_dict, is_coordinator

    def create_local_plan(self):
        """The plan of this process: all it has."""
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        self.plan = dataclasses.replace(plan, planner_data=self.mappings) if self.flatten_state_dict else plan
        return self.plan

    def create_global_plan(self, all_plans):
        """(the plans of all, nothing twice, the `Metadata`). ValueError if parts of a tensor are missing."""
        plans, metadata = create_default_global_save_plan(_once(all_plans, self.dedup_save_to_lowest_rank))
        if self.flatten_state_dict:
            paths = dict(collections.ChainMap(*(plan.planner_data for plan in plans)))
            metadata = dataclasses.replace(metadata, planner_data=paths)
        wrong = "; ".join(_validate_global_plan(plans, metadata))
        if wrong:
            raise ValueError(f"Failed to validate global plan: {wrong[:_LONGEST]}{'... (truncated)' * (len(wrong) > _LONGEST)}")
        self.global_plan, self.metadata = plans, metadata
        return plans, metadata

    def finish_plan(self, new_plan):
        """The plan that this process got back."""
        self.plan = new_plan
        return new_plan

    def resolve_data(self, write_item):
        """The tensor, or the object's pickle, that a `WriteItem` means."""
        return self.transform_object(write_item, self.lookup_object(write_item.index))

    def lookup_object(self, index):
        """What an index means in the state. To be overridden."""
        return find_state_dict_object(self.state_dict, index)

    def transform_object(self, write_item, object):
        """What is written of it. To be overridden."""
        if write_item.type is not WriteItemType.BYTE_IO:
            return object
        file = io.BytesIO()
        jtensor.save(object, file)
        return file


class DefaultLoadPlanner(LoadPlanner):
    """Fills the tensors of a state in place, and puts other objects in their places. With ``allow_partial_load`` a name that is not in the
    checkpoint stays as it is, otherwise RuntimeError; ValueError for another size.
    """

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True, allow_partial_load=False):
        self.flatten_state_dict, self.flatten_sharded_tensors = flatten_state_dict, flatten_sharded_tensors
        self.original_state_dict, self.mappings, self.allow_partial_load = {}, {}, allow_partial_load

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Takes the state that is to be filled; tensors on the meta device are replaced by ones with memory."""
        _init_state_dict(state_dict)
        self.original_state_dict = state_dict
        if self.flatten_sharded_tensors:
            state_dict = _rebuilt(state_dict)
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator

    def create_local_plan(self):
        """The plan of this process: all it has."""
        if self.metadata is None:
            raise AssertionError("self.metadata is not None")
        unread = set(self.metadata.state_dict_metadata) - set(self.state_dict)
        if self.flatten_state_dict and unread:
            older, paths = flatten_state_dict(self.original_state_dict, older=True)
            if unread & set(older):                     # it was written by a version up to 2.3
                self.state_dict, self.mappings = older, paths
        return create_default_local_load_plan(self.state_dict, self.metadata, not self.allow_partial_load)

    def create_global_plan(self, global_plan):
        """The plans of all, as they are."""
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, new_plan):
        """The plan that this process got back."""
        return new_plan

    def load_bytes(self, read_item, value):
        """Puts an object in its place. Its pickle may import what it names, as in PyTorch: for checkpoints that you trust."""
        name, found = read_item.dest_index.fqn, jtensor.load(value, weights_only=False)
        if self.flatten_state_dict:
            set_element(self.original_state_dict, self.mappings[name], found)
        else:
            self.state_dict[name] = found

    def resolve_tensor(self, read_item):
        """The part of a tensor that a `ReadItem` fills."""
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def commit_tensor(self, read_item, tensor):
        """Nothing: it is filled in place."""

    def lookup_tensor(self, index):
        """What an index means in the state. To be overridden."""
        return find_state_dict_object(self.state_dict, index)

    def transform_tensor(self, read_item, tensor):
        """The part of it. To be overridden."""
        return narrowed(tensor, read_item.dest_offsets, read_item.lengths)


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """Fills an empty state with all that the checkpoint has, or with what has one of ``keys`` for its name or the beginning of it."""

    def __init__(self, keys=None, *args, **kwargs):
        self.keys = keys
        super().__init__(*args, **kwargs)

    def _is_asked_for(self, name, metadata):
        if self.keys is None or name in self.keys:
            return True
        path = metadata.planner_data.get(name)
        return any(".".join(map(str, path[:count])) in self.keys for count in range(1, len(path) + 1))

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        if state_dict:
            raise AssertionError("not state_dict")
        if metadata is None:
            raise AssertionError("metadata is not None")
        for name, known in metadata.state_dict_metadata.items():
            if not self._is_asked_for(name, metadata):
                continue
            if isinstance(known, TensorStorageMetadata):
                known = jtensor.empty(known.size, dtype=known.properties.dtype)
            set_element(state_dict, (metadata.planner_data or {}).get(name, (name,)), known)
        super().set_up_planner(state_dict, metadata, is_coordinator)


# -- plans ---------------------------------------------------------------------------------------------------------------

def create_default_local_save_plan(state_dict, is_coordinator):
    """A `SavePlan` of all of a flat state."""
    return SavePlan([item for name, value in state_dict.items() for item in _create_write_items(name, value)])


def create_default_local_load_plan(state_dict, metadata, strict=True):
    """A `LoadPlan` of all of a flat state. RuntimeError for names that the checkpoint lacks, if ``strict``; ValueError for sizes."""
    items = []
    for name, value in state_dict.items():
        known = metadata.state_dict_metadata.get(name)
        if known is None:
            if strict:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
            continue
        if isinstance(known, TensorStorageMetadata) and getattr(value, "size", None) is not None and known.size != value.size():
            raise ValueError(f"Size mismatch between saved {known.size} and current: {value.size()} for {name}")
        items += _create_read_items(name, known, value)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans):
    """The plans as they are."""
    return all_plans


def _once(plans, to_lowest):
    """The plans, each item in one of them: in the first that has it, or in the one that has the fewest bytes so far."""
    holders, items, kept, sizes = {}, {}, [{item.index for item in plan.items} for plan in plans], [0] * len(plans)
    for at, plan in enumerate(plans):
        for item in plan.items:
            holders.setdefault(item.index, set()).add(at)
            items[item.index] = item
    for index, having in holders.items():
        chosen = min(having) if to_lowest else min(having, key=lambda at: sizes[at])
        sizes[chosen] += items[index].tensor_storage_size() or 1
        for at in having - {chosen}:
            kept[at].discard(index)
    return [dataclasses.replace(plan, items=[item for item in plan.items if item.index in mine])
            for plan, mine in zip(plans, kept, strict=True)]


def create_default_global_save_plan(all_plans, rewrite_index_hints=True):
    """(the plans with items that know the how manieth part of a tensor they are, the `Metadata` of all that they write)."""
    known, plans = {}, []
    for plan in all_plans:
        items = []
        for item in plan.items:
            name = item.index.fqn
            if item.type is not WriteItemType.SHARD and name in known:
                raise AssertionError("item.index.fqn not in md")
            if item.type is WriteItemType.BYTE_IO:
                known[name] = BytesStorageMetadata()
            else:
                data = item.tensor_data
                tensor = known.setdefault(name, TensorStorageMetadata(data.properties, data.size, []))
                if rewrite_index_hints:
                    item = dataclasses.replace(item, index=dataclasses.replace(item.index, index=len(tensor.chunks)))
                tensor.chunks.append(data.chunk)
            items.append(item)
        plans.append(dataclasses.replace(plan, items=items))
    return plans, Metadata(known)


def _validate_global_plan(global_plan, metadata):
    """What is wrong with parts of tensors: those that stick out, overlap, or are missing."""
    wrong = []
    for name, known in metadata.state_dict_metadata.items():
        if isinstance(known, BytesStorageMetadata) or not known.size:
            continue
        for chunk in known.chunks:
            if not _within(known.size, chunk):
                wrong.append(f"key:{name} has out of bounds chunk: tensor-size:{known.size} chunk: {chunk}")
        wrong += [f"key:{name} has overlapping chunks: {one} {other}" for one, other in itertools.combinations(known.chunks, 2)
                  if _overlap(one, other)]
        volume, filled = math.prod(known.size), sum(math.prod(chunk.sizes) for chunk in known.chunks)
        if len(global_plan) > 1 and filled != volume:
            wrong.append(f"key:{name} invalid fill tensor-volume: {volume} chunks-volume: {filled}")
    for text in wrong:
        _log.warning(text)
    return wrong


def _within(size, chunk):
    return all(start >= 0 and length >= 0 and start + length <= whole
               for whole, start, length in zip(size, chunk.offsets, chunk.sizes, strict=True))


def _overlap(one, other):
    return all(a < b + long and b < a + wide for a, wide, b, long in zip(one.offsets, one.sizes, other.offsets, other.sizes, strict=True))
