"""The Kullback-Leibler divergence of two distributions: one formula for each pair of types.

Owns: the table of formulas, and which of several that fit is taken. May not know: how distributions compute.
"""
import math

import jtensor

from .bernoulli import Bernoulli
from .categorical import Categorical
from .distribution import Distribution
from .exponential import Exponential
from .geometric import Geometric
from .independent import Independent, sum_rightmost
from .laplace import Laplace
from .multivariate_normal import MultivariateNormal, mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .poisson import Poisson
from .uniform import Uniform

__all__ = ["kl_divergence", "register_kl"]

_formulas, _chosen = {}, {}


def register_kl(type_p, type_q):
    """Declares a function ``(p, q)`` to be the divergence of two types of distributions."""
    for given, name in ((type_p, "type_p"), (type_q, "type_q")):
        if not (isinstance(given, type) and issubclass(given, Distribution)):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def declare(function):
        _formulas[type_p, type_q] = function
        _chosen.clear()
        return function
    return declare


def _formula(type_p, type_q):
    """The formula of the nearest base types, or None."""
    fitting = [(type_p.__mro__.index(p) + type_q.__mro__.index(q), f) for (p, q), f in _formulas.items()
               if issubclass(type_p, p) and issubclass(type_q, q)]
    return min(fitting, key=lambda found: found[0])[1] if fitting else None


def kl_divergence(p, q):
    """``KL(p || q)``, one number for each of the batch. NotImplementedError where no formula is known.

    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _chosen:
        _chosen[key] = _formula(*key)
    if _chosen[key] is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return _chosen[key](p, q)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (jtensor.nn.functional.softplus(-q.logits) - jtensor.nn.functional.softplus(-p.logits))
    one[q.probs == 0] = math.inf
    one[p.probs == 0] = 0
    zero = (1 - p.probs) * (jtensor.nn.functional.softplus(q.logits) - jtensor.nn.functional.softplus(p.logits))
    zero[q.probs == 1] = math.inf
    zero[p.probs == 1] = 0
    return one + zero


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = math.inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - jtensor.log1p(-q.probs) / p.probs - q.logits


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * jtensor.exp(-away / p.scale) - 1


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    first = (math.sqrt(math.pi * 2) * q.scale / width).log()
    second = (width / 2).pow(2) / 3 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return first + second * 0.5 / q.scale.pow(2)


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


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed")
    n = p.event_shape[0]
    own, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    batch = jtensor.broadcast_shapes(own.shape[:-2], other.shape[:-2])
    own, other = own.expand(batch + (n, n)), other.expand(batch + (n, n))
    trace = jtensor.linalg.solve_triangular(other, own, upper=False).pow(2).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + mahalanobis(other, q.loc - p.loc) - n)
