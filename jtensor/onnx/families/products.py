"""Products of matrices, and distances. Owns: how they are written as ONNX."""
import string

from ...base import dtypes
from ..table import Refused, aten
from ..writing import constant
from .reductions import vector_norm


def _is_one(*numbers):
    return all(isinstance(one, (int, float)) and one == 1 for one in numbers)


@aten("linear")
def _linear(graph, input, weight, bias=None):
    if weight.rank == 1:
        made = graph.op("MatMul", input, weight)
    elif input.shape is not None and input.rank == 2 and bias is not None and input.dtype.is_floating_point:
        return graph.op("Gemm", input, weight, bias, alpha=1.0, beta=1.0, transB=1)
    else:
        made = graph.op("MatMul", input, graph.transpose(weight, [1, 0]))
    return made if bias is None else graph.op("Add", made, bias)


@aten("matmul", "mm", "bmm", "mv", "dot", "vdot")
def matmul(graph, self, other=None, mat2=None, vec=None, tensor=None):
    """The product of two tensors."""
    other = next(one for one in (other, mat2, vec, tensor) if one is not None)
    return graph.op("MatMul", self, other)


@aten("inner")
def _inner(graph, self, other):
    if self.rank == 0 or other.rank == 0:
        return graph.op("Mul", self, other)
    if other.rank > 2:
        raise Refused("with a tensor of more than two dimensions")
    return graph.op("MatMul", self, graph.transpose(other, range(other.rank)[::-1]))


def _added(graph, self, product, beta, alpha):
    if not _is_one(alpha):
        product = graph.op("Mul", product, graph.number(alpha, product.dtype))
    if not _is_one(beta):
        self = graph.op("Mul", self, graph.number(beta, self.dtype))
    return graph.op("Add", self, product)


@aten("addmm")
def _addmm(graph, self, mat1, mat2, beta=1, alpha=1):
    if self.dtype.is_floating_point and isinstance(beta, (int, float)) and isinstance(alpha, (int, float)):
        return graph.op("Gemm", mat1, mat2, self, alpha=float(alpha), beta=float(beta))
    return _added(graph, self, graph.op("MatMul", mat1, mat2), beta, alpha)


@aten("baddbmm")
def _baddbmm(graph, self, batch1, batch2, beta=1, alpha=1):
    return _added(graph, self, graph.op("MatMul", batch1, batch2), beta, alpha)


@aten("addmv")
def _addmv(graph, self, mat, vec, beta=1, alpha=1):
    return _added(graph, self, graph.op("MatMul", mat, vec), beta, alpha)


@aten("outer")
def _outer(graph, self, vec2):
    return graph.op("Mul", graph.unsqueeze(self, 1), graph.unsqueeze(vec2, 0))


@aten("einsum")
def _einsum(graph, equation, tensors, path=None):
    return graph.op("Einsum", *tensors, equation=equation.replace(" ", ""))


@aten("tensordot")
def _tensordot(graph, self, other, dims_self, dims_other):
    letters = iter(string.ascii_lowercase)
    first = [next(letters) for _ in range(self.rank)]
    second = [next(letters) for _ in range(other.rank)]
    for one, two in zip(dims_self, dims_other, strict=True):
        second[two] = first[one]
    rest = [one for one in first if one not in second] + [one for one in second if one not in first]
    return graph.op("Einsum", self, other, equation=f"{''.join(first)},{''.join(second)}->{''.join(rest)}")


@aten("bilinear")
def _bilinear(graph, input1, input2, weight, bias=None):
    if input1.rank != 2:
        raise Refused("of more than a batch of vectors")
    made = graph.op("Einsum", input1, weight, input2, equation="bi,oij,bj->bo")
    return made if bias is None else graph.op("Add", made, bias)


@aten("cross", "linalg_cross")
def _cross(graph, self, other, dim=-1):
    if dim is None:
        raise Refused("without a dimension")

    def turned(edge, order):
        return graph.op("Gather", edge, constant(order, dtypes.int64), axis=dim)
    ahead, behind = [1, 2, 0], [2, 0, 1]
    return graph.op("Sub", graph.op("Mul", turned(self, ahead), turned(other, behind)),
                    graph.op("Mul", turned(self, behind), turned(other, ahead)))


# -- distances ----------------------------------------------------------------------------------------------------------


def _length(graph, edge, p, dims, keepdim=False):
    return vector_norm(graph, edge, p, dims, keepdim)


@aten("cdist")
def _cdist(graph, x1, x2, p=2, compute_mode=None):
    return _length(graph, graph.op("Sub", graph.unsqueeze(x1, -2), graph.unsqueeze(x2, -3)), p, [-1])


@aten("pairwise_distance")
def _pairwise_distance(graph, x1, x2, p=2, eps=1e-6, keepdim=False):
    apart = graph.op("Add", graph.op("Sub", x1, x2), constant(eps, x1.dtype))
    return _length(graph, apart, p, [-1], keepdim)


@aten("cosine_similarity")
def _cosine_similarity(graph, x1, x2, dim=1, eps=1e-8):
    lengths = [graph.op("Max", _length(graph, one, 2, [dim], True), constant(eps, one.dtype)) for one in (x1, x2)]
    turned = [graph.op("Div", one, length) for one, length in zip((x1, x2), lengths, strict=True)]
    return graph.reduce("ReduceSum", graph.op("Mul", *turned), [dim], False)


@aten("det", "linalg_det")
def _det(graph, self):
    return graph.op("Det", self)
