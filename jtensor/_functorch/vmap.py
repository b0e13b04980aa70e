"""Names from inside of PyTorch's `vmap`. Owns: the honest ones of these; those that take batches apart by hand are refused."""
from ..base.errors import missing
from ..func.batching import _name as _get_name  # noqa: F401
from ..tensor.core import Tensor  # noqa: F401
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten  # noqa: F401


def _refused():
    return missing("batches that are taken apart by hand (torch._functorch.vmap)", "torch.vmap of a function of tensors")


def _add_batch_dim(tensor, in_dim, level):
    """Raises ``NotImplementedError``."""
    raise _refused()


def _remove_batch_dim(tensor, level, batch_size, out_dim):
    """Raises ``NotImplementedError``."""
    raise _refused()


def _maybe_remove_batch_dim(name, batched_output, vmap_level, batch_size, out_dim):
    """Raises ``NotImplementedError``."""
    raise _refused()
