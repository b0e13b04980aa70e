"""When and how the tape runs: flushes, the two tiers, what is begun ahead, failures.

Owns: `flush` (end the segment of this thread and run it), `value_of` (the array of a Value, running what it needs). Every flush has a
reason; `report` counts them. May not know: which program a tape gets (`choosing`), in which parts it runs (`parts`), how one operation is
done by itself (`op_by_op`), which inputs a program may write over (`donation`).
"""
import itertools
import threading
from functools import partial

import jax
import numpy as np
from numpy import ndarray

from ..base import compat, devices, malloc
from ..base.errors import missing
from . import asides, begun, donation, parts, scalars, tape
from .arrival import awaited, fetched
from .choosing import choose
from .dynamic_shapes import dynamic
from .macros import CAP
from .op_by_op import in_turn, kernels
from .report import REPORT
from .tape import LIFTED, LOCAL, TRIE, Local, Segment

_WITHOUT = itertools.count(1)           # tapes without a program of their own


def flush(reason, asked=None):
    """Runs the tape of this thread. What is alive gets its array; the rest is never computed.

    ``asked``: the position of the value that somebody waits for, or will (`tape.expect`).
    """
    local = LOCAL
    segment = local.segment
    nodes = segment.nodes
    if nodes:
        state = segment.state               # with more numbers than it takes, where an exception has stopped what had put its own there
        if local.outside is not None or state.depth != len(nodes) \
                or state.numbers != len(segment.floats) + len(segment.integers) + len(segment.complexes) \
                or local.is_main and asides.is_interrupted():
            _apart(local, segment, reason)
            return
        if local.collections_met != Local.collections:
            local.collections_met = Local.collections
            asides.keep(segment)
        lesson, hand = local.lesson, state.hand
        if hand is not None and asked == 0 and lesson is None and hand.did(segment, seen, reason):
            local.segment = Segment()
            return
        if lesson is not None:
            lesson.cut(segment, reason)
        local.segment = Segment()
        if lesson is not None:
            lesson.go_on(local.segment)
        try:
            REPORT.flushed(reason, len(nodes), 2 if asked is None else 4)       # who waits for a value has been called by the library
        except ValueError:                                                      # which has not been called from Python
            REPORT.flushed(reason, len(nodes))
        if asked is None:
            asked = segment.asked
        TRIE.count(len(nodes))
        if local.aside.nodes:
            aside, local.aside = local.aside, Segment()
            _compute(aside)
        if state.cut or segment.mark is not None or segment.update is not None or state.mixed:
            run(segment, asked)
        else:
            _run(segment, asked)
        if TRIE.size > TRIE.limit:
            TRIE.trim()


def _apart(local, segment, reason):
    """Flushes in the midst of another operation, a tape that was recorded on in the midst of one or after one that an exception has stopped
    (`asides`), or one that is not learnt."""
    tape.begin_anew()
    if segment.state.depth < 0:
        TRIE.count_stray(segment.nodes)
    if segment.ahead is not None:
        segment.then.ahead = segment.ahead = None               # begun in vain
    if local.lesson is not None:
        local.lesson.failed = True
    REPORT.flushed(reason, len(segment.nodes))
    if compat.is_tracing():
        elsewhere = threading.Thread(target=_compute, args=(segment,))          # JAX traces by threads
        elsewhere.start()
        elsewhere.join()
    else:
        _compute(segment)


def _compute(segment):
    """Computes what lives on a tape, one operation at a time, which writes over nothing and asks no state of the trie.

    The nodes stay: the operation in whose midst this happens may add one to them.
    """
    nodes, inputs = list(segment.nodes), list(segment.inputs)
    alive, wanted = tape.living(nodes)
    if alive:
        _hand_out(zip(alive, op_by_op(nodes, tuple(wanted), inputs, segment), strict=True))


def value_of(value, reason="read"):
    """The `jax.Array` of a value, running the tape if it is pending."""
    array = value.array
    if array is None:
        segment = value.segment
        if segment is None:                                        # of the meta device
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        if segment is LOCAL.segment:
            if value.position is LIFTED:
                return value_of(value.seen(reason), reason)
            flush(reason, value.position)
        if value.array is None:
            run_for(value.segment, value)
        array = value.array
    return array


