"""What the members of a group do together with tensors: each calls the same function, in the same order.

Owns: PyTorch's functions of that kind, their checks, and what becomes of their results. May not know: how bytes travel.

With ``async_op=True`` they answer a `Work` at once. Who is not in the group is warned, and does nothing.
"""
from . import patterns
from .reducing import ReduceOp, function_of
from .tensors import check_list, check_op, check_single, check_types, copy, empty, flat, put, size_text
from .work import Work
from .world import _check_given, _group, _is_in, _member


def _begin(group, run, finish, tensors, async_op):
    work = Work(run, finish, tensors)
    if async_op:
        return group._line.begin(work)
    group._line.do(work)
    return None


def _root(name, group, given, given_in_group):
    root = _member(group, given, given_in_group)
    if not 0 <= root < group.size():
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid root rank: {root}")
    return root


def _check_places(name, places, tensor, count):
    """RuntimeError unless there are as many places as members, each of the tensor's shape."""
    if len(places) != count:
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid output tensor list at index 0 (expected length {count}, got {len(places)})")
    for at, place in enumerate(places):
        if place.shape != tensor.shape:
            raise RuntimeError(f"ProcessGroupGloo::{name}: invalid tensor size at index {at} (expected {size_text(tensor.shape)}, "
                               f"got {size_text(place.shape)})")


def _summed(op, tensor, what):
    """(a copy of the tensor's elements, the function of two such arrays that ``op`` means, whether their sum is to become a mean)."""
    op = check_op(op)
    if tensor.is_complex() and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(f"{what} does not support {op} on complex tensors")
    array = flat(tensor)
    return array, function_of(ReduceOp.SUM if op is ReduceOp.AVG else op, array.dtype), op is ReduceOp.AVG


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """In ``tensor`` of each member: the sum of all of theirs, or what else ``op`` makes of them.

    Goes around in a ring: all have the same bits, those of PyTorch's Gloo. Neither autograd nor the tensor's version sees the write.
    """
    check_single(tensor, "tensor")
    if not _is_in(group, "all_reduce"):
        return None
    group = _group(group)
    array, function, mean = _summed(op, tensor, "all_reduce")
    member = group._together()

    def finish():
        put(tensor, array)
        if mean:
            tensor.div_(group.size())
    return _begin(group, lambda: patterns.all_reduce(member, array, function), finish, [tensor], async_op)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """`all_reduce` of each of a list of tensors."""
    check_list(tensors, "tensors")
    check_types(*tensors)
    works = [all_reduce(tensor, op, group, True) for tensor in tensors]
    return _all_of(group, works, tensors, async_op)


