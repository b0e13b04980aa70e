"""The call by which the user came in, asked of the stack when something is made for the first time.

A call that succeeds is not looked at: numbers of a wrong type (``x.transpose(0, 1.0)``, ``keepdim=0``) would be taken by whatever they
reach, since Python's arithmetic takes them. So when a plan or a view's geometry is made, which is once for each kind of call, the public
function that the user has called is found on the stack, and `refusals` asked whether PyTorch's parser would have taken its arguments.
Functions that this package calls itself are not asked about. Owns: finding it, and which kinds of calls were in order. May not know: what
is made.
"""
import sys

from ...base import sites
from ...base.size import Size
from ..core import Tensor
from . import asking
from .overriding import is_overridable

ASKING = asking.__file__
_in_order = set()
_LISTS = frozenset((tuple, list, Size))
_PLAIN = frozenset((bool, float, str, type(None)))


def kind(given):
    """What of an argument decides whether the parser takes it."""
    cls = type(given)
    if cls is int:
        return cls if -(1 << 63) <= given < 1 << 63 else "large"
    if cls in _PLAIN:
        return cls
    if cls in _LISTS:
        return (cls, *[kind(one) for one in given[:16]])
    if isinstance(given, Tensor):
        return (Tensor, given._spec.numel == 1 and (given._spec.ndim == 0, given._spec.dtype, given.requires_grad))
    return cls


def refuse_entry():
    """Raises PyTorch's refusal of the user's call that has led here, if its parser would not have taken it."""
    frames = [sys._getframe(1)]
    while (above := frames[-1].f_back) is not None and sites.inside(above.f_code):
        frames.append(above)
    if above is None:
        return
    frame = frames.pop()
    while frames and (is_overridable(frame.f_code) or frame.f_code.co_filename == ASKING):     # whose classes have been asked
        frame = frames.pop()
    local, code = frame.f_locals, frame.f_code
    passed_on = code in PASSING_ON
    form = (local["function"].__globals__ if passed_on else frame.f_globals).get("_form")
    if form is None or frames and frames[-1].f_code.co_name == "odd_call":         # which has asked, or put it in order
        return
    if passed_on:
        args, kwargs = list(local["args"]), local["kwargs"]
    elif code.co_filename == "<jtensor function>":
        args, kwargs = form.of_frame(frame)
    else:
        return
    kinds = (form.name, *map(kind, args), *kwargs, *map(kind, kwargs.values()))
    if kinds in _in_order:
        return
    refused = form.refusal(args, kwargs)
    if refused is not None:
        if passed_on or form.refusal(*form.of_frame(frame, by_name=True)) is not None:        # of ``f(**d)`` the code does not tell
            raise refused
    if len(_in_order) > 50_000:
        _in_order.clear()
    _in_order.add(kinds)


PASSING_ON = set()              # codes of functions (*args, **kwargs) that hand a call on to ``function`` as it was written


def refuse_odd(args):
    """`refuse_entry`, where the arguments of a view are not just ints and tuples of ints."""
    for given in args:
        if given.__class__ is not int and (given.__class__ is not tuple or any(one.__class__ is not int for one in given)):
            return refuse_entry()
