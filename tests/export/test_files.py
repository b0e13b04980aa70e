"""`torch.export.save` and `load`: PyTorch's ``.pt2`` files. A kept one that PyTorch wrote, and exchanged with it live.

``python tests/export/test_files.py`` writes the kept file anew.
"""
import copy
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor.base.errors import MissingFeature

HERE = Path(__file__).parent
KEPT = HERE.parent / "goldens" / "exported.pt2"
sys.path.insert(0, str(HERE))
import exchange  # noqa: E402
import exported_cases as cases  # noqa: E402

sys.path.pop(0)
EXCHANGED = ["module_net_eval", "module_shared", "module_lstm", "module_named", "module_tied", "module_norms", "cast", "set_items", "made",
             "reduced", "masked", "lists", "indices", "images", "complex"]


def _exported(name):
    module, args, kwargs = cases.ours()[name]
    return jtensor.export.export(copy.deepcopy(module), args, kwargs)


def _bytes(program, **options):
    file = io.BytesIO()
    jtensor.export.save(program, file, **options)
    return file.getvalue()


def _close(one, other):
    """Nests of numbers, to their last digits."""
    if isinstance(one, list):
        assert len(one) == len(other)
        for part, there in zip(one, other, strict=True):
            _close(part, there)
    elif isinstance(one, (float, complex)):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)
    else:
        assert one == other


# -- here ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXCHANGED)
def test_what_is_written_is_read(name):
    program, (_, args, kwargs) = _exported(name), cases.ours()[name]
    read = jtensor.export.load(io.BytesIO(_bytes(program)))
    assert exchange.said(jtensor, read, args, kwargs)[0] == exchange.said(jtensor, program, args, kwargs)[0]
    assert list(read.state_dict) == list(program.state_dict) and list(read.constants) == list(program.constants)
    for key, one in read.state_dict.items():
        other = program.state_dict[key]
        assert type(one) is type(other) and one.dtype is other.dtype and one.requires_grad is other.requires_grad
        assert jtensor.equal(one, other) and one is not other
    for node, other in zip(read.graph.nodes, program.graph.nodes, strict=True):
        assert node.stack_trace == other.stack_trace and node.meta.get("nn_module_stack") == other.meta.get("nn_module_stack")
    assert _bytes(read) == _bytes(program)


def test_tied_weights_stay_tied():
    read = jtensor.export.load(io.BytesIO(_bytes(_exported("module_tied"))))
    assert read.state_dict["a.weight"] is read.state_dict["b.weight"]


