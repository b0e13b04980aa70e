"""`torch.onnx.export`: models, names, axes that may change, files, refusals; beside PyTorch's exporter where that is installed."""
import copy
import io
import sys
from pathlib import Path

import numpy as np
import pytest

import jtensor as torch
from jtensor.base.errors import MissingFeature

onnx = pytest.importorskip("onnx")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jit")]
import traced_cases  # noqa: E402
from test_operators import Called, resized, run, same  # noqa: E402

del sys.path[:2]
pytestmark = pytest.mark.filterwarnings("ignore::jtensor.jit.TracerWarning", "ignore:Exporting a model while it is in training mode",
                                        "ignore:You are using the legacy:DeprecationWarning", "ignore:The feature will be removed",
                                        "ignore:# 'dynamic_axes' is not recommended")
nn, F = torch.nn, torch.nn.functional
MODULES = traced_cases.modules(torch)
BATCH = {"linear": {(0, 0): ("n", 5)}, "mlp": {(0, 0): ("n", 5)}, "cnn": {(0, 0): ("n", 3)}, "lstm": {(0, 0): ("l", 7), (0, 1): ("n", 3)},
         "gru": {(0, 0): ("n", 3), (0, 1): ("l", 7)}, "block": {(0, 0): ("n", 3), (0, 1): ("l", 8)},
         "language": {(0, 0): ("n", 3), (0, 1): ("l", 6)}, "resnet": {(0, 0): ("n", 3), (0, 2): ("h", 21), (0, 3): ("w", 19)},
         "tied": {(0, 0): ("n", 4)}, "norms": {(0, 0): ("n", 4)}}


def spec(given, changing):
    return [{axis: called for (at, axis), (called, _) in changing.items() if at == which} for which in range(len(given))]


def sizes(info):
    return [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]


def shown(proto):
    graph = proto.graph
    return {what: {one.name: sizes(one) for one in getattr(graph, what)} for what in ("input", "output")}


# -- models -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_model(name):
    module, given = MODULES[name]
    module = module.eval()
    program = torch.onnx.export(module, given)
    onnx.checker.check_model(program.model_proto, full_check=True)
    wanted = module(*given)

    class Flat(nn.Module):
        def forward(self, *args):
            return traced_flat(wanted)
    same(program, Flat(), given)
    names = {one.name for one in program.model_proto.graph.initializer}
    assert names and names <= set(module.state_dict())


def traced_flat(x):
    return [one for part in x for one in traced_flat(part)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize("name", sorted(BATCH))
def test_a_model_with_axes_that_change(name):
    module, given = MODULES[name]
    module = module.eval()
    program = torch.onnx.export(module, given, dynamic_shapes=spec(given, BATCH[name]))
    onnx.checker.check_model(program.model_proto, full_check=True)
    for inputs in (given, resized(given, BATCH[name])):
        wanted = traced_flat(module(*inputs))
        for one, other in zip(run(program, inputs), wanted, strict=True):
            np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-3, atol=1e-4)


def test_layers_of_a_transformer():
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = torch.randn(2, 5, 8)
    changing = {(0, 0): ("n", 3), (0, 1): ("l", 7)}
    for module in (layer, encoder):
        program = torch.onnx.export(module, (x,), dynamic_shapes=spec((x,), changing))
        onnx.checker.check_model(program.model_proto, full_check=True)
        same(program, module, (x,))
        same(program, module, resized((x,), changing))


