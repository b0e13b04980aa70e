"""One program for tapes that differ in a size alone: a text that grows, batches of any length.

A tape that comes at a size of its own is not worth a program, and runs op by op (`tiers`), which takes ten times as long. But the same tape
at other sizes is the same equations with other numbers in them. So tapes are told by what they have in common, their *kind* (`sizes.read`).
When a kind has come at `SAMPLES` sizes, its numbers are lines through these (`affine`), and one program at the largest size of a *bucket*
serves all sizes in it: what it takes is padded, what is too much is masked where it counts (`masks`), results are cut. Each size gives the
bits that it gives by itself: a rule says so of each equation, each operation is traced once for each class of sizes (`sizes.class_of`) and
compared with what its line says, and the first run of a program is compared with the same tape op by op.

Owns: the kinds and their buckets, which program serves a tape. May not know: how that is made (`wide`), when tapes run.
"""
import threading

import jax
import numpy as np

from ...base import compat
from ...base.bounded import Bounded
from .. import programs, scalars
from ..cache import store
from ..lowering import sizes
from ..lowering.barriers import UNROLLED
from ..lowering.examples import Example, Unknown
from ..report import REPORT
from . import affine, wide
from .wide import build, cut, on_host

SAMPLES = 3             # sizes by which a kind is known
PATIENCE = 3            # sizes of a bucket that come before a program is compiled for it
PROBES = 12             # sizes of a bucket at which operations are traced
GROWING = 3             # sizes in a row, each a little larger, after which the first of a bucket has the program made
STEP = 8                # larger by this part is a little larger
AGAIN = 64              # runs of a size after which it may have a program of its own
VERIFY = False          # compares every run

_KINDS = Bounded(256)
_NAMES = Bounded(1 << 14)           # {text of an operation without its sizes: itself}
_READY = threading.Event()          # some bucket has a program
_LOCK, _TRACING = threading.RLock(), threading.Lock()


class _Kind:
    """``samples``: (sizes, plans) of tapes until there are enough; then ``lines``, of all sizes, and ``operations``: of each plan its
    `_Operation`, [] if there are none. ``place``: which of the sizes all others go by. ``refused``: there is no telling. ``last``: the
    size that came last, ``grown``: how often in a row it was a little larger than the one before."""

    __slots__ = ("key", "samples", "lines", "place", "operations", "buckets", "refused", "last", "grown")

    def __init__(self, key):
        self.key, self.samples, self.lines, self.place, self.operations, self.buckets, self.refused = key, [], None, 0, None, {}, False
        self.last = self.grown = 0

    def size_of(self, numbers):
        """The size of a tape with these numbers; None if it is not one of this kind's."""
        size = numbers[self.place]
        return size if affine.at(self.lines, size) == list(numbers) else None

    def grows(self, size):
        """Whether this size is one of several in a row, each a little larger than the one before."""
        if size != self.last:
            self.grown = self.grown + 1 if 0 < size - self.last <= max(1, self.last // STEP) else 0
            self.last = size
        return self.grown >= GROWING

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
        stages, held, known = self.bucket.stages, {}, {}            # results as they are held, and as they are
        for stage in stages:
            missing = tuple([p for p in stage.needs if p not in held and p not in known])
            if missing:
                self._cut(stages, held, known)
                known.update(zip(missing, op_by_op(missing, known), strict=True))
            made = stage.run(segment, self.size, held, known, seen)
            held.update(zip(stage.gives, made, strict=True))
        self._cut(stages, held, known)
        missing = tuple([p for p in wanted if p not in known])
        if missing:
            known.update(zip(missing, op_by_op(missing, known), strict=True))
        return [known[p] for p in wanted]

    def _cut(self, stages, held, known):
        for stage in stages:
            for p, extents in zip(stage.gives, stage.extents, strict=True):
                if p in held and p not in known and p in stage.shown:
                    known[p] = cut(held[p], extents, self.size)


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
    x, y = on_host(x), on_host(y)
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
        if len(nodes) < wide.SHORTEST or nodes[0][0].outputs[0].device.type != "cpu" or state.mixed:
            return None
        with _LOCK:
            found = _found(segment, nodes, wanted, learns)
        if found is None:
            return None
        state.fitted = {**(state.fitted or {}), wanted: found}
    return None if found.bucket.refused or found.kind.refused else found


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
    bucket, grows = kind.bucket(size), kind.grows(size)
    if bucket.refused:
        return None
    if bucket.stages is None:
        if bucket.coming is None:
            bucket.seen.add(size)
            if not learns or len(bucket.seen) < PATIENCE and not grows:
                return None
            counts = scalars.counts(segment.floats, segment.integers, segment.complexes)
            bucket.coming = programs.COMPILER.submit(
                lambda: build(kind, bucket, here, _operations(kind), nodes, wanted, counts), name="program")
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
