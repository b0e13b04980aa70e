"""One operation by itself: its kernel, compiled or loaded once, or what does without.

Owns: which operations keep their kernels. May not know: tapes longer than one operation, when they run.
"""
from ..lowering import lower
from ..programs import Program
from . import by_numpy, interpret
from .hand import Hand
from .kept import Kept


def _forgotten(plan):
    plan.kernel = None                      # whoever runs it now holds it


KERNELS = Kept(1024, _forgotten)            # by plan; a quarter of a megabyte each, and where shapes always change hardly one comes again


def single(plan, state, key, keep):
    """A tape of one node runs by the kernel of its operation, or without one: by Python, or by NumPy. ``keep``: from now on."""
    if plan.by_hand is None:
        plan.by_hand = interpret.by_hand(plan) or False
    if state.programs is None:
        state.programs = {}
    found = Program(None, tuple(range(len(plan.outputs))), key[0], single=True)
    if keep:
        state.programs[key] = found
    if not plan.by_hand:
        found.by_hand = by_numpy.of(plan)
        if found.by_hand is None:
            found.executable = kernel_of(plan)
    else:
        found.by_hand = Hand(plan)
        if key == ((0,), 0) and len(plan.outputs) == 1:
            state.hand = found.by_hand
    return found


def begin(plan):
    """Has another thread make what the operation by itself is going to need, and has nobody made before."""
    if plan.kernel is None and by_numpy.of(plan) is None:
        KERNELS.begin(plan, lambda: lower.kernel(plan))


def kernel_of(plan):
    """The kernel of one operation, compiled or loaded once."""
    kernel = plan.kernel
    if kernel is None:
        kernel = plan.kernel = KERNELS.get(plan, lambda: lower.kernel(plan))
    return kernel
