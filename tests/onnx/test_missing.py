"""`torch.onnx` where the package ``onnx`` is not installed: everything can be named, nothing is written."""
import sys

import pytest

import jtensor as torch
from jtensor.base.errors import MissingFeature


def test_without_the_package(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match="No module named 'onnx'"):
        torch.onnx.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    with pytest.raises(torch.onnx.OnnxExporterError, match="Module onnx is not installed!"):
        torch.onnx.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),), tmp_path / "a.onnx", dynamo=False)
    assert not list(tmp_path.iterdir())
    assert torch.onnx.TrainingMode.EVAL.value == 0 and issubclass(torch.onnx.errors.UnsupportedOperatorError, torch.onnx.OnnxExporterError)
    assert torch.onnx.ONNXProgram and not torch.onnx.is_in_onnx_export()


def test_operators_of_libraries():
    torch.onnx.register_custom_op_symbolic("a_library::operator", lambda graph, x: x, 11)
    torch.onnx.register_custom_op_symbolic("::operator", lambda graph, x: x, 11)
    torch.onnx.unregister_custom_op_symbolic("a_library::operator", 11)
    with pytest.raises(torch.onnx.OnnxExporterError, match="must match the format domain::name"):
        torch.onnx.register_custom_op_symbolic("operator", None, 11)
    with pytest.raises(ValueError, match="onnx domain cannot be modified"):
        torch.onnx.register_custom_op_symbolic("onnx::Relu", None, 11)


def test_modules_of_torchscript_are_refused():
    onnx = pytest.importorskip("onnx")
    assert onnx
    with pytest.warns(DeprecationWarning):
        traced = torch.jit.trace(torch.nn.Linear(2, 3), torch.ones(1, 2))
    with pytest.raises(MissingFeature, match="ONNX of TorchScript"):
        torch.onnx.export(traced, (torch.ones(1, 2),))
