"""The Kumaraswamy distribution."""
import jtensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers of [0, 1] whose probability to be at most x is ``1 - (1 - x ** concentration1) ** concentration0``."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(jtensor.full_like(self.concentration0, 0), jtensor.full_like(self.concentration0, 1), validate_args=validate_args)
        transforms = [PowerTransform(exponent=self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
                      PowerTransform(exponent=self.concentration1.reciprocal())]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_base(Kumaraswamy, batch_shape, _instance, concentration1=self.concentration1.expand(batch_shape),
                                   concentration0=self.concentration0.expand(batch_shape))

    def _moment(self, n):
        """The mean of the n-th power, ``b B(1 + n / a, b)``."""
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return jtensor.exp(b.log() + jtensor.lgamma(first) + jtensor.lgamma(b) - jtensor.lgamma(first + b))

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * (-b).log1p() - (-a * b).log1p()
        log_mode[(b < 1) | (a < 1)] = jtensor.nan
        return log_mode.exp()

    @property
    def variance(self):
        return self._moment(2) - jtensor.pow(self.mean, 2)

    def entropy(self):
        a, b = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = jtensor.digamma(self.concentration0 + 1) + euler_constant
        return b + a * harmonic - jtensor.log(self.concentration1) - jtensor.log(self.concentration0)
