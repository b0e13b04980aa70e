"""Running a graph node by node, or making another graph of it: what a subclass does at a node is up to it.

Owns: `Interpreter`, `Transformer`. May not know: how graphs are traced.
"""
import contextlib
import copy

from .codegen import last_uses
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate, map_arg
from .proxy import Proxy, TracerBase

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a module's graph one node after the other. A subclass overrides `run_node`, or what is done at one kind of nodes.

    ``garbage_collect_values``: results are let go of after their last use; ``graph``: another graph than the module's.

    >>> import jtensor as torch
    >>> class Loud(Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         print(target.__name__)
    ...         return super().call_function(target, args, kwargs)
    >>> Loud(torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)).run(torch.tensor([-1.0, 1.0]))
    relu
    add
    tensor([1., 2.])

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Interpreter
    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module, self.submodules = module, dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env, self.name, self.garbage_collect_values, self.extra_traceback = {}, "Interpreter", garbage_collect_values, True
        self.user_to_last_uses = last_uses(self.graph.nodes) if garbage_collect_values else {}

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The graph's result for these arguments. ``initial_env``: {node: its value} of what is known already."""
        self.env = {} if initial_env is None else initial_env
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    said = f"While executing {node.format_node()}"
                    said = f"{error.args[0]}\n\n{said}" if error.args else said
                    error.args = (f"{said}\nOriginal traceback:\n{node.stack_trace}", *error.args[1:])
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            for gone in self.user_to_last_uses.get(node, ()):
                del self.env[gone]
            if node.op == "output":
                found = self.env[node]
                return self.graph.process_outputs(found) if enable_io_processing else found
        return None

    def boxed_run(self, args_list):
        """The same; the list of arguments is emptied, so that nobody else holds them."""
        args, args_list[:] = list(args_list), []
        return self.run(*args)

    @contextlib.contextmanager
    def _set_current_node(self, node):
        yield

    def run_node(self, n):
        """What a node gives."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        """The next argument; its default where there is none."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target, args, kwargs):
        """The module's attribute of a dotted name."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """A function's result."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """A method's result."""
        this, *rest = args
        return getattr(this, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        """A submodule's result."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """What the program answers."""
        return args[0]

    def fetch_attr(self, target):
        """The module's attribute of a dotted name. ``RuntimeError`` if there is none."""
        found, path = self.module, target.split(".")
        for at, part in enumerate(path):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(path[:at + 1])}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n):
        """A node's arguments with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """A nest with values in the place of nodes. ``RuntimeError`` where one has not been run."""
        def value(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues")
            return self.env[node]
        return map_arg(args, value)


class Transformer(Interpreter):
    """Makes a module of another one: what a method answers, mostly a proxy, stands for the node in the new graph.

    >>> import jtensor as torch
    >>> class Swap(Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(torch.sigmoid if target is torch.relu else target, args, kwargs)
    >>> print(Swap(torch.fx.symbolic_trace(lambda x: torch.relu(x))).transform().code.strip())
    def forward(self, x):
        sigmoid = torch.sigmoid(x);  x = None
        return sigmoid

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Transformer
    """

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _Writing(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target, args, kwargs):
        """A new argument."""
        return Proxy(self.new_graph.placeholder(target, default_value=next(iter(args))) if args else self.new_graph.placeholder(target),
                     self.tracer)

    def get_attr(self, target, args, kwargs):
        """A new node that gets it."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """A new call of the module."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        """A new call of the function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    @contextlib.contextmanager
    def _set_current_node(self, node):
        before, self.tracer.origin = self.tracer.origin, node
        try:
            yield
        finally:
            self.tracer.origin = before

    def transform(self):
        """The new `GraphModule`."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            made = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            old = self.graph.output_node()
            made.meta.update(old.meta)
            made.type = old.type
        return GraphModule(self.module, self.new_graph)


class _Writing(TracerBase):
    """Writes into a graph that is there. ``origin``: the node that what is written comes of."""

    origin = None

    def __init__(self, graph):
        super().__init__()
        self.graph, self.module_stack = graph, {}

    def create_proxy(self, *args, **kwargs):
        """A proxy of a new node, which knows of its origin where that came from."""
        made = super().create_proxy(*args, **kwargs)
        if self.origin is not None:
            told = self.origin.meta
            made.node.meta.update({key: copy.copy(told[key]) for key in _TOLD if key in told})
        return made


_TOLD = ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id", "has_backward_hook",
         "from_node", "quantization_tag", "custom", "partitioner_tag")


