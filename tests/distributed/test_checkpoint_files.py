"""Checkpoints that one library writes are read by the other; and what one process does with them, beside PyTorch."""
import concurrent.futures
import pickle
import re

import pytest

import jtensor
import jtensor.distributed.checkpoint as _  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is", "ignore:Detected an existing checkpoint",
                                        "ignore:`_get_pg_default_device` will be deprecated")       # which PyTorch itself calls


def state(torch, filled):
    def of(values):
        return values if filled else torch.zeros_like(values)
    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(of(torch.tensor([[1.0, 2.0]])))
        layer.bias.copy_(of(torch.tensor([3.0])))
    return {"whole": of(torch.arange(6.0).reshape(2, 3)), "turned": of(torch.arange(6.0).reshape(2, 3).t()), "layer": layer,
            "part": of(torch.arange(10)[2:5]), "half": of(torch.ones(2, dtype=torch.bfloat16)), "complex": of(torch.tensor([1j])),
            "none": torch.zeros(0, 2), "scalar": of(torch.tensor(True)),
            "nest": {"deep": [1, "x", (of(torch.ones(1)), 2.5)] if filled else 0}}


def shown(state):
    return {key: str(one.state_dict()) if key == "layer" else str(one) for key, one in state.items()}


def answers(torch, folder):
    """What one process does with checkpoints, as text."""
    dcp, kit = torch.distributed.checkpoint, __import__(f"{torch.__name__}.distributed.checkpoint.format_utils", fromlist=["x"])

    def told(call):
        try:
            return str(call())
        except dcp.CheckpointException as error:
            return str([error.args[0], {rank: f"{type(one).__name__}: {one}" for rank, (one, _) in error.failures.items()}])
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    at, found = str(folder / torch.__name__), []
    dcp.save(state(torch, True), checkpoint_id=at)
    kit.dcp_to_torch_save(at, at + ".pt")
    whole = torch.load(at + ".pt")
    found.append(str({key: str(one) for key, one in whole.items()}))
    kit.torch_save_to_dcp(at + ".pt", at + "again")
    found.append(sorted(dcp.FileSystemReader(at + "again").read_metadata().state_dict_metadata))
    future = dcp.async_save({"x": whole["whole"], "l": [1, 2]}, checkpoint_id=at + "later")
    whole["whole"].zero_()                                          # what is written was copied before
    found.append([isinstance(future, concurrent.futures.Future), type(future.result()).__name__])
    target = {"x": torch.zeros(2, 3), "l": None}
    dcp.load(target, checkpoint_id=at + "later")
    found.append(str(target))
    object_of_old = {"complex": 1j, "kept": 3, "absent": {1}}
    dcp.load(object_of_old, checkpoint_id=at + "later", planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    found.append(str(object_of_old))
    torch.save({"w": torch.ones(2), "n": 5}, at + ".flat")
    reading = {"storage_reader": kit.BroadcastingTorchSaveReader(), "planner": kit.DynamicMetaLoadPlanner()}
    found += [told(call) for call in (
        lambda: dcp.load({"absent": 1}, checkpoint_id=at), lambda: dcp.load({"whole": torch.zeros(2)}, checkpoint_id=at),
        lambda: dcp.load({"whole": torch.zeros(2, 3, device="meta")}, checkpoint_id=at), lambda: dcp.load([1], checkpoint_id=at),
        lambda: dcp.save({"f": torch.ones(2).to_sparse()}, checkpoint_id=at), lambda: dcp.save(1, checkpoint_id=at), lambda: dcp.save({}),
        lambda: dcp.save({"a": {"b": 1}, "a.b": 2}, checkpoint_id=at), lambda: dcp.load({"n": 5}, checkpoint_id=at + ".flat", **reading),
        lambda: dcp.FileSystemWriter(at, overwrite=False).prepare_local_plan(dcp.SavePlan([])))]
    return [re.sub(r"jtensor", "torch", str(one)) for one in found]


def test_one_process_does_what_pytorchs_does(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.distributed.checkpoint")
    assert answers(jtensor, tmp_path) == answers(torch, tmp_path)


@pytest.mark.parametrize("back", [False, True])
def test_what_one_library_writes_the_other_reads(tmp_path, back):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.distributed.checkpoint")
    writing, reading = (torch, jtensor) if back else (jtensor, torch)
    made = state(writing, True)
    writing.distributed.checkpoint.save(made, checkpoint_id=tmp_path)
    target = state(reading, False)
    assert shown(target) != shown(made)
    reading.distributed.checkpoint.load(target, checkpoint_id=tmp_path)
    assert shown(target) == shown(made)
    tables = [lib.distributed.checkpoint.FileSystemReader(tmp_path).read_metadata() for lib in (writing, reading)]
    mine, theirs = (str([t.state_dict_metadata, t.planner_data, t.storage_data, t.version]) for t in tables)
    assert mine == theirs
    assert type(tables[1]) is reading.distributed.checkpoint.Metadata


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    from jtensor.distributed import checkpoint

    class Unwritable:
        def __reduce__(self):
            raise OSError("unwritable")
    checkpoint.save({"a": jtensor.ones(2)}, checkpoint_id=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(checkpoint.CheckpointException, match="unwritable"):
        checkpoint.save({"a": jtensor.zeros(2), "b": Unwritable()}, checkpoint_id=tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_names_of_what_is_not_there_refuse():
    from jtensor.distributed import checkpoint
    for refused in (checkpoint.HuggingFaceStorageReader, checkpoint.HuggingFaceStorageWriter, checkpoint.QuantizedHuggingFaceStorageReader,
                    checkpoint.load_sharded_optimizer_state_dict, lambda: checkpoint.FileSystemWriter("x", _extensions=[1]),
                    lambda: checkpoint.async_save({}, async_stager=1)):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()


def test_a_failure_is_told_with_its_process():
    from jtensor.distributed.checkpoint import CheckpointException
    error = CheckpointException("write", {1: (ValueError("v"), None)})
    assert str(error) == "CheckpointException ranks:dict_keys([1])\nTraceback (most recent call last): (RANK 1)\nValueError: v\n"
    assert str(pickle.loads(pickle.dumps(error)).failures) == "{1: (ValueError('v'), None)}"
