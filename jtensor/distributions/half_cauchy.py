"""The half-Cauchy distribution."""
import math

import jtensor

from .cauchy import Cauchy
from .half import Half

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The absolute values of Cauchy numbers about zero."""

    def __init__(self, scale, validate_args=None):
        self._fold(Cauchy(0, scale, validate_args=False), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_base(HalfCauchy, batch_shape, _instance)

    @property
    def mean(self):
        return jtensor.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self):
        return self.base_dist.variance

    def _of_all(self, value):
        return super()._of_all(jtensor.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))
