"""`torch.onnx.ONNXProgram`: a model of ONNX in memory, which can be run and saved. Owns: that class. May not know: how it was made."""
import warnings

import jtensor

from ..base.errors import missing
from ..tensor.core import Tensor
from . import model
from .errors import OnnxExporterWarning


class ONNXProgram:
    """What `torch.onnx.export` answers: called with the model's arguments, it has the package ``onnxruntime`` compute the outputs.

    ``model_proto``: the protobuf, with the values that the parameters had when the model was exported.
    """

    __module__ = "torch.onnx"

    def __init__(self, proto, tensors):
        self._proto, self._tensors = proto, [(name, one.detach().clone()) for name, one in tensors]
        self._session = self.exported_program = None

    def __repr__(self):
        graph = self._proto.graph
        lines = [f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)})" for node in graph.node]
        names = [", ".join([one.name for one in given]) for given in (graph.input, graph.output)]
        return "ONNXProgram(\n    inputs: {}\n    outputs: {}\n    {}\n)".format(*names, "\n    ".join(lines))

    @property
    def model_proto(self):
        """The ``onnx.ModelProto`` with all parameters."""
        return model.filled(self._proto, self._tensors)

    @property
    def model(self):
        """Refuses: PyTorch has a model of the package ``onnx_ir`` here."""
        raise missing("models of onnx_ir (ONNXProgram.model)", "program.model_proto, of the package onnx")

    # -- running --------------------------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        if self._session is None:
            self.initialize_inference_session()
        made = self._session.run(None, self._given(args, kwargs))
        return tuple([jtensor.as_tensor(one) for one in made])

    def call_reference(self, *args, **kwargs):
        """What the package ``onnx`` computes itself, slowly, in NumPy: a tuple of tensors."""
        model.load_onnx()
        from onnx.reference import ReferenceEvaluator
        made = ReferenceEvaluator(self.model_proto).run(None, self._given(args, kwargs))
        return tuple([jtensor.as_tensor(one) for one in made])

    def _given(self, args, kwargs):
        names = [one.name for one in self._proto.graph.input]
        found = list(_tensors((args, kwargs)))
        if len(found) != len(names):
            raise ValueError(f"the program takes {len(names)} tensors ({', '.join(names)}), not {len(found)}")
        return {name: one.detach().cpu().numpy() for name, one in zip(names, found, strict=True)}

    def initialize_inference_session(self, initializer=None):
        """Has a session made that runs the model: by ``initializer(bytes)``, or by ``onnxruntime``."""
        if initializer is None:
            import onnxruntime
            settings = onnxruntime.SessionOptions()
            settings.log_severity_level = 3

            def initializer(raw):
                return onnxruntime.InferenceSession(raw, settings, providers=["CPUExecutionProvider"])
        self._session = initializer(self.model_proto.SerializeToString())

    def release(self):
        """Lets the session go."""
        self._session = None

    # -- changing and saving --------------------------------------------------------------------------------------------

    def optimize(self):
        """Does nothing: what runs a model optimizes it."""

    def apply_weights(self, state_dict):
        """Gives parameters the values of a dictionary, by their names; others are warned of."""
        places = {name: at for at, (name, _) in enumerate(self._tensors)}
        for name, tensor in state_dict.items():
            if name in places:
                self._tensors[places[name]] = name, tensor.detach().clone()
            else:
                warnings.warn(f"Weight '{name}' not found in the model. Skipped applying.", OnnxExporterWarning, stacklevel=2)
        self.release()

    def rename_axes(self, rename_mapping):
        """Gives sizes that may change other names, {old: new}."""
        graph = self._proto.graph
        for one in (*graph.input, *graph.output):
            for dim in one.type.tensor_type.shape.dim:
                if dim.dim_param in rename_mapping:
                    dim.dim_param = rename_mapping[dim.dim_param]

    def save(self, destination, *, include_initializers=True, keep_initializers_as_inputs=False, external_data=None):
        """Writes the model to a path, whole or not at all.

        ``include_initializers``: with the values of the parameters; ``keep_initializers_as_inputs``: whether these are inputs, too, which
        who runs it may replace; ``external_data``: whether they are written into a file beside it, as those of large models always are.
        """
        proto = type(self._proto)()
        proto.CopyFrom(self._proto)
        if keep_initializers_as_inputs:
            proto.graph.input.extend([model.info(name, tensor) for name, tensor in self._tensors])
        tensors = self._tensors if include_initializers else []
        if external_data and hasattr(destination, "write"):
            raise TypeError("parameters are written beside a file only where it has a path")
        model.write(destination, proto, tensors, bool(external_data) or model.is_large(tensors))


def _tensors(given):
    """The tensors in arguments, in order."""
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, (list, tuple)):
        for one in given:
            yield from _tensors(one)
    elif isinstance(given, dict):
        yield from _tensors(list(given.values()))