def test_words_through_an_lstm():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.rnn, self.out = nn.Embedding(11, 4), nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), nn.Linear(6, 2)

        def forward(self, words):
            x, (h, c) = self.rnn(self.embed(words))
            return self.out(x[:, -1]), h, c
    torch.manual_seed(0)
    module, words = Words().eval(), torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
    program = torch.onnx.export(module, (words,), dynamic_shapes=({0: "n", 1: "l"},))
    onnx.checker.check_model(program.model_proto, full_check=True)
    same(program, module, (words,))
    same(program, module, (torch.arange(21).reshape(3, 7) % 11,))
    for layer in (nn.RNN(4, 3), nn.RNN(4, 3, nonlinearity="relu", bias=False), nn.GRU(4, 3, bidirectional=True)):
        x, h = torch.randn(5, 2, 4), torch.randn(2 if layer.bidirectional else 1, 2, 3)
        same(torch.onnx.export(layer.eval(), (x, h)), layer, (x, h))


def test_numbers_of_other_types():
    for dtype in (torch.float64, torch.float16):
        module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(dtype).eval()
        same(torch.onnx.export(module, (torch.ones(2, 3, dtype=dtype),)), module, (torch.ones(2, 3, dtype=dtype),))
    made = torch.onnx.export(Called(lambda x: x + 1).eval(), (torch.ones(2, dtype=torch.bfloat16),))
    assert made.model_proto.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16


@pytest.mark.parametrize("version", range(13, 24))
def test_versions_of_the_operators(version):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(16),
    nn.Linear(16, 3),
                           nn.Softmax(1), Called(lambda x: (x.mean(1), x.amax(0), x.std(1), torch.split(x, 2, 1)[1], F.mish(x)))).eval()
    x = torch.randn(2, 2, 6, 6)
    program = torch.onnx.export(module, (x,), opset_version=version)
    assert program.model_proto.opset_import[0].version == version
    onnx.checker.check_model(program.model_proto, full_check=True)
    same(program, module, (x,))


# -- names and interface ------------------------------------------------------------------------------------------------


