"""``torch.nested``: batches of tensors that differ in the length of a dimension.

A nested tensor is dense tensors inside, and what is done to it is written with these: the rooms are `jagged` and `strided` (what it is in
either layout), `lengths` (the number that stands for the lengths that differ), `graph` (its history), `answering` (how public functions
come here), `making`, and those of the operations. Nothing is imported from here before ``torch.nested`` is named.
"""
from . import _internal  # noqa: F401 - `torch.nested._internal` is reached by attribute
from .making import as_nested_tensor, masked_select, narrow, nested_tensor, nested_tensor_from_jagged, to_padded_tensor

__all__ = ["to_padded_tensor", "as_nested_tensor", "nested_tensor", "nested_tensor_from_jagged", "narrow", "masked_select"]
