"""`make_fx`: the graph of the operators below autograd that a function runs, by a mode that is asked for each (``__torch_dispatch__``).

Owns: which node a tensor goes by while the function runs, what is a constant. May not know: graphs' text, which operators there are.
"""
import inspect
import operator

import jtensor

from ...base.errors import missing
from ...tensor.core import Tensor
from ...utils import _python_dispatch as dispatching
from ...utils import _pytree as pytree
from ..graph import Graph
from ..graph_module import GraphModule

__all__ = ["get_proxy_mode", "make_fx"]

_LOOKED = ("It appears that you're trying to get value out of a tracing tensor with {} - erroring out! It's likely that this is caused by "
           "data-dependent control flow or similar.  It may be possible to trace this with dynamic shapes; try setting "
           "tracing_mode='symbolic' in your make_fx call.")


class _Tracing(dispatching.TorchDispatchMode):
    """Writes down each operator. ``graph``; ``constants``: {name of an attribute: a tensor that was made before}."""

    def __init__(self):
        super().__init__()
        self.graph, self.constants, self._nodes = Graph(), {}, {}

    def knows(self, x):
        """Whether a tensor goes by a node."""
        return isinstance(x, Tensor) and id(x) in self._nodes

    def set(self, tensor, node):
        """From here on a tensor goes by this node."""
        self._nodes[id(tensor)] = tensor, node                     # the tensor itself, so that no other one gets its address

    def node_of(self, x):
        """What stands in the graph for an argument: a node for a tensor, else itself."""
        if not isinstance(x, Tensor):
            return x
        if id(x) in self._nodes:
            return self._nodes[id(x)][1]
        name = next((name for name, one in self.constants.items() if one is x), f"_tensor_constant{len(self.constants)}")
        self.constants[name] = x
        return self.graph.get_attr(name)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, aten = kwargs or {}, jtensor.ops.aten
        if func is aten._local_scalar_dense.default and self.knows(args[0]):
            raise RuntimeError(_LOOKED.format(func))
        if func is aten._local_scalar_dense.default:
            return func(*args)
        target = aten.lift_fresh_copy.default if func is aten.lift_fresh.default else func      # it is read anew each time the graph runs
        node = self.graph.call_function(target, *pytree.tree_map(self.node_of, (tuple(args), kwargs)),
                                        name=self.graph._target_to_str(target.overloadpacket.__name__))
        made = func(*args, **kwargs)
        if isinstance(made, (tuple, list)):
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

    ``f`` takes tensors by position. Sizes and numbers are those of this run; a number of a traced tensor that Python asks for is a
    RuntimeError. Tensors that were made before are buffers of the module. A backward pass in ``f`` is a `MissingFeature`.

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
        raise AssertionError(f'tracing_mode should be one of ["real", "fake", "symbolic"], got {tracing_mode}')
    if tracing_mode != "real" or decomposition_table or any(options.values()):
        raise missing("make_fx with other sizes than those of its arguments, decompositions or options", 'make_fx(f, tracing_mode="real")')

    def wrapped(*args):
        if not all(isinstance(one, Tensor) for one in args):
            raise missing("make_fx of a function of other things than tensors", "a function of tensors by position")
        names = [parameter.name for parameter in inspect.signature(f).parameters.values()]
        if len(names) != len(args):
            raise RuntimeError(f"Tracing expected {len(names)} arguments but got {len(args)} concrete arguments")
        mode = _Tracing()
        for name, one in zip(names, args, strict=True):
            mode.set(one, mode.graph.placeholder(f"{name}_1"))
        with mode:
            made = f(*args)
        mode.graph.output(pytree.tree_map(mode.node_of, made))
        return GraphModule(mode.constants, mode.graph, getattr(f, "__name__", type(f).__name__))
    return wrapped
