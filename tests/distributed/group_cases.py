"""What members of a group do together and what stores do, written once for both libraries. See `process`."""
import datetime
import re
import zlib

import numpy as np
from registry import case, told

# -- who is there ------------------------------------------------------------------------------------------------------

@case
def who(torch, rank, world):
    dist = torch.distributed
    return [dist.is_available(), dist.is_initialized(), dist.get_rank(), dist.get_world_size(), dist.get_backend(),
            dist.group.WORLD.rank(), dist.group.WORLD.size(), dist.group.WORLD is dist.distributed_c10d._get_default_group(),
            dist.GroupMember.WORLD is dist.group.WORLD,
            dist.get_process_group_ranks(dist.group.WORLD), dist.get_process_group_ranks(None), dist.get_pg_count(),
            isinstance(dist.group.WORLD, dist.ProcessGroup), dist.group.WORLD.name(), dist.group.WORLD.group_name,
            dist.group.WORLD.group_desc,
            repr(dist.get_backend_config()), type(dist.get_backend()).__name__, dist.is_gloo_available(), dist.is_backend_available("gloo"),
            dist.is_backend_available("nonsense"), dist.get_global_rank(dist.group.WORLD, 0), dist.get_group_rank(dist.group.WORLD, 0)]


@case
def made_twice(torch, rank, world):
    return told(lambda: torch.distributed.init_process_group("gloo", rank=rank, world_size=world, init_method="env://"))


# -- one tensor of all -------------------------------------------------------------------------------------------------

def numbers(torch, rank, dtype, shape=(2, 3)):
    made = torch.arange(6).reshape(2, 3) * (rank + 1) % 5 + 1
    return (made % 2 == rank % 2) if dtype is torch.bool else made.to(dtype)


@case
def reduced(torch, rank, world):
    dist, found = torch.distributed, {}
    for kind in "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64".split():
        for op in "SUM PRODUCT MIN MAX BAND BOR BXOR AVG".split():
            def one(kind=kind, op=op):
                t = numbers(torch, rank, getattr(torch, kind))
                answer = dist.all_reduce(t, op=getattr(dist.ReduceOp, op))
                return [repr(answer), t.tolist() if kind != "complex64" else str(t), t._version]
            found[f"{kind} {op}"] = told(one)
    return found


@case
def reduced_to_one(torch, rank, world):
    t = torch.full((3,), float(rank + 1))
    torch.distributed.reduce(t, dst=world - 1)
    averaged = told(lambda: torch.distributed.reduce(torch.ones(2), 0, op=torch.distributed.ReduceOp.AVG))
    kept = t.tolist() if rank == world - 1 else "open"
    u = torch.tensor([rank, -rank])
    torch.distributed.reduce(u, 0, op=torch.distributed.ReduceOp.MAX)
    return [kept, u.tolist() if rank == 0 else "open", t._version, u._version, str(averaged)]


@case
def sent_to_all(torch, rank, world):
    found = []
    for dtype in (torch.float32, torch.bfloat16, torch.bool, torch.int64, torch.complex64):
        t = numbers(torch, rank, dtype)
        torch.distributed.broadcast(t, src=world - 1)
        found.append(str(t))
    scalar = torch.tensor(float(rank))
    torch.distributed.broadcast(scalar, 0)
    empty = torch.empty(0)
    torch.distributed.broadcast(empty, 0)
    parameter = torch.nn.Parameter(torch.full((2,), float(rank)))
    torch.distributed.broadcast(parameter.data, 0)
    return [found, scalar.item(), empty.tolist(), str(parameter), parameter._version]


@case
def leaves(torch, rank, world):
    """A tensor that requires a gradient."""
    leaf = torch.full((2,), float(rank), requires_grad=True)
    answer = told(lambda: torch.distributed.broadcast(leaf, 0))
    result = leaf * 2
    second = told(lambda: torch.distributed.all_reduce(result))
    return [str(answer), str(leaf), leaf._version, str(second), str(result.tolist()), result._version, result.requires_grad]


