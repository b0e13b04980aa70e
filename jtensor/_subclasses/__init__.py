"""PyTorch's tensors that stand for others while programs are looked at. Owns: the names that libraries ask by.

    fake_tensor.py         tensors without values
    functional_tensor.py   tensors whose writes are rewritten
"""
from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
