"""`torch.onnx`: models written as files of ONNX. Owns: the names of PyTorch's module. How a model is exported is in `exporting`.

The package ``onnx`` makes the protobufs; without it nothing is exported, but everything can be named.
"""
import importlib
import re

from . import errors
from .errors import OnnxExporterError

__all__ = ["ONNXProgram", "OnnxExporterError", "errors", "export", "is_in_onnx_export"]
_REFUSED = "Failed to register operator {}. "
_HOMES = {"ONNXProgram": "program", "TrainingMode": "exporting", "OperatorExportTypes": "exporting"}


def is_in_onnx_export():
    """Whether a model is being run to be exported.

    >>> torch.onnx.is_in_onnx_export()
    False
    """
    import sys
    exporting = sys.modules.get(__name__ + ".exporting")
    return exporting is not None and exporting.is_exporting()


def export(model, args=(), f=None, *, kwargs=None, verbose=None, input_names=None, output_names=None, opset_version=None, dynamo=True,
           external_data=True, dynamic_shapes=None, custom_translation_table=None, report=False, optimize=True, verify=False, profile=False,
           dump_exported_program=False, artifacts_dir=".", export_params=True, keep_initializers_as_inputs=False, dynamic_axes=None,
           training=None, operator_export_type=None, do_constant_folding=True, custom_opsets=None, export_modules_as_functions=False,
           autograd_inlining=True):
    """Writes a module as a file of ONNX: what it does with ``args`` and ``kwargs``, as `torch.jit.trace` records it.

    ``f``: the path, or None. ``input_names``, ``output_names``: of the graph; without them inputs are called as in ``forward``.
    ``opset_version``: of ONNX's operators, 13 to 23, 20 if nothing is said. ``dynamic_shapes``: the axes whose sizes may change, of each
    argument {axis: name}, a list by axis, or None; ``dynamic_axes``: the same by the names of inputs and outputs. A model with such axes is
    run with two sizes of each: what differs, and is not the size of one of them, is refused. ``external_data``: whether large parameters
    are written into a file beside it (``f + ".data"``). ``export_params``, ``keep_initializers_as_inputs``: whether parameters have their
    values, and whether they are inputs, too. ``dynamo=False``: as PyTorch's older exporter, in one file, in evaluation mode or as
    ``training`` says; it answers None.

    Tensors in arguments and results may be of any type but complex ones; other arguments are constants.

    Answers a `torch.onnx.ONNXProgram`. ``ModuleNotFoundError`` without the package ``onnx`` (with ``dynamo=False`` an `OnnxExporterError`);
    `errors.UnsupportedOperatorError` for an operator that ONNX lacks, `OnnxExporterError` for a model that is no graph; `MissingFeature`
    for what `torch.jit.trace` does not record, and for settings that are not there.

    >>> program = torch.onnx.export(torch.nn.Linear(2, 3).eval(), (torch.ones(4, 2),), dynamic_shapes=({0: "batch"},))
    >>> program
    ONNXProgram(
        inputs: input
        outputs: linear
        linear = Gemm(input, weight, bias)
    )
    >>> [dim.dim_param or dim.dim_value for dim in program.model_proto.graph.output[0].type.tensor_type.shape.dim]
    ['batch', 3]
    """
    from . import exporting
    options = dict(locals())
    for name in ("model", "args", "f", "dynamo", "training", "exporting", "artifacts_dir", "optimize", "do_constant_folding",
                 "autograd_inlining"):
        del options[name]
    if operator_export_type is None:
        options["operator_export_type"] = exporting.OperatorExportTypes.ONNX
    training = exporting.TrainingMode.EVAL if training is None else training
    return exporting.export(model, args, f, dynamo=dynamo, training=training, **options)


def select_model_mode_for_export(model, mode):
    """A context in which a model is in a `TrainingMode`."""
    from . import exporting
    return exporting.mode_of(model, mode)


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Says how an operator is to be written as ONNX, by means of TorchScript's graphs, which are not there: such a function is never
    called, and the operator is refused. Libraries call this when they are imported. `OnnxExporterError` for a name without a namespace."""
    name = "aten" + symbolic_name if symbolic_name.startswith("::") else symbolic_name
    if not re.match(r"^[a-zA-Z0-9-_]+::[a-zA-Z-_]+[a-zA-Z0-9-_]*$", name):
        raise OnnxExporterError(_REFUSED.format(name) + "The symbolic name must match the format domain::name, and should start with a "
                                "letter and contain only alphanumeric characters")
    if name.startswith("onnx::"):
        raise ValueError(_REFUSED.format(name) + "onnx domain cannot be modified.")


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """The opposite of `register_custom_op_symbolic`."""


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in ("operators", "symbolic_helper", "symbolic_opset11"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'jtensor.onnx' has no attribute '{name}'")
