"""The FX graph of a trace: each operator a call of ``torch.ops.aten``, what it takes from outside an argument.

Owns: what an argument of an operator is in a graph, the order and the names of nodes. May not know: how anything was recorded.
"""
import operator

import jtensor

from ..base.devices import device
from ..base.errors import missing
from ..fx.graph import Graph
from ..fx.node import map_arg
from ..jit.calls import CODES, FORMATS

_NAMED = {"_assert_tensor_metadata": "_assert_tensor_metadata_default"}


class Maker:
    """Makes one graph. ``nodes``: {value of the trace: its node}."""

    def __init__(self, trace):
        self.graph, self.trace, self.nodes = Graph(), trace, {}

    def placeholder(self, name, value, told):
        """An argument of the program; ``told``: a tensor like it, or what it is. The node has that name whatever it hides."""
        node = self.graph.placeholder_as(name)
        node.meta["val"] = told
        if value is not None:
            self.nodes[value] = node
        return node

    def operators(self, stacks):
        """All operators in the order in which they ran. ``stacks``: {path of a module: its ``nn_module_stack``}."""
        for node in self.trace.root.all_nodes():
            if node.kind.startswith("aten::"):
                self._operator(node, stacks)
            elif node.kind == "prim::ListUnpack":
                self._parts(self.nodes[node.inputs[0]], node.outputs)

    def copied(self, target, source, told):
        """A write to a buffer at the end of the program."""
        node = self.graph.call_function(jtensor.ops.aten.copy_.default, (target, source), name="copy__default")
        node.meta["val"] = told
        for key in ("stack_trace", "nn_module_stack"):
            if key in source.meta:
                node.meta[key] = source.meta[key]

    # -- nodes ----------------------------------------------------------------------------------------------------------

    def _operator(self, node, stacks):
        schema, name = node.data, node.kind.removeprefix("aten::").partition(".")[0]
        target = overload(schema, name)
        values = [self._argument(argument.type, value, argument.name)
                  for argument, value in zip(schema.arguments, node.inputs, strict=True)]
        args = [value for argument, value in zip(schema.arguments, values, strict=True) if not argument.kwarg_only]
        named = {argument.name: value for argument, value in zip(schema.arguments, values, strict=True) if argument.kwarg_only}
        args, named = schema.told(args, named)
        if name == "_assert_tensor_metadata":                     # PyTorch calls it from Python, by these names
            args, named = args[:1], {"dtype": args[3], **named}
        made = self.graph.call_function(target, tuple(args), named, name=_NAMED.get(name, self.graph._target_to_str(name)))
        stack, path = node.where or (None, ())
        self._tell(made, node, stack, stacks.get(path))
        if len(node.outputs) > 1:
            self._parts(made, node.outputs)
        elif node.outputs:
            self.nodes[node.output] = made

    def _tell(self, made, node, stack, modules):
        if modules is not None:
            made.meta["nn_module_stack"] = dict(modules)
        if stack:
            made.meta["stack_trace"] = stack
        told = [self.trace.told.get(value) for value in node.outputs]
        if told == [None]:                                        # a step of an index, whose tensor nobody has had
            told = [self._worked_out(made, node.data)]
        made.meta["val"] = tuple(told) if len(told) > 1 else told[0] if told else None

    def _worked_out(self, made, schema):
        def told(x):
            return map_arg(x, lambda node: node.meta["val"])
        if schema.is_mutable:
            return told(made.args[0])
        return made.target(*told(made.args), **told(made.kwargs))

    def _parts(self, whole, outputs):
        whole.meta["val"] = [self.trace.told.get(value) for value in outputs]
        for at, value in enumerate(outputs):
            self.nodes[value] = part = self.graph.call_function(operator.getitem, (whole, at))
            part.meta.update({key: one for key, one in whole.meta.items() if key != "val"})
            part.meta["val"] = self.trace.told.get(value)

    # -- arguments ------------------------------------------------------------------------------------------------------

    def _argument(self, kind, value, name):
        node = value.node
        if value in self.nodes:
            return self.nodes[value]
        if node.kind == "prim::ListConstruct":
            return [self._argument(kind, one, name) for one in node.inputs]
        if node.kind != "prim::Constant":
            raise missing(f"torch.export of what {node.kind} is in TorchScript", "functions of torch that work on tensors")
        if name in ("cudnn_enabled", "cudnn_enable"):
            return False                                          # as PyTorch has it while it exports
        return decoded(kind.base, node.data)

    def output(self, results):
        """The program's results, nodes and plain values."""
        node = self.graph.output(tuple(results))
        return node


def overload(schema, name):
    """``torch.ops.aten.add.Tensor`` by a schema, or an operator that a user has defined."""
    space, _, _ = schema.name.rpartition("::")
    try:
        packet = getattr(getattr(jtensor.ops, space or "aten"), name)
        return getattr(packet, schema.overload_name or "default")
    except AttributeError:
        raise missing(f"the operator {space or 'aten'}::{name} in exported graphs", "functions of torch that it is made of") from None


def decoded(base, data):
    """A value as Python has it: TorchScript has numbers for dtypes and formats of memory."""
    if data is None:
        return None
    if base == "ScalarType":
        return CODES[data] if isinstance(data, int) else data
    if base == "MemoryFormat":
        return getattr(jtensor, FORMATS[data]) if isinstance(data, int) else data
    if base == "Layout":
        return jtensor.strided
    return device(data) if base == "Device" else data
