"""The F distribution of Fisher and Snedecor."""
import jtensor

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import batch_shape_of, broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared numbers of ``df1`` and ``df2`` degrees of freedom, each divided by those."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        super().__init__(batch_shape_of(self.df1, df1, df2), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        kept = {name: getattr(self, name).expand(batch_shape) for name in ("df1", "df2", "_gamma1", "_gamma2")}
        return self._expanded(FisherSnedecor, batch_shape, _instance, **kept)

    @property
    def mean(self):
        df2 = self.df2.clone(memory_format=jtensor.contiguous_format)
        df2[df2 <= 2] = jtensor.nan
        return df2 / (df2 - 2)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = jtensor.nan
        return mode

    @property
    def variance(self):
        df2 = self.df2.clone(memory_format=jtensor.contiguous_format)
        df2[df2 <= 4] = jtensor.nan
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        above, below = (gamma.rsample(sample_shape).view(shape) for gamma in (self._gamma1, self._gamma2))
        tiny = jtensor.finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        ratio = above / below
        ratio.clamp_(min=tiny)
        return ratio

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        normaliser = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        return (normaliser + half1 * ratio.log() + (half1 - 1) * jtensor.log(value)
                - (half1 + half2) * jtensor.log1p(ratio * value))
