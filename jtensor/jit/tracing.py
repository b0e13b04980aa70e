"""Running a function or a module to trace it: its arguments, the calls of modules within, its results; and TorchScript made of all that.

Owns: `Program`, which collects the classes of a module's parts and the methods that were traced, and its text. May not know: which operators
functions are, how text is written.
"""
import contextlib
import inspect
import sys
import warnings

from ..base import sites
from ..tensor.core import Tensor
from . import TracerWarning, graph, lowering, programs
from .recording import Trace
from .text import Constants, Writer

_UNTRACEABLE = "Type '{}' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can be traced"
_RESULTS = "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
_CONTAINER = ("Encountering a {} at the output of the tracer might cause the trace to be incorrect, this is only valid if the container "
              "structure does not change based on the module's inputs. Consider using a constant container instead (e.g. for `list`, use a "
              "`tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and know the side effects, pass "
              "strict=False to trace() to allow this behavior.")
_NO_DEPENDENCE = ("output {} ({}) of traced region did not have observable data dependence with trace inputs; this probably indicates your "
                  "program cannot be understood by the tracer.")
_ACTIVE = []                                                      # the traces under way


def is_tracing():
    """Whether something is being traced."""
    return bool(_ACTIVE)


# -- types --------------------------------------------------------------------------------------------------------------


def type_of(x):
    """The type of an argument as TorchScript writes it."""
    if isinstance(x, Tensor):
        return "Tensor"
    if isinstance(x, tuple):
        return f"Tuple[{', '.join(map(type_of, x)) or '()'}]"
    if isinstance(x, list) and x:
        return f"List[{type_of(x[0])}]"
    if isinstance(x, dict) and x:
        key, value = next(iter(x.items()))
        return f"Dict[{type_of(key)}, {type_of(value)}]"
    return "NoneType" if x is None else type(x).__name__


def _traceable(x):
    if isinstance(x, (tuple, list)):
        return bool(x) and all(map(_traceable, x))
    if isinstance(x, dict):
        return bool(x) and all(isinstance(key, (str, int)) for key in x) and all(map(_traceable, x.values()))
    return isinstance(x, Tensor)


# -- running ------------------------------------------------------------------------------------------------------------


