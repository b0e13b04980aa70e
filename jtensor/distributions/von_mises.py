"""The von Mises distribution, on the circle."""
import math

import jtensor

from . import constraints
from .distribution import Distribution
from .location_scale import AboutLocation
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]

# Abramowitz and Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4: the modified Bessel functions of order 0 and 1, as polynomials
# in (x / 3.75)^2 up to 3.75 and in 3.75 / x from there on.
_NEAR = ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
         (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411))
_FAR = ((0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377),
        (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059))


def _polynomial(x, coefficients):
    result = 0.0
    for c in reversed(coefficients):
        result = c + x * result
    return result


def _log_bessel(x, order):
    """The logarithm of the modified Bessel function of the first kind, of order 0 or 1, for positive numbers."""
    near = _polynomial((x / 3.75) ** 2, _NEAR[order])
    near = (x.abs() * near if order else near).log()
    far = x - 0.5 * x.log() + _polynomial(3.75 / x, _FAR[order]).log()
    return jtensor.where(x < 3.75, near, far)


class VonMises(AboutLocation, Distribution):
    """Angles of [-pi, pi) about ``loc``, in proportion to ``exp(concentration * cos(angle - loc))``.

    >>> torch.distributions.VonMises(torch.tensor(1.0), torch.tensor(2.0)).mean
    tensor(1.)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, jtensor.Size(), validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.concentration * jtensor.cos(value - self.loc)
        return log_prob - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    @lazy_property
    def _loc(self):
        return self.loc.to(jtensor.double)

    @lazy_property
    def _concentration(self):
        return self.concentration.to(jtensor.double)

    @lazy_property
    def _proposal_r(self):
        """``r`` of the wrapped Cauchy numbers that are proposed; for a concentration of nearly 0 its series' first terms."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return jtensor.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    @jtensor.no_grad()
    def sample(self, sample_shape=()):
        """By rejection of wrapped Cauchy numbers, in double precision (Best and Fisher, 1979)."""
        shape = self._extended_shape(sample_shape)
        x = jtensor.empty(shape, dtype=self._loc.dtype, device=self.loc.device)
        done = jtensor.zeros(shape, dtype=jtensor.bool, device=self.loc.device)
        kappa, r = self._concentration.expand(shape), self._proposal_r.expand(shape)
        while not done.all():
            u1, u2, u3 = jtensor.rand((3,) + shape, dtype=self._loc.dtype, device=self.loc.device).unbind()
            z = jtensor.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            x = jtensor.where(accept, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accept
        return ((x + math.pi + self._loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=False)

    @lazy_property
    def variance(self):
        """The circular variance, 1 less the mean cosine of the angle from the mean."""
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()
