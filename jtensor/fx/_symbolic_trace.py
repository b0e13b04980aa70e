"""Tracing: a module or a function is run on proxies, which write down what it does.

Owns: `Tracer` (which modules are looked into, what arguments and attributes become), what is replaced while a trace lasts, functions that
are not to be looked into (`wrap`). May not know: what becomes of the graph.
"""
import builtins
import collections
import contextlib
import copy
import inspect
import math
import sys
import threading
import types
import warnings

import jtensor

from ..nn import Module, Parameter
from ..utils import _pytree as pytree
from . import patching
from .codegen import _PyTreeCodeGen, _PyTreeInfo
from .graph import Graph
from .graph_module import GraphModule
from .node import BASE_TYPES
from .proxy import ParameterProxy, Proxy, TracerBase

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap", "is_fx_tracing"]

_wrapped_fns_to_patch, _wrapped_methods_to_patch = {}, []      # {(id of a module's dictionary, name): the dictionary}; [(class, name)]
_tracing = threading.local()


def is_fx_tracing():
    """Whether a program is being traced in this thread."""
    return getattr(_tracing, "depth", 0) > 0


class PHBase:
    """Stands for an argument that stays one, among ``concrete_args``."""

    def __repr__(self):
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """The same, with a key by which it is known."""

    def __init__(self, ph_key=None):
        super().__init__()
        self.ph_key = ph_key


class ProxyableClassMeta(type):
    """Metaclass: a class whose objects may be made of proxies. Where one is among the arguments, making it becomes a node."""

    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        found = []
        pytree.tree_map(lambda leaf: found.append(leaf) if isinstance(leaf, Proxy) else None, (args, kwargs))
        if not found:
            cls.__init__(made, *args, **kwargs)
            return made
        if any(proxy.tracer is not found[0].tracer for proxy in found):
            raise AssertionError("proxies of several tracers")
        return found[0].tracer.create_proxy("call_function", cls, args, kwargs)


