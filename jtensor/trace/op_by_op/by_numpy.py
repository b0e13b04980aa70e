"""Operations on arrays without a kernel of their own: by NumPy, and what is elementwise by kernels that serve any shape.

A kernel takes XLA 8 to 40 ms to compile and a fifth of a megabyte to keep, and serves one shape. In a script whose shapes do not come again
(sentences of any length, episodes, graphs) that is most of the time. Most of its kernels only move data or do arithmetic that IEEE defines
to the bit, and NumPy does that on any shape (`numpy_rules`); exponentials and their like are elementwise (`buckets`). Long sums and matrix
products are a kernel's.

Owns: which operations are done so, with what copies, and for how long that is cheaper than a kernel. May not know: when tapes run.
"""
import math
import operator

import numpy as np

from ...base import compat
from .. import scalars
from ..arrival import awaited
from ..lowering.flat import flattened
from ..report import REPORT
from . import buckets, elementwise, equations, looped, numpy_places, numpy_rules, padded
from .numpy_rules import FLOATS, MOVE, ROUND, Declined, Unknown, checked, is_ordinary

LONGEST = 140                           # equations
ENOUGH = 1 << 22                        # elements that are worth a kernel of few equations, and a quarter of them for each that it has
KERNEL_MADE = "kernel"                  # what a kernel makes may be any numbers, as what an operation takes
CALL, KERNEL = 2048, 4096               # as how many elements a call counts, and each call of a kernel in it
STEP, MOST = 200, 8192                  # and each equation of a loop's round; with more of them in all, a kernel is made


class ByNumpy:
    """A plan that has no kernel yet. ``enough``: how much work is done without one before it costs less, and how much of it is ``left``."""

    __slots__ = ("run", "left", "enough", "elements")

    def __init__(self, run, elements, enough=ENOUGH):
        self.run, self.left, self.enough, self.elements = run, enough, enough, elements

    def done(self, arrays, numbers):
        """The results, as ndarrays; None if a kernel is to do it. ``numbers``: (kind, number) each."""
        self.left -= self.elements
        if self.left < 0:
            return None
        given = [x if x.__class__ is np.ndarray else compat.looked_at(awaited(x)) for x in arrays]
        made = self.run([*given, *[np.asarray(number, scalars.SINGLE[kind]) for kind, number in numbers]])
        if made is not None:
            REPORT.by_numpy += 1
        return made

    def results(self, segment, seen, asked):
        """The same for the only operation of a tape. ``seen``: the executor's."""
        (_, positions, taken, _), = segment.nodes
        return self.done([seen(segment.inputs[~p]) for p in positions], scalars.taken(taken, segment))


def of(plan):
    """The plan's `ByNumpy`; None if it has a kernel, or needs one."""
    found = plan.by_numpy
    if found is None:
        found = plan.by_numpy = _begun(plan) if plan.kernel is None else False
    if not found or plan.kernel is not None or found.left < 0:
        return None
    return found


