"""The processes that a launcher starts: their streams, how they are watched and how they are ended.

Owns: one set of processes that live and die together. May not know: tensors; ranks of other machines; how often such a set is started.
"""
import os
import signal
import subprocess
import sys
import threading
import time

from ..elastic.multiprocessing.api import SignalException, Std
from ..elastic.multiprocessing.errors import ProcessFailure

__all__ = ["Worker", "Workers"]

_MOMENT = 0.1                   # seconds after which a signal to the launcher is noticed


class Worker:
    """A process with a session of its own, so that a signal reaches what it has started, too, and Ctrl-C only the launcher.

    Its ``env`` has its ranks; ``prefix`` is put before lines that go to a file and to the console.
    """

    def __init__(self, command, env, logs, folder, prefix):
        self.rank, self.local_rank, self.error_file = int(env["RANK"]), int(env["LOCAL_RANK"]), env["TORCHELASTIC_ERROR_FILE"]
        self.copies, kept, streams = [], [], {}
        count = int(env["LOCAL_WORLD_SIZE"])
        for name, std in (("stdout", Std.OUT), ("stderr", Std.ERR)):
            filed, shown, teed = logs._stream(std, self.local_rank, count)
            if filed:
                kept.append(open(os.path.join(folder, f"{name}.log"), "wb", buffering=0))
            streams[name] = subprocess.PIPE if teed else kept[-1] if filed else None if shown else subprocess.DEVNULL
            if teed:
                self.copies.append((name, kept.pop(), prefix if shown else None))
        try:
            self.process = subprocess.Popen(command, env=env, start_new_session=True, **streams)
        finally:
            for file in kept:
                file.close()
        self.copies = [self._copying(getattr(self.process, name), file, name, prefix) for name, file, prefix in self.copies]

    @staticmethod
    def _copying(pipe, file, name, prefix):
        """A thread that writes what comes out of a pipe into a file and, with a prefix, to the launcher's stream of that name."""
        def copy():
            with pipe, file:
                for line in pipe:
                    file.write(line)
                    if prefix is not None:
                        console = getattr(sys, name)
                        console.write(prefix + line.decode(errors="replace"))
                        console.flush()
        thread = threading.Thread(target=copy, daemon=True)
        thread.start()
        return thread

    def signal(self, number):
        """Sends a signal to the process and what it has started, if it runs."""
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:                      # it has ended between the two lines
                pass

    def failure(self):
        """What is known of its failure; None if it runs or has ended well."""
        code = self.process.poll()
        return ProcessFailure(self.local_rank, self.process.pid, code, self.error_file) if code else None


class Workers:
    """Processes that are started together: if one fails, none is of use.

    As a context it leaves none behind, whatever ends it: a signal to the launcher is handed on. ``signals`` is the list of those that came,
    which is looked at now and then: were they raised where they come, one might come between the start of a process and its being known.
    """

    def __init__(self, grace, signals):
        self.grace, self.signals, self.workers, self.failures = grace, signals, [], {}

    def add(self, worker):
        """Takes in a process that has just been started."""
        self.workers.append(worker)

    def watch(self, interval):
        """Waits until all have ended, or one has failed: whether none has. SignalException if the launcher gets a signal."""
        while not self.signals and not self._failed():
            if self._over():
                return not self._failed()                   # the last one may have failed since it was looked at
            after = time.monotonic() + interval
            while not self.signals and (left := after - time.monotonic()) > 0:
                time.sleep(min(left, _MOMENT))
        if self.signals:
            raise SignalException(f"Process {os.getpid()} got signal: {int(self.signals[0])}", sigval=self.signals[0])
        return False

    def _over(self):
        return all(worker.process.poll() is not None for worker in self.workers)

    def _failed(self):
        for worker in self.workers:
            if worker.rank not in self.failures and (failure := worker.failure()):
                self.failures[worker.rank] = failure
        return bool(self.failures)

    def end(self, number=signal.SIGTERM):
        """Asks those that run to end, and after a while ends them. Failures that were seen before keep their place before these."""
        known = len(self.signals)
        for worker in self.workers:
            worker.signal(number)
        deadline = time.monotonic() + self.grace
        try:
            while not self._over() and time.monotonic() < deadline and len(self.signals) == known:      # whose patience ends sends a second
                time.sleep(_MOMENT / 4)
        finally:
            for worker in self.workers:
                worker.signal(signal.SIGKILL)
            for worker in self.workers:
                worker.process.wait()
                for thread in worker.copies:
                    thread.join(1)                          # and not for ever: what a process has left behind may hold its pipe
        self._failed()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.end(error.sigval if isinstance(error, SignalException) else signal.SIGTERM)