@pytest.mark.parametrize("dtype", [jtensor.bfloat16, jtensor.float16, jtensor.complex64, jtensor.bool, jtensor.int8, jtensor.float64])
def test_tensors_of_all_types(dtype):
    class Net(jtensor.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", jtensor.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype))
            self.register_buffer("none", jtensor.zeros(0, 3))
            self.register_buffer("number", jtensor.tensor(3).to(dtype))

        def forward(self, x):
            return self.b.t() + self.number, x
    read = jtensor.export.load(io.BytesIO(_bytes(jtensor.export.export(Net(), (jtensor.ones(1),)))))
    assert jtensor.equal(read.state_dict["b"], Net().b) and read.state_dict["none"].shape == (0, 3)
    assert jtensor.equal(read.module()(jtensor.ones(1))[0], Net()(1)[0]) and read.state_dict["number"].dtype is dtype


def test_all_kinds_of_arguments():
    """Numbers that are not finite, complex ones, texts, dtypes, formats, empty lists, None."""
    class Net(jtensor.nn.Module):
        def forward(self, x, f):
            y = x.masked_fill(x > 1, float("inf")).masked_fill(x > 2, float("-inf")).masked_fill(x > 3, float("nan"))
            z = x.clone(memory_format=jtensor.contiguous_format) * (1 + 2j)
            return y, z, x.sum([]), x.sum(dtype=jtensor.float64), F.gelu(x, approximate="tanh"), x.clamp(None, 2.5), f
    F, x = jtensor.nn.functional, jtensor.arange(6.0).reshape(2, 3)
    program = jtensor.export.export(Net(), (x, float("inf")))
    read = jtensor.export.load(io.BytesIO(_bytes(program)))
    assert str(read.graph) == str(program.graph) and read.graph_module.code == program.graph_module.code
    assert [one.arg for one in read.graph_signature.input_specs] == [one.arg for one in program.graph_signature.input_specs]
    assert read.module()(x, float("inf"))[0].tolist()[0] == [0.0, 1.0, float("inf")] and "Infinity" in str(_bytes(program))


def test_a_path_and_further_records(tmp_path):
    program, extra = _exported("module_tied"), {"note.txt": None}
    jtensor.export.save(program, tmp_path / "net.pt2", extra_files={"note.txt": "hello"})
    jtensor.export.load(str(tmp_path / "net.pt2"), extra_files=extra)
    assert extra == {"note.txt": "hello"} and [one.name for one in tmp_path.iterdir()] == ["net.pt2"]


def test_a_write_that_fails_leaves_nothing(tmp_path):
    class Net(jtensor.nn.Module):
        def forward(self, x):
            return torch_pair(x)

    def torch_pair(x):
        return x.max(0)                                           # PyTorch has no name for this nest in a file, either
    with pytest.raises(NotImplementedError, match="No registered serialization name for <class 'torch.return_types.max'>"):
        jtensor.export.save(jtensor.export.export(Net(), (jtensor.ones(2, 3),)), tmp_path / "net.pt2")
    assert not list(tmp_path.iterdir())


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        jtensor.export.load(tmp_path / "none.pt2")
    with pytest.raises(zipfile.BadZipFile):
        jtensor.export.load(io.BytesIO(b"abc"))
    with pytest.raises(TypeError, match="The 'ep' parameter must be an instance of 'ExportedProgram', got 'Linear' instead."):
        jtensor.export.save(jtensor.nn.Linear(2, 2), tmp_path / "x.pt2")


def _edited(data, edit):
    """A file whose program's text was changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.endswith("models/model.json"):
                told = json.loads(text)
                edit(told)
                text = json.dumps(told)
            new.writestr(name, text)
    return io.BytesIO(made.getvalue())


@pytest.mark.parametrize("target", ["torch.ops.aten.nothing.default", "torch.ops.aten.relu.nothing", "torch.ops.__class__.relu.default",
                                    "torch.ops.aten.__class__.mro", "os.system", "_operator.add", "torch.ops.higher_order.cond"])
def test_a_file_can_name_operators_alone(target):
    def edit(told):
        told["graph_module"]["graph"]["nodes"][0]["target"] = target
    with pytest.raises(MissingFeature, match="the operator "):
        jtensor.export.load(_edited(_bytes(_exported("masked")), edit))


def test_what_is_not_here_is_refused():
    def ranged(told):
        told["range_constraints"] = {"s0": {"min_val": 2, "max_val": 5}}

    def sized(told):
        told["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0] = {"as_expr": {"expr_str": "s0"}}

    def later(told):
        told["schema_version"]["major"] = 9
    for edit in (ranged, sized):
        with pytest.raises(MissingFeature, match="sizes that may change in exported programs"):
            jtensor.export.load(_edited(_bytes(_exported("masked")), edit))
    with pytest.raises(RuntimeError, match="Serialized schema version"):
        jtensor.export.load(_edited(_bytes(_exported("masked")), later))


# -- with PyTorch -------------------------------------------------------------------------------------------------------


def test_a_kept_file_of_pytorchs():
    read, (_, args, kwargs) = jtensor.export.load(KEPT), cases.ours()["module_net_eval"]
    ours = exchange.said(jtensor, _exported("module_net_eval"), args, kwargs)
    found = exchange.said(jtensor, read, args, kwargs)
    assert found[0] == ours[0] and found[2:] == ours[2:]
    _close(found[1], ours[1])
    assert jtensor.equal(read.example_inputs[0][0], args[0])
    read.module()(*args).sum().backward()
    assert all(one.grad is not None for one in read.parameters())


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory):
    """(the folder of all files, what PyTorch says of ours)."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("exported")
    for name in EXCHANGED:
        jtensor.export.save(_exported(name), folder / f"{name}.ours.pt2")
    done = subprocess.run([sys.executable, str(HERE / "exchange.py"), str(folder), *EXCHANGED], capture_output=True, text=True, check=True)
    return folder, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", EXCHANGED)
def test_pytorch_reads_ours(name, exchanged):
    _, args, kwargs = cases.ours()[name]
    theirs = exchanged[1][name]
    ours = exchange.said(jtensor, _exported(name), args, kwargs)
    assert theirs[0] == ours[0] and theirs[2:] == ours[2:]
    _close(theirs[1], ours[1])


@pytest.mark.parametrize("name", EXCHANGED)
def test_pytorchs_are_read(name, exchanged):
    _, args, kwargs = cases.ours()[name]
    found = exchange.said(jtensor, jtensor.export.load(exchanged[0] / f"{name}.theirs.pt2"), args, kwargs)
    ours = exchange.said(jtensor, _exported(name), args, kwargs)
    assert found[0] == ours[0] and found[2:] == ours[2:]
    _close(found[1], ours[1])


@pytest.mark.parametrize("name", EXCHANGED)
def test_the_text_of_a_program_is_pytorchs(name, exchanged):
    """But for the version, and for where in the program a node came from."""
    def text(which):
        with zipfile.ZipFile(exchanged[0] / f"{name}.{which}.pt2") as archive:
            told = json.loads(archive.read(f"{name}.{which}/models/model.json"))
        del told["torch_version"]
        for node in told["graph_module"]["graph"]["nodes"]:
            node["metadata"].pop("torch_fn", None)
            node["metadata"].pop("stack_trace", None)
        # PyTorch says the outermost module's name twice where one writes to an attribute
        return json.loads(json.dumps(told).replace("jtensor", "torch").replace("L__self__L__self__", "L__self__"))
    assert text("ours") == text("theirs")


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, str(HERE / "exchange.py"), place, "module_net_eval"], check=True, capture_output=True)
        shutil.copy(Path(place) / "module_net_eval.theirs.pt2", KEPT)
