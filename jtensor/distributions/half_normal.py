"""The half-normal distribution."""
import math

from .half import Half
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """The absolute values of normal numbers about zero."""

    def __init__(self, scale, validate_args=None):
        self._fold(Normal(0, scale, validate_args=False), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_base(HalfNormal, batch_shape, _instance)

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.pow(2) * (1 - 2 / math.pi)
