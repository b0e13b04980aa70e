"""PyTorch's view operators as rules: ``(size, stride, offset)`` and arguments in, a new geometry out, or PyTorch's own error.

Everything is a plain tuple of integers, counted in elements.  The rules raise built-in exception types with PyTorch's text; whoever
calls them may dress the error up, not change the sentence.  They know no tensor: what a message must say about one (its dtype's
name, its storage's bytes) is an argument.
"""

from .dims import (
    H,
    T,
    adjoint,
    diagonal,
    mH,
    movedim,
    mT,
    narrow,
    permute,
    select,
    slice_,
    squeeze,
    t,
    transpose,
    unfold,
    unsqueeze,
    wrap_dim,
)
from .retype import imag, real, view_as_complex, view_as_real, view_dtype
from .shapes import as_strided, compute_view_strides, expand, flatten, infer_size, ravel, reshape, unflatten, view
from .splits import chunk, dsplit, hsplit, split, tensor_split, unbind, vsplit

__all__ = [
    "H", "T", "adjoint", "as_strided", "chunk", "compute_view_strides", "diagonal", "dsplit", "expand", "flatten", "hsplit", "imag",
    "infer_size", "mH", "mT", "movedim", "narrow", "permute", "ravel", "real", "reshape", "select", "slice_", "split", "squeeze", "t",
    "tensor_split", "transpose", "unbind", "unflatten", "unfold", "unsqueeze", "view", "view_as_complex", "view_as_real",
    "view_dtype", "vsplit", "wrap_dim",
]
