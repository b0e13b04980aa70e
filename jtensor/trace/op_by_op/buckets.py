"""Elementwise operations on arrays of any shape, by kernels that serve them all: their elements in a row, padded to a power of two.

The exponential of 3,000 numbers is the beginning of that of 4,096. So a script whose shapes do not come again needs a kernel for each power
of two and no more, where one for each shape would be tens of milliseconds of compiling each. An element's bits do not depend on its place
nor on how many there are: fused programs rely on that, too (`fences`).

Owns: which equations are elementwise, these kernels. May not know: tapes, for how long this is cheaper than a kernel for the shape.
"""
import jax
import numpy as np

from ..cache import store
from ..lowering.flat import Equation, Flat
from ..lowering.kinds import ELEMENTWISE, ELEMENTWISE_MOVES
from . import equations

LEAST = 256             # elements: the smallest bucket
_OF_EACH_ELEMENT = ELEMENTWISE | ELEMENTWISE_MOVES | {
    "bitcast_convert_type", "stop_gradient", "shift_left", "shift_right_arithmetic", "shift_right_logical", "rem",
    "population_count", "clz"}


class Bucketed(equations.Shared):
    """A graph that is elementwise, for arrays of its shape: ``run(list of ndarrays) -> list of ndarrays``.

    >>> from jtensor.trace import plan, spec
    >>> from jtensor.trace.lowering.flat import flattened
    >>> three = spec.aval((3,), spec.dtypes.float32, spec.devices.cpu)
    >>> graph = flattened(plan.make("root", lambda a: (jax.lax.sqrt(a),), [three]).jaxpr())
    >>> Bucketed(graph).run([np.array([1, 4, 9], np.float32)])
    [array([1., 2., 3.], dtype=float32)]
    """

    __slots__ = ("shape", "size", "length")

    def __init__(self, graph):
        self.shape, = _shapes(graph)
        self.size = int(np.prod(self.shape))
        self.length = max(LEAST, 1 << (self.size - 1).bit_length())
        super().__init__(graph, f"bucket {self.length} {equations.text(graph, self.shape)}", self.length)

    @property
    def kernels(self):
        return [self]

    def compiled(self):
        return reshaped(self.graph, (self.length,))

    def run(self, arrays):
        made = self.done([self._in_a_row(x) if np.ndim(x) else x for x in arrays])
        return [x[:self.size].reshape(self.shape).copy() for x in made]

    def _in_a_row(self, x):
        row = np.ones(self.length, x.dtype)
        row[:self.size].reshape(self.shape)[...] = x
        return row


def bucketed(graph):
    """The `Bucketed` of a graph; None if it is not elementwise, or has no name that lasts."""
    if not is_elementwise(graph):
        return None
    found = Bucketed(graph)
    return None if store.fleeting(found.name) else found


def is_elementwise(graph):
    """Whether each element of the results is made of those at the same place, in arrays of one shape, and of single numbers."""
    shapes = _shapes(graph)
    if len(shapes) != 1 or not all(_is_elementwise(e, graph) for e in graph.equations):
        return False
    wide = next(iter(shapes))
    return any(graph.avals[v].shape == wide for v in graph.inputs) and all(graph.aval(atom).shape == wide for atom in graph.outputs)


def _shapes(graph):
    """The shapes of a graph's arrays that are not single numbers."""
    variables = [*graph.inputs, *(v for e in graph.equations for v in e.outputs)]
    return {graph.avals[v].shape for v in variables} - {()}


def _is_elementwise(e, graph):
    if e.name == "broadcast_in_dim":
        return not graph.aval(e.inputs[0]).shape
    return e.name in _OF_EACH_ELEMENT and all(type(v) is int or not np.shape(v.value) for v in e.inputs)


def reshaped(graph, shape):
    """An elementwise graph, on arrays of another shape."""
    old, = _shapes(graph)

    def turned(aval):
        return jax.core.ShapedArray(shape, aval.dtype, aval.weak_type) if aval.shape == old else aval

    made = Flat([turned(graph.avals[v]) for v in graph.inputs])
    made.avals = [turned(aval) for aval in graph.avals]
    for e in graph.equations:
        params = e.params | {"shape": shape} if e.name == "broadcast_in_dim" else e.params
        made.equations.append(Equation(e.primitive, params, e.inputs, e.outputs, [turned(aval) for aval in e.avals]))
    made.outputs = graph.outputs
    return made
