"""Operators that change a tensor's shape, its dtype, or nothing at all. Owns: how they are written as ONNX."""
import numpy as np

from ...base import dtypes
from ..table import Refused, aten, fixed, since, static
from ..writing import Edge, constant

_END = (1 << 63) - 1


@aten("contiguous", "clone", "detach", "alias", "positive", "resolve_conj", "resolve_neg")
def _same(graph, self):
    return self


@aten("to", "type_as")
def _to(graph, self, dtype=None, other=None, device=None):
    return graph.cast(self, graph.outs[0].dtype)


@aten("view", "reshape")
def _view(graph, self, size=None, shape=None, dtype=None):
    if size is None and shape is None:
        raise Refused("as another dtype")
    return graph.reshape(self, size if shape is None else shape)


@aten("view_as", "reshape_as")
def _view_as(graph, self, other):
    return graph.op("Reshape", self, graph.shape(other), allowzero=int(graph.opset >= 14))


@aten("flatten")
def flatten(graph, self, start_dim=0, end_dim=-1):
    """Several dimensions as one."""
    if self.rank == 0:
        return graph.reshape(self, [-1])
    start, end = start_dim % self.rank, end_dim % self.rank
    if start == 1 and end == self.rank - 1:
        return graph.op("Flatten", self, axis=1)
    sizes = graph.sizes(self)
    return graph.reshape(self, [*sizes[:start], -1, *sizes[end + 1:]])


@aten("unflatten")
def _unflatten(graph, self, dim, sizes):
    known = graph.sizes(self)
    dim %= self.rank
    if -1 in sizes and any(isinstance(one, Edge) for one in known):
        rest = 1
        for one in sizes:
            rest = rest if not isinstance(one, Edge) and one == -1 else graph.whole("Mul", rest, one)
        sizes = [graph.whole("Div", known[dim], rest) if not isinstance(one, Edge) and one == -1 else one for one in sizes]
    return graph.reshape(self, [*known[:dim], *sizes, *known[dim + 1:]])


@aten("permute")
def _permute(graph, self, dims):
    return graph.transpose(self, [dim % self.rank for dim in dims])


@aten("transpose")
def _transpose(graph, self, dim0, dim1):
    order = list(range(self.rank))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return graph.transpose(self, order)


@aten("t", "numpy_T")
def _t(graph, self):
    return graph.transpose(self, range(self.rank)[::-1])


@aten("mT", "mH", "adjoint")
def _matrix_t(graph, self):
    return _transpose(graph, self, -1, -2)


@aten("movedim")
def _movedim(graph, self, source, destination):
    source, destination = [[one] if isinstance(one, int) else one for one in (source, destination)]
    source, destination = [[one % self.rank for one in given] for given in (source, destination)]
    rest = iter([at for at in range(self.rank) if at not in source])
    places = dict(zip(destination, source, strict=True))
    return graph.transpose(self, [places[at] if at in places else next(rest) for at in range(self.rank)])


@aten("squeeze")
def _squeeze(graph, self, dim=None):
    dims = range(self.rank) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = [one % self.rank for one in dims if self.rank and self.shape[one] == 1]       # a size that changes is not always 1
    return graph.op("Squeeze", self, constant(dims, dtypes.int64)) if dims else self


@aten("unsqueeze")
def _unsqueeze(graph, self, dim):
    return graph.unsqueeze(self, dim)


@aten("expand")
def _expand(graph, self, size):
    return graph.op("Expand", self, graph.vector([1 if not isinstance(one, Edge) and one == -1 else one for one in size]))


@aten("broadcast_to")
def _broadcast_to(graph, self, size):
    return _expand(graph, self, size)


@aten("expand_as")
def _expand_as(graph, self, other):
    return graph.op("Expand", self, graph.shape(other))


@aten("copy")
def _copy(graph, self, src):
    return graph.op("Expand", graph.cast(src, self.dtype), graph.shape(self))


@aten("fill")
def _fill(graph, self, value):
    return graph.op("Expand", graph.number(value, self.dtype), graph.shape(self))


@aten("zero")
def _zero(graph, self):
    return _fill(graph, self, 0)


@aten("repeat")
def _repeat(graph, self, repeats):
    if len(repeats) > self.rank:
        self = graph.unsqueeze(self, *range(len(repeats) - self.rank))
    return graph.op("Tile", self, graph.vector(repeats))


@aten("tile")
def _tile(graph, self, dims):
    return _repeat(graph, self, [*[1] * (self.rank - len(dims)), *dims])


@aten("repeat_interleave")
def _repeat_interleave(graph, self, repeats=None, dim=None, output_size=None):
    fixed(repeats)
    if repeats is None:
        raise Refused("of numbers alone")
    if dim is None:
        self, dim = graph.reshape(self, [-1]), 0
    dim %= self.rank
    times = [1] * (self.rank + 1)
    times[dim + 1] = repeats
    made = graph.op("Tile", graph.unsqueeze(self, dim + 1), graph.vector(times))
    sizes = graph.sizes(self)
    return graph.reshape(made, [*sizes[:dim], graph.whole("Mul", sizes[dim], repeats), *sizes[dim + 1:]])


