"""Products of tensors that are made of matrix products: outer, inner, tensordot, kron, cross, chain_matmul, bilinear forms.

Owns: how indices of a contraction become the rows, columns and batch of one `bmm`. May not know: tensors as objects, but in composites.
"""
import math

import jax.numpy as jnp

from ...base import dtypes, sites
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .arithmetic import mul
from .composing import only_tensors, put_out, unsafe_view
from .contracting import contract
from .matrices import floats
from .numeric import not_implemented, wrap_dim
from .products import dot, mm

# -- of vectors -------------------------------------------------------------------------------------------------------

@composite(aliases=("ger",))
def outer(input, vec2, *, out=None):
    """All products of an element of one vector and one of the other: ``(n,)`` and ``(m,)`` to ``(n, m)``.

    >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    for name, t in (("self", input), ("vec2", vec2)):
        if t._spec.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {t._spec.ndim}-D")
    return put_out("outer", input.reshape(input._spec.numel, 1) * vec2, out, (input, vec2), asked_first=True)


@composite()
def inner(input, other, *, out=None):
    """The dot products over the last dimensions: ``(*, k)`` and ``(#, k)`` to ``(*, #)``; a number multiplies.

    >>> torch.inner(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    if not input._spec.ndim or not other._spec.ndim:
        return input * other if out is None else mul(input, other, out=out)
    a, b = list(input._spec.size), list(other._spec.size)
    if a[-1] != b[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes {a} and {b}")
    return tensordot(input, other, ((-1,), (-1,)), out=out)


@composite("linalg_vecdot", **RAW, asked=True)
def linalg_vecdot(x, y, *, dim=-1, out=None):
    """The dot products along ``dim``, the first vector conjugated.

    >>> torch.linalg.vecdot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    floats("linalg.vecdot", x._spec)
    if x._spec.dtype is not y._spec.dtype:
        raise RuntimeError("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                           f"{dtypes.scalar_name(x._spec.dtype)} and y of type {dtypes.scalar_name(y._spec.dtype)} instead")
    return put_out("linalg_vecdot", (x.conj() * y).sum(dim), out, fold="sum")


def _check_cross(self, other, dim):
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, self.ndim)
    if self.size[axis] != 3 or other.size[axis] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.size[axis]} and {other.size[axis]}")
    if self.dtype is dtypes.bool:
        raise not_implemented("cross", self.dtype)
    if self.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {dtypes.scalar_name(self.dtype)} but found {dtypes.scalar_name(other.dtype)}")


def _cross(a, b, axis):
    first = [jnp.take(a, jnp.array([i]), axis) for i in range(3)]
    second = [jnp.take(b, jnp.array([i]), axis) for i in range(3)]
    parts = [first[(i + 1) % 3] * second[(i + 2) % 3] - first[(i + 2) % 3] * second[(i + 1) % 3] for i in range(3)]
    return jnp.concatenate(parts, axis)


@op("numeric", name="linalg_cross.raw", backward="LinalgCrossBackward0", layout=lambda *_: [None], check=_check_cross, grad={
    "self": lambda grad, other, dim: _cross(*jnp.broadcast_arrays(jnp.conj(other), grad), dim % grad.ndim),
    "other": lambda grad, self, dim: _cross(*jnp.broadcast_arrays(grad, jnp.conj(self)), dim % grad.ndim)}, **RAW)
def linalg_cross_raw(self: Tensor, other: Tensor, dim):
    """The cross products of vectors of three along ``dim``."""
    a, b = jnp.broadcast_arrays(self, other)
    return _cross(a, b, dim % a.ndim)


@composite()
def cross(input, other, dim=None, *, out=None):
    """The cross products of vectors of three along ``dim``; without it along the first dimension of size 3.

    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
    """
    if dim is None:
        sites.warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply "
            "use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future release.",
        )
        dim = next((d for d, n in enumerate(input._spec.size) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return put_out("cross", linalg_cross_raw(input, other, dim), out, (input, other))


@composite("linalg_cross", function=False, method=False)
def linalg_cross(input, other, *, dim=-1, out=None):
    """The cross products of vectors of three along ``dim``, the last by default.

    >>> torch.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    return put_out("linalg_cross", linalg_cross_raw(input, other, dim), out, (input, other))


# -- of matrices ------------------------------------------------------------------------------------------------------

@composite(asked=True)
def kron(input, other, *, out=None):
    """The Kronecker product: each element of the first times the whole second, as blocks.

    >>> torch.kron(torch.tensor([[1, 2]]), torch.tensor([[1], [1]]))
    tensor([[1, 2],
            [1, 2]])
    """
    a, b = list(input._spec.size), list(other._spec.size)
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + a, [1] * (n - len(b)) + b
    left = unsafe_view(input, [x for size in a for x in (size, 1)])
    right = unsafe_view(other, [x for size in b for x in (1, size)])
    made = unsafe_view(left * right, [x * y for x, y in zip(a, b, strict=True)])
    return put_out("kron", made, out, (input, other), copied=True)


CHAINED = ("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, "
           "which accepts a list of two or more tensors rather than multiple parameters.")


@composite(method=False)
def chain_matmul(*matrices, out=None):
    """The product of matrices, multiplied in the order that takes the fewest operations.

    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 1)).shape
    torch.Size([2, 1])
    """
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    sites.warn_once(CHAINED)
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    only_tensors(matrices)
    for t in matrices:
        if t._spec.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {t._spec.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0]
    return put_out("chain_matmul", linalg_multi_dot(matrices), out)


def _chained(matrices):
    """The cheapest order of multiplications, by the classical table of spans."""
    sizes = [m._spec.size[0] for m in matrices] + [matrices[-1]._spec.size[1]]
    n = len(matrices)
    cost, cut = {(i, i): 0 for i in range(n)}, {}
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            best = min(range(i, j), key=lambda k: (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k))
            cost[i, j], cut[i, j] = cost[i, best] + cost[best + 1, j] + sizes[i] * sizes[best + 1] * sizes[j + 1], best

    def product(i, j):
        return matrices[i] if i == j else mm(product(i, cut[i, j]), product(cut[i, j] + 1, j))
    return product(0, n - 1)


@composite("linalg_multi_dot", function=False, method=False, asked=True)
def linalg_multi_dot(tensors, *, out=None):
    """The product of matrices in the cheapest order; the first and the last may be vectors.

    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
    tensor([12., 12.])
    """
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got " + str(len(tensors)))
    first, last = tensors[0]._spec.ndim, tensors[-1]._spec.ndim
    for what, n in (("first", first), ("last", last)):
        if n not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {what} tensor must be 1D or 2D but got {n}D")
    for at, t in enumerate(tensors[1:-1], 1):
        if t._spec.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {at} must be 2D but got {t._spec.ndim}D")
    kind = tensors[0]._spec.dtype
    for at, t in enumerate(tensors):
        if t._spec.dtype is not kind:
            raise RuntimeError(f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {dtypes.cpp_name(kind)} and tensor "
                               f"{at} {dtypes.cpp_name(t._spec.dtype)}")
    if first == 1:
        tensors[0] = tensors[0].unsqueeze(0)
    if last == 1:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    for at, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a._spec.size[1] != b._spec.size[0]:
            raise RuntimeError(f"multi_dot(): tensors {at} and {at + 1} with shapes {list(a._spec.size)} and {list(b._spec.size)} cannot "
                               "be multiplied")
    made = _chained(tensors)
    shape = (() if first == 1 else (made._spec.size[0],)) + (() if last == 1 else (made._spec.size[1],))
    return put_out("linalg_multi_dot", made.view(shape), out)


# -- tensordot --------------------------------------------------------------------------------------------------------

@composite(method=False)
def tensordot(a, b, dims=2, out=None):
    """The contraction of the last ``dims`` dimensions of one tensor with the first of the other, or of two lists of dimensions.

    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
    torch.Size([2, 5])
    """
    ours, theirs = _contracted(a, b, dims)
    n, m = a._spec.ndim, b._spec.ndim
    ours, theirs = [wrap_dim(d, n) for d in ours], [wrap_dim(d, m) for d in theirs]
    for i, j in zip(ours, theirs, strict=True):
        x, y = a._spec.size[i], b._spec.size[j]
        if x != y:
            if x == 1:
                b = b.sum(j, keepdim=True, dtype=b.dtype)
            elif y == 1:
                a = a.sum(i, keepdim=True, dtype=a.dtype)
            else:
                raise RuntimeError(f"contracted dimensions need to match, but first has size {x} in dim {_shown(dims, i, n, 0)} and second "
                                   f"has size {y} in dim {_shown(dims, j, m, 1)}")
    if a._spec.dtype is not b._spec.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for named in (ours, theirs):
        for at, d in enumerate(named):
            if d in named[:at]:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    free = [d for d in range(n) if d not in ours]
    other = [d for d in range(m) if d not in theirs]
    rows, columns = [a._spec.size[d] for d in free], [b._spec.size[d] for d in other]
    k = math.prod([a._spec.size[d] for d in ours])
    left, right = a.permute(*free, *ours), b.permute(*theirs, *other)
    if math.prod(rows) != 1 or math.prod(columns) != 1:
        made = mm(left.reshape(math.prod(rows), k), right.reshape(k, math.prod(columns))).reshape(*rows, *columns)
    else:
        made = dot(*(t if t._spec.ndim == 1 else t.reshape(k) for t in (left, right))).view(rows + columns)
    if out is not None and out.requires_grad and out._spec.size != made._spec.size:
        raise RuntimeError("tensordot(): the 'out' tensor was specified and requires gradients, and its shape does not match the expected "
                           "result. Either remove the 'out' argument, ensure it does not require gradients, or make sure its shape matches "
                           "the expected output.")
    return put_out("tensordot", made, out, recorded=True)


def _shown(dims, axis, n, which):
    if isinstance(dims, int):
        return axis - n if which == 0 else axis
    return axis


def _contracted(a, b, dims):
    if hasattr(dims, "tolist"):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, (tuple, list)):
        ours, theirs = (list(d) if isinstance(d, (tuple, list)) else [d] for d in dims)
        if len(ours) != len(theirs):
            raise RuntimeError("both dimension lists should have same length")
        return ours, theirs
    if not isinstance(dims, int):
        raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but "
                           f"got dims={dims}")
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a._spec.ndim, b._spec.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


# -- bilinear ---------------------------------------------------------------------------------------------------------


@op(name="trilinear.raw", backward="TrilinearBackward0", **RAW, quirks=Quirks(real_only="_trilinear"))
def trilinear_raw(self: Tensor, weight: Tensor, other: Tensor):
    """``self[n] @ weight[k] @ other[n]`` for every n and k."""
    mixed = contract(self, weight, ((1,), (1,)))                     # (n, out, in2)
    return contract(mixed, other, ((2,), (1,)), ((0,), (0,)))


def check_bilinear(input1, input2, weight, bias):
    """PyTorch's errors for tensors of different types or of sizes that do not fit."""
    given = {"input1": input1, "input2": input2, "weight": weight, **({} if bias is None else {"bias": bias})}
    if any(t.dtype is not input1.dtype for t in given.values()):
        raise RuntimeError("All tensors must have the same dtype, got " + ", ".join(
            [f"{name}: {dtypes.cpp_name(t.dtype)}" for name, t in given.items()]))
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for i in range(input1.dim() - 1):
        if input1.size(i) != input2.size(i):
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {input1.size(i)} and "
                               f"{input2.size(i)}")
    for i, t in ((1, input1), (2, input2)):
        if t.size(-1) != weight.size(i):
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got {t.size(-1)} but expected {weight.size(i)}")
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {weight.size(0)}")
    if weight.dim() != 3:
        raise RuntimeError("number of dimensions must match")


@composite("bilinear", method=False)
def bilinear(input1, input2, weight, bias=None):
    """``input1 @ weight[k] @ input2 + bias[k]`` over the last dimensions.

    >>> torch.bilinear(torch.ones(2, 3), torch.ones(2, 4), torch.ones(5, 3, 4), None).shape
    torch.Size([2, 5])
    """
    check_bilinear(input1, input2, weight, bias)
    shape = (*input1._spec.size[:-1], weight._spec.size[0])
    made = trilinear_raw(input1.reshape(-1, input1._spec.size[-1]), weight, input2.reshape(-1, input2._spec.size[-1])).reshape(shape)
    return made if bias is None else made + bias
