"""`torch.distributed` without a group: what is asked answers, what needs a group says that there is none."""
import copy
import importlib
import inspect

import pytest

import jtensor
from jtensor import distributed
from jtensor.base.errors import MissingFeature
from jtensor.distributed import distributed_c10d

NEED_A_GROUP = """all_gather all_gather_into_tensor all_gather_object all_reduce all_to_all all_to_all_single barrier
    broadcast broadcast_object_list gather gather_object get_backend get_backend_config get_process_group_ranks get_rank
    get_world_size irecv isend monitored_barrier new_group recv recv_object_list reduce reduce_scatter reduce_scatter_tensor
    scatter scatter_object_list send send_object_list""".split()


@pytest.mark.parametrize("name", NEED_A_GROUP)
def test_what_needs_a_group_says_that_there_is_none(name):
    function = getattr(distributed, name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    given = [[jtensor.ones(1)] if p.name.endswith("list") else jtensor.ones(1) for p in needed]
    with pytest.raises(ValueError, match="Default process group has not been initialized, please make sure to call init_process_group."):
        function(*given)


@pytest.mark.parametrize("name", NEED_A_GROUP)
def test_arguments_are_pytorchs(name):
    theirs = pytest.importorskip("torch").distributed
    assert list(inspect.signature(getattr(distributed, name)).parameters) == list(inspect.signature(getattr(theirs, name)).parameters)


def test_questions_answer():
    assert distributed.is_available() and not distributed.is_initialized() and distributed.is_backend_available("gloo")
    assert [getattr(distributed, f"is_{kind}_available")() for kind in ("gloo", "nccl", "mpi", "ucc", "xccl")] == [True] + [False] * 4
    assert not distributed.rpc.is_available()
    assert distributed.group.WORLD is None is distributed.GroupMember.WORLD
    assert distributed.get_pg_count() == 0 and distributed.get_global_rank(None, 0) == 0
    with pytest.raises(ValueError, match="Default process group"):
        distributed_c10d._get_default_group()


def test_the_rank_on_the_machine_is_the_environments(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert distributed.get_node_local_rank(3) == 3
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        distributed.get_node_local_rank()
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert distributed.get_node_local_rank(3) == 2


def test_operations_and_backends_are_named_as_there():
    theirs = pytest.importorskip("torch").distributed
    for name, op in theirs.ReduceOp.RedOpType.__members__.items():
        mine = getattr(distributed.ReduceOp, name)
        assert (repr(mine), str(mine), int(mine)) == (repr(op), str(op), int(op))
    assert distributed.Backend("NCCL") == "nccl" and distributed.Backend.GLOO == theirs.Backend.GLOO
    assert distributed.ReduceOp(distributed.ReduceOp.MAX) == distributed.ReduceOp.MAX
    with pytest.raises(ValueError, match="must be string-ish"):
        distributed.Backend(3)


def test_what_would_make_a_mesh_is_refused():
    assert not isinstance(jtensor.ones(1), distributed.DeviceMesh)
    with pytest.raises(MissingFeature, match="meshes of devices"):
        distributed.DeviceMesh("cpu", [0])
    with pytest.raises(MissingFeature, match="meshes of devices"):
        distributed.init_device_mesh("cpu", (1,))


def test_a_group_is_made_and_ended():
    for backend, text in (("nccl", "Distributed package doesn't have NCCL built in"), ("odd", "Unknown backend type odd")):
        with pytest.raises((RuntimeError, AssertionError), match=text):
            distributed.init_process_group(backend, store=distributed.HashStore(), rank=0, world_size=1)
        assert not distributed.is_initialized()
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        assert distributed.is_initialized() and distributed.get_world_size() == 1
        with pytest.raises(ValueError, match="twice"):
            distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        model = jtensor.nn.parallel.DistributedDataParallel(jtensor.nn.Linear(2, 1))
        copied = copy.deepcopy(model)
        for each in (model, copied):
            each(jtensor.ones(3, 2)).sum().backward()
            assert each.module.weight.grad.tolist() == [[3.0, 3.0]]
    finally:
        distributed.destroy_process_group()
    assert not distributed.is_initialized()
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        distributed.destroy_process_group()


def test_tensors_and_modules_on_several_devices():
    tensor, fsdp = (importlib.import_module(f"jtensor.distributed.{room}") for room in ("tensor", "fsdp"))
    assert not isinstance(jtensor.ones(1), tensor.DTensor) and not isinstance(jtensor.nn.Linear(1, 1), fsdp.FullyShardedDataParallel)
    for refused in (lambda: tensor.DTensor(jtensor.ones(1)), lambda: tensor.DTensor.from_local(jtensor.ones(1)),
                    lambda: tensor.distribute_tensor(jtensor.ones(1)), lambda: fsdp.FullyShardedDataParallel(jtensor.nn.Linear(1, 1)),
                    lambda: fsdp.fully_shard(jtensor.nn.Linear(1, 1)), fsdp.FSDPModule):
        with pytest.raises(MissingFeature, match="several devices"):
            refused()


ABSENT = """_functional_collectives.all_gather_tensor algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper
    algorithms.ddp_comm_hooks.powerSGD_hook.powerSGD_hook algorithms.ddp_comm_hooks.quantization_hooks.quantization_pertensor_hook
    checkpoint.hf_storage.HuggingFaceStorageReader checkpoint.optimizer.load_sharded_optimizer_state_dict
    fsdp.sharded_grad_scaler.ShardedGradScaler fsdp.wrap.enable_wrap
    fsdp.fully_sharded_data_parallel.FullyShardedDataParallel optim.DistributedOptimizer optim.as_functional_optim
    pipelining.pipeline tensor._utils.compute_local_shape_and_global_offset tensor.experimental.context_parallel
    tensor.experimental._attention.set_rotate_method tensor.placement_types._StridedShard""".split()


@pytest.mark.parametrize("place", ABSENT)
def test_what_libraries_import_is_there_and_refuses(place):
    room, _, name = place.rpartition(".")
    with pytest.raises(MissingFeature, match="what works"):
        getattr(importlib.import_module("jtensor.distributed." + room), name)([jtensor.ones(1)])


def test_rooms_by_their_first_names():
    room = lambda name: importlib.import_module("jtensor.distributed." + name)
    assert room("_tensor").DTensor is room("tensor").DTensor and room("_composable.fsdp").FSDPModule is room("fsdp").FSDPModule
    assert room("fsdp").MixedPrecisionPolicy(jtensor.bfloat16).cast_forward_inputs and room("fsdp").CPUOffloadPolicy().pin_memory
    with room("_tensor.experimental").implicit_replication():
        assert (jtensor.ones(2) + 1).tolist() == [2.0, 2.0]


def test_placements_read_as_there():
    theirs = pytest.importorskip("torch.distributed.tensor")
    mine = importlib.import_module("jtensor.distributed.tensor")
    for make in (lambda room: room.Shard(1), lambda room: room.Replicate(), lambda room: room.Partial(), lambda room: room.Partial("max")):
        one, other = make(mine), make(theirs)
        assert (repr(one), str(one)) == (repr(other), str(other)) and one == make(mine) and hash(one) == hash(make(mine))
        assert [one.is_shard(), one.is_shard(0), one.is_replicate(), one.is_partial()] == [
            other.is_shard(), other.is_shard(0), other.is_replicate(), other.is_partial()]
