"""The names of ``torch._utils`` that programs use, and those by which PyTorch's pickles put tensors together again."""
import jtensor

from .serialization.reading import rebuild_parameter as _rebuild_parameter  # noqa: F401
from .serialization.reading import rebuild_parameter as _rebuild_parameter_with_state  # noqa: F401
from .serialization.reading import rebuild_sparse as _rebuild_sparse_tensor  # noqa: F401
from .serialization.reading import rebuild_tensor as _rebuild_tensor_v2  # noqa: F401


def _flatten_dense_tensors(tensors):
    """One tensor of one dimension, of the elements of all."""
    return jtensor.cat([one.reshape(-1) for one in tensors]) if tensors else jtensor.zeros(0)


def _unflatten_dense_tensors(flat, tensors):
    """Views of such a tensor, of the shapes of those that it was made of."""
    return tuple([piece.view_as(one) for piece, one in zip(flat.split([one.numel() for one in tensors]), tensors, strict=True)])
