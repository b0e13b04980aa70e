"""What a group does together, with gradients. Owns: PyTorch's place of these names."""
from .functional import all_gather, all_reduce, all_to_all, broadcast, reduce, reduce_scatter

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "reduce", "reduce_scatter"]
