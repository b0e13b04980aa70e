"""Where a model begins: what stands on the tape before its first call is run by itself.

What its constructors left there and how the data was made would else stand before the first step, whose tape would be another one than the
next step's and cost a compilation of its own. Owns: whether a parameter or buffer has been registered since a module was called. May not
know: modules.
"""
from ...trace import executor, tape

new = []                # not empty if one has been


def registered(before, tensor):
    """A parameter or buffer was, under a name that had ``before``. One that replaces another is a step's work, not a constructor's."""
    if not new and before is None and tensor is not None:
        new.append(True)


def begin():
    """A module is called."""
    new.clear()
    if tape.LOCAL.segment.nodes:
        executor.flush("parameters")
