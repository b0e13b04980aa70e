"""Pieces of sparse matrices by rows or columns, and of batches of them, their transposes, and the same in another size.

Owns: these entries of the table of these layouts, with their gradients. A piece along a dimension of the batch, or a dense one, lies on the
memory of the whole, as a transpose does; one along a sparse dimension is a tensor in coordinates. May not know: values.
"""
import numpy as np

import jtensor

from ..tensor.creating.from_data import from_host
from . import moving
from .compressed import KINDS, by_rows, elements_at, is_compressed, put_together, twin, with_elements
from .compressed_answers import answers
from .graph import recorded
from .moving import _dim
from .patterns import REASON, host_copy
from .refusals import refused, without
from .replacing import replace

# -- pieces ------------------------------------------------------------------------------------------------------------


@answers("select")
def select(input, dim, index):
    """One matrix of a batch, or what lies at one dense index; a row or column of a matrix in coordinates."""
    return _select(input, dim, index)


@answers("select_copy")
def select_copy(input, dim, index):
    return _select(input, dim, index, True).clone()


def _select(x, dim, index, of_blocks=False):
    dim, length = _dim(x, dim), x.shape[_dim(x, dim)]
    if not -length <= index < length:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {dim}")
    batch = x.batch
    if batch <= dim < batch + 2:
        if batch:
            raise RuntimeError("select(): selecting sparse dimensions is not supported for batched sparse compressed tensors.")
        if x.in_blocks and not of_blocks:
            raise RuntimeError("select(): no view exists for the given input, consider using torch.select_copy.")
        made = twin(x).select(dim, index)
        return made._coalesced_(True) if made.is_sparse else made
    size = [n for d, n in enumerate(x.shape) if d != dim]
    if dim < batch:
        begins, others, at = x._begins.select(dim, index), x._others.select(dim, index), dim
    else:
        begins, others, at = x._begins, x._others, dim - 1 + 2 * x.in_blocks
    made = put_together(x._layout, begins, others, x._elements.select(at, index), size)

    def pull(grad):
        values = elements_at(grad, made)
        return (with_elements(x, values.new_zeros(x._elements.shape).select_scatter(values, at, index), "SelectBackward0_copy"),)
    return recorded("SelectBackward0", made, [x], pull)


@answers("unbind", "__iter__")
def unbind(input, dim=0):
    return tuple([_select(input, dim, at) for at in range(input.shape[_dim(input, dim)])])


@answers("__getitem__")
def getitem(input, index):
    """Integers, which select, and ``:`` and ``...`` beside them."""
    if not is_compressed(input):
        if is_compressed(index) and (index.is_floating_point() or index.is_complex()):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        raise refused("index.Tensor", (input, index))
    index = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, float | str) for i in index):
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
                         f"{type(index[0]).__name__})")
    plain = [int(i) if _is_integer(i) else i for i in index]
    if any(isinstance(i, jtensor.Tensor | list | np.ndarray | bool) for i in plain) or not any(isinstance(i, int) for i in plain):
        raise without(input._layout.name, "strides")
    return moving.walked(input, plain)


def _is_integer(i):
    if isinstance(i, jtensor.Tensor):
        return i.ndim == 0 and i.dtype is not jtensor.bool
    return hasattr(i, "__index__") and not isinstance(i, bool | list)


@answers("unsqueeze", "narrow", "chunk", "as_strided")
def strided(input, *args, **kwargs):
    raise without(input._layout.name, "strides")


@answers("cat", "concat", "concatenate", "stack", "vstack", "row_stack", "hstack")
def joined(tensors, *args, **kwargs):
    raise without(next(x.layout.name for x in tensors if is_compressed(x)), "is_contiguous")


@answers("contiguous", "flatten", "reshape")
def contiguous(input, *args, **kwargs):
    raise without(input._layout.name, "is_contiguous")


@answers("expand", "broadcast_to")
def expand(self, *args, **kwargs):
    raise RuntimeError(f"expand is unsupported for {KINDS[self._layout.name]} tensors")


# -- transposes --------------------------------------------------------------------------------------------------------


