"""A process that fork has made of one in which XLA had begun. XLA's threads have stayed with the parent; who waits for them waits for ever.

So the child gets a client of its own. Arrays of the parent's become the child's where a program takes them, the parent's programs are
loaded again when they are called first, and new ones are compiled by another process (`compiler_process`): XLA's compiler sets an alarm
clock that a process has one of, finds its thread gone, and ends the process. May not know: the tape, files, Python's side of a fork
(`trace.background`). Tried with jaxlib 0.10.2; where JAX's public way alone is there, the child is refused what it computes.
"""
import atexit
import contextlib
import ctypes
import functools
import os
import subprocess
import sys
import threading
import time

import jax
import numpy as np

from ..errors import missing
from .inside import backend_started, backends, change_backend, compile_by, short_way
from .lowering import begin_anew, bytecode

_caches = []
places = {}                     # in a child of fork: a parent's device, which arrays name, and the one in its place
_theirs = {}                    # id: [an array that a parent's client made, the same of this process or None]; they stay, so their ids do
clients = []                    # that were made beside JAX's own, and those of parents: to take one down is to wait for its threads
_state = {"forked": False, "process": None, "lock": threading.Lock()}


def of_backend(function):
    """`functools.cache` for what is made of devices: a child of fork, whose devices are others, begins with none of it."""
    cached = functools.cache(function)
    _caches.append(cached)
    return cached


def is_forked():
    """Whether fork made this process, or one that it comes from, once XLA had begun.

    >>> is_forked()
    False
    """
    return _state["forked"]


def settle():
    """Waits until everything that programs on a CPU were asked for is there.

    >>> settle()
    """
    if backend_started():
        for array in jax.devices("cpu")[0].client.live_arrays():
            if not array.is_deleted():
                try:
                    array.block_until_ready()
                except jax.errors.JaxRuntimeError:          # it has failed: who looks at it will hear so
                    pass


def wait_for_threads(patience=0.05):
    """Before a fork: waits until the other threads sleep, ``patience`` seconds at most, since what XLA compiles goes on.

    A thread that has just been made, as those of a new client, holds for a moment a lock that every thread of XLA's takes to begin with.

    >>> wait_for_threads()
    """
    end, mine = time.monotonic() + patience, str(threading.get_native_id())
    while time.monotonic() < end:
        try:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):            # one has ended meanwhile
                if all(_sleeps(task) for task in os.listdir("/proc/self/task") if task != mine):
                    return
        except OSError:                         # no Linux
            return
        time.sleep(0.0005)


def _sleeps(task):
    with open(f"/proc/self/task/{task}/stat", "rb") as file:
        return file.read(256).rpartition(b")")[2].split()[0] == b"S"


def start_anew(programs, revived):
    """The child's first deed. ``programs``: those that there are; ``revived(program)`` makes one the child's, when it is called first."""
    started = backends()
    if not started and not clients:
        return
    first, theirs = not is_forked(), _state["process"]
    if theirs is not None:                                  # the parent's, which would wait for this process's end, too
        for pipe in (theirs.stdin, theirs.stdout):
            os.close(pipe.fileno())
        clients.append(theirs)
    _state.update(forked=True, process=None, lock=threading.Lock())
    if not short_way():
        return
    old = started.get("cpu")
    arrays = [array for array in old.live_arrays() if not array.is_deleted()] if old else []
    clients.append(started)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(clients))   # not even the end of the process takes them down
    begin_anew()
    if first:
        compile_by(lambda module, settings, device_list: compiled(module, settings, device_list)[0])
    now = dict(zip(old.local_devices() if old else (), change_backend().local_devices()))
    places.update({before: now.get(place) for before, place in places.items()} | now)
    for cached in _caches:
        cached.cache_clear()
    for entry in _theirs.values():
        entry[1] = None
    _theirs.update((id(array), [array, None]) for array in arrays)
    for program in programs:
        program.device = places.get(program.device)
        program.run = functools.partial(_first_run, program, revived)


def taken_over(arrays, device, put):
    """A program's inputs, those of the parent's as arrays of this process."""
    return [_ours(_theirs[id(array)], device, put) if id(array) in _theirs else array for array in arrays]


def _ours(entry, device, put):
    array, ours = entry
    if ours is None or ours.is_deleted():
        if any(place.platform != "cpu" for place in array.devices()):
            raise RuntimeError(NO_ACCELERATOR)
        ours = entry[1] = put(np.asarray(array), device)
    return ours


def _first_run(program, revived, arrays):
    if program.device is None:
        raise RuntimeError(NO_ACCELERATOR)
    revived(program)
    return program.run(arrays)


NO_ACCELERATOR = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"


def refuse():
    """MissingFeature in a child of fork where JAX's public way alone is there."""
    if _state["forked"]:
        raise missing("computations in a process that was forked after the first one: XLA's threads stay with the parent",
                      'multiprocessing.get_context("spawn") (or "forkserver"), or to fork before anything is computed')


# ---- another process's compiler --------------------------------------------------------------------------------------

def compiled(module, settings, device_list):
    """(What ``compile_and_load`` answers, its bytes), by a process that is begun with the first program; XLA's error if it refuses."""
    request = settings.SerializeAsString(), bytecode(module)
    with _state["lock"]:
        process = _state["process"]
        if process is None or process.poll() is not None:
            process = _state["process"] = _begun()
        refused, answer = _answer(process, request)
    if refused:
        raise jax.errors.JaxRuntimeError(answer.decode())
    return device_list[0].client.deserialize_executable(answer, executable_devices=device_list), answer


def _begun():
    if not sys.executable:
        raise missing("compiling in a forked process of a program that has Python inside", 'multiprocessing.get_context("spawn")')
    script = os.path.join(os.path.dirname(__file__), "compiler_process.py")
    code = f"import runpy, sys; sys.path[:] = {sys.path!r}; runpy.run_path({script!r}, run_name='__main__')"
    process = subprocess.Popen([sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(_end, process, os.getpid())
    return process


def _end(process, owner):
    if os.getpid() == owner:
        process.communicate()               # its input ends, so it does, too


def _answer(process, strings):
    try:
        process.stdin.write(b"".join(len(string).to_bytes(8, "little") + string for string in strings))
        process.stdin.flush()
        head = process.stdout.read(9)
        if len(head) == 9:
            return head[0], process.stdout.read(int.from_bytes(head[1:], "little"))
    except BaseException:                       # Ctrl-C in between: the next answer would be this one's
        process.kill()
        raise
    raise RuntimeError("the process that compiles for this one, which was made by fork, has ended")
