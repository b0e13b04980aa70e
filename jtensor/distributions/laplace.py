"""The Laplace distribution."""

import jtensor

from .location_scale import LocationScale

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """Differences of two exponential numbers of mean ``scale``, about ``loc``."""

    @property
    def stddev(self):
        return (2**0.5) * self.scale

    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Laplace, batch_shape, _instance, loc=self.loc.expand(batch_shape), scale=self.scale.expand(batch_shape))

    def rsample(self, sample_shape=()):
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(jtensor.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * jtensor.log1p(-u.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -jtensor.log(2 * self.scale) - jtensor.abs(value - self.loc) / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * jtensor.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * jtensor.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + jtensor.log(2 * self.scale)
