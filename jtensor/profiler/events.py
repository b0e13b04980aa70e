"""What a profile has recorded: regions of the script and runs of its tape, with wall times. Owns: events, sums of them, the table.

There are no events of single operators: they are computed together, as one program. A run says how many it was.
"""
import json
import os
import threading

from ..base.errors import missing

_COLUMNS = "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"


def duration(microseconds):
    """A time as PyTorch writes it.

    >>> duration(1500.0), duration(12.3)
    ('1.500ms', '12.300us')
    """
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    return f"{microseconds / 1e3:.3f}ms" if microseconds >= 1e3 else f"{microseconds:.3f}us"


class Interval:
    """From when to when, in microseconds since the profile began."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class _Timed:
    """What events and sums of events have in common."""

    use_device, is_async, is_remote, is_legacy, node_id, overload_name = None, False, False, False, -1, ""
    flops = cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = 0
    device_time = device_time_total = self_device_time_total = cuda_time = cuda_time_total = self_cuda_time_total = 0.0

    @property
    def cpu_time(self):
        """Microseconds a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: duration(self.cpu_time))
    cpu_time_total_str = property(lambda self: duration(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: duration(self.self_cpu_time_total))


class FunctionEvent(_Timed):
    """One region or run: its ``name``, ``time_range``, thread, what it lies in and what lies in it."""

    count = 1

    def __init__(self, id, name, start, is_user_annotation):
        self.id, self.name, self.time_range, self.is_user_annotation = id, name, Interval(start, start), is_user_annotation
        self.thread, self.cpu_children, self.cpu_parent, self.input_shapes, self.stack = threading.get_ident(), [], None, [], []

    key = property(lambda self: self.name)
    cpu_time_total = property(lambda self: self.time_range.elapsed_us())
    self_cpu_time_total = property(lambda self: self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children]))

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
                f"end_us={self.time_range.end} cpu_children={[child.id for child in self.cpu_children]}>")


class FunctionEventAvg(_Timed):
    """Events of one name together: ``count``, and microseconds in all, with and without what lies in them."""

    def __init__(self, key):
        self.key, self.count, self.cpu_time_total, self.self_cpu_time_total, self.is_user_annotation = key, 0, 0.0, 0.0, False
        self.input_shapes, self.stack = [], []

    def add(self, event):
        """Counts one more event in; answers with itself."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.is_user_annotation = self.is_user_annotation or event.is_user_annotation
        return self

    __iadd__ = add

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str}  "
                f"self_cuda_time=0.000us cuda_time=0.000us input_shapes= cpu_memory_usage=0 cuda_memory_usage=0>")


class EventList(list):
    """Events, or sums of events.

    >>> with torch.profiler.profile() as prof, torch.profiler.record_function("mine"):
    ...     x = torch.ones(3) + 1
    >>> [event.key for event in prof.key_averages()]
    ['mine', 'jtensor::run (end of a region)']
    """

    @property
    def self_cpu_time_total(self):
        """Microseconds in all."""
        return sum([event.self_cpu_time_total for event in self])

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """The sums of the events of each name. They have no shapes and no stacks that would tell them apart (`profile` says so)."""
        sums = {}
        for event in self:
            sums.setdefault(event.key, FunctionEventAvg(event.key)).add(event)
        return EventList(sums.values())

    def total_average(self):
        """All of it together."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80,
              header=None, top_level_events_only=False, time_unit=None):
        """The events as a text, sorted by an attribute (``sort_by``), with ``row_limit`` rows at most.

        Times are wall times; those of a region hold what is within it.
        """
        rows = sorted(self, key=lambda event: getattr(event, sort_by), reverse=True) if sort_by is not None else list(self)
        if not rows:
            return ""
        if top_level_events_only:
            rows = [row for row in rows if getattr(row, "cpu_parent", None) is None]
        whole = self.self_cpu_time_total
        name_width = min(max([len(row.key) for row in rows]) + 4, max_name_column_width)
        widths = [name_width, *[12] * len(_COLUMNS)]
        line = "  ".join("-" * width for width in widths) + "  "
        text = [] if header is None else ["=" * (len(line) - 2), header]
        text += [line, "  ".join(title.rjust(width) for title, width in zip(("Name", *_COLUMNS), widths)) + "  ", line]
        for row in rows[:row_limit]:
            name = row.key if len(row.key) <= name_width else row.key[:name_width - 3] + "..."
            cells = (name, _percent(row.self_cpu_time_total, whole), row.self_cpu_time_total_str, _percent(row.cpu_time_total, whole),
                     row.cpu_time_total_str, row.cpu_time_str, str(row.count))
            text.append("  ".join(cell.rjust(width) for cell, width in zip(cells, widths)) + "  ")
        return "\n".join([*text, line, f"Self CPU time total: {duration(whole)}", ""])

    __str__ = table

    def export_chrome_trace(self, path):
        """Writes the events for chrome://tracing, Perfetto or TensorBoard."""
        events = [{"ph": "X", "cat": "user_annotation" if event.is_user_annotation else "cpu_op", "name": event.name, "pid": os.getpid(),
                   "tid": event.thread, "ts": event.time_range.start, "dur": event.cpu_time_total} for event in self]
        with open(path, "w") as file:
            json.dump({"schemaVersion": 1, "traceEvents": events}, file)

    def export_stacks(self, path, metric):
        """Refuses: there are no stacks."""
        raise missing("stacks of profiled operators", "jtensor.report(), which names the lines of all runs")


def _percent(part, whole):
    return f"{part / whole * 100:.2f}%" if whole else "NaN"
