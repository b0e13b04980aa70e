"""Running a function or a module to trace it: its arguments, the calls of modules within, its results.

Owns: that. May not know: which operators functions are, what becomes of a trace (`making`).
"""
import contextlib
import inspect
import sys
import warnings

from ..base import sites
from ..nn import RNNBase
from ..tensor.core import Tensor
from . import TracerWarning, graph, lowering, recurrent
from .recording import Trace

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


def traced(function, inputs, names, strict, module=None, kind=Trace):
    """The `Trace` of a call, or one of another kind; ``inputs``: its arguments, or a dictionary of keywords; ``names`` of them."""
    trace = kind(lowering.lower)
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
            stack.enter_context(scopes(trace, module))
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
    return tuple(taken) if isinstance(x, tuple) else taken         # named ones are plain then, as in PyTorch


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
            warnings.warn(_CONTAINER.format(kind), TracerWarning, stacklevel=1)
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
def scopes(trace, module):
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
    before = [(one, name, one.__dict__.get(name)) for one in (module, *places)
              for name in ("forward", "_compute") if name == "forward" or isinstance(one, RNNBase)]
    for one, name, _ in before:
        if name == "_compute":
            one.__dict__[name] = recurrent.recorded(trace, one)
        elif one in places:
            one.__dict__[name] = _scoped(trace, one.forward, places[one])
    try:
        yield
    finally:
        for one, name, own in before:
            if own is not None:
                one.__dict__[name] = own
            else:
                one.__dict__.pop(name, None)


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
