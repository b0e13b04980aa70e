"""Pooling. Owns: how it is written as ONNX."""
import numpy as np

from ...base import dtypes
from ..table import Refused, aten, fixed, since, static
from ..writing import constant


def _batched(graph, self, dims, write):
    """Of a tensor without a batch ONNX makes one of a batch of one."""
    if self.rank == dims + 2:
        return write(self)
    return graph.op("Squeeze", write(graph.unsqueeze(self, 0)), constant([0], dtypes.int64))


def _each(value, dims):
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value * dims if len(value) == 1 else value


def _max(dims):
    def write(graph, self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        fixed(kernel_size, stride, padding, dilation)
        kernel, padding = _each(kernel_size, dims), _each(padding, dims)
        settings = {"kernel_shape": kernel, "strides": _each(stride, dims) if stride else kernel, "pads": padding + padding,
                    "dilations": _each(dilation, dims), "ceil_mode": int(ceil_mode)}
        return _batched(graph, self, dims, lambda x: graph.op("MaxPool", x, **settings))
    aten(f"max_pool{dims}d")(write)


def _average(dims):
    def write(graph, self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
        fixed(kernel_size, stride, padding)
        kernel, padding = _each(kernel_size, dims), _each(padding, dims)
        if ceil_mode:
            since(graph, 19, "windows that begin in the padding at the end")
        if ceil_mode and count_include_pad and any(padding):
            raise Refused("runtimes count the padding of ceil_mode in different ways")
        settings = {"kernel_shape": kernel, "strides": _each(stride, dims) if stride else kernel, "pads": padding + padding,
                    "ceil_mode": int(ceil_mode), "count_include_pad": int(count_include_pad)}
        return _batched(graph, self, dims, lambda x: graph.op("AveragePool", x, **settings))
    aten(f"avg_pool{dims}d")(write)


def _adaptive(name, dims, pooling, whole):
    """To a size: of one by the operator that takes everything, of a divisor by windows, of others by a matrix of means."""
    def write(graph, self, output_size):
        output = _each(output_size, dims)
        fixed(output)
        if all(size == 1 for size in output):
            return _batched(graph, self, dims, lambda x: graph.op(whole, x))
        inside = [static(self, at - dims) for at in range(dims)]
        if all(size % out == 0 for size, out in zip(inside, output, strict=True)):
            kernel = [size // out for size, out in zip(inside, output, strict=True)]
            return _batched(graph, self, dims, lambda x: graph.op(pooling, x, kernel_shape=kernel, strides=kernel))
        if pooling == "MaxPool" or dims > 2:
            raise Refused("to a size that is no divisor")
        matrices = [_means(size, out) for size, out in zip(inside, output, strict=True)]
        made = graph.op("MatMul", self, constant(matrices[-1].T, self.dtype))
        return made if dims == 1 else graph.op("MatMul", constant(matrices[0], self.dtype), made)

    def with_places(graph, self, output_size):
        if dims > 1 or _each(output_size, dims) != [1]:
            return [write(graph, self, output_size), None]
        return [write(graph, self, output_size), graph.op("ArgMax", self, dtype=dtypes.int64, axis=-1, keepdims=1)]
    aten(name)(with_places if pooling == "MaxPool" else write)


def _means(size, out):
    made = np.zeros((out, size))
    for at in range(out):
        start, end = at * size // out, -(-(at + 1) * size // out)
        made[at, start:end] = 1 / (end - start)
    return made


for _dims in (1, 2, 3):
    _max(_dims)
    _average(_dims)
    _adaptive(f"adaptive_avg_pool{_dims}d", _dims, "AveragePool", "GlobalAveragePool")
    _adaptive(f"adaptive_max_pool{_dims}d", _dims, "MaxPool", "GlobalMaxPool")
