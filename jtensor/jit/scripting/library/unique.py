"""`torch.unique` and `unique_consecutive` in the language of TorchScript: a function for each number of results.

Owns: these programs. May not know: how they are compiled, which of them a call is.
"""
# ruff: noqa: UP006, UP035, UP045 - written in the language's own words
from typing import Optional, Tuple

import jtensor as torch

from ....tensor.core import Tensor


def _unique_impl(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                 dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    if dim is not None:
        output, inverse_indices, counts = torch.ops.aten.unique_dim(input, dim, sorted=sorted, return_inverse=return_inverse,
                                                                    return_counts=return_counts)
    else:
        output, inverse_indices, counts = torch.ops.aten._unique2(input, sorted=sorted, return_inverse=return_inverse,
                                                                  return_counts=return_counts)
    return output, inverse_indices, counts


def _unique_consecutive_impl(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                             dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    output, inverse_indices, counts = torch.ops.aten.unique_consecutive(input, return_inverse=return_inverse,
                                                                        return_counts=return_counts, dim=dim)
    return output, inverse_indices, counts


def _return_output(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                   dim: Optional[int] = None) -> Tensor:
    output, _, _ = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output


def _return_inverse(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                    dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, inverse_indices, _ = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output, inverse_indices


def _return_counts(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                   dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, _, counts = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output, counts


def _return_inverse_and_counts(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                               dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    return _unique_impl(input, sorted, return_inverse, return_counts, dim)


def _consecutive_return_output(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                               dim: Optional[int] = None) -> Tensor:
    output, _, _ = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output


def _consecutive_return_counts(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                               dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, _, counts = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output, counts


def _consecutive_return_inverse_and_counts(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                                           dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    return _unique_consecutive_impl(input, return_inverse, return_counts, dim)
