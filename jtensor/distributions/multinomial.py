"""The multinomial distribution."""
import math

import jtensor

from . import constraints
from .binomial import Binomial
from .by_probability import ByCategorical
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(ByCategorical, Distribution):
    """How often each of K categories, of probabilities in proportion to ``probs`` ``(*, K)``, comes in ``total_count`` draws.

    >>> torch.distributions.Multinomial(8, torch.tensor([1.0, 3.0])).mean
    tensor([2., 6.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        return self._expanded(Multinomial, batch_shape, _instance, self.event_shape, total_count=self.total_count,
                              _categorical=self._categorical.expand(batch_shape), _binomial=self._binomial)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """Counts that sum to ``total_count``."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        drawn = self._categorical.sample((self.total_count,) + jtensor.Size(sample_shape)).movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, drawn, jtensor.ones_like(drawn)).type_as(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=jtensor.contiguous_format)
        logits[(value == 0) & (logits == -math.inf)] = 0
        ways = jtensor.lgamma(value.sum(-1) + 1) - jtensor.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self):
        """Of the draws in their order, less the mean logarithm of how many orders there are of the counts."""
        n = jtensor.tensor(self.total_count)
        in_order = n * self._categorical.entropy() - jtensor.lgamma(n + 1)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weights = jtensor.lgamma(counts + 1)
        return in_order + (jtensor.exp(self._binomial.log_prob(counts)) * weights).sum([0, -1])
