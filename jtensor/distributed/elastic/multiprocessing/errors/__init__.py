"""`torch.distributed.elastic.multiprocessing.errors`: how a process of a launcher says why it failed, and how the launcher says so.

Owns: the file that a failing process writes (``TORCHELASTIC_ERROR_FILE``, JSON as PyTorch has it), its reading, and the report of all that
failed. May not know: tensors; how processes are started.
"""
import dataclasses
import datetime
import faulthandler
import functools
import json
import os
import signal
import socket
import time
import traceback
import warnings

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

_NOWHERE = "<N/A>"
_UNTOLD = "not recorded: decorate the script's main function with torch.distributed.elastic.multiprocessing.errors.record to see it here"
_WIDTH = 60


@dataclasses.dataclass
class ProcessFailure:
    """A process that failed: who, how, and what it wrote into its error file, if there is one.

    ``message`` is the text or the dictionary from the file, else a text about the exit code; ``timestamp`` is in seconds.

    >>> ProcessFailure(local_rank=0, pid=7, exitcode=-9, error_file="").message
    'Signal 9 (SIGKILL) received by PID 7'
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict = dataclasses.field(init=False)
    message: object = dataclasses.field(init=False)
    timestamp: int = dataclasses.field(init=False)

    def __post_init__(self):
        self.error_file_data, self.message, self.timestamp = {"message": "<NONE>"}, None, int(time.time())
        if not self._read():
            self.error_file = _NOWHERE
        if not self.message:
            signalled = f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
            self.message = signalled if self.exitcode < 0 else _UNTOLD

    def _read(self):
        """Whether the error file could be read. A process that is ended while it writes leaves half of one, which tells nothing."""
        try:
            with open(self.error_file) as file:
                data = json.load(file)
            message = data["message"]
            told = data.get("timestamp", 0) if isinstance(message, str) else message["extraInfo"]["timestamp"]
            self.error_file_data, self.message, self.timestamp = data, message, int(told)
        except (OSError, ValueError, LookupError, TypeError):
            return False
        return True

    def signal_name(self):
        """The name of the signal that ended the process; ``<N/A>`` if none did."""
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return _NOWHERE

    def timestamp_isoformat(self):
        """The time of the failure as a text."""
        return datetime.datetime.fromtimestamp(self.timestamp).isoformat(sep="_")

    def _told(self):
        if isinstance(self.message, str):
            return self.message
        return self.message.get("extraInfo", {}).get("py_callstack") or self.message.get("message", _NOWHERE)


class ChildFailedError(Exception):
    """Processes of a launcher have failed: ``failures`` by their ranks. The text is a report of them, the first one at its end."""

    def __init__(self, name, failures):
        assert failures, "a ChildFailedError is of at least one process"
        self.name, self.failures = name, failures
        super().__init__(self.format_msg())

    def __reduce__(self):
        return type(self), (self.name, self.failures)

    def get_first_failure(self):
        """The rank and the failure of the process that failed first."""
        return min(self.failures.items(), key=lambda item: item[1].timestamp)

    def format_msg(self, boarder_delim="=", section_delim="-"):
        """The report."""
        first, _ = self.get_first_failure()
        texts = {rank: self._entry(index, rank) for index, rank in enumerate(self.failures)}
        others = [text for rank, text in texts.items() if rank != first] or ["  <NO_OTHER_FAILURES>"]
        border, line = boarder_delim * _WIDTH, section_delim * _WIDTH
        return "\n".join(["", border, f"{self.name} FAILED", line, "Failures:", *others, line, "Root Cause (first observed failure):",
                          texts[first], border])

    def _entry(self, index, rank):
        failure = self.failures[rank]
        name = f" ({failure.signal_name()})" if failure.exitcode < 0 else ""
        rows = {"time": failure.timestamp_isoformat(), "host": socket.gethostname(), "rank": f"{rank} (local_rank: {failure.local_rank})",
                "exitcode": f"{failure.exitcode} (pid: {failure.pid}){name}", "error_file": failure.error_file,
                "traceback": failure._told().rstrip().replace("\n", "\n  ")}
        return "\n".join([f"[{index}]:", *(f"  {key:<10}: {value}" for key, value in rows.items())])


class ErrorHandler:
    """Writes what went wrong into the file that ``TORCHELASTIC_ERROR_FILE`` names; nowhere, if it is not set."""

    def initialize(self):
        """Has Python print its stacks when the process is ended by a fault."""
        if not faulthandler.is_enabled():
            try:
                faulthandler.enable(all_threads=True)
            except Exception as error:                      # standard error may be no file
                warnings.warn(f"Unable to enable fault handler. {type(error).__name__}: {error}", stacklevel=2)

    def record_exception(self, e):
        """Writes this exception and its traceback."""
        told = "".join(traceback.format_exception(e))
        self._write({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": {"py_callstack": told,
                                                                                     "timestamp": str(int(time.time()))}}})

    def dump_error_file(self, rootcause_error_file, error_code=0):
        """Writes what another process wrote into its file, with the exit code that it could not know."""
        with open(rootcause_error_file) as file:
            data = json.load(file)
        if error_code and isinstance(data.get("message"), dict):
            data["message"]["errorCode"] = error_code
        self._write(data)

    @staticmethod
    def _write(data):
        path = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if path:
            with open(path, "w") as file:
                json.dump(data, file)


def get_error_handler():
    """The handler that `record` works with unless told otherwise."""
    return ErrorHandler()


def record(fn, error_handler=None):
    """Decorates a script's main function: what it raises is written into the launcher's error file, and raised.

    A launcher's ChildFailedError hands on the file of the process that failed first. ``SystemExit(0)`` makes the function return None.

    >>> @record
    ... def main(n):
    ...     return n + 1
    >>> main(2)
    3
    """
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code == 0:
                return None
            raise
        except ChildFailedError as error:
            _, failure = error.get_first_failure()
            if failure.error_file != _NOWHERE:
                handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise
    return wrapper
