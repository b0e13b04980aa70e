"""`torch.monitor`: events that handlers are told of, and statistics over spans of time.

Owns: who is told, what a `Stat` counts, when its span ends. May not know: what events are about.
"""
import datetime
import threading
import time
from collections.abc import Callable
from typing import Any

from .base.errors import pybind_refusal

__all__ = ["Aggregation", "Event", "EventHandlerHandle", "Stat", "TensorboardEventHandler", "data_value_t", "log_event",
           "register_event_handler", "unregister_event_handler"]

STAT_EVENT = "torch.monitor.Stat"
_ALL = 2 ** 63 - 1


class data_value_t:
    """The type of an event's values: a text, an int or a float (a truth value becomes one). To be named alone."""

    __module__ = "torch._C._monitor"

    def __init__(self):
        raise TypeError("torch._C._monitor.data_value_t: No constructor defined!")


class Aggregation:
    """What a `Stat` tells of its numbers: ``VALUE``, ``MEAN``, ``COUNT``, ``SUM``, ``MAX``, ``MIN``."""

    __module__ = "torch._C._monitor"
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = int(value)

    @property
    def name(self) -> str:
        """Its name."""
        return next((name for name, one in type(self).__members__.items() if one.value == self.value), "???")

    def __repr__(self) -> str:
        return f"<Aggregation.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"Aggregation.{self.name}"

    def __int__(self) -> int:
        return self.value

    __index__ = __hash__ = __int__

    def __eq__(self, other):
        return isinstance(other, Aggregation) and other.value == self.value


Aggregation.__members__ = {name: Aggregation(value) for name, value in
                           (("VALUE", 0), ("MEAN", 2), ("COUNT", 3), ("SUM", 4), ("MAX", 5), ("MIN", 6))}
for _name, _one in Aggregation.__members__.items():
    setattr(Aggregation, _name, _one)
VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation.__members__.values()


def _data(given):
    """An event's data as it keeps it; None where it is none."""
    fits = isinstance(given, dict) and all(isinstance(key, str) and isinstance(one, str | int | float) for key, one in given.items())
    return {key: float(one) if isinstance(one, bool) else one for key, one in given.items()} if fits else None


class Event:
    """Something that happened: ``name``, ``timestamp`` (a `datetime`) and ``data``, texts and numbers by name.

    >>> import datetime
    >>> from jtensor import monitor
    >>> event = monitor.Event(name="epoch", timestamp=datetime.datetime(2026, 1, 2), data={"loss": 0.5})
    >>> seen = []
    >>> handle = monitor.register_event_handler(lambda event: seen.append(event.data))
    >>> monitor.log_event(event)
    >>> monitor.unregister_event_handler(handle)
    >>> seen
    [{'loss': 0.5}]
    """

    __module__ = "torch._C._monitor"
    __slots__ = ("name", "timestamp", "_kept")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(("name", "timestamp", "data"), args, strict=False))
        fits = len(args) <= 3 and not given.keys() & kwargs.keys() and (given := given | kwargs).keys() == {"name", "timestamp", "data"}
        data = _data(given.get("data"))
        if not fits or not isinstance(given["name"], str) or not isinstance(given["timestamp"], datetime.datetime) or data is None:
            raise pybind_refusal("__init__", ["torch._C._monitor.Event(name: str, timestamp: datetime.datetime, "
                                              "data: collections.abc.Mapping[str, data_value_t])"], args, kwargs, "constructor")
        self.name, self.timestamp, self._kept = given["name"], given["timestamp"], data

    @property
    def data(self) -> dict[str, Any]:
        """A copy of its data."""
        return dict(self._kept)

    @data.setter
    def data(self, given):
        data = _data(given)
        if data is None:
            raise pybind_refusal("", ["(self: torch._C._monitor.Event, arg0: collections.abc.Mapping[str, data_value_t]) -> None"],
                                 (self, given))
        self._kept = data


# -- who is told ------------------------------------------------------------------------------------------------------

_HANDLERS, _LOCK = {}, threading.Lock()


class EventHandlerHandle:
    """What `register_event_handler` answers."""

    __module__ = "torch._C._monitor"

    def __init__(self):
        raise TypeError("torch._C._monitor.EventHandlerHandle: No constructor defined!")


def register_event_handler(*args: Any, **kwargs: Any) -> EventHandlerHandle:
    """``register_event_handler(callback)``: from now on the function is called with each event. Answers a handle to unregister it by."""
    callback = args[0] if len(args) == 1 else kwargs.get("callback")
    if len(args) + len(kwargs) != 1 or not isinstance(callback, Callable):
        raise pybind_refusal("register_event_handler", ["(callback: collections.abc.Callable[[torch._C._monitor.Event], None]) -> "
                                                        "torch._C._monitor.EventHandlerHandle"], args, kwargs)
    handle = EventHandlerHandle.__new__(EventHandlerHandle)
    with _LOCK:
        _HANDLERS[handle] = callback
    return handle


def unregister_event_handler(*args: Any, **kwargs: Any) -> None:
    """``unregister_event_handler(handler)``: its function is called no more."""
    handle = args[0] if len(args) == 1 else kwargs.get("handler")
    if len(args) + len(kwargs) != 1 or not isinstance(handle, EventHandlerHandle):
        raise pybind_refusal("unregister_event_handler", ["(handler: torch._C._monitor.EventHandlerHandle) -> None"], args, kwargs)
    with _LOCK:
        _HANDLERS.pop(handle, None)


