"""Which program a closed tape runs as: one that is known, one that is compiled now or beside its run, or none, and then it runs op by op.

Owns: the programs that are being made, and that who waits for one does so at the same run every time. May not know: how a program is run,
what is worth one (`tiers`), how it is made (`programs`).
"""
import jax

from . import donation, programs, scalars, tape, tiers
from .op_by_op import by_numpy
from .programs import Program
from .report import REPORT
from .tape import TRIE
from .tiers import PAST

# (state, (wanted, asked)): a program that is being made, while the tape runs op by op or waits its turn, and of which kinds the tape is
_coming = {}
COMING_AT_ONCE = 64
WORTH_A_THREAD = 8                 # nodes from which on a tape whose kernels are all there is compiled beside its run


def choose(segment, nodes, state, wanted, inputs, asked, later=False):
    """The program for a tape that has none for these wanted values, or None: op by op.

    ``later``: it will be asked for again when the tape is run; until then the program is made in the background.
    """
    key = wanted, asked
    if state.programs is None:
        state.programs = TRIE.programs(nodes) if len(nodes) > 1 else {}
    found = state.programs.get(key)
    if found is not None:
        return found if found.executable is not None else None
    for found in state.programs.values():
        if found.executable is not None and set(wanted).issubset(found.gives):
            found.served += 1
            found = state.programs[key] = found.giving(wanted)
            return found
    coming, kinds = _coming.pop((state, key), (None, ()))
    if coming is None:
        plans = {node[0] for node in nodes}
        missing = [plan for plan in plans if plan.kernel is None and not by_numpy.has_done(plan)]
        gpu = nodes[0][0].outputs[0].device.type == "cuda"
        worth = tiers.worth_a_program(len(nodes), plans, missing, state.sightings + later, bool(state.cut), gpu)
        cheaper = worth and not gpu and state.sightings < tiers.TIMES and (       # op by op
            tiers.is_ragged(nodes, segment.update) or tiers.is_irregular(nodes))
        worth = worth and not cheaper
        first = state.sightings + later == 1
        kinds = tiers.kinds(nodes, segment.update) if worth and not (state.cut or gpu) and state.sightings < tiers.PATIENT else ()
        varies = bool(kinds) and PAST.varies(kinds, state)
        worth = worth and not varies
        if not worth and not (first and (varies or cheaper or PAST.in_vain(len(nodes)))):
            return None
        counts = scalars.counts(segment.floats, segment.integers, segment.complexes)
        del inputs[tape.reach(nodes):]              # in place: references are counted below
        donate = donation.donatable(inputs, nodes, wanted)
        avals = [v.aval for v in inputs]

        def compile_it(stored=False):
            return programs.build(nodes, wanted, asked, avals, counts, donate, state.cut, stored)
        if not worth:                               # but an earlier process may have kept one
            found = compile_it(stored=True)
            return kept(*found, state, key, len(nodes)) if found is not None else None
        if later or not missing and len(nodes) >= WORTH_A_THREAD:
            if len(_coming) >= COMING_AT_ONCE:             # tapes that have not come again are given up
                _coming.pop(next(iter(_coming)))[0].cancel()
            _coming[state, key] = programs.COMPILER.submit(compile_it, int(later), name="program"), kinds
            return None
        coming = programs.COMPILER.submit(compile_it, 1, name="program")
    return compiled(coming, state, key, len(nodes), kinds)


def compiled(coming, state, key, count, kinds=()):
    """The program of a compilation that was asked for; waits for it, so that which tier serves never depends on the clock."""
    try:
        found, origins = coming.result()
    except jax.errors.JaxRuntimeError as error:
        REPORT.failed(error)
        state.programs[key] = Program(None, key[0], key[0])
        return None
    if state.sightings == 1 and set(origins) != {"shared"}:
        PAST.add(found, count, state.cut)
    for kind in kinds:
        PAST.add_kind(found, kind)
    return kept(found, origins, state, key, count)


def kept(found, origins, state, key, count):
    """The program that a tape has got from now on."""
    for origin in origins:
        REPORT.program(origin, count, found.fences, state)
    state.programs[key] = found
    return found
