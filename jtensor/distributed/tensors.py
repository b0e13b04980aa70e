"""Tensors as what goes from process to process: flat arrays of the host, and back into the tensors' memory.

Owns: which types go, and how results are written: where PyTorch's Gloo writes into the memory, as by ``.data``, which neither autograd
nor a version counter sees; where it copies, as by `copy_`. May not know: groups.
"""
import numpy as np

from ..autograd.mode import no_grad
from ..base import dtypes
from ..base.errors import missing
from ..tensor.core import Tensor
from ..tensor.creating.from_data import from_host
from ..tensor.looking import host_copy
from .reducing import RedOpType, ReduceOp

_TYPES = {dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.int8, dtypes.uint8, dtypes.bool, dtypes.int32,
          dtypes.int64, dtypes.complex64, dtypes.complex128}
_REAL = {np.dtype(np.complex64): np.float32, np.dtype(np.complex128): np.float64}


def flat(tensor):
    """A copy of the tensor's elements, those of complex numbers as two. RuntimeError for types that Gloo does not know."""
    if tensor.layout.name != "strided":
        raise missing("sparse tensors in groups of processes", "their to_dense(), or their indices and values")
    if tensor.dtype not in _TYPES:
        raise RuntimeError("Invalid scalar type")
    array = np.array(host_copy(tensor.detach().resolve_conj().resolve_neg()), order="C").reshape(-1)
    return array.view(_REAL.get(array.dtype, array.dtype))


def empty(tensor):
    """An array for as many elements, to be filled."""
    if tensor.dtype not in _TYPES:
        raise RuntimeError("Invalid scalar type")
    dtype = np.dtype(tensor.dtype.numpy)
    return np.empty(tensor.numel(), dtype).view(_REAL.get(dtype, dtype))


def _made(tensor, array):
    return from_host(array.view(tensor.dtype.numpy).reshape(tuple(tensor.shape)), tensor.dtype, ours=True)


def put(tensor, array):
    """Writes what `flat` would give into the tensor's memory. The array is the tensor's from then on."""
    tensor.data.copy_(_made(tensor, array))


def copy(tensors, arrays):
    """The same for several tensors, as writes that their versions count."""
    with no_grad():
        for tensor, array in zip(tensors, arrays, strict=True):
            tensor.copy_(_made(tensor, array))


# -- arguments, refused in PyTorch's words -----------------------------------------------------------------------------

def check_single(tensor, name):
    """TypeError unless this is a tensor."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             but got {type(tensor)} "
                        "instead.")


def check_list(tensors, name):
    """TypeError unless this is a list of tensors."""
    opening = f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got {type(tensors)} "
    if not isinstance(tensors, list):
        raise TypeError(opening + "instead.")
    if not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(opening + f"with elements of type {[type(t) for t in tensors]}.")


def check_types(*tensors):
    """ValueError unless these have one type; a complex number and its parts count as of one."""
    first = None
    for tensor in tensors:
        held = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(tensor.dtype, tensor.dtype)
        if first is None:
            first = held
        elif first != held:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {first} and  {tensor.dtype}")


def check_op(op):
    """The operation. TypeError for what is none."""
    if not isinstance(op, RedOpType | ReduceOp) or op == ReduceOp.PREMUL_SUM:
        raise TypeError("(): incompatible function arguments. The following argument types are supported:\n"
                        "    1. torch.distributed.ReduceOp, and PREMUL_SUM is NCCL's alone")
    return RedOpType(getattr(op, "op", op))


def size_text(shape):
    """A shape as Gloo's messages have it.

    >>> size_text((2, 3))
    '(2, 3)'
    """
    return "(" + ", ".join(map(str, shape)) + ")"
