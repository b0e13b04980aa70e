"""`torch.multiprocessing.reductions`: what is sent of tensors and storages. Owns: the names; `tensor.memory.sending` does it."""
from ..tensor.memory.sending import reduce_storage, reduce_tensor

__all__ = ["init_reductions", "reduce_storage", "reduce_tensor"]


def init_reductions():
    """Has `multiprocessing` send tensors by their memory: it does, from the beginning."""
