"""`torch.profiler.profile`: what to record, when to, and what to do with it. Owns: that. How is recorded: `recording`."""
import json
import warnings

from ..base import sites
from ..base.absent import kind
from ..base.errors import missing
from .legacy import profile as _Plain
from .recording import record_function
from .scheduling import ProfilerAction, ProfilerActivity, schedule, supported_activities, tensorboard_trace_handler

__all__ = ["ExecutionTraceObserver", "profile", "schedule", "supported_activities", "tensorboard_trace_handler", "ProfilerAction"]


ExecutionTraceObserver = kind("torch.profiler.profiler", "ExecutionTraceObserver", "execution traces", "export_chrome_trace")


def _parsed(activities):
    """The activities that are asked for: each by itself, or as {activity: what of it}, of which all is recorded here."""
    found = []
    for item in activities:
        if not isinstance(item, (ProfilerActivity, dict)):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        for one in item if isinstance(item, dict) else (item,):
            if one in found:
                raise ValueError(f"Activity {one} specified more than once")
            found.append(one)
    return set(found)


class _KinetoProfile:
    """A profile without a schedule: `start` and `stop`, or `prepare_trace`, `start_trace` and `stop_trace`. See `profile`."""

    __module__ = "torch.profiler.profiler"

    def __init__(self, *, activities=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False,
                 custom_trace_id_callback=None, post_processing_timeout_s=None, fused=False):
        if execution_trace_observer is not None:
            raise missing("execution traces (execution_trace_observer)", "export_chrome_trace")
        self.activities = supported_activities() if activities is None else _parsed(activities)
        self.record_shapes, self.profile_memory, self.with_stack, self.with_flops, self.with_modules = \
            record_shapes, profile_memory, with_stack, with_flops, with_modules
        self.experimental_config, self.acc_events, self.fused = experimental_config, acc_events, fused
        self.custom_trace_id_callback, self.execution_trace_observer = custom_trace_id_callback, None
        self.post_processing_timeout_s, self.profiler = post_processing_timeout_s, None
        self.use_device = next((one.name.lower() for one in (
            ProfilerActivity.CUDA, ProfilerActivity.XPU, ProfilerActivity.MTIA, ProfilerActivity.HPU, ProfilerActivity.PrivateUse1)
            if one in self.activities), None)
        self.preset_metadata, self._trace_metadata = {}, {}

    def start(self):
        """Begins."""
        self.prepare_trace()
        self.start_trace()

    def stop(self):
        """Ends."""
        self.stop_trace()

    def prepare_trace(self):
        """Makes ready for `start_trace`; what was recorded before is gone, unless ``acc_events`` keeps it."""
        if self.profiler is not None and not self.acc_events:
            sites.warn_once("Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will "
                            "be reported. To keep events across cycles, set acc_events=True.")
        if self.profiler is None or not self.acc_events:
            self.profiler = _Plain(
                use_device=self.use_device, record_shapes=self.record_shapes, with_flops=self.with_flops, fused=self.fused,
                profile_memory=self.profile_memory, with_stack=self.with_stack, with_modules=self.with_modules, acc_events=self.acc_events,
                experimental_config=self.experimental_config, custom_trace_id_callback=self.custom_trace_id_callback)

    def start_trace(self):
        """Begins to record. RuntimeError where a profile records already."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before starting trace")
        self.profiler._start()
        for name in ("profile_memory", "with_stack", "record_shapes", "with_modules", "with_flops"):
            if getattr(self, name):
                self.add_metadata_json(name, "1")
        for name, value in self.preset_metadata.items():
            self.add_metadata_json(name, value)

    def stop_trace(self):
        """Ends recording."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before stopping trace")
        if self._records():
            self.profiler._stop()

    def _records(self):
        return self.profiler is not None and self.profiler._recorder is not None

    def _of(self, doing):
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {doing}")
        return self.profiler

    def events(self):
        """The events (`torch.autograd.profiler_util.FunctionEvent`) of the turn that is over, in the order in which they began."""
        found = self._of("accessing events")
        if getattr(self.experimental_config, "trace_only", False):
            raise RuntimeError("events() is not available when trace_only=True in ExperimentalConfig. Use export_chrome_trace() instead.")
        return found.function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Sums of the events of each name; `table` of it is their text. Events of other shapes, or from other places in the program, have
        sums of their own where that is asked for."""
        return self._of("getting key averages").key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path, use_python_export=False):
        """Writes a file for chrome://tracing, Perfetto or TensorBoard, whole or not at all; compressed if it ends in ``.gz``."""
        self._of("exporting chrome trace").export_chrome_trace(path, self._trace_metadata)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes the places from which events came, as programs that draw flame graphs read it; ``with_stack`` is needed."""
        return self._of("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path, device=None):
        """Refuses: when memory is freed is not recorded."""
        raise missing("timelines of memory", "profile_memory=True (the bytes of results), jax.profiler.save_device_memory_profile(path)")

    def toggle_collection_dynamic(self, enable, activities):
        """Refuses: a profile records from begin to end."""
        raise missing("profiles that are switched on and off", "torch.profiler.schedule")

    def add_metadata(self, key, value):
        """A text that the file of the trace holds, too."""
        self._trace_metadata[key] = json.dumps(value)

    def add_metadata_json(self, key, value):
        """A value, as JSON, that the file of the trace holds, too."""
        json.loads(value)
        self._trace_metadata[key] = value

    def preset_metadata_json(self, key, value):
        """The same, before the profile begins."""
        self.preset_metadata[key] = value


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile(_KinetoProfile):
    """Records operators, nodes of the graph, optimizers' steps and the regions of `record_function`, with their times, as a tree.

    While it records, operators run one by one, each is waited for, and its time is the wall time until its result is there. No number
    differs from a run without a profile, but programs are slower: without one, operators run together. ``fused=True``, which PyTorch has
    not, records a program as it runs without a profile: regions, and the runs of the tape (``jtensor::run``).

    ``record_shapes``: of arguments. ``profile_memory``: the bytes of results that are no views of arguments, nothing taken off when memory
    is freed. ``with_flops``: of products, of two-dimensional convolutions, of ``add`` and ``mul``. ``with_stack``: from where each was
    called. ``with_modules``: nothing, as in PyTorch for what is no TorchScript. Kernels of a GPU are not recorded apart.

    An operator's first call compiles it, which is an event within it (``jtensor::compile``). While a schedule warms up, operators run one
    by one already, so that what later steps need is compiled.

    ``schedule(step)`` says when to record, from one call of `step` to the next; ``on_trace_ready(profile)`` is called when a turn is over,
    and at the end. ``acc_events`` keeps the events of earlier turns. ``post_processing_timeout_s`` changes nothing: there is little to do
    after recording.

    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    >>> with torch.profiler.profile(record_shapes=True) as prof:
    ...     with torch.profiler.record_function("forward"):
    ...         y = model(torch.ones(2, 3))
    >>> {event.key: event.count for event in prof.key_averages() if event.key in ("forward", "aten::addmm", "aten::relu")}
    {'forward': 1, 'aten::addmm': 1, 'aten::relu': 1}
    >>> "aten::addmm" in prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    True
    """

    __module__ = "torch.profiler.profiler"

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False,
                 with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False,
                 use_cuda=None, custom_trace_id_callback=None, post_processing_timeout_s=None, fused=False):
        wanted = supported_activities() if activities is None else {
            one for item in activities for one in (item if isinstance(item, dict) else (item,)) if isinstance(one, ProfilerActivity)}
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
            wanted = wanted | {ProfilerActivity.CUDA} if use_cuda else wanted - {ProfilerActivity.CUDA}
        if not wanted:
            raise AssertionError("No valid profiler activities found")
        super().__init__(
            activities=activities if use_cuda is None else wanted, record_shapes=record_shapes, profile_memory=profile_memory,
            with_stack=with_stack, with_flops=with_flops, with_modules=with_modules, experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer, acc_events=acc_events, custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s, fused=fused)
        self.record_steps, self.schedule = schedule is not None, schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready, self.step_num, self.step_rec_fn = on_trace_ready, 0, None
        self.current_action = self.schedule(0)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def start(self):
        """Begins: as if a step began."""
        self._act(None, self.current_action)
        self._enter_step()

    def stop(self):
        """Ends, and calls the handler if something was recorded."""
        if self.profiler is None and not self.record_steps:
            raise AssertionError("Profiler must be initialized before stopping trace")
        self._leave_step()
        self._act(self.current_action, None)

    def step(self):
        """The next step begins."""
        self._leave_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        self._act(before, self.current_action)
        self._enter_step()

    def _enter_step(self):
        if self.record_steps and self._records():
            self.step_rec_fn = record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _leave_step(self):
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _act(self, before, after):
        """From one action to the next; None stands for the time before the first and after the last."""
        if before in _RECORDING and (after not in _RECORDING or before is ProfilerAction.RECORD_AND_SAVE):
            self.stop_trace()
            if self.on_trace_ready is not None and (after is None or before is ProfilerAction.RECORD_AND_SAVE):
                self.on_trace_ready(self)
        if before is ProfilerAction.WARMUP and after is not ProfilerAction.WARMUP:
            self.profiler._warm_up(False)
        if after is ProfilerAction.WARMUP and before is not ProfilerAction.WARMUP:
            self.prepare_trace()
            self.profiler._warm_up(True)
        if after in _RECORDING and not self._records():
            if before is not ProfilerAction.WARMUP:
                self.prepare_trace()
            self.start_trace()

    def get_trace_id(self):
        """The number that the file of the trace has; None before the begin."""
        return None if self.profiler is None else self.profiler.trace_id

    def set_custom_trace_id_callback(self, callback):
        """Says what makes that number from the next turn on."""
        self.custom_trace_id_callback = callback
