"""`matmul` and `linear`, which choose among the products of matrices and vectors (`products`).

Owns: the choice, with PyTorch's graph: views around one product, or a batch of them. May not know: how a product is computed.
"""
import math

from ...base.below import STATE
from ...base.bounded import Bounded
from ...trace.tape import LOCAL
from ..build import broadcast_shapes
from ..registry import composite
from .added_products import addmm
from .composing import no_history, put_out, unsafe_view, view_named
from .products import bmm, dot, mm, mv

# -- matmul -----------------------------------------------------------------------------------------------------------

@composite()
def matmul(input, other, *, out=None):
    """The product of two tensors: of vectors a number, of matrices a matrix, of more dimensions a broadcast batch of matrices.

    >>> torch.matmul(torch.ones(5, 1, 2, 3), torch.ones(4, 3, 2)).shape
    torch.Size([5, 4, 2, 2])
    """
    a, b = input._spec.ndim, other._spec.ndim
    if a == 2 and b == 2:
        made = mm.record(input, other)
    elif not a or not b:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    elif a == 1 and b == 1:
        made = dot(input, other)
    elif a == 2 and b == 1:
        made = mv(input, other)
    elif a == 1 and b == 2:
        if out is not None:                            # PyTorch makes it a matrix of one row first, whatever that warns of
            no_history("matmul", input, other, out)
            return mm(input.unsqueeze(0), other, out=out).squeeze_(0)
        from ...views import rules
        made = view_named(mm(input.unsqueeze(0), other), rules.squeeze, "SqueezeBackward4", 0)
        made._info = None                              # PyTorch squeezes the fresh product in place
        made._counter.version += 1
    else:
        made = _matmul_of_more(input, other)
    return made if out is None else put_out("matmul", made, out, kernel={(1, 1): "dot", (2, 1): "mv"}.get((a, b)))


def _matmul_of_more(left, right):
    if left._spec.ndim == 3 and left._spec.size[0] == 1 and right._spec.ndim == 3 and right._spec.size[0] > 1:
        left = left.squeeze(0)
    if _folds(left, right):
        return _folded(left, right)
    return _batched(left, right)


def _folds(left, right):
    """Whether one operand is a matrix or vector and the other's batch can be made rows of one matrix."""
    larger = left._spec.ndim >= right._spec.ndim
    many, one = (left, right) if larger else (right, left)
    if many._spec.ndim < 3 or one._spec.ndim > 2:
        return False
    if one.requires_grad:
        return True
    if left._spec.ndim == 2:
        return False
    size, stride = tuple(many._spec.size), tuple(many._spec.stride)
    if not larger:
        size, stride = (*size[:-2], size[-1], size[-2]), (*stride[:-2], stride[-1], stride[-2])
    if many._spec.numel == 0:
        return True
    return all(stride[d] == stride[d + 1] * size[d + 1] for d in range(len(size) - 2))


def _folded(left, right):
    larger = left._spec.ndim >= right._spec.ndim
    many, one = (left, right) if larger else (right.transpose(-2, -1), left.t() if left._spec.ndim == 2 else left)
    size = tuple(many._spec.size)
    rows = 1
    for n in size[:-1]:
        rows *= n
    flat = many.reshape(rows, size[-1])
    if one._spec.ndim == 1:
        return unsafe_view(mv(flat, one), size[:-1])
    made = unsafe_view(mm(flat, one), (*size[:-1], one._spec.size[1]))
    return made if larger else made.transpose(-2, -1).contiguous()


def _batched(left, right):
    key = left._spec, right._spec
    found = _batches.get(key)
    if found is None:
        found = _batches[key] = _batch_of(*key)
    rows, columns, flat_rows, flat_columns, shape = found
    if len(right._spec.size) == 1:
        right = right.unsqueeze(1)
    if LOCAL.grad_enabled and (left.requires_grad or right.requires_grad):       # each step is in the graph
        left, right = left.expand(*rows).reshape(*flat_rows), right.expand(*columns).reshape(*flat_columns)
    else:
        left, right = _as_batch(left, rows, flat_rows), _as_batch(right, columns, flat_columns)
        if shape == flat_rows[:2] + flat_columns[2:]:
            return bmm.record(left, right)
    return unsafe_view(bmm.record(left, right), shape)


_batches = Bounded(1 << 12)


def _batch_of(left, right):
    """For a batched product: the sizes that the operands are expanded to, those with one dimension of batches, and the result's."""
    a, b = tuple(left.size), tuple(right.size)
    n, k = (a[-2] if len(a) > 1 else 1), a[-1]
    j, m = (b[-2] if len(b) > 1 else b[-1]), (b[-1] if len(b) > 1 else 1)
    batch = tuple(broadcast_shapes([a[:-2], b[:-2]]))
    count = math.prod(batch)
    shape = batch + ((n,) if len(a) > 1 else ()) + ((m,) if len(b) > 1 else ())
    return (*batch, n, k), (*batch, j, m), (count, n, k), (count, j, m), shape


def _as_batch(matrices, size, flat):
    own = matrices._spec.size
    if own != size:
        matrices = matrices.expand(*size)
    return matrices if size == flat else matrices.reshape(*flat)


# -- linear -----------------------------------------------------------------------------------------------------------

@composite("linear", function=False, method=False)
def linear(input, weight, bias=None, *, out=None):
    """``input @ weight.T + bias`` over the last dimension."""
    if not input._spec.ndim or not weight._spec.ndim:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {input._spec.ndim}D and {weight._spec.ndim}D")
    if bias is not None and input._spec.ndim == 2:
        made = addmm.record(bias, input, weight.t())
    else:
        made = _linear_of_more(input, weight, bias)
    return made if out is None else put_out("linear", made, out)


def _linear_of_more(input, weight, bias):
    if bias is None:
        return matmul(input, weight.t())
    spec = input._spec
    if spec.contiguous and (bias._spec.ndim == 1 or sum(n != 1 for n in bias._spec.size) == 1):
        size = tuple(spec.size)
        rows = 1
        for n in size[:-1]:
            rows *= n
        flat = input.view(rows, size[-1])
        return addmm.record(bias, flat, weight.t()).view(*size[:-1], weight._spec.size[0])
    made = matmul(input, weight.t())
    return made.add(bias) if STATE.modes else made.add_(bias)       # in place, as PyTorch adds where nobody is asked below autograd