def seen(value, reason="read"):
    """What holds a value's numbers, a `jax.Array` or an ndarray not to be written to, running the tape if it is pending."""
    segment = value.segment
    if segment is LOCAL.segment:
        if value.position is LIFTED:
            return seen(value.seen(reason), reason)
        flush(reason, value.position)
        segment = value.segment
    return segment if segment.__class__ is ndarray else value_of(value, reason)


def on_host(value, reason="read"):
    """The numbers of a value as an ndarray that is not to be written to, running the tape if it is pending."""
    array = seen(value, reason)
    if array.__class__ is np.ndarray:
        return array
    return np.asarray(awaited(array)) if value.aval.device is devices.cpu else fetched(array)


def run(segment, asked=None):
    """Runs a closed segment, in parts where that pays. On failure nothing is lost: its values stay pending, and a later read runs it
    again."""
    parts.run(segment, asked, _run)


def _run(segment, asked):
    nodes = segment.nodes
    alive, wanted = tape.living(nodes)
    if alive:
        arrays = execute(segment, nodes, tuple(wanted), asked)
        if segment.ahead is not None:
            segment.then.ahead = segment.ahead = None               # begun in vain
        _hand_out(zip(alive, arrays, strict=True))
    segment.nodes, segment.inputs, segment.slots, segment.running = [], [], {}, None


def _hand_out(pairs):
    for value, array in pairs:
        if array.__class__ is ndarray:                              # done by hand
            value.segment, value.owned = array, False
        else:
            value.array, value.segment, value.owned = array, None, True


def run_for(segment, value):
    """Computes one value of a segment that belongs to another thread, or whose run failed, from a snapshot of its nodes.

    A value that is still on the host is sent to its device. Another thread may do the same at the same time: either's array is right.
    """
    if segment.__class__ is not Segment:
        if segment is not None:
            begun.sent(value)
        return
    if segment.running is not None:
        _finish(segment)
    nodes, inputs = list(segment.nodes), list(segment.inputs)       # nodes first: what they name is there before they are
    if value.segment is not segment:            # asked last: the owner, done meanwhile, has emptied the lists only after this
        run_for(value.segment, value)
        return
    kept = segment.kept                         # asked after the lists, which the owner empties after it is set
    if kept is not None:
        nodes, inputs, segment = kept.nodes, kept.inputs, kept
    try:
        array, = op_by_op(nodes, (value.position,), inputs, segment)
    except jax.errors.JaxRuntimeError as error:
        if kept is None or not any(x.array is not None and x.array.is_deleted() for x in inputs):
            raise
        raise missing("the numbers of a tensor that a finalizer has brought back, since what they would be computed from has been written "
                      "over", "a tensor whose numbers were read (`tolist`, `item`) while somebody held it") from error
    value.array = compat.put(array, devices.jax_device(value.aval.device)) if array.__class__ is ndarray else array
    value.owned = False


asides.run_for = run_for


def _finish(segment):
    """Hands out what a program has made that wrote over its inputs and then was interrupted, by a signal's handler that raised an exception
    or looks at a value. Where nothing has been written yet, the tape is as good as it was."""
    run = segment.running
    arrays, complete = run.results()
    if not arrays:
        segment.running = None
        return
    if not complete:                            # the rest of it step by step, which writes over nothing
        arrays = op_by_op(segment.nodes, run.wanted, segment.inputs, segment, dict(zip(run.gives, arrays, strict=False)))
    elif run.order is not None:
        arrays = [arrays[k] for k in run.order]
    made = dict(zip(run.wanted, arrays, strict=True))
    alive, positions = tape.living(segment.nodes)    # of those that were wanted some may have died
    _hand_out([(value, made[at]) for value, at in zip(alive, positions, strict=True) if at in made and value.segment is segment])
    segment.nodes, segment.inputs, segment.slots, segment.running = [], [], {}, None


