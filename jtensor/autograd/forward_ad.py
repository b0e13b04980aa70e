"""`torch.autograd.forward_ad`: tensors that carry a tangent through everything that is computed of them, while a level is open.

Owns: the level of this thread. How a tensor has a tangent: `ops.tangents`, `tensor.lifted.duals`.
"""
import weakref
from typing import NamedTuple

from ..trace.tape import LOCAL

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
_FIRST = 0


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` answers: ``primal``, and ``tangent`` or None."""

    primal: object
    tangent: object


UnpackedDualTensor.__module__ = "torch.autograd.forward_ad"


def _level():
    return getattr(LOCAL, "dual", None)


def enter_dual_level():
    """Opens a level, inside of which tensors may have tangents, and answers its number. ``RuntimeError`` inside of another.

    >>> torch.autograd.forward_ad.enter_dual_level(), torch.autograd.forward_ad.exit_dual_level()
    (0, None)
    """
    from ..ops.tangents import Dual
    from ..tensor.lifted.levels import begin
    if _level() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    LOCAL.dual = Dual(plain=True)
    begin(LOCAL.dual)
    return _FIRST


def exit_dual_level(*, level=None):
    """Closes the level: tensors lose their tangents."""
    from ..tensor.lifted.levels import end
    if _level() is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level is not None and level != _FIRST:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    end(LOCAL.dual)
    LOCAL.dual.closed, LOCAL.dual = True, None


def make_dual(tensor, tangent, *, level=None):
    """A tensor with that tangent. ``ValueError`` for integers, ``RuntimeError`` where no level is open or the sizes differ.

    >>> with torch.autograd.forward_ad.dual_level():
    ...     x = torch.autograd.forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     torch.autograd.forward_ad.unpack_dual(x * x).tangent
    tensor(6.)
    """
    from ..tensor.lifted.duals import made_dual
    if _level() is None or (level is not None and level < 0):
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for what, given in (("primal", tensor), ("tangent", tangent)):
        if not (given.is_floating_point() or given.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {given.dtype}")
    made = made_dual(_level(), tensor, tangent)
    if not (tangent.requires_grad or tangent.is_inference()) and tangent.dtype is tensor.dtype:
        _GIVEN[made._storage.value] = tangent, tangent._version
    return made


_GIVEN = weakref.WeakKeyDictionary()       # {a value with a tangent: the tensor that this was, and its version then}


def unpack_dual(tensor, *, level=None):
    """A tensor without its tangent, and the tangent, None where it has none: an `UnpackedDualTensor`."""
    from ..tensor.lifted.duals import primal_of, tangent_of
    found = _level()
    if found is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    if not hasattr(tensor, "_storage"):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    given, version = _GIVEN.get(tensor._storage.value, (None, None)) if not LOCAL.levels or len(LOCAL.levels) == 1 else (None, None)
    if given is None or given._version != version or given.shape != tensor.shape:         # something has been written to one of them
        given = tangent_of(found, tensor)
    return UnpackedDualTensor(primal_of(found, tensor), given)


class dual_level:
    """The level as a context manager: `enter_dual_level` and `exit_dual_level`."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


def __getattr__(name):
    if name == "_current_level":                               # which libraries look at: of this thread, -1 where none is open
        return -1 if _level() is None else _FIRST
    raise AttributeError(f"module 'jtensor.autograd.forward_ad' has no attribute '{name}'")
