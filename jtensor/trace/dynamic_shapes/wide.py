"""The program of a bucket of sizes, in stages around what keeps kernels of its own.

Owns: which of a tape's nodes a stage makes, its program, how that is given arrays of any size of the bucket. May not know: which tapes are
of one kind, when there is a program for them (`dynamic`).
"""
import hashlib
import math
from functools import partial, reduce

import jax
import numpy as np

from ...base import compat, devices
from .. import programs, scalars
from ..arrival import awaited
from ..lowering import lower
from ..lowering.examples import Unknown
from ..lowering.flat import Flat
from ..plan import made_for, scalar_struct
from ..report import REPORT
from . import affine, masked_moves, masked_sums, masks

SHORTEST = 3            # nodes that are worth a program
POISON = False          # what is too much is NaN
RULES = masked_moves.RULES | masked_sums.RULES


def cut(x, extents, size):
    """What is there of an array at a size: a copy, or the array itself if its extents are always the same."""
    if not any(slope for slope, _ in extents):
        return x
    return on_host(x)[tuple([slice(slope * size + start) for slope, start in extents])].copy()


def on_host(x):
    """The array as an ndarray that is not to be written to."""
    return x if x.__class__ is np.ndarray else compat.looked_at(awaited(x))


class Stage:
    """Nodes that one program makes. ``takes``: of each array that it is given the position, or ``~n`` for an input, and its shape at the
    largest size, or None if that is always the same; ``needs``: the positions among them; ``gives``: the positions of its results,
    ``shown`` those that others than stages look at, ``extents`` theirs; ``count``: how many nodes there are; ``doubts``: whether the
    program's last result says that the bits may be others than at this size."""

    __slots__ = ("program", "takes", "needs", "gives", "shown", "extents", "count", "doubts")

    def __init__(self, takes, gives, shown, extents, count, doubts):
        self.doubts = doubts
        self.program, self.takes, self.gives, self.shown, self.extents, self.count = None, takes, gives, shown, extents, count
        self.needs = [p for p, _ in takes if p >= 0]

    def run(self, segment, size, held, known, seen):
        """The results at the largest size. Raises `Unknown` where these bits may be others."""
        program, inputs = self.program, segment.inputs
        device = program.executable.device
        zero, *numbers = program.numbers(segment.floats, segment.integers, segment.complexes)
        given = [zero, *numbers, scalars.number("i", size, device)]
        for p, shape in self.takes:
            x = held.get(p)
            if x is None:
                x = seen(inputs[~p]) if p < 0 else known[p]
                if shape is not None:
                    x = _padded(on_host(x), shape)
                if x.__class__ is np.ndarray:
                    x = compat.put(x, device)
            given.append(x)
        made = program.executable.run(given)
        REPORT.hits += 1
        program.served += 1
        if program.left:
            program.ran()
        if self.doubts:
            *made, doubt = made
            if on_host(doubt):
                raise Unknown
        return made


def _padded(x, shape):
    return compat.padded(x, shape, np.nan if POISON and x.dtype.kind in "fcV" else 0)


def build(kind, bucket, here, operations, nodes, wanted, counts):
    """The stages of a bucket, and where their programs come from."""
    layout = _Layout(nodes, wanted, counts, here, operations, bucket)
    stages, origins = [], []
    for at, members in enumerate(layout.stages()):
        stage, _ = layout.stage(members)
        # Written down once more for each program: what makes one writes on the graph.
        stage.program, origin = _program(lambda members=members: layout.stage(members)[1], _key(kind, bucket, counts, at),
                                         [nodes[k] for k in members], layout.elements(members))
        stages.append(stage)
        origins.append(origin)
    return stages, origins


def _program(graph, key, nodes, elements):
    def made(efforts):
        return lower.of_graph(graph, key, devices.cpu, efforts)

    def better():
        executable, *about = made(("all",))
        return programs.Program(executable, (), ()), about
    chosen = programs.worth(nodes, elements=elements)
    executable, origin, count, got = made(tuple(chosen))
    found = programs.Program(executable, (), (), (), count)
    if due := chosen.get(got, 0):
        found.due, found.left, found.again = due, due, better
    return found, origin


def _key(kind, bucket, counts, stage):
    names, parts, wanted = kind.key
    text = repr((names, parts, wanted, kind.lines, bucket.least, bucket.most, counts, stage))
    return f"dynamic {hashlib.blake2b(text.encode(), digest_size=20).hexdigest()}"


