"""Modes that are asked below autograd: `TorchDispatchMode`, and what is around it. How is asked: `jtensor.dispatching`."""
import contextlib

from ..base.below import STATE, Layer

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass"]


class TorchDispatchMode:
    """Answers for every operator that runs inside of its ``with``: functions are asked above, operators are what they are made of.

    A subclass has ``__torch_dispatch__(self, func, types, args=(), kwargs=None)``; ``func`` is an overload such as
    ``torch.ops.aten.add.Tensor``. While it is asked it is not in force itself, and autograd does not hear of what it calls: the answer
    gets its history afterwards.

    >>> import jtensor as torch
    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> x, w = torch.ones(2, 3), torch.ones(4, 3)
    >>> with Log():
    ...     y = torch.nn.functional.linear(x, w).relu()
    aten.t.default
    aten.mm.default
    aten.relu.default
    """

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            from ..base.errors import missing
            raise missing("modes of PyTorch's own infrastructure (_dispatch_key)", "TorchDispatchMode()")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """A new mode of the class, to be entered."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        """Whether it is one of PyTorch's own: no."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """The mode that changes nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    Layer.wanted()
    Layer.open()
    STATE.modes.append(mode)


def _pop_mode():
    mode = STATE.modes.pop()
    Layer.close()
    return mode


def _get_current_dispatch_mode():
    """The innermost mode, or None."""
    return STATE.modes[-1] if STATE.modes else None


def _get_current_dispatch_mode_stack():
    return list(STATE.modes)


@contextlib.contextmanager
def _disable_current_modes():
    """Within, no mode that was entered before is asked."""
    before, STATE.modes = STATE.modes, []
    try:
        yield before
    finally:
        STATE.modes = before


def return_and_correct_aliasing(func, args, kwargs, out):
    """What the handler of a class of wrappers answers in the end: ``out``, on the memory of the wrapper that it is a view of, or the
    argument itself that the operator has written to."""
    Layer.wanted()
    return Layer.aliased(func, args, kwargs, out)


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Whether a mode is in force."""
    return bool(STATE.modes)


def is_traceable_wrapper_subclass(t):
    """Whether a tensor holds others and can be taken apart into them: its class says how by ``__tensor_flatten__``."""
    from ..tensor.core import Tensor
    return isinstance(t, Tensor) and type(t) is not Tensor and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
