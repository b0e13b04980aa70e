"""`torch.onnx.export`: what it takes, in which order things are done, what is refused.

The model is recorded (`recorded`), its operators become ONNX's (`lowering`), and these a protobuf (`model`). Owns: arguments and names.
May not know: operators, how a graph is written.
"""
import contextlib
import enum
import inspect
import warnings

from ..base.errors import missing
from ..jit.modules import ScriptModule
from ..nn import DataParallel, Module
from ..tensor.core import Tensor
from . import axes, lowering, model, recorded, writing
from .errors import OnnxExporterError, OnnxExporterWarning
from .program import ONNXProgram

OLDEST, NEWEST, DEFAULT, OLDER_EXPORTER = 13, 23, 20, 20           # versions of ONNX's operators
_ACTIVE = []
_TRAINING = ("Exporting a model while it is in training mode. Please ensure that this is intended, as it may lead to different behavior "
             "during inference. Calling model.eval() before export is recommended.")
_LEGACY = ("You are using the legacy TorchScript-based ONNX export. Starting in PyTorch 2.9, the new torch.export-based ONNX exporter has "
           "become the default. Learn more about the new export logic: https://docs.pytorch.org/docs/stable/onnx_export.html. For "
           "exporting control flow: https://pytorch.org/tutorials/beginner/onnx/export_control_flow_model_to_onnx_tutorial.html")
_AXES = ("# 'dynamic_axes' is not recommended when dynamo=True, and may lead to 'torch._dynamo.exc.UserError: Constraints violated.' "
         "Supply the 'dynamic_shapes' argument instead if export is unsuccessful.")


class TrainingMode(enum.Enum):
    """In which mode a model is exported, where ``dynamo`` is False: evaluation, the one that it is in, training."""

    EVAL, PRESERVE, TRAINING = 0, 1, 2


class OperatorExportTypes(enum.Enum):
    """PyTorch's; only ``ONNX`` can be written."""

    ONNX, ONNX_ATEN, ONNX_ATEN_FALLBACK, ONNX_FALLTHROUGH = 0, 1, 2, 3


def is_exporting():
    """Whether a model is being exported."""
    return bool(_ACTIVE)


def export(given, args, f, *, dynamo, training, **options):
    """What `torch.onnx.export` does."""
    try:
        model.load_onnx()
    except ModuleNotFoundError as error:
        if dynamo:
            raise
        raise OnnxExporterError("Module onnx is not installed! pip install onnx") from error
    _refuse(options)
    if isinstance(given, DataParallel):
        raise ValueError("torch.nn.DataParallel is not supported by ONNX exporter, please use 'attribute' module to unwrap model from "
                         "torch.nn.DataParallel. Try torch.onnx.export(model.module, ...)")
    if isinstance(given, ScriptModule):
        raise missing("ONNX of TorchScript (torch.onnx.export of what was traced, scripted or loaded)", "the module in Python")
    if not isinstance(given, Module):
        if not dynamo:
            raise AttributeError(f"'{type(given).__name__}' object has no attribute 'modules'")
        raise OnnxExporterError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(given)}.")
    version = _version(options["opset_version"], dynamo)
    if not dynamo:
        warnings.warn(_LEGACY, DeprecationWarning, stacklevel=3)
        if options["dynamic_shapes"]:
            raise ValueError("The exporter only supports dynamic shapes through parameter dynamic_axes when dynamo=False.")
        if f is None:
            raise AttributeError("'NoneType' object has no attribute 'flush'")
    elif given.training:
        warnings.warn(_TRAINING, UserWarning, stacklevel=3)
    with contextlib.nullcontext() if dynamo else mode_of(given, training):
        made = _program(given, _Arguments(given, args, options["kwargs"], dynamo), version, dynamo, options)
    if f is not None:
        parameters = options["export_params"]
        made.save(f, include_initializers=parameters, external_data=dynamo and options["external_data"] and not hasattr(f, "write"),
                  keep_initializers_as_inputs=options["keep_initializers_as_inputs"] or not dynamo and not parameters)
    return made if dynamo else None


