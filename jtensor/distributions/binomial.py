"""The binomial distribution."""
import jtensor

from . import constraints
from .by_probability import OfTrials
from .distribution import Distribution

__all__ = ["Binomial"]


class Binomial(OfTrials, Distribution):
    """How many of ``total_count`` trials of probability ``probs`` (or of log-odds ``logits``) succeed.

    >>> torch.distributions.Binomial(4, torch.tensor(0.5)).mean
    tensor(2.)
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Binomial, batch_shape, _instance, **self._kept(batch_shape))

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """0 to ``total_count``."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with jtensor.no_grad():
            return jtensor.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n, x = self.total_count, self.logits
        # log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)); the maximum has the slope 1/2 at zero, as the whole has
        positive = (x.clamp(min=0) + x - x.clamp(max=0)) / 2
        normaliser = n * positive + n * jtensor.log1p(jtensor.exp(-jtensor.abs(x))) - jtensor.lgamma(n + 1)
        return value * x - jtensor.lgamma(value + 1) - jtensor.lgamma(n - value + 1) - normaliser

    def _one_count(self, asker):
        """The count of all, as a number."""
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asker}`.")
        return count

    def entropy(self):
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(jtensor.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = self._one_count("enumerate_support")
        values = jtensor.arange(1 + count, dtype=self._param.dtype, device=self._param.device).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
