"""Anomaly detection: names the forward operation whose backward failed or gave NaN.

While it is on, a node's sequence number carries the traceback of its birth (`Traced`), so that nodes cost nothing more while it is off: the
rooms that make nodes take their numbers from a function which this room exchanges in them. May not know: tensors.
"""
import sys
import traceback
import warnings

from ..base import sites
from ..base.naming import type_name
from ..trace.tape import LOCAL
from . import graph

ON = _state = {"on": False, "check_nan": True, "walks": False}
_walkers = set()                # who wants backward passes to be walked node by node, and not played from what was recorded before
_numbering = [graph]            # the modules whose ``sequence`` numbers new nodes
_plain = graph.sequence


_whole = [lambda gradient: gradient]


def sees_whole(function):
    """Declares what makes one tensor of a gradient that stands for many arrays: their numbers are looked at together."""
    _whole[0] = function


def numbers_nodes(module):
    """Declares a module that makes nodes and numbers them with its global ``sequence``."""
    _numbering.append(module)


class Traced(int):
    """A sequence number that remembers the user's frames when the node was made, and the node whose backward made it."""

    def __new__(cls):
        self = int.__new__(cls, _plain())
        self.frames, self.parent = _user_frames(), getattr(LOCAL, "evaluating", None)
        return self


def _user_frames():
    found, frame = [], sys._getframe(2)
    while frame is not None:
        if not sites.inside(frame.f_code):
            found.append((frame, frame.f_lineno))
        elif _starts_the_program(frame.f_back):
            break
        frame = frame.f_back
    return "".join(traceback.StackSummary.extract(reversed(found), lookup_lines=False).format())


def _starts_the_program(frame):
    """Whether there is nothing beyond this frame but how `python -m` started the library, which then runs the user's script."""
    while frame is not None and frame.f_code.co_filename == "<frozen runpy>":
        frame = frame.f_back
    return frame is None


def walk_nodes(who, wanted):
    """Has backward passes walked node by node while ``who`` or somebody else wants it."""
    (_walkers.add if wanted else _walkers.discard)(who)
    _state["walks"] = bool(_walkers)


def _switch(on, check_nan):
    _state.update(on=on, check_nan=check_nan)
    walk_nodes("anomaly", on)
    for module in _numbering:
        module.sequence = Traced if on else _plain


def enabled():
    """Whether anomaly detection is on."""
    return _state["on"]


def set_enabled(enabled, check_nan=True):
    """Switches anomaly detection on or off, and whether it looks for NaN. ``TypeError`` for what is no bool."""
    for place, (name, given) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(given, bool):
            raise TypeError(f"set_anomaly_enabled(): argument '{name}' (position {place}) must be bool, not {type_name(type(given))}")
    _switch(enabled, check_nan)


def check_nan_enabled():
    """Whether anomaly detection looks for NaN in gradients, where it is on."""
    return _state["check_nan"]


def _has_nan(grad):
    found = grad.isnan()
    return _whole[0](found._values() if found.is_sparse else found).any().item()


def apply(node, arrived):
    """``node.apply(arrived)``; what fails is named by a warning with the traceback of the forward operation."""
    previous = getattr(LOCAL, "evaluating", None)
    LOCAL.evaluating = node.name(), node.sequence
    try:
        answers = node.apply(arrived)
        if _state["check_nan"]:
            for at, grad in enumerate(answers):
                if grad is not None and grad.dtype.differentiable and _has_nan(grad):
                    raise RuntimeError(f"Function '{node.name()}' returned nan values in its {at}th output.")
        return answers
    except Exception:
        try:
            _warn(node.name(), node.sequence)
        except Warning as warning:              # one that the user's filters make an error is printed: what failed is more to the point
            traceback.print_exception(warning)
        raise
    finally:
        LOCAL.evaluating = previous


def _warn(name, number):
    if not isinstance(number, Traced):
        sites.warn(f"Error detected in {name}. No forward pass information available. Enable detect anomaly during forward pass for more "
                   "information.")
        return
    sites.warn(f"Error detected in {name}. Traceback of forward call that caused the error:\n{number.frames}")
    while number.parent is not None:
        name, number = number.parent
        if not isinstance(number, Traced):
            sites.warn(f"\n\nPrevious calculation was induced by {name}. No forward pass information available.")
            return
        sites.warn(f"\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced the previous calculation:\n"
                   f"{number.frames}")


class set_detect_anomaly:
    """Switches anomaly detection on or off; as a context manager it restores the mode at the end.

    >>> with torch.autograd.set_detect_anomaly(True, check_nan=False):
    ...     torch.is_anomaly_enabled()
    True
    """

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, mode, check_nan=True):
        self.previous = dict(_state)
        set_enabled(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _switch(self.previous["on"], self.previous["check_nan"])


class detect_anomaly:
    """Context manager: a failing backward shows the traceback of its forward operation, and a NaN gradient raises."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
                      stacklevel=2)

    def __enter__(self):
        self.previous = dict(_state)
        set_enabled(True, self.check_nan)

    def __exit__(self, *exc):
        _switch(self.previous["on"], self.previous["check_nan"])
