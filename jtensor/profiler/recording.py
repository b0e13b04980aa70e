"""The recorder: what happens between begin and end of a profile, as events. Owns: `Recorder`, `record_function`, and who listens.

There are two ways to listen. By default operators run one by one while a profile records (as with ``jtensor.eager()``), each is waited for,
and is an event (`watching` has the functions tell of their calls). With ``fused`` the program runs as it does without a profile, and there
are events of regions and of the runs of the tape; the tape then runs where a region begins or ends, and is waited for, so that what is
asked for within a region is computed within it. Neither changes a number. Without a profile a region does nothing.

The thread that has begun the profile is listened to, as in PyTorch. May not know: which functions tell, what a profile is asked for.
"""
import functools
import sys
import threading
import time

from ..base import sites
from ..trace import executor, tape
from ..trace import spec as specs
from ..trace.report import REPORT
from ..trace.tape import LOCAL
from ..utils import flop_counter
from .events import BACKWARD, USER, EventList, FunctionEvent


class Wanted:
    """What a profile is to find out besides times: shapes of arguments, bytes of results, FLOPs, stacks, forms of operators."""

    def __init__(self, shapes=False, memory=False, flops=False, stacks=False, overloads=False, fused=False, device=None):
        self.shapes, self.memory, self.flops, self.stacks, self.overloads, self.fused, self.device = \
            shapes, memory, flops, stacks, overloads, fused, device


class Span:
    """An event that has begun. ``holds``: whether another has begun within it; ``operator``: whether it is the engine's and not a region
    of a program, whose own runs are events."""

    __slots__ = ("name", "begin", "end", "scope", "shapes", "stack", "bytes", "on_device", "flops", "form", "sequence", "holds", "operator",
                 "operations", "around")

    def __init__(self, name, scope, operator, around):
        self.name, self.scope, self.operator, self.around, self.begin, self.end = name, scope, operator, around, 0, None
        self.bytes = self.on_device = self.flops = 0
        self.shapes, self.stack, self.form, self.sequence, self.holds, self.operations = [], [], "", -1, False, None


