"""What becomes of a sparse tensor that is written to: another pattern, other values, another history.

Owns: `replace`, what a gradient reads of the tensor `before` that, and ``out=``. May not know: operations.
"""
from ..autograd.gradmode_checks import LEAF
from ..base.dtypes import can_cast, scalar_name
from ..tensor.dispatch import write_out
from ..tensor.history import edge_of
from .graph import is_recorded
from .tensors import become, is_sparse


def before(tensor):
    """A tensor as it is before it is written to: what a gradient reads. A write puts other parts in the tensor's place."""
    if not tensor.requires_grad:
        return tensor
    made = tensor._share()
    made._edge, made._requires_grad = edge_of(tensor), True
    return made


def holds(kind, dtype, operation=""):
    """PyTorch's refusal to write numbers of a type where those of another lie that cannot tell them; some have their own words."""
    if not can_cast(kind, dtype):
        a, b = scalar_name(kind), scalar_name(dtype)
        raise RuntimeError(f"Can't convert result type {a} to output {b} in {operation} operation" if operation else
                           f"result type {a} can't be cast to the desired output type {b}")


def replace(tensor, made):
    """Has a sparse tensor become what an operation made of it, with the history; PyTorch's error for a leaf that is recorded."""
    if is_recorded(tensor) and tensor._edge is None:
        raise RuntimeError(LEAF)
    if made._spec.dtype is not tensor._spec.dtype:
        holds(made._spec.dtype, tensor._spec.dtype)
        made = made.to(tensor._spec.dtype)
    edge, required = made._edge, made._requires_grad
    become(tensor, made)
    tensor._counter.version += 1
    if edge is not None:
        tensor._edge, tensor._requires_grad = edge, required
    return tensor


def given(out, made):
    """The result, or ``out`` after it has become that."""
    if out is None:
        return made
    if is_sparse(out) is not is_sparse(made):
        raise RuntimeError("out= has another layout than the result")
    if is_sparse(out):
        return replace(out, made)
    write_out(made, out)
    return out
