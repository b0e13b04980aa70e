"""Optimizer steps that came before, put on the tape in one piece (`trace.macros`).

Owns: the key, which names what decides what an update records: the tensors it reads and writes, where they lie on the tape, and what is no
float among its numbers. Floats are handed over anew. What is out of the ordinary has no key, as in `retrace`, and is run as it is. May not
know: the optimizers' arithmetic.
"""
from ...base import sites
from ...trace import macros
from ...trace.report import REPORT
from ...trace.tape import LOCAL
from . import written, written_updates
from .places import Named, place_of


def update(identity, tensors, numbers, run):
    """Runs ``run(numbers)``, which changes some of the tensors in place, from a macro where there is one.

    ``numbers`` is a list of tuples. What ``run`` records must follow from ``identity`` (hashable), the tensors and the numbers, which
    it must use as they are. It makes no other tensors than those and keeps none. Gradients are off.
    """
    floats, others, known = [], [], None
    for given in numbers:
        if given is not known:                      # most parameters have the same ones
            known, mine = given, [n for n in given if type(n) is float]
            rest = None if len(mine) == len(given) else tuple([None if type(n) is float else (type(n), n) for n in given])
        floats += mine
        others.append(rest)
    named, what = Named(), (identity, tuple(others))
    segment = LOCAL.segment
    state = segment.state
    key, again = None, state.macros
    if not (LOCAL.lesson or LOCAL.eager or LOCAL.inference or LOCAL.grad_enabled or state.depth != len(segment.nodes)):
        again = again.get(what) if again is not None else None
        if again is not None and again(segment, tensors, floats):
            REPORT.replayed += 1
            return
        if segment is not LOCAL.segment:        # it had to begin anew
            segment = LOCAL.segment
            state = segment.state
        key = _key(segment, named, what, tensors)
    macro = macros.UNKNOWN if key is None else macros.find(state, key)
    if macro is macros.UNKNOWN or macro is None and len({id(t._storage.value) for t in tensors}) < len(tensors):
        run(numbers)                    # what is learnt is of tensors at places of their own, so that the key tells when two share memory
        return
    cells = [t._storage for t in tensors]
    if macro is not None:
        macro.plays += 1
        if macro.plays == written.AFTER:
            macro.begun[0].macros[what] = written_updates.Update(segment).function(tensors, macro, macro.note)
        macros.play(macro, segment, named, floats, cells)
        _written(tensors, macro.note)
        return
    numbers = [tuple([n * 1.0 if type(n) is float else n for n in given]) for given in numbers]
    versions = [t._counter.version for t in tensors]
    lesson = macros.Lesson(state, named, [n for given in numbers for n in given if type(n) is float], cells)
    named = None
    with lesson:
        run(numbers)
    writes = [(at, t._counter.version - old) for at, (t, old) in enumerate(zip(tensors, versions, strict=True))
               if t._counter.version != old]
    if all(tensors[at]._spec is tensors[at]._storage.spec for at, _ in writes):
        lesson.learn(key, (), writes)


def _written(tensors, note):
    """Counts that tensors were written to in place: ``note`` is (which of them, how many times) of each."""
    site = None
    for at, times in note:
        counter = tensors[at]._counter
        counter.version += times
        if counter.site is not None:
            counter.site = site = site or sites.user_site(3)


def _key(segment, named, identity, tensors):
    key, slots = [identity, macros.counts(segment)], segment.slots
    for tensor in tensors:
        storage, spec, auto = tensor._storage, tensor._spec, tensor._auto
        if spec is storage.spec:                    # `place_of` without the calls: most tensors are all of their memory
            if storage.host is not None:
                return None
            value = storage.value
            at = value.position if value.segment is segment else slots.get(id(value))
            key.append(named.at(segment, value) if at is None else at)
            named.append(value)
        else:
            lies = place_of(segment, named, storage, spec, tensor._offset, tensor._cached)
            if lies is None:
                return None
            key.append(lies)
        if auto is not None and auto.inference:
            return None
        key.append(spec)
    return tuple(key)