def names_of(function):
    """The names of a function's arguments; none where it takes any number of them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return []
    return [p.name for p in parameters]


def traced(function, inputs, names, strict, module=None):
    """The `Trace` of a call; ``inputs``: its arguments, or a dictionary of keywords; ``names`` of them."""
    trace = Trace(lowering.lower)
    keywords = isinstance(inputs, dict)
    given = list(inputs.values()) if keywords else list(inputs)
    if not all(map(_traceable, given)):
        raise RuntimeError(_UNTRACEABLE.format(type_of(tuple(given))))
    names = list(inputs) if keywords else names[:len(given)]
    taken, seen = [], set()
    for at, x in enumerate(given):
        value = graph.Value(None, type_of(x), names[at] if at < len(names) else "")
        trace.root.inputs.append(value)
        taken.append(_taken(trace, x, value, seen))
    with contextlib.ExitStack() as stack:
        if module is not None:
            stack.enter_context(_scopes(trace, module))
        stack.enter_context(trace)
        _ACTIVE.append(trace)
        stack.callback(_ACTIVE.pop)
        made = function(**dict(zip(inputs, taken, strict=True))) if keywords else function(*taken)
    trace.root.results = [_result(trace, made, strict)]
    return trace


def _taken(trace, x, value, seen):
    """An argument as the function gets it, each tensor of which goes by a value."""
    if isinstance(x, Tensor):
        if id(x) in seen:
            x = x.view(x.size())
        seen.add(id(x))
        trace.set(x, value)
        return x
    if isinstance(x, dict):
        made = {}
        for key, one in x.items():
            found = trace.add("aten::__getitem__", [value, trace.constant(key, type_of(key))], (type_of(one),), _PURE).output
            made[key] = _taken(trace, one, found, seen)
        return made
    kind = "prim::ListUnpack" if isinstance(x, list) else "prim::TupleUnpack"
    parts = trace.add(kind, [value], [type_of(one) for one in x]).outputs
    taken = [_taken(trace, one, part, seen) for one, part in zip(x, parts, strict=True)]
    return type(x)(*taken) if hasattr(x, "_fields") else type(x)(taken)


class _PURE:
    is_mutable = False


def _result(trace, made, strict, at=None):
    at = [0] if at is None else at
    if isinstance(made, Tensor):
        at[0] += 1
        if not trace.knows(made):
            value = trace.constant_tensor(made.detach())           # refuses what was computed in between
            raise RuntimeError(_NO_DEPENDENCE.format(at[0], value.node.data))
        return trace.value(made)
    if isinstance(made, (list, dict)):
        kind = type(made).__name__
        if strict and isinstance(made, dict):
            raise RuntimeError(_CONTAINER.format("dict"))
        if strict:
            warnings.warn(_CONTAINER.format(kind), TracerWarning, stacklevel=5)
        if isinstance(made, list) and made and all(isinstance(one, Tensor) for one in made):
            parts = [_result(trace, one, strict, at) for one in made]
            return trace.add("prim::ListConstruct", parts, ("List[Tensor]",), "Tensor").output
        if isinstance(made, dict) and made and all(isinstance(key, str) for key in made):
            parts = {key: _result(trace, one, strict, at) for key, one in made.items()}
            kind = next(iter(parts.values())).type
            return trace.add("prim::DictConstruct", [one for key, part in parts.items() for one in (trace.constant(key, "str"), part)],
                             (f"Dict[str, {kind}]",)).output
    elif isinstance(made, tuple):
        parts = [_result(trace, one, strict, at) for one in made]
        return trace.add("prim::TupleConstruct", parts, (f"Tuple[{', '.join([part.type for part in parts]) or '()'}]",)).output
    raise RuntimeError(_RESULTS)


# -- calls of modules ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _scopes(trace, module):
    """Has each call of a module below this one recorded as a block of its own, and knows the parameters by their places."""
    places = {}

    def register(one, path):
        for name, tensor in [*one._parameters.items(), *one._buffers.items()]:
            if tensor is not None and not trace.knows(tensor):
                trace.set(tensor, graph.Node("prim::Attribute", data=(*path, name)).output)
        seen = set()
        for name, child in one._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                places[child] = (*path, name)
                register(child, (*path, name))
    register(module, ())
    before = {one: one.__dict__.get("forward") for one in places}
    for one, path in places.items():
        one.__dict__["forward"] = _scoped(trace, one.forward, path)
    try:
        yield
    finally:
        for one, own in before.items():
            if own is None:
                del one.__dict__["forward"]
            else:
                one.__dict__["forward"] = own


def _scoped(trace, forward, path):
    def scoped(*args, **kwargs):
        if sites.room(sys._getframe(1).f_code.co_filename) not in _CALLERS:          # module.forward(...) is a part of what calls it
            return forward(*args, **kwargs)
        block = graph.Block(path)
        trace.block.add("prim::CallMethod", (), (), "forward", block)
        trace.blocks.append(block)
        try:
            return forward(*args, **kwargs)
        finally:
            trace.blocks.pop()
    return scoped


_CALLERS = ("nn/modules/module.py", "nn/modules/_hooks.py")


# -- what is made of it -------------------------------------------------------------------------------------------------


class Program:
    """The classes of a module and of all below it, with the methods that were traced; what `archive.write` wants to know of a file."""

    def __init__(self, module=None):
        self.methods, self.classes, self._taken = {}, {}, set()   # {path: {name of a method: (block, type of the result)}}
        self._modules = {}
        if module is not None:
            self._place(module, ())

    def _place(self, module, path):
        self._modules[path] = module
        self.classes[path] = self._unique(qualified(type(module)))
        self.methods[path] = {}
        for name, child in module._modules.items():
            if child is not None:
                self._place(child, (*path, name))

    def _unique(self, name):
        room, _, short = name.rpartition(".")
        made, at = name, 0
        while made in self._taken:
            made, at = f"{room}.___torch_mangle_{at}.{short}", at + 1
        self._taken.add(made)
        return made

    def add(self, name, trace):
        """A traced method of the outermost module."""
        root = trace.root
        kind = root.results[0].type
        graph.settle(root)
        self._add(name, root, kind)

    def _add(self, name, block, kind):
        for node in list(block.nodes):
            if node.block is not None:
                inner = node.block
                known = self.methods[inner.path]
                node.data = "forward" + (str(sum(one.startswith("forward") for one in known)) if "forward" in known else "")
                self._add(node.data, inner, _packed(block, node))
        self.methods[block.path][name] = block, kind

    def finish(self):
        """Writes the text, and reads it again as that of a file: `unit`, with `constants` and the `records` of an archive."""
        constants, sources = Constants(), {}
        for path, module in self._modules.items():
            room, _, _ = self.classes[path].rpartition(".")
            file = room.replace(".", "/") + ".py"
            sources[file] = sources.get(file, "") + self._class(path, module, constants)
        return self._read(sources, constants)

    def _read(self, sources, constants):
        self.constants = constants.tensors
        self.records = {f"code/{file}": text.encode() for file, text in sources.items()}
        self.unit = programs.Unit(sources)
        self.unit.constants = self.constants
        return self

    def kind(self, path):
        """The class of the module at a path, whose methods know how PyTorch shows them."""
        found = self.unit.find(self.classes[path])
        for name, (block, kind) in self.methods[path].items():
            found.methods[name].shown = Writer(Constants()).function(name, block, "", kind)
        return found

    def _class(self, path, module, constants):
        parameters = [name for name, one in module._parameters.items() if one is not None]
        buffers = [name for name, one in module._buffers.items() if one is not None]

        def listed(names):
            return "[" + "".join([f'"{name}", ' for name in names]) + "]"
        lines = [f"class {self.classes[path].rpartition('.')[2]}(Module):", f"  __parameters__ = {listed(parameters)}",
                 f"  __buffers__ = {listed(buffers)}"]
        names = {name: "Tensor" for name in [*parameters, *buffers]} | {"training": "bool", "_is_full_backward_hook": "Optional[bool]"}
        names |= {name: self.classes[(*path, name)] for name, child in module._modules.items() if child is not None}
        lines += [f"  {name} : {kind}" if name.isidentifier() else f'  __annotations__["{name}"] = {kind}' for name, kind in names.items()]
        methods = [Writer(constants, 1).function(name, block, self.classes[path], kind)
                   for name, (block, kind) in self.methods[path].items()]
        return "\n".join(lines) + "\n" + "".join(methods)


PLACEHOLDER = "__torch__.PlaceholderModule"


class FunctionProgram(Program):
    """The program of a function, which is that of a module without attributes."""

    def __init__(self, name, trace):
        super().__init__()
        kind = trace.root.results[0].type
        graph.settle(trace.root)
        graph.flatten(trace.root)
        self.methods, self.classes = {(): {"forward": (trace.root, kind)}}, {(): PLACEHOLDER}
        constants = Constants()
        text = "class PlaceholderModule(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
        text += Writer(constants, 1).function("forward", trace.root, PLACEHOLDER, kind)
        self._read({"__torch__.py": text}, constants)
        self.shown = Writer(Constants()).function(name, trace.root, None, kind)


def _packed(block, node):
    """Makes one result of a call's results; answers its type."""
    inner = node.block
    if not inner.results:
        return "NoneType"
    if len(inner.results) == 1:
        return inner.results[0].type
    kind = f"Tuple[{', '.join([value.type for value in inner.results])}]"
    packed = graph.Node("prim::TupleConstruct", inner.results, (kind,))
    inner.nodes.append(packed)
    inner.results = [packed.output]
    unpacked = graph.Node("prim::TupleUnpack", (), ())
    unpacked.outputs = node.outputs
    for value in node.outputs:
        value.node = unpacked
    whole = graph.Value(node, kind)
    node.outputs, unpacked.inputs = [whole], [whole]
    block.nodes.insert(block.nodes.index(node) + 1, unpacked)
    return kind


def qualified(kind):
    """A class's or function's name among those of TorchScript."""
    room = kind.__module__.replace("jtensor", "torch", 1) if kind.__module__.startswith("jtensor") else kind.__module__
    name = kind.__name__
    if name == "<lambda>":
        name = "_lambda"
    return "__torch__." + (name if room == "__main__" else f"{room}.{name}")


