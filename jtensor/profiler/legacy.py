"""`torch.autograd.profiler`: the profile without a schedule, which `torch.profiler.profile` makes use of. Owns: it, and `emit_nvtx`.

May not know: schedules, activities.
"""
import uuid

from ..base import devices, sites
from ..base.errors import missing
from ..trace.tape import LOCAL
from . import files
from .events import EventList
from .recording import Recorder, Wanted


class profile:
    """`torch.autograd.profiler.profile`: records while it is entered, unless ``enabled`` is False.

    Operators run one by one meanwhile, each is waited for, and has an event with its time; numbers are the same as without a profile.
    ``record_shapes``, ``profile_memory``, ``with_flops`` and ``with_stack`` have more found out about each. With ``fused=True``, which
    PyTorch has not, the program runs as it does without a profile: there are events of the regions of `record_function` and of the runs of
    the tape (``jtensor::run``).

    >>> with torch.autograd.profiler.profile(record_shapes=True) as prof:
    ...     x = torch.ones(2, 3) @ torch.ones(3, 4)
    >>> [(event.name, event.input_shapes) for event in prof.function_events if event.name == "aten::mm"]
    [('aten::mm', [[2, 3], [3, 4]])]
    """

    __module__ = "torch.autograd.profiler"

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False,
                 with_stack=False, with_modules=False, use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False,
                 custom_trace_id_callback=None, post_processing_timeout_s=None, activity_filters=None, fused=False):
        if use_cuda or use_device == "cuda":
            use_device = "cuda"
            if not devices.accelerators():
                sites.warn("CUDA is not available, disabling CUDA profiling")
                use_device = None
        self.enabled, self.entered, self.use_device, self.acc_events = enabled, False, use_device, acc_events
        self.record_shapes, self.profile_memory, self.with_flops, self.with_stack, self.with_modules = \
            record_shapes, profile_memory, with_flops, with_stack, with_modules
        self.experimental_config, self.custom_trace_id_callback, self.trace_id = experimental_config, custom_trace_id_callback, ""
        self._function_events, self._recorder, self._began, self._before = None, None, 0, None
        self._wanted = Wanted(record_shapes, profile_memory, with_flops, with_stack,
                              bool(getattr(experimental_config, "capture_overload_names", False)), fused, use_device)

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start()
        return self

    def __exit__(self, *exc):
        if self.enabled:
            self._stop()
        return False

    def _start(self):
        if Recorder.current is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        self.entered = True
        self.trace_id = self.custom_trace_id_callback() if self.custom_trace_id_callback else uuid.uuid4().hex.upper()
        self._recorder = Recorder(self._wanted).start()

    def _warm_up(self, on):
        """While a schedule warms up, operators run one by one already: so that they are compiled when recording begins."""
        if on and not self._wanted.fused:
            self._before, LOCAL.eager = LOCAL.eager, True
        elif not on and self._before is not None:
            LOCAL.eager, self._before = self._before, None

    def _stop(self):
        recorder, self._recorder = self._recorder, None
        recorder.stop()
        before = self._function_events if self.acc_events and self._function_events is not None else ()
        made = recorder.events
        if before:
            built = EventList([*before, *made], use_device=made._use_device, profile_memory=made._profile_memory,
                              with_flops=made._with_flops)
            built._tree_built, made = True, built
        self._function_events, self._began = made, recorder.began_at

    @property
    def function_events(self):
        """The events, in the order in which they began; none before the end."""
        if self._function_events is None:
            self._function_events = EventList()
            self._function_events._tree_built = True
        return self._function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Sums of the events of each name (`EventList.key_averages`); `table` of it is their text."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, time_unit=None):
        """The events as a text (`EventList.table`)."""
        return self.function_events.table(sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header,
                                          top_level_events_only, time_unit)

    def total_average(self):
        """All of it together."""
        return self.function_events.total_average()

    def export_chrome_trace(self, path, metadata=None):
        """Writes a file for chrome://tracing, Perfetto or TensorBoard, whole or not at all; compressed if it ends in ``.gz``.

        ``metadata``: {key: JSON}, which the file has, too.
        """
        files.write_whole(path, files.trace(self.function_events, metadata or {}, self.trace_id, self._began, str(path)))

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes the stacks of the events (`EventList.export_stacks`); AssertionError without ``with_stack``."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        return self.function_events.export_stacks(path, metric)

    @property
    def self_cpu_time_total(self):
        """Microseconds in all."""
        return self.function_events.self_cpu_time_total

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self._function_events is None else str(self._function_events)

    def __repr__(self):
        return "<unfinished torch.autograd.profile>" if self._function_events is None else repr(self._function_events)


class emit_nvtx:
    """Refuses: what NVIDIA's profilers show are the kernels of programs, in which operators are not apart."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise missing("marks of each operator for NVIDIA's profilers", "torch.profiler.profile, torch.cuda.nvtx.range")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


class emit_itt(emit_nvtx):
    """Refuses: Intel's profilers are not told of anything."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise missing("marks of each operator for Intel's profilers", "torch.profiler.profile")
