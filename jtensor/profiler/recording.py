"""The recorder: regions, and runs of the tape between them. Owns: `record_function`, and who listens while a profile records.

While one records, the tape runs where a region begins or ends, and is waited for: so what is asked for within a region is computed
within it. That costs time that a program without regions does not take, and changes no number. Without a profile a region does nothing.
"""
import functools
import threading
import time

from ..trace import executor, tape
from ..trace.report import REPORT
from .events import EventList, FunctionEvent


class Recorder:
    """Records events from `start` to `stop`; ``events`` are in the order in which they began."""

    current = None

    def __init__(self):
        self.events, self.began, self._open, self._reason = EventList(), time.perf_counter(), threading.local(), "read"

    def start(self):
        executor.flush("begin of a profile")
        Recorder.current = self
        self._plain = executor._run
        executor._run, REPORT.flushed = self._timed_run, self._noted
        return self

    def stop(self):
        if Recorder.current is self:
            executor.flush("end of a profile")
            executor._run = self._plain
            del REPORT.flushed
            Recorder.current = None

    def _noted(self, reason, nodes, skip=2):
        """The report's own note; the reason is the name of the run that comes now."""
        self._reason = reason
        type(REPORT).flushed(REPORT, reason, nodes, skip + 1)

    def _timed_run(self, segment, asked):
        """A run of the tape, as an event that ends when its results are there."""
        alive, _ = tape.living(segment.nodes)
        if not alive:
            return self._plain(segment, asked)
        event = self.begin(f"jtensor::run ({self._reason})", annotation=False)
        event.operations = len(segment.nodes)
        try:
            self._plain(segment, asked)
            for value in alive:
                getattr(value.array, "block_until_ready", bool)()
        finally:
            self.end(event)

    def _now(self):
        return (time.perf_counter() - self.began) * 1e6

    def _stack(self):
        return self._open.__dict__.setdefault("stack", [])

    def begin(self, name, annotation=True):
        stack = self._stack()
        event = FunctionEvent(len(self.events), name, self._now(), annotation)
        if stack:
            event.cpu_parent = stack[-1]
            stack[-1].cpu_children.append(event)
        stack.append(event)
        self.events.append(event)
        return event

    def end(self, event):
        event.time_range.end = self._now()
        stack = self._stack()
        if event in stack:
            del stack[stack.index(event):]


class record_function:
    """A region with a name, as a context or a decorator: an event of the profile that records meanwhile, nothing without one.

    >>> with torch.profiler.profile() as prof:
    ...     with torch.profiler.record_function("forward"):
    ...         x = torch.ones(3) + 1
    >>> prof.events()[0].name
    'forward'
    """

    __module__ = "torch.autograd.profiler"

    def __init__(self, name, args=None):
        self.name, self.args, self._event, self._recorder = name, args, None, None

    def __enter__(self):
        recorder = self._recorder = Recorder.current
        if recorder is not None:
            executor.flush("begin of a region")
            self._event = recorder.begin(self.name)
        return self

    def __exit__(self, *exc):
        recorder, event = self._recorder, self._event
        if event is not None:
            executor.flush("end of a region")
            recorder.end(event)
            self._event = self._recorder = None

    def __call__(self, function):
        @functools.wraps(function)
        def recorded(*args, **kwargs):
            with type(self)(self.name, self.args):
                return function(*args, **kwargs)
        return recorded
