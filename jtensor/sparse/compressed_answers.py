"""What public functions do that are given a sparse matrix by rows or columns: its parts, copies, values and sums.

Owns: the table of these layouts. What needs places goes by the `twin` in coordinates. Pieces and matrix products have rooms of their own.
"""
import jtensor

from . import arithmetic, conversions, keeping, products
from .answering import COORDINATES, Layout
from .compressed import (
    KINDS,
    compressed_of,
    elements_at,
    elements_of,
    is_compressed,
    put_together,
    twin,
    with_elements,
)
from .compressed_making import empty
from .compressing import to_layout
from .graph import at_places, conjugate, is_recorded, recorded, refuse_complex_history, wants
from .refusals import of_compressed, refused, without
from .replacing import before, replace
from .tensors import is_sparse

COMPRESSED = Layout(("compressed_pieces", "compressed_products", "composed"), of_compressed)
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
        raise without(self._layout.name, "strides" if name == "stride" else name)
    answers(_name)(_without_memory)


@answers("values")
def values(self):
    return elements_of(self)


@answers("sparse_dim")
def sparse_dim(self):
    return 2


@answers("dense_dim")
def dense_dim(self):
    return self.ndim - 2 - self.batch


@answers("untyped_storage", "storage", "is_shared", "storage_offset", "share_memory_")
def storage(self, *args, **kwargs):
    raise NotImplementedError("Cannot access storage of SparseCsrTensorImpl")


answers("data_ptr", "tolist")(keeping.data_ptr)
answers("is_pinned")(keeping.is_pinned)


@answers("numpy", "__array__", "jax")
def numpy(self, *args, **kwargs):
    raise TypeError(f"can't convert {KINDS[self._layout.name]} layout tensor to numpy. Use Tensor.to_dense() first.")


@answers("item", "__float__", "__int__", "__index__", "__complex__", "__bool__", "is_nonzero")
def item(self):
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    raise refused("_local_scalar_dense", (self,))


@answers("new", "new_tensor")
def new(self, *given, **options):
    """A copy of a compressed tensor by a dense one; by another one PyTorch's error."""
    if is_compressed(self):
        raise RuntimeError("Cannot map DispatchKey SparseCsrCPU to a unique layout.")
    return keeping.new_tensor(self, *given, **options)


@answers("type_as")
def type_as(self, other):
    if is_compressed(self) is not is_compressed(other):
        raise RuntimeError("to(options) doesn't support converting to a different layout, but got self.layout being "
                           f"{products.kind_of(self)} and options.layout set as {products.kind_of(other)}")
    return keeping.to(self, other.dtype)


@answers("type")
def kind(self, dtype=None):
    if dtype is not None:
        return keeping.to(self, dtype)
    raise RuntimeError("Unimplemented backend SparseCsrCPU")


# -- copies and other layouts ------------------------------------------------------------------------------------------


for _name in ("clone", "detach", "to", "cpu", "tensor", "as_tensor", "asarray", *keeping.CASTS, *("to_" + _kind for _kind in KINDS)):
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
        return (to_layout(grad, self._layout, self.blocksize, dense_dim(self)),)
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
    kind, device = dtype or input.dtype, device or input.device
    if layout is None or layout is input._layout:
        made = _nothing(input, kind).to(device)
        made._requires_grad = requires_grad
        return made
    return jtensor.zeros(input.shape, dtype=kind, layout=layout, device=device, requires_grad=requires_grad)


def _nothing(x, dtype):
    """No elements, or blocks of the same size, in the size of a tensor."""
    values = x._elements.new_zeros((*x.shape[:x.batch], 0, *x._elements.shape[x.batch + 1:]), dtype=dtype)
    return put_together(x._layout, x._begins.new_zeros(x._begins.shape), x._others.new_zeros((*x.shape[:x.batch], 0)), values, x.shape)


