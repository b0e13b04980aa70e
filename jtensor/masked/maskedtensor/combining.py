"""What a masked tensor is to the functions of `torch.masked`: its data, with a number in the place of what is not there.

Owns: that, with its gradient, which has the mask. May not know: the functions.
"""
import jtensor

from ..filling import replaced
from .core import data_of
from .creation import as_masked_tensor


class Combine(jtensor.autograd.Function):
    """Data with ``value`` where the mask is False."""

    @staticmethod
    def forward(ctx, data, mask, value):
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return replaced(mask, data, value)

    @staticmethod
    def backward(ctx, grad):
        mask, = ctx.saved_tensors
        return as_masked_tensor(data_of(grad), mask), None, None


def combined(masked, value):
    """The data of a masked tensor with ``value`` where there is no element."""
    return Combine.apply(masked.get_data(), masked.get_mask(), value)
