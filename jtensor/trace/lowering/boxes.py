"""Writes of large boxes as operations on whole arrays, so that a loop's worth of them is few vectorised passes over memory.

`u[1:-1] += f(u[2:], u[:-2])` writes a slice that is computed from slices of the same array. XLA makes a loop of what is computed, one or
two of putting it there, and copies of the array, because what is read must not be overwritten yet. As ``where(inside, padded, u)`` it is
one loop. Where integers are added it is ``u + padded`` with zeros around, and eight of these on one array are one loop, too. What is
computed from other arrays alone stays a slice update, which writes in place.

The other half: what such a loop makes and the next one reads in several places is put into memory first (`Equation.kept`). Left alone, XLA
computes it anew for each place it is read from, and what that was computed from, too.

Knows of nothing but JAX and the list of equations; works before fences are placed, on one operator's program as on a tape's.
"""
import collections
import functools
import heapq
import math

import jax
import numpy as np
from jax import lax

from ...base import compat
from .flat import Constant, Equation
from .kinds import CARRIED, EXTREME, OTHER, PRODUCT, SUM

NEUTRAL = {"add": 0, "sub": 0, "or": 0, "xor": 0, "mul": 1, "and": -1}
"""What changes no integer as the second operand. (There is none for floating-point numbers: subnormal ones would become zero.)"""

MASKED, PADDED, HURRIED = "masked", "padded", "hurried"
"""The ways in which XLA makes good loops of a program's boxes.

`MASKED`: what is written is padded, and compiled swiftly read under a mask, whatever it is computed from. But where the result takes the
place of an array that is read element by element, XLA's older emitters vectorise nothing. `PADDED`: each slice is padded by itself; with
the newer emitters, which else may peel the loop, and then do not vectorise it. They take longer to compile: where that is what counts,
masks serve for the time being (`HURRIED`).
"""
EMITTERS = "xla_cpu_use_fusion_emitters"
"""An option of XLA's, without which it has none but the newer emitters."""
MANY, WORTH_IT = 6, 4096        # times that an array of at least so many elements is read before it is put into memory
CHAIN = 2               # writes, each into what was computed from the one before
AGAIN = 1.5             # times its elements: what is read more often is put into memory
ALL_EFFORT = {"dot_general", "conv_general_dilated", "tan", "atan", "cbrt", "erf", "rsqrt"}


def opened(graph, briefly=False):
    """The `Flat`, its writes of large boxes replaced; ``graph.boxes`` then says in which way: `MASKED`, `PADDED` or `HURRIED`.

    ``briefly``: it is compiled in a hurry.
    """
    if any(_is_large_box(e, graph) for e in graph.equations):
        _hand_on(graph)
        _Opening(graph, briefly).run()
    _put_down(graph)
    if not briefly or not compat.has_option(EMITTERS) or any(e.name in ALL_EFFORT for e in graph.equations):
        _end_chains(graph)
    return graph


def _end_chains(graph):
    """Puts into memory what was written into what is computed here, again and again: XLA's newer emitters write out what such a write
    changes for each place that reads it, and what that was computed from for each of these places, which grows exponentially."""
    depth = [0] * len(graph.avals)
    for e in graph.equations:
        if e.name in CARRIED or e.name == "dynamic_update_slice":
            found = max((depth[v] for v in e.inputs if type(v) is int), default=0)
            if e.name == "dynamic_update_slice" and (found or type(e.inputs[0]) is int and e.inputs[0] >= len(graph.inputs)):
                found += 1
                if found == CHAIN:
                    e.kept, found = True, 0
            for v in e.outputs:
                depth[v] = found


def _put_down(graph):
    """Puts into memory what is computed and then read in loops of their own: padded and in many windows, or as a factor of many sums, as
    by a depthwise convolution and its gradients."""
    summed = {v for e in graph.equations if e.name == "reduce_sum" for v in e.inputs if type(v) is int}
    windows, factors = collections.Counter(), collections.Counter()
    for e in graph.equations:
        if e.name == "slice":
            windows[e.inputs[0]] += 1
        elif e.name == "mul" and e.outputs[0] in summed:
            factors.update(v for v in e.inputs if type(v) is int)
    given = set(graph.inputs)
    for e in graph.equations:
        computed, readers = (e.inputs[0] not in given, windows) if e.name == "pad" else (e.name in CARRIED, factors)
        if computed and readers[e.outputs[0]] >= MANY and _size(e.avals[0]) >= WORTH_IT:
            e.kept = True


