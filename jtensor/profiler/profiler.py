"""`torch.profiler.profile`: when to record, and what to do with what was recorded. Owns: schedules, the profile, its files."""
import enum
import gzip
import json
import os
import socket
import time
import warnings

from ..base import devices
from ..base.errors import missing
from .events import EventList
from .recording import Recorder, record_function


class ProfilerActivity(enum.Enum):
    """What can be recorded; here it is the wall time of regions and runs in any case."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5

    def __str__(self):
        return f"ProfilerActivity.{self.name}"

    def __hash__(self):
        return self.value


class ProfilerAction(enum.Enum):
    """What a schedule can say of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities():
    """The activities there are: CPU, and CUDA where JAX has a GPU.

    >>> torch.profiler.ProfilerActivity.CPU in torch.profiler.supported_activities()
    True
    """
    return {ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if devices.accelerators() else [])}


def kineto_available():
    """Whether `profile` is to be used, and not the older one of `torch.autograd.profiler`: yes. What it writes, no library makes."""
    return True


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """What to do at each step: first skip some, then in turns wait, warm up and record; ``repeat`` turns, 0 for any number.

    >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
                             f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0).")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", UserWarning, stacklevel=2)

    def plan(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        turn, at = divmod(step, wait + warmup + active)
        if repeat and turn >= repeat or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE
    return plan


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """A handler (``on_trace_ready``) that writes each trace to a file of a folder, where TensorBoard finds it."""
    def write(prof):
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = f"{worker_name or f'{socket.gethostname()}_{os.getpid()}'}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))
    return write


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """Records wall times of the regions of `record_function`, of steps, and of the runs of the tape.

    ``schedule(step)`` says when to record, from one call of `step` to the next; ``on_trace_ready(profile)`` is called when a turn is over,
    and at the end. ``acc_events`` keeps the events of earlier turns. ``record_shapes`` has nothing to tell: operators are not recorded
    one by one. What PyTorch has and this has not (memory, stacks, FLOPs, kernels of GPUs) is warned of when it is asked for.

    >>> with torch.profiler.profile() as prof:
    ...     with torch.profiler.record_function("sum"):
    ...         total = torch.arange(5).sum()
    >>> "sum" in prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    True
    """

    __module__ = "torch.profiler.profiler"

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False,
                 with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False,
                 use_cuda=None, custom_trace_id_callback=None, post_processing_timeout_s=None):
        self.activities = set(supported_activities() if activities is None else activities)
        if not all(isinstance(one, ProfilerActivity) for one in self.activities) or not self.activities:
            raise AssertionError("No valid profiler activities found")
        _said_to_be_missing(profile_memory=profile_memory, with_stack=with_stack, with_flops=with_flops, with_modules=with_modules,
                            kernels=ProfilerActivity.CUDA in self.activities and bool(devices.accelerators()))
        self.record_steps, self.schedule = schedule is not None, schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready, self.acc_events, self.step_num = on_trace_ready, acc_events, 0
        self.current_action, self._recorder, self._events, self._step, self._metadata = self.schedule(0), None, None, None, {}

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
        if self._recorder is None and self._events is None and not self.record_steps:
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
        if self.record_steps and self._recorder is not None:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()
            self._step._event.name = "ProfilerStep*"

    def _leave_step(self):
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _act(self, before, after):
        """From one action to the next; None stands for the time before the first and after the last."""
        was, now = before in _RECORDING, after in _RECORDING
        if was and (not now or before is ProfilerAction.RECORD_AND_SAVE):
            self._recorder.stop()
            kept = self._events if self.acc_events and self._events is not None else EventList()
            self._events, self._recorder = EventList([*kept, *self._recorder.events]), None
            if self.on_trace_ready is not None and (after is None or before is ProfilerAction.RECORD_AND_SAVE):
                self.on_trace_ready(self)
        if now and self._recorder is None:
            if Recorder.current is not None:
                raise RuntimeError("Profiler is already enabled on this thread")
            self._recorder = Recorder().start()

    def _recorded(self, doing):
        events = self._events if self._recorder is None else self._recorder.events
        if events is None:
            raise AssertionError(f"Profiler must be initialized before {doing}")
        return events

    def events(self):
        """The events, in the order in which they began."""
        return self._recorded("accessing events")

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Sums of the events of each name; `table` of it is their text."""
        return self._recorded("getting key averages").key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path):
        """Writes a file for chrome://tracing, Perfetto or TensorBoard; compressed if it ends in ``.gz``."""
        events = self._recorded("exporting chrome trace")
        path = os.fspath(path)
        plain = path.removesuffix(".gz")
        events.export_chrome_trace(plain)
        if self._metadata:
            with open(plain) as file:
                told = {**json.load(file), **self._metadata}
            with open(plain, "w") as file:
                json.dump(told, file)
        if plain != path:
            with open(plain, "rb") as file, gzip.open(path, "wb") as packed:
                packed.writelines(file)
            os.remove(plain)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Refuses: there are no stacks."""
        return self._recorded("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path, device=None):
        """Refuses: memory is not recorded."""
        raise missing("timelines of memory", "jax.profiler.save_device_memory_profile(path)")

    def add_metadata(self, key, value):
        """A text that the file of the trace holds, too."""
        self._metadata[key] = value

    def add_metadata_json(self, key, value):
        """A value, as JSON, that the file of the trace holds, too."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key, value):
        """The same, before the profile begins."""
        self.add_metadata_json(key, value)


_INSTEAD = {"profile_memory": "jax.profiler.save_device_memory_profile(path)", "with_stack": "jtensor.report(), which names lines",
            "with_flops": "wall times alone", "with_modules": "torch.profiler.record_function in a module's forward",
            "kernels": "jax.profiler.trace(folder), which records the kernels of GPUs"}


def _said_to_be_missing(**asked):
    for name, wanted in asked.items():
        if wanted:
            warnings.warn(f"jtensor's profiler does not have {name}; what works: {_INSTEAD[name]}", UserWarning, stacklevel=3)


class legacy_profile:
    """`torch.autograd.profiler.profile`: records while it is entered, unless ``enabled`` is False."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False,
                 with_stack=False, with_modules=False, use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False,
                 custom_trace_id_callback=None, post_processing_timeout_s=None, activity_filters=None):
        _said_to_be_missing(profile_memory=profile_memory, with_stack=with_stack, with_flops=with_flops, with_modules=with_modules)
        self.enabled, self.entered, self.function_events = enabled, False, None

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        if Recorder.current is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        self.entered, self._recorder = True, Recorder().start()
        return self

    def __exit__(self, *exc):
        if self.enabled:
            self._recorder.stop()
            self.function_events = self._recorder.events
        return False

    def _events(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self._events().key_averages(group_by_input_shape, group_by_stack_n)

    def table(self, **options):
        return self.key_averages().table(**options)

    def total_average(self):
        return self._events().total_average()

    def export_chrome_trace(self, path):
        return self._events().export_chrome_trace(path)

    @property
    def self_cpu_time_total(self):
        return self._events().self_cpu_time_total

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else self.table()

    __repr__ = __str__


legacy_profile.__name__ = legacy_profile.__qualname__ = "profile"
legacy_profile.__module__ = "torch.autograd.profiler"


class emit_nvtx:
    """Refuses: operators are not run one by one, so that nothing could mark them."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise missing("marks of each operator for NVIDIA's profilers", "torch.cuda.nvtx.range, and torch.profiler.record_function")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False
