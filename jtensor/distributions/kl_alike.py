"""Divergences of two distributions of one kind.

Owns: their formulas; each infinite or nan where PyTorch's is. May not know: how one is chosen.
"""
import math

import jtensor

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal, lowrank_mahalanobis
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant

# -- of numbers -------------------------------------------------------------------------------------------------------


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


@register_kl(Beta, Beta)
def _beta(p, q):
    of_p, of_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    log_q = q.concentration1.lgamma() + q.concentration0.lgamma() + of_p.lgamma()
    log_p = p.concentration1.lgamma() + p.concentration0.lgamma() + of_q.lgamma()
    first = (p.concentration1 - q.concentration1) * jtensor.digamma(p.concentration1)
    second = (p.concentration0 - q.concentration0) * jtensor.digamma(p.concentration0)
    return log_q - log_p + first + second + (of_q - of_p) * jtensor.digamma(of_p)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    found = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    found[p.total_count > q.total_count] = math.inf
    return found


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    """Chyzak and Nielsen, 2019."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    own = p._log_norm() + jtensor.log1p(-p.probs)
    return p.mean * (p.logits - q.logits) + own - q._log_norm() - jtensor.log1p(-q.probs)


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    a, b = p.concentration, q.concentration
    return (b * (p.rate / q.rate).log() + jtensor.lgamma(b) - jtensor.lgamma(a) + (a - b) * jtensor.digamma(a)
            + (q.rate - p.rate) * (a / p.rate))


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, own, other = p.scale / q.scale, p.loc / q.scale, q.loc / q.scale
    tail = jtensor.exp(other + (1 + ratio).lgamma() - own)
    return -ratio.log() - other + own + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    found[p.support.lower_bound < q.support.lower_bound] = math.inf
    return found


# -- of families and of distributions made of others ------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    """The Bregman divergence of the log-normaliser."""
    if type(p) is not type(q):
        raise NotImplementedError(f"The cross KL-divergence between different exponential families cannot{'':29}be computed using "
                                  "Bregman divergences")
    own, other = [x.detach().requires_grad_() for x in p._natural_params], q._natural_params
    normaliser = p._log_normalizer(*own)
    slopes = jtensor.autograd.grad(normaliser.sum(), own, create_graph=True)
    found = q._log_normalizer(*other) - normaliser
    for ours, theirs, slope in zip(own, other, slopes):
        found = found - _sum_rightmost((theirs - ours) * slope, len(q.event_shape))
    return found


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# -- of vectors -------------------------------------------------------------------------------------------------------


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    log_ratio = jtensor.lgamma(total) - jtensor.lgamma(b.sum(-1)) - (a.lgamma() - b.lgamma()).sum(-1)
    return log_ratio + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


def _same_events(p, q, kind=""):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {kind}Multivariate Normals with{'':26}different event shapes cannot be computed")


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    _same_events(p, q)
    n = p.event_shape[0]
    own, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    batch = jtensor.broadcast_shapes(own.shape[:-2], other.shape[:-2])
    own, other = own.expand(batch + (n, n)), other.expand(batch + (n, n))
    trace = jtensor.linalg.solve_triangular(other, own, upper=False).pow(2).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + _batch_mahalanobis(other, q.loc - p.loc) - n)


def _squares(matrix):
    """The trace of ``X X^T``."""
    return matrix.pow(2).sum((-2, -1))


def _from_lowrank(q, p):
    """Of a low-rank ``q``: the distance of the means, and what ``q``'s inner inverse makes of a matrix."""
    distance = lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc, q._capacitance_tril)
    inner = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    return distance, jtensor.linalg.solve_triangular(q._capacitance_tril, inner, upper=False)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank(p, q):
    _same_events(p, q, "Low Rank ")
    distance, inner = _from_lowrank(q, p)
    factor, diagonal = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag
    trace = ((diagonal / q._unbroadcasted_cov_diag).sum(-1) + _squares(factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1))
             - _squares(inner * diagonal.sqrt().unsqueeze(-2)) - _squares(inner.matmul(factor)))
    return 0.5 * (q._log_det() - p._log_det() + trace + distance - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal_lowrank(p, q):
    _same_events(p, q, "(Low Rank) ")
    distance, inner = _from_lowrank(q, p)
    factor = p._unbroadcasted_scale_tril
    trace = _squares(factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)) - _squares(inner.matmul(factor))
    return 0.5 * (q._log_det() - 2 * p._half_log_det() + trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate_normal(p, q):
    _same_events(p, q, "(Low Rank) ")
    factor, n = q._unbroadcasted_scale_tril, p.event_shape[0]
    batch = jtensor.broadcast_shapes(factor.shape[:-2], p._unbroadcasted_cov_factor.shape[:-2])
    factor = factor.expand(batch + (n, n))
    parts = p._unbroadcasted_cov_factor.expand(batch + (n, p.cov_factor.size(-1))), jtensor.diag_embed(
        p._unbroadcasted_cov_diag.sqrt()).expand(batch + (n, n))
    trace = sum(_squares(jtensor.linalg.solve_triangular(factor, part, upper=False)) for part in parts)
    distance = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return 0.5 * (2 * q._half_log_det() - p._log_det() + trace + distance - n)