class _Layout:
    """Which nodes are made in which stage, and which by themselves."""

    def __init__(self, nodes, wanted, counts, here, operations, bucket):
        self.nodes, self.wanted, self.counts, self.operations, self.bucket = nodes, wanted, counts, operations, bucket
        self.place = {plan: at for at, plan in enumerate(here.plans)}
        self.live = lower.needed(nodes, wanted)
        self.starts, position = [], 0
        for node in nodes:
            self.starts.append(position)
            position += len(node[0].outputs)
        self.shown = set()              # positions that others than stages look at
        self.arrays = {}                # {position or ~input: (type, extents)}
        for k, (plan, positions, _, _) in enumerate(nodes):
            if self.live[k]:
                operation = operations[self.place[plan]]
                for p, one in zip(positions, operation.takes):
                    self.arrays.setdefault(p, one)
                self.arrays.update((self.starts[k] + n, one) for n, one in enumerate(operation.gives))

    def _type(self, one):
        dtype, extents = one
        return jax.core.ShapedArray(tuple(affine.at(extents, self.bucket.most)), dtype)

    def elements(self, members):
        """How many numbers all results of these nodes have at the largest size."""
        made = [self.arrays[self.starts[k] + n] for k in members for n in range(len(self.nodes[k][0].outputs))]
        return sum(math.prod(self._type(one).shape) for one in made)

    def stages(self):
        """The nodes of each stage, as lists of their numbers."""
        levels, made, alone = [0] * len(self.nodes), {}, {}
        owner = [k for k, node in enumerate(self.nodes) for _ in node[0].outputs]
        for k, (plan, positions, _, _) in enumerate(self.nodes):
            if not self.live[k]:
                continue
            at = self.place[plan]
            if at not in alone:
                alone[at] = not self._is_maskable(at, plan)
            levels[k] = max([levels[owner[p]] + (not alone[at] and alone[self.place[self.nodes[owner[p]][0]]])
                             for p in positions if p >= 0], default=0)
            if not alone[at]:
                made.setdefault(levels[k], []).append(k)
        stages = [members for _, members in sorted(made.items()) if len(members) >= SHORTEST]
        if 2 * sum(map(len, stages)) < sum(self.live):
            raise Unknown               # it would not be worth it
        together = {k for members in stages for k in members}
        self.shown = {p for k, node in enumerate(self.nodes) if self.live[k] and k not in together for p in node[1]}.union(self.wanted)
        return stages

    def _is_maskable(self, at, plan):
        operation = self.operations[at]
        if operation.example is None:
            return False
        kinds = [jax.core.ShapedArray((), scalar_struct(kind).dtype) for kind in plan.scalar_kinds]
        with jax.enable_x64(True), made_for("cpu"):
            graph = Flat([jax.core.ShapedArray((), np.dtype(np.int64)), *map(self._type, operation.takes), *kinds])
            masking = masks.Masking(graph, 0, self.bucket.least, self.bucket.most, RULES)
            extents = [extents for _, extents in operation.takes] + [()] * len(kinds)
            try:
                masking.operator(operation.example, partial(affine.at, operation.lines), list(map(masks.Array, graph.inputs[1:], extents)))
            except Unknown:
                return False
        return True

    def stage(self, members):
        """The `Stage` of these nodes, and its graph."""
        with jax.enable_x64(True), made_for("cpu"):
            return self._stage(members)

    def _stage(self, members):
        inside = {self.starts[k] + n for k in members for n in range(len(self.nodes[k][0].outputs))}
        takes = sorted({p for k in members for p in self.nodes[k][1]} - inside)
        vector = [jax.core.ShapedArray((scalars.words(self.counts),), np.dtype(np.int64))] if self.counts else []
        graph = Flat([*vector, jax.core.ShapedArray((), np.dtype(np.int64)), *[self._type(self.arrays[p]) for p in takes]])
        size, *atoms = graph.inputs[len(vector):]
        masking, numbers = masks.Masking(graph, size, self.bucket.least, self.bucket.most, RULES), lower.numbers_of(graph, self.counts)
        values = {p: masks.Array(atom, self.arrays[p][1]) for p, atom in zip(takes, atoms, strict=True)}
        for k in members:
            plan, positions, taken, _ = self.nodes[k]
            operands = [*[values[p] for p in positions], *[masks.Array(numbers(kind, at), ()) for kind, at in taken]]
            operation = self.operations[self.place[plan]]
            outs = masking.operator(operation.example, partial(affine.at, operation.lines), operands)
            if not plan.moves:
                outs = [masks.Array(graph.mark(x.atom), x.extents) for x in outs]
            values.update((self.starts[k] + n, x) for n, x in enumerate(outs))
        outside = {p for k, node in enumerate(self.nodes) if self.live[k] and k not in members for p in node[1]}
        gives = sorted(inside.intersection(outside.union(self.wanted)))
        stage = Stage([(p, graph.aval(atom).shape if values[p].changing else None) for p, atom in zip(takes, atoms, strict=True)], gives,
                      self.shown.intersection(gives), [values[p].extents for p in gives], len(members), bool(masking.doubts))
        doubts = [reduce(masking.either, masking.doubts)] if masking.doubts else []
        return stage, graph.finish([*[values[p].atom for p in gives], *doubts])
