"""What public functions do that are given a sparse matrix by rows or columns: its parts, copies, values, products and sums.

Owns: the table of these layouts. Products and what moves elements go by the `twin` in coordinates.
"""
import inspect

import jtensor

from . import arithmetic, conversions, keeping, products
from .answering import COORDINATES, Layout, refused
from .compressed import (
    KINDS,
    compressed_of,
    elements_at,
    elements_of,
    empty,
    is_compressed,
    put_together,
    twin,
    with_elements,
)
from .compressing import to_layout
from .graph import at_places, is_recorded, recorded, refuse_complex_history, wants
from .replacing import replace
from .tensors import is_sparse


def _refusal(name, args):
    return RuntimeError(f"unsupported tensor layout: {_kind(args)}") if name in _REFUSED else refused(name, args)


_REFUSED = frozenset("exp __eq__ eq __ne__ ne div gt lt ge le cos sigmoid log pow __pow__ clamp".split())
COMPRESSED = Layout((), _refusal)
answers = COMPRESSED.answers


def _kind(args):
    return next(KINDS[x._layout.name] for x in args if is_compressed(x))


# -- parts -------------------------------------------------------------------------------------------------------------


def _part(name, rows, field):
    def part(self):
        if self.by_rows is not rows:
            raise RuntimeError(f"{name} expected sparse {'row' if rows else 'column'} compressed tensor layout but got "
                               f"{KINDS[self._layout.name]}")
        return getattr(self, field).detach()
    answers(name)(part)


for _name, _rows, _field in (("crow_indices", True, "_begins"), ("col_indices", True, "_others"), ("ccol_indices", False, "_begins"),
                             ("row_indices", False, "_others")):
    _part(_name, _rows, _field)
for _name in ("indices", "is_coalesced", "coalesce"):
    def _in_coordinates(self, name=_name):
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {KINDS[self._layout.name]}")
    answers(_name)(_in_coordinates)
for _name in ("stride", "is_contiguous"):
    def _without_memory(self, *args, name=_name, **kwargs):
        raise RuntimeError("Sparse CSR tensors do not have " + ("strides" if name == "stride" else name))
    answers(_name)(_without_memory)


@answers("values")
def values(self):
    return elements_of(self)


@answers("sparse_dim")
def sparse_dim(self):
    return 2


@answers("dense_dim")
def dense_dim(self):
    return self.ndim - 2


@answers("untyped_storage", "storage", "is_shared", "storage_offset", "share_memory_")
def storage(self, *args, **kwargs):
    raise NotImplementedError("Cannot access storage of SparseCsrTensorImpl")


answers("data_ptr", "tolist")(keeping.data_ptr)
answers("is_pinned")(keeping.is_pinned)


@answers("numpy", "__array__", "jax")
def numpy(self, *args, **kwargs):
    raise TypeError(f"can't convert {KINDS[self._layout.name]} layout tensor to numpy. Use Tensor.to_dense() first.")


@answers("type")
def kind(self, dtype=None):
    if dtype is not None:
        return keeping.to(self, dtype)
    raise RuntimeError("Unimplemented backend SparseCsrCPU")


# -- copies and other layouts ------------------------------------------------------------------------------------------


for _name in ("clone", "detach", "to", "cpu", *keeping.CASTS, *(f"to_sparse_{_kind}" for _kind in ("csr", "csc", "bsr", "bsc"))):
    answers(_name)(COORDINATES.table[_name])


