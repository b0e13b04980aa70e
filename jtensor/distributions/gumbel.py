"""The Gumbel distribution."""
import math

import jtensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The largest of many numbers whose tail is exponential: ``loc - scale * log(-log(u))`` for uniform ``u``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        numbers = not any(isinstance(x, jtensor.Tensor) for x in (loc, scale))
        self.loc, self.scale = broadcast_all(loc, scale)
        info = jtensor.finfo(self.loc.dtype)
        low, high = info.tiny, 1 - info.eps
        if not numbers:
            low, high = jtensor.full_like(self.loc, low), jtensor.full_like(self.loc, high)
        transforms = [ExpTransform().inv, AffineTransform(loc=0, scale=-jtensor.ones_like(self.scale)), ExpTransform().inv,
                      AffineTransform(loc=loc, scale=-self.scale)]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded_base(Gumbel, batch_shape, _instance, loc=self.loc.expand(batch_shape), scale=self.scale.expand(batch_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self):
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)
