"""`torch.multiprocessing`: Python's `multiprocessing`, and `spawn`.

Owns: `spawn` and its errors, the sharing strategies' names. How tensors are sent is `tensor.memory.sending`'s; everything else is
Python's. May not know: tensors.
"""
import multiprocessing as _python
import os as _os
import signal as _signal
import sys as _sys
import tempfile as _tempfile
import traceback as _traceback
from multiprocessing import *  # noqa: F403

_STRATEGIES = {"file_descriptor", "file_system"}
_chosen = ["file_descriptor"]


def get_all_sharing_strategies():
    """The names of the ways in which PyTorch shares tensors between processes. Here it is by descriptors, whichever is chosen."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """The way that was chosen."""
    return _chosen[0]


def set_sharing_strategy(new_strategy):
    """Chooses a way, which changes nothing here. AssertionError for one that there is not."""
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}")
    _chosen[0] = new_strategy


class ProcessException(Exception):
    """A process that was spawned has failed: its index and its id."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process that was spawned has raised an exception, whose traceback the text has."""


class ProcessExitedException(ProcessException):
    """A process that was spawned has ended by itself or by a signal."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(function, index, args, error_file):
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        with open(error_file, "w") as file:
            file.write(_traceback.format_exc())
        _sys.exit(1)


class ProcessContext:
    """Processes that run one function: `join` waits for them, `pids` tells their ids."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files

    def pids(self):
        return [process.pid for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits; True if all have ended, False if the time was over. The first that failed has the others ended, and is raised."""
        waiting = {process.sentinel: process for process in self.processes if process.is_alive()}
        if waiting:
            from multiprocessing.connection import wait
            wait(list(waiting), timeout=timeout)
        failed = next((at for at, process in enumerate(self.processes) if process.exitcode not in (None, 0)), None)
        if failed is None:
            over = all(process.exitcode == 0 for process in self.processes)
            if over:
                self._forget()
            return over
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        try:
            self._raise(failed)
        finally:
            self._forget()

    def _forget(self):
        for path in self.error_files:
            if _os.path.exists(path):
                _os.remove(path)
        for folder in {_os.path.dirname(path) for path in self.error_files}:
            if _os.path.isdir(folder):
                _os.rmdir(folder)

    def _raise(self, index):
        process, path = self.processes[index], self.error_files[index]
        if _os.path.getsize(path):
            with open(path) as file:
                text = file.read()
            raise ProcessRaisedException(f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid)
        code = process.exitcode
        if code < 0:
            name = _signal.Signals(-code).name
            raise ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code, name)
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs ``fn(index, *args)`` in ``nprocs`` processes; with ``join`` waits for them, else answers with their context."""
    context, processes, files = _python.get_context(start_method), [], []
    folder = _tempfile.mkdtemp(prefix="jtensor-spawn-")
    for index in range(nprocs):
        path = _os.path.join(folder, str(index))
        open(path, "w").close()
        process = context.Process(target=_run, args=(fn, index, args, path), daemon=daemon)
        process.start()
        processes.append(process)
        files.append(path)
    made = ProcessContext(processes, files)
    if not join:
        return made
    while not made.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """`start_processes` by spawning."""
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")


def init_reductions():
    """Nothing: `multiprocessing` knows how tensors are sent since jtensor was imported."""


__all__ = [*_python.__all__, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy"]
