"""`torch.multiprocessing.spawn`: one function in several processes, and what is raised when one of them fails.

Owns: starting them, waiting, ending the others. May not know: tensors.
"""
import contextlib
import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
           "start_processes"]

_PATIENCE = 30                  # seconds that a process has to end after it was told to, unless `join` says otherwise
_DEATH_OF_PARENT = 1            # prctl's number for the signal that a process gets when its parent has died


class ProcessException(Exception):
    """A process that was spawned has failed: its index and its id."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process that was spawned has raised an exception, whose traceback the text has."""


class ProcessExitedException(ProcessException):
    """A process that was spawned has ended by itself or by a signal."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(function, index, args, error_file):
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):      # who starts processes may be killed, and leaves nobody behind
            ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGINT)
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        with open(error_file, "w") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that run one function: `join` waits for them, `pids` tells their ids."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until one has ended; True if all have by now.

        The first that failed is raised once the others have ended: by themselves within ``grace_period`` seconds, if that is given; by
        SIGTERM; and as long after that again (by default 30 seconds) by SIGKILL.
        """
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout=timeout) if self.sentinels else ():
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end(grace_period)
                try:
                    self._raise(index)
                finally:
                    self._forget()
        if not self.sentinels:
            self._forget()
        return not self.sentinels

    def _end(self, patience):
        if patience is not None:
            self._wait(patience)
        for end in ("terminate", "kill"):
            for process in self.processes:
                if process.is_alive():
                    getattr(process, end)()
            self._wait(_PATIENCE if patience is None or end == "kill" else patience)        # of the latter it takes but a moment

    def _wait(self, seconds):
        over = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, over - time.monotonic()))

    def _forget(self):
        for path in self.error_files:
            if os.path.exists(path):
                os.remove(path)
        for folder in {os.path.dirname(path) for path in self.error_files}:
            if os.path.isdir(folder):
                os.rmdir(folder)

    def _raise(self, index):
        process, path = self.processes[index], self.error_files[index]
        if os.path.exists(path):
            with open(path) as file:
                text = file.read()
            raise ProcessRaisedException(f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:                                  # one of those without a name
                name = f"<Unknown signal {-code}>"
            raise ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code, name)
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """The older name of `ProcessContext`, with PyTorch's warning."""

    def __init__(self, processes, error_files):
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, error_files)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs ``fn(index, *args)`` in ``nprocs`` processes; with ``join`` waits for them, else answers with their context."""
    context, processes, files = multiprocessing.get_context(start_method), [], []
    folder = tempfile.mkdtemp(prefix="jtensor-spawn-")
    for index in range(nprocs):
        path = os.path.join(folder, str(index))
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
    """`start_processes` by spawning, whatever ``start_method`` says: another one is warned about, as in PyTorch."""
    if start_method != "spawn":
        warnings.warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:\n\t\t"
                      " torch.multiprocessing.start_processes(...)", FutureWarning, stacklevel=2)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
