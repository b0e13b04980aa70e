"""Operations on single numbers, done by Python itself: `total / n`, `loss + other`, `x > 0`.

Starting an XLA program costs more than such an operation, and one that has just been given waits behind all that were given before. IEEE
arithmetic is the same everywhere, so Python's floats have the bits of XLA's as long as nothing unusual happens. For an argument or a
result that is neither zero nor a normal number (XLA flushes subnormal ones, a NaN has bits of its own), or an integer out of range, a
function written here declines, and the operation runs as any other. float32 is computed in double and rounded, which for these operations
is the same as rounding once (Figueroa, "When is double rounding innocuous?", 1995).

Owns: the text of such functions, made of an operation's equations. May not know: tapes, when they run.
"""
import functools
import itertools
import math
import struct

import numpy as np

from ..cache.codes import CODES
from ..lowering.flat import flattened

LONGEST = 12        # equations
_MOVES = {"reshape", "squeeze", "broadcast_in_dim", "expand_dims", "transpose", "copy", "operator_result", "barrier"}
_FLOATS = {np.dtype(d): f"{float(np.finfo(d).tiny)!r} <= abs({{0}}) <= {float(np.finfo(d).max)!r} or {{0}} == 0.0"
           for d in (np.float32, np.float64)}
_INTEGERS = {np.dtype(d): f"{np.iinfo(d).min} <= {{0}} <= {np.iinfo(d).max}" for d in (np.int64, np.int32, np.int16, np.int8, np.uint8)}
_BOOL = np.dtype(bool)
_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_LOGICAL = {"and": "&", "or": "|", "xor": "^"}
_EXACT = 1 << 53            # integers up to here are doubles


def by_hand(plan):
    """``f(*numbers) -> tuple of numbers, or None`` for an operation on single numbers of the CPU; None if it is none, or not exact.

    The arguments are those of the plan, arrays first, as Python's numbers; None is answered where something unusual came up.

    >>> from jtensor.trace import plan, spec
    >>> one = spec.aval((1,), spec.dtypes.float32, spec.devices.cpu)
    >>> add = by_hand(plan.make("add", lambda a, b: (a + b,), [one, one]))
    >>> add(1.0, 2.0**-24), add(1.0, 2.0**-23), add(1.0, math.inf)
    ((1.0,), (1.0000001192092896,), None)
    """
    avals = (*plan.inputs, *plan.outputs)
    if len(avals) > LONGEST or any(math.prod(a.shape) != 1 or a.device.type != "cpu" for a in avals) or "c" in plan.scalar_kinds:
        return None
    graph = flattened(plan.jaxpr())
    if len(graph.equations) > LONGEST or graph.effects:
        return None
    source = _source(graph)
    return None if source is None else _made(source)


@functools.lru_cache(maxsize=256)
def _made(source):
    scope = {"pack": struct.Struct("f").pack, "unpack": struct.Struct("f").unpack, "sqrt": math.sqrt}
    exec(CODES.compiled(source, "<jtensor number>"), scope)
    return scope["compute"]


class _Unknown(Exception):
    """An equation that is not done by hand."""


def _source(graph):
    """The text of the function, or None."""
    names, fresh = {}, map("t{}".format, itertools.count())
    lines = []

    def name(atom):
        if type(atom) is int:
            return names[atom]
        number = np.asarray(atom.value)
        if number.size != 1 or number.dtype.kind not in "fib":
            raise _Unknown
        return f"({number.item()!r})" if math.isfinite(number.item()) else _refuse()

    def ordinary(text, dtype):
        """The condition under which a number is one that Python and XLA have alike."""
        return (_FLOATS.get(dtype) or _INTEGERS.get(dtype) or _refuse()).format(text)

    def put(text, dtype, checked=True):
        made = next(fresh)
        lines.append(f"{made} = {text}")
        if checked and dtype != _BOOL:
            lines.append(f"if not ({ordinary(made, dtype)}): return None")
            if dtype == np.float32:
                lines.append(f"{made} = unpack(pack({made}))[0]")
        return made

    try:
        for v in graph.inputs:
            names[v], dtype = next(fresh), graph.avals[v].dtype
            if dtype != _BOOL:
                lines.append(f"if not ({ordinary(names[v], dtype)}): return None")
        arguments = ", ".join(names.values())
        for e in graph.equations:
            e_inputs = [name(v) for v in e.inputs]
            names[e.outputs[0]] = e_inputs[0] if e.name in _MOVES else put(*_equation(e, graph, e_inputs))
        results = "".join([name(v) + ", " for v in graph.outputs])
    except (_Unknown, KeyError):
        return None
    return f"def compute({arguments}):\n" + "".join([f"    {line}\n" for line in lines]) + f"    return ({results})\n"


def _refuse():
    raise _Unknown


def _equation(e, graph, inputs):
    """(text, dtype of the result, whether it must be looked at) of an equation."""
    kinds = [np.dtype(graph.aval(v).dtype) for v in e.inputs]
    if len(e.outputs) != 1 or not kinds or any(math.prod(graph.aval(v).shape) != 1 for v in e.inputs):
        raise _Unknown
    dtype, kind, name = np.dtype(e.avals[0].dtype), kinds[0].kind, e.name
    if dtype not in _FLOATS and dtype not in _INTEGERS and dtype != _BOOL:
        raise _Unknown
    if name in _COMPARISONS:
        return f"{inputs[0]} {_SYMBOLS[name]} {inputs[1]}", dtype, False
    if name in ("add", "sub", "mul") and kind in "fiu":
        return f"{inputs[0]} {_SYMBOLS[name]} {inputs[1]}", dtype, True
    if name == "div" and kind == "f":
        return f"{inputs[0]} / {inputs[1]} if {inputs[1]} else 1e999", dtype, True
    if name in ("neg", "abs") and kind in "fi":
        return (f"-{inputs[0]}" if name == "neg" else f"abs({inputs[0]})"), dtype, kind == "i"
    if name == "sqrt" and kind == "f":
        return f"sqrt({inputs[0]}) if {inputs[0]} >= 0.0 else 1e999", dtype, True
    if name == "reduce_sum" and kind == "f":
        return f"{inputs[0]} + 0.0", dtype, False                               # a sum of -0.0 is 0.0
    if name in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod") and kind in "iu" or name in ("reduce_max", "reduce_min"):
        return inputs[0], dtype, False
    if name in _LOGICAL and dtype == _BOOL:
        return f"{inputs[0]} {_LOGICAL[name]} {inputs[1]}", dtype, False
    if name == "not" and dtype == _BOOL:
        return f"not {inputs[0]}", dtype, False
    if name == "select_n" and len(inputs) == 3 and kinds[0] == _BOOL:
        return f"{inputs[2]} if {inputs[0]} else {inputs[1]}", dtype, False
    if name == "convert_element_type":
        return _converted(inputs[0], kinds[0], dtype)
    raise _Unknown


def _converted(text, old, new):
    if new == _BOOL:
        return f"{text} != 0", new, False
    if new.kind == "f":
        if old.kind == "f":
            return text, new, new.itemsize < old.itemsize
        if old.itemsize == 8:
            return f"float({text}) if {-_EXACT} <= {text} <= {_EXACT} else 1e999", new, True
        return f"float({text})", new, new == np.float32
    return (f"int({text})" if old.kind in "fb" else text), new, True
