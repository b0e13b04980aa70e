"""The operations of a tape one at a time, each by its own kernel or by NumPy.

Owns: the walk over the tape. May not know: when tapes run, or why one does without a program.
"""
from numpy import ndarray

from ...base import compat
from .. import scalars
from ..lowering import lower
from . import by_numpy, kernels


def run(nodes, wanted, inputs, segment, seen, value_of, known=()):
    """The arrays of the positions that are ``wanted``: what they need is run, and let go when nothing needs it any more.

    ``seen``, ``value_of``: the executor's, an input as it lies and on its device; ``known``: {position: array} of what has been made.
    """
    live = lower.needed(nodes, wanted, known)
    last = {}
    for at, node in enumerate(nodes):
        if live[at]:
            for p in node[1]:
                last[p] = at
    for p in wanted:
        last[p] = len(nodes)
    for node, here in zip(nodes, live, strict=True):
        if here and node[0].kernel is None and node[0].by_numpy is None:
            kernels.begin(node[0])
    results, position = dict(known), 0
    for at, ((plan, positions, taken, _), here) in enumerate(zip(nodes, live, strict=True)):
        if here:
            outs, hand = None, by_numpy.of(plan)
            if hand is not None:
                outs = hand.done([results[p] if p >= 0 else seen(inputs[~p]) for p in positions],
                                 scalars.taken(taken, segment))
            if outs is None:
                kernel = kernels.kernel_of(plan)
                arguments = [results[p] if p >= 0 else value_of(inputs[~p]) for p in positions]
                arguments = [compat.put(x, kernel.device) if x.__class__ is ndarray else x for x in arguments]
                for kind, number in scalars.taken(taken, segment):
                    arguments.append(scalars.number(kind, number, kernel.device))
                outs = kernel.run([scalars.zero(kernel.device), *arguments])
            for array in outs:
                results[position] = array
                position += 1
            for p in positions:
                if p >= 0 and last[p] == at:
                    results.pop(p, None)
        else:
            position += len(plan.outputs)
    return [results[p] for p in wanted]
