"""Student's t distribution."""
import math

import jtensor

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """A normal number by the root of a chi-squared one over its ``df`` degrees of freedom, stretched by ``scale``, moved by ``loc``."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self):
        mean = self.loc.clone(memory_format=jtensor.contiguous_format)
        mean[self.df <= 1] = jtensor.nan
        return mean

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        df = self.df
        variance = df.clone(memory_format=jtensor.contiguous_format)
        finite = df > 2
        variance[finite] = self.scale[finite].pow(2) * df[finite] / (df[finite] - 2)
        variance[(df <= 2) & (df > 1)] = jtensor.inf
        variance[df <= 1] = jtensor.nan
        return variance

    def expand(self, batch_shape, _instance=None):
        kept = {name: getattr(self, name).expand(batch_shape) for name in ("df", "loc", "scale", "_chi2")}
        return self._expanded(StudentT, batch_shape, _instance, **kept)

    def rsample(self, sample_shape=()):
        normal = standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * (normal * jtensor.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        normaliser = (self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + jtensor.lgamma(0.5 * df)
                      - jtensor.lgamma(0.5 * (df + 1.0)))
        return -0.5 * (df + 1.0) * jtensor.log1p(y**2.0 / df) - normaliser

    def entropy(self):
        df = self.df
        log_beta = jtensor.lgamma(0.5 * df) + math.lgamma(0.5) - jtensor.lgamma(0.5 * (df + 1))
        return (self.scale.log() + 0.5 * (df + 1) * (jtensor.digamma(0.5 * (df + 1)) - jtensor.digamma(0.5 * df))
                + 0.5 * df.log() + log_beta)
