"""Where a model begins: what makes its parameters and buffers is run by itself before its first call.

Ones, zeros and masks of its constructors would else stand before the first step, whose tape would be another one than the next step's and
cost a compilation of its own. Owns: which parameters and buffers have been registered since a module was called. May not know: modules.
"""
import weakref

from ...tensor.core import LAYOUTS, Tensor
from ...trace import executor, tape

new = []                # references to them; what is sparse has no values of its own
MOST = 100_000          # of a script that makes modules and calls none


def registered(tensor):
    """A parameter or buffer was."""
    if isinstance(tensor, Tensor) and type(tensor) not in LAYOUTS:
        if len(new) == MOST:
            new.clear()
        new.append(weakref.ref(tensor))


def begin():
    """A module is called."""
    values = [found._storage.value for found in (one() for one in new) if found is not None]
    new.clear()
    segment = tape.LOCAL.segment
    pending = [value.position for value in values if value is not None and value.segment is segment and value.position is not tape.LIFTED]
    if pending:
        executor.run_until(max(pending), "parameters")