def _hand_on(graph):
    """What is written to a box, and read from that very box alone, is taken as it was before; of two writes to a box the last one stays."""
    users, written, same, makers = {}, {}, {}, {v: e for e in graph.equations for v in e.outputs}
    for e in graph.equations:
        for v in e.inputs:
            if type(v) is int:
                users.setdefault(v, []).append(e)

    def overwrites(e, box):
        return _is_large_box(e, graph) and e.inputs[0] not in e.inputs[1:] and _Box(e, graph).place == box.place

    for e in graph.equations:
        e.inputs = [same.get(v, v) if type(v) is int else v for v in e.inputs]
        box = written.get(e.inputs[0]) if e.inputs and type(e.inputs[0]) is int else None
        if box is not None and box.is_read(e) and all(box.is_read(u) or overwrites(u, box) for u in users[e.inputs[0]]):
            same[e.outputs[0]] = box.cells
        elif box is not None and overwrites(e, box):
            e.inputs[0] = box.base
        if _is_large_box(e, graph) and not any(_reads(_Box(e, graph), makers, graph)):
            written[e.outputs[0]] = _Box(e, graph)
    if same:
        graph.finish([same.get(v, v) if type(v) is int else v for v in graph.outputs])


def _is_large_box(e, graph):
    """Whether an equation writes at least half of an array, in a place that is known."""
    if e.name != "dynamic_update_slice" or any(type(v) is not int for v in e.inputs[:2]) or any(type(at) is int for at in e.inputs[2:]):
        return False
    part, whole = graph.avals[e.inputs[1]], e.avals[0]
    return part.shape != whole.shape and 2 * _size(part) >= _size(whole)


def _size(aval):
    return math.prod(aval.shape)


class _Box:
    """A write: what into, what, and where: the array's shape, the window's, where it begins, and what is left around it."""

    __slots__ = ("base", "cells", "shape", "window", "starts", "margins")

    def __init__(self, e, graph):
        self.base, self.cells, *starts = e.inputs
        self.shape, self.window = e.avals[0].shape, graph.avals[self.cells].shape
        self.starts = tuple([int(at.value) for at in starts])
        rows = zip(self.starts, self.shape, self.window, strict=True)
        self.margins = tuple([(at, length - at - count, 0) for at, length, count in rows])

    @property
    def place(self):
        return self.shape, self.window, self.starts

    def is_read(self, e):
        """Whether an equation takes just this window of an array of this shape."""
        return (e is not None and e.name == "slice" and e.params["start_indices"] == self.starts and e.avals[0].shape == self.window
                and set(e.params["strides"] or (1,)) == {1})


def _reads(box, makers, graph):
    """(here, elsewhere): whether what is written is computed from what was there, in the same place and in others."""
    here = elsewhere = False
    seen, waiting = {box.cells}, [box.cells]
    while waiting:
        e = makers.get(waiting.pop())
        if e is not None and e.name == "slice" and e.inputs[0] == box.base:
            same = box.is_read(e)
            here, elsewhere = here or same, elsewhere or not same
        elif e is not None and e.name in CARRIED:
            fresh = {v for v in e.inputs if type(v) is int and v not in seen and graph.avals[v].shape == box.window}
            seen |= fresh
            waiting.extend(fresh)
    return here, elsewhere


