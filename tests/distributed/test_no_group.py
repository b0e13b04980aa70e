"""`torch.distributed` without a group: what is asked answers, what needs a group says that there is none, what makes one is refused."""
import importlib
import inspect

import pytest

import jtensor
from jtensor import distributed
from jtensor.base.errors import MissingFeature
from jtensor.distributed import distributed_c10d

NEED_A_GROUP = """all_gather all_gather_into_tensor all_gather_object all_reduce all_to_all all_to_all_single barrier batch_isend_irecv
    broadcast broadcast_object_list gather gather_object get_backend get_backend_config get_process_group_ranks get_rank
    get_world_size irecv isend monitored_barrier new_group recv recv_object_list reduce reduce_scatter reduce_scatter_tensor
    scatter scatter_object_list send send_object_list""".split()


@pytest.mark.parametrize("name", NEED_A_GROUP)
def test_what_needs_a_group_says_that_there_is_none(name):
    function = getattr(distributed, name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    with pytest.raises(ValueError, match="Default process group has not been initialized, please make sure to call init_process_group."):
        function(*[None] * len(needed))


@pytest.mark.parametrize("name", NEED_A_GROUP)
def test_arguments_are_pytorchs(name):
    theirs = pytest.importorskip("torch").distributed
    assert list(inspect.signature(getattr(distributed, name)).parameters) == list(inspect.signature(getattr(theirs, name)).parameters)


def test_questions_answer():
    assert not distributed.is_available() and not distributed.is_initialized() and not distributed.is_backend_available("gloo")
    assert not any(getattr(distributed, f"is_{kind}_available")() for kind in ("nccl", "gloo", "mpi", "ucc", "xccl"))
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


@pytest.mark.parametrize("name", "ProcessGroup Work P2POp Store FileStore HashStore TCPStore GradBucket DeviceMesh".split())
def test_types_have_no_instance(name):
    kind = getattr(distributed, name)
    assert not isinstance(jtensor.ones(1), kind)
    with pytest.raises(MissingFeature, match="groups of processes"):
        kind("cpu", [0])


def test_what_would_make_a_group_is_refused():
    with pytest.raises(MissingFeature, match="groups of processes"):
        distributed.init_process_group("gloo")
    with pytest.raises(MissingFeature, match="groups of processes"):
        distributed.init_device_mesh("cpu", (1,))


def test_tensors_and_modules_on_several_devices():
    tensor, fsdp = (importlib.import_module(f"jtensor.distributed.{room}") for room in ("tensor", "fsdp"))
    assert not isinstance(jtensor.ones(1), tensor.DTensor) and not isinstance(jtensor.nn.Linear(1, 1), fsdp.FullyShardedDataParallel)
    for refused in (lambda: tensor.DTensor(jtensor.ones(1)), lambda: tensor.DTensor.from_local(jtensor.ones(1)),
                    lambda: tensor.distribute_tensor(jtensor.ones(1)), lambda: fsdp.FullyShardedDataParallel(jtensor.nn.Linear(1, 1)),
                    lambda: fsdp.fully_shard(jtensor.nn.Linear(1, 1)), fsdp.FSDPModule):
        with pytest.raises(MissingFeature, match="several devices"):
            refused()
    with pytest.raises(ValueError, match="Default process group"):
        importlib.import_module("jtensor.distributed.nn").all_reduce(jtensor.ones(1))


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
