"""Some equations of an operation by themselves: kernels that several operations share.

A kernel of a softmax takes XLA 180 ms to compile, and one of the sum in it 10; what else there is in it needs none (`by_numpy`). And the
matrix product of a linear layer is the same equation with a bias and without, forward and in other layers' gradients. The bits of an
equation do not depend on what stands beside it in an operation: `fences` sees to that. Owns: these kernels. May not know: operations,
tapes.
"""
import hashlib
import weakref

import numpy as np

from ...base import compat
from .. import scalars
from ..arrival import awaited
from ..cache import store
from ..lowering import lower
from ..lowering.flat import Constant, Equation, Flat
from .kept import Kept

SHARED = {"dot_general", "reduce_sum", "cumsum", "gather", "scatter-add", "scatter_add"}
"""Equations that are worth a kernel of their own."""
KERNELS = Kept(512)     # by name
_GRAPHS = weakref.WeakValueDictionary()     # of all that are held, by name: sizes are many, kernels few


class Shared:
    """A kernel of a graph, under a name that is the same in every process. ``elements``: how many it reads and writes."""

    __slots__ = ("graph", "name", "elements")

    def __init__(self, graph, name, elements):
        self.graph, self.name, self.elements = _GRAPHS.setdefault(name, graph), name, elements

    def compiled(self):
        """The graph as it is compiled."""
        return self.graph

    def first(self, *arrays):
        """The only result."""
        return self.run(arrays)[0]

    def begin(self):
        """Has another thread make the kernel, if it is not there."""
        KERNELS.begin(self.name, self._made)

    def done(self, arrays):
        """What the kernel makes of ndarrays, to be looked at for a moment."""
        executable = KERNELS.get(self.name, self._made)
        device = executable.device
        made = executable.run([scalars.zero(device), *[compat.put(np.asarray(x, order="C"), device) for x in arrays]])
        return [compat.looked_at(awaited(x)) for x in made]

    def _made(self):
        return lower.kernel_of(self.compiled, self.name, self.elements)


class Alone(Shared):
    """An equation at its shapes: ``run(list of ndarrays) -> list of ndarrays``."""

    __slots__ = ()

    def __init__(self, graph):
        super().__init__(graph, f"equation {text(graph)}", sum(int(np.prod(aval.shape)) for aval in graph.avals))

    def run(self, arrays):
        return [x.copy() for x in self.done(arrays)]


def of(e, graph):
    """The `Alone` of a graph's equation; None if it is not worth a kernel, or has no name that lasts."""
    if e.name not in SHARED or len(graph.equations) == 1:
        return None
    found = Alone(alone(e, graph))
    return None if store.fleeting(found.name) else found


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