@answers("new_zeros", "new_empty")
def new_zeros(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    return empty(self._layout, size, dtype or self.dtype, device or self.device, requires_grad, "empty")


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
    if not is_compressed(self):
        raise RuntimeError("copy_sparse_compressed_ expected sparse compressed tensor layout but got "
                           f"{'Sparse' if is_sparse(self) else 'Strided'}")
    if not is_compressed(src) or self._layout is not src._layout:
        raise RuntimeError("torch.copy_: copy of sparse compressed tensors having different layouts is not supported. self layout is "
                           f"{_kind((self,))} and src layout is {products.kind_of(src)}")
    if self._nnz() != src._nnz():
        raise RuntimeError("torch.copy_: only sparse compressed tensors with the same number of specified elements are supported.")
    parts = [getattr(self, part).clone().copy_(getattr(src, part)) for part in ("_begins", "_others", "_elements")]
    made = put_together(self._layout, *parts, self.shape)
    return replace(self, recorded("CopyBackwards", made, [src], lambda g: (g.to(src.dtype),)))


@answers("zero_")
def zero_(input):
    return replace(input, _nothing(input, input.dtype))


# -- values ------------------------------------------------------------------------------------------------------------


def given(out, made, elementwise=False):
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
        return given(out, with_elements(input, values, "" if node is None else node.name()), True)
    answers(name)(of_compressed)
    answers(name + "_")(lambda input, *args: replace(input, of_compressed(input, *args)))


for _name in (*arithmetic.ZERO_TO_ZERO, "neg", "angle", "conj_physical"):
    if _name not in ("nan_to_num", "square"):
        _unary(_name)
for _old, _new in (arithmetic.OLDER | {"negative": "neg"}).items():
    for _ending in ("", "_"):
        answers(_old + _ending)(COMPRESSED.table[_new + _ending])


@answers("nn.functional.relu")
def relu(input, inplace=False):
    return COMPRESSED.table["relu_" if inplace else "relu"](input)


@answers("nn.functional.dropout", *(f"nn.functional.dropout{n}d" for n in (1, 2, 3)))
def dropout(input, p=0.5, training=True, inplace=False):
    if training and p:
        raise refused("bernoulli_.float", (input,))
    return input


@answers("positive", "resolve_conj", "resolve_neg", "real")
def positive(input):
    if input.is_complex():
        raise refused("view_as_real", (input,))
    return input


@answers("fill_")
def fill_(input, value):
    """All elements that are kept."""
    if not is_compressed(input):
        raise refused("fill_.Tensor", (input, value))
    return replace(input, compressed_of(input, jtensor.full_like(input._elements, value)))


@answers("fill")
def fill(input, value):
    if not is_compressed(input):
        raise refused("fill.Tensor", (input, value))
    return compressed_of(input, jtensor.full_like(input._elements, value))


@answers("normal_")
def normal_(self, mean=0, std=1, *, generator=None):
    input = self
    return replace(input, compressed_of(input, input._elements.detach().clone().normal_(mean, std, generator=generator)))


@answers("conj")
def conj(input):
    return input.conj_physical() if input.is_complex() else input


@answers("mul", "multiply", "__rmul__")
def mul(input, other, *, out=None):
    """The product with a number or a dense matrix, or with a sparse one."""
    x, y = (input, other) if is_compressed(input) else (other, input)
    if arithmetic.is_number(y):
        return given(out, _by_number(x, y))
    if x.batch:
        raise RuntimeError(f"coo_to_{x._layout.name}: conversion from Sparse to {_kind((x,))} for input tensors with sparse_dim()!=2 is "
                           "not supported")
    if is_compressed(y):
        return given(out, to_layout(twin(x) * twin(y), x._layout, x.blocksize))
    if is_sparse(y):
        raise RuntimeError("mul: expected both sparse tensors in one layout")
    if y.shape != x.shape:
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; self has size {list(y.shape)} but mask has size "
                           f"{list(x.shape)}")
    picked = at_places(y, x._pattern_in_coordinates()).reshape(x._elements.shape)
    return given(out, with_elements(x, elements_of(x) * picked, "MulBackward0"))


def _by_number(x, number):
    """The gradient is a product, too, wherever it has elements."""
    made = compressed_of(x, x._elements * (number.detach() if isinstance(number, jtensor.Tensor) else number))
    return recorded("MulBackward0", made, [x, number], lambda g: (
        g * conjugate(number) if wants(x) else None,
        (elements_at(g, x) * elements_of(x).conj()).sum() if wants(number) else None), [x] if wants(number) else [])


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
            wanted, lines = ("crow", "row") if input.by_rows else ("ccol", "column")
            raise RuntimeError(f"{wanted}_indices expected sparse {lines} compressed tensor layout but got {_kind((other,))}")
        made = jtensor.add(twin(input).coalesce(), twin(other).coalesce(), alpha=alpha)
        return given(out, to_layout(made, input._layout, input.blocksize))
    if is_compressed(other):
        return jtensor.add(input, twin(other), alpha=alpha, out=out)
    if not isinstance(other, jtensor.Tensor):
        raise RuntimeError(f"unsupported tensor layout: {_kind((input,))}")
    return jtensor.add(other * alpha, twin(input), out=out)


@answers("add_")
def add_(input, other, *, alpha=1):
    """In place, with another tensor of the layout."""
    if not is_compressed(input):
        return input.add_(twin(other), alpha=alpha)
    if not is_compressed(other):
        raise without(input._layout.name, "is_contiguous")
    return replace(input, add(before(input), other, alpha=alpha))


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
    if input.batch:
        raise RuntimeError("input_dim == 2 INTERNAL ASSERT FAILED: sums over dimensions are of matrices, not of batches of them")
    return to_layout(jtensor.sum(twin(input), dim, True, dtype=dtype), input._layout)
