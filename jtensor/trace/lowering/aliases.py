"""Which results of a program can lie where one of its inputs lay, and what makes it so.

XLA writes a result over a donated input that something reads which the result does not depend on, but copies the input first, in one thread
while all others wait. Each layer's weight is such an input: it is read for the gradient that the layer hands on, and its update does not
depend on that. So the update is made to wait for that gradient. Owns: which pairs are left as they are, which results wait for what, and
which get a buffer of their own instead. Knows of nothing but JAX: no tape, no operator.
"""
import math

import numpy as np
from jax import lax

LARGE = 1 << 12         # elements from which on a copy takes longer than waiting
_SAME_MEMORY = frozenset(("reshape", "squeeze", "expand_dims", "transpose", "bitcast_convert_type", "copy", "copy_p", "operator_result",
                          "barrier"))


def arrange(graph, pairs):
    """Those of the pairs (input, output) of a `Flat` in which the output can be written over the input, by their numbers.

    Equations that make such an output get the variables that they wait for (`Equation.after`): what reads the input is made before.

    >>> import jax
    >>> from jax import numpy as jnp
    >>> from .flat import flattened
    >>> graph = flattened(jax.make_jaxpr(lambda w, x, g: (x @ w, w - g))(*[jnp.ones((64, 64))] * 3))
    >>> arrange(graph, [(0, 1)]), [e.after for e in graph.equations]
    ([(0, 1)], [(), (3,)])
    """
    origin = {graph.inputs[at]: at for at, _ in pairs}              # variable: the input in whose memory it may lie
    readers, needs, makers = {at: [] for at, _ in pairs}, {}, {}    # sets of readers, as bits
    count = 0
    for place, e in enumerate(graph.equations):
        before, reads = 0, set()
        for v in e.inputs:
            if type(v) is int:
                before |= needs.get(v, 0)
                if v in origin:
                    reads.add(origin[v])
        if reads:
            before |= 1 << count
            for at in reads:
                readers[at].append((1 << count, place, e))
            count += 1
            if len(reads) == 1 and e.name in _SAME_MEMORY:
                origin[e.outputs[0]] = reads.pop()
        for v in e.outputs:
            needs[v], makers[v] = before, (place, e)
    found = []
    for at, to in pairs:
        result = graph.outputs[to]
        others = [(place, e) for bit, place, e in readers[at] if not needs.get(result, 0) & bit]
        if others:
            if type(result) is not int or result not in makers or math.prod(graph.avals[result].shape) < LARGE:
                continue
            here, maker = makers[result]
            if any(place > here for place, _ in others) or result != maker.outputs[0]:
                continue
            maker.after += tuple([e.outputs[0] for _, e in others if math.prod(e.avals[0].shape)])
        found.append((at, to))
    return found


def waiting(zero, x):
    """`zero`, known only when ``x`` is."""
    first = lax.reshape(lax.slice(x, [0] * x.ndim, [1] * x.ndim), ())
    if first.dtype.kind == "c":
        first = lax.real(first)
    if first.dtype.kind not in "iub":
        first = lax.bitcast_convert_type(first, np.dtype(f"u{first.dtype.itemsize}"))
    return lax.min(zero, lax.convert_element_type(first, zero.dtype))
