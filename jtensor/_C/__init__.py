"""The few names of ``torch._C`` that programs and PyTorch's pickles use: types, and what switches ``__torch_function__`` off."""
import jtensor as _jtensor

from ..base.devices import device  # noqa: F401
from ..base.dtypes import dtype  # noqa: F401
from ..base.errors import _LinAlgError  # noqa: F401
from ..base.size import Size  # noqa: F401
from ..random.generator import Generator  # noqa: F401
from ..tensor import overriding as _overriding
from ..tensor.core import Tensor as TensorBase  # noqa: F401


class DisableTorchFunctionSubclass(_overriding.switched):
    """Context manager: no class is asked, modes are."""

    __slots__ = ()
    __module__ = "torch._C"

    def __init__(self):
        super().__init__(_overriding.NO_SUBCLASSES)


class DisableTorchFunction(_overriding.switched):
    """Context manager: neither classes nor modes are asked."""

    __slots__ = ()
    __module__ = "torch._C"

    def __init__(self):
        super().__init__(_overriding.ALL_OFF)


_disabled_torch_function_impl = _overriding.disabled


def _is_torch_function_enabled():
    return _overriding.STATE.off is _overriding.ON


def _is_torch_function_all_disabled():
    return _overriding.STATE.off is _overriding.ALL_OFF


def _is_torch_function_mode_enabled():
    return bool(_overriding.STATE.modes) and not _is_torch_function_all_disabled()


def _has_torch_function(arguments, /):
    return _overriding.any_overrides(arguments)


class _Functions:
    """PyTorch's pickles have `torch.sigmoid` as an attribute of the class that holds such functions."""

    def __getattr__(self, name):
        return getattr(_jtensor, name)


_VariableFunctionsClass = _VariableFunctions = _Functions()


# -- switches of TorchScript's compiler, which is not here: they remember what they were told ------------------------

_told = {}


def _switch(name):
    def switch(on, /):
        before, _told[name] = _told.get(name, True), bool(on)
        return before
    switch.__name__ = switch.__qualname__ = name
    return switch


_jit_set_profiling_mode, _jit_set_profiling_executor = _switch("_jit_set_profiling_mode"), _switch("_jit_set_profiling_executor")


def _get_tracing_state():
    """What is being traced: nothing ever."""


def _log_api_usage_once(event, /):
    """PyTorch counts who uses it; nobody counts here."""
