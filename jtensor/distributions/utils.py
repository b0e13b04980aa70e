"""Helpers of the distributions: parameters of one shape, probabilities and logits, values worked out when they are first read."""
from numbers import Number

import jtensor

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "standard_normal"]


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape; numbers take the type of the first tensor, or the default type.

    >>> torch.distributions.utils.broadcast_all(1.0, torch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    if not all(isinstance(v, (jtensor.Tensor, Number)) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    first = next((v for v in values if isinstance(v, jtensor.Tensor)), None)
    options = {"dtype": jtensor.get_default_dtype()} if first is None else {"dtype": first.dtype, "device": first.device}
    return jtensor.broadcast_tensors(*[v if isinstance(v, jtensor.Tensor) else jtensor.tensor(v, **options) for v in values])


def standard_normal(shape, dtype, device):
    """Normal numbers from the stream of ``torch.normal``."""
    return jtensor.normal(jtensor.zeros(shape, dtype=dtype, device=device), jtensor.ones(shape, dtype=dtype, device=device))


def clamp_probs(probs):
    """Probabilities kept away from 0 and 1, so that their logarithms are finite."""
    eps = jtensor.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Log-probabilities, or of one probability each the log-odds."""
    inner = clamp_probs(probs)
    return jtensor.log(inner) - jtensor.log1p(-inner) if is_binary else jtensor.log(inner)


def logits_to_probs(logits, is_binary=False):
    """What `probs_to_logits` started from; logits need not be normalised."""
    return jtensor.sigmoid(logits) if is_binary else jtensor.softmax(logits, dim=-1)


class lazy_property:
    """A property that is worked out once, with gradients, and then is an attribute."""

    def __init__(self, wrapped):
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with jtensor.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
