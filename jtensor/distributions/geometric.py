"""The geometric distribution."""
from numbers import Number

import jtensor

from . import constraints
from .by_probability import ByProbability, the_one_given
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(ByProbability, Distribution):
    """How often a trial of probability ``probs`` fails before it first succeeds."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        name, given = the_one_given(probs, logits)
        made, = broadcast_all(given)
        setattr(self, name, made)
        super().__init__(() if isinstance(given, Number) else made.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (made > 0).all():
            raise ValueError(f"Expected parameter probs ({type(made).__name__} of shape {tuple(made.shape)}) of distribution {self!r} to "
                             f"be positive but found invalid values:\n{made[~(made > 0)]}")

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Geometric, batch_shape, _instance, **self._kept(batch_shape))

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return jtensor.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        shape, tiny = self._extended_shape(sample_shape), jtensor.finfo(self.probs.dtype).tiny
        with jtensor.no_grad():
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=jtensor.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return jtensor.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
