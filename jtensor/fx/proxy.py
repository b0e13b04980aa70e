"""What stands for a value while a program is traced: it writes down what is done with it.

Owns: `Proxy`, `TracerBase` (what writes down and what an argument may be). May not know: modules, how a program is run for this.
"""
import copy
import dataclasses
import dis
import enum
import operator
import sys
import traceback

import jtensor

from .. import overrides
from .codegen import MAGIC
from .node import BASE_TYPES, Node, map_aggregate

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase", "ParameterProxy"]

_REFLECTED = "add sub mul floordiv truediv div mod pow lshift rshift and_ or_ xor getitem matmul".split()
_NOT_A_TEST = "symbolically traced variables cannot be used as inputs to control flow"
_NOT_ITERATED = ("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
                 "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow "
                 "can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors")


class TraceError(ValueError):
    """A program asks for a value that is not there while it is traced."""


class TracerBase:
    """What writes nodes into ``graph`` and answers proxies of them."""

    graph = None
    record_stack_traces = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    module_stack = None

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Puts a node into the graph. A subclass may look at it first."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def proxy(self, node):
        """What stands for a node's result."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """The proxy of a new node whose arguments may have proxies in them."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("arguments must be a tuple and a dict")
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        made = proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = "".join(traceback.format_list([f for f in traceback.extract_stack() if "jtensor" not in f.filename]))
        return made

    def create_arg(self, a):
        """An argument as it stands in a graph: proxies become their nodes. ``NotImplementedError`` for what cannot be in one."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*[self.create_arg(item) for item in a])
        if isinstance(a, (tuple, list)):
            made = [self.create_arg(item) for item in a]
            return tuple(made) if isinstance(a, tuple) else made
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(*[self.create_arg(part) for part in (a.start, a.stop, a.step)])
        if isinstance(a, range):
            return range(*[self.create_arg(part) for part in (a.start, a.stop, a.step)])
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {field.name: self.create_arg(getattr(a, field.name)) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (*BASE_TYPES, enum.Enum, jtensor.Tensor, Node)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key):
        def check(node):
            if isinstance(node, Node):
                raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}")
        made = self.create_arg(key)
        map_aggregate(made, check)
        return made

    def to_bool(self, obj):
        """What a test of a proxy answers: it raises `TraceError`. A subclass may decide."""
        raise TraceError(_NOT_A_TEST)

    def iter(self, obj):
        """What going through a proxy's elements answers: it raises `TraceError`, but where a statement unpacks a known number of them."""
        frame = sys._getframe(2)
        for instruction in dis.get_instructions(frame.f_code):
            if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                return (obj[i] for i in range(instruction.argval))
        raise TraceError(_NOT_ITERATED)

    def keys(self, obj):
        """What ``**proxy`` asks for its names: a proxy of them, which cannot be gone through."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """What writes at the end of a graph that is there.

    >>> import operator, jtensor as torch
    >>> graph = torch.fx.Graph()
    >>> x = Proxy(graph.placeholder("x"))
    >>> (x + 1).node.target is operator.add
    True
    """

    def __init__(self, graph):
        super().__init__()
        self.graph, self.scope, self.module_stack, self.node_name_to_scope = graph, None, {}, {}


class Proxy:
    """Stands for the result of a node: what is done with it becomes more nodes. ``tracer``: what writes them down."""

    def __init__(self, node, tracer=None):
        overrides.has_torch_function((self,))              # from now on functions look at what they are given
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        if k in ("node", "tracer", "root", "attr"):             # while it is unpickled or copied
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, d):
        self.__dict__ = d

    def __deepcopy__(self, memo):
        made = Proxy.__new__(Proxy)
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
                           "torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        found = []
        map_aggregate((tuple(args or ()), dict(kwargs or {})), lambda a: found.append(a.tracer) if isinstance(a, Proxy) else None)
        if any(tracer is not found[0] for tracer in found):
            raise RuntimeError(f"Found multiple different tracers {list(dict.fromkeys(found))} while trying to trace operations "
                               f"{orig_method}")
        args, kwargs = args or (), kwargs or {}
        if overrides.is_tensor_method_or_property(orig_method):
            name = orig_method.__name__                        # PyTorch has `tensor == proxy` ask by the method's plain name
            return found[0].create_proxy("call_method", "eq" if name == "__eq__" else name, args, kwargs)
        return found[0].create_proxy("call_function", orig_method, args, kwargs)


class Attribute(Proxy):
    """An attribute of a proxy. Called, it is a call of a method; otherwise a node is made once it is used."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        """The node that asks for the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known while a program is traced (``Tracer(param_shapes_constant=True)``)."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        """The parameter's."""
        return self.param.shape

    @property
    def ndim(self):
        """The parameter's."""
        return self.param.ndim

    def size(self):
        """The parameter's."""
        return self.param.size()

    def dim(self):
        """The parameter's."""
        return self.param.dim()

    def numel(self):
        """The parameter's."""
        return self.param.numel()

    nelement = numel


def _operator(name, reflected=False):
    function = operator.truediv if name == "div" else getattr(operator, name)          # Python 2's name, which PyTorch's graphs know

    def method(self, *args):
        return self.tracer.create_proxy("call_function", function, (*args, self) if reflected else (self, *args), {})
    method.__name__ = f"__{'r' * reflected}{name.strip('_')}__"
    return method


def _give_operators():
    for method in (*map(_operator, MAGIC), *(_operator(name, reflected=True) for name in _REFLECTED)):
        setattr(Proxy, method.__name__, method)
    Proxy.__hash__ = object.__hash__


_give_operators()
