"""Matrix products in which a matrix is sparse by rows or columns.

Owns: these entries of the table of these layouts, ``torch.sparse.mm`` of them and ``sampled_addmm``. Products go by the `twin` in
coordinates. May not know: sums.
"""
import inspect
import math

import jtensor

from . import products
from .compressed import KINDS, elements_of, is_compressed, twin, with_elements
from .compressed_answers import COMPRESSED, answers, given
from .compressing import to_layout
from .replacing import before, replace
from .tensors import is_sparse


def _by_twins(name, function):
    """The product in coordinates: of matrices given by position or by name."""
    signature = inspect.signature(function)
    operands = [key for key, parameter in signature.parameters.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]

    def product(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        given = {key: bound.arguments[key] for key in operands}
        for at, (key, x) in enumerate(given.items(), 1):
            if not isinstance(x, jtensor.Tensor):
                raise TypeError(f"{name}(): argument '{key}' (position {at}) must be Tensor, not {type(x).__name__}")
        *_, left, right = given.values()
        _refuse_batches(name, left, right)
        _refuse_blocks(name, left, right)
        if left.ndim == right.ndim == 2:
            products.refuse_unlike_sizes(left, right)
        compressed = {key: x for key, x in given.items() if is_compressed(x)}
        bound.arguments.update({key: twin(x) for key, x in compressed.items()})
        made = function(*bound.args, **bound.kwargs)
        if not is_sparse(made):
            return made
        columns = name == "sparse_mm" and all(x._layout is jtensor.sparse_csc for x in compressed.values())
        return to_layout(made, jtensor.sparse_csc if columns else jtensor.sparse_csr)
    answers(name)(product)
    return product


def _refuse_blocks(name, left, right):
    """PyTorch's errors of products of two sparse matrices one of which has blocks."""
    if jtensor.strided in (left.layout, right.layout) or not any(is_compressed(x) and x.in_blocks for x in (left, right)):
        return
    kind, other = products.kind_of(left), products.kind_of(right)
    if is_compressed(left) and left.in_blocks and name != "sparse_mm":
        raise RuntimeError(f"zeros_sparse_compressed expected sparse compressed (non-block) tensor layout but got {kind}")
    raise RuntimeError(f"addmm: computation on CPU is not implemented for {kind} + {kind} @ {other}")


def _refuse_batches(name, left, right):
    """PyTorch's errors of products with a batch of sparse matrices, for which it has no kernel."""
    batched = [x for x in (left, right) if is_compressed(x) and x.batch]
    if not batched:
        return
    if name == "mv":
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {left.ndim}, {right.ndim}")
    if name != "matmul":
        at = 1 if left in batched else 2
        raise RuntimeError(f"mat{at} must be a matrix, got {batched[0].ndim}-D tensor")
    raise RuntimeError(f"expand is unsupported for {KINDS[batched[0]._layout.name]} tensors" if left.ndim == right.ndim else
                       f"Sparse {batched[0]._layout.name[-3:].upper()} tensors do not have strides")


for _name in ("mm", "mv", "matmul", "addmm"):
    _by_twins(_name, getattr(products, _name))
_addmm = COMPRESSED.table["addmm"]


@answers("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """``beta * input + alpha * mat1 @ mat2``: sparse if all three are, dense if ``input`` is."""
    sparse = [isinstance(x, jtensor.Tensor) and x.layout is not jtensor.strided for x in (input, mat1, mat2)]
    if sparse[0] and not all(sparse):
        raise RuntimeError(f"addmm: computation on CPU is not implemented for {products.kind_of(input)} + {products.kind_of(mat1)} @ "
                           f"{products.kind_of(mat2)}")
    if not all(sparse[1:]) or not isinstance(input, jtensor.Tensor):
        return _addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)
    product = jtensor.mm(mat1, mat2)
    if sparse[0]:
        return given(out, jtensor.add(input * beta, to_layout(product, input._layout), alpha=alpha))
    return jtensor.add(input * beta, product.to_dense(), alpha=alpha, out=out)


@answers("addmm_")
def addmm_(input, mat1, mat2, *, beta=1, alpha=1):
    if not is_compressed(input):
        return input.copy_(addmm(input, mat1, mat2, beta=beta, alpha=alpha))
    return replace(input, addmm(before(input), mat1, mat2, beta=beta, alpha=alpha))


@answers("linear")
def linear(input, weight, bias=None):
    made = jtensor.matmul(input, weight.t())
    return made if bias is None else made + bias


def sparse_mm(mat1, mat2):
    """``torch.sparse.mm`` of matrices one of which is compressed."""
    return _by_twins("sparse_mm", products.of_coordinates)(mat1, mat2)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """``beta * input + alpha * mat1 @ mat2`` at the places of ``input``, a sparse matrix by rows; the product is computed nowhere else.

    >>> import jtensor as torch
    >>> torch.sparse.sampled_addmm(torch.eye(2).to_sparse_csr(), torch.ones(2, 3), torch.ones(3, 2)).values()
    tensor([4., 4.])
    """
    if not is_compressed(input) or input._layout is not jtensor.sparse_csr:
        raise RuntimeError(f"Expected self to have sparse csr layout, but got {input.layout}")
    _check_sampled(input, mat1, mat2)
    *of_batch, rows, columns = input._pattern_in_coordinates().lines()
    inner, (height, width) = mat1.shape[-1], input.shape[-2:]
    at = sum(((line * stride) for line, stride in zip(of_batch, _steps(input.shape[:input.batch]), strict=True)), start=0)
    left = mat1.reshape(-1, inner).index_select(0, at * height + rows)
    right = mat2.mT.reshape(-1, inner).index_select(0, at * width + columns)
    product = (left * right).sum(1).reshape(input._elements.shape)
    return with_elements(input, elements_of(input) * beta + product * alpha, "SparseSampledAddmmBackward0")


def _steps(batch):
    return [math.prod(batch[d + 1:]) for d in range(len(batch))]


def _check_sampled(input, mat1, mat2):
    batch = list(input.shape[:input.batch])
    for name, x in (("mat1", mat1), ("mat2", mat2)):
        if list(x.shape[:-2]) != batch:
            raise RuntimeError(f"sampled_addmm: Expected self and {name} to have the same batch size, but got {batch} and "
                               f"{list(x.shape[:-2])}")
    products.refuse_unlike_sizes(mat1, mat2)
