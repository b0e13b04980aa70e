"""What is known of an elementwise operation from arrays of another shape: the types of its results, its equations.

Tracing an operation takes a millisecond, most of the time of a script whose shapes do not come again. What is done to each element does not
depend on how many there are, so that it is traced once for all shapes of as many dimensions. Owns: that memory. May not know: operators; a
plan says whether it is elementwise, and if so what names it for all shapes.
"""
import math

from ...base import dtypes
from ..lowering import sizes
from ..spec import aval
from . import buckets

LIMIT = 2048
_KNOWN = {}             # {all that an operation is but its shape: [types of its results, its equations on some shape], or None each}


def _like(key, inputs, kinds):
    """The shape of the arrays, and what operations have in common that differ in it alone; (None, None) where shapes are mixed."""
    wide = ()
    for a in inputs:
        if a.shape != wide:
            if wide and a.shape:
                return None, None
            wide = wide or a.shape
    if not wide or 0 in wide:                       # of nothing JAX traces less
        return None, None
    # One element is no array to those who count: in half precision some operators take a single number as it is.
    return wide, (key, len(wide), math.prod(wide) == 1, tuple(kinds), dtypes.get_default_dtype(),
                  *[(a.dtype, a.device, a.shape == wide) for a in inputs])


def outputs(key, inputs, kinds, device, infer):
    """The avals of an elementwise operation's results; of a kind that is new, what ``infer()`` says."""
    wide, like = _like(key, inputs, kinds)
    found = _KNOWN.get(like)
    if found is not None and found[0] is not None:
        return tuple([aval(wide, dtype, device) for dtype in found[0]])
    made = infer()
    if wide and all(a.shape == wide and a.device is device for a in made):
        _entry(like)[0] = tuple([a.dtype for a in made])
    return made


def _entry(like):
    if len(_KNOWN) >= LIMIT:
        _KNOWN.clear()
    return _KNOWN.setdefault(like, [None, None])


def graph_of(plan):
    """The plan's equations: of an elementwise one those that were traced for another shape."""
    wide, like = _like(plan.elementwise, plan.inputs, plan.scalar_kinds) if plan.elementwise else (None, None)
    known = _entry(like) if wide else (None, None)
    if known[1] is not None:
        return buckets.reshaped(known[1], wide)             # equations of its own, for what lowers them writes on them
    graph = sizes.graph(sizes.named(plan.key, plan.inputs, plan.scalar_kinds), plan.outputs, plan.jaxpr)
    if wide and buckets.is_elementwise(graph):
        known[1] = graph
    return graph
