"""Checkpoints that processes write together, written once for both libraries. See `process`."""
import dataclasses
import os
import re
import tempfile
import warnings

from registry import case, told
from uneven_cases import rooms


def folder_of(torch):
    """A folder that all processes know."""
    found = [tempfile.mkdtemp() if torch.distributed.get_rank() == 0 else None]
    torch.distributed.broadcast_object_list(found, 0)
    return found[0]


def failing(call):
    """What a call that fails in several processes says: of each the error."""
    try:
        return call()
    except BaseException as error:
        return [type(error).__name__, error.args[0], {rank: f"{type(one).__name__}: {one}" for rank, (one, _) in error.failures.items()}]


def table(torch, folder):
    """What a checkpoint's table of contents says, without lengths, places and marks."""
    metadata = rooms(torch, "checkpoint").FileSystemReader(folder).read_metadata()
    marks = sorted(name for name, value in dataclasses.asdict(metadata.storage_meta).items() if value)
    kept = {str(index): info.relative_path for index, info in metadata.storage_data.items()}
    return [str(metadata.state_dict_metadata), str(metadata.planner_data), kept, marks, metadata.version, sorted(os.listdir(folder))]


def net_of(torch, rank=0):
    torch.manual_seed(rank)
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2, bias=False))


def written(value):
    """A nest as text, with few digits."""
    if isinstance(value, dict):
        return {str(key): written(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(written, value)]
    if hasattr(value, "dtype"):
        return f"{value.dtype} {tuple(value.shape)} {value.double().sum().item():.4f} {value.requires_grad}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@case
def written_and_read(torch, rank, world):
    """What all have alike is written once, what each has by itself; then all of it is read."""
    dcp, folder, found = rooms(torch, "checkpoint"), folder_of(torch), []
    net = net_of(torch)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    net(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    state = {"net": net, "optimizer": optimizer, f"of {rank}": torch.full((2, 2), float(rank)), "epoch": 3, "list": [1, torch.ones(3), "x"],
             "nest": {"deep": {"half": torch.ones(2, dtype=torch.float16), "pair": (1, 2.5)}}, "row": torch.arange(6).reshape(2, 3)[1],
             "none": torch.zeros(0, 2), "z": torch.tensor([1j])}
    metadata = dcp.save(state, checkpoint_id=folder)
    found += [type(metadata).__name__, table(torch, folder)]
    torch.distributed.barrier()
    other = net_of(torch, 9)
    again = torch.optim.Adam(other.parameters(), lr=1.0)
    target = {"net": other, f"of {rank}": torch.zeros(2, 2), "epoch": None, "list": [0, torch.zeros(3), None],
              "nest": {"deep": {"half": torch.zeros(2, dtype=torch.float16), "pair": None}}, "row": torch.zeros(3, dtype=torch.int64),
              "none": torch.ones(0, 2), "z": torch.zeros(1, dtype=torch.complex64)}
    kept = target["row"]
    dcp.load(target, checkpoint_id=folder)
    found += [written({name: one for name, one in target.items() if name not in ("net", "z")}), str(target["z"]), kept.tolist()]
    found.append(all(bool((a == b).all()) for a, b in zip(net.state_dict().values(), other.state_dict().values(), strict=True)))
    names = rooms(torch, "checkpoint.state_dict")
    dcp.load({"optimizer": {"state": optimizer.state_dict()["state"]}}, checkpoint_id=folder)
    found += [written(again.state_dict()["state"]), sorted(names.get_optimizer_state_dict(other, again)["state"])]
    for wrong in ({"absent": 1}, {"row": torch.zeros(2)}, {"epoch": torch.zeros(1)}, {"row": 5}):
        found.append(failing(lambda wrong=wrong: dcp.load(wrong, checkpoint_id=folder)))
    partly = {"epoch": 0, "absent": 7}
    dcp.load(partly, checkpoint_id=folder, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    found += [partly, failing(lambda: dcp.save({f"f{rank}": (lambda: 0) if rank == world - 1 else 1}, checkpoint_id=folder))[:2]]
    return found


@case
def ways_of_writing(torch, rank, world):
    dcp, found = rooms(torch, "checkpoint"), []
    state = {"a": torch.arange(4.0), "b": torch.ones(9), "c": {"d": torch.ones(2), "e": "text"}, f"own {rank}": rank}
    files = rooms(torch, "checkpoint.filesystem")
    for kwargs, planner in (({"thread_count": 2}, dcp.DefaultSavePlanner(dedup_save_to_lowest_rank=True)),
                            ({"single_file_per_rank": False, "sync_files": False}, None),
                            ({}, dcp.DefaultSavePlanner(flatten_state_dict=False))):
        folder = folder_of(torch)
        writer = dcp.FileSystemWriter(folder, **kwargs)
        dcp.save(state, storage_writer=writer, planner=planner)
        found += [table(torch, folder), type(writer.storage_meta()).__name__, str(writer.checkpoint_id) == folder]
        torch.distributed.barrier()
    plain = {"a": torch.zeros(4), "c": None}
    dcp.load(plain, storage_reader=dcp.FileSystemReader(folder), planner=dcp.DefaultLoadPlanner(flatten_state_dict=False))
    found.append(written(plain))
    alone = folder_of(torch)
    dcp.save(state, checkpoint_id=alone, use_collectives=False)
    found.append(sorted(os.listdir(alone)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dcp.save(state, checkpoint_id=folder)
        dcp.save({"mine": torch.ones(1)}, checkpoint_id=os.path.join(alone, str(rank)), no_dist=True)
        dcp.load({"mine": torch.ones(1)}, checkpoint_id=os.path.join(alone, str(rank)), no_dist=True)
        dcp.save_state_dict(state, files.FileSystemWriter(folder))
        dcp.load_state_dict({"a": torch.ones(4)}, files.FileSystemReader(folder))
    found.append([[w.category.__name__, re.sub(r"/\S+,", "FOLDER,", str(w.message))] for w in caught])
    torch.distributed.barrier()
    refusing = dcp.FileSystemWriter(folder, overwrite=False)
    found += [failing(lambda: dcp.save(state, storage_writer=refusing)), told(lambda: dcp.save(state)), told(lambda: dcp.load(state)),
              told(lambda: dcp.save(state, checkpoint_id="nowhere://at/all"))]
    found.append([files.FileSystem.validate_checkpoint_id(one) for one in (folder, "a://b", "relative", "/tmp/x")])
    return found


@case
def states_by_name(torch, rank, world):
    """What is wrapped around a module has no part in the names; states given back to others."""
    names, found = rooms(torch, "checkpoint.state_dict"), []
    Options = names.StateDictOptions
    found.append(str(Options()))
    net = net_of(torch, rank)
    net[2].weight = torch.nn.Parameter(torch.ones(2, 2), requires_grad=False)
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.AdamW([{"params": net[0].parameters(), "lr": 0.5}, {"params": net[1].parameters()}], lr=0.1)
    model_state, optimizer_state = names.get_state_dict(ddp, optimizer)
    found += [list(model_state), written(optimizer_state), model_state["0.weight"].data_ptr() == net[0].weight.data_ptr()]
    for options in (Options(ignore_frozen_params=True), Options(full_state_dict=True), Options(full_state_dict=True, cpu_offload=True),
                    Options(flatten_optimizer_state_dict=True)):
        found.append(told(lambda options=options: [*map(written, names.get_state_dict(ddp, optimizer, options=options))]))
    sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    flat = names.get_optimizer_state_dict(ddp, sgd, options=Options(flatten_optimizer_state_dict=True))
    found.append(written(flat))
    other = net_of(torch, 5 + rank)
    again = torch.optim.SGD(other.parameters(), lr=9.0, momentum=0.1)
    names.set_optimizer_state_dict(other, again, flat, options=Options(flatten_optimizer_state_dict=True))
    found += [written(again.state_dict()), str(names.set_model_state_dict(other, dict(model_state)))]
    third = torch.nn.parallel.DistributedDataParallel(net_of(torch, 5 + rank))
    adam = torch.optim.AdamW([{"params": third.module[0].parameters(), "lr": 1.5}, {"params": third.module[1].parameters()}])
    found.append(str(names.set_state_dict(third, adam, model_state_dict=dict(model_state), optim_state_dict=optimizer_state)))
    found += [written(adam.state_dict()), written(third.state_dict())]
    return found


@case
def states_of_the_first(torch, rank, world):
    """One process's states are given to all; what is refused."""
    names = rooms(torch, "checkpoint.state_dict")
    Options = names.StateDictOptions
    net = net_of(torch, rank)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1 * (rank + 1))
    model_state, state = names.get_state_dict(net, optimizer) if rank == 0 else ({}, {})
    options, found = Options(full_state_dict=True, broadcast_from_rank0=True), []
    other = net_of(torch, 7 + rank)
    adam = torch.optim.Adam(other.parameters(), lr=3.0)
    found.append(str(names.set_model_state_dict(other, model_state, options=options)))
    names.set_optimizer_state_dict(other, adam, state, options=options)
    found += [written(other.state_dict()), written(adam.state_dict())]
    names.set_optimizer_state_dict(net, optimizer, names.get_optimizer_state_dict(other, adam), options=Options(full_state_dict=True))
    found.append(written(optimizer.state_dict()))
    mine, of_adam = names.get_state_dict(net, optimizer)
    less = {**of_adam, "state": {name: one for name, one in of_adam["state"].items() if name != "0.bias"}}
    wrapped = torch.nn.parallel.DistributedDataParallel(net)
    fewer = {name: one for name, one in mine.items() if name != "0.bias"}
    for refused in (lambda: names.get_model_state_dict(net, options=Options(broadcast_from_rank0=True)),
                    lambda: names.get_optimizer_state_dict(net, []), lambda: names.set_model_state_dict(net, {}),
                    lambda: names.set_optimizer_state_dict(net, optimizer, {}),
                    lambda: names.set_optimizer_state_dict(net, optimizer, less),
                    lambda: names.set_model_state_dict(wrapped, dict(fewer)), lambda: names.set_model_state_dict(net, dict(fewer)),
                    lambda: str(names.set_model_state_dict(net, dict(fewer), options=Options(strict=False))),
                    lambda: names.get_optimizer_state_dict(torch.nn.Linear(1, 1), optimizer)):
        found.append(told(refused))
    return found
