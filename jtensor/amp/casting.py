"""What a region of `autocast` does to a call: its tensors are cast as `tables` says, and what it is made of is left alone.

Owns: the thread's state (which device types, in which types, the casts of parameters that are kept), and the doors: a function of `tables`
asks at its door whether a region is open. The doors are put in when the first region opens: a program without one pays nothing, and whoever
has imported a function before has the door, too, since it is the function's own code that is exchanged. May not know: who opens a region.
"""
import functools
import threading
import types

from ..base import dtypes
from ..base.functions import OWN, as_it_is, put_door
from ..nn import functional
from ..nn.functional import recurrent
from ..ops.registry import REGISTRY
from ..tensor.calling.overriding import beneath
from ..tensor.convert import converted
from ..tensor.core import Tensor
from .tables import ASKED, FLOAT, LOWER, NAMES, REFUSAL, REFUSED, RULES

DEFAULTS = dict.fromkeys(("cpu", "xla", "hpu", "maia"), dtypes.bfloat16)


class State(threading.local):
    """``enabled``: device types of open regions; ``lower``: the types that they cast to; ``kept``: casts of parameters until the outermost
    region ends; ``inside``: whether a function of the tables is running, which looks after itself."""

    def __init__(self):
        self.enabled, self.lower = frozenset(), {}
        self.nesting, self.keeps, self.kept, self.inside = 0, True, {}, False

    def type_for(self, device):
        return self.lower.get(device) or DEFAULTS.get(device, dtypes.float16)


STATE = State()


# -- casts ----------------------------------------------------------------------------------------------------------------


def _takes_part(value, device):
    return isinstance(value, Tensor) and value.device.type == device and value.is_floating_point() and value.dtype is not dtypes.float64


def cast(value, dtype, device):
    """A tensor in ``dtype``, where it takes part in casting; tuples and lists of them; anything else as it is."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)([cast(item, dtype, device) for item in value])
    if not _takes_part(value, device) or value.dtype is dtype:
        return value
    if not (STATE.keeps and dtype is STATE.type_for(device) and value.dtype is dtypes.float32 and value.requires_grad and value.is_leaf
            and not value._is_view()):
        return converted(value, dtype, value._spec.device)
    kept = STATE.kept.get(id(value))
    if kept is None or not kept[1].requires_grad:            # one made under `no_grad` is of no use to a graph
        kept = value, converted(value, dtype, value._spec.device)
        STATE.kept[id(value)] = kept
    return kept[1]


def _flat(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _widest(values, device):
    """The widest type among tensors that take part, at least the region's own."""
    widest = STATE.type_for(device)
    for value in _flat(values):
        if _takes_part(value, device) and value.dtype is not widest:
            if dtypes.float32 not in (value.dtype, widest):
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
            widest = dtypes.float32
        elif isinstance(value, Tensor) and value.device.type == device and value.dtype is dtypes.float64:
            return dtypes.float64
    return widest


# -- doors ----------------------------------------------------------------------------------------------------------------


def _called(name, original, names, defaults, args, kwargs):
    """``original(*args, **kwargs)`` as the thread's regions have it."""
    state = STATE
    if not state.enabled or state.inside or kwargs.get("out") is not None:
        return original(*args, **kwargs)
    device = next((value.device.type for value in _flat((*args, *kwargs.values())) if isinstance(value, Tensor)), None)
    rule = RULES[device].get(name) if device in state.enabled and device in RULES else None
    if rule is None:
        return original(*args, **kwargs)
    if rule is REFUSED:
        raise RuntimeError(REFUSAL)
    if rule is ASKED:
        args, kwargs = _asked(names, defaults, device, args, kwargs)
    else:
        dtype = dtypes.float32 if rule is FLOAT else state.type_for(device) if rule is LOWER else _widest((*args, *kwargs.values()), device)
        args, kwargs = cast(args[::-1], dtype, device)[::-1], {key: cast(value, dtype, device) for key, value in kwargs.items()}
    state.inside = True
    try:
        return original(*args, **kwargs)
    finally:
        state.inside = False


def _asked(names, defaults, device, args, kwargs):
    """The arguments, with ``dtype=torch.float32`` where they have no ``dtype`` and the first takes part.

    ``defaults``: those of an operator's recorder, which takes everything by position; None for a function.
    """
    if not _takes_part(args[0] if args else next(iter(kwargs.values()), None), device) or kwargs.get("dtype") is not None:
        return args, kwargs
    at = names.index("dtype")
    if len(args) > at:
        return ((*args[:at], dtypes.float32, *args[at + 1:]) if args[at] is None else args), kwargs
    if defaults is not None:
        return (*args, *defaults[len(args):at], dtypes.float32), kwargs
    return args, {**kwargs, "dtype": dtypes.float32}


def _put(function, name, operator=None):
    """Has a function go through `_called`; it stays the object that others have imported.

    ``operator``: the one whose recorder it is.
    """
    function = beneath(function)                             # a subclass is asked before anything is cast
    original = as_it_is(function)
    code, defaults = OWN.get(function, original).__code__, None
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    if operator is not None:
        names, defaults = zip(*[(parameter.name, parameter.default) for parameter in operator.parameters], strict=True)
    put_door(function, lambda args, kwargs: _called(name, original, names, defaults, args, kwargs), original)


@functools.cache
def put_doors():
    """Once, when the first region opens."""
    for name in sorted(NAMES):
        if name in REGISTRY.operators:
            _put(REGISTRY.operators[name].record, name, REGISTRY.operators[name])
        found = [REGISTRY.composites[name].body] if name in REGISTRY.composites else []
        public = getattr(functional, name, None) or getattr(recurrent, name, None)
        if isinstance(public, types.FunctionType):
            body = public.__globals__.get("_function") if "_form" in public.__globals__ else public      # what `guards` made calls another
            found += [body] if body is not None else []
        for function in dict.fromkeys(found):
            _put(function, name)
    _put(Tensor.__matmul__, "mm")


__all__ = ["STATE", "cast", "put_doors"]
