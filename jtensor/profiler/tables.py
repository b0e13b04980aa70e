"""The text of a profile: rows of events, with PyTorch's columns, widths and units. Owns: that. May not know: what the events are of."""
import math
from typing import NamedTuple

GAP, WIDTH = "  ", 12
_UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


class Widths(NamedTuple):
    """The most characters of a column of names, of shapes, of places in a program; None for any number."""

    name: int | None
    shapes: int | None
    source: int | None


def duration(microseconds, unit=None):
    """A time as PyTorch writes it.

    >>> duration(1500.0), duration(12.3), duration(1500.0, "s")
    ('1.500ms', '12.300us', '0.002s')
    """
    for name, size in _UNITS:
        if name == unit or unit not in ("s", "ms", "us") and (microseconds >= size or name == "us"):
            return f"{microseconds / size:.3f}{name}"


def share(part, whole):
    """A part of a whole in percent; NaN where there is no whole."""
    if whole == 0:
        if part != 0:
            raise AssertionError(f"Expected time_us == 0 but got {part}")
        return "NaN"
    return f"{part * 100.0 / whole:.2f}%"


def memory(count):
    """A number of bytes as PyTorch writes it.

    >>> memory(12), memory(-2048)
    ('12 B', '-2.00 KB')
    """
    for name, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {name}"
    return f"{count} B"


def _wide(longest, most):
    return longest + 4 if most is None else min(longest + 4, most)


def _cut(name, most):
    return name if most is None or len(name) < most - 3 else name[:most - 3] + "..."


def _ending(path, width):
    """A place in a program, without its beginning where that is too long."""
    if len(path) <= width:
        return path
    path = path[len(path) - width:]
    return "..." + path[3:] if len(path) > 3 else path


class _Table:
    """Columns, each with its title, its width, what stands in it, and whether that stands on the right."""

    def __init__(self):
        self.columns = []

    def add(self, title, cell, width=WIDTH, right=True):
        self.columns.append((title, cell, width, right))

    def line(self, cells):
        return "".join([(cell.rjust(width) if right else cell.ljust(width)) + GAP
                        for cell, (_, _, width, right) in zip(cells, self.columns, strict=True)])

    def titles(self):
        return self.line([title for title, *_ in self.columns])

    def rule(self):
        return "".join(["-" * width + GAP for _, _, width, _ in self.columns])

    def row(self, event):
        return self.line([cell(event) for _, cell, _, _ in self.columns])


def written(events, device, widths, row_limit, header, with_flops, with_memory, top_only, unit):
    """The table of events, which are in the order of its rows. ``device``: the one besides the CPU that was looked at, or None."""
    if not len(events):
        return ""
    on_device = any(event.self_device_time_total > 0 for event in events)
    if on_device and not device:
        raise RuntimeError("use_device is None, but there is device performance data.")
    whole, whole_of_device = sum([event.self_cpu_time_total for event in events]), _of_device(events)
    table, label = _Table(), "None" if device is None else device.upper()

    def time(of):
        return lambda event: duration(getattr(event, of), unit)
    name_width = _wide(max([len(event.key) for event in events]), widths.name)
    table.add("Name", lambda event: _cut(event.key, widths.name), name_width)
    if any(event.overload_name for event in events):
        table.add("Overload Name", lambda event: _cut(event.overload_name, widths.name), name_width)
    table.add("Self CPU %", lambda event: _noted(event, "self_cpu_percent", share(event.self_cpu_time_total, whole)))
    table.add("Self CPU", time("self_cpu_time_total"))
    table.add("CPU total %", lambda event: _noted(event, "total_cpu_percent", 0 if event.is_async else share(event.cpu_time_total, whole)))
    table.add("CPU total", time("cpu_time_total"))
    table.add("CPU time avg", time("cpu_time"))
    if on_device:
        table.add(f"Self {label}", time("self_device_time_total"))
        table.add(f"Self {label} %", lambda event: _noted(event, "total_device_percent", share(
            event.self_device_time_total, whole_of_device)))
        table.add(f"{label} total", time("device_time_total"))
        table.add(f"{label} time avg", time("device_time"))
    if with_memory:
        table.add("CPU Mem", lambda event: memory(event.cpu_memory_usage))
        table.add("Self CPU Mem", lambda event: memory(event.self_cpu_memory_usage))
        if device and any(event.self_device_memory_usage > 0 for event in events):
            table.add(f"{label} Mem", lambda event: memory(event.device_memory_usage))
            table.add(f"Self {label} Mem", lambda event: memory(event.self_device_memory_usage))
    table.add("# of Calls", lambda event: str(event.count))
    if any(event.node_id != -1 for event in events):
        table.add("Node ID", lambda event: str(event.node_id))
    if any(event.input_shapes for event in events):
        width = _wide(max([len(str(event.input_shapes)) for event in events]), widths.shapes)
        table.add("Input Shapes", lambda event: str(event.input_shapes)[:width], width)
    stacks = [event.stack for event in events if event.stack]
    source_width = _wide(max([len(place) for stack in stacks for place in stack]), widths.source) if stacks else 0
    if stacks:
        table.add("Source Location", lambda event: _ending(event.stack[0], source_width) if event.stack else "", source_width, right=False)
    if with_flops:
        _add_flops(table, events)
        if stacks:                                                     # PyTorch hands the cells over in another order than the titles
            *columns, source, flops = table.columns
            if flops[0].startswith("Total "):
                table.columns = [*columns, (source[0], flops[1], *source[2:]), (flops[0], source[1], *flops[2:])]
    lines = [] if header is None else ["=" * (len(table.rule()) - len(GAP)), header]
    if top_only:
        lines += ["=" * (len(table.rule()) - len(GAP)), "This report only display top-level ops statistics"]
    lines += [table.rule(), table.titles(), table.rule()]
    shown = [event for event in events if event.cpu_parent is None] if top_only else events
    for event in shown if row_limit < 0 else shown[:row_limit]:
        lines.append(table.row(event))
        if stacks:
            before = [""] * (len(table.columns) - 1)
            lines += [table.line([*before, _ending(place, source_width)]) for place in event.stack[1:]]
            lines.append(table.line([*before, ""]))
    lines += [table.rule(), f"Self CPU time total: {duration(whole, unit)}"]
    if on_device:
        lines.append(f"Self {label} time total: {duration(whole_of_device, unit)}")
    return "\n".join([*lines, ""])


def _noted(event, name, text):
    """A cell that the event keeps, as PyTorch's does."""
    setattr(event, name, text)
    return str(text)


def _of_device(events):
    """Microseconds in all on the device besides the CPU."""
    return sum([event.self_device_time_total for event in events if event.device_type.name == "CPU" and event.is_legacy
                or event.device_type.name in ("CUDA", "PrivateUse1", "MTIA", "XPU") and not event.is_user_annotation])


def _add_flops(table, events):
    """A column of operations, in the unit of the row that has fewest; none where no row has any."""
    counts = [event.flops for event in events if event.flops > 0]
    if counts:
        power = max(0, min(math.log10(min(counts)) / 3, len(_FLOPS) - 1))
        scale = pow(10, math.floor(power) * -3.0)
        table.add(f"Total {_FLOPS[int(power)]}", lambda event: f"{event.flops * scale:8.3f}" if event.flops > 0 else "--")
