"""One program for tapes that differ in a size alone: a text that grows, batches of any length.

A tape that comes at a size of its own is not worth a program, and runs op by op (`tiers`), which takes ten times as long. But the same tape
at other sizes is the same equations with other numbers in them. So tapes are told by what they have in common, their *kind* (`sizes.read`).
When a kind has come at `SAMPLES` sizes, its numbers are lines through these (`affine`), and one program at the largest size of a *bucket*
serves all sizes in it: what it takes is padded, what is too much is masked where it counts (`masks`), results are cut. Each size gives the
bits that it gives by itself: a rule says so of each equation, each operation is traced once for each class of sizes (`sizes.class_of`) and
compared with what its line says, and the first run of a program is compared with the same tape op by op.

Owns: the kinds and their buckets, which program serves a tape. May not know: how one operation is done, when tapes run.
"""
import hashlib
import threading
from functools import partial, reduce

import jax
import numpy as np

from ..base import compat, devices
from ..base.bounded import Bounded
from . import affine, lower, masks, programs, scalars, sizes, store
from .arrival import awaited
from .barriers import UNROLLED
from .examples import Example, Unknown
from .flat import Flat
from .plan import made_for, scalar_struct
from .report import REPORT

SHORTEST = 3            # nodes of a tape for which one is made
SAMPLES = 3             # sizes by which a kind is known
PATIENCE = 3            # sizes of a bucket that come before a program is compiled for it
PROBES = 12             # sizes of a bucket at which operations are traced
AGAIN = 64              # runs of a size after which it may have a program of its own
VERIFY = False          # compares every run, and what is too much is NaN

_KINDS = Bounded(256)
_NAMES = Bounded(1 << 14)           # {text of an operation without its sizes: itself}
_READY = threading.Event()          # some bucket has a program
_LOCK, _TRACING = threading.RLock(), threading.Lock()


class _Kind:
    """``samples``: (sizes, plans) of tapes until there are enough; then ``lines``, of all sizes, and ``operations``: of each plan its
    `Example` and the lines of its numbers. ``refused``: there is no telling."""

    __slots__ = ("key", "samples", "lines", "place", "operations", "buckets", "refused")

    def __init__(self, key):
        self.key, self.samples, self.lines, self.place, self.operations, self.buckets, self.refused = key, [], None, 0, None, {}, False

    def size_of(self, numbers):
        """The size of a tape with these numbers; None if it is not one of this kind's."""
        size = numbers[self.place]
        return size if affine.at(self.lines, size) == list(numbers) else None

    def bucket(self, size):
        limits = bucket_of(size)
        found = self.buckets.get(limits)
        if found is None:
            found = self.buckets[limits] = _Bucket(*limits)
        return found


class _Bucket:
    """The sizes from ``least`` to ``most``: those ``seen``, the ``stages``, or who makes them (``coming``); ``classes``: of
    each plan those for which its lines hold; ``probes``: how often they were tried; ``tried``: whether a run has been compared."""

    __slots__ = ("least", "most", "seen", "stages", "coming", "classes", "probes", "tried", "refused")

    def __init__(self, least, most):
        self.least, self.most, self.seen, self.stages, self.coming = least, most, set(), None, None
        self.classes, self.probes, self.tried, self.refused = {}, 0, False, False


def bucket_of(size):
    """The smallest and the largest size of the bucket that a size is in: from a power of two up to the next, or, from 256 on, half way
    there. There XLA's sums often go on in another way, since elements are counted in powers of two. 32 numbers are the last that are
    added up in halves, so that 32 belongs to neither side.

    >>> [bucket_of(n) for n in (8, 9, 16, 31, 32, 63, 64, 255, 256, 400, 512)]
    [(8, 15), (8, 15), (16, 31), (16, 31), (32, 32), (33, 63), (64, 127), (128, 255), (256, 383), (384, 511), (512, 767)]
    """
    below = 1 << size.bit_length() - 1
    half = below + below // 2
    if size == UNROLLED:
        return size, size
    if below < 256:
        return below + (below == UNROLLED), 2 * below - 1
    return (below, half - 1) if size < half else (half, 2 * below - 1)