class Recorder:
    """Records from `start` to `stop`; ``events`` are in the order in which they began."""

    current = None

    def __init__(self, wanted=None):
        self.wanted, self.spans, self.top, self.walks = wanted or Wanted(), [], None, []
        self.inside = False                             # an operator runs: what that is made of is its own affair
        self.thread, self._reason, self._events = threading.get_ident(), "read", None

    # -- begin and end ------------------------------------------------------------------------------------------------

    def start(self):
        executor.flush("begin of a profile")
        if not self.wanted.fused:
            from . import watching
            watching.begin()
        self.began, self.began_at = time.perf_counter_ns(), time.time_ns()
        Recorder.current, self._plain = self, executor._run
        if self.wanted.fused:
            executor._run, REPORT.flushed = self._timed_run, self._noted
        else:
            executor._run, self._eager, LOCAL.eager = self._waited_run, LOCAL.eager, True
        return self

    def stop(self):
        if Recorder.current is self:
            try:
                executor.flush("end of a profile")
            finally:
                self._end()

    def _end(self):
        executor._run, Recorder.current = self._plain, None
        if self.wanted.fused:
            del REPORT.flushed
        else:
            from . import watching
            watching.end()
            LOCAL.eager = self._eager
        while self.top is not None:
            self.end(self.top)

    def listens(self):
        """Whether a call that happens now is an event."""
        return not self.inside and threading.get_ident() == self.thread

    # -- events -------------------------------------------------------------------------------------------------------

    def begin(self, name, scope=0, operator=True):
        around = self.top
        span = self.top = Span(name, scope, operator, around)
        if around is not None:
            around.holds = True
        self.spans.append(span)
        if self.wanted.stacks:
            span.stack = stack()
        span.begin = time.perf_counter_ns()
        return span

    def end(self, span):
        """Ends an event, and those within it that an exception has left open."""
        now, within = time.perf_counter_ns(), self.top
        while span.end is None and within is not None:
            within.end, self.top = now, within.around
            within = self.top

    @property
    def events(self):
        """The `FunctionEvent`s, each with what it lies in."""
        if self._events is None or len(self._events) != len(self.spans):
            found = EventList([self._event(at, span) for at, span in enumerate(self.spans, 1)], use_device=self.wanted.device,
                              profile_memory=self.wanted.memory, with_flops=self.wanted.flops)
            found._build_tree()
            self._events = found
        return self._events

    def _event(self, number, span):
        end = time.perf_counter_ns() if span.end is None else span.end
        event = FunctionEvent(
            number, "ProfilerStep*" if span.name.startswith("ProfilerStep#") else span.name, self.thread, (span.begin - self.began) / 1e3,
            (end - self.began) / 1e3, fwd_thread=self.thread, overload_name=span.form, input_shapes=span.shapes, stack=span.stack,
            scope=span.scope, use_device=self.wanted.device, cpu_memory_usage=span.bytes, device_memory_usage=span.on_device,
            sequence_nr=span.sequence, flops=span.flops, trace_name=span.name, concrete_inputs=[], kwinputs={},
            is_user_annotation=span.scope == USER)
        event.operations = span.operations
        return event

    # -- runs of the tape ---------------------------------------------------------------------------------------------

    def _noted(self, reason, nodes, skip=2):
        """The report's own note; the reason is the name of the run that comes now."""
        self._reason = reason
        type(REPORT).flushed(REPORT, reason, nodes, skip + 1)

    def _timed_run(self, segment, asked):
        """A run of the tape, as an event that ends when its results are there."""
        alive, _ = tape.living(segment.nodes)
        if not alive or threading.get_ident() != self.thread:
            return self._plain(segment, asked)
        self._run_as_event(f"jtensor::run ({self._reason})", segment, asked, alive)

    def _waited_run(self, segment, asked):
        """An operation, or a few, run for the operator that is the innermost event; outside of one they are an event themselves."""
        alive, _ = tape.living(segment.nodes)
        if not alive or threading.get_ident() != self.thread:
            return self._plain(segment, asked)
        span = self.top
        if span is not None and span.operator:
            return self._run_and_wait(segment, asked, alive, span if span.scope == BACKWARD else None)
        operator = segment.nodes[0][0].operator if len(segment.nodes) == 1 else None
        self._run_as_event(f"jtensor::{'run' if operator is None else operator.name}", segment, asked, alive)

    def _run_as_event(self, name, segment, asked, alive):
        span = self.begin(name)
        span.operations = len(segment.nodes)
        try:
            self._run_and_wait(segment, asked, alive, span)
        finally:
            self.end(span)

    def _run_and_wait(self, segment, asked, alive, span):
        plans = [plan for plan, *_ in segment.nodes]
        self._plain(segment, asked)
        for value in alive:
            getattr(value.array, "block_until_ready", bool)()
        if span is not None:
            if self.wanted.memory and span.scope != BACKWARD:
                for value in alive:
                    self.count(span, specs.spec(value.aval.shape, None, value.aval.dtype, value.aval.device))
            if self.wanted.flops:
                span.flops += sum([found[1] for found in [flop_counter._counted(plan, flop_counter.flop_registry) for plan in plans]
                                   if found is not None])

    def count(self, span, spec):
        """Counts the bytes of an array (what tells its size, type and device) for an event and those that it lies in."""
        made, on_cpu = spec.numel * spec.dtype.itemsize, spec.device.type == "cpu"
        while span is not None:
            if on_cpu:
                span.bytes += made
            else:
                span.on_device += made
            span = span.around


def stack():
    """From where an operator is called: places in programs and in the modules of this library that are written as programs are, the
    innermost first."""
    frame, places = sys._getframe(2), []
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not sites.inside(code):
            places.append(f"{_short(name)}({frame.f_lineno}): {code.co_name}")
        elif name.startswith(_SHOWN):
            places.append(f"jtensor/{name[len(sites._HERE):]}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return places


_SHOWN = tuple([sites._HERE + room + "/" for room in ("nn", "optim")])


def _short(name):
    """A file's name without the folder that Python finds it in."""
    for folder in sys.path:
        if folder and name.startswith(folder + "/"):
            return name[len(folder) + 1:]
    return name


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
        self.name, self.args, self.run_callbacks_on_exit, self._span, self._recorder = name, args, True, None, None

    def __enter__(self):
        recorder = Recorder.current
        if recorder is not None and threading.get_ident() == recorder.thread:
            if recorder.wanted.fused:
                executor.flush("begin of a region")
            self._recorder, self._span = recorder, recorder.begin(self.name, USER, operator=False)
            if self.args is not None and recorder.wanted.shapes:
                self._span.shapes = [[]]
        return self

    def __exit__(self, *exc):
        recorder, span = self._recorder, self._span
        if span is not None:
            if recorder.wanted.fused and recorder is Recorder.current:
                executor.flush("end of a region")
            recorder.end(span)
            self._span = self._recorder = None

    def __call__(self, function):
        @functools.wraps(function)
        def recorded(*args, **kwargs):
            with type(self)(self.name, self.args):
                return function(*args, **kwargs)
        return recorded
