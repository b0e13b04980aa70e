"""What the absolute values of symmetric numbers have in common: the half-normal and the half-Cauchy distribution."""
import math

import jtensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Half(TransformedDistribution):
    """The absolute values of numbers of a distribution that is symmetric about zero."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def _fold(self, base, validate_args):
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self):
        """The base's."""
        return self.base_dist.scale

    @property
    def mode(self):
        return jtensor.zeros_like(self.scale)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._of_all(value)

    def _of_all(self, value):
        return jtensor.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