class _Tape:
    """A tape as what it has in common with others (``key``) and its ``numbers``; ``plans``: each once."""

    __slots__ = ("key", "numbers", "plans")

    def __init__(self, nodes, wanted):
        seen, parts, names, numbers = {}, [], [], []
        for plan, positions, taken, _ in nodes:
            at = seen.get(plan)
            if at is None:
                at = seen[plan] = len(seen)
                name, own, _ = plan.sized or _sized(plan)
                names.append(name)
                numbers += own
            parts.append((at, tuple(positions), tuple(taken)) if taken else (at, tuple(positions)))
        self.plans, self.numbers = tuple(seen), tuple(numbers)
        self.key = None if None in names else (tuple(names), tuple(parts), wanted)


def _sized(plan):
    text = sizes.named(plan.key, plan.inputs, plan.scalar_kinds)
    if store.fleeting(text):
        plan.sized = None, (), None
    else:
        name, own = sizes.read(text)
        plan.sized = _NAMES.setdefault(name, name), own, sizes.class_of(text, own, plan.outputs)
    return plan.sized


# -- who serves a tape ------------------------------------------------------------------------------------------------

class Fitted:
    """A bucket's stages for tapes of one size."""

    __slots__ = ("kind", "bucket", "size")

    def __init__(self, kind, bucket, size):
        self.kind, self.bucket, self.size = kind, bucket, size

    def run(self, segment, wanted, seen, op_by_op):
        """The results, as the executor hands them out. ``op_by_op(wanted, known)``: what makes values from those that are known."""
        stages, wide, known = self.bucket.stages, {}, {}            # results as they are held, and as they are
        for stage in stages:
            missing = tuple([p for p in stage.needs if p not in wide and p not in known])
            if missing:
                self._cut(stages, wide, known)
                known.update(zip(missing, op_by_op(missing, known), strict=True))
            made = stage.run(segment, self.size, wide, known, seen)
            wide.update(zip(stage.gives, made, strict=True))
        self._cut(stages, wide, known)
        missing = tuple([p for p in wanted if p not in known])
        if missing:
            known.update(zip(missing, op_by_op(missing, known), strict=True))
        return [known[p] for p in wanted]

    def _cut(self, stages, wide, known):
        for stage in stages:
            for p, extents in zip(stage.gives, stage.extents, strict=True):
                if p in wide and p not in known and p in stage.shown:
                    known[p] = _cut(wide[p], extents, self.size)


def _cut(x, extents, size):
    if not any(slope for slope, _ in extents):
        return x
    return _on_host(x)[tuple([slice(slope * size + start) for slope, start in extents])].copy()


def _on_host(x):
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

    def run(self, segment, size, wide, known, seen):
        """The results at the largest size. Raises `Unknown` where these bits may be others."""
        program, inputs = self.program, segment.inputs
        device = program.executable.device
        zero, *numbers = program.numbers(segment.floats, segment.integers, segment.complexes)
        given = [zero, *numbers, scalars.number("i", size, device)]
        for p, shape in self.takes:
            x = wide.get(p)
            if x is None:
                x = seen(inputs[~p]) if p < 0 else known[p]
                if shape is not None:
                    x = _padded(_on_host(x), shape)
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
            if _on_host(doubt):
                raise Unknown
        return made


def _padded(x, shape):
    wide = np.full(shape, np.nan, x.dtype) if VERIFY and x.dtype.kind in "fcV" else np.zeros(shape, x.dtype)
    wide[tuple(map(slice, x.shape))] = x
    return wide


def results(segment, nodes, wanted, seen, op_by_op):
    """The results of a tape that has no program of its own; None if there is none for its bucket either. ``op_by_op(wanted, known)``: what
    makes values op by op."""
    fitted = _fitted(segment, nodes, wanted)
    if fitted is None:
        return None
    try:
        made = fitted.run(segment, wanted, seen, op_by_op)
    except Unknown:
        return None
    except jax.errors.JaxRuntimeError as error:
        if not compat.is_out_of_memory(error):
            raise
        REPORT.failed(error)
        return None
    if fitted.bucket.tried and not VERIFY:
        return made
    right = op_by_op(wanted, ())
    if VERIFY:
        for p, x, y in zip(wanted, made, right, strict=True):
            assert _same(x, y), (p, fitted.size, nodes)
    if all(_same(*pair) for pair in zip(made, right, strict=True)):
        fitted.bucket.tried = True
    else:
        fitted.bucket.refused = fitted.kind.refused = True
    return right