def _refuse(options):
    for name, plain in (("custom_translation_table", None), ("report", False), ("verify", False), ("profile", False),
                        ("dump_exported_program", False), ("custom_opsets", None), ("export_modules_as_functions", False)):
        if options[name] != plain and options[name]:
            raise missing(f"torch.onnx.export(..., {name}={options[name]!r})", f"the same without {name}")
    if options["operator_export_type"] is not OperatorExportTypes.ONNX:
        raise missing(f"torch.onnx.export(..., operator_export_type={options['operator_export_type']})", "OperatorExportTypes.ONNX")


def _version(wanted, dynamo):
    version = DEFAULT if wanted is None else wanted
    if version > NEWEST or version < 7:
        raise RuntimeError(f"Unsupported onnx_opset_version: {version}")
    if version < OLDEST:
        raise missing(f"torch.onnx.export(..., opset_version={version})", f"versions {OLDEST} to {NEWEST}")
    if not dynamo and version > OLDER_EXPORTER:
        warnings.warn(f"Exporting to ONNX opset version {version} is not supported. by 'torch.onnx.export()'. The highest opset version "
                      f"supported is {OLDER_EXPORTER}. To use a newer opset version, consider 'torch.onnx.export(..., dynamo=True)'. ",
                      OnnxExporterWarning, stacklevel=4)
    return version


@contextlib.contextmanager
def mode_of(given, mode):
    """Puts a model into a mode, and back."""
    if not isinstance(mode, TrainingMode):
        raise TypeError(f"'mode' should be a torch.onnx.TrainingMode enum, but got '{type(mode)}'.")
    before = [(one, one.training) for one in given.modules()] if isinstance(given, Module) else []
    if mode is not TrainingMode.PRESERVE and before:
        given.train(mode is TrainingMode.TRAINING)
    try:
        yield
    finally:
        for one, training in before:
            one.training = training


# -- arguments ----------------------------------------------------------------------------------------------------------


class _Arguments:
    """The arguments of a call: ``tensors`` among them, which are inputs, their ``names``, ``by_name``: the arguments of ``forward``."""

    def __init__(self, given, args, kwargs, dynamo):
        args = (args,) if isinstance(args, Tensor) else tuple(args)
        if not kwargs and args and isinstance(args[-1], dict):
            args, kwargs = args[:-1], args[-1]
        self.args, self.kwargs, self.tensors, self.names, self.by_name = args, dict(kwargs or {}), [], [], {}
        try:
            bound = inspect.signature(given.forward).bind(*args, **self.kwargs)
        except TypeError as error:
            if not dynamo:
                raise
            raise OnnxExporterError(f"Failed to export the model: its arguments do not fit its forward: {error}") from error
        for name, value in bound.arguments.items():
            kind = bound.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                self.by_name |= {f"{name}_{at}": one for at, one in enumerate(value)}
            else:
                self.by_name |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        self._bound = bound.args, bound.kwargs
        for name, value in self.by_name.items():
            self._find(name, value)

    def _find(self, name, value):
        if isinstance(value, Tensor):
            self.tensors.append(value)
            self.names.append(name)
        elif isinstance(value, (list, tuple)):
            for at, one in enumerate(value):
                self._find(f"{name}_{at}", one)
        elif isinstance(value, dict):
            for key, one in value.items():
                self._find(f"{name}_{key}", one)

    def call(self, given):
        """A function of the tensors alone, that calls the model and answers a tuple of tensors."""
        def called(*tensors):
            rest = iter(tensors)
            args, kwargs = _filled(self._bound, rest)
            found = tuple(_answered(given(*args, **kwargs)))
            if not found:
                raise OnnxExporterError("The model answers no tensor")
            return found
        return called


