"""The gamma distribution."""
import jtensor

from . import constraints
from .exp_family import ExponentialFamily
from .utils import batch_shape_of, broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Waiting times for the ``concentration``-th of events that come at ``rate``; the concentration need not be whole.

    >>> torch.distributions.Gamma(2.0, 4.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(batch_shape_of(self.concentration, concentration, rate), validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Gamma, batch_shape, _instance, concentration=self.concentration.expand(batch_shape),
                              rate=self.rate.expand(batch_shape))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = jtensor._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=jtensor.finfo(value.dtype).tiny)          # the gradient is that of the unclamped
        return value

    def log_prob(self, value):
        value = jtensor.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return jtensor.xlogy(a, rate) + jtensor.xlogy(a - 1, value) - rate * value - jtensor.lgamma(a)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return jtensor.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        a = self.concentration
        return a - jtensor.log(self.rate) + jtensor.lgamma(a) + (1.0 - a) * jtensor.digamma(a)

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return jtensor.lgamma(x + 1) + (x + 1) * jtensor.log(-y.reciprocal())
