"""The inverse gamma distribution."""
from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """What has a gamma-distributed reciprocal."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_base(InverseGamma, batch_shape, _instance)

    @property
    def concentration(self):
        """The concentration."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """The rate, which here stretches."""
        return self.base_dist.rate

    @property
    def mean(self):
        found = self.rate / (self.concentration - 1)
        return found.where(self.concentration > 1, float("inf"))

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).where(a > 2, float("inf"))

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
