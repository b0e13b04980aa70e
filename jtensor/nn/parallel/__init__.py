"""A module over several devices: here over one, as PyTorch has it on a machine without several."""
from .data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
