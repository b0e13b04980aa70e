"""How masked tensors are made: as leaves, or of tensors with a history."""
import warnings  # noqa: F401 - of the examples

from .core import MaskedTensor

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data, mask, requires_grad=False):
    """A masked tensor with copies of ``data`` and ``mask``: a leaf, as `torch.tensor` makes one.

    ``data``: strided, COO or CSR, of 16 to 64 bit floats, signed integers or bools; ``mask``: of bools, in the same shape and layout.
    ``TypeError`` and ``ValueError`` for others.

    >>> warnings.simplefilter("ignore")                             # a prototype, as PyTorch says each time
    >>> torch.masked.masked_tensor(torch.tensor([1., 2.]), torch.tensor([True, False]))
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data, mask):
    """A masked tensor of ``data`` with its history, through which gradients flow; otherwise as `masked_tensor`.

    >>> warnings.simplefilter("ignore")
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> masked = torch.masked.as_masked_tensor(x * 2, torch.tensor([True, False]))
    >>> masked.sum().backward()
    >>> x.grad
    MaskedTensor(
      [  2.0000,       --]
    )
    """
    return MaskedTensor._from_values(data, mask)
