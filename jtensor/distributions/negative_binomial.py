"""The negative binomial distribution."""
import jtensor

from . import constraints
from .by_probability import OfTrials
from .distribution import Distribution
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(OfTrials, Distribution):
    """How many trials of probability ``probs`` (or of log-odds ``logits``) succeed before ``total_count`` have failed."""

    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        super().__init__(total_count, probs, logits, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(NegativeBinomial, batch_shape, _instance, **self._kept(batch_shape))

    @property
    def mean(self):
        return self.total_count * jtensor.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / jtensor.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        """The distribution of the rates, of which the counts are Poisson numbers."""
        return Gamma(concentration=self.total_count, rate=jtensor.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()):
        with jtensor.no_grad():
            return jtensor.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logsigmoid, n = jtensor.nn.functional.logsigmoid, self.total_count
        unnormalised = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normaliser = -jtensor.lgamma(n + value) + jtensor.lgamma(1.0 + value) + jtensor.lgamma(n)
        return unnormalised - normaliser.masked_fill(n + value == 0.0, 0.0)