def two(library):
    """A model of either library."""
    class Two(library.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = library.nn.Linear(3, 4), library.nn.Linear(4, 2)

        def forward(self, x, y=None):
            h = self.a(x).relu()
            return self.b(h), h if y is None else h + y
    return Two().eval()


def test_names():
    module, x = two(torch), torch.ones(2, 3)
    program = torch.onnx.export(module, (x,))
    assert shown(program.model_proto) == {"input": {"x": [2, 3]}, "output": {"linear_1": [2, 2], "relu": [2, 4]}}
    assert [one.name for one in program.model_proto.graph.initializer] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    program = torch.onnx.export(module, (x, torch.ones(2, 4)), input_names=["in", "other"], output_names=["o", "h"],
                                dynamic_shapes={"x": {0: "batch"}, "y": ("batch", None)})
    assert shown(program.model_proto) == {"input": {"in": ["batch", 3], "other": ["batch", 4]},
                                          "output": {"o": ["batch", 2], "h": ["batch", 4]}}
    assert program.model_proto.producer_name == "jtensor" and program.model_proto.ir_version == 10
    program = torch.onnx.export(module, (x,), kwargs={"y": torch.ones(1, 4)})
    assert list(shown(program.model_proto)["input"]) == ["x", "y"]
    assert run(program, (x, torch.ones(1, 4)))[1].allclose(module(x, torch.ones(1, 4))[1])
    program = torch.onnx.export(module, (x, {"y": torch.ones(1, 4)}))                  # the last one, where there are no kwargs
    assert list(shown(program.model_proto)["input"]) == ["x", "y"]


def test_outputs_that_take_an_operator_of_their_own():
    def several(x, y):
        z = x + y
        return x, z, z, torch.ones(2), [z * 2, {"a": z}]
    x = torch.ones(2)
    program = torch.onnx.export(Called(several).eval(), (x, x * 3), output_names=["a", "b", "c"])
    onnx.checker.check_model(program.model_proto, full_check=True)
    assert list(shown(program.model_proto)["output"])[:3] == ["a", "b", "c"]
    assert [one.tolist() for one in run(program, (x, x * 3))] == [[1, 1], [4, 4], [4, 4], [1, 1], [8, 8], [4, 4]]


def test_numbers_are_constants():
    class Scaled(nn.Module):
        def forward(self, x, scale=1.0, shift=None, turned=False):
            return x * scale if not turned else -x * scale
    program = torch.onnx.export(Scaled().eval(), (torch.ones(2), 3.0), kwargs={"turned": True})
    assert shown(program.model_proto)["input"] == {"x": [2]}
    assert run(program, (torch.ones(2),))[0].tolist() == [-3, -3]


def test_nested_inputs():
    module = Called(lambda pair, named: pair[0] * pair[1] + named["a"]).eval()
    one = torch.ones(2)
    program = torch.onnx.export(module, ([one, one * 2], {"a": one * 3}, {}), dynamic_shapes=([{0: "n"}, {0: "n"}], {"a": {0: "n"}}))
    assert shown(program.model_proto)["input"] == {"args_0_0": ["n"], "args_0_1": ["n"], "args_1_a": ["n"]}
    assert run(program, (one, one * 2, one * 3))[0].tolist() == [5, 5]


@pytest.mark.parametrize("options", [
    {}, {"input_names": ["in"], "output_names": ["o1", "o2"], "dynamic_axes": {"in": {0: "batch"}, "o1": {0: "batch"}}},
    {"keep_initializers_as_inputs": True, "input_names": ["in"]}, {"export_params": False, "input_names": ["in"]}, {"opset_version": 17}])
def test_the_interface_is_pytorchs(options, tmp_path):
    theirs = pytest.importorskip("torch")
    graphs = []
    for library in (torch, theirs):
        path = tmp_path / f"{library.__name__}.onnx"
        library.onnx.export(two(library), (library.ones(2, 3),), str(path), dynamo=False, **copy.deepcopy(options))
        graphs.append(onnx.load(str(path)))
        onnx.checker.check_model(graphs[-1]) if options.get("export_params", True) else None
    ours, other = graphs
    assert ours.ir_version == (other.ir_version if options.get("opset_version", 20) == 20 else 9)
    assert [one.version for one in ours.opset_import] == [one.version for one in other.opset_import]
    assert [(one.name, list(one.dims)) for one in ours.graph.initializer] == [(one.name, list(one.dims)) for one in other.graph.initializer]
    named = "input_names" in options
    for what in ("input", "output"):
        pair = [[(one.name, sizes(one)) if named and (what == "input" or "output_names" in options) else sizes(one)
                 for one in getattr(graph.graph, what)] for graph in graphs]
        assert pair[0] == pair[1]


@pytest.mark.filterwarnings("ignore")                             # PyTorch's, of its own files
@pytest.mark.parametrize("name", ["mlp", "cnn", "resnet", "lstm", "block"])
def test_runtimes_agree_on_both_exporters_files(name, tmp_path):
    theirs = pytest.importorskip("torch")
    onnxruntime = pytest.importorskip("onnxruntime")
    found, kept = [], []
    for library in (torch, theirs):
        module, given = traced_cases.modules(library)[name]
        path = tmp_path / f"{library.__name__}.onnx"
        if kept:
            module.load_state_dict({key: library.tensor(value) for key, value in kept[0].items()})
        kept.append({key: value.tolist() for key, value in module.state_dict().items()})
        library.onnx.export(module.eval(), given, str(path), dynamo=False)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        if len(found) == 0:
            arrays = [np.asarray(one.tolist(), one.detach().numpy().dtype) for one in given]
        found.append(session.run(None, dict(zip([one.name for one in session.get_inputs()], arrays, strict=True))))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_the_signature_is_pytorchs():
    import inspect
    theirs = pytest.importorskip("torch")
    ours, other = [inspect.signature(library.onnx.export).parameters for library in (torch, theirs)]
    assert [(p.name, p.kind) for p in ours.values()] == [(p.name, p.kind) for p in other.values()]
    enums = "training", "operator_export_type"
    assert [p.default for p in ours.values() if p.name not in enums] == [p.default for p in other.values() if p.name not in enums]
    for name in ("TrainingMode", "OperatorExportTypes"):
        assert {one.name for one in getattr(torch.onnx, name)} == set(getattr(theirs.onnx, name).__members__)
    for name in ("OnnxExporterError", "ONNXProgram", "errors.UnsupportedOperatorError", "errors.OnnxExporterWarning"):
        pair = []
        for library in (torch, theirs):
            one = library.onnx
            for part in name.split("."):
                one = getattr(one, part)
            pair.append((one.__module__, [base.__name__ for base in one.__mro__]))
        assert pair[0] == pair[1]


# -- axes that may change -----------------------------------------------------------------------------------------------


def test_axes_by_the_names_of_inputs_and_outputs(tmp_path):
    module, x, path = two(torch), torch.ones(2, 3), str(tmp_path / "a.onnx")
    options = {"input_names": ["in"], "output_names": ["o"], "dynamic_axes": {"in": {0: "batch"}, "o": {0: "outside"}}}
    assert torch.onnx.export(module, (x,), path, dynamo=False, **options) is None
    assert shown(onnx.load(path)) == {"input": {"in": ["batch", 3]}, "output": {"o": ["outside", 2], "relu": ["batch", 4]}}
    with pytest.warns(UserWarning, match="No names were found for specified dynamic axes"):
        torch.onnx.export(module, (x,), path, dynamo=False, input_names=["in"], dynamic_axes={"in": [0]})
    assert sizes(onnx.load(path).graph.input[0]) == ["in_dynamic_axes_1", 3]
    with pytest.warns(UserWarning, match="Provided key nothing for dynamic axes is not a valid input/output name"):
        torch.onnx.export(module, (x,), path, dynamo=False, dynamic_axes={"nothing": {0: "batch"}})
    with pytest.warns(UserWarning, match="'dynamic_axes' is not recommended when dynamo=True"):
        torch.onnx.export(module, (x,), dynamic_axes={"x": {0: "batch"}})
    with pytest.raises(ValueError, match="dynamic shapes through parameter dynamic_axes when dynamo=False"):
        torch.onnx.export(module, (x,), path, dynamo=False, dynamic_shapes=({0: "n"},))


def test_numbers_of_python_that_are_sizes_follow_them():
    def view(x):
        n = int(x.shape[0])                                       # a number of Python's: a constant of the trace
        return x.reshape(n, -1), torch.zeros(n), x * n
    x = torch.arange(12.0).reshape(3, 2, 2)
    program = torch.onnx.export(Called(view).eval(), (x,), dynamic_shapes=({0: "n"},))
    same(program, Called(view), (x,))
    same(program, Called(view), (torch.arange(20.0).reshape(5, 2, 2),))


@pytest.mark.parametrize("function, reason", [
    (lambda x: x[:int(x.shape[0]) - 1], "the number|a number or a list"), (lambda x: x * math_of(int(x.shape[0])), "a number or a list"),
    (lambda x: [x := x + 1 for _ in range(int(x.shape[0]))][-1], "in one case|operators"),
    (lambda x: x + torch.arange(float(int(x.shape[0]) * 2))[:int(x.shape[0]), None], "a number or a list"),
    (lambda x: x if int(x.shape[0]) > 3 else x + 1, "in one case|operators"), (lambda x: x.squeeze(0), "number of dimensions")])
def test_what_depends_on_a_size_in_another_way_is_refused(function, reason):
    x = torch.ones(1, 2) if "dimensions" in reason else torch.ones(3, 2)
    with pytest.raises(torch.onnx.OnnxExporterError, match=reason):
        torch.onnx.export(Called(function).eval(), (x,), dynamic_shapes=({0: "n"},))


def math_of(n):
    return 1 / n ** 0.5


def test_axes_that_are_always_alike():
    module, x = Called(lambda x, y: (x + y).reshape(int(x.shape[0]), -1)).eval(), torch.ones(3, 2)
    with pytest.raises(torch.onnx.OnnxExporterError, match="may be the size of 'a' or of 'b'"):
        torch.onnx.export(module, (x, x), dynamic_shapes=({0: "a"}, {0: "b"}))
    program = torch.onnx.export(module, (x, x), dynamic_shapes=({0: "a"}, {0: "a"}))
    same(program, module, (torch.ones(5, 2), torch.ones(5, 2)))
    plain = Called(lambda x, y: x + y).eval()
    same(torch.onnx.export(plain, (x, x), dynamic_shapes=({0: "a"}, {0: "b"})), plain, (torch.ones(5, 2), torch.ones(5, 2)))
    with pytest.raises(torch.onnx.OnnxExporterError, match="cannot be run with other sizes of its dynamic axes"):
        torch.onnx.export(Called(lambda x: x + torch.ones(3, 1)).eval(), (x,), dynamic_shapes=({0: "n"},))
    with pytest.raises(ValueError, match="is of size 3 and of size 2"):
        torch.onnx.export(plain, (x, x), dynamic_shapes=({0: "a", 1: "a"}, None))
    with pytest.raises(ValueError, match="no axis 2"):
        torch.onnx.export(plain, (x, x), dynamic_shapes=({2: "a"}, None))
    with pytest.raises(ValueError, match="top-level keys must be the arg names"):
        torch.onnx.export(nn.Linear(2, 2).eval(), (x,), dynamic_shapes={"z": {0: "a"}})


def test_sizes_that_depend_on_values_are_not_told():
    program = torch.onnx.export(Called(lambda x: (x[x > 0], x[x > 0] * 2, x + 1)).eval(), (torch.tensor([1.0, -1.0, 2.0]),))
    assert list(shown(program.model_proto)["output"].values()) == [[0], [0], [3]]
    assert [one.tolist() for one in run(program, (torch.tensor([-1.0, -1.0, 5.0]),))] == [[5], [10], [0, 0, 6]]
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="its size along dimension 0 is not known before it runs"):
        torch.onnx.export(Called(lambda x: x[x > 0].unbind()).eval(), (torch.ones(2),))


