"""Transforms of single numbers: each number of the output depends on one of the input.

Owns: their formulas. May not know: distributions.
"""
import math
from numbers import Real

import jtensor

from .. import constraints
from ..utils import broadcast_all, lazy_property
from .base import Transform

__all__ = ["AbsTransform", "AffineTransform", "CumulativeDistributionTransform", "ExpTransform", "PowerTransform", "SigmoidTransform",
           "SoftplusTransform", "TanhTransform"]


def _clipped_sigmoid(x):
    """The logistic function, strictly between 0 and 1 in the tensor's type."""
    info = jtensor.finfo(x.dtype)
    return jtensor.clamp(jtensor.sigmoid(x), min=info.tiny, max=1.0 - info.eps)


class _OfItsKind(Transform):
    """A transform without parameters, equal to all of its class."""

    def __eq__(self, other):
        return isinstance(other, self._kind)

    def __init_subclass__(cls):
        cls._kind = cls


class ExpTransform(_OfItsKind):
    """``y = exp(x)``."""

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(_OfItsKind):
    """``y = 1 / (1 + exp(-x))``, its inverse the log-odds."""

    domain, codomain, bijective, sign = constraints.real, constraints.unit_interval, True, 1

    def _call(self, x):
        return _clipped_sigmoid(x)

    def _inverse(self, y):
        info = jtensor.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        softplus = jtensor.nn.functional.softplus
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_OfItsKind):
    """``y = log(1 + exp(x))``."""

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def _call(self, x):
        return jtensor.nn.functional.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -jtensor.nn.functional.softplus(-x)


class TanhTransform(_OfItsKind):
    """``y = tanh(x)``; near -1 and 1 use a cache, for the inverse loses digits there."""

    domain, codomain, bijective, sign = constraints.real, constraints.interval(-1.0, 1.0), True, 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        # log(1 - tanh(x)^2) with 1 - tanh^2 = 4 / (exp(x) + exp(-x))^2
        return 2.0 * (math.log(2.0) - x - jtensor.nn.functional.softplus(-2.0 * x))


class AbsTransform(_OfItsKind):
    """``y = |x|``; of the two inverses the positive one is answered."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class PowerTransform(Transform):
    """``y = x ** exponent`` of positive numbers; the exponent is a number or a tensor.

    >>> torch.distributions.transforms.PowerTransform(2.0).inv(torch.tensor(9.0))
    tensor(3.)
    """

    domain, codomain, bijective = constraints.positive, constraints.positive, True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.exponent, = broadcast_all(exponent)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self):
        """The exponent's."""
        return self.exponent.sign()

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and self.exponent.eq(other.exponent).all().item()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return jtensor.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    def inverse_shape(self, shape):
        return jtensor.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))


def _same(a, b):
    """Whether two parameters, numbers or tensors, hold the same."""
    return a == b if isinstance(a, Real) and isinstance(b, Real) else (a == b).all().item()


class AffineTransform(Transform):
    """``y = loc + scale * x``; with ``event_dim`` the last dimensions are of one event.

    >>> torch.distributions.transforms.AffineTransform(1.0, 2.0)(torch.tensor(3.0))
    tensor(7.)
    """

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self):
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """Real events."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """Real events."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other):
        return isinstance(other, AffineTransform) and _same(self.loc, other.loc) and _same(self.scale, other.scale)

    @property
    def sign(self):
        if isinstance(self.scale, Real):
            return int(self.scale > 0) - int(self.scale < 0)
        return self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        shape, scale = x.shape, self.scale
        result = jtensor.full_like(x, math.log(abs(scale))) if isinstance(scale, Real) else jtensor.abs(scale).log()
        if self.event_dim:
            result = result.view(result.size()[:-self.event_dim] + (-1,)).sum(-1)
            shape = shape[:-self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape):
        return jtensor.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    def inverse_shape(self, shape):
        return jtensor.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))


class CumulativeDistributionTransform(Transform):
    """``y = distribution.cdf(x)``: numbers of that distribution become uniform ones.

    >>> normal = torch.distributions.Normal(0.0, 1.0)
    >>> torch.distributions.transforms.CumulativeDistributionTransform(normal)(torch.tensor(0.0))
    tensor(0.5000)
    """

    bijective, codomain, sign = True, constraints.unit_interval, 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
