"""Settings that PyTorch has at top level: threads, determinism, precision of products, warnings; and, of a thread, denormals.

Each says what it does on this engine. A setting that only permits something faster and less exact is kept and readable, and changes
nothing on a CPU, where the exact way is always taken; one that demands what the engine cannot give says so.
"""
import os
import warnings

from .base import compat, denormals, devices, sites
from .base.background import processors
from .base.determinism import DEMANDED
from .base.errors import missing
from .tensor.creating.create import UNWRITTEN
from .tensor.dispatch import permit_tf32

_state = {"threads": None, "interop": None, "deterministic": 0, "warn_only": False, "fill": True, "precision": "highest",
          "warn_always": False}
_MODES = {"default": 0, "warn": 1, "error": 2}


def _positive(name, value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise RuntimeError(f"{name} expects an int, but got {type(value).__name__}")
    if value <= 0:
        raise RuntimeError(f"{name} expects a positive integer")


def get_num_threads():
    """How many threads share the work of one operation on the CPU."""
    return _state["threads"] or int(os.environ.get("NPROC") or processors())


def set_num_threads(int):
    """Chooses how many threads share the work of one operation on the CPU: before the first tensor is computed.

    XLA's threads start with the first computation; after that the number stays as it is, with a warning. ``RuntimeError`` for anything but
    a positive integer.
    """
    _positive("set_num_threads", int)
    if int == get_num_threads():
        return
    if compat.backend_started():
        warnings.warn(
            f"XLA runs already, with {get_num_threads()} threads, and keeps them: call set_num_threads before anything is computed",
            UserWarning,
            stacklevel=2,
        )
        return
    os.environ["NPROC"] = str(int)             # XLA asks for it when it starts
    _state["threads"] = int


def get_num_interop_threads():
    """How many operations run side by side on the CPU: XLA orders the parts of a program by itself, with the same threads."""
    return _state["interop"] or get_num_threads()


def set_num_interop_threads(int):
    """Kept for `get_num_interop_threads`, and nothing else: XLA runs the parts of a program side by side with the threads that it has.

    ``RuntimeError`` for anything but a positive integer, and where it was chosen before.
    """
    _positive("set_num_interop_threads", int)
    if _state["interop"]:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called")
    _state["interop"] = int


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Demands the same bits from every run: as it is on the CPU.

    On a GPU, XLA's scatters add in any order unless the process was started with ``XLA_FLAGS=--xla_gpu_deterministic_ops=true``; without it
    ``mode=True`` raises ``NotImplementedError``, or warns with ``warn_only``.
    """
    if not isinstance(mode, bool):
        raise TypeError(f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}")
    if not isinstance(warn_only, bool):
        raise TypeError(f"_set_deterministic_algorithms(): argument 'warn_only' must be bool, not {type(warn_only).__name__}")
    set_deterministic_debug_mode((1 if warn_only else 2) if mode else 0)
    _state["warn_only"] = warn_only             # kept where nothing is demanded, too


def are_deterministic_algorithms_enabled():
    """Whether `use_deterministic_algorithms` was asked for."""
    return _state["deterministic"] > 0


def is_deterministic_algorithms_warn_only_enabled():
    """Whether it was asked for with ``warn_only``."""
    return _state["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """The same as a number or a word: 0 "default", 1 "warn", 2 "error"."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
        debug_mode = _MODES[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    if debug_mode and "xla_gpu_deterministic_ops" not in os.environ.get("XLA_FLAGS", "") and devices.accelerators():
        lacking = missing("deterministic scatters on a GPU in this process",
                          "start it with XLA_FLAGS=--xla_gpu_deterministic_ops=true in the environment")
        if debug_mode == 2:
            raise lacking
        warnings.warn(str(lacking), UserWarning, stacklevel=2)
    _state["deterministic"] = DEMANDED[0] = debug_mode
    _state["warn_only"] = debug_mode == 1
    _choose_unwritten()


def fills_uninitialized_memory():
    """Whether memory that nobody has written is filled while `use_deterministic_algorithms` is on (`torch.utils.deterministic`)."""
    return _state["fill"]


def fill_uninitialized_memory(mode):
    """Chooses that. RuntimeError for anything but a bool."""
    if not isinstance(mode, bool):
        raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
    _state["fill"] = mode
    _choose_unwritten()


def _choose_unwritten():
    UNWRITTEN.filled = _state["fill"] and _state["deterministic"] > 0


def get_deterministic_debug_mode():
    """0, 1 or 2, as `set_deterministic_debug_mode` takes it."""
    return _state["deterministic"]


def get_float32_matmul_precision():
    """"highest", "high" or "medium", as set."""
    return _state["precision"]


def set_float32_matmul_precision(precision):
    """Permits less exact products of float32 matrices ("high", "medium"), or not ("highest"). On a GPU they are then TF32's, as with
    ``torch.backends.cuda.matmul.allow_tf32``; on a CPU they are exact all the same.

    >>> import jtensor as torch
    >>> torch.set_float32_matmul_precision("high")
    >>> torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.allow_tf32
    ('high', True)
    >>> torch.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _state["precision"] = precision
    permit_tf32("matmul", precision != "highest")


def set_flush_denormal(mode, /):
    """Switches the mode of the calling thread, and of those that it starts, in which denormal numbers are zeros; False where that cannot
    be done (elsewhere than on Linux on x86-64), and nothing changes.

    As in PyTorch, the mode is the processor's: it reaches Python's and NumPy's numbers and what is shown of a tensor. What is computed on
    a CPU flushes denormal numbers whatever is asked for here (`docs/parity.md` says why). ``RuntimeError`` for anything but a bool.

    >>> import jtensor
    >>> if jtensor.set_flush_denormal(True):
    ...     text = repr(jtensor.tensor([1e-323], dtype=jtensor.float64))
    ...     text, jtensor.set_flush_denormal(False), jtensor.tensor([1e-323], dtype=jtensor.float64)
    ('tensor([0.], dtype=torch.float64)', True, tensor([9.8813e-324], dtype=torch.float64))
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return denormals.flush(mode)


def set_warn_always(b, /):
    """Whether warnings that are given a single time in a process are given each time; Python's `warnings` filters come after that."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _state["warn_always"] = b
    sites.say_always(b)


def is_warn_always_enabled():
    """What `set_warn_always` was told."""
    return _state["warn_always"]


def compiled_with_cxx11_abi():
    """Whether C++ beside this would be compiled with C++11's strings, as PyTorch's always is by now."""
    return True


__all__ = sorted(name for name in globals() if name.split("_")[0] in ("get", "set", "use", "are", "is", "compiled"))