# -- modes, files -------------------------------------------------------------------------------------------------------


def test_modes(tmp_path):
    path = str(tmp_path / "a.onnx")
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Sequential(nn.Dropout(0.5)))
    module[2].eval()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    kinds = []
    for mode in ("EVAL", "TRAINING", "PRESERVE"):
        torch.onnx.export(module, (torch.randn(4, 2),), path, dynamo=False, training=torch.onnx.TrainingMode[mode])
        kinds.append([node.op_type for node in onnx.load(path).graph.node])
        assert [one.training for one in module.modules()] == [True, True, True, False, False]
    assert kinds[0] == ["Gemm", "BatchNormalization"]
    assert [kind for kind in kinds[1] if kind != "Constant"] == ["Gemm", "BatchNormalization", "Dropout"]
    assert kinds[2] == ["Gemm", "BatchNormalization"]
    assert all(value.equal(before[key]) for key, value in module.state_dict().items())
    with pytest.warns(UserWarning, match="Exporting a model while it is in training mode"):
        torch.onnx.export(module, (torch.randn(4, 2),))
    with pytest.raises(TypeError, match="'mode' should be a torch.onnx.TrainingMode enum"):
        torch.onnx.export(module, (torch.randn(4, 2),), path, dynamo=False, training=True)


def test_nothing_is_changed_by_exporting():
    x = torch.ones(2, 2)
    torch.manual_seed(4)
    state = torch.get_rng_state()
    torch.onnx.export(Called(lambda x: (x.add_(1), torch.rand(2))).eval(), (x,), dynamic_shapes=({0: "n"},))
    assert x.tolist() == [[1, 1], [1, 1]] and torch.get_rng_state().equal(state) and not torch.onnx.is_in_onnx_export()
    seen = []

    def asked(x):
        seen.append(torch.onnx.is_in_onnx_export())
        return x + 1
    torch.onnx.export(Called(asked).eval(), (x,))
    assert seen == [True]


