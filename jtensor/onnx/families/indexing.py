"""What is taken from a tensor by places: indices, tables, sorting. Owns: how such operators are written as ONNX."""
from ...base import dtypes
from ..table import Refused, aten
from ..writing import Edge, constant
from .pointwise import truth


@aten("embedding")
def _embedding(graph, weight, indices, padding_idx=-1):
    return graph.op("Gather", weight, indices, axis=0)


@aten("index_select")
def _index_select(graph, self, dim, index):
    if index.rank == 0:
        index = graph.unsqueeze(index, 0)
    return graph.op("Gather", self, index, axis=dim)


@aten("gather")
def _gather(graph, self, dim, index):
    return self if self.rank == 0 else graph.op("GatherElements", self, graph.cast(index, dtypes.int64), axis=dim)


@aten("take")
def _take(graph, self, index):
    return graph.op("Gather", graph.reshape(self, [-1]), index, axis=0)


@aten("nonzero")
def _nonzero(graph, self):
    return graph.transpose(graph.op("NonZero", truth(graph, self), dtype=dtypes.int64, shape=(self.rank, None)), [1, 0])


@aten("masked_select")
def _masked_select(graph, self, mask):
    both = [graph.op("Expand", self, graph.shape(mask)), graph.op("Expand", truth(graph, mask), graph.shape(self))]
    return graph.op("GatherND", both[0], graph.transpose(graph.op("NonZero", both[1], dtype=dtypes.int64, shape=(None, None)), [1, 0]))


# -- lists of indices ---------------------------------------------------------------------------------------------------


def columns(graph, indices):
    """{dimension: its index, of int64}; a mask has one for each of its dimensions."""
    found, at = {}, 0
    for one in indices:
        if one is None:
            at += 1
        elif one.dtype in (dtypes.bool, dtypes.uint8):
            places = graph.op("NonZero", truth(graph, one), dtype=dtypes.int64, shape=(one.rank, None))
            for row in range(one.rank):
                found[at] = graph.op("Gather", places, constant(row, dtypes.int64), axis=0, shape=(None,))
                at += 1
        else:
            found[at] = graph.cast(one, dtypes.int64)
            at += 1
    return found


def joined(graph, indices):
    """Indices as one tensor whose last dimension goes through them; how many dimensions they had together."""
    rank = max(one.rank for one in indices)
    if len(indices) > 1:
        shape = graph.shape(indices[0])
        for one in indices[1:]:
            zero = graph.op("Expand", constant(0, dtypes.int64), shape)
            shape = graph.op("Shape", graph.op("Expand", zero, graph.shape(one)), dtype=dtypes.int64, shape=(rank,))
        indices = [graph.op("Expand", one, shape, shape=(None,) * rank) for one in indices]
    made = [graph.unsqueeze(one, rank) for one in indices]
    return (made[0] if len(made) == 1 else graph.op("Concat", *made, axis=rank, shape=(None,) * rank + (len(made),))), rank


@aten("index")
def _index(graph, self, indices):
    found = columns(graph, indices)
    dims = sorted(found)
    if len(dims) == 1:
        return graph.op("Gather", self, found[dims[0]], axis=dims[0])
    rest = [at for at in range(self.rank) if at not in dims]
    places, rank = joined(graph, [found[at] for at in dims])
    made = graph.op("GatherND", graph.transpose(self, [*dims, *rest]), places)
    if dims != list(range(dims[0], dims[-1] + 1)) or not dims[0]:
        return made                                               # apart from each other: the indices' dimensions come first
    front, all_dims = dims[0], rank + len(rest)
    return graph.transpose(made, [*range(rank, rank + front), *range(rank), *range(rank + front, all_dims)])


# -- order --------------------------------------------------------------------------------------------------------------


@aten("topk")
def _topk(graph, self, k, dim=-1, largest=True, sorted=True):
    return graph.op("TopK", self, graph.vector([k]), outputs=2, dtype=[self.dtype, dtypes.int64], axis=dim, largest=int(largest),
                    sorted=int(sorted))


@aten("sort")
def _sort(graph, self, dim=-1, descending=False):
    if self.rank == 0:
        raise Refused("of a tensor without dimensions")
    return _topk(graph, self, graph.size(self, dim), dim, descending)


@aten("argsort")
def _argsort(graph, self, dim=-1, descending=False):
    return _sort(graph, self, dim, descending)[1]


@aten("msort")
def _msort(graph, self):
    return _sort(graph, self, 0)[0]


@aten("_unique2")
def _unique2(graph, self, sorted=True, return_inverse=False, return_counts=False):
    values, _, inverse, counts = graph.op("Unique", self, outputs=4, dtype=[self.dtype] + [dtypes.int64] * 3, sorted=1)
    return [values, graph.op("Reshape", inverse, graph.shape(self)), counts]


@aten("bucketize", "searchsorted")
def _bucketize(graph, first, boundaries=None, self=None, out_int32=False, right=False):
    """``first``: what is looked for, and of ``searchsorted`` what is looked in."""
    boundaries, wanted = (boundaries, first) if self is None else (first, self)
    if boundaries.rank != 1:
        raise Refused("in several sequences at once")
    if not isinstance(wanted, Edge):
        raise Refused("of a number")
    passed = graph.op("GreaterOrEqual" if right else "Greater", graph.unsqueeze(wanted, -1), graph.cast(boundaries, wanted.dtype),
                      dtype=dtypes.bool)
    return graph.reduce("ReduceSum", graph.cast(passed, dtypes.int64), [-1], False)