@case
def views(torch, rank, world):
    base = torch.zeros(3, 4)
    row = base[1]
    torch.distributed.all_reduce(row.add_(rank + 1))
    turned = torch.arange(6.0).reshape(2, 3).t()
    answer = told(lambda: torch.distributed.broadcast(turned, 0))
    return [base.tolist(), str(answer), turned.tolist()]


@case
def gathered(torch, rank, world):
    dist = torch.distributed
    t = torch.arange(2) + 10 * rank
    parts = [torch.zeros(2, dtype=torch.int64) for _ in range(world)]
    dist.all_gather(parts, t)
    whole = torch.zeros(2 * world, dtype=torch.int64)
    dist.all_gather_into_tensor(whole, t)
    stacked = torch.zeros(world, 2, dtype=torch.int64)
    refused = told(lambda: dist.all_gather_into_tensor(stacked, t))
    mine = [torch.zeros(2, dtype=torch.int64) for _ in range(world)] if rank == 0 else None
    dist.gather(t, mine, dst=0)
    return [[p.tolist() for p in parts], whole.tolist(), refused, mine and [p.tolist() for p in mine], [p._version for p in parts],
            whole._version, mine and [p._version for p in mine]]


@case
def gathered_of_other_sizes(torch, rank, world):
    t = torch.arange(float(rank + 1))
    parts = [torch.zeros(r + 1) for r in range(world)]
    answer = told(lambda: torch.distributed.all_gather(parts, t))
    return [str(answer), [p.tolist() for p in parts]]


@case
def scattered(torch, rank, world):
    dist = torch.distributed
    t = torch.zeros(2)
    dist.scatter(t, [torch.full((2,), float(r)) for r in range(world)] if rank == 0 else None, src=0)
    summed = torch.zeros(2)
    first = told(lambda: dist.reduce_scatter(summed, [torch.full((2,), float(r + rank)) for r in range(world)]))
    part = torch.zeros(2)
    second = told(lambda: dist.reduce_scatter_tensor(part, torch.arange(2.0 * world) * (rank + 1)))
    return [t.tolist(), str(first), summed.tolist(), str(second), part.tolist(), t._version, summed._version, part._version]


@case
def all_to_all(torch, rank, world):
    dist = torch.distributed
    got = [torch.zeros(1) for _ in range(world)]
    first = told(lambda: dist.all_to_all(got, [torch.full((1,), 10.0 * rank + r) for r in range(world)]))
    whole = torch.zeros(world)
    second = told(lambda: dist.all_to_all_single(whole, torch.arange(float(world)) + 10 * rank))
    sizes = [r + 1 for r in range(world)]
    uneven = torch.zeros((rank + 1) * world)
    dist.all_to_all_single(uneven, torch.arange(float(sum(sizes))) + 100 * rank, [rank + 1] * world, sizes)
    return [str(first), [g.tolist() for g in got], str(second), whole.tolist(), uneven.tolist(), [g._version for g in got],
            whole._version, uneven._version]


# -- from one to another -----------------------------------------------------------------------------------------------

@case
def messages(torch, rank, world):
    dist = torch.distributed
    t = torch.full((2,), float(rank))
    got = torch.zeros(2)
    if rank == 0:
        dist.send(t, 1 % world) if world > 1 else None
    elif rank == 1:
        sender = dist.recv(got, 0)
        return [sender, got.tolist()]
    return t.tolist()


@case
def messages_later(torch, rank, world):
    dist = torch.distributed
    if world == 1:
        return "alone"
    out, got = torch.full((2,), float(rank)), torch.zeros(2)
    sending = dist.isend(out, (rank + 1) % world)
    receiving = dist.irecv(got, (rank - 1) % world)
    answers = [receiving.wait(), sending.wait()]
    return [answers, got.tolist(), receiving.is_completed(), isinstance(receiving, dist.Work)]


@case
def messages_from_anybody(torch, rank, world):
    dist = torch.distributed
    if rank:
        dist.send(torch.tensor([rank, rank * rank]), 0)
        return None
    found = []
    for _ in range(world - 1):
        got = torch.zeros(2, dtype=torch.int64)
        found.append([dist.recv(got), got.tolist()])
    return sorted(found)