def _begun(plan):
    """The `ByNumpy` of a plan, whose kernels another thread begins to make; False if there is none, or it would cost more at once."""
    found = way(plan)
    if found is None:
        return False
    between, length = (found.between, found.length) if type(found) is _Steps else (0, 0)
    # Of a long operation most of the work is between its equations, and its kernel takes long to compile: some 10 ms for each of them.
    elements, enough = max(plan.elements(), between // 2) + CALL + len(found.kernels) * KERNEL, ENOUGH * (4 + length) // 4
    if elements > enough:
        return False
    for kernel in found.kernels:
        kernel.begin()
    return ByNumpy(found.run, elements, enough)


def has_done(plan):
    """Whether the operation has been done without a kernel, and will be again."""
    found = plan.by_numpy
    return bool(found) and 0 <= found.left < found.enough


def way(plan):
    """What does an operation of the CPU without a kernel of its own; None if nothing does.

    Its ``run(list of ndarrays)`` takes the plan's arguments, arrays first, and gives a list of ndarrays that share no memory with them, or
    None if a kernel is to do it; ``kernels`` are those that it calls, which serve any shape, or other operations, too.

    >>> from jtensor.trace import plan, spec
    >>> three = spec.aval((3,), spec.dtypes.float32, spec.devices.cpu)
    >>> twice = way(plan.make("twice", lambda a: (a + a,), [three]))
    >>> twice.run([np.array([1, 2, 3], np.float32)]), twice.run([np.array([1, 2, math.nan], np.float32)])
    ([array([2., 4., 6.], dtype=float32)], None)
    """
    if any(aval.device.type != "cpu" for aval in (*plan.inputs, *plan.outputs)):
        return None
    if plan.on_host is not None:
        return _OnHost(plan.on_host)
    graph = elementwise.graph_of(plan)
    if len(graph.equations) > LONGEST or graph.effects or any(math.prod(aval.shape) == 0 for aval in graph.avals):
        return None
    try:
        steps = _Steps(graph)
    except Unknown:
        steps = None
    if steps is None or steps.kernels:
        return buckets.bucketed(graph) or steps
    return steps


class _OnHost:
    """A function of ndarrays that only moves numbers."""

    kernels = ()

    def __init__(self, function):
        self.function = function

    def run(self, arrays):
        return [np.array(x, order="C") for x in self.function(*arrays)]


class _Steps:
    """A graph's equations as calls of NumPy, or of kernels: ``steps`` of (function, places of its arguments, place of its result, places
    that nothing reads after it). Of a long operation on large arrays, not all results are kept at once.

    There is one for each size that comes, and each object in it is one that Python's garbage collector walks: so it keeps neither the graph
    nor lists."""

    __slots__ = ("values", "count", "steps", "outputs", "kernels", "shared", "between", "length")

    def __init__(self, graph):
        made = _Making(graph)
        for e in graph.equations:
            made.add(e)
        self.outputs = tuple([made.place(atom) for atom in graph.outputs])
        self.values, self.count, self.kernels = tuple(made.values), len(graph.inputs), tuple(made.kernels)
        self.steps = tuple([(*step, freed) for step, freed in zip(made.steps, made.done_with(self.outputs), strict=True)])
        self.shared = tuple(made.shared.intersection(self.outputs))                     # those that may lie where an argument does
        self.between = made.loops + sum(math.prod(aval.shape) for e in graph.equations for aval in e.avals)         # of all results
        self.length = len(graph.equations)

    def run(self, arrays):
        """The results, or None."""
        values = [*arrays, *self.values[self.count:]]
        try:
            with np.errstate(all="ignore"):
                for function, places, result, freed in self.steps:
                    values[result] = function(*[values[place] for place in places])
                    for place in freed:
                        values[place] = None
        except Declined:
            return None
        made, seen = [], set(self.shared)
        for place in self.outputs:
            x = values[place]
            alone = place not in seen and x.__class__ is np.ndarray and x.flags.c_contiguous
            made.append(x if alone else np.array(x, order="C"))
            seen.add(place)
        return made


class _Making:
    """What `_Steps` are made of: ``ordinary``, the places that have been looked at; ``shared``, which may lie where an argument does;
    ``loops``: as how many elements the rounds of loops count."""

    def __init__(self, graph):
        self.graph, self.values, self.steps, self.kernels, self.loops = graph, [None] * len(graph.avals), [], [], 0
        self.ordinary = {v for v in graph.inputs if graph.avals[v].dtype not in FLOATS}
        self.shared = set(graph.inputs)

    def place(self, atom):
        if type(atom) is int:
            return atom
        value = np.asarray(atom.value)
        self.values.append(value)
        place = len(self.values) - 1
        self.shared.add(place)
        if value.dtype not in FLOATS or is_ordinary(value):
            self.ordinary.add(place)
        return place

    def add(self, e):
        if len(e.outputs) != 1 or e.name in SEVERAL:
            self._add_several(e)
            return
        made, (result,) = e.avals[0], e.outputs
        try:
            function, kind = RULES.get(e.name, numpy_rules.function_of)(e, self.graph)
        except Unknown:
            self._by_kernel(e)
            return
        places = [self.place(atom) for atom in e.inputs]
        if kind != MOVE:
            self._look(places, e)
        elif e.name not in numpy_rules.COPIES:
            self.shared.add(result)
        self.steps.append((function, tuple(places), result))
        if kind == ROUND and made.dtype in FLOATS:
            self.steps.append((checked, (result,), result))
        if kind != MOVE or made.dtype not in FLOATS or self.ordinary.issuperset(places):
            self.ordinary.add(result)

    def _look(self, places, e):
        for place, atom in zip(places, e.inputs, strict=True):
            if self.graph.aval(atom).dtype in FLOATS and place not in self.ordinary:
                self.steps.append((checked, (place,), place))
                self.ordinary.add(place)

    def _add_several(self, e):
        """An equation of several results: a step makes all of them, and one takes each out."""
        if e.name not in SEVERAL:
            raise Unknown
        function, kind = SEVERAL[e.name](e, self.graph)
        places = [self.place(atom) for atom in e.inputs]
        if kind == KERNEL_MADE:
            self.kernels.append(function)
        else:
            self.loops += getattr(function, "elements", 0)
            self._look(places, e)
        self.values.append(None)
        together = len(self.values) - 1
        self.steps.append((function, tuple(places), together))
        for at, (result, aval) in enumerate(zip(e.outputs, e.avals, strict=True)):
            self.steps.append((operator.itemgetter(at), (together,), result))
            if kind == ROUND and aval.dtype in FLOATS:
                self.steps.append((checked, (result,), result))
            if kind != KERNEL_MADE:
                self.ordinary.add(result)

    def _by_kernel(self, e):
        kernel = padded.of(e, self.graph) or buckets.bucketed(equations.alone(e, self.graph)) or equations.of(e, self.graph)
        if kernel is None:
            raise Unknown
        self.kernels.append(kernel)
        self.steps.append((kernel.first, tuple([v for v in e.inputs if type(v) is int]), e.outputs[0]))

    def done_with(self, outputs):
        """For each step the places that nothing reads after it."""
        last = {}
        for at, (_, places, result) in enumerate(self.steps):
            last |= dict.fromkeys((*places, result), at)
        freed = [()] * len(self.steps)
        for place, at in last.items():
            if place not in outputs:
                freed[at] += place,
        return freed


def _choice(e, graph):
    """The rule of a choice between equations, of which none needs a kernel."""
    branches = [_Steps(flattened(branch)) for branch in e.params["branches"]]
    if any(branch.kernels for branch in branches):
        raise Unknown

    def function(which, *arrays):
        made = branches[min(max(int(which), 0), len(branches) - 1)].run(arrays)
        if made is None:
            raise Declined
        return made[0]
    return function, ROUND


class _Loop:
    """The rule of a loop of so many rounds, of which none needs a kernel. ``elements``: as how many they count."""

    def __init__(self, e, graph):
        params = e.params
        self.rounds, (self.consts, self.carried) = params["length"], compat.parts_of_scan(params)
        self.body = _Steps(flattened(params["jaxpr"]))
        if self.body.kernels or self.rounds * self.body.length > MOST:
            raise Unknown
        self.elements = 2 * self.rounds * self.body.length * STEP
        self.order = range(self.rounds)[::-1] if params["reverse"] else range(self.rounds)
        self.made = tuple([(aval.shape, aval.dtype) for aval in e.avals[self.carried:]])

    def __call__(self, *arrays):
        first = self.consts + self.carried
        consts, carried, rows = arrays[:self.consts], arrays[self.consts:first], arrays[first:]
        made = [np.empty(shape, dtype) for shape, dtype in self.made]
        for at in self.order:
            found = self.body.run([*consts, *carried, *[x[at, ...] for x in rows]])
            if found is None:
                raise Declined
            carried = found[:self.carried]
            for x, row in zip(made, found[self.carried:], strict=True):
                x[at] = row
        return [*carried, *made]


def _loop(e, graph):
    try:
        return _Loop(e, graph), ROUND
    except Unknown:                         # there are kernels in a round: one for all of it
        found = looped.of(e)
        if found is None:
            raise
        return found, KERNEL_MADE


RULES = numpy_places.RULES | {"cond": _choice}
SEVERAL = {"sort": numpy_rules.sort, "top_k": numpy_rules.top_k, "scan": _loop}
