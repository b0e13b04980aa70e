"""The C allocator's settings, so that a program's buffers are not returned to the system and faulted in again at every step.

Owns: four calls of glibc's `mallopt` and the reasons not to make them. May not know: anything else of this package
but how a switch is written.

By default glibc takes every block above 128 KiB (later up to 32 MiB) from the system and gives it back when it is freed; then half
of a training step can be page faults (17,000 in a small GPT's). Kept instead: blocks come from arenas whatever their size
(`M_MMAP_THRESHOLD`), and what an arena has it keeps (`M_TRIM_THRESHOLD`; and `M_TOP_PAD`, without which a part of one that is
empty goes). There are a few arenas (`M_ARENA_MAX`): with a single one the script's thread and XLA's wait for each other, a tenth of
a small step on two processors and a third of a program's compiling on sixteen; of the eight per processor that glibc would make,
each would keep what it ever had. A thread that has not the first arena gets a block larger than `LARGEST` from the system after
all, so XLA is asked for smaller ones (`trace.lowering.executable`). All before JAX starts its threads. The price: the process keeps its
peak memory until it ends. It changes the user's process, so it is reported, ``JTENSOR_MALLOC=0`` leaves it alone, and so does any
setting of the user's own.

>>> isinstance(explain(), str)
True
"""
import os
import sys

from . import switches

_PART = 64 << 20            # bytes: of what an arena consists of, except for the first (glibc's HEAP_MAX_SIZE)
LARGEST = _PART - (4 << 20)
"""Bytes of a block that is kept for certain, with what glibc adds to it."""
ARENAS = min(max(4, os.cpu_count() or 1), 16)
_SETTINGS = (("M_MMAP_THRESHOLD", -3, 2**31 - 1), ("M_TRIM_THRESHOLD", -1, 2**31 - 1), ("M_TOP_PAD", -2, _PART),
             ("M_ARENA_MAX", -8, ARENAS))
FREE, TIMES = 1 << 29, 2    # bytes that are free, and how many times those in use, from which on they are given back
_done = _library = None


def _reason_against(environ):
    """Why the allocator is left alone, or None."""
    if not switches.is_on("JTENSOR_MALLOC", True, environ):
        return "JTENSOR_MALLOC=0"
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no mallopt"
    own = sorted(name for name in environ if name.startswith("MALLOC_"))
    if own:
        return f"{own[0]} is set"
    if "glibc.malloc." in environ.get("GLIBC_TUNABLES", ""):
        return "GLIBC_TUNABLES is set"
    if "alloc" in environ.get("LD_PRELOAD", ""):            # jemalloc, tcmalloc, mimalloc, ...
        return "LD_PRELOAD names another allocator"
    return None


def configure():
    """Make the settings, once a process; answers `explain`'s text. Costs about a millisecond, most of it importing ctypes."""
    global _done
    if _done is None:
        reason = _reason_against(os.environ)
        _done = f"left alone: {reason}" if reason else _set()
    return _done


def explain():
    """What `configure` did to the allocator, for `jtensor.report()`."""
    return _done or "not asked yet"


def trim():
    """Gives free memory back to the system if it is a lot; answers whether it did. To ask takes 11 us where there is little.

    >>> isinstance(trim(), bool)
    True
    """
    if _library is None:
        return False
    found = _library.mallinfo2()
    if found.fordblks < max(FREE, TIMES * found.uordblks):
        return False
    _library.malloc_trim(0)
    return True


def _set():
    global _library
    try:
        import ctypes
        library = ctypes.CDLL(None)
        mallopt, _ = library.mallopt, library.gnu_get_libc_version        # musl has neither
    except (ImportError, OSError, AttributeError):
        return "left alone: the C library is not glibc"
    refused = [name for name, parameter, value in _SETTINGS if mallopt(parameter, value) != 1]
    if refused:
        return "refused by the C library: " + ", ".join(refused)
    if hasattr(library, "mallinfo2"):                       # glibc 2.33
        names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
        library.mallinfo2.restype = type("mallinfo2", (ctypes.Structure,), {"_fields_": [(n, ctypes.c_size_t) for n in names.split()]})
        _library = library
    return f"what is freed is kept, in {ARENAS} arenas (mallopt; JTENSOR_MALLOC=0 leaves it alone)"
