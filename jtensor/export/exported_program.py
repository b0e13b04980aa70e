"""What `torch.export.export` answers: a graph, what its arguments are, and the tensors of the module that it was made of.

Owns: `ExportedProgram`, the descriptions of calls. May not know: how a program is recorded (`tracing`), made callable (`unlifting`) or
written (`files`).
"""
import dataclasses
import typing

from ..base.errors import missing
from ..fx.graph_module import GraphModule
from ..nn import Module
from .graph_signature import InputKind

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]


class CallSpec(typing.NamedTuple):
    """How arguments and results are nested."""

    in_spec: object
    out_spec: object


@dataclasses.dataclass
class ModuleCallSignature:
    """How a module is called: ``inputs`` and ``outputs`` (of the outermost none are told), how they are nested, the arguments' names."""

    inputs: list
    outputs: list
    in_spec: object
    out_spec: object
    forward_arg_names: list | None = None


@dataclasses.dataclass
class ModuleCallEntry:
    """A module by its dotted name, and how it is called: known of the outermost alone."""

    fqn: str
    signature: ModuleCallSignature | None = None


def default_decompositions():
    """Raises ``NotImplementedError``: operators are not taken apart."""
    raise missing("tables of decompositions (torch.export.default_decompositions)", "the graph of torch.export.export as it is")


class ExportedProgram:
    """A module's program for arguments of fixed sizes: what `torch.export.export` answers.

    ``graph_module`` runs on all arguments in a row, parameters first; ``graph``: its graph; ``graph_signature``: what its arguments are;
    ``state_dict``: the module's own parameters and buffers; ``constants``: buffers that are not saved, and tensors made before;
    ``call_spec``: how arguments and results are nested; ``example_inputs``: what it was exported with, (args, kwargs).

    >>> import jtensor as torch
    >>> program = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    >>> print(program.graph_module.code.strip())
    def forward(self, p_weight, p_bias, input):
        input_1 = input
        linear = torch.ops.aten.linear.default(input_1, p_weight, p_bias);  input_1 = p_weight = p_bias = None
        return (linear,)
    >>> program.module()(torch.zeros(1, 2)).shape
    torch.Size([1, 3])

    Source: https://docs.pytorch.org/docs/stable/export.html
    """

    def __init__(self, root, graph, graph_signature, state_dict, range_constraints, module_call_graph, example_inputs=None, constants=None,
                 *, verifiers=None):
        self._graph_module = GraphModule(root if isinstance(root, (Module, dict)) else {}, graph)
        self._graph_signature, self._state_dict, self._constants = graph_signature, state_dict, constants or {}
        self._range_constraints, self._module_call_graph, self._example_inputs = range_constraints, module_call_graph, example_inputs

    graph_module = property(lambda self: self._graph_module, doc="The module that runs the graph, parameters given first.")
    graph = property(lambda self: self._graph_module.graph, doc="The graph.")
    graph_signature = property(lambda self: self._graph_signature, doc="What the graph's arguments and results are.")
    state_dict = property(lambda self: self._state_dict, doc="Parameters and saved buffers: the tensors of the module itself.")
    constants = property(lambda self: self._constants, doc="Buffers that are not saved, and tensors made before.")
    tensor_constants = property(lambda self: self._constants, doc="The same as ``constants``.")
    range_constraints = property(lambda self: self._range_constraints, doc="{}: all sizes are fixed.")
    module_call_graph = property(lambda self: self._module_call_graph, doc="The modules within, the outermost first.")
    example_inputs = property(lambda self: self._example_inputs, doc="(args, kwargs) that it was exported with.")
    dialect = property(lambda self: "TRAINING", doc='Which operators there are: PyTorch calls these "TRAINING".')

    @property
    def call_spec(self):
        """How arguments and results are nested."""
        whole = self._module_call_graph[0].signature
        return CallSpec(whole.in_spec, whole.out_spec)

    def parameters(self):
        """The parameters."""
        for _, one in self.named_parameters():
            yield one

    def named_parameters(self):
        """(dotted name, parameter), each."""
        for name in self._graph_signature.parameters:
            yield name, self._state_dict[name]

    def buffers(self):
        """The buffers."""
        for _, one in self.named_buffers():
            yield one

    def named_buffers(self):
        """(dotted name, buffer), each."""
        unsaved = set(self._graph_signature.non_persistent_buffers)
        for name in self._graph_signature.buffers:
            yield name, (self._constants if name in unsaved else self._state_dict)[name]

    def module(self, check_guards=True):
        """A module that computes the program for arguments nested as in ``example_inputs``, with the parameters under their own names.

        ``check_guards``: whether sizes of the arguments are compared with those that the program was made for (``AssertionError``);
        other nests are a ``ValueError`` in any case. The parameters are those of the exported module: training it trains both.
        """
        from .unlifting import unlifted
        return unlifted(self, check_guards)

    def run_decompositions(self, decomp_table=None, decompose_custom_triton_ops=False):
        """Raises ``NotImplementedError``: operators are not taken apart into others."""
        raise missing("decompositions of operators (ExportedProgram.run_decompositions)", "the graph of torch.export.export as it is")

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` instead.")

    def __str__(self):
        shown = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        signature = str(self.graph_signature).replace("\n", "\n    ")
        return f"ExportedProgram:\n    {shown}\nGraph signature: {signature}\nRange constraints: {self.range_constraints}\n"

    __repr__ = __str__

    def _flat(self, args, kwargs):
        """All arguments of the graph in a row, for arguments of the user's."""
        from ..utils import _pytree as pytree
        unsaved = set(self._graph_signature.non_persistent_buffers)
        own = [(self._constants if spec.kind is InputKind.CONSTANT_TENSOR or spec.target in unsaved else self._state_dict)[spec.target]
               for spec in self._graph_signature.input_specs if spec.kind is not InputKind.USER_INPUT]
        return [*own, *pytree.tree_leaves((args, kwargs))]