class _Opening:
    """One pass over the equations, which are written down anew."""

    def __init__(self, graph, briefly):
        self.graph, self.old, graph.equations = graph, graph.equations, []
        self.uses = [0] * len(graph.avals)
        for atoms in (*[e.inputs for e in self.old], graph.outputs):
            for v in atoms:
                if type(v) is int:
                    self.uses[v] += 1
        self.makers, self.inside = {}, {}           # {variable: (number, the equation that makes it)}, {place of a box: its mask}
        makers = {v: e for e in self.old for v in e.outputs}
        self.boxes, elsewhere = {}, []
        for e in self.old:
            if _is_large_box(e, graph):
                box = _Box(e, graph)
                reads = _reads(box, makers, graph)
                if any(reads):
                    self.boxes[id(e)] = box
                    elsewhere.append(reads[1])
        adding = SUM | PRODUCT | EXTREME | OTHER
        other = any(e.kind & adding or e.name in ALL_EFFORT for e in self.old)
        padded = other or not all(elsewhere)
        self.way = MASKED if not padded else HURRIED if briefly else PADDED

    def run(self):
        graph = self.graph
        if not self.boxes:
            graph.equations = self.old
            return
        graph.boxes = self.way
        for e in self.old:
            if id(e) in self.boxes:
                self._open(e, self.boxes[id(e)])
            else:
                self._add(e)
        graph.finish(graph.outputs)
        self._keep()

    def _add(self, e):
        for v in e.outputs:
            self.makers[v] = len(self.graph.equations), e
        self.graph.equations.append(e)

    def _equation(self, primitive, params, inputs, aval):
        self.graph.avals.append(aval)
        made = len(self.graph.avals) - 1
        self._add(Equation(primitive, params, inputs, [made], [aval]))
        return made

    def _maker(self, v):
        return self.makers[v][1] if type(v) is int and v in self.makers else None

    # -- how ------------------------------------------------------------------------------------------------------------

    def _open(self, e, box):
        maker = self._maker(box.cells)
        if maker.name in NEUTRAL and maker.avals[0].dtype.kind in "iub":
            first, second = maker.inputs
            for there, other in ((first, second), (second, first))[:1 if maker.name == "sub" else 2]:
                found = self._maker(there)
                if box.is_read(found) and found.inputs[0] == box.base:
                    other = self._padded(other, box, NEUTRAL[maker.name])
                    self._add(Equation(maker.primitive, maker.params, [box.base, other], e.outputs, e.avals))
                    return
        new = self._carry(box) if self.way == PADDED else self._padded(box.cells, box)
        self._add(Equation(lax.select_n_p, {}, [self._mask(box), box.base, new], e.outputs, e.avals))

    def _padded(self, v, box, around=0):
        aval = self.graph.aval(v)
        if not aval.shape:                                      # one number
            v = self._equation(lax.broadcast_in_dim_p, {"shape": box.window, "broadcast_dimensions": (), "sharding": None}, [v],
                               jax.core.ShapedArray(box.window, aval.dtype))
        around = Constant(np.asarray(around).astype(aval.dtype))
        return self._equation(lax.pad_p, {"padding_config": box.margins}, [v, around], jax.core.ShapedArray(box.shape, aval.dtype))

    def _mask(self, box):
        key = box.place
        if key not in self.inside:
            begin = len(self.graph.equations)
            self.inside[key], = self.graph.call(_inside(*key), [])
            for at, e in enumerate(self.graph.equations[begin:], begin):
                for v in e.outputs:
                    self.makers[v] = at, e
        return self.inside[key]

    def _carry(self, box):
        """What is written, computed on the whole array: the slices that it is computed from are padded."""
        moved = {}
        for e in self._carried(box):
            inputs = [self._operand(v, box, moved) for v in e.inputs]
            moved[e.outputs[0]] = self._equation(e.primitive, e.params, inputs, e.avals[0].update(shape=box.shape))
        return self._operand(box.cells, box, moved)

    def _carried(self, box):
        """The equations that compute the slice and nothing else, in order."""
        seen, found, waiting = {box.cells: 1}, [], [(-self.makers[box.cells][0], box.cells)]
        while waiting:                                          # the last first: by then all that use it have been seen
            _, v = heapq.heappop(waiting)
            e = self._maker(v)
            if seen[v] < self.uses[v] or e.name not in CARRIED or len(e.outputs) > 1:
                continue
            found.append(e)
            for u in e.inputs:
                if type(u) is int and self.graph.avals[u].shape == box.window:
                    if u not in seen and u in self.makers:
                        heapq.heappush(waiting, (-self.makers[u][0], u))
                    seen[u] = seen.get(u, 0) + 1
        return found[::-1]

    def _operand(self, v, box, moved):
        """An operand of what is computed for the slice, where it is computed on the whole array."""
        if self.graph.aval(v).shape != box.window:
            return v                                            # one number
        if type(v) is not int:
            return self._padded(v, box)
        if v not in moved:
            e = self._maker(v)
            same = box.is_read(e) and self.graph.aval(e.inputs[0]).shape == box.shape
            moved[v] = e.inputs[0] if same else self._padded(v, box)
        return moved[v]

    # -- what is read again ---------------------------------------------------------------------------------------------

    def _keep(self):
        """Marks what is computed here and read again, as a whole and in slices."""
        graph, read, whole, makers = self.graph, {}, set(), {}
        for e in graph.equations:
            for v in {v for v in e.inputs if type(v) is int}:
                if e.name == "slice":
                    read[v] = read.get(v, 0) + _size(e.avals[0])
                else:
                    whole.add(v)
            for v in e.outputs:
                makers[v] = e
        for v, elements in read.items():
            size = _size(graph.avals[v])
            if v in makers and makers[v].name in CARRIED and elements + (v in whole) * size >= AGAIN * size:
                makers[v].kept = True


@functools.lru_cache(maxsize=256)
def _inside(shape, window, starts):
    """A program without inputs that says of each element whether it is in the window."""
    def inside():
        found = None
        for axis, (start, count, length) in enumerate(zip(starts, window, shape, strict=True)):
            at = lax.broadcasted_iota(np.int32, shape, axis)
            for tells, test, limit in ((start > 0, lax.ge, start), (start + count < length, lax.lt, start + count)):
                if tells:
                    here = test(at, np.int32(limit))
                    found = here if found is None else lax.bitwise_and(found, here)
        return [found]
    with compat.x64():
        return compat.trace(inside, [])