# -- parts --------------------------------------------------------------------------------------------------------------


@aten("select")
def _select(graph, self, dim, index):
    return graph.op("Gather", self, graph.number(index, dtypes.int64), axis=dim)


@aten("slice")
def _slice(graph, self, dim=0, start=None, end=None, step=1):
    start, end = 0 if start is None else start, _END if end is None else end
    if not any(isinstance(one, Edge) for one in (start, end, step)) and start == 0 and end >= _END and step == 1:
        return self
    return graph.slice(self, dim, start, end, step)


@aten("narrow")
def _narrow(graph, self, dim, start, length):
    return graph.slice(self, dim, start, graph.whole("Add", start, length))


@aten("flip")
def _flip(graph, self, dims):
    ends = [-_END] * len(dims)
    return graph.op("Slice", self, graph.vector([-1] * len(dims)), graph.vector(ends), graph.vector(dims), graph.vector([-1] * len(dims)))


@aten("roll")
def _roll(graph, self, shifts, dims=()):
    fixed(shifts)
    if not dims:
        whole = graph.shape(self)
        return graph.op("Reshape", _roll(graph, graph.reshape(self, [-1]), shifts, [0]), whole)
    for shift, dim in zip(shifts, dims, strict=True):
        if self.shape is not None and self.shape[dim]:
            shift %= self.shape[dim]
        if shift:
            self = graph.op("Concat", graph.slice(self, dim, -shift, _END), graph.slice(self, dim, 0, -shift), axis=dim, shape=self.shape)
    return self


def _triangle(name, upper):
    def write(graph, self, diagonal=0):
        since(graph, 14)
        return graph.op("Trilu", self, graph.number(diagonal, dtypes.int64), upper=upper)
    aten(name)(write)


_triangle("triu", 1)
_triangle("tril", 0)


@aten("diagonal")
def _diagonal(graph, self, offset=0, dim1=0, dim2=1):
    rows, columns = static(self, dim1), static(self, dim2)
    at = np.arange(max(min(rows + min(offset, 0), columns - max(offset, 0)), 0))
    first, second = dim1 % self.rank, dim2 % self.rank
    rest = [one for one in range(self.rank) if one not in (first, second)]
    moved = graph.transpose(self, [first, second, *rest])
    made = graph.op("GatherND", moved, constant(np.stack([at - min(offset, 0), at + max(offset, 0)], 1), dtypes.int64))
    return graph.transpose(made, [*range(1, self.rank - 1), 0])


@aten("unfold")
def _unfold(graph, self, dimension, size, step):
    count = (static(self, dimension) - size) // step + 1
    dimension %= self.rank
    places = np.arange(count)[:, None] * step + np.arange(size)
    made = graph.op("Gather", self, constant(places, dtypes.int64), axis=dimension)
    order = [at for at in range(self.rank + 1) if at != dimension + 1]
    return graph.transpose(made, [*order, dimension + 1])


# -- padding ------------------------------------------------------------------------------------------------------------

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@aten("pad", "constant_pad_nd")
def pad(graph, self, pad, mode="constant", value=None):
    """More elements, or fewer, at the ends of dimensions: pairs of numbers, the last dimension's come first."""
    if mode == "circular":
        since(graph, 19)
    rank = self.rank
    before, after = [0] * rank, [0] * rank
    for at in range(len(pad) // 2):
        before[rank - 1 - at], after[rank - 1 - at] = pad[2 * at], pad[2 * at + 1]
    fill = [constant(value or 0, self.dtype)] if mode == "constant" else []
    return graph.op("Pad", self, graph.vector(before + after), *fill, mode=_MODES[mode])


# -- channels and places ------------------------------------------------------------------------------------------------


@aten("pixel_shuffle")
def _pixel_shuffle(graph, self, upscale_factor):
    r = upscale_factor
    *front, c, h, w = graph.sizes(self)
    n = len(front)
    made = graph.reshape(self, [*front, graph.whole("Div", c, r * r), r, r, h, w])
    made = graph.transpose(made, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return graph.reshape(made, [*front, graph.whole("Div", c, r * r), graph.whole("Mul", h, r), graph.whole("Mul", w, r)])


@aten("pixel_unshuffle")
def _pixel_unshuffle(graph, self, downscale_factor):
    r = downscale_factor
    *front, c, h, w = graph.sizes(self)
    n, h, w = len(front), graph.whole("Div", h, r), graph.whole("Div", w, r)
    made = graph.reshape(self, [*front, c, h, r, w, r])
    made = graph.transpose(made, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return graph.reshape(made, [*front, graph.whole("Mul", c, r * r), h, w])


@aten("channel_shuffle")
def _channel_shuffle(graph, self, groups):
    n, c, *rest = graph.sizes(self)
    made = graph.reshape(self, [n, groups, graph.whole("Div", c, groups), *rest])
    return graph.reshape(graph.transpose(made, [0, 2, 1, *range(3, self.rank + 1)]), [n, c, *rest])
