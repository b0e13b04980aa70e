"""Divergences of two distributions of different kinds.

Most are the first's entropy and a mean under it, of the second's log-probability. Owns: their formulas, and for which pairs the divergence
is infinite whatever the parameters. May not know: how one is chosen.
"""
import math

import jtensor

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

# -- infinite: the first's support is wider ---------------------------------------------------------------------------

_WIDER = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
_PARAMETER = {Beta: "concentration1", ContinuousBernoulli: "probs", Exponential: "rate", Gamma: "concentration", Pareto: "scale",
              Poisson: "rate"}


def _infinite(name):
    return lambda p, q: jtensor.full_like(getattr(p, name), math.inf)


for _type_p, _narrower in _WIDER.items():
    for _type_q in _narrower:
        register_kl(_type_p, _type_q)(_infinite(_PARAMETER.get(_type_p, "loc")))


# -- what several need ------------------------------------------------------------------------------------------------


def _x_log_x(x):
    return jtensor.special.xlogy(x, x)


def _mean_log(low, high):
    """The mean logarithm of uniform numbers."""
    width = high - low
    return (_x_log_x(high) - _x_log_x(low) - width) / width


def _made_infinite(found, where):
    found[where] = math.inf
    return found


# -- of what lies between 0 and 1 -------------------------------------------------------------------------------------


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - jtensor.log1p(-q.probs) - q._log_norm()


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    total = p.concentration1 + p.concentration0
    normaliser = q.concentration.lgamma() - q.concentration * q.rate.log()
    mean_log = p.concentration1.digamma() - total.digamma()
    return -p.entropy() + normaliser - (q.concentration - 1) * mean_log + q.rate * p.concentration1 / total


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    mean, variance = p.mean, q.scale.pow(2)
    half_square = (mean * (1 - mean) / (p.concentration1 + p.concentration0 + 1) + mean.pow(2)) * 0.5
    return -p.entropy() + 0.5 * (variance * 2 * math.pi).log() + (half_square - q.loc * mean + q.loc.pow(2) * 0.5) / variance


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    outside = (q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)
    return _made_infinite(-p.entropy() + (q.high - q.low).log(), outside)


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - jtensor.log(q.rate) + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p, q):
    normaliser = 0.5 * (math.log(2.0 * math.pi) + jtensor.square(q.loc / q.scale)) + jtensor.log(q.scale)
    return -p.entropy() + normaliser + (p.variance + jtensor.square(p.mean) - 2.0 * q.loc * p.mean) / (2.0 * jtensor.square(q.scale))


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    found = -p.entropy() + (q.high - q.low).log()
    outside = jtensor.max(jtensor.ge(q.low, p.support.lower_bound), jtensor.le(q.high, p.support.upper_bound))
    return jtensor.where(outside, jtensor.ones_like(found) * math.inf, found)


# -- of positive numbers ----------------------------------------------------------------------------------------------


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    a, ratio = q.concentration, q.rate / p.rate
    return -a * jtensor.log(ratio) + ratio + a.lgamma() + a * euler_constant - (1 + euler_constant)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product, place = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - place + jtensor.exp(place) * product / (product + 1) + product.reciprocal()


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    variance, square = q.scale.pow(2), p.rate.pow(2)
    moments = square.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5
    return 0.5 * jtensor.log(square * variance * 2 * math.pi) - 1 + moments / variance


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    a, product, place = p.concentration, p.rate * q.scale, q.loc / q.scale
    own = (a - 1) * a.digamma() - a.lgamma() - a
    return own + jtensor.log(product) + a / product + jtensor.exp(place) * (1 + product.reciprocal()).pow(-a) - place


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    a, variance, square = p.concentration, q.scale.pow(2), p.rate.pow(2)
    moments = 0.5 * (a.pow(2) + a) / square - q.loc * a / p.rate + 0.5 * q.loc.pow(2)
    own = 0.5 * jtensor.log(square * variance * 2 * math.pi) - a - a.lgamma() + (a - 1) * a.digamma()
    return own + moments / variance


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    a, product = p.alpha, p.scale * q.rate
    return _made_infinite((a / product).log() - a.reciprocal() + a * product / (a - 1) - 1, a <= 1)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    a, mean_log = p.alpha, p.scale.log() + p.alpha.reciprocal()
    normaliser = q.concentration.lgamma() - q.concentration * q.rate.log()
    found = a.log() - mean_log + normaliser + (1 - q.concentration) * mean_log + q.rate * a * p.scale / (a - 1) - 1
    return _made_infinite(found, a <= 1)


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    a, unit = p.alpha, p.scale / (p.alpha - 1)
    first = (math.sqrt(2 * math.pi) * q.scale * a / p.scale).log() - a.reciprocal()
    squares = a * unit.pow(2) / (a - 2) + (a * unit - q.loc).pow(2)
    return _made_infinite(first + squares / (2 * q.scale.pow(2)) - 1, a <= 2)


# -- of real numbers --------------------------------------------------------------------------------------------------


@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    ratio = p.scale / q.scale
    mean = (p.loc + p.scale * euler_constant - q.loc) / q.scale
    return -(ratio / math.sqrt(2 * math.pi)).log() + (math.pi * ratio * 0.5).pow(2) / 3 + mean.pow(2) * 0.5 - (euler_constant + 1)


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    own, other, square = p.loc / q.scale, q.loc / q.scale, (p.scale / q.scale).pow(2)
    return -square.log() * 0.5 + own - other + jtensor.exp(-own + 0.5 * square + other) - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    away = p.loc - q.loc
    in_scales = away / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * jtensor.exp(-0.5 * in_scales.pow(2)) + away * jtensor.erf(math.sqrt(0.5) * in_scales)
    return -jtensor.log(p.scale / q.scale) + distance / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    return ratio + 0.5 * (p.loc - q.loc).pow(2) / variance - 0.5 * jtensor.log(2 * ratio / math.pi) - 1


# -- of uniform numbers -----------------------------------------------------------------------------------------------


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    first = (math.sqrt(math.pi * 2) * q.scale / width).log()
    second = (width / 2).pow(2) / 3 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return first + second * 0.5 / q.scale.pow(2)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    width, a, b = p.high - p.low, q.concentration1, q.concentration0
    log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
    found = -(b - 1) * _mean_log(1 - p.high, 1 - p.low) + log_beta - jtensor.log(width) - (a - 1) * _mean_log(p.low, p.high)
    return _made_infinite(found, (p.high > q.support.upper_bound) | (p.low < q.support.lower_bound))


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    found = -p.entropy() - p.mean * q.logits - jtensor.log1p(-q.probs) - q._log_norm()
    outside = jtensor.max(jtensor.ge(p.high, q.support.upper_bound), jtensor.le(p.low, q.support.lower_bound))
    return jtensor.where(outside, jtensor.ones_like(found) * math.inf, found)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    found = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return _made_infinite(found, p.low < q.support.lower_bound)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    normaliser = q.concentration.lgamma() - q.concentration * q.rate.log()
    rest = (1 - q.concentration) * _mean_log(p.low, p.high) + q.rate * (p.high + p.low) / 2
    return _made_infinite(-(p.high - p.low).log() + normaliser + rest, p.low < q.support.lower_bound)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    ratio, high, low = q.scale / (p.high - p.low), (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + 0.5 * (high + low) - ratio * (jtensor.exp(-high) - jtensor.exp(-low))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    normaliser = (q.alpha * q.scale.pow(q.alpha) * (p.high - p.low)).log()
    return _made_infinite(_mean_log(p.low, p.high) * (q.alpha + 1) - normaliser, p.low < q.support.lower_bound)
