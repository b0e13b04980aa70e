"""The files of a profile: traces for chrome://tracing, Perfetto and TensorBoard, stacks for flame graphs.

A file is written under another name first, so that it is there whole or not at all. Owns: that, and the forms of the files. May not know:
how events are recorded.
"""
import gzip
import json
import os
import socket
import sys
import time


def write_whole(path, parts):
    """Writes texts to a file, compressed if it ends in ``.gz``; a file that was there stays until the new one is complete."""
    path = os.fspath(path)
    beside = f"{path}.{os.getpid()}.{time.monotonic_ns()}"
    try:
        raw = open(beside, "xb")
    except OSError as error:
        error.filename = path
        raise
    try:
        with raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb") if path.endswith(".gz") else raw as file:
            for part in parts:
                file.write(part.encode())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _listed(entries):
    """JSON of a list, an entry a line."""
    comma = ""
    for entry in entries:
        yield f"{comma}\n{json.dumps(entry)}"
        comma = ","


def simple_trace(events):
    """The parts of a trace of a list of events, as PyTorch's lists write it: a list of spans, and of arrows to their kernels."""
    def entries():
        number = 0
        for event in events:
            if event.trace_name is not None:
                told = {"name": event.trace_name, "ts": event.time_range.start, "pid": "CPU functions", "args": {}}
                where = f" node_id:{event.node_id}, thread_id:{event.thread} " if event.is_remote else event.thread
                yield {**told, "ph": "X", "dur": event.time_range.elapsed_us(), "tid": where}
                for _ in event.kernels:
                    yield {**told, "ph": "s", "tid": event.thread, "id": number, "cat": f"cpu_to_{events._use_device or 'cuda'}"}
                    number += 1
    yield "["
    yield from _listed(entries())
    yield "]"


def trace(events, metadata, trace_id, began, name):
    """The parts of a profile's trace. ``began``: nanoseconds since 1970 when it did; ``metadata``: {key: JSON}."""
    process = os.getpid()
    head = {"schemaVersion": 1, "deviceProperties": [], "trace_id": trace_id, **{key: json.loads(text) for key, text in metadata.items()},
            "host_name": socket.gethostname(), "displayTimeUnit": "ms", "baseTimeNanoseconds": began, "traceName": name}
    yield json.dumps(head)[:-1] + ', "traceEvents": ['
    yield from _listed([*_places(events, process), *[_span(event, at, process) for at, event in enumerate(events)]])
    yield "\n]}"


def _places(events, process):
    """What the process and its threads are called."""
    program = os.path.basename(sys.executable or "python")
    for name, key, text in (("process_name", "name", program), ("process_labels", "labels", "CPU"),
                            ("process_sort_index", "sort_index", process)):
        yield {"ph": "M", "name": name, "ts": 0, "pid": process, "tid": 0, "args": {key: text}}
    for thread in sorted({event.thread for event in events}):
        yield {"ph": "M", "name": "thread_name", "ts": 0, "pid": process, "tid": thread, "args": {"name": f"thread {thread} ({program})"}}


def _span(event, at, process):
    told = {"External id": event.id, "Ev Idx": at}
    if event.input_shapes:
        told["Input Dims"] = event.input_shapes
    if event.sequence_nr >= 0:
        told["Sequence number"] = event.sequence_nr
    if event.stack:
        told["Call stack"] = ";".join(event.stack)
    if event.cpu_memory_usage or event.device_memory_usage:
        told["Bytes"] = event.cpu_memory_usage + event.device_memory_usage
    if event.flops:
        told["Flops"] = event.flops
    if event.operations is not None:
        told["Operations"] = event.operations
    return {"ph": "X", "cat": "user_annotation" if event.is_user_annotation else "cpu_op", "name": event.trace_name, "pid": process,
            "tid": event.thread, "ts": event.time_range.start, "dur": event.time_range.elapsed_us(), "args": told}


_SPACES = str.maketrans(" ;\t\n", "____")


def stacks(events, metric):
    """Lines of the places from which events came, from the outermost on, and how many microseconds each took."""
    for event in events:
        if event.stack and int(getattr(event, metric)) > 0:
            yield ";".join([place.translate(_SPACES) for place in reversed(event.stack)]) + f" {int(getattr(event, metric))}\n"
