"""Python's cyclic garbage collector, spared what can never be garbage: the modules that are there when this package has been imported.

A full collection walks every object of the process, and some 200,000 of them are JAX's and this package's own, which live as long as
it does. A graph of a few thousand nodes that grows and goes at every training step makes full collections frequent: a fifth of such
a step was spent on that walk. Owns: `settle`, one call of `gc.freeze`. The collector stays on. The price: what the user had made before,
and is in a cycle, is not collected either. It changes the user's process, so it is reported, and ``JTENSOR_GC=0`` leaves it alone.

>>> isinstance(explain(), str)
True
"""
import gc

from . import switches

_done = None


def settle():
    """Takes all objects there are out of the collector's walks; called at the end of the import. Costs nothing: lists are joined."""
    global _done
    if not switches.is_on("JTENSOR_GC", True):
        _done = "left alone: JTENSOR_GC=0"
    else:
        gc.freeze()
        _done = "{} objects of the import are not walked (gc.freeze; JTENSOR_GC=0 leaves it alone)"


def explain():
    """What `settle` did, for `jtensor.report()`."""
    return _done.format(gc.get_freeze_count()) if _done else "not asked yet"        # to count them takes a hundredth of a second
