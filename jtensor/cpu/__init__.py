"""`torch.cpu`: the CPU asked the questions that one asks a GPU. It is one device, always there. Owns: the answers."""
from . import amp as amp

__all__ = ["Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count", "is_available", "is_initialized",
           "set_device", "stream", "synchronize"]


def is_available():
    """Whether there is a CPU: True."""
    return True


def is_initialized():
    """Whether the CPU is ready: True."""
    return True


def device_count():
    """How many CPUs PyTorch counts: 1.

    >>> torch.cpu.device_count()
    1
    """
    return 1


def current_device():
    """The name of the current CPU: "cpu"."""
    return "cpu"


def set_device(device):
    """Nothing: there is one CPU."""


def synchronize(device=None):
    """Waits for what the CPU is asked to do: runs the tape of this thread."""
    from ..trace.executor import flush
    flush("cpu.synchronize")


class Stream:
    """The CPU's queue of work, for code that asks any device for one: what is recorded runs in order."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Nothing: all is in order."""

    def record_event(self):
        """Nothing: all is in order."""

    def wait_event(self, event):
        """Nothing: all is in order."""


class Event:
    """A mark in the CPU's work, for code that asks any device for one."""

    def query(self):
        """Whether the work before it is done, as far as anybody can tell: True."""
        return True

    def record(self, stream=None):
        """Nothing: all is in order."""

    def synchronize(self):
        """Nothing: all is in order."""

    def wait(self, stream=None):
        """Nothing: all is in order."""


_default, _current = Stream(), []


def current_stream(device=None):
    """The CPU's current stream.

    >>> torch.cpu.current_stream() is torch.cpu.current_stream()
    True
    """
    return _current[-1] if _current else _default


class StreamContext:
    """A context in which a stream is the CPU's current one; None changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            _current.append(self.stream)

    def __exit__(self, type, value, traceback):
        if self.stream is not None:
            _current.pop()


def stream(stream):
    """`StreamContext` of a stream."""
    return StreamContext(stream)
