"""`torch._check` and its kin: what is raised where a condition does not hold. Owns: these functions. May not know: tensors' insides."""
import builtins

import jtensor

from .base import sites
from .tensor.calling import overriding

_UNSAID = ("Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to "
           "PyTorch.)")


def _check_with(error_type, cond, message):
    """Raises an ``error_type`` with what ``message()`` answers, unless ``cond``, a truth value, is True."""
    if not isinstance(cond, builtins.bool | jtensor.SymBool):
        if isinstance(cond, jtensor.Tensor):
            raise TypeError("cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert that "
                            "all elements are true.")
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if not issubclass(error_type, Exception):
        raise TypeError(f"error_type must be a class of exceptions, but got {error_type}")
    raise error_type(_said(message))


def _said(message):
    if message is None:
        return _UNSAID
    if not callable(message):
        raise TypeError("message must be a callable")
    return str(message())


def _check(cond, message=None):
    """`_check_with` a RuntimeError."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    """`_check_with` an IndexError."""
    _check_with(IndexError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    """`_check` that a number can be a size, and is not greater than ``max``."""
    sites.warn("_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious. Use "
               "_check(i >= 0) instead.", FutureWarning)
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_value(cond, message=None):
    """`_check_with` a ValueError."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    """`_check_with` a TypeError."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    """`_check_with` a NotImplementedError."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all_with(error_type, cond, message=None):
    """Raises an ``error_type`` with what ``message()`` answers, unless all of ``cond``, a tensor of truth values, is True."""
    if not isinstance(cond, jtensor.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not jtensor.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, cond.all().item(), message)


def _check_tensor_all(cond, message=None):
    """`_check_tensor_all_with` a RuntimeError."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition, message):
    """Python's ``assert`` as a function."""
    if type(condition) is not bool and overriding.any_overrides((condition,)):
        return overriding.handle(_assert, (condition,), (condition, message), {})
    assert condition, message


def _assert_async(self, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    """Raises a RuntimeError unless the one element of a tensor is other than zero: at once, a program here looks at it and waits."""
    if not self:
        raise RuntimeError(assert_msg)