def _all_of(group, works, tensors, async_op):
    works = [work for work in works if work is not None]
    if not works:
        return None
    return _begin(_group(group), lambda: None, lambda: [work.wait() for work in works] and None, tensors, async_op)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """`all_reduce` of which member ``dst`` alone has the result. The others' tensors stay; PyTorch leaves parts of sums there."""
    if not _is_in(group, "reduce"):
        return None
    group = _group(group)
    _member(group, dst, group_dst)
    check_single(tensor, "tensor")
    root = _root("reduce", group, dst, group_dst)
    array, function, mean = _summed(op, tensor, "reduce")
    member = group._together()

    def finish():
        if member.rank == root:
            put(tensor, array)
            if mean:
                tensor.div_(group.size())
    return _begin(group, lambda: patterns.reduce(member, array, function, root), finish, [tensor], async_op)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """In ``tensor`` of each member: that of member ``src``, a number among all processes; ``group_src``: one in the group."""
    if not _is_in(group, "broadcast"):
        return None
    group = _group(group)
    _member(group, src, group_src)
    check_single(tensor, "tensor")
    root = _root("broadcast", group, src, group_src)
    member = group._together()
    array = flat(tensor) if member.rank == root else empty(tensor)
    finish = None if member.rank == root else lambda: put(tensor, array)
    return _begin(group, lambda: patterns.broadcast(member, array, root), finish, [tensor], async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """In ``tensor_list``, a tensor for each member: theirs. All have the shape of ``tensor``."""
    check_list(tensor_list, "tensor_list")
    check_single(tensor, "tensor")
    check_types(*tensor_list, tensor)
    if not _is_in(group, "all_gather"):
        return None
    group = _group(group)
    _check_places("allgather", tensor_list, tensor, group.size())
    member, array, into = group._together(), flat(tensor), [empty(place) for place in tensor_list]
    return _begin(group, lambda: patterns.all_gather(member, array, into), lambda: copy(tensor_list, into), tensor_list, async_op)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """`all_gather` of each of a list of tensors: ``output_tensor_lists`` has a list for each member, with a place for each tensor."""
    check_list(input_tensor_list, "input_tensor_list")
    works = [all_gather([places[at] for places in output_tensor_lists], tensor, group, True) for at, tensor in enumerate(input_tensor_list)]
    return _all_of(group, works, [place for places in output_tensor_lists for place in places], async_op)


def all_gather_single(output_tensor, input_tensor, group=None, async_op=False):
    """In ``output_tensor``: those of all members one behind the other, along the first dimension."""
    check_single(input_tensor, "input_tensor")
    check_single(output_tensor, "output_tensor")
    if not _is_in(group, "all_gather_single"):
        return None
    group = _group(group)
    size, shape = group.size(), input_tensor.shape
    if output_tensor.dtype != input_tensor.dtype:
        kind = lambda t: (f"TensorOptions(dtype={_C_NAMES.get(str(t.dtype), str(t.dtype)[6:])}, device={t.device}, layout=Strided, "
                          "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))")
        raise RuntimeError(f"ProcessGroupGloo::allgather: invalid tensor type at index 0 (expected {kind(input_tensor)}, "
                           f"got {kind(output_tensor)})")
    whole = (size * shape[0], *shape[1:]) if shape else (size,)
    if tuple(output_tensor.shape) != whole:
        got = tuple(output_tensor.shape)
        got = (-(-got[0] // size), *got[1:]) if got else got           # of the first of as many parts as there are members
        raise RuntimeError("ProcessGroupGloo::allgather: invalid tensor size at index 0 "
                           f"(expected {size_text(shape)}, got {size_text(got)})")
    member, array, made = group._together(), flat(input_tensor), empty(output_tensor)
    into = [made[at * len(array):(at + 1) * len(array)] for at in range(size)]
    finish = lambda: copy(output_tensor.detach().chunk(size), into)
    return _begin(group, lambda: patterns.all_gather(member, array, into), finish, [output_tensor], async_op)


_C_NAMES = {"torch.float32": "float", "torch.float64": "double", "torch.int64": "long int", "torch.int32": "int", "torch.bool": "bool",
            "torch.uint8": "unsigned char", "torch.int8": "signed char", "torch.float16": "c10::Half", "torch.bfloat16": "c10::BFloat16"}


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """The older name of `all_gather_single`."""
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """`all_gather` of which member ``dst`` (by default the first process) alone has the result; the others give no list."""
    check_single(tensor, "tensor")
    if gather_list:
        check_list(gather_list, "gather_list")
    places = gather_list or []
    check_types(tensor, *places)
    if not _is_in(group, "gather"):
        return None
    group = _group(group)
    root = _member(group, 0 if dst is None and group_dst is None else dst, group_dst)
    _check_given(group, root, "gather_list", "destination", places)
    if group.rank() == root:
        _check_count("gather", "output", places, group)
        _check_places("gather", places, tensor, group.size())
    member, array, into = group._together(), flat(tensor), [empty(place) for place in places]
    return _begin(group, lambda: patterns.gather(member, array, into, root), lambda: copy(places, into), places, async_op)


def _check_count(name, which, tensors, group):
    if len(tensors) != group.size():
        raise RuntimeError(f"ProcessGroupGloo::{name}: Incorrect {which} list size {len(tensors)}. {which.capitalize()} list size should "
                           f"be {group.size()}, same as size of the process group.")


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """In ``tensor`` of each member: its part of ``scatter_list``, which member ``src`` (by default the first process) alone gives."""
    check_single(tensor, "tensor")
    if scatter_list:
        check_list(scatter_list, "scatter_list")
    parts = scatter_list or []
    check_types(tensor, *parts)
    if not _is_in(group, "scatter"):
        return None
    group = _group(group)
    at = _member(group, 0 if src is None and group_src is None else src, group_src)
    _check_given(group, at, "scatter_list", "source", parts)
    root = _root("scatter", group, None, at)
    if parts:
        _check_count("scatter", "input", parts, group)
        _check_places("scatter", parts, tensor, group.size())
    member, array, given = group._together(), empty(tensor), [flat(part) for part in parts]
    return _begin(group, lambda: patterns.scatter(member, array, given, root), lambda: put(tensor, array), [tensor], async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """In ``output`` of each member: the sum of the tensors that all members have for it in ``input_list``, which has one for each."""
    check_single(output, "output")
    check_list(input_list, "input_list")
    check_types(output, *input_list)
    if not _is_in(group, "reduce_scatter"):
        return None
    group = _group(group)
    if len(input_list) != group.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    for tensor in input_list:
        if tensor.shape != output.shape:
            raise RuntimeError(f"Check failed: outputs[0].sizes().vec() == inputs[0][i].sizes().vec() "
                               f"({' '.join(map(str, output.shape))} vs. {' '.join(map(str, tensor.shape))}). ")
    return _scattered(output, [_summed(op, tensor, "reduce_scatter") for tensor in input_list], group, async_op)


def _scattered(output, parts, group, async_op):
    """Each part is summed by itself, as PyTorch's Gloo does it."""
    arrays, (_, function, mean) = [array for array, _, _ in parts], parts[0]
    members, rank = [group._together() for _ in arrays], group.rank()

    def run():
        for member, array in zip(members, arrays, strict=True):
            patterns.all_reduce(member, array, function)

    def finish():
        copy([output], [arrays[rank]])
        if mean:
            output.div_(group.size())
    return _begin(group, run, finish, [output], async_op)


def reduce_scatter_single(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """In ``output`` of each member: its part, along the first dimension, of the sum of all members' ``input``."""
    check_single(output, "output")
    check_single(input, "input")
    if not _is_in(group, "reduce_scatter_single"):
        return None
    group = _group(group)
    size = group.size()
    if not output.shape or not input.shape or output.shape[0] * size != input.shape[0] or output.shape[1:] != input.shape[1:]:
        first = lambda t: t.shape[0] if t.shape else 0
        raise RuntimeError(f"Check failed: outputShape[0] * worldSize == inputShape[0] ({first(output) * size} vs. {first(input)}). ")
    array, function, mean = _summed(op, input, "reduce_scatter_tensor")
    member, count = group._together(), len(array) // size

    def finish():
        copy([output], [array[member.rank * count:(member.rank + 1) * count].copy()])
        if mean:
            output.div_(size)
    return _begin(group, lambda: patterns.all_reduce(member, array, function), finish, [output], async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """The older name of `reduce_scatter_single`."""
    return reduce_scatter_single(output, input, op, group, async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Each member's tensor for each: ``input_tensor_list`` to whom, ``output_tensor_list`` from whom."""
    check_list(output_tensor_list, "output_tensor_list")
    check_list(input_tensor_list, "input_tensor_list")
    check_types(*output_tensor_list, *input_tensor_list)
    if not _is_in(group, "all_to_all"):
        return None
    group = _group(group)
    for which, tensors in (("output", output_tensor_list), ("input", input_tensor_list)):
        if len(tensors) != group.size():
            raise RuntimeError(f"ProcessGroupGloo::alltoall: {which} tensor list size {len(tensors)} does not match world size "
                               f"{group.size()}")
    mine = group.rank()
    if output_tensor_list[mine].numel() != input_tensor_list[mine].numel():
        raise RuntimeError("ProcessGroupGloo::alltoall: input and output tensors must have the same size")
    member, parts, into = group._together(), [flat(t) for t in input_tensor_list], [empty(t) for t in output_tensor_list]
    finish = lambda: copy(output_tensor_list, into)
    return _begin(group, lambda: patterns.all_to_all(member, parts, into), finish, output_tensor_list, async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """The same with one tensor to give and one to fill, split along the first dimension: evenly, or by sizes, a list of ints."""
    if not _is_in(group, "all_to_all_single"):
        return None
    check_single(output, "output")
    check_single(input, "input")
    check_types(output, input)
    group = _group(group)
    if not output_split_sizes and not input_split_sizes and output.numel() != input.numel():
        sizes = [t.numel() * t.element_size() for t in (input, output)]
        raise RuntimeError(f"in->size == out->size. {sizes[0]} vs {sizes[1]}")
    member, given, made = group._together(), flat(input), empty(output)
    parts, into = _split(given, input, input_split_sizes, group), _split(made, output, output_split_sizes, group)
    return _begin(group, lambda: patterns.all_to_all(member, parts, into), lambda: put(output, made), [output], async_op)


def _split(array, tensor, sizes, group):
    """The parts of a flat array that its tensor's parts along the first dimension are."""
    rows, size = tensor.shape[0] if tensor.shape else 1, group.size()
    if not sizes:
        if rows % size:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [rows // size] * size
    elif len(sizes) != size:
        raise RuntimeError("Number of tensor splits not equal to group size")
    elif sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    row, parts, at = len(array) // rows if rows else 0, [], 0
    for count in sizes:
        parts.append(array[at:at + count * row])
        at += count * row
    return parts


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Comes back once every member has come."""
    if not _is_in(group, "barrier"):
        return None
    group = _group(group)
    member = group._together(timeout and timeout.total_seconds())
    return _begin(group, lambda: patterns.barrier(member), None, [], async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A `barrier` at which the first member hears of each of the others, so that its RuntimeError says who has not come within
    ``timeout``, a `timedelta`; with ``wait_all_ranks`` all that have not.
    """
    if not _is_in(group, "monitored_barrier"):
        return
    group = _group(group)
    seconds = group._timeout if timeout is None else timeout.total_seconds()
    member = group._together(seconds)
    group._line.do(Work(lambda: _monitored(member, seconds, wait_all_ranks)))


def _monitored(member, seconds, wait_all_ranks):
    if member.rank:
        member.send_bytes(0, b"")
        member.take_bytes(0)
        return
    late = []
    for other in range(1, member.size):
        try:
            member.take_bytes(other)
        except RuntimeError as error:
            late.append(other)
            if not wait_all_ranks:
                raise RuntimeError(f"[Rank 0]: Rank {other} failed to pass monitoredBarrier in {round(seconds * 1000)} ms") from error
    if late:
        raise RuntimeError(f"[Rank 0]: Ranks {', '.join(map(str, late))} failed to pass monitoredBarrier in {round(seconds * 1000)} ms")
    for other in range(1, member.size):
        member.send_bytes(other, b"")
