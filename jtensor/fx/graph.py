"""A program as a list of nodes, which Python code can look at and rewrite.

Owns: `Graph`, the order of its nodes, its checks. May not know: what made it, the text of its program (`codegen`).
"""
import contextlib
import copy
import operator
import warnings

from ..base.errors import missing
from . import codegen
from .naming import Namespace, snake
from .node import Node, map_arg

__all__ = ["Graph", "CodeGen", "PythonCode"]

CodeGen, PythonCode, _PyTreeCodeGen, _PyTreeInfo, _Namespace = (
    codegen.CodeGen, codegen.PythonCode, codegen._PyTreeCodeGen, codegen._PyTreeInfo, Namespace)
_UNSET = object()


class _node_list:
    """A graph's nodes in order, or backwards. Nodes may be put in and taken out while it is walked."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root, node = self.graph._root, getattr(self.graph._root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self):
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _InsertPoint:
    """New nodes go where it says; inside of a ``with`` for as long."""

    def __init__(self, graph, insert):
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        self.graph._insert = self.before


class Graph:
    """A program as a list of `Node`s, from its arguments (placeholders) to what it returns (output).

    ``owning_module``: the `GraphModule` that runs it; ``tracer_cls``: the kind of `Tracer` that made it.

    >>> import jtensor as torch
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_method("relu", (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_method[target=relu](args = (%x,), kwargs = {})
        return relu
    >>> torch.fx.GraphModule(torch.nn.Module(), graph)(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])

    Source: https://docs.pytorch.org/docs/stable/fx.html
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert, self._len = self._root.prepend, 0
        self._owning_module, self._tracer_cls, self._tracer_extras = owning_module, tracer_cls, tracer_extras
        self._namespace, self._codegen = Namespace(), codegen.CodeGen()

    # -- nodes ----------------------------------------------------------------------------------------------------------

    @property
    def owning_module(self):
        """The module that runs this graph, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod):
        self._owning_module = mod

    @property
    def nodes(self):
        """The nodes in order; ``reversed(graph.nodes)`` goes backwards."""
        return _node_list(self)

    def output_node(self):
        """The node that says what is returned."""
        last = self._root._prev
        if last.op != "output":
            raise AssertionError("the graph has no output")
        return last

    def find_nodes(self, *, op, target=None, sort=True):
        """All nodes of a kind, and of a target where ``op`` is "call_function" or one is given. ``sort``: they come in order anyway."""
        return [node for node in self.nodes if node.op == op and (target is None and op != "call_function" or node.target == target)]

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A new node at the place where nodes are put in. ``name``: what its name is made of, otherwise its target."""
        if not isinstance(args if args is not None else (), tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs if kwargs is not None else {}, dict):
            raise AssertionError("kwargs must be a dict")
        name = self._namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args or (), kwargs or {}, type_expr)
        if self.owning_module is not None:
            for hook in getattr(self.owning_module, "_create_node_hooks", ()):
                hook(node)
        self._namespace.rename(node, name)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target):
        if isinstance(target, str):
            name = target[2:-2] if target.startswith("__") and target.endswith("__") else target
        elif hasattr(target, "__name__"):
            name = target.__name__
            name = name[2:-2] if name.startswith("__") and name.endswith("__") else name
        else:
            name = type(target).__name__
        return snake(name)

    def placeholder(self, name, type_expr=None, default_value=_UNSET):
        """An argument of the program; ``*name`` and ``**name`` stand for the rest of them."""
        return self.create_node("placeholder", name, () if default_value is _UNSET else (default_value,), type_expr=type_expr)

    def placeholder_as(self, name):
        """An argument of this very name, even where it hides a builtin function; the program's text then calls it otherwise."""
        if name in self._namespace._used:
            raise RuntimeError(f"the name {name} is taken in this graph")
        node = Node(self, name, "placeholder", name, (), {})
        self._namespace.rename(node, name)
        self._insert(node)
        self._len += 1
        return node

    def get_attr(self, qualified_name, type_expr=None):
        """A parameter, buffer or other attribute of the module, by its dotted name."""
        owner = self.owning_module
        if owner is not None and not reaches(owner, qualified_name):
            warnings.warn(f"Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                          f"GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
                          f"Parameter, or nn.Module.register_buffer to add the necessary buffer ({qualified_name})", stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a submodule, by its dotted name."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)          # says so where there is none
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """What the program returns: nodes, in any nest of tuples, lists and dictionaries."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A node like one of another graph; ``arg_transform`` says which node stands here for each of its inputs."""
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform), node.name,
                                node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Puts in a whole graph's nodes but for its output. ``val_map``: {its node: ours}, which is filled. Answers what it returns, in our
        nodes; with ``return_output_node`` the pair of that and its output."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        made, memo, places = Graph(tracer_cls=self._tracer_cls), {} if memo is None else memo, {}
        memo[id(self)] = made
        found = made.graph_copy(self, places, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen)
        if found is not None:
            value, output = found
            made.output(value, type_expr=output.type).meta = copy.copy(output.meta)
        memo.update({id(old): new for old, new in places.items()})
        return made

    def erase_node(self, to_erase):
        """Takes a node out. ``RuntimeError`` if somebody uses its result."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                               f"{to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        if self.owning_module is not None:
            for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
                hook(to_erase)
        to_erase._unlink()
        to_erase._erased = True
        to_erase._set_arguments((), {})
        self._len -= 1

    def inserting_before(self, n=None):
        """New nodes stand before ``n`` (at the beginning if None), until told otherwise or to the end of a ``with``."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """The same after ``n`` (at the end if None)."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    # -- checks and rewriting -------------------------------------------------------------------------------------------

    def lint(self):
        """Raises ``RuntimeError`` where the graph makes no sense: a value used before it is made, a name given twice, no such module."""
        names, seen = set(), set()

        def check(arg, node):
            if arg.graph is not self:
                raise RuntimeError(f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you "
                                   "are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap "
                                   f"values\n{self}")
            if arg not in seen:
                raise RuntimeError(f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                                   f"the graph are topologically ordered\n{self}")
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for arg in node.all_input_nodes:
                check(arg, node)
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            if node.op in ("get_attr", "call_module") and self.owning_module is not None and not reaches(self.owning_module, node.target):
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute of {_owner(node)}")

    def eliminate_dead_code(self, is_impure_node=None):
        """Takes out the nodes that nobody uses and that do nothing else (`Node.is_impure`). Answers whether there were any."""
        self.lint()
        found = False
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not impure and not node.users:
                self.erase_node(node)
                found = True
        return found

    # -- text -----------------------------------------------------------------------------------------------------------

    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False, colored=False, expanded_def=False,
                    record_func=False, additional_meta=None):
        """The program in Python. ``root_module``: what the module is called in it, mostly "self". Answers a `PythonCode`."""
        if colored or record_func or expanded_def:
            raise missing("colours, profiler's marks and heads of many lines in a graph's code", "python_code(root_module, verbose=True)")
        names = Namespace()
        for node in self.nodes:                # keeps the nodes' names from being taken by globals
            names.create_name(node.name, node)
        return self._codegen._gen_python_code(self.nodes, root_module, names, verbose=verbose)

    def process_inputs(self, *args):
        """The placeholders' values of the program's arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """The program's result of what the output node gives."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen):
        """Sets how the program's text is made."""
        self._codegen = codegen

    @contextlib.contextmanager
    def on_generate_code(self, make_transformer):
        """While this context lasts ``make_transformer(the transformer before)`` answers a function from lines of the body to lines."""
        before = getattr(self._codegen, "_body_transformer", None)
        self._codegen._body_transformer = make_transformer(before)
        try:
            yield
        finally:
            self._codegen._body_transformer = before

    def __str__(self):
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    def print_tabular(self):
        """Prints the nodes as a table. ``ImportError`` without the package ``tabulate``."""
        try:
            from tabulate import tabulate
        except ImportError:
            print("`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip install "
                  "tabulate` to install the library.")
            raise
        print(tabulate([[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes],
                       headers=["opcode", "name", "target", "args", "kwargs"]))


def reaches(module, name):
    """Whether a module has something under a dotted name."""
    try:
        operator.attrgetter(name)(module)
    except AttributeError:
        return False
    return True


def _owner(node):
    head, _, last = node.target.rpartition(".")
    return f"{head or 'the module'} ({last})"

