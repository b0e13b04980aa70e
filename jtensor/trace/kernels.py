"""One operation by itself: its kernel, compiled or loaded once, or what does without.

Owns: which operations keep their kernels. May not know: tapes longer than one operation, when they run.
"""
import collections
import threading

from . import by_numpy, interpret, lower
from .hand import Hand
from .programs import Program
from .report import REPORT

_lock = threading.RLock()
_with_kernels = collections.deque()         # plans, those first whose kernels are the oldest
KEPT = 1024                                 # kernels: a quarter of a megabyte each, and where shapes always change hardly one comes again


def single(plan, state, key):
    """A tape of one node runs by the kernel of its operation, or without one: by Python, or by NumPy."""
    if plan.by_hand is None:
        plan.by_hand = interpret.by_hand(plan) or False
    if state.programs is None:
        state.programs = {}
    found = state.programs[key] = Program(None, tuple(range(len(plan.outputs))), key[0], single=True)
    if not plan.by_hand:
        found.by_hand = by_numpy.of(plan)
        if found.by_hand is None:
            found.executable = kernel_of(plan)
    else:
        found.by_hand = Hand(plan)
        if key == ((0,), 0) and len(plan.outputs) == 1:
            state.hand = found.by_hand
    return found


def kernel_of(plan):
    """The kernel of one operation, compiled or loaded once."""
    kernel = plan.kernel
    if kernel is None:
        with _lock:
            kernel = plan.kernel
            if kernel is None:
                kernel, origin = lower.kernel(plan)
                plan.kernel = kernel
                _with_kernels.append(plan)
                if len(_with_kernels) > KEPT:
                    _with_kernels.popleft().kernel = None           # whoever runs it now holds it
                REPORT.kernel(origin)
    return kernel
