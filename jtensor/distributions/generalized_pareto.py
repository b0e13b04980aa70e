"""The generalised Pareto distribution."""
import math

import jtensor

from . import constraints
from .distribution import Distribution
from .utils import batch_shape_of, broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What is beyond a high threshold ``loc``: numbers that exceed ``loc + scale * z`` with probability ``(1 + c z) ** (-1 / c)``.

    c is ``concentration``; where it is 0 they are exponential numbers.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_shape_of(self.loc, loc, scale, concentration), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        kept = {name: getattr(self, name).expand(batch_shape) for name in ("loc", "scale", "concentration")}
        return self._expanded(GeneralizedPareto, batch_shape, _instance, **kept)

    def rsample(self, sample_shape=()):
        return self.icdf(jtensor.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def _z(self, x):
        return (x - self.loc) / self.scale

    def _shape(self):
        """Where the concentration is zero, and the concentration with ones put there."""
        zero = jtensor.isclose(self.concentration, jtensor.zeros_like(self.concentration))
        return zero, jtensor.where(zero, jtensor.ones_like(self.concentration), self.concentration)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z, (zero, c) = self._z(value), self._shape()
        power = 1 / c + jtensor.ones_like(z)
        beyond = jtensor.where(power == 0, power, power * jtensor.log1p(c * z))        # 0 * log(0) is 0 at the end of the uniform
        return -self.scale.log() - jtensor.where(zero, z, beyond)

    def log_survival_function(self, value):
        """The logarithm of the probability of what is above the value."""
        if self._validate_args:
            self._validate_sample(value)
        z, (zero, c) = self._z(value), self._shape()
        return jtensor.where(zero, -z, -jtensor.log1p(c * z) / c)

    def log_cdf(self, value):
        """The logarithm of the probability of what is not above the value."""
        return jtensor.log1p(-jtensor.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return jtensor.exp(self.log_cdf(value))

    def icdf(self, value):
        (zero, c), log_above = self._shape(), jtensor.log1p(-value)
        curved = self.loc + self.scale / c * jtensor.expm1(-c * log_above)
        return jtensor.where(zero, self.loc - self.scale * log_above, curved)

    def _where(self, valid, inside, formula):
        """A formula of the concentration where that is valid, nan elsewhere; ``inside`` is a number that is."""
        return jtensor.where(valid, formula(jtensor.where(valid, self.concentration, inside)), math.nan)

    @property
    def mean(self):
        return self._where(self.concentration < 1, 0.5, lambda c: self.loc + self.scale / (1 - c))

    @property
    def variance(self):
        return self._where(self.concentration < 0.5, 0.25, lambda c: self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)))

    def entropy(self):
        return jtensor.broadcast_to(jtensor.log(self.scale) + self.concentration + 1, self._batch_shape)

    @property
    def mode(self):
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From ``loc`` on, and where the concentration is negative up to ``loc - scale / concentration``."""
        end = jtensor.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, end)