def _same(x, y):
    """Whether the bits are the same, NaN being NaN."""
    x, y = _on_host(x), _on_host(y)
    if x.tobytes() == y.tobytes():
        return True
    if x.dtype.kind not in "fc":
        return False
    x, y = (np.ascontiguousarray(a).view(a.real.dtype) for a in (x, y))
    there = ~(np.isnan(x) & np.isnan(y))
    return x[there].tobytes() == y[there].tobytes()


def is_served(segment, nodes, wanted):
    """Whether a tape has a program of its bucket, and is not worth another."""
    if not _READY.is_set() or segment.state.sightings >= AGAIN:
        return False
    return _fitted(segment, nodes, wanted, False) is not None


def _fitted(segment, nodes, wanted, learns=True):
    state = segment.state
    found = state.fitted.get(wanted) if state.fitted else None
    if found is None:
        if len(nodes) < SHORTEST or nodes[0][0].outputs[0].device.type != "cpu" or state.mixed:
            return None
        with _LOCK:
            found = _found(segment, nodes, wanted, learns)
        if found is None:
            return None
        state.fitted = {**(state.fitted or {}), wanted: found}
    return None if found.bucket.refused else found


def _found(segment, nodes, wanted, learns):
    here = _Tape(nodes, wanted)
    if here.key is None:
        return None
    kind = _KINDS.get(here.key)
    if kind is None:
        if not learns:
            return None
        kind = _KINDS[here.key] = _Kind(here.key)
    if kind.refused:
        return None
    if kind.lines is None:
        if learns:
            _learn(kind, here)
        return None
    size = kind.size_of(here.numbers)
    if size is None:
        return None
    bucket = kind.bucket(size)
    if bucket.refused:
        return None
    if bucket.stages is None:
        if bucket.coming is None:
            bucket.seen.add(size)
            if not learns or len(bucket.seen) < PATIENCE:
                return None
            counts = scalars.counts(segment.floats, segment.integers, segment.complexes)
            bucket.coming = programs.COMPILER.submit(lambda: _build(kind, bucket, here, nodes, wanted, counts), name="program")
            return None
        try:
            bucket.stages, origins = bucket.coming.result()
        except Unknown:
            bucket.refused = True
            return None
        except Exception as error:              # XLA's, or of a size that the equations do not take
            if VERIFY:
                raise
            bucket.refused = True
            REPORT.failed(error)
            return None
        finally:
            bucket.coming = None
        _READY.set()
        for origin, stage in zip(origins, bucket.stages, strict=True):
            REPORT.program(origin, stage.count, stage.program.fences, segment.state)
    if not _holds(kind, bucket, here, size):
        return None
    return Fitted(kind, bucket, size)


def _learn(kind, here):
    if any(here.numbers == numbers for numbers, _ in kind.samples):
        return
    kind.samples.append((here.numbers, here.plans))
    if len(kind.samples) < SAMPLES:
        return
    found = affine.common([numbers for numbers, _ in kind.samples])
    if found is None:
        kind.refused, kind.samples = True, []
        return
    chosen, kind.lines = found
    kind.place = next(at for at, column in enumerate(zip(*[numbers for numbers, _ in kind.samples], strict=True)) if column == chosen)


class _Operation:
    """An operation of a kind: its `Example` and the ``lines`` of its numbers, or None where there is no telling; what it ``takes`` and
    ``gives`` as (type, extents) each."""

    __slots__ = ("example", "lines", "takes", "gives")

    def __init__(self, plans, at):
        self.takes, self.gives = (list(map(_extents, arrays, [at] * len(arrays))) for arrays in (
            list(zip(*[plan.inputs for plan in plans], strict=True)), list(zip(*[plan.outputs for plan in plans], strict=True))))
        self.example, self.lines = None, None
        try:
            examples = [Example((), (), plan.jaxpr()) for plan in plans]
        except Unknown:                         # a loop, a window
            return
        if all(x.frame == examples[0].frame for x in examples):
            self.lines = affine.lines(at, [x.numbers for x in examples])
            self.example = None if self.lines is None else examples[0]


