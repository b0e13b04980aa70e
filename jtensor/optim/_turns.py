"""Optimizers that take turns: which of their steps ends the tape.

Each step ends the tape by itself, so that the device begins at once and each iteration is the same tape. Where another optimizer's step
always comes next (a discriminator's and a generator's, an actor's and a critic's), the tape goes on to that: one program runs in less
time than two, and hands less over. That is learnt from the order of steps alone; no number depends on it. In the first round nothing has
been learnt, and two programs would be compiled that never come again: there it is assumed that whoever was made and has not stepped yet
comes next, until that was wrong once. Where the same one steps again instead, the tape runs as two (`Segment.turn`). Owns: this order. May
not know: what a step records, what runs when.
"""
import threading
import weakref

from ..trace.tape import LOCAL

MOST, LOSS = 8, 4        # a step that did not come next, or came after somebody had looked, counts as much as LOSS that did; both ways no
                         # more than MOST of them are remembered


class _Turns(threading.local):
    """``last``: a reference to the optimizer that stepped last in this thread; ``tape``: one to the tape that it left open, or None;
    ``end``: how far that had come, and where the step began on it."""

    last = tape = end = None


_TURNS = _Turns()
NEW = weakref.WeakSet()     # optimizers that have not stepped yet
GUESS = {"right": True}     # whether the first step of one was never followed by its second while others had not stepped


def goes_on(optimizer):
    """Whether the tape goes on after this step, because another optimizer's is next. To be asked once at the end of each step."""
    turns, segment = _TURNS, LOCAL.segment
    before = None if turns.last is None else turns.last()
    if before is not None:
        left_open = turns.tape is not None
        if before is optimizer and left_open:
            if before._credit <= 0:
                GUESS["right"] = False
            if turns.tape() is segment and 0 < turns.end[0] < len(segment.nodes):
                segment.turn = turns.end
        if before is optimizer or left_open and turns.tape() is not segment:
            before._credit = max(before._credit - LOSS, -MOST)
        elif not _leads(optimizer, before):
            if before._follower is None or before._follower() is not optimizer:
                before._follower, before._credit = weakref.ref(optimizer), min(before._credit, 0)
            before._credit = min(before._credit + 1, MOST)
    if before is not optimizer:
        turns.last = weakref.ref(optimizer)
    open_ = optimizer._credit > 0 and optimizer._follower() is not None
    if not optimizer._has_stepped:
        optimizer._has_stepped = True
        NEW.discard(optimizer)
        open_ = open_ or GUESS["right"] and len(NEW) > 0
    turns.tape, turns.end = (weakref.ref(segment), (len(segment.nodes), segment.update)) if open_ else (None, None)
    return open_


def _leads(optimizer, to):
    """Whether the turns that begin with one optimizer come to another: one of them has to end the tape."""
    seen = []
    while optimizer is not to:
        seen.append(optimizer)
        optimizer = None if optimizer._follower is None else optimizer._follower()
        if optimizer is None or optimizer in seen:
            return False
    return True
