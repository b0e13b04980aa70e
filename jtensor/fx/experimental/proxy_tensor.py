"""`make_fx`: the graph of the operators below autograd that a function runs, by a mode that is asked for each (``__torch_dispatch__``).

Owns: which node a tensor goes by while the function runs, what is a constant. May not know: graphs' text, which operators there are.
"""
import inspect
import operator

import jtensor

from ..._subclasses.fake_tensor import fake_of
from ...base.errors import missing
from ...tensor.core import Tensor
from ...utils import _python_dispatch as dispatching
from ...utils import _pytree as pytree
from ..codegen import _PyTreeCodeGen, _PyTreeInfo
from ..graph import Graph
from ..graph_module import GraphModule
from ..passes.shape_prop import _extract_tensor_metadata

__all__ = ["get_proxy_mode", "make_fx"]

_LOOKED = ("It appears that you're trying to get value out of a tracing tensor with {} - erroring out! It's likely that this is caused by "
           "data-dependent control flow or similar.  It may be possible to trace this with dynamic shapes; try setting "
           "tracing_mode='symbolic' in your make_fx call.")


class _Tracing(dispatching.TorchDispatchMode):
    """Writes down each operator. ``graph``; ``constants``: {name of an attribute: a tensor that was made before}; ``table``:
    {operator: a function that does the same by others}; ``refuses_constants``: whether tensors that were made before are an error."""

    def __init__(self, table=None, refuses_constants=False):
        super().__init__()
        self.graph, self.constants, self._nodes = Graph(), {}, {}
        self.table, self.refuses_constants = table or {}, refuses_constants

    def knows(self, x):
        """Whether a tensor goes by a node."""
        return isinstance(x, Tensor) and id(x) in self._nodes

    def set(self, tensor, node):
        """From here on a tensor goes by this node."""
        self._nodes[id(tensor)] = tensor, node                     # the tensor itself, so that no other one gets its address
        self.tell(node, tensor)

    @staticmethod
    def tell(node, made):
        """Notes what a node gives, without its values."""
        if isinstance(made, Tensor):
            plain = made.detach() if made.requires_grad else made
            node.meta["val"], node.meta["tensor_meta"] = fake_of(plain), _extract_tensor_metadata(plain)
        elif isinstance(made, (tuple, list)) and any(isinstance(one, Tensor) for one in made):
            node.meta["val"] = tuple([fake_of(one) if isinstance(one, Tensor) else one for one in made])

    def node_of(self, x):
        """What stands in the graph for an argument: a node for a tensor, else itself."""
        if not isinstance(x, Tensor):
            return x
        if id(x) in self._nodes:
            return self._nodes[id(x)][1]
        kind = "_param_constant" if isinstance(x, jtensor.nn.Parameter) else "_tensor_constant"
        name = next((name for name, one in self.constants.items() if one is x), None)
        if name is None:
            name = f"{kind}{sum(known.startswith(kind) for known in self.constants)}"
        self.constants[name] = x
        made = self.graph.get_attr(name)
        made.meta["val"] = fake_of(x.detach() if x.requires_grad else x)
        return made

    def _check_constants(self, func, args, kwargs):
        given = pytree.tree_leaves((args, kwargs))
        if any(isinstance(one, Tensor) and not self.knows(one) and func is not jtensor.ops.aten.lift_fresh.default for one in given):
            shown = [repr(fake_of(one)) if self.knows(one) else f"tensor([...], size={tuple(one.shape)}"
                     f"{', requires_grad=True' * one.requires_grad})" if isinstance(one, Tensor) else repr(one) for one in given]
            raise AssertionError("Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                                 f"'allow_non_fake_inputs'. Found in {func}({', '.join(shown)})")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, aten = kwargs or {}, jtensor.ops.aten
        if func in self.table:
            with self:
                made = self.table[func](*args, **kwargs)
            if made is not NotImplemented:
                return made
        if func is aten._local_scalar_dense.default and self.knows(args[0]):
            if self.refuses_constants:
                raise missing("make_fx of numbers that a tensor has only when it runs", "a function that does not ask for them")
            raise RuntimeError(_LOOKED.format(func))
        if func is aten._local_scalar_dense.default:
            return func(*args)
        if self.refuses_constants:
            self._check_constants(func, args, kwargs)
        target = aten.lift_fresh_copy.default if func is aten.lift_fresh.default else func      # it is read anew each time the graph runs
        node = self.graph.call_function(target, *pytree.tree_map(self.node_of, (tuple(args), kwargs)),
                                        name=self.graph._target_to_str(target.overloadpacket.__name__))
        made = func(*args, **kwargs)
        if isinstance(made, (tuple, list)):
            self.tell(node, made)
            for at, one in enumerate(made):
                if isinstance(one, Tensor):
                    self.set(one, self.graph.call_function(operator.getitem, (node, at)))
        elif isinstance(made, Tensor):
            self.set(made, node)
        return made


def get_proxy_mode():
    """The mode by which `make_fx` looks on, or None."""
    return next((mode for mode in reversed(dispatching._get_current_dispatch_mode_stack()) if isinstance(mode, _Tracing)), None)


def make_fx(f, decomposition_table=None, tracing_mode="real", **options):
    """A function that runs ``f`` and answers a `GraphModule` of the operators below autograd that it ran.

    ``f`` takes tensors, and nests of these, by position; numbers and other things are what they are in this run. Sizes are those of this
    run; a number of a traced tensor that Python asks for is a RuntimeError. Tensors that were made before are buffers of the module.
    ``decomposition_table``: {operator: a function that does the same by others}. ``tracing_mode``: with "fake", tensors that were made
    before are an ``AssertionError``; with "symbolic" the graph is right for other sizes, too: ``f`` is run with twice the sizes for a
    comparison, and what depends on a size is a `MissingFeature`. So is a backward pass in ``f``. ``node.meta`` has "val" and
    "tensor_meta", unless sizes are symbols.

    >>> import jtensor as torch
    >>> print(make_fx(lambda x, y: x.sin() + y * 2)(torch.ones(2), torch.ones(2)).graph)
    graph():
        %x_1 : [num_users=1] = placeholder[target=x_1]
        %y_1 : [num_users=1] = placeholder[target=y_1]
        %sin : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%x_1,), kwargs = {})
        %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%y_1, 2), kwargs = {})
        %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%sin, %mul), kwargs = {})
        return add
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode must be real/fake/symbolic, got {tracing_mode}")
    allowed = options.pop("_allow_non_fake_inputs", False)
    if any(options.values()):
        raise missing("make_fx with these options: " + ", ".join([name for name, value in options.items() if value]), "make_fx(f)")

    def wrapped(*args):
        checks = tracing_mode != "real" and not allowed
        made = _traced(f, args, decomposition_table, checks)
        if tracing_mode == "symbolic":
            _check_sizes(f, args, decomposition_table, checks, made)
        return made
    return wrapped


def _traced(f, args, table, checks):
    function = inspect.unwrap(f)
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        names = [f"arg{at}" for at in range(len(args))]
    else:
        names = list(code.co_varnames[:code.co_argcount])
        names = names[1:] if inspect.ismethod(f) else names
    if len(names) != len(args):
        raise RuntimeError(f"Tracing expected {len(names)} arguments but got {len(args)} concrete arguments")
    mode = _Tracing(table, checks)
    for name, one in zip(names, args, strict=True):
        for at, leaf in enumerate(pytree.tree_leaves(one, is_leaf=lambda x: x is None), 1):
            node = mode.graph.placeholder(f"{name}_{at}")
            if isinstance(leaf, Tensor):
                mode.set(leaf, node)
    with mode:
        made = f(*args)
    if any(isinstance(one, (tuple, list, dict)) for one in args):
        leaves, spec = pytree.tree_flatten(made)
        mode.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, pytree.tree_flatten(tuple(args))[1], spec)))
        made = leaves
    mode.graph.output(pytree.tree_map(mode.node_of, made))
    return GraphModule(mode.constants, mode.graph, getattr(f, "__name__", type(f).__name__))


def _check_sizes(f, args, table, checks, made):
    """Refuses where a graph depends on sizes, which are symbols in PyTorch's: it is another one with twice the sizes."""
    def doubled(x):
        if not isinstance(x, Tensor):
            return x
        for dim, size in enumerate(x.shape):
            x = jtensor.cat([x, x], dim) if size > 1 else x
        return x.detach().requires_grad_(x.requires_grad)
    refused = missing("make_fx(tracing_mode=\"symbolic\") of a function whose graph depends on sizes", 'make_fx(f, tracing_mode="real")')
    try:
        with jtensor.no_grad():
            larger = pytree.tree_map(doubled, args)
        with jtensor.random.fork_rng():
            other = _traced(f, larger, table, checks)
    except Exception as problem:
        raise refused from problem
    if str(made.graph) != str(other.graph):
        raise refused
    for node in made.graph.nodes:
        node.meta.pop("val", None)
        node.meta.pop("tensor_meta", None)
