"""From one process to another: tensors that are sent and received.

Owns: PyTorch's functions of that kind. May not know: how bytes travel.

What is sent goes at once and is kept where it arrives until somebody receives it, so that no order of sends and receives waits for ever.
"""
from .tensors import check_single, empty, flat, put
from .work import Work
from .world import _check_other, _group, _is_in, _member, get_global_rank


def _check_there(group, member, which):
    if not 0 <= member < group.size():
        raise RuntimeError(f"{which} rank {member} is out of range: the group has {group.size()} members")
    _check_other(group, member, which)


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends a tensor to process ``dst``; a `Work`. ``group_dst``: by its number in the group. ``tag``: what the receiver asks for."""
    if not _is_in(group, "isend"):
        return None
    group = _group(group)
    to = _member(group, dst, group_dst)
    check_single(tensor, "tensor")
    _check_there(group, to, "destination")
    member, array = group._by_tag(tag), flat(tensor)
    work = Work(lambda: member.send(to, array), None, [tensor])
    work._do()
    return work


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends a tensor to process ``dst``, and comes back when it has gone."""
    if not _is_in(group, "send"):
        return
    group = _group(group)
    to = _member(group, dst, group_dst)
    _check_other(group, to, "destination")
    isend(tensor, group=group, tag=tag, group_dst=to).wait()


class _Receiving(Work):
    """A tensor that is awaited. Looks for it when it is asked about: what has come lies in the box until then."""

    def __init__(self, tensor, find):
        super().__init__(self._find, lambda: put(tensor, self._array), [tensor])
        self._array, self._look, self._asked = empty(tensor), find, False

    def _find(self):
        self._source = self._look(self._array)

    def wait(self, timeout=None):
        """Comes back, with True, when the tensor is there; raises RuntimeError if it does not come within the group's timeout."""
        if not self._asked:
            self._asked = True
            self._do()
        return super().wait(timeout)

    synchronize = wait

    def get_future(self):
        """A `torch.futures.Future` of the tensor, which is awaited first."""
        self.wait()
        return super().get_future()


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Awaits a tensor from process ``src``, or from anybody; a `Work`, after whose `wait` the tensor has what was sent."""
    check_single(tensor, "tensor")
    if not _is_in(group, "irecv"):
        return None
    group = _group(group)
    member = group._by_tag(tag)
    if src is None and group_src is None:
        return _Receiving(tensor, member.take_from_any)
    source = _member(group, src, group_src)
    _check_there(group, source, "source")

    def find(array):
        member.take(source, array)
        return source
    return _Receiving(tensor, find)


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Waits for a tensor from process ``src``, or from anybody, and answers who has sent it; -1 if this process is not in the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return src if src is not None else get_global_rank(_group(group), work._source)


class P2POp:
    """A send or a receive for `batch_isend_irecv`: ``op`` is `isend` or `irecv`, ``peer`` the other process. ValueError else."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or ``torch.distributed.irecv``.")
        check_single(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, _group(group), tag
        self.group_peer = _member(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer) if peer is None else peer

    def __repr__(self):
        mine, theirs = self.group.rank(), self.group_peer
        source, to = (mine, theirs) if self.op is isend else (theirs, mine)
        return (f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={to},  "
                f"{self.tensor.shape}, {self.tensor.dtype})")


def batch_isend_irecv(p2p_op_list):
    """Begins a list of `P2POp`\\ s; a list of `Work`."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    group = p2p_op_list[0].group
    if not all(op.group == group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    works = [op.op(op.tensor, group=op.group, tag=op.tag, **{"group_dst" if op.op is isend else "group_src": op.group_peer})
             for op in p2p_op_list]
    return [work for work in works if work is not None]