@answers("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    """The transpose: the same parts in the layout of the other direction; of two dimensions of the batch, other parts in the same."""
    a, b, batch = _dim(input, dim0), _dim(input, dim1), input.batch
    if input.ndim > batch + 2:
        raise RuntimeError("transpose(): hybrid sparse compressed tensors with dense dimensions are not supported")
    if a == b:
        return recorded("TransposeBackward0", input._share(), [input], lambda g: (g,))
    kinds = ["Batch" if d < batch else "Sparse" for d in (a, b)]
    if kinds[0] != kinds[1]:
        raise RuntimeError("transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
                           f"{a}({kinds[0]}) and {b}({kinds[1]})")
    size, layout = list(input.shape), input._layout
    size[a], size[b] = size[b], size[a]
    if a < batch:
        parts = [x.transpose(a, b) for x in (input._begins, input._others, input._elements)]
    else:
        layout = getattr(jtensor, layout.name[:-1] + ("c" if layout.name[-1] == "r" else "r"))
        elements = input._elements.transpose(batch + 1, batch + 2) if input.in_blocks else input._elements
        parts = [input._begins, input._others, elements]
    return recorded("TransposeBackward0", put_together(layout, *parts, size), [input], lambda g: (g.transpose(a, b),))


@answers("t")
def t(input):
    """The transpose of a matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return transpose(input, 0, 1)


@answers("T", "permute", "movedim", "moveaxis")
def permute(input, *args, **kwargs):
    raise refused("as_strided", (input,))


@answers("mT")
def last_two(input):
    return transpose(input, -2, -1)


@answers("H")
def conjugate_transpose(input):
    if input.ndim != 2:
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor. For batches of matrices, "
                           "consider using tensor.mH")
    return adjoint(input)


@answers("mH", "adjoint")
def adjoint(input):
    return transpose(input, -2, -1).conj()


@answers("t_", "transpose_", "swapdims_", "swapaxes_")
def transpose_(input, *dims):
    if not dims and input.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    raise RuntimeError(f"torch.transpose_: in-place transposition is not supported for {KINDS[input._layout.name]} layout")


# -- other sizes -------------------------------------------------------------------------------------------------------


@answers("resize_")
def resize_(input, *size, memory_format=None):
    """More rows, without elements, or columns, or fewer rows; fewer columns are refused."""
    if input.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    rows, columns = input.shape[input.batch:input.batch + 2]
    if len(size) < 2 or input.in_blocks or input.ndim > input.batch + 2 or size[:-2] != input.shape[:-2]:
        raise refused("resize_", (input,))
    if size[-1] < columns:
        raise RuntimeError("torch.resize_: Resizing columns of sparse CSR tensors to a smaller value is not supported. The original number "
                           f"of columns is {columns} while the requested new number of columns is {size[-1]}.")
    begins, other = np.asarray(host_copy(input._begins, REASON)), size[-2 if by_rows(input._layout) else -1]
    nnz = input._nnz()
    made = np.full((*begins.shape[:-1], other + 1), nnz, begins.dtype)
    kept = min(other, begins.shape[-1] - 1) + 1
    made[..., :kept] = begins[..., :kept]
    made[..., -1] = nnz
    return replace(input, put_together(input._layout, from_host(made), input._others, input._elements, size))


@answers("resize_as_sparse_")
def resize_as_sparse_(input, the_template):
    return resize_as_(input, the_template, name="resize_as_sparse_")


@answers("resize_as_")
def resize_as_(input, the_template, *, memory_format=None, name="resize_as_"):
    """The size of another tensor of the layout, with its places."""
    if not is_compressed(input) or the_template.layout is jtensor.strided:
        if input.shape == the_template.shape and name != "resize_as_sparse_":
            return input
        if not is_compressed(input) and name != "resize_as_sparse_":
            return input.resize_(the_template.shape)
    for what, x in (("self", input), ("src", the_template)):
        if not is_compressed(x):
            raise RuntimeError(f"resize_as_sparse_compressed_: {what}  expected sparse compressed tensor layout but got Strided")
    if input._layout is not the_template._layout:
        kinds = [KINDS[x._layout.name] for x in (input, the_template)]
        raise RuntimeError("resize_as_sparse_compressed_tensor_: self and src must have the same layout, but got: self "
                           f"({kinds[0]}) and source ({kinds[1]})")
    if input.shape == the_template.shape and input._nnz() == the_template._nnz():
        return input
    raise refused("resize_as_sparse_", (input, the_template))
