"""What a profile has recorded: events with a name and a span of time, which lie in each other, and sums of them.

Owns: `FunctionEvent`, `FunctionEventAvg` and `EventList` with PyTorch's fields, which event lies in which. Their text is made in `tables`,
their files in `files`. May not know: what the events are of, how they are recorded (`recording`).
"""
import enum
import operator
from collections import namedtuple

from . import files, tables
from .tables import duration


class DeviceType(enum.Enum):
    """Where something happens: PyTorch's list; here it is ``CPU`` for all events."""

    CPU, CUDA, MKLDNN, OPENGL, OPENCL, IDEEP, HIP, FPGA, MAIA, XLA, Vulkan, Metal, XPU, MPS, Meta, HPU, VE, Lazy, IPU, MTIA, PrivateUse1 = \
        range(21)

    def __str__(self):
        return f"DeviceType.{self.name}"


class RecordScope(enum.Enum):
    """What an event is of: an operator, a node of the graph that runs backwards, a region of the user's."""

    FUNCTION, BACKWARD_FUNCTION, TORCHSCRIPT_FUNCTION, KERNEL_FUNCTION_DTYPE, CUSTOM_CLASS, BUILD_FEATURE, LITE_INTERPRETER, USER_SCOPE, \
        STATIC_RUNTIME_OP, STATIC_RUNTIME_MODEL = range(10)


BACKWARD, USER = RecordScope.BACKWARD_FUNCTION.value, RecordScope.USER_SCOPE.value
Kernel = namedtuple("Kernel", ["name", "device", "duration"])


