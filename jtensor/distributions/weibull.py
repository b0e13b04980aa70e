"""The Weibull distribution."""
import jtensor

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Exponential numbers to the power ``1 / concentration``, stretched by ``scale``."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(jtensor.ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        parameters = {name: getattr(self, name).expand(batch_shape) for name in ("scale", "concentration", "concentration_reciprocal")}
        new = self._get_checked_instance(Weibull, _instance)
        new.__dict__.update(parameters)
        new.transforms = [PowerTransform(exponent=new.concentration_reciprocal), AffineTransform(loc=0, scale=new.scale)]
        super(Weibull, new).__init__(self.base_dist.expand(batch_shape), new.transforms, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _moment(self, k):
        return jtensor.exp(jtensor.lgamma(1 + k * self.concentration_reciprocal))

    @property
    def mean(self):
        return self.scale * self._moment(1)

    @property
    def mode(self):
        a = self.concentration
        return self.scale * ((a - 1) / a) ** a.reciprocal()

    @property
    def variance(self):
        return self.scale.pow(2) * (self._moment(2) - jtensor.exp(2 * jtensor.lgamma(1 + self.concentration_reciprocal)))

    def entropy(self):
        return euler_constant * (1 - self.concentration_reciprocal) + jtensor.log(self.scale * self.concentration_reciprocal) + 1
