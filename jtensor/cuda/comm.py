"""`torch.cuda.comm`: tensors between several GPUs of one process, which are not used here."""
from ..base.errors import missing

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]


def _refusal(name):
    def refuse(*args, **kwargs):
        raise missing(f"several GPUs in one process (torch.cuda.comm.{name})", "Tensor.to(device)")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuses: there is one GPU at a time."
    return refuse


broadcast, broadcast_coalesced, gather, reduce_add, reduce_add_coalesced, scatter = map(_refusal, __all__)
