"""What a profile can record, and when: activities, schedules, the handler that writes files. Owns: these. May not know: how is recorded."""
import enum
import os
import socket
import time
import warnings

from ..base import devices


class ProfilerActivity(enum.Enum):
    """What can be recorded. Here it is wall times in any case, to the moment when results are there, also those of a GPU."""

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
    """A handler (``on_trace_ready``) that writes each trace to a file of a folder, where TensorBoard finds it.

    The file is called ``worker_name`` (the machine and the process by default) and the time. ``use_python_export`` makes no difference.
    """
    def write(prof):
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = f"{worker_name or f'{socket.gethostname()}_{os.getpid()}'}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))
    return write