class Interval:
    """From when to when, in microseconds since the profile began."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class _Timed:
    """What events and sums of events have in common."""

    @property
    def cpu_time(self):
        """Microseconds a call."""
        return 1.0 * self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        return 1.0 * self.device_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: duration(self.cpu_time))
    device_time_str = property(lambda self: duration(self.device_time))
    cpu_time_total_str = property(lambda self: duration(self.cpu_time_total))
    device_time_total_str = property(lambda self: duration(self.device_time_total))
    self_cpu_time_total_str = property(lambda self: duration(self.self_cpu_time_total))
    self_device_time_total_str = property(lambda self: duration(self.self_device_time_total))


def _of_cuda(name):
    """A field by its former name, which is warned of."""
    def read(self):
        import warnings
        warnings.warn(f"`{name}` is deprecated, please use `{name.replace('cuda', 'device')}` instead." if name == "cuda_time" else
                      f"`{name}` is deprecated. Use `{name.replace('cuda', 'device')}` instead.", FutureWarning, stacklevel=2)
        return getattr(self, name.replace("cuda", "device"))
    return property(read)


_Timed.cuda_time = _of_cuda("cuda_time")


class FunctionEvent(_Timed):
    """One call of an operator, one run of a node of the graph, one region: its ``name``, ``time_range``, ``thread``, what it lies in
    (``cpu_parent``) and what lies in it (``cpu_children``).

    ``cpu_memory_usage``: bytes; ``flops``; ``input_shapes``: of its arguments; ``stack``: from where it was called; ``scope``: the value of
    a `RecordScope`. Kernels of a GPU are not recorded by themselves: times are wall times, to the moment when results are there.
    """

    def __init__(self, id, name, thread, start_us, end_us, overload_name=None, fwd_thread=None, input_shapes=None, stack=None, scope=0,
                 use_device=None, cpu_memory_usage=0, device_memory_usage=0, is_async=False, is_remote=False, sequence_nr=-1, node_id=-1,
                 device_type=DeviceType.CPU, device_index=0, device_resource_id=None, is_legacy=False, flops=None, trace_name=None,
                 concrete_inputs=None, kwinputs=None, is_user_annotation=False, is_python_function=False, activity_type=None,
                 metadata_json=None, flow_id=None, flow_type=None, flow_start=None, external_id=0, linked_correlation_id=0, extra_meta=None,
                 structured_input_shapes=None, structured_input_strides=None, input_dtypes=None, python_id=-1, python_parent_id=-1,
                 python_module_id=-1):
        given = dict(locals())
        del given["self"], given["start_us"], given["end_us"], given["extra_meta"], given["metadata_json"]
        self.__dict__.update(given)
        self.time_range, self.count, self.kernels, self.cpu_children, self.cpu_parent = Interval(start_us, end_us), 1, [], [], None
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1
        self.event_metadata, self.operations = None, None

    key = property(lambda self: self.name)

    @property
    def _on_cpu(self):
        return self.device_type is DeviceType.CPU

    @property
    def cpu_time_total(self):
        """Microseconds from its begin to its end."""
        return self.time_range.elapsed_us() if self._on_cpu else 0

    def _own(self, total):
        """A field without what the events within it have of it."""
        if self.is_async or not self._on_cpu:
            return 0
        return getattr(self, total) - sum([getattr(child, total) for child in self.cpu_children])

    self_cpu_time_total = property(lambda self: self._own("cpu_time_total"))
    self_cpu_memory_usage = property(lambda self: self._own("cpu_memory_usage"))
    self_device_memory_usage = property(lambda self: self._own("device_memory_usage"))

    @property
    def device_time_total(self):
        if self.is_async or not self.use_device:
            return 0
        if not self._on_cpu:
            return self.time_range.elapsed_us()
        within = 0 if self.is_legacy else sum([child.device_time_total for child in self.cpu_children])
        return sum([kernel.duration for kernel in self.kernels]) + within

    @property
    def self_device_time_total(self):
        if self.is_async or not self.use_device:
            return 0
        return self.device_time_total - (sum([child.device_time_total for child in self.cpu_children]) if self._on_cpu else 0)

    cuda_time_total, self_cuda_time_total = _of_cuda("cuda_time_total"), _of_cuda("self_cuda_time_total")
    self_cuda_memory_usage = _of_cuda("self_cuda_memory_usage")

    def append_kernel(self, name, device, duration):
        """Adds a kernel that it has started on a device."""
        self._must_be_on_cpu(self)
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child):
        """Adds an event that lies in it directly."""
        self._must_be_on_cpu(self, child)
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        """Says in which event it lies directly."""
        self._must_be_on_cpu(self, parent)
        self.cpu_parent = parent

    @staticmethod
    def _must_be_on_cpu(*events):
        for event in events:
            assert isinstance(event, FunctionEvent) and event._on_cpu, "an event of the CPU is expected"

    def __repr__(self):
        device = self.use_device
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} device_type={self.device_type} "
                f"node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
                f"cpu_children={[child.id for child in self.cpu_children]} {device}_time={self.device_time_str} name={self.name} "
                f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage} is_async={self.is_async} is_remote={self.is_remote} "
                f"seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>")


_SUMMED = ("cpu_time_total", "device_time_total", "self_cpu_time_total", "self_device_time_total", "cpu_memory_usage",
           "device_memory_usage", "self_cpu_memory_usage", "self_device_memory_usage", "count")
_TAKEN = ("key", "node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name", "input_shapes", "stack", "scope",
          "device_type", "is_legacy", "use_device", "is_user_annotation")


class FunctionEventAvg(_Timed):
    """Events of one name together: ``count``, and microseconds and bytes in all, with and without what lies in them (``self_``).

    What else it says (``input_shapes``, ``stack``, ``scope``) is that of the first event.
    """

    def __init__(self):
        for name in _SUMMED:
            setattr(self, name, 0)
        for name in _TAKEN[:-1]:
            setattr(self, name, None)
        self.node_id, self.is_async, self.is_remote, self.is_legacy, self.flops = 0, False, False, False, 0
        self.device_type = DeviceType.CPU

    def add(self, other):
        """Counts one more event, or the sum of others of its name, in; answers with itself."""
        if self.key is None:
            for name in _TAKEN:
                setattr(self, name, getattr(other, name))
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.flops is None:
            self.flops = other.flops
        elif other.flops is not None:
            self.flops += other.flops
        return self

    __iadd__ = add

    def __repr__(self):
        device = self.use_device or "cuda"
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
                f" self_{device}_time={self.self_device_time_total_str} {device}_time={self.device_time_str} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage}>")


class EventList(list):
    """Events, or sums of events.

    >>> with torch.profiler.profile() as prof:
    ...     x = torch.ones(3) + 1
    >>> [(event.key, event.count) for event in prof.key_averages() if event.key != "jtensor::compile"]
    [('aten::ones', 1), ('aten::add', 1)]
    """

    def __init__(self, *args, **options):
        self._use_device, self._profile_memory, self._with_flops = [
            options.pop(name, default) for name, default in (("use_device", None), ("profile_memory", False), ("with_flops", False))]
        super().__init__(*args, **options)
        self._tree_built = False

    def _build_tree(self):
        """Finds out from their times which event lies in which, on each thread. The only event within one of the same name is that one."""
        open_on = {}
        for event in sorted([event for event in self if not event.is_async and event.device_type is DeviceType.CPU],
                            key=lambda event: (event.time_range.start, -event.time_range.end)):
            around, span = open_on.setdefault((event.thread, event.node_id), []), event.time_range
            while around and (span.start >= around[-1].time_range.end or span.end > around[-1].time_range.end):
                around.pop()
            if around:
                around[-1].append_cpu_child(event)
                event.set_cpu_parent(around[-1])
            around.append(event)
        while True:
            twice = [event for event in self if event.cpu_parent is not None and event.cpu_parent.name == event.name
                     and len(event.cpu_parent.cpu_children) == 1]
            if not twice:
                break
            for event in twice:
                parent = event.cpu_parent
                parent.cpu_children, parent.kernels = event.cpu_children, event.kernels
                for child in event.cpu_children:
                    child.cpu_parent = parent
            left_out = set(map(id, twice))
            self[:] = [event for event in self if id(event) not in left_out]
        self._set_backward_stacks()
        self._tree_built = True

    def _set_backward_stacks(self):
        """A node that runs backwards, and what lies in it, is told of from where its operator was called: by the number that both have."""
        forwards, backwards = {}, []
        for event in self:
            node = event
            while node is not None and node.scope != BACKWARD:
                node = node.cpu_parent
            if node is not None:
                backwards.append((event, node))
            elif event.stack is not None:
                forwards.setdefault((event.sequence_nr, event.thread), event.stack)
        for event, node in backwards:
            if node.fwd_thread is None:
                raise AssertionError("Expected fwd_thread to be set for backward parent")
            event.stack = forwards.get((node.sequence_nr, node.fwd_thread), [])

    @property
    def self_cpu_time_total(self):
        """Microseconds in all."""
        return sum([event.self_cpu_time_total for event in self])

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """The sums of the events of each name; apart by their shapes, the ``group_by_stack_n`` innermost places they were called from, or
        the forms of their operators, where that is asked for."""
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        sums = {}
        for event in self:
            key = [event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(str(event.input_shapes))
            if group_by_stack_n > 0:
                key += event.stack[:group_by_stack_n]
            sums.setdefault(tuple(key), FunctionEventAvg()).add(event)
        made = EventList(sums.values(), use_device=self._use_device, profile_memory=self._profile_memory, with_flops=self._with_flops)
        for one in made:
            one.stack = one.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                one.input_shapes = ""
            if not group_by_overload_name:
                one.overload_name = ""
        return made

    def total_average(self):
        """All of it together."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, time_unit=None):
        """The events as a text, in the order of the values of ``sort_by``, the largest first, ``row_limit`` of them (-1: all).

        ``time_unit``: ``"s"``, ``"ms"`` or ``"us"`` for all times; by default each has the one that suits it.
        """
        rows = self
        if sort_by is not None and self:
            rows = sorted(self, key=operator.attrgetter(_by_device(sort_by)), reverse=True)
        widths = tables.Widths(max_name_column_width, max_shapes_column_width, max_src_column_width)
        return tables.written(rows, self[0].use_device if self else None, widths, row_limit, header, self._with_flops, self._profile_memory,
                              top_level_events_only, time_unit)

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        """Writes the events as a file for chrome://tracing or Perfetto."""
        files.write_whole(path, files.simple_trace(self))

    def supported_export_stacks_metrics(self):
        """What `export_stacks` can weigh by."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path, metric):
        """Writes a line for each event with a stack, from the outermost place to the innermost and then the microseconds, as programs that
        draw flame graphs read it."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        files.write_whole(path, files.stacks(self, _by_device(metric)))


def _by_device(name):
    for device in ("cuda", "xpu", "privateuse1"):
        name = name.replace(device, "device")
    return name