def log_event(*args: Any, **kwargs: Any) -> None:
    """``log_event(event)``: calls all handlers. What one raises goes on to the caller."""
    event = args[0] if len(args) == 1 else kwargs.get("event")
    if len(args) + len(kwargs) != 1 or not isinstance(event, Event):
        raise pybind_refusal("log_event", ["(event: torch._C._monitor.Event) -> None"], args, kwargs)
    with _LOCK:
        told = list(_HANDLERS.values())
    for one in told:
        one(event)


# -- statistics -------------------------------------------------------------------------------------------------------

_NUMBER = "typing.SupportsInt | typing.SupportsIndex"
_STAT = ("torch._C._monitor.Stat(name: str, aggregations: collections.abc.Sequence[torch._C._monitor.Aggregation], "
         f"window_size: datetime.timedelta, max_samples: {_NUMBER} = {_ALL})")


class _Counted:
    """The numbers of one span."""

    def __init__(self):
        self.count, self.sum, self.most, self.least = 0, 0.0, 0.0, 0.0

    def add(self, value):
        self.most = value if not self.count else max(self.most, value)
        self.least = value if not self.count else min(self.least, value)
        self.count, self.sum = self.count + 1, self.sum + value

    def told(self, aggregations):
        mean = self.sum / self.count if self.count else 0.0
        known = {MIN: self.least, MAX: self.most, SUM: self.sum, COUNT: float(self.count), MEAN: mean}
        return {one: value for one, value in known.items() if one in aggregations}


class Stat:
    """Statistics of numbers over spans of time: ``Stat(name, aggregations, window_size, max_samples=...)``.

    As soon as a span is over and a number is added, or `max_samples` have been, the span's statistics are logged as an event
    ``"torch.monitor.Stat"``; so are those of the last span when the object goes away. As in PyTorch, ``VALUE`` is not among them.

    >>> import datetime
    >>> from jtensor import monitor
    >>> stat = monitor.Stat("loss", (monitor.MEAN, monitor.COUNT), datetime.timedelta(hours=1), 2)
    >>> stat.add(1.)
    >>> stat.add(2.)
    >>> stat.get()
    {<Aggregation.COUNT: 3>: 2.0, <Aggregation.MEAN: 2>: 1.5}
    """

    __module__ = "torch._C._monitor"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(("name", "aggregations", "window_size", "max_samples"), args, strict=False))
        fits = len(args) <= 4 and not given.keys() & kwargs.keys()
        name, kinds, window, most = (given | kwargs).get("name"), None, None, None
        given = {"max_samples": _ALL} | given | kwargs
        if fits and given.keys() == {"name", "aggregations", "window_size", "max_samples"}:
            kinds, window, most = given["aggregations"], given["window_size"], given["max_samples"]
        self._current, self._told, self._window = _Counted(), _Counted(), None
        if (not isinstance(name, str) or not isinstance(kinds, list | tuple) or not all(isinstance(one, Aggregation) for one in kinds)
                or not isinstance(window, datetime.timedelta) or isinstance(most, float) or not hasattr(most, "__index__")):
            raise pybind_refusal("__init__", [_STAT], args, kwargs, "constructor")
        self._window = window // datetime.timedelta(milliseconds=1)
        if self._window <= 0:
            self._window = None
            raise ValueError("window_size must be a millisecond or more (PyTorch's process ends where it is less)")
        self._name, self._kinds, self._most, self._lock = name, frozenset(kinds), int(most), threading.RLock()
        self._span, self._logged = self._now(), False

    def _now(self):
        return int(time.monotonic() * 1000) // self._window

    name = property(lambda self: self._name)
    count = property(lambda self: self._current.count)

    def add(self, *args: Any, **kwargs: Any) -> None:
        """``add(v)``: one more number."""
        value = args[0] if len(args) == 1 else kwargs.get("v")
        if len(args) + len(kwargs) != 1 or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            raise pybind_refusal("add", ["(self: torch._C._monitor.Stat, v: typing.SupportsFloat | typing.SupportsIndex) -> None"],
                                 (self, *args), kwargs)
        with self._lock:
            now = self._now()
            if now != self._span:
                if not self._logged:
                    self._log()
                else:
                    self._told, self._current = self._current, _Counted()
                self._span, self._logged = now, False
            if self._logged:
                return
            self._current.add(float(value))
            if self._current.count >= self._most:
                self._log()
                self._logged = True

    def get(self) -> dict[Aggregation, float]:
        """The statistics that were logged last."""
        with self._lock:
            return self._told.told(self._kinds)

    def _log(self):
        self._told, self._current = self._current, _Counted()
        if self._told.count:
            data = {f"{self._name}.{kind.name.lower()}": value for kind, value in self._told.told(self._kinds).items()}
            log_event(Event(name=STAT_EVENT, timestamp=datetime.datetime.now(), data=data))

    def __del__(self):
        if self._window is not None:
            self._log()


class TensorboardEventHandler:
    """A handler that writes the events of `Stat` as scalars: ``register_event_handler(TensorboardEventHandler(writer))``."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        """Writes the numbers of an event of `Stat`."""
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())


class _WaitCounterTracker:
    """A span that a `_WaitCounter` counts, in builds of PyTorch that have somewhere to count: not in those that are given away."""

    __module__ = "torch._C._monitor"

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


class _WaitCounter:
    """A count of waits, which nobody reads here, as in PyTorch's own builds."""

    __module__ = "torch._C._monitor"

    def __init__(self, key: str) -> None:
        self._key = key

    def guard(self) -> _WaitCounterTracker:
        """Counts a span."""
        return _WaitCounterTracker()
