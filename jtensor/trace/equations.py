"""Some equations of an operation by themselves: kernels that several operations share.

A kernel of a softmax takes XLA 180 ms to compile, and one of the sum in it 10; what else there is in it needs none (`by_numpy`). And the
matrix product of a linear layer is the same equation with a bias and without, forward and in other layers' gradients. The bits of an
equation do not depend on what stands beside it in an operation: `fences` sees to that. Owns: these kernels. May not know: operations,
tapes.
"""
import collections
import hashlib
import threading

import numpy as np

from ..base import compat
from . import lower, scalars, store
from .arrival import awaited
from .flat import Constant, Equation, Flat
from .report import REPORT

SHARED = {"dot_general", "reduce_sum", "cumsum", "gather", "scatter-add", "scatter_add"}
"""Equations that are worth a kernel of their own."""
KEPT = 512              # kernels; those are forgotten first that were not asked for the longest
_KERNELS = collections.OrderedDict()            # name: executable
_lock = threading.RLock()


class Alone:
    """An equation at its shapes: ``run(list of ndarrays) -> list of ndarrays``. ``name``: the same in every process."""

    __slots__ = ("graph", "name", "elements")

    def __init__(self, graph):
        self.graph, self.name = graph, f"equation {text(graph)}"
        self.elements = sum(int(np.prod(aval.shape)) for aval in graph.avals)

    def run(self, arrays):
        return [x.copy() for x in done(kernel(lambda: self.graph, self.name, self.elements), arrays)]


def of(e, graph):
    """The `Alone` of a graph's equation; None if it is not worth a kernel, or has no name that lasts."""
    if e.name not in SHARED or len(graph.equations) == 1:
        return None
    found = Alone(alone(e, graph))
    return None if store.fleeting(found.name) else found


def kernel(graph, name, elements):
    """The executable of a graph, compiled or loaded if need be. ``graph``: what gives it; ``name``: the same in every process."""
    with _lock:
        found = _KERNELS.get(name)
        if found is not None:
            _KERNELS.move_to_end(name)
            return found
        found, origin = lower.kernel_of(graph, name, elements)
        _KERNELS[name] = found
        if len(_KERNELS) > KEPT:
            _KERNELS.popitem(last=False)
    REPORT.kernel(origin)
    return found


def done(executable, arrays):
    """What an executable makes of ndarrays, to be looked at for a moment."""
    device = executable.device
    made = executable.run([scalars.zero(device), *[compat.put(np.asarray(x, order="C"), device) for x in arrays]])
    return [compat.looked_at(awaited(x)) for x in made]


def alone(e, graph):
    """A graph of one equation of another, which has one result; its inputs are the equation's variables."""
    inputs = [v for v in e.inputs if type(v) is int]
    made, numbers = Flat([graph.avals[v] for v in inputs]), iter(range(len(inputs)))
    made.avals += e.avals
    made.equations = [Equation(e.primitive, e.params, [next(numbers) if type(v) is int else v for v in e.inputs], [len(inputs)], e.avals)]
    made.outputs = [len(inputs)]
    return made


def text(graph, shape=None):
    """What is computed, the same in every process; arrays of this shape are only marked as such."""
    def named(atom):
        if type(atom) is not Constant:
            return f"v{atom}"
        value = np.asarray(atom.value)                  # by its bytes: NumPy's text of an array leaves elements out
        return f"{value.dtype}{value.shape}:{hashlib.blake2b(value.tobytes(), digest_size=16).hexdigest()}"

    def typed(aval):
        return f"{aval.dtype}{'[...]' if aval.shape == shape else list(aval.shape)}"

    lines = [typed(graph.avals[v]) for v in graph.inputs]
    for e in graph.equations:
        params = {name: value for name, value in e.params.items() if shape is None or name not in ("shape", "broadcast_dimensions")}
        lines.append(f"{e.name} {sorted(params.items())} {' '.join(map(named, e.inputs))} -> {e.outputs} {typed(e.avals[0])}")
    return "\n".join([*lines, " ".join(map(named, graph.outputs))])