def execute(segment, nodes, wanted, asked):
    state, inputs = segment.state, segment.inputs
    programs = state.programs
    found = None if programs is None else programs.get((wanted, asked))
    if found is None and len(nodes) == 1 and not ((large := donation.may_pay(nodes[0], wanted)) and donation.pays(nodes[0], inputs)):
        found = kernels.single(nodes[0][0], state, (wanted, asked), not large)
    if found is not None and found.by_hand is not None:
        outs = found.by_hand.results(segment, seen, asked)
        if outs is not None:
            return outs if found.order is None else [outs[k] for k in found.order]
        if found.executable is None:
            found.executable = kernels.kernel_of(nodes[0][0])
    if found is not None and found.executable is not None:
        REPORT.hits += 1
        if not REPORT.hits & 1023:
            _tidy()
        found.served += 1
        if found.left:
            found.ran()
    else:
        if found is None:                      # else XLA could not compile it
            state.sightings += 1
            if dynamic.is_served(segment, nodes, wanted):
                return _by_bucket(segment, nodes, wanted)
            found = choose(segment, nodes, state, wanted, [v if v.array is not None else _forced(v) for v in inputs], asked)
        if found is None or found.executable is None:
            return _by_bucket(segment, nodes, wanted)
    executable, known, running = found.executable, (), None
    try:
        if found.single:
            given = [scalars.zero(executable.device)]
            _, positions, taken, _ = nodes[0]
            for p in positions:
                value = inputs[~p]
                array = value.array
                given.append(value_of(value) if array is None else array)
            for kind, number in scalars.taken(taken, segment):
                given.append(scalars.number(kind, number, executable.device))
            outs = executable.run(given)
            return outs if found.order is None else [outs[k] for k in found.order]
        arrays = [v.array if v.array is not None else value_of(v) for v in inputs]
        if found.donate:
            donation.protect(found, inputs, arrays)
        if len(arrays) != found.count:
            del arrays[found.count:]           # numbered for an operation that was then refused
        numbers = found.numbers(segment.floats, segment.integers, segment.complexes)
        run, rest = executable.run, found.rest
        if found.donate and tape.Local.threads == 1:            # else copies are written over
            segment.running = running = donation.Run(found, wanted)
            run = partial(running.stage, executable)
        if rest is None:
            outs = run([*numbers, *arrays])
        else:
            outs = begun.results(segment, found)
            if outs is None:
                outs = run([*found.own_numbers(segment), *[arrays[at] for at in found.takes]])
            elif running is not None:
                running.known = outs
            known = outs
            run = rest.run if running is None else partial(running.stage, rest)
            outs = known + run([*numbers, *[arrays[at] if at >= 0 else known[~at] for at in found.later]])
    except jax.errors.JaxRuntimeError as error:
        segment.running = None
        return out_of_memory(error, nodes, wanted, inputs, segment, dict(zip(found.gives, known, strict=False)))
    return outs if found.order is None else [outs[k] for k in found.order]


def _tidy():
    """Frees what XLA has done with, and gives memory back that is free: asked once in a while."""
    compat.let_go()
    malloc.trim()


def _by_bucket(segment, nodes, wanted):
    """A tape that has no program of its own by one that serves others, too, or op by op."""
    if not next(_WITHOUT) & 255:
        _tidy()

    def apart(wanted, known=()):
        return op_by_op(nodes, wanted, segment.inputs, segment, known)
    outs = dynamic.results(segment, nodes, wanted, seen, apart)
    if outs is None:
        return apart(wanted)
    TRIE.count_served(len(nodes))
    return outs


def op_by_op(nodes, wanted, inputs, segment, known=()):
    """Runs the nodes that are needed one at a time. ``known``: {position: array} of what has been made already."""
    return in_turn.run(nodes, wanted, inputs, segment, seen, value_of, known)


def _forced(value):
    value_of(value)
    return value


# -- failures ---------------------------------------------------------------------------------------------------------

def out_of_memory(error, nodes, wanted, inputs, segment, known):
    """A fused program that does not fit is run op by op, which needs less at a time; what fails then is reported as PyTorch does.

    ``known``: what its first stage has made, whose inputs it may have written over.
    """
    if not compat.is_out_of_memory(error):
        raise error
    REPORT.failed(error)
    return op_by_op(nodes, wanted, inputs, segment, known)


def over_cap():
    flush("eager" if LOCAL.eager else CAP)
    LOCAL.segment.mark = 0              # what is called next is called by a model, or it is a loop


tape.over_cap = over_cap
