"""What the arguments and results of an exported graph are: parameters, buffers, constants, what the user gives and gets.

Owns: these descriptions and how they are shown. May not know: graphs, modules.
"""
import dataclasses
import enum

from ..base.absent import kind

__all__ = ["ConstantArgument", "CustomObjArgument", "ExportBackwardSignature", "ExportGraphSignature", "InputKind", "InputSpec",
           "OutputKind", "OutputSpec", "SymBoolArgument", "SymFloatArgument", "SymIntArgument", "TensorArgument"]


@dataclasses.dataclass
class TensorArgument:
    """A tensor: the name of its node."""

    name: str


@dataclasses.dataclass
class ConstantArgument:
    """A number, a text or None, which the program was made for."""

    name: str
    value: object


_OTHER = "programs with sizes that change, objects of TorchScript, or a backward pass"
SymIntArgument = kind(__name__, "SymIntArgument", _OTHER, "tensors, numbers, texts")
SymFloatArgument = kind(__name__, "SymFloatArgument", _OTHER, "tensors, numbers, texts")
SymBoolArgument = kind(__name__, "SymBoolArgument", _OTHER, "tensors, numbers, texts")
CustomObjArgument = kind(__name__, "CustomObjArgument", _OTHER, "tensors, numbers, texts")
ExportBackwardSignature = kind(__name__, "ExportBackwardSignature", _OTHER, "tensors, numbers, texts")


class InputKind(enum.Enum):
    """What an argument of the graph is."""

    USER_INPUT = 1
    PARAMETER = 2
    BUFFER = 3
    CONSTANT_TENSOR = 4
    CUSTOM_OBJ = 5
    TOKEN = 6


class OutputKind(enum.Enum):
    """What a result of the graph is."""

    USER_OUTPUT = 1
    LOSS_OUTPUT = 2
    BUFFER_MUTATION = 3
    PARAMETER_MUTATION = 4
    GRADIENT_TO_PARAMETER = 5
    GRADIENT_TO_USER_INPUT = 6
    USER_INPUT_MUTATION = 7
    TOKEN = 8


@dataclasses.dataclass
class InputSpec:
    """An argument of the graph: its kind, the node, the dotted name in the module, and of a buffer whether it is saved."""

    kind: InputKind
    arg: object
    target: str | None
    persistent: bool | None = None

    def __post_init__(self):
        if self.kind is InputKind.BUFFER and self.persistent is None:
            raise AssertionError("Failed to specify persistent flag on BUFFER.")

    def __str__(self):
        target = f" target={self.target!r}" if self.target is not None else ""
        persistent = f" persistent={self.persistent}" if self.persistent is not None else ""
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclasses.dataclass
class OutputSpec:
    """A result of the graph: its kind, the node, and the dotted name of what it is written to, if any."""

    kind: OutputKind
    arg: object
    target: str | None

    def __str__(self):
        return f"{self.arg.name}: {self.kind.name}{f' target={self.target!r}' if self.target is not None else ''}"


@dataclasses.dataclass
class ExportGraphSignature:
    """All arguments and results of an exported graph, in order.

    >>> import jtensor as torch
    >>> program = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    >>> print(program.graph_signature)
    <BLANKLINE>
    # inputs
    p_weight: PARAMETER target='weight'
    p_bias: PARAMETER target='bias'
    input: USER_INPUT
    <BLANKLINE>
    # outputs
    linear: USER_OUTPUT
    <BLANKLINE>

    Source: https://docs.pytorch.org/docs/stable/export.html
    """

    input_specs: list
    output_specs: list

    def _targets(self, kind):
        return {spec.arg.name: spec.target for spec in self.input_specs if spec.kind is kind}

    def _written(self, kind):
        return {spec.arg.name: spec.target for spec in self.output_specs if spec.kind is kind}

    @property
    def inputs_to_parameters(self):
        """{name of a node: dotted name of the parameter}."""
        return self._targets(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self):
        """{name of a node: dotted name of the buffer}."""
        return self._targets(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self):
        """{name of a node: the name that its tensor has in ``constants``}."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self):
        """{}: there are none."""
        return self._targets(InputKind.CUSTOM_OBJ)

    @property
    def parameters(self):
        """The dotted names of the parameters."""
        return tuple(self.inputs_to_parameters.values())

    @property
    def buffers(self):
        """The dotted names of the buffers."""
        return tuple(self.inputs_to_buffers.values())

    @property
    def non_persistent_buffers(self):
        """The dotted names of buffers that no state dict has."""
        return tuple([spec.target for spec in self.input_specs if spec.kind is InputKind.BUFFER and spec.persistent is False])

    @property
    def lifted_tensor_constants(self):
        """The names of tensors that were made before, as ``constants`` has them."""
        return tuple(self.inputs_to_lifted_tensor_constants.values())

    @property
    def lifted_custom_objs(self):
        """(): there are none."""
        return tuple(self.inputs_to_lifted_custom_objs.values())

    @property
    def user_inputs(self):
        """What the user gives: names of nodes, and the values of what is no tensor."""
        return tuple([_shown(spec.arg) for spec in self.input_specs if spec.kind is InputKind.USER_INPUT])

    @property
    def user_outputs(self):
        """What the user gets: names of nodes, and the values of what is no tensor."""
        return tuple([_shown(spec.arg) for spec in self.output_specs if spec.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)])

    @property
    def buffers_to_mutate(self):
        """{}: buffers are written by nodes of the graph, not by its results."""
        return self._written(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self):
        """{}, as of buffers."""
        return self._written(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self):
        """{}, as of buffers."""
        return self._written(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self):
        """None: there is no backward pass in the graph."""
        return None

    @property
    def assertion_dep_token(self):
        """None: nothing is put in an order by hand."""
        return None

    def replace_all_uses(self, old, new):
        """Has arguments and results that go by the name ``old`` go by ``new``."""
        for spec in (*self.input_specs, *self.output_specs):
            if isinstance(spec.arg, TensorArgument) and spec.arg.name == old:
                spec.arg.name = new

    def __str__(self):
        inputs, outputs = ("\n".join(map(str, specs)) for specs in (self.input_specs, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


def _shown(arg):
    return arg.value if isinstance(arg, ConstantArgument) else arg.name
