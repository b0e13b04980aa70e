"""The module of an exported program: its parameters have their own names again, its arguments are nested, and are checked.

Owns: that. May not know: how the program was recorded.
"""
import copy
import types

from ..fx.codegen import _PyTreeCodeGen, _PyTreeInfo
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..nn import Module, Parameter
from ..tensor.core import Tensor
from ..utils import _pytree as pytree
from .graph_signature import InputKind

_NEST = ("Trying to flatten user inputs with exported input tree spec: \n{}\nbut actually got inputs with tree spec of: \n{}.\nPlease "
         "check that the inputs have the same number and type of args and kwargs as the ones you used when tracing.")
_KEYWORDS = "Ran into a kwarg keyword mismatch: Got the following keywords {} but expected {}"


class GuardsFn(Module):
    """Whether arguments are what a program was made for: ``guards`` are triples (index of the argument, dimension or None, value)."""

    def __init__(self, names, guards):
        super().__init__()
        self.names, self.guards = names, guards

    def forward(self, *args):
        """Nothing; ``AssertionError`` where a size, or a value that is no tensor, differs."""
        for at, dim, wanted in self.guards:
            if dim is None:
                if args[at] != wanted:
                    raise AssertionError(f"Guard failed: {self.names[at]} == {wanted!r}")
            elif args[at].size()[dim] != wanted:
                raise AssertionError(f"Guard failed: {self.names[at]}.size()[{dim}] == {wanted}")


def unlifted(program, check_guards):
    """A program's module."""
    signature, graph, given = program.module_call_graph[0].signature, copy.deepcopy(program.graph), []
    for spec, node in zip(program.graph_signature.input_specs, list(graph.nodes), strict=False):
        if spec.kind is InputKind.USER_INPUT:
            given.append(node)
            continue
        with graph.inserting_before(node):
            own = graph.get_attr(spec.target)
        own.meta = dict(node.meta)
        node.replace_all_uses_with(own)
        graph.erase_node(node)
    if check_guards and given:
        with graph.inserting_after(given[-1]):
            graph.create_node("call_module", "_guards_fn", tuple(given))
    graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(list(signature.forward_arg_names), signature.in_spec, signature.out_spec)))
    made = GraphModule(Module(), Graph())
    _give(made, program)
    if check_guards and given:
        made._guards_fn = GuardsFn([node.target for node in given], _guards(given))
    made.graph = graph
    made.register_forward_pre_hook(_Nested(signature.in_spec), with_kwargs=True)
    made.train, made.eval = types.MethodType(_no_train, made), types.MethodType(_no_eval, made)
    return made


def _guards(given):
    found = []
    for at, node in enumerate(given):
        told = node.meta["val"]
        if isinstance(told, Tensor):
            found += [(at, dim, size) for dim, size in enumerate(told.shape)]
        elif isinstance(told, (int, float, str, complex)):
            found.append((at, None, told))
    return found


def _give(made, program):
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            continue
        owner, (*path, last) = made, spec.target.split(".")
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, Module())
            owner = owner._modules[part]
        if spec.kind is InputKind.PARAMETER:
            owner.register_parameter(last, program.state_dict[spec.target])
        elif spec.kind is InputKind.BUFFER:
            found = program.state_dict if spec.persistent else program.constants
            owner.register_buffer(last, found[spec.target], persistent=spec.persistent)
        else:
            constant = program.constants[spec.target]
            if isinstance(constant, Parameter):
                owner.register_parameter(last, constant)
            else:
                owner.__dict__[last] = constant


class _Nested:
    """Puts keywords in the order that the program knows, and refuses arguments that are nested otherwise."""

    def __init__(self, spec):
        self.spec = spec

    def __call__(self, module, args, kwargs):
        known = self.spec.children()[1]
        if set(kwargs) != set(known.context):
            raise ValueError(_KEYWORDS.format(list(kwargs), list(known.context)))
        kwargs = {key: kwargs[key] for key in known.context}
        found = pytree.tree_structure((tuple(args), kwargs))
        if found != self.spec:
            raise ValueError(_NEST.format(self.spec, found))
        return args, kwargs


def _no_train(self, mode=True):
    raise NotImplementedError("Calling train() is not supported yet.")


def _no_eval(self):
    raise NotImplementedError("Calling eval() is not supported yet.")
