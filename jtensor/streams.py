"""`torch.Stream` and `torch.Event`: queues of work, and marks in them.

On a GPU XLA works in the order in which it is asked, so every stream of ours is the same queue: what is promised of two streams holds, and
they gain nothing. An event that is recorded waits for the work before it, so that times between two are times of that work. On the CPU
PyTorch has no events either. Owns: both classes, the current stream. May not know: tensors.
"""
import threading
import time

from .base import devices
from .base.errors import missing

_NO_EVENTS = "{} backend doesn't support events."
_UNTIMED = "Both events must be created with argument 'enable_timing=True'."
_TYPES = {"cpu": 0, "cuda": 1, "meta": 14}
_CURRENT = threading.local()


def wait(index=None):
    """Runs the tape of this thread, and waits until the GPU has done all it was asked to do."""
    from .trace.executor import flush
    flush("synchronize")
    devices.wait(index)


def _placed(device):
    """A device that streams can be of, and that is there."""
    if device is None:
        return devices.device("cuda", 0) if devices.accelerators() else devices.cpu
    device = devices.device(device)
    if device.type in ("cpu", "meta"):
        return device
    if device.type == "cuda" and devices.accelerators():
        return devices.place(device)
    raise RuntimeError(f"PyTorch is not linked with support for {device.type} devices")


class Stream:
    """A queue of work on a device: the accelerator's, or the CPU's where there is none.

    >>> torch.Stream("cpu")
    torch.Stream device_type=cpu, device_index=-1, stream_id=0
    """

    __module__ = "torch"
    _made = 0

    def __init__(self, device=None, *, priority=0, stream_id=None, device_index=None, device_type=None):
        if device_type is not None:
            device = devices.device(next(name for name, number in _TYPES.items() if number == device_type), device_index)
        self._device = _placed(device)
        if stream_id is None and self._device.type == "cuda":
            Stream._made += 1
            stream_id = Stream._made
        self.stream_id, self._priority = stream_id or 0, priority

    device = property(lambda self: self._device)
    device_index = property(lambda self: -1 if self._device.index is None else self._device.index)
    device_type = property(lambda self: _TYPES[self._device.type])

    @property
    def native_handle(self):
        if self._device.type == "cuda":
            raise missing("addresses of CUDA streams", "the stream's own methods")
        raise RuntimeError("Backend doesn't support getting stream native handle.")

    def query(self):
        """Whether all work is done: on a GPU it waits, and says that it is."""
        self.synchronize()
        return True

    def synchronize(self):
        """Waits for the work; on a GPU for all of it."""
        if self._device.type == "cuda":
            wait(self._device.index)

    def record_event(self, event=None):
        """An event at the end of the work; RuntimeError on the CPU."""
        event = Event(self._device) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """What comes later comes after the event: it does anyway."""

    def wait_stream(self, other):
        """What comes later comes after the other stream's work: it does anyway. RuntimeError on the CPU, which has no events."""
        if self._device.type != "cuda":
            raise RuntimeError(_NO_EVENTS.format(self._device.type))

    def __enter__(self):
        self._before = current(self._device) if self._device.type == "cuda" else None
        _set(self)
        return self

    def __exit__(self, *exc):
        _set(self._before)

    def _key(self):
        return self.stream_id, self._device

    def __eq__(self, other):
        return isinstance(other, Stream) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"torch.Stream device_type={self._device.type}, device_index={self.device_index}, stream_id={self.stream_id}"


def current(device, kind=Stream):
    """The current stream of a GPU on this thread: the default one unless another was set."""
    found = getattr(_CURRENT, "streams", {}).get(device)
    return kind(device, stream_id=0) if found is None else found


def _set(stream):
    if stream is not None and stream.stream_id is not None and stream.device.type == "cuda":
        _CURRENT.__dict__.setdefault("streams", {})[stream.device] = stream


set_current = _set


class Event:
    """A mark in a queue of work. On a GPU: `record` waits for the work before it, `elapsed_time` tells milliseconds between two.

    >>> torch.Event("cpu").query()
    True
    """

    __module__ = "torch"

    def __init__(self, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        self._device, self._timing, self._at = _placed(device), bool(enable_timing), None

    device = property(lambda self: self._device)
    event_id = property(lambda self: 0)

    def record(self, stream=None):
        """Marks where the work is now; RuntimeError on the CPU."""
        if self._device.type != "cuda":
            raise RuntimeError(_NO_EVENTS.format(self._device.type))
        wait((self if stream is None else stream).device.index)
        self._at = time.perf_counter()

    def wait(self, stream=None):
        """What comes later in the stream comes after this: it does anyway."""

    def query(self):
        """Whether the work before it is done: `record` has waited for it."""
        return True

    def synchronize(self):
        """Waits for the work before it, which `record` has done."""

    def elapsed_time(self, end_event):
        """Milliseconds from this event to ``end_event``, both made with ``enable_timing=True`` and recorded."""
        if not (self._timing and end_event._timing):
            raise ValueError(_UNTIMED)
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1e3

    def __repr__(self):
        index = -1 if self._device.index is None else self._device.index
        return f"torch.Event device_type={self._device.type}, device_index={index}, event_flag={int(self._timing)}, event_id=0"


def get_device_module(device=None):
    """The module of a kind of device, as `torch.cuda`; of the accelerator, or else the CPU, by default. RuntimeError for a kind without.

    >>> torch.get_device_module("cpu") is torch.cpu
    True
    """
    import importlib
    if isinstance(device, (str, devices.device)):
        kind = devices.device(device).type
    elif device is None:
        kind = "cuda" if devices.accelerators() else "cpu"
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    if kind not in ("cpu", "cuda", "mps", "xpu", "mtia"):
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return importlib.import_module(f"jtensor.{kind}")


__all__ = ["Event", "Stream", "get_device_module"]
