"""Code that Python runs in the midst of recording: finalizers that the garbage collector calls, handlers of signals.

A collection may begin wherever an object is made, a handler runs between two of Python's instructions; both may operate on tensors while
an operation of this thread is half recorded. A collection says that it begins, so what runs in it records on a tape of its own, an
*aside*. A handler does not: it records on the thread's tape, for which recorders put an operation there in one go, after all that could
be interrupted (`tape.append`). Only one that looks at a value would run the tape beneath the operation. It finds the interrupted frame on
the stack, and leaves that tape to the operation: what lives on it is computed, and what is recorded from then on has another one.

Owns: the asides, finding interrupted frames, running a tape that is not the thread's any more. May not know: who reads its values.
"""
import gc
import sys
import threading

from ..base import sites
from ..base.bounded import MANY, Bounded
from . import tape
from .tape import LOCAL, TRIE, Local, Segment

_RECORD = {"trace/tape.py", "trace/executor.py", "trace/macros.py", "tensor/values.py", "tensor/recording/overwriting.py",
           "tensor/replaying/retrace.py", "tensor/replaying/updates.py", "<jtensor recorder>", "<jtensor writer>", "<jtensor backward>",
           "<jtensor graph>"}
_CALL_USERS = {"autograd/engine.py", "autograd/saved.py", "tensor/calling/overriding.py"}
_USERS, _OURS, _CALLS, _RECORDS = range(4)


class _Kinds(Bounded):
    """{name of a file: whose it is, and whether what runs there may be in the midst of recording, or calls what users wrote}."""

    def __missing__(self, name):
        known = sites.room(name) or name
        found = self[name] = _RECORDS if known in _RECORD else _CALLS if known in _CALL_USERS else _OURS if sites.within(name) else _USERS
        return found


_kinds = _Kinds(MANY)


# -- collections ------------------------------------------------------------------------------------------------------

def _collecting(phase, info):
    """Puts the tape of a thread away while the collector runs in it, and an aside in its place."""
    Local.collections += phase == "start"
    if threading.get_ident() not in Local.idents:               # a thread without a tape: to look for it would make one
        return
    local = LOCAL
    if phase == "start":
        local.outside = local.segment, local.lesson
        aside = local.aside
        local.segment = aside if aside.nodes or aside.state is TRIE.root else Segment()
        local.lesson = local.glance = None                      # a finalizer may write to memory that has been looked at
        return
    made = local.segment
    if local.outside is not None:                               # else the thread has got its tape in between
        local.aside = made
        (local.segment, local.lesson), local.outside = local.outside, None
    for value in made.inputs if made.nodes else ():
        if value.segment is local.segment:
            tape.renew(local.segment, value)
        elif value.segment.__class__ is Segment:                # that tape may be about to be done with
            run_for(value.segment, value)


gc.callbacks.append(_collecting)


def keep(segment):
    """Keeps what a tape says before it runs, for values that no node names any more though somebody holds them: the collector gives what it
    has found up for dead before a finalizer may put it into the user's hands. They hold the tape, and nobody else does for long."""
    kept = Segment()
    kept.nodes, kept.inputs = segment.nodes, segment.inputs
    kept.floats, kept.integers, kept.complexes = segment.floats, segment.integers, segment.complexes
    segment.kept = kept                         # at last: another thread may be about to read it


def run_for(segment, value):
    """Set by the executor: computes one value of a tape that is not the thread's."""
    raise RuntimeError("the executor is not installed")


# -- handlers of signals ----------------------------------------------------------------------------------------------

def is_interrupted():
    """Whether `flush` has been asked for in the midst of recording: by a handler, between two instructions of the library."""
    frame, kinds, called = sys._getframe(2), _kinds, True        # the library's frames from here on wait; others may be interrupted
    while frame is not None:
        kind = kinds[frame.f_code.co_filename]
        if kind is _USERS:
            called = False
        elif kind is _CALLS:
            called = True                       # by a hook or an override, for which nothing is half recorded
        elif kind is _RECORDS and not called:
            return True
        frame = frame.f_back
    return False
