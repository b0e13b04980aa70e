"""The normal distribution."""
import math

import jtensor

from .exp_family import ExponentialFamily
from .location_scale import LocationScale
from .utils import standard_normal

__all__ = ["Normal"]


class Normal(LocationScale, ExponentialFamily):
    """Normal numbers of mean ``loc`` and standard deviation ``scale``.

    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.9189)
    """

    _mean_carrier_measure = 0

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Normal, batch_shape, _instance, loc=self.loc.expand(batch_shape), scale=self.scale.expand(batch_shape))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with jtensor.no_grad():
            return jtensor.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + jtensor.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * jtensor.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + jtensor.log(self.scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * jtensor.log(-math.pi / y)