def _extents(avals, at):
    """The type of an array, and its extents, from what it is at some sizes."""
    found = affine.lines(at, [a.shape for a in avals]) if len({len(a.shape) for a in avals}) == 1 else None
    if found is None or any(slope < 0 for slope, _ in found):
        raise Unknown
    return avals[0].struct.dtype, tuple(found)


def _operations(kind):
    """The `_Operation` of each plan; traced at the samples' sizes."""
    with _TRACING:
        if kind.operations is None:
            at = [numbers[kind.place] for numbers, _ in kind.samples]
            try:
                kind.operations = [_Operation(plans, at) for plans in zip(*[plans for _, plans in kind.samples], strict=True)]
            except Unknown:
                kind.operations = []
            kind.samples = []
    if not kind.operations:
        raise Unknown
    return kind.operations


def _holds(kind, bucket, here, size):
    """Whether each operation of a tape is what its lines say, as far as anybody can tell without tracing it; of a class that is new it is
    traced."""
    new = []
    for at, plan in enumerate(here.plans):
        if any(tuple(affine.at(extents, size)) != tuple(a.shape) for a, (_, extents) in zip(
                plan.outputs, kind.operations[at].gives, strict=True)):
            return False
        one = plan.sized[2]
        known = bucket.classes.setdefault(at, {})
        if one in known:
            if not known[one]:
                return False
        else:
            new.append((at, plan, one))
    if new:
        if bucket.probes >= PROBES:
            return False
        bucket.probes += 1
        for at, plan, one in new:
            bucket.classes[at][one] = _is_as_said(kind, at, plan, size)
    return all(bucket.classes[at][one] for at, _, one in new)


def _is_as_said(kind, at, plan, size):
    operation = kind.operations[at]
    if operation.example is None:
        return True                             # it is done by itself
    try:
        new = Example((), (), plan.jaxpr())
    except Unknown:
        return False
    return new.frame == operation.example.frame and new.numbers == affine.at(operation.lines, size)


# -- the program ------------------------------------------------------------------------------------------------------

def _build(kind, bucket, here, nodes, wanted, counts):
    """The stages of a bucket, and where their programs come from."""
    layout = _Layout(nodes, wanted, counts, here, _operations(kind), bucket)
    stages, origins = [], []
    for at, members in enumerate(layout.stages()):
        with jax.enable_x64(True), made_for("cpu"):
            stage, graph = layout.stage(members)
        stage.program, origin = _program(graph, _key(kind, bucket, counts, at), [nodes[k] for k in members])
        stages.append(stage)
        origins.append(origin)
    return stages, origins


def _program(graph, key, nodes):
    def made(efforts):
        return lower.of_graph(lambda: graph, key, devices.cpu, efforts)

    def better():
        executable, *about = made(("all",))
        return programs.Program(executable, (), ()), about
    chosen = programs.worth(nodes)
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
            masking = masks.Masking(graph, 0, self.bucket.least, self.bucket.most)
            extents = [extents for _, extents in operation.takes] + [()] * len(kinds)
            try:
                masking.operator(operation.example, partial(affine.at, operation.lines), list(map(masks.Array, graph.inputs[1:], extents)))
            except Unknown:
                return False
        return True

    def stage(self, members):
        """The `Stage` of these nodes, and its graph."""
        inside = {self.starts[k] + n for k in members for n in range(len(self.nodes[k][0].outputs))}
        takes = sorted({p for k in members for p in self.nodes[k][1]} - inside)
        vector = [jax.core.ShapedArray((scalars.words(self.counts),), np.dtype(np.int64))] if self.counts else []
        graph = Flat([*vector, jax.core.ShapedArray((), np.dtype(np.int64)), *[self._type(self.arrays[p]) for p in takes]])
        size, *atoms = graph.inputs[len(vector):]
        masking, numbers = masks.Masking(graph, size, self.bucket.least, self.bucket.most), lower.numbers_of(graph, self.counts)
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