def test_parameters_beside_the_file(tmp_path):
    module, path, x = nn.Sequential(nn.Linear(40, 50), nn.Linear(50, 2)).eval(), tmp_path / "a.onnx", torch.randn(3, 40)
    torch.onnx.export(module, (x,), path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.onnx", "a.onnx.data"]
    onnx.checker.check_model(str(path), full_check=True)
    evaluated, = pytest.importorskip("onnx.reference").ReferenceEvaluator(onnx.load(str(path))).run(None, {"input": x.numpy()})
    np.testing.assert_allclose(evaluated, module(x).detach().numpy(), rtol=1e-4, atol=1e-5)
    torch.onnx.export(module, (x,), tmp_path / "b.onnx", external_data=False)
    assert not (tmp_path / "b.onnx.data").exists() and (tmp_path / "b.onnx").stat().st_size > 8000
    file = io.BytesIO()
    torch.onnx.export(module, (x,), file)
    assert onnx.load_from_string(file.getvalue()).graph.node


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    from jtensor.onnx import model
    path = tmp_path / "a.onnx"
    path.write_bytes(b"before")

    def broken(*args):
        raise RuntimeError("disk")
    monkeypatch.setattr(model, "initializer", broken)
    for options in ({}, {"external_data": False}):
        with pytest.raises(RuntimeError, match="disk"):
            torch.onnx.export(nn.Linear(40, 40).eval(), (torch.ones(1, 40),), path, **options)
        assert path.read_bytes() == b"before" and [one.name for one in tmp_path.iterdir()] == ["a.onnx"]
    with pytest.raises(FileNotFoundError):
        torch.onnx.export(Called(torch.relu).eval(), (torch.ones(1),), str(tmp_path / "nowhere" / "a.onnx"))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'flush'"):
        torch.onnx.export(nn.Linear(2, 2), (torch.ones(1, 2),), None, dynamo=False)


def test_a_program():
    module, x = nn.Linear(2, 3).eval(), torch.randn(4, 2)
    program = torch.onnx.export(module, (x,), dynamic_shapes=({0: torch_dim("rows")},))
    assert type(program).__name__ == "ONNXProgram" and "linear = Gemm(input, weight, bias)" in repr(program)
    assert program.call_reference(x)[0].allclose(module(x), atol=1e-5)
    program.apply_weights({"weight": torch.zeros(3, 2), "bias": torch.arange(3.0)})
    assert run(program, (x,))[0].tolist() == [[0, 1, 2]] * 4
    with pytest.warns(torch.onnx.errors.OnnxExporterWarning, match="Weight 'other' not found in the model. Skipped applying."):
        program.apply_weights({"other": x})
    program.rename_axes({"rows": "lines"})
    assert sizes(program.model_proto.graph.output[0]) == ["lines", 3]
    with pytest.raises(ValueError, match=r"takes 1 tensors \(input\), not 2"):
        program.call_reference(x, x)
    with pytest.raises(MissingFeature, match="onnx_ir"):
        program.model


def torch_dim(name):
    class Dim:
        pass
    Dim.__name__ = name
    return Dim


# -- refusals -----------------------------------------------------------------------------------------------------------


def test_an_operator_without_a_counterpart():
    module, x = Called(torch.special.bessel_j0).eval(), torch.ones(2)
    text = "Exporting the operator 'aten::special_bessel_j0' to ONNX opset version 20 is not supported"
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError) as caught:
        torch.onnx.export(module, (x,))
    assert str(caught.value) == text
    theirs = pytest.importorskip("torch")

    class Bessel(theirs.nn.Module):
        def forward(self, x):
            return theirs.special.bessel_j0(x)
    with pytest.raises(theirs.onnx.errors.UnsupportedOperatorError) as other:
        theirs.onnx.export(Bessel(), (theirs.ones(2),), io.BytesIO(), dynamo=False)
    assert str(other.value) == text