@case
def messages_by_tag(torch, rank, world):
    dist = torch.distributed
    if world == 1:
        return "alone"
    if rank == 0:
        works = [dist.isend(torch.tensor([float(tag)]), 1, tag=tag) for tag in (1, 2)]
        [w.wait() for w in works]
    elif rank == 1:
        second, first = torch.zeros(1), torch.zeros(1)
        dist.recv(second, 0, tag=2)
        dist.recv(first, 0, tag=1)
        return [first.item(), second.item()]
    return None


@case
def messages_at_once(torch, rank, world):
    dist = torch.distributed
    if world == 1:
        return "alone"
    out, got = torch.arange(2.0) + 2 * rank, torch.zeros(2)
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, out, (rank + 1) % world), dist.P2POp(dist.irecv, got, (rank - 1) % world)])
    for work in works:
        work.wait()
    return [got.tolist(), len(works)]


# -- later -------------------------------------------------------------------------------------------------------------

@case
def later(torch, rank, world):
    dist = torch.distributed
    one, two = torch.full((2,), float(rank)), torch.full((2,), rank)
    works = [dist.all_reduce(one, async_op=True), dist.broadcast(two, 0, async_op=True)]
    answers = [w.wait() for w in works]
    value = works[0].get_future().wait()
    return [answers, one.tolist(), two.tolist(), [w.is_completed() for w in works], works[0].is_success(), type(value).__name__,
            [v.tolist() for v in value], [v.tolist() for v in works[0].result()]]


@case
def barrier(torch, rank, world):
    answer = torch.distributed.barrier()
    work = torch.distributed.barrier(async_op=True)
    return [answer, work.wait(), torch.distributed.monitored_barrier(timeout=datetime.timedelta(seconds=20))]


# -- objects -----------------------------------------------------------------------------------------------------------

@case
def objects(torch, rank, world):
    dist = torch.distributed
    found = [None] * world
    dist.all_gather_object(found, {"rank": rank, "text": "x" * rank, "t": torch.full((2,), float(rank))})
    sent = [rank, "a" * 3, None] if rank == 0 else [None] * 3
    dist.broadcast_object_list(sent, src=0)
    mine = [None] * world if rank == 0 else None
    dist.gather_object((rank, [rank]), mine, dst=0)
    got = [None]
    dist.scatter_object_list(got, [{"for": r} for r in range(world)] if rank == 0 else None, src=0)
    return [str(found), sent, mine, got]


@case
def objects_by_message(torch, rank, world):
    dist = torch.distributed
    if world == 1:
        return "alone"
    if rank == 0:
        dist.send_object_list([1, "two", {3: 4}], dst=1)
    elif rank == 1:
        got = [None] * 3
        return [dist.recv_object_list(got, src=0), got]
    return None


# -- groups ------------------------------------------------------------------------------------------------------------

