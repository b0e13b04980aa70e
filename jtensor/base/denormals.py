"""The processor's mode in which numbers below the normal ones are zeros, for the calling thread.

Owns: the flags of x86-64's floating-point unit, by the C library's environment of floating-point numbers. May not know: who asks for
the mode, nor what XLA does with it (it sets the mode around its own work, and puts back what it found).

Under the mode, Python's and NumPy's numbers of this thread and of threads that it starts are flushed, too: 1e-310 equals, hashes and is
shown as 0.0. So a text that is made of numbers does not tell such a number from zero.
"""
import ctypes
import functools
import platform
import sys

_FLAGS = 0x8000 | 0x40                  # results that would be denormal are zeros; operands that are denormal count as zeros


class _Environment(ctypes.Structure):
    """``fenv_t`` of Linux on x86-64."""

    _fields_ = [("x87", ctypes.c_uint32 * 7), ("mxcsr", ctypes.c_uint32)]


@functools.cache
def _library():
    """The functions of the C library, or None where the mode cannot be reached so."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "fegetenv") and hasattr(library, "fesetenv") else None


def flushed():
    """Whether this thread has the mode.

    >>> flushed()
    False
    """
    library, environment = _library(), _Environment()
    return library is not None and library.fegetenv(ctypes.byref(environment)) == 0 and environment.mxcsr & _FLAGS != 0


def flush(on):
    """Switches this thread's mode; False where it cannot be.

    >>> as_text = repr(1e-310), flush(True), repr(1e-310), flush(False), repr(1e-310)
    >>> as_text in [("1e-310", True, "0.0", True, "1e-310"), ("1e-310", False, "1e-310", False, "1e-310")]
    True
    """
    library, environment = _library(), _Environment()
    if library is None or library.fegetenv(ctypes.byref(environment)) != 0:
        return False
    environment.mxcsr = environment.mxcsr | _FLAGS if on else environment.mxcsr & ~_FLAGS
    return library.fesetenv(ctypes.byref(environment)) == 0