def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    """Makes graphs of modules and functions. A subclass may say which modules stay calls (`is_leaf_module`), and more.

    ``autowrap_modules``: Python modules whose functions stay calls where an argument is a proxy (``math``); ``autowrap_functions``: such
    functions; ``param_shapes_constant``: the shapes of parameters are numbers of the program.

    >>> import jtensor as torch
    >>> Tracer().trace(lambda x: torch.relu(x) + 1).output_node().args
    (add,)
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap_functions = {id(value) for module in autowrap_modules for name, value in module.__dict__.items()
                                    if not name.startswith("_") and callable(value)} | {id(function) for function in autowrap_functions}
        self._autowrap_modules, self.param_shapes_constant = list(autowrap_modules), param_shapes_constant
        self.submodule_paths, self.root_module_name, self._qualnames = None, "", collections.Counter()
        self.module_stack, self.node_name_to_scope, self.tensor_attrs, self.root = collections.OrderedDict(), {}, {}, None

    def get_fresh_qualname(self, prefix):
        """A name ``prefix0``, ``prefix1``, ... that the root has no attribute of."""
        number = self._qualnames[prefix]
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._qualnames[prefix] = number + 1
        return f"{prefix}{number}"

    # -- what things become ---------------------------------------------------------------------------------------------

    def create_arg(self, a):
        """As `TracerBase.create_arg`; parameters, buffers and modules become nodes that get them, other tensors new attributes."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, jtensor.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(item) for item in a), {})
        if isinstance(a, jtensor.Tensor):
            known = self.tensor_attrs.get(id(a))
            if known is not None:
                return self.create_node("get_attr", known[0], (), {})
            return self._constant("_tensor_constant", a)
        if isinstance(type(a), ProxyableClassMeta):
            return self._constant(f"_{type(a).__name__}_constant_", a)
        return super().create_arg(a)

    def _constant(self, prefix, value):
        name = self.get_fresh_qualname(prefix)
        self.tensor_attrs[id(value)] = name, value
        setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def is_leaf_module(self, m, module_qualified_name):
        """Whether a call of a module stays one: of PyTorch's own, but ``Sequential``."""
        return type(m).__module__.startswith(("jtensor.nn", "torch.nn")) and not isinstance(m, jtensor.nn.Sequential)

    def path_of_module(self, mod):
        """The dotted name of a submodule of the root. ``NameError`` if it is none."""
        if self.submodule_paths is not None:
            name = self.submodule_paths.get(mod)
            if name is not None:
                return name
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """What a call of a module becomes: a node, or what ``forward`` does on the proxies."""
        name = self.path_of_module(m)
        self.module_stack[name] = (name, type(m))
        try:
            if self.is_leaf_module(m, name):
                return self.create_proxy("call_module", name, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.module_stack.pop(name, None)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What an attribute of a module is while a trace lasts: proxies of parameters (and buffers), otherwise itself."""
        if isinstance(attr_val, Parameter):
            named = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, jtensor.Tensor):
            named = self.root.named_buffers()
        else:
            return attr_val
        name = next((name for name, found in named if found is attr_val), None)
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            shaped = self.param_shapes_constant and isinstance(attr_val, Parameter)
            factory = (lambda node: ParameterProxy(self, node, name, attr_val)) if shaped else None
            # A tracer's own create_proxy may be older than this argument.
            takes = "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **({"proxy_factory_fn": factory} if takes else {}))
        return parameter_proxy_cache[name]

    # -- a trace --------------------------------------------------------------------------------------------------------

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """The function to run and the proxies of its arguments, in order. ``concrete_args``: {name: its value, in a nest with `PH`}."""
        inner = inspect.unwrap(root_fn)
        code, signature = inner.__code__, inspect.signature(inner)
        count = code.co_argcount + code.co_kwonlyargcount
        names, args = list(code.co_varnames[:count]), []
        if is_module:
            if not count:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            args.append(self.root)
        stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        if isinstance(concrete_args, tuple) and concrete_args and count == 1 and stars:
            for number, value in enumerate(concrete_args):                # of *args it is only known how many there are
                args.append(self.create_proxy("placeholder", f"input_{number}", (), {}))
                _mark(args[-1].node, value)
            return root_fn, args
        if isinstance(concrete_args, tuple):
            if len(names) - is_module != len(concrete_args):
                raise RuntimeError(f"Tracing expected {len(names) - is_module} arguments but got {len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(names[is_module:], concrete_args, strict=True))
        for name in names[is_module:]:
            args.append(self._proxy_placeholder(name, concrete_args, signature, inner))
        if code.co_kwonlyargcount or stars:
            stars = 0
            for flag, mark in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
                if code.co_flags & flag:
                    args.append(self._proxy_placeholder(mark + code.co_varnames[count + stars], concrete_args, signature, inner))
                    stars += 1
            root_fn = _all_positional(inner, len(args))
        if concrete_args is None or not any(isinstance(value, (dict, list, tuple)) for value in concrete_args.values()):
            return root_fn, args
        leaves, spec = pytree.tree_flatten(tuple(args))
        return self._of_leaves(root_fn, names, spec), leaves

    def _of_leaves(self, function, names, spec):
        """The same function of the leaves of its arguments, which answers the leaves of its result."""
        self.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, spec, None)))

        def flat(*given):
            leaves, out = pytree.tree_flatten(function(*pytree.tree_unflatten(list(given), spec)))
            self.graph._codegen.pytree_info = _PyTreeInfo(names, spec, out)
            return leaves
        return flat

    def _proxy_placeholder(self, name, concrete_args, sig, fn_for_analysis):
        default = ()
        if not name.startswith("*") and sig.parameters[name].default is not inspect.Parameter.empty:
            default = (sig.parameters[name].default,)
        if concrete_args is None or name not in concrete_args:
            return self.create_proxy("placeholder", name, default, {}, type_expr=fn_for_analysis.__annotations__.get(name))
        number = 0

        def placed(value):
            nonlocal number
            number += 1
            proxy = self.create_proxy("placeholder", f"{name}_{number}", default, {})
            if isinstance(value, PHBase):
                _mark(proxy.node, value)
                return proxy
            if value is None:
                self.create_proxy("call_function", _assert_is_none,
                                  (proxy, f"{name} has been specialized to have value None but got another value"), {})
            elif type(value) in BASE_TYPES:
                self.create_proxy("call_function", jtensor._assert,
                                  (proxy == value, f"{name} has been specialized to have value {value} but got another value"), {})
            else:
                warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the "
                              "user to make sure that your inputs match the inputs you specialized the function with.", stacklevel=2)
            return value
        return pytree.tree_map(placed, concrete_args[name])

    def trace(self, root, concrete_args=None):
        """The `Graph` of a module or a function. ``concrete_args``: {name of an argument: the value that it is taken to have}."""
        _tracing.depth = getattr(_tracing, "depth", 0) + 1
        try:
            return self._trace(root, concrete_args)
        finally:
            _tracing.depth -= 1
            self.submodule_paths = None

    def _trace(self, root, concrete_args):
        if isinstance(root, Module):
            self.root, self.root_module_name = root, type(root).__name__
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            function = getattr(type(root), self.traced_func_name)
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, function = Module(), root
        kind = type(self) if "<locals>" not in type(self).__qualname__ else None
        self.graph = Graph(tracer_cls=kind)
        self.tensor_attrs = {}
        for name, module in self.root.named_modules():
            for attribute, value in module.__dict__.items():
                if isinstance(value, jtensor.Tensor):
                    self.tensor_attrs[id(value)] = f"{name}.{attribute}" if name else attribute, value
        run, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        with self._instead(getattr(function, "__globals__", {})):
            result = self.create_arg(run(*args))
        self.create_node("output", "output", (result,), {}, type_expr=getattr(run, "__annotations__", {}).get("return"))
        return self.graph

    @contextlib.contextmanager
    def _instead(self, fn_globals):
        """While a trace lasts calls and attributes of modules, and functions that are wrapped, go through this tracer."""
        cache, seen = {}, set()
        get, call = Module.__getattr__, Module.__call__

        def module_getattr(module, name):
            return self.getattr(name, get(module, name), cache)

        def module_call(module, *args, **kwargs):
            def forward(*args, **kwargs):
                return call(module, *args, **kwargs)
            self._wrap_globals(getattr(getattr(module, "forward", module), "__globals__", {}), patches, seen)
            return self.call_module(module, forward, args, kwargs)
        patches = contextlib.ExitStack()
        with patches:
            patching.replace(patches, Module, "__getattr__", module_getattr)
            patching.replace(patches, Module, "__call__", module_call)
            for (_, name), space in list(_wrapped_fns_to_patch.items()):
                original = space[name] if name in space else getattr(builtins, name, None)
                if original is not None:
                    patching.put(patches, space, name, patching.wrapped(original))
            for cls, name in _wrapped_methods_to_patch:
                patching.replace(patches, cls, name, patching.wrapped_method(cls, name))
            self._wrap_globals(fn_globals, patches, seen)
            for module in self._autowrap_modules:
                self._wrap_globals(module.__dict__, patches, seen)
            yield

    def _wrap_globals(self, space, patches, seen):
        if self._autowrap_functions and id(space) not in seen:
            seen.add(id(space))
            for name, value in list(space.items()):
                if not name.startswith("_") and callable(value) and id(value) in self._autowrap_functions:
                    patching.put(patches, space, name, patching.wrapped(value))

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        same = "root", "_autowrap_modules"                                  # modules, of PyTorch's kind and of Python's
        made.__dict__.update({key: value if key in same else copy.deepcopy(value, memo) for key, value in self.__dict__.items()})
        return made


def _mark(node, value):
    """Gives an argument's node the attributes of what stood for it in ``concrete_args``."""
    if isinstance(value, PHBase):
        for name, told in vars(value).items():
            if not hasattr(node, name):
                setattr(node, name, told)


def _all_positional(function, count):
    """The same function with all its arguments positional, ``*args`` and keywords alone ones as well."""
    code = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def wrap(fn_or_name):
    """Marks a function of the module that calls this as one that tracing does not look into. Said at the module's outermost level.

    ``fn_or_name``: the function (then usable as a decorator), or its name, also of a builtin one. Answers what it is given.

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.wrap
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def symbolic_trace(root, concrete_args=None):
    """A module or function as a `GraphModule`, whose graph can be rewritten.

    ``concrete_args``: {name of an argument: the value that the program is specialized for}, with `PH` for what stays an argument in a nest.
    `TraceError` where what it does depends on values.

    >>> import jtensor as torch
    >>> traced = symbolic_trace(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU()))
    >>> print(traced.code.strip())
    def forward(self, input):
        input_1 = input
        _0 = getattr(self, "0")(input_1);  input_1 = None
        _1 = getattr(self, "1")(_0);  _0 = None
        return _1

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.symbolic_trace
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)