@case
def groups(torch, rank, world):
    dist = torch.distributed
    evens = dist.new_group(list(range(0, world, 2)))
    alone = dist.new_group([world - 1])
    everybody = dist.new_group()
    found = [dist.get_rank(evens), dist.get_world_size(evens), dist.get_rank(alone), evens is dist.GroupMember.NON_GROUP_MEMBER,
             dist.get_process_group_ranks(everybody), dist.get_pg_count() - 4 + (rank % 2) + (rank != world - 1)]
    if rank % 2 == 0:
        t = torch.tensor([rank + 1])
        dist.all_reduce(t, group=evens)
        found += [t.item(), dist.get_global_rank(evens, rank // 2), dist.get_group_rank(evens, rank)]
        u = torch.tensor([rank])
        dist.broadcast(u, src=0, group=evens)
        v = torch.tensor([rank])
        dist.broadcast(v, group_src=dist.get_world_size(evens) - 1, group=evens)
        found += [u.item(), v.item(), told(lambda: dist.broadcast(u, src=1, group=evens)), told(lambda: dist.get_global_rank(evens, 7)),
                  told(lambda: dist.get_group_rank(evens, 1))]
        found = [re.sub(" at 0x[0-9a-f]+", "", f) if isinstance(f, str) else f for f in found]
    else:
        t = torch.tensor([rank + 1])
        found += [dist.all_reduce(t, group=evens), t.item()]
    every = torch.tensor([rank])
    dist.all_reduce(every, group=everybody)
    for one in (evens, alone, everybody):
        if one is not dist.GroupMember.NON_GROUP_MEMBER:
            dist.destroy_process_group(one)
    return [*found, every.item(), dist.get_pg_count()]


@case
def subgroups(torch, rank, world):
    dist = torch.distributed
    mine, groups = dist.new_subgroups(1)
    found = [mine.size(), mine.rank(), len(groups)]
    mine, groups = dist.new_subgroups_by_enumeration([[r] for r in range(world)])
    found += [mine.size(), len(groups), told(lambda: dist.new_subgroups(world + 1))]
    return found


# -- bits --------------------------------------------------------------------------------------------------------------

@case
def bits(torch, rank, world):
    """Sums of three and more have an order: it is the same."""
    found = []
    for count in (1, 2, 5, 17, 1000, 123_457):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            drawn = np.random.default_rng(100 * rank + count).standard_normal(count).astype(np.float32)
            t = torch.from_numpy(drawn).to(dtype)
            torch.distributed.all_reduce(t)
            found.append(zlib.crc32(t.float().numpy().tobytes()))
    return found


# -- refusals ----------------------------------------------------------------------------------------------------------

@case
def refused(torch, rank, world):
    dist = torch.distributed
    t = torch.zeros(2)
    calls = [
        lambda: dist.all_reduce([t]), lambda: dist.all_reduce(1), lambda: dist.broadcast(t, world), lambda: dist.broadcast(t),
        lambda: dist.all_gather(t, t), lambda: dist.all_gather([t] * (world + 1), t), lambda: dist.all_gather([t.long()] * world, t),
        lambda: dist.all_gather_into_tensor(torch.zeros(2 * world + 1), t),
        lambda: dist.all_gather_into_tensor(torch.zeros(2 * world).long(), t),
        lambda: dist.send(t, rank), lambda: dist.send(t),
        lambda: dist.new_group([world]),
        lambda: dist.new_group([0, 0]), lambda: dist.get_backend("x"), lambda: dist.P2POp(dist.all_reduce, t, 0),
        lambda: dist.batch_isend_irecv([]), lambda: dist.batch_isend_irecv([1]), lambda: dist.get_global_rank(dist.group.WORLD, world),
        lambda: dist.all_gather_object([], 1) if world > 1 else "one",
        lambda: dist.Backend("odd"), lambda: dist.all_reduce(t, op="sum"),
        lambda: dist.new_group(backend="nccl", ranks=[0]), lambda: dist.scatter(t, [t] * world, src=rank + 1), lambda: dist.get_rank(3),
        lambda: dist.broadcast(t, 0, group_src=0),
        lambda: dist.reduce(t), lambda: dist.all_gather([t[:1]] * world, t), lambda: dist.gather(t, [t], dst=rank + 1),
    ]
    return [re.sub(" at 0x[0-9a-f]+", "", str(told(call))) for call in calls]


# -- stores ------------------------------------------------------------------------------------------------------------

@case
def store(torch, rank, world):
    dist, found = torch.distributed, []
    inner = dist.HashStore()
    for s in (inner, dist.PrefixStore("p", inner)):
        s.set("k", "v")
        found += [str(s.get("k")), s.add("n", 2), s.add("n", 3), str(s.get("n")), s.check(["k"]), s.check(["k", "no"]), s.delete_key("k"),
                  s.delete_key("k"), str(s.compare_set("c", "", "first")), str(s.compare_set("c", "first", "second")),
                  str(s.compare_set("c", "first", "third")), s.num_keys(), s.timeout.total_seconds(), str(s.wait(["n"])),
                  s.has_extended_api()]
        s.set_timeout(datetime.timedelta(milliseconds=10))
        found += [s.timeout.total_seconds(), told(lambda s=s: s.wait(["never"], datetime.timedelta(milliseconds=10))),
                  told(lambda s=s: s.get("never"))]
        s.append("a", "one")
        s.append("a", "two")
        s.multi_set(["x", "y"], ["1", "2"])
        found += [str(s.get("a")), str(s.multi_get(["x", "y"]))]
    return found
