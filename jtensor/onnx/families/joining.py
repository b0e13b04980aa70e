"""Several tensors as one, and one as several. Owns: how such operators are written as ONNX."""
import numpy as np

from ...base import dtypes
from ..table import Refused, aten, since, static
from ..writing import Edge, constant


def _alike(graph, tensors):
    """Tensors of the result's dtype, without the empty ones of one dimension, which PyTorch takes for nothing."""
    kept = [one for one in tensors if one.shape != (0,)] or tensors[:1]
    return [graph.cast(one, graph.outs[0].dtype) for one in kept]


@aten("cat")
def _cat(graph, tensors, dim=0):
    tensors = _alike(graph, tensors)
    return graph.op("Concat", *tensors, axis=dim)


@aten("stack")
def _stack(graph, tensors, dim=0):
    tensors = [graph.unsqueeze(graph.cast(one, graph.outs[0].dtype), dim) for one in tensors]
    return graph.op("Concat", *tensors, axis=dim)


def _beside(name, least, dim):
    def write(graph, tensors):
        made = []
        for one in _alike(graph, tensors):
            if one.rank < least:
                front = {1: [0], 2: [0], 3: [2]}[least] if one.rank == least - 1 else None
                if least == 3 and one.rank == 1:
                    front = [0, 2]
                if front is None and one.rank == 0:
                    front = [*range(least)]
                one = graph.unsqueeze(one, *front)
            made.append(one)
        return graph.op("Concat", *made, axis=dim if name != "hstack" or made[0].rank > 1 else 0)
    aten(name)(write)


_beside("hstack", 1, 1)
_beside("vstack", 2, 0)
_beside("dstack", 3, 2)


def _pieces(graph, self, sizes, dim):
    """Consecutive parts of these sizes."""
    count = len(graph.outs)
    if None not in (self.shape or [None]) or self.shape is not None and self.shape[dim] is not None:
        return graph.op("Split", self, constant(sizes, dtypes.int64), outputs=count, axis=dim) if count > 1 else [self]
    begin, made = 0, []
    for size in sizes:
        end = graph.whole("Add", begin, size)
        made.append(graph.slice(self, dim, begin, end))
        begin = end
    return made


@aten("split_with_sizes")
def _split_with_sizes(graph, self, split_sizes, dim=0):
    if any(isinstance(one, Edge) for one in split_sizes):
        return graph.op("Split", self, graph.vector(split_sizes), outputs=len(split_sizes), axis=dim)
    return _pieces(graph, self, split_sizes, dim)


@aten("split")
def _split(graph, self, split_size, dim=0):
    if isinstance(split_size, list):
        return _split_with_sizes(graph, self, split_size, dim)
    size = None if self.shape is None else self.shape[dim]
    count = len(graph.outs)
    if isinstance(split_size, Edge) or size is None:
        return _pieces_of(graph, self, split_size, dim, count)
    return _pieces(graph, self, [min(split_size, size - at) for at in range(0, size, split_size)] or [0], dim)


def _pieces_of(graph, self, size, dim, count):
    """As many parts of one size as there were, the last of which may be shorter."""
    bounds = [graph.whole("Mul", size, at) for at in range(count + 1)]
    return [graph.slice(self, dim, start, end) for start, end in zip(bounds[:-1], bounds[1:], strict=True)]


@aten("chunk")
def _chunk(graph, self, chunks, dim=0):
    if self.shape is not None and self.shape[dim] is not None:
        return _split(graph, self, max(-(-self.shape[dim] // chunks), 1), dim)
    size = graph.whole("Div", graph.whole("Add", graph.size(self, dim), chunks - 1), chunks)
    return _pieces_of(graph, self, size, dim, len(graph.outs))


@aten("tensor_split")
def _tensor_split(graph, self, sections=None, indices=None, dim=0):
    size = static(self, dim)
    if indices is None:
        sizes = [size // sections + (at < size % sections) for at in range(sections)]
    else:
        bounds = [0, *[min(one, size) for one in indices], size]
        sizes = [end - start for start, end in zip(bounds[:-1], bounds[1:], strict=True)]
    return _pieces(graph, self, sizes, dim)


@aten("unbind")
def _unbind(graph, self, dim=0):
    static(self, dim)
    return [graph.op("Gather", self, constant(at, dtypes.int64), axis=dim) for at in range(len(graph.outs))]


@aten("broadcast_tensors")
def _broadcast_tensors(graph, tensors):
    if all(one.shape is not None and None not in one.shape and one.shape == tensors[0].shape for one in tensors):
        return tensors
    made = []
    for one in tensors:
        for other in tensors:
            if other is not one:
                one = graph.op("Expand", one, graph.shape(other))                    # which widens both ways
        made.append(one)
    return made


@aten("meshgrid")
def _meshgrid(graph, tensors, indexing="ij"):
    tensors = [graph.reshape(one, [-1]) if one.rank != 1 else one for one in tensors]
    if indexing not in ("ij", "xy"):
        raise Refused(f"indexing {indexing!r}")
    order = list(range(len(tensors)))
    if indexing == "xy" and len(tensors) > 1:
        order[:2] = 1, 0
    whole = graph.vector([graph.size(tensors[at], 0) for at in order])
    made = []
    for at, one in enumerate(tensors):
        place = order.index(at)
        sizes = [1] * len(tensors)
        sizes[place] = -1
        made.append(graph.op("Expand", graph.reshape(one, sizes), whole))
    return made


@aten("im2col")
def _im2col(graph, self, kernel_size, dilation, padding, stride):
    since(graph, 13)
    if self.rank != 4:
        raise Refused("of three dimensions")
    self_padded = graph.op("Pad", self, graph.vector([0, 0, *padding, 0, 0, *padding]), mode="constant")
    found = []
    for at in range(2):
        size = static(self, 2 + at) + 2 * padding[at]
        count = (size - dilation[at] * (kernel_size[at] - 1) - 1) // stride[at] + 1
        found.append(np.arange(kernel_size[at])[:, None] * dilation[at] + np.arange(count) * stride[at])
    rows, columns = found
    made = graph.op("Gather", self_padded, constant(rows, dtypes.int64), axis=2)
    made = graph.op("Gather", made, constant(columns, dtypes.int64), axis=4)
    made = graph.transpose(made, [0, 1, 2, 4, 3, 5])
    n, channels = graph.sizes(self)[:2]
    return graph.reshape(made, [n, graph.whole("Mul", channels, kernel_size[0] * kernel_size[1]), rows.shape[1] * columns.shape[1]])
