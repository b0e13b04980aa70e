"""`torch.cuda.comm`: tensors between several GPUs of one process, which are not used here."""
from ..base.errors import refusal

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]

broadcast, broadcast_coalesced, gather, reduce_add, reduce_add_coalesced, scatter = [
    refusal(f"torch.cuda.comm.{name}", "several GPUs in one process", "Tensor.to(device)", "there is one GPU at a time.")
    for name in __all__]
