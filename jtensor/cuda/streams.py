"""`torch.cuda.streams`: the streams and events of GPUs, which `jtensor.streams` explains. Owns: what they are under CUDA's names."""
from .. import streams
from ..base import devices
from ..base.errors import missing
from ._asked import class_wanted, wanted

__all__ = ["Event", "ExternalStream", "Stream", "StreamContext", "current_stream", "default_stream",
           "get_stream_from_external", "set_stream", "stream"]


class Stream(streams.Stream):
    """A queue of work on a GPU; all are one queue here. RuntimeError without a GPU."""

    __module__ = "torch.cuda.streams"

    def __init__(self, device=None, priority=0, **options):
        if not devices.accelerators():
            raise RuntimeError("torch.cuda.Stream requires CUDA support")
        super().__init__(devices.device("cuda", device) if isinstance(device, int) else device, priority=priority, **options)

    priority = property(lambda self: self._priority)

    @property
    def cuda_stream(self):
        return self.native_handle

    def record_event(self, event=None):
        return super().record_event(Event() if event is None else event)

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device} stream_id={self.stream_id}>"


class ExternalStream(Stream):
    """A stream that other code has made: not here."""

    def __new__(cls, stream_ptr, device=None, **kwargs):
        wanted()
        raise missing("streams that other code has made", "torch.cuda.Stream()")


class Event(streams.Event):
    """A mark in the work of a GPU, for times and order. RuntimeError without a GPU."""

    __module__ = "torch.cuda.streams"

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        class_wanted("Event")
        if interprocess or external:
            raise missing("events that other processes or programs see", "torch.cuda.Event(enable_timing=...)")
        super().__init__("cuda", enable_timing=enable_timing)

    def __repr__(self):
        return "<torch.cuda.Event uninitialized>" if self._at is None else "<torch.cuda.Event>"


class StreamContext:
    """A context in which a stream is the current one of its GPU; None changes nothing, and nothing changes without a GPU."""

    __module__ = "torch.cuda"

    def __init__(self, stream):
        self.stream, self._entered = stream, []

    def __enter__(self):
        if self.stream is not None and devices.accelerators():
            self._entered.append(current_stream(self.stream.device))
            set_stream(self.stream)

    def __exit__(self, type, value, traceback):
        if self._entered:
            set_stream(self._entered.pop())


def stream(stream):
    """`StreamContext` of a stream, or None.

    >>> with torch.cuda.stream(None):
    ...     pass
    """
    return StreamContext(stream)


def set_stream(stream):
    """Makes a stream the current one of its GPU; nothing for None."""
    if stream is not None:
        streams.set_current(stream)


def current_stream(device=None):
    """The current stream of a GPU."""
    wanted()
    return streams.current(devices.device("cuda", devices.index_of(device) or 0), Stream)


def default_stream(device=None):
    """The stream of a GPU that is current unless another is set."""
    wanted()
    return Stream(devices.device("cuda", devices.index_of(device) or 0), stream_id=0)


def get_stream_from_external(data_ptr, device=None):
    """A stream that other code has made: not here."""
    wanted()
    raise missing("streams that other code has made", "torch.cuda.Stream()")
