"""What is put at places of a tensor. Owns: how such operators are written as ONNX."""
from ...base import dtypes
from ..table import Refused, aten, since
from ..writing import Edge, constant
from .indexing import columns, joined
from .pointwise import truth

_REDUCTIONS = {"add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}


def _scattered(graph, self, dim, index, source, reduction=None):
    if reduction is not None:
        since(graph, 18 if reduction in ("max", "min") else 16)
    if self.rank == 0:
        raise Refused("of a tensor without dimensions")
    if source.shape != index.shape or None in (index.shape or [None]):
        ends = graph.shape(index)                                 # what is beyond the places is left out
        starts = constant([0] * self.rank, dtypes.int64)
        source = graph.op("Slice", source, starts, ends, constant([*range(self.rank)], dtypes.int64))
    return graph.op("ScatterElements", self, graph.cast(index, dtypes.int64), graph.cast(source, self.dtype), axis=dim,
                    **({"reduction": reduction} if reduction else {}))


@aten("scatter")
def _scatter(graph, self, dim, index, src=None, value=None, reduce=None):
    if src is None:
        src = graph.op("Expand", graph.number(value, self.dtype), graph.shape(index), shape=index.shape)
    return _scattered(graph, self, dim, index, src, None if reduce is None else _REDUCTIONS[reduce])


@aten("scatter_add")
def _scatter_add(graph, self, dim, index, src):
    return _scattered(graph, self, dim, index, src, "add")


@aten("scatter_reduce")
def _scatter_reduce(graph, self, dim, index, src, reduce, include_self=True):
    if reduce not in _REDUCTIONS or not include_self:
        raise Refused(f"with {reduce!r}, include_self={include_self}")
    return _scattered(graph, self, dim, index, src, _REDUCTIONS[reduce])


def _along(graph, index, dim, like):
    """The places along a dimension, for each element of a tensor."""
    dim %= like.rank
    if index.rank == 0:
        index = graph.unsqueeze(index, 0)
    index = graph.reshape(index, [-1 if at == dim else 1 for at in range(like.rank)])
    return graph.op("Expand", index, graph.shape(like), shape=like.shape)


@aten("index_add")
def _index_add(graph, self, dim, index, source, alpha=1):
    since(graph, 16)
    if not isinstance(alpha, Edge) and alpha != 1:
        source = graph.op("Mul", source, graph.number(alpha, source.dtype))
    return graph.op("ScatterElements", self, graph.cast(_along(graph, index, dim, source), dtypes.int64), source, axis=dim, reduction="add")


@aten("index_copy")
def _index_copy(graph, self, dim, index, source):
    return graph.op("ScatterElements", self, graph.cast(_along(graph, index, dim, source), dtypes.int64), source, axis=dim)


@aten("index_fill")
def _index_fill(graph, self, dim, index, value):
    dim %= self.rank
    sizes = graph.sizes(self)
    sizes[dim] = graph.size(index, 0) if index.rank else 1
    source = graph.op("Expand", graph.number(value, self.dtype), graph.vector(sizes), shape=tuple([
        None if isinstance(one, Edge) else one for one in sizes]))
    return _index_copy(graph, self, dim, index, source)


@aten("index_put")
def _index_put(graph, self, indices, values, accumulate=False):
    found = [one for one in indices if one is not None]
    values = graph.cast(values, self.dtype)
    if len(found) == 1 and found[0].dtype in (dtypes.bool, dtypes.uint8) and values.shape is not None and not accumulate and all(
            one == 1 for one in values.shape) and len(values.shape) <= 1:
        mask, front = truth(graph, found[0]), indices.index(found[0])
        behind = self.rank - front - mask.rank
        mask = graph.unsqueeze(mask, *range(mask.rank, mask.rank + behind)) if behind else mask
        return graph.where(mask, values, self)
    at = columns(graph, indices)
    dims = sorted(at)
    rest = [one for one in range(self.rank) if one not in dims]
    if dims[0] and (dims == list(range(dims[0], dims[-1] + 1))) and values.rank > len(rest):
        raise Refused("values for indices that are not the first ones")
    order = [*dims, *rest]
    places, rank = joined(graph, [at[one] for one in dims])
    whole = graph.transpose(self, order)
    shape = graph.slice(graph.op("Shape", places, dtype=dtypes.int64, shape=(rank + 1,)), 0, 0, -1)
    if rest:
        shape = graph.op("Concat", shape, graph.slice(graph.shape(whole), 0, len(dims), 1 << 62), axis=0, shape=(rank + len(rest),))
    values = graph.op("Expand", values, shape)
    if accumulate:
        since(graph, 16)
    made = graph.op("ScatterND", whole, places, values, **({"reduction": "add"} if accumulate else {}))
    return graph.transpose(made, [order.index(one) for one in range(self.rank)])
