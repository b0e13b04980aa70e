"""A process that fork has made of one in which XLA had begun. XLA's threads have stayed with the parent; who waits for them waits for ever.

So the child gets a client of its own. Arrays of the parent's become the child's where a program takes them, the parent's programs are
loaded again when they are called first, and new ones are compiled by another process (`compiler_client`): XLA's compiler sets an alarm
clock that a process has one of, finds its thread gone, and ends the process. May not know: the tape, files, Python's side of a fork
(`base.background`). Tried with jaxlib 0.10.2; where JAX's public way alone is there, the child is refused what it computes.
"""
import contextlib
import ctypes
import functools
import os
import threading
import time

import jax
import numpy as np

from ..errors import missing
from . import compiler_client, lowering
from .inside import backend_started, backends, change_backend, compile_by, short_way

_caches = []
places = {}                     # in a child of fork: a parent's device, which arrays name, and the one in its place
_theirs = {}                    # id: [an array that a parent's client made, the same of this process or None]; they stay, so their ids do
clients = []                    # that were made beside JAX's own, and those of parents: to take one down is to wait for its threads
_state = {"forked": False}


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


def wait_for_threads(patience=5):
    """Before a fork: waits until each other thread has begun, ``patience`` seconds at most; what one compiles may go on.

    A thread that has just been made, as those of a new client, holds for a moment a lock that every thread of XLA's takes to begin with.
    On a busy machine the moment may be long.

    >>> wait_for_threads()
    """
    end, mine = time.monotonic() + patience, str(threading.get_native_id())
    while time.monotonic() < end:
        try:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):            # one has ended meanwhile
                if all(_has_begun(task) for task in os.listdir("/proc/self/task") if task != mine):
                    return
        except OSError:                         # no Linux
            return
        time.sleep(0.0005)


def _has_begun(task):
    """Whether a thread sleeps, or has had a clock's tick of a core: 10 ms, where its beginning takes some 0.1."""
    with open(f"/proc/self/task/{task}/stat", "rb") as file:
        state, *numbers = file.read(512).rpartition(b")")[2].split()
    return state == b"S" or int(numbers[10]) + int(numbers[11]) > 0                     # in the user's code, in the kernel's


def start_anew(programs, revived):
    """The child's first deed. ``programs``: those that there are; ``revived(program)`` makes one the child's, when it is called first."""
    started = backends()
    if not started and not clients:
        return
    first, _state["forked"] = not is_forked(), True
    compiler_client.begin_anew()
    if not short_way():
        return
    old = started.get("cpu")
    arrays = [array for client in started.values() for array in client.live_arrays() if not array.is_deleted()]
    clients.append(started)
    if any(client.platform != "cpu" for client in started.values()):        # whose driver may not be called, not even to free something
        clients.append([program._executable for program in programs])
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(clients))   # not even the end of the process takes them down
    lowering.begin_anew()
    if first:
        compile_by(lambda module, settings, device_list: compiler_client.compiled(module, settings, device_list)[0])
    now = dict(zip(old.local_devices() if old else (), change_backend().local_devices()))
    places.update({before: now.get(place) for before, place in places.items()} | now)
    for cached in _caches:
        cached.cache_clear()
    for entry in _theirs.values():
        entry[1] = None
    _theirs.update((id(array), [array, None]) for array in arrays)
    for program in programs:
        program.device = places.get(program.device)
        program.run, program.run_kept = [functools.partial(_first_run, program, revived, name) for name in ("run", "run_kept")]


def taken_over(arrays, device, put):
    """A program's inputs, those of the parent's as arrays of this process."""
    return [_ours(_theirs[id(array)], device, put) if id(array) in _theirs else array for array in arrays]


def _ours(entry, device, put):
    array, ours = entry
    if ours is None or ours.is_deleted():
        refuse_theirs(array)
        ours = entry[1] = put(np.asarray(array), device)
    return ours


def refuse_theirs(array):
    """RuntimeError where a child of fork would look at what lies on its parent's GPU.

    >>> refuse_theirs(jax.numpy.ones(2))
    """
    if id(array) in _theirs and any(place.platform != "cpu" for place in array.devices()):
        raise RuntimeError(NO_ACCELERATOR)


def _first_run(program, revived, name, *given):
    if program.device is None:
        raise RuntimeError(NO_ACCELERATOR)
    revived(program)
    return getattr(program, name)(*given)


NO_ACCELERATOR = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"


def refuse():
    """MissingFeature in a child of fork where JAX's public way alone is there."""
    if _state["forked"]:
        raise missing("computations in a process that was forked after the first one: XLA's threads stay with the parent",
                      'multiprocessing.get_context("spawn") (or "forkserver"), or to fork before anything is computed')
