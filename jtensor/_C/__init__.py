"""The few names of ``torch._C`` that programs and PyTorch's pickles use: types, and what switches ``__torch_function__`` off."""
import importlib as _importlib

import jtensor as _jtensor

from ..autograd.engine import current_task as _current_task
from ..autograd.mode import _set_grad_enabled  # noqa: F401
from ..base.below import STATE as _below
from ..base.devices import device
from ..base.dtypes import dtype  # noqa: F401
from ..base.errors import _LinAlgError  # noqa: F401
from ..base.errors import missing as _missing
from ..base.size import Size  # noqa: F401
from ..random.generator import Generator  # noqa: F401
from ..tensor.calling import overriding as _overriding
from ..tensor.core import Tensor as TensorBase  # noqa: F401
from ..tensor.core import Tensor as _TensorBase  # noqa: F401
from ..tensor.core import TensorMeta as _TensorMeta  # noqa: F401
from ..tensor.lifted.levels import open_levels as _open_levels
from ..tensor.memory.storage_types import StorageBase  # noqa: F401


class Graph:
    """A program of TorchScript. To be named alone: there is no instance."""

    def __new__(cls, *args, **kwargs):
        raise _missing("TorchScript (torch._C.Graph)", "the same code without torch.jit")


class Value(Graph):
    """A value in a program of TorchScript. To be named alone: there is no instance."""


class PyTorchFileReader:
    """Reads the records of a file of `torch.save`. To be named alone: there is no instance."""

    __module__ = "torch"

    def __new__(cls, *args, **kwargs):
        raise _missing("PyTorch's reader of single records (torch.PyTorchFileReader)", "torch.load, or Python's zipfile")


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


class _DisableTorchDispatch:
    """No class and no mode is asked below autograd, for as long as this object lives, or until the context ends that it manages."""

    __slots__ = ("_before",)
    __module__ = "torch._C"

    def __init__(self):
        self._before = _below.modes, _below.silent
        _below.modes, _below.silent = [], True

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        if self._before is not None:
            (_below.modes, _below.silent), self._before = self._before, None

    __del__ = __exit__


def __getattr__(name):
    if name in ("_nn", "_functorch", "_distributed_c10d"):          # they load rooms that not every script needs
        return _importlib.import_module(f"{__package__}.{name}")
    if name in ("DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard"):
        return getattr(_importlib.import_module(f"{__package__}.dispatching"), name)
    if name in ("FileCheck", "parse_schema", "FunctionSchema", "Argument"):
        return getattr(_jtensor, name)
    if name == "_AliasInfo":
        return _importlib.import_module("jtensor.jit.schema_objects")._AliasInfo
    raise AttributeError(f"module 'jtensor._C' has no attribute '{name}'")


_GLIBCXX_USE_CXX11_ABI = True
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


def _log_api_usage_once(event):
    """Counts uses of an interface, in builds of PyTorch that report them: not in those that are given away, and not here."""


def _get_tracing_state():
    """What TorchScript is tracing: nothing, ever."""
    return None


def _is_tracing():
    """Whether TorchScript is tracing: never."""
    return False


def _current_graph_task_id():
    """The number of the backward that runs on this thread now, -1 outside of one."""
    task = _current_task()
    return -1 if task is None else task.number


def _are_functorch_transforms_active():
    """Whether a function of `torch.func` runs that has values which cannot be looked at: `grad` here has none such."""
    return bool(_open_levels())


def _get_default_device():
    return str(_jtensor.get_default_device())


def _get_accelerator(check=False):
    found = _jtensor.accelerator.current_accelerator() if _jtensor.accelerator.is_available() else None
    return device("cpu") if found is None else found


def _is_alias_of(first, second, /):
    """Whether two tensors are of one memory."""
    return first._storage is second._storage
