"""What can be pickled, from process to process. Owns: PyTorch's functions of that kind. May not know: tensors, how bytes travel.

Pickles of others are run when they are read, as in PyTorch: a group is of processes that trust each other.
"""
import pickle

from .work import Work
from .world import _check_given, _check_other, _group, _is_in, _member, get_global_rank


def _do(group, run):
    """Has members exchange pickles: ``run(member)``."""
    member, found = group._together(), []
    group._line.do(Work(lambda: found.append(run(member))))
    return found[0]


def all_gather_object(object_list, obj, group=None):
    """In ``object_list``, of as many places as the group has members: what each of them gives."""
    if not _is_in(group, "all_gather_object"):
        return
    group = _group(group)
    for at, found in enumerate(_do(group, lambda member: _of_all(member, pickle.dumps(obj)))):
        object_list[at] = pickle.loads(found)


def _of_all(member, given):
    for step in range(1, member.size):
        member.send_bytes((member.rank + step) % member.size, given)
    return [given if other == member.rank else member.take_bytes(other) for other in range(member.size)]


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """The same at process ``dst`` (by default the first) alone; the others give no list."""
    if not _is_in(group, "gather_object"):
        return
    group = _group(group)
    root = _member(group, 0 if dst is None and group_dst is None else dst, group_dst)
    _check_given(group, root, "gather_list", "destination", object_gather_list)
    given = pickle.dumps(obj)

    def run(member):
        if member.rank != root:
            member.send_bytes(root, given)
            return []
        return [given if other == root else member.take_bytes(other) for other in range(member.size)]
    for at, found in enumerate(_do(group, run)):
        object_gather_list[at] = pickle.loads(found)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """In ``object_list`` of each member, all of one length: the objects of process ``src`` (by default the first)."""
    if not _is_in(group, "broadcast_object_list"):
        return
    group = _group(group)
    root = _member(group, 0 if src is None and group_src is None else src, group_src)
    given = pickle.dumps(list(object_list)) if group.rank() == root else None
    count = len(object_list)

    def run(member):
        if member.rank != root:
            return member.take_bytes(root)
        for other in range(member.size):
            if other != root:
                member.send_bytes(other, given)
        return None
    found = _do(group, run)
    if found is not None:
        objects = pickle.loads(found)
        if len(objects) != count:
            raise RuntimeError(f"the lists have {len(objects)} objects at rank {root} and {count} here")
        object_list[:] = objects


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    """In the first place of ``scatter_object_output_list`` of each member: its part of the list that process ``src`` gives."""
    if not _is_in(group, "scatter_object_list"):
        return
    group = _group(group)
    root = _member(group, 0 if src is None and group_src is None else src, group_src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    parts = scatter_object_input_list
    if group.rank() == root:
        if parts is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        if len(parts) != group.size():
            raise RuntimeError(f"ProcessGroupGloo::scatter: Incorrect input list size {len(parts)}. Input list size should be "
                               f"{group.size()}, same as size of the process group.")
        parts = [pickle.dumps(part) for part in parts]

    def run(member):
        if member.rank != root:
            return member.take_bytes(root)
        for other in range(member.size):
            if other != root:
                member.send_bytes(other, parts[other])
        return parts[root]
    scatter_object_output_list[0] = pickle.loads(_do(group, run))


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    """Sends objects to process ``dst``, who receives a list of as many."""
    if not _is_in(group, "send_object_list"):
        return
    group = _group(group)
    to = _member(group, dst, group_dst)
    _check_other(group, to, "destination")
    group._by_tag("objects").send_bytes(to, pickle.dumps(list(object_list)))


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    """In ``object_list``: what process ``src`` sends. Answers who that is; -1 if this process is not in the group."""
    if not _is_in(group, "recv_object_list"):
        return -1
    group = _group(group)
    source = _member(group, src, group_src)
    _check_other(group, source, "source")
    objects = pickle.loads(group._by_tag("objects").take_bytes(source))
    if len(objects) != len(object_list):
        raise RuntimeError(f"rank {source} has sent {len(objects)} objects, the list has {len(object_list)}")
    object_list[:] = objects
    return get_global_rank(group, source)
