"""`torch._vmap_internals`: an older place of `torch.vmap`, where libraries look for it."""
from .func import vmap

__all__ = ["_vmap", "vmap"]


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """`torch.vmap`; what answers None has to be told apart by whoever asks for ``allow_none_pass_through``, and is let through here."""
    return vmap(func, in_dims, out_dims)
