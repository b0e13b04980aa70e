"""Compiling in another process (`compiler_process`), which is begun with the first program and ends with this one.

May not know: why this one cannot compile (`forked`).
"""
import atexit
import ctypes
import os
import subprocess
import sys
import threading

import jax

from ..errors import missing
from .lowering import bytecode

_state = {"process": None, "lock": threading.Lock()}


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
    process = subprocess.Popen([sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, "JAX_PLATFORMS": "cpu"})         # a GPU takes seconds, and memory, to begin with
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


def begin_anew():
    """In a child of fork: the parent's process is none of its business, but would wait for the end of this one, too."""
    theirs = _state["process"]
    if theirs is not None:
        for pipe in (theirs.stdin, theirs.stdout):
            os.close(pipe.fileno())
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(theirs))        # it stays, so that it does not find its pipes closed
    _state.update(process=None, lock=threading.Lock())
