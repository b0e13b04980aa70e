"""The continuous Bernoulli distribution."""
import math
from numbers import Number

import jtensor

from . import constraints
from .by_probability import ByParameter, the_one_given
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ByParameter, ExponentialFamily):
    """Numbers of [0, 1] whose density is in proportion to ``probs ** x * (1 - probs) ** (1 - x)`` (Loaiza-Ganem and Cunningham, 2019).

    Where ``probs`` lies within ``lims``, about 1/2, the formulas lose their digits, and Taylor's series stand for them.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        name, given = the_one_given(probs, logits)
        made, = broadcast_all(given)
        if name == "probs":
            if validate_args is not None and not self.arg_constraints["probs"].check(made).all():
                raise ValueError("The parameter probs has invalid values")
            made = clamp_probs(made)
        self._param, self._lims = made, lims
        setattr(self, name, made)
        super().__init__(() if isinstance(given, Number) else made.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(ContinuousBernoulli, batch_shape, _instance, **self._kept(batch_shape), _lims=self._lims)

    def _stable(self):
        """Where the formulas hold."""
        return jtensor.max(jtensor.le(self.probs, self._lims[0]), jtensor.gt(self.probs, self._lims[1]))

    def _cut_probs(self):
        """``probs``, but for an end of ``lims`` where the formulas do not hold."""
        return jtensor.where(self._stable(), self.probs, self._lims[0] * jtensor.ones_like(self.probs))

    def _log_norm(self):
        """The logarithm of ``2 artanh(1 - 2 p) / (1 - 2 p)``."""
        cut = self._cut_probs()
        below = jtensor.where(jtensor.le(cut, 0.5), cut, jtensor.zeros_like(cut))
        above = jtensor.where(jtensor.ge(cut, 0.5), cut, jtensor.ones_like(cut))
        log_norm = (jtensor.log(jtensor.abs(jtensor.log1p(-cut) - jtensor.log(cut)))
                    - jtensor.where(jtensor.le(cut, 0.5), jtensor.log1p(-2.0 * below), jtensor.log(2.0 * above - 1.0)))
        x = jtensor.pow(self.probs - 0.5, 2)
        return jtensor.where(self._stable(), log_norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        cut, x = self._cut_probs(), self.probs - 0.5
        found = cut / (2.0 * cut - 1.0) + 1.0 / (jtensor.log1p(-cut) - jtensor.log(cut))
        return jtensor.where(self._stable(), found, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * jtensor.pow(x, 2)) * x)

    @property
    def stddev(self):
        return jtensor.sqrt(self.variance)

    @property
    def variance(self):
        cut, x = self._cut_probs(), jtensor.pow(self.probs - 0.5, 2)
        found = cut * (cut - 1.0) / jtensor.pow(1.0 - 2.0 * cut, 2) + 1.0 / jtensor.pow(jtensor.log1p(-cut) - jtensor.log(cut), 2)
        return jtensor.where(self._stable(), found, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    @lazy_property
    def probs(self):
        """The parameter, strictly between 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def rsample(self, sample_shape=()):
        return self.icdf(jtensor.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -jtensor.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        found = (jtensor.pow(cut, value) * jtensor.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        within = jtensor.where(self._stable(), found, value)
        return jtensor.where(jtensor.le(value, 0.0), jtensor.zeros_like(value),
                             jtensor.where(jtensor.ge(value, 1.0), jtensor.ones_like(value), within))

    def icdf(self, value):
        cut = self._cut_probs()
        low = jtensor.log1p(-cut)
        found = (jtensor.log1p(-cut + value * (2.0 * cut - 1.0)) - low) / (jtensor.log(cut) - low)
        return jtensor.where(self._stable(), found, value)

    def entropy(self):
        log_zero, log_one = jtensor.log1p(-self.probs), jtensor.log(self.probs)
        return self.mean * (log_zero - log_one) - self._log_norm() - log_zero

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        """The logarithm of ``(exp(x) - 1) / x``."""
        stable = jtensor.max(jtensor.le(x, self._lims[0] - 0.5), jtensor.gt(x, self._lims[1] - 0.5))
        cut = jtensor.where(stable, x, (self._lims[0] - 0.5) * jtensor.ones_like(x))
        log_norm = jtensor.log(jtensor.abs(jtensor.special.expm1(cut))) - jtensor.log(jtensor.abs(cut))
        return jtensor.where(stable, log_norm, 0.5 * x + jtensor.pow(x, 2) / 24.0 - jtensor.pow(x, 4) / 2880.0)
