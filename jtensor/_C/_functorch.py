"""``torch._C._functorch``: what a tensor is inside of the functions of `torch.func`."""
from .._functorch.vmap import _add_batch_dim, _remove_batch_dim  # noqa: F401
from ..func.unwrapping import debug_unwrap as _unwrap
from ..tensor.lifted.batching import is_batch


def is_batchedtensor(tensor, /):
    """Whether a tensor stands for a batch, inside of `vmap`."""
    return is_batch(tensor)


def is_legacy_batchedtensor(tensor, /):
    """Whether it does so in an older way: no."""
    return False


def get_unwrapped(tensor, /):
    """What a tensor inside of `vmap` or `jvp` is made of."""
    return _unwrap(tensor, recurse=False)