def _filled(value, rest):
    """Arguments with other tensors."""
    if isinstance(value, Tensor):
        return next(rest)
    if isinstance(value, (list, tuple)):
        made = [_filled(one, rest) for one in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return {key: _filled(one, rest) for key, one in value.items()} if isinstance(value, dict) else value


def _answered(made):
    """The tensors that a model has answered, in order."""
    if isinstance(made, Tensor):
        yield made
    elif isinstance(made, (list, tuple)):
        for one in made:
            yield from _answered(one)
    elif isinstance(made, dict):
        yield from _answered(list(made.values()))
    elif made is not None:
        raise OnnxExporterError(f"The model answers a {type(made).__name__}, which is no output of a graph")


# -- the model ----------------------------------------------------------------------------------------------------------


def _named(wanted, names, what, dynamo):
    """Names of inputs or outputs: those that are asked for take the place of the first ones."""
    wanted = list(wanted or ())
    if len(wanted) > len(names):
        text = f"number of {what} names provided ({len(wanted)}) exceeded number of {what}s ({len(names)})"
        if not dynamo:
            raise RuntimeError(text)
        warnings.warn(text, OnnxExporterWarning, stacklevel=5)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"{what} names are given twice: {wanted}")
    return wanted[:len(names)] + names[len(wanted):]


def _program(given, arguments, version, dynamo, options):
    names = _named(options["input_names"], arguments.names, "input", dynamo)
    output_names = list(options["output_names"] or ())
    asked, of_outputs = _axes(arguments, names, output_names, dynamo, options)
    symbols = axes.symbols(asked, names, arguments.tensors)
    _ACTIVE.append(given)
    try:
        program = recorded.record(given, arguments.call(given), arguments.tensors, names, symbols)
    finally:
        _ACTIVE.pop()
    graph = writing.Graph(version)
    walk = lowering.Lowering(graph, program, names, lambda path: _attribute(given, path))
    outputs = walk.run()
    output_names = _named(output_names, [None] * len(outputs), "output", dynamo)
    shapes = [[_shape(program, value, walk) for value in values] for values in (program.inputs, program.results)]
    for at, name in enumerate(output_names):
        for axis, called in of_outputs.get(name, {}).items():
            shapes[1][at][axis] = called
    proto, tensors = model.made(graph, shapes, output_names, 10 if dynamo else 9 if version <= 20 else 10)
    if options["verbose"]:
        print(ONNXProgram(proto, tensors))
    return ONNXProgram(proto, tensors)


def _axes(arguments, names, output_names, dynamo, options):
    """({name of an input: {axis: name}}, the same of outputs)."""
    shapes, by_name = options["dynamic_shapes"], options["dynamic_axes"]
    if dynamo and shapes is not None:
        found = axes.from_dynamic_shapes(shapes, arguments.by_name, arguments.names)
        return dict(zip(names, [found.get(name, {}) for name in arguments.names], strict=True)), {}
    if by_name is None:
        return {}, {}
    if dynamo:
        warnings.warn(_AXES, UserWarning, stacklevel=5)
    found = axes.from_dynamic_axes(by_name, [*names, *output_names], not dynamo)
    return {name: one for name, one in found.items() if name in names}, {name: one for name, one in found.items() if name in output_names}


def _attribute(given, path):
    for name in path[:-1]:
        given = given._modules[name]
    found = given._parameters.get(path[-1])
    return given._buffers[path[-1]] if found is None else found


def _shape(program, value, walk):
    """A shape with the names of what may change, None for what is not known."""
    fact = program.facts[value]
    if walk.is_loose(value):
        return [None] * len(fact.shape)
    made = []
    for size, other in zip(*fact.sizes, strict=True):
        found = {symbol.name for symbol in program.symbols if (symbol.size, symbol.other) == (size, other)}
        made.append(size if size == other else found.pop() if len(found) == 1 else None)
    return made