@answers("to_dense")
def to_dense(self, dtype=None, *, masked_grad=None):
    """The dense tensor; its gradient comes back at the places of the sparse one."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_csr_to_dense")
    made = keeping.to_dense(twin(self.detach()))

    def pull(grad):
        if masked_grad is None or masked_grad:
            return (with_elements(self, elements_at(grad, self), "SparseMaskBackward0"),)
        return (to_layout(grad, self._layout, tuple(self._elements.shape[1:3]) if self.in_blocks else None, dense_dim(self)),)
    return recorded("ToDenseBackward0", made, [self], pull)


@answers("to_sparse", "to_sparse_coo")
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    layout, sparse_dim = (sparse_dim, None) if sparse_dim is not None and not isinstance(sparse_dim, int) else (layout, sparse_dim)
    conversions.check("to_sparse", self, layout or jtensor.sparse_coo, blocksize, dense_dim)
    if layout is None or layout is jtensor.sparse_coo:
        if sparse_dim not in (None, 2):
            raise RuntimeError(f"sparse_compressed_to_sparse: conversion from {_kind((self,))} to Sparse with sparse_dim argument !=2 is "
                               "not supported")
        refuse_complex_history(self, "_to_sparse")
        return twin(self)
    return to_layout(self, layout, blocksize, dense_dim, "_to_sparse")


@answers("sparse_mask")
def sparse_mask(self, mask):
    if not is_compressed(mask):
        raise refused("sparse_mask", (self,))
    made = compressed_of(mask, elements_at(self.detach(), mask))
    return recorded("SparseMaskBackward0", made, [self], lambda g: (
        (g if is_compressed(self) else g.to_dense()) if wants(self) else None,))


@answers("zeros_like")
def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    if layout is jtensor.strided:
        raise _another_layout(input, layout)
    if layout is None or layout.name in KINDS:
        return empty(layout or input._layout, tuple(input.shape), dtype or input.dtype, device or input.device, requires_grad)
    return jtensor.zeros(input.shape, dtype=dtype or input.dtype, layout=layout, device=device or input.device, requires_grad=requires_grad)


def _another_layout(input, layout):
    asked = {**KINDS, "strided": "Strided", "sparse_coo": "Sparse"}[layout.name]
    return RuntimeError(f"empty_like with different sparse layout is not supported (self is {_kind((input,))} but you requested {asked})")


def _like(name):
    function = getattr(jtensor, name)

    def of_compressed(input, *args, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
        if layout is not None and layout is not input._layout:
            raise _another_layout(input, layout)
        made = compressed_of(input, function(input._elements.detach(), *args, dtype=dtype, device=device))
        made._requires_grad = requires_grad
        return made
    answers(name)(of_compressed)


for _name in ("ones_like", "empty_like", "full_like", "randn_like"):
    _like(_name)


@answers("copy_")
def copy_(self, src, non_blocking=False):
    if not is_compressed(self) or not is_compressed(src):
        raise RuntimeError("copy_ between different layouts is not supported. Found self type = "
                           f"{self.layout} and src type = {src.layout}")
    return replace(self, keeping.clone(src).to(self.dtype))


@answers("zero_")
def zero_(input):
    return replace(input, empty(input._layout, tuple(input.shape), input.dtype, input.device))


# -- values ------------------------------------------------------------------------------------------------------------


def _given(out, made, elementwise=False):
    """The result, or ``out`` after it has become that."""
    if out is None:
        return made
    if not is_compressed(out) or out._layout is not made._layout:
        raise RuntimeError(f"Expected result Tensor to be of format {KINDS[made._layout.name].removeprefix('Sparse').upper()}")
    if elementwise and (out.shape != made.shape or out._nnz() != made._nnz()):
        raise RuntimeError("torch.copy_: only sparse compressed tensors with the same number of specified elements are supported.")
    return replace(out, made)


def _unary(name):
    function = getattr(jtensor, name)

    def of_compressed(input, *args, out=None, **options):
        values = function(elements_of(input), *args, **options)
        node = values.grad_fn
        return _given(out, with_elements(input, values, "" if node is None else node.name()), True)
    answers(name)(of_compressed)
    answers(name + "_")(lambda input, *args: replace(input, of_compressed(input, *args)))


for _name in (*arithmetic.ZERO_TO_ZERO, "neg", "angle", "conj_physical"):
    _unary(_name)


@answers("conj")
def conj(input):
    return input.conj_physical() if input.is_complex() else input


@answers("mul", "multiply", "__rmul__")
def mul(input, other, *, out=None):
    """The product with a number or a dense matrix, or with a sparse one."""
    x, y = (input, other) if is_compressed(input) else (other, input)
    if arithmetic.is_number(y):
        return _given(out, with_elements(x, elements_of(x) * y, "MulBackward0"))
    if is_compressed(y):
        return _given(out, to_layout(twin(x) * twin(y), x._layout))
    if is_sparse(y):
        raise RuntimeError("mul: expected both sparse tensors in one layout")
    picked = at_places(y.expand(x.shape), x._pattern_in_coordinates()).reshape(x._elements.shape)
    return _given(out, with_elements(x, elements_of(x) * picked, "MulBackward0"))


@answers("mul_", "multiply_")
def mul_(input, other):
    """In place, by a number where the values lie."""
    if not is_compressed(input):
        raise RuntimeError("Expected result Tensor to be of format CSR")
    if is_recorded(input) or not arithmetic.is_number(other):
        return replace(input, mul(input, other).to(input.dtype))
    input._elements.mul_(other)
    input._counter.version += 1
    return input


@answers("add")
def add(input, other, *, alpha=1, out=None):
    """The sum with a dense matrix, dense, or with another of the layout."""
    if is_compressed(input) and is_compressed(other):
        if input._layout is not other._layout:
            raise RuntimeError("add: expected both sparse matrices in one layout")
        return _given(out, to_layout(jtensor.add(twin(input).coalesce(), twin(other).coalesce(), alpha=alpha), input._layout))
    if is_compressed(other):
        return jtensor.add(input, twin(other), alpha=alpha, out=out)
    if not isinstance(other, jtensor.Tensor):
        raise RuntimeError(f"unsupported tensor layout: {_kind((input,))}")
    return jtensor.add(other * alpha, twin(input), out=out)


@answers("sub")
def sub(input, other, *, alpha=1, out=None):
    raise RuntimeError(f"unsupported tensor layout: {_kind((input, other))}")


@answers("sum")
def total(input, dim=None, keepdim=False, *, dtype=None):
    """The sum of all, or over a dimension that is kept."""
    if dim is None:
        return jtensor.sum(twin(input), dtype=dtype)
    if not keepdim:
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    return to_layout(jtensor.sum(twin(input), dim, True, dtype=dtype), input._layout)


@answers("t", "transpose", "T", "mT")
def transpose(input, dim0=0, dim1=1):
    """The transpose: the same parts in the layout of the other direction."""
    if {dim0 % input.ndim, dim1 % input.ndim} != {0, 1}:
        raise refused("transpose.int", (input,))
    name = input._layout.name
    turned = getattr(jtensor, name[:-1] + ("c" if name[-1] == "r" else "r"))
    rows, columns, *rest = input.shape
    elements = input._elements.transpose(1, 2) if input.in_blocks else input._elements
    made = put_together(turned, input._begins, input._others, elements, (columns, rows, *rest))
    return recorded("TransposeBackward0", made, [input], lambda g: (g.transpose(0, 1),))


@answers("H", "mH", "adjoint")
def adjoint(input):
    return conj(transpose(input))


@answers("select", "__getitem__")
def select(input, *where):
    """A row or column, in coordinates; an element."""
    if len(where) == 2:
        return twin(input).select(*where)
    return twin(input)[where[0]]


# -- products ----------------------------------------------------------------------------------------------------------


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
        if left.ndim == right.ndim == 2:
            products.refuse_unlike_sizes(left, right)
        compressed = {key: x for key, x in given.items() if is_compressed(x)}
        bound.arguments.update({key: twin(x) for key, x in compressed.items()})
        made = function(*bound.args, **bound.kwargs)
        return to_layout(made, next(iter(compressed.values()))._layout) if is_sparse(made) else made
    answers(name)(product)
    return product


for _name in ("mm", "mv", "matmul", "addmm"):
    _by_twins(_name, getattr(products, _name))


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
    products.refuse_unlike_sizes(mat1, mat2)
    rows, columns = input._pattern_in_coordinates().lines()
    product = (mat1.index_select(0, rows) * mat2.index_select(1, columns).t()).sum(1)
    return with_elements(input, elements_of(input) * beta + product * alpha, "SparseSampledAddmmBackward0")
