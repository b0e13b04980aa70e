"""Masked tensors: `core` (what they are), `creation`, `printing`; what is done to them: `answering` (functions, asked above autograd),
`operators` (operators, asked below it), `elementwise`, `reductions`. Nothing is imported from here before it is named."""
from .core import MaskedTensor, is_masked_tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]
