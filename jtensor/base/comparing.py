"""Comparing memory byte by byte, as often as the same two arrays are looked at.

Owns: the C library's `memcmp`, which takes half the time of NumPy's `==`: it keeps no array of answers and ends where they differ. May not
know: whose memory it is.
"""
import functools

import numpy as np

MANY = 1 << 20            # bytes from which on other threads may run meanwhile; giving way and coming back costs more than less takes


@functools.cache
def _functions():
    """The C library's function under the interpreter's lock and without it, the types of a pointer and a size; None where there is none."""
    try:
        import ctypes
        found = [library.memcmp for library in (ctypes.PyDLL(None), ctypes.CDLL(None))]
    except (ImportError, OSError, AttributeError, TypeError):           # TypeError: Windows has no library without a name
        return None
    for function in found:
        function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_int
    return *found, ctypes.c_void_p, ctypes.c_size_t


def difference(one, other):
    """A function that says whether two contiguous arrays of as many bytes differ in one of them by now; they must outlive it.

    >>> import numpy as np
    >>> one, other = np.zeros(1000), np.zeros(1000)
    >>> differ = difference(one, other)
    >>> bool(differ())
    False
    >>> other[999] = -0.0                        # equal to 0, but of other bytes
    >>> bool(differ())
    True
    """
    functions = _functions()
    if functions is None:
        one, other = _words(one), _words(other)
        return lambda: (one != other).any()
    held, free, pointer, size = functions
    function = held if one.nbytes < MANY else free
    return functools.partial(function, pointer(one.ctypes.data), pointer(other.ctypes.data), size(one.nbytes))


def _words(array):
    """The bytes of a contiguous array, eight at a time where that comes out even: comparing is three times as quick."""
    flat = array.reshape(-1)
    return flat.view(np.uint64 if flat.nbytes % 8 == 0 else np.uint8)