@pytest.mark.parametrize("function, given, reason", [
    (lambda x: torch.svd(x)[1], (torch.ones(2, 2),), "aten::svd"),
    (lambda x: torch.view_as_complex(x) + 1, (torch.ones(2, 2),), "complex"),
    (lambda x: F.dropout(x, 0.5, True) * F.rrelu(x, training=True), (torch.ones(2, 2),), "its slopes are random"),
    (lambda x: F.cross_entropy(x, x.softmax(1)), (torch.ones(2, 2),), "of probabilities"),
    (lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True)[1], (torch.ones(1, 1, 4, 4),), "one of its results has no counterpart"),
    (lambda x: F.avg_pool2d(x, 2, divisor_override=3), (torch.ones(1, 1, 4, 4),), "divisor_override"),
    (lambda x: F.one_hot(x), (torch.tensor([1, 2]),), "depends on the values")])
def test_what_an_operator_cannot_be_is_refused(function, given, reason):
    with pytest.raises((torch.onnx.errors.UnsupportedOperatorError, torch.onnx.OnnxExporterError), match=reason):
        torch.onnx.export(Called(function).eval(), given)


def test_versions_that_lack_an_operator():
    module = Called(lambda x: F.grid_sample(x, torch.zeros(1, 2, 2, 2), align_corners=False)).eval()
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="Support for this operator was added in version 16"):
        torch.onnx.export(module, (torch.ones(1, 1, 4, 4),), opset_version=15)
    for version in (40, 3):
        with pytest.raises(RuntimeError, match=f"Unsupported onnx_opset_version: {version}"):
            torch.onnx.export(module, (torch.ones(1, 1, 4, 4),), opset_version=version)
    with pytest.raises(MissingFeature, match="versions 13 to 23"):
        torch.onnx.export(module, (torch.ones(1, 1, 4, 4),), opset_version=11)
    with pytest.warns(torch.onnx.errors.OnnxExporterWarning, match="The highest opset version supported is 20"):
        torch.onnx.export(nn.Linear(1, 1), (torch.ones(1, 1),), io.BytesIO(), dynamo=False, opset_version=21)


