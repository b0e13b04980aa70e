"""Who is asked for an operator below autograd: the innermost mode, then the classes of arguments, a subclass before its parents.

While a handler runs, autograd does not hear of what it calls, and a mode is out. Owns: that order, the errors when nobody answers, what a
handler's own call of an operator comes to. May not know: how the engine is made to ask (`entries`).
"""
import weakref

from ..base.below import STATE, Layer
from ..tensor.calling import overriding
from ..tensor.core import Tensor
from ..trace.tape import LOCAL
from . import schemas

ALIVE = weakref.WeakSet()                # the wrappers that there are
HOLDERS = set()                          # those of the classes below that have tensors which are no wrappers
CLASSES = set()                          # the classes with a `__torch_dispatch__` of which there have been tensors


class below:
    """Context manager: what is called within, a handler calls."""

    __slots__ = ("before",)

    def __enter__(self):
        self.before = STATE.below, STATE.kernel, LOCAL.grad_enabled
        STATE.below, STATE.kernel, LOCAL.grad_enabled = True, False, False

    def __exit__(self, *exc):
        STATE.below, STATE.kernel, LOCAL.grad_enabled = self.before


class kernel:
    """Context manager: what is called within is an operator's own affair."""

    __slots__ = ("before",)

    def __enter__(self):
        self.before, STATE.kernel = STATE.kernel, True

    def __exit__(self, *exc):
        STATE.kernel = self.before


def tensors_of(args, kwargs):
    """The tensors among the arguments of a call, those in lists, too."""
    for one in overriding.spread((*args, *kwargs.values())) if kwargs else overriding.spread(args):
        if isinstance(one, Tensor):
            yield one


def asked_of(args, kwargs):
    """The arguments whose classes are asked."""
    asked = []
    if CLASSES and not STATE.silent:
        for one in tensors_of(args, kwargs):
            if type(one) in CLASSES:
                overriding.join(asked, one)
    return asked


def is_asked(args, kwargs):
    """Whether a call with these arguments is anybody's business."""
    return bool(STATE.modes) or bool(CLASSES) and not STATE.silent and any(type(one) in CLASSES for one in tensors_of(args, kwargs))


def ask(func, args, kwargs):
    """What the modes and classes answer for an operator; what it computes where there are none."""
    asked = asked_of(args, kwargs)
    if not asked and not STATE.modes:
        return run(func, args, kwargs)
    kinds, mode = tuple(map(type, asked)), None
    with below():
        if STATE.modes:
            with overriding.innermost(STATE.modes) as mode:
                answer = mode.__torch_dispatch__(func, kinds, args, kwargs)
            if answer is not NotImplemented:
                return answer
        for one in asked:
            answer = one.__torch_dispatch__(func, kinds, args, kwargs)
            if answer is not NotImplemented:
                return answer
    shown = f"  - mode object {mode!r}\n" if mode is not None else ""
    classes = "".join([f"  - tensor subclass {type(one)!r}\n" for one in asked])
    raise TypeError(f"Multiple dispatch failed for 'torch._ops.{func}'; all __torch_dispatch__ handlers returned NotImplemented:\n\n{shown}"
                    f"{classes}\nFor more information, try re-running with TORCH_LOGS=not_implemented")


def run(func, args, kwargs):
    """An operator's own computation; of one that is made of others, these are asked for in turn."""
    definition = func._definition
    if func.namespace == "aten" and not schemas.is_below(func):
        return definition(args, kwargs)
    with kernel():
        made = definition(args, kwargs)
    for one in made if isinstance(made, (tuple, list)) else (made,):
        if isinstance(one, Tensor) and one._info is not None and one._info.creation == "no_grad":
            one._info.differentiable = False                      # autograd has not heard of the view as yet
    return made


def again(func, args, kwargs):
    """A handler's call of an operator. Several results are a plain tuple here, and get their names once the handlers have answered."""
    made = ask(func, args, kwargs) if schemas.is_below(func) else func._definition(args, kwargs)
    return tuple(made) if isinstance(made, tuple) else made


Layer.again = again