def test_what_is_no_model_is_refused():
    x = torch.ones(1, 2)
    with pytest.raises(torch.onnx.OnnxExporterError, match="to be an instance of `torch.nn.Module`, got <class 'function'>"):
        torch.onnx.export(lambda x: x, (x,))
    with pytest.raises(AttributeError, match="'function' object has no attribute 'modules'"):
        torch.onnx.export(lambda x: x, (x,), io.BytesIO(), dynamo=False)
    with pytest.raises(TypeError, match="missing a required argument: 'input'"):
        torch.onnx.export(nn.Linear(2, 2), (), io.BytesIO(), dynamo=False)
    with pytest.raises(ValueError, match="torch.nn.DataParallel is not supported by ONNX exporter"):
        torch.onnx.export(nn.DataParallel(nn.Linear(2, 2)), (x,))
    with pytest.raises(torch.onnx.OnnxExporterError, match="missing a required argument: 'input'"):
        torch.onnx.export(nn.Linear(2, 2).eval(), ())
    with pytest.raises(torch.onnx.OnnxExporterError, match="answers a float"):
        torch.onnx.export(Called(lambda x: 1.5).eval(), (x,))
    for option in ("report", "verify", "custom_opsets", "export_modules_as_functions"):
        with pytest.raises(MissingFeature, match=option):
            torch.onnx.export(nn.Linear(2, 2), (x,), **{option: {"a": 1}})
    with pytest.raises(RuntimeError, match=r"number of output names provided \(2\) exceeded number of outputs \(1\)"):
        torch.onnx.export(nn.Linear(2, 2), (x,), io.BytesIO(), dynamo=False, output_names=["a", "b"])
