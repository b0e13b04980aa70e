"""Normal vectors whose covariance is of low rank, plus a diagonal."""
import math

import jtensor

from . import constraints
from .by_covariance import ByCovariance
from .distribution import Distribution
from .location_scale import AboutLocation
from .multivariate_normal import _batch_mahalanobis, _batch_mv
from .utils import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def capacitance(factor, diagonal):
    """The Cholesky factor of ``I + W^T D^-1 W``."""
    found = jtensor.matmul(factor.mT / diagonal.unsqueeze(-2), factor).contiguous()
    found.view(-1, factor.size(-1) ** 2)[:, ::factor.size(-1) + 1] += 1
    return jtensor.linalg.cholesky(found)


def log_det(diagonal, capacitance_tril):
    """``log det(W W^T + D)``, by the matrix determinant lemma."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + diagonal.log().sum(-1)


def lowrank_mahalanobis(factor, diagonal, x, capacitance_tril):
    """``x^T (W W^T + D)^-1 x``, by Woodbury's identity."""
    inner = _batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - _batch_mahalanobis(capacitance_tril, inner)


class LowRankMultivariateNormal(ByCovariance, AboutLocation, Distribution):
    """Normal vectors of mean ``loc`` ``(*, D)`` and covariance ``W W^T + diag(d)``: costs grow with R^2 D.

    W is ``cov_factor`` ``(*, D, R)`` and d ``cov_diag`` ``(*, D)``.

    >>> torch.distributions.LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)).covariance_matrix
    tensor([[2., 0.],
            [0., 1.]])
    """

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch_shape = jtensor.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
                             ) from error
        self.loc, self.cov_diag = loc.expand(batch_shape + event_shape), cov_diag.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance(cov_factor, cov_diag)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        shape = batch_shape + self.event_shape
        kept = {name: getattr(self, name) for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")}
        return self._expanded(LowRankMultivariateNormal, batch_shape, _instance, self.event_shape, **self._kept(batch_shape),
                              **kept, loc=self.loc.expand(shape), cov_diag=self.cov_diag.expand(shape),
                              cov_factor=self.cov_factor.expand(shape + self.cov_factor.shape[-1:]))

    @lazy_property
    def variance(self):
        """The diagonal of the covariance."""
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance, by way of ``D^-1/2 W W^T D^-1/2 + I``, which is better conditioned."""
        root, n = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1), self._event_shape[0]
        scaled = self._unbroadcasted_cov_factor / root
        inner = jtensor.matmul(scaled, scaled.mT).contiguous()
        inner.view(-1, n * n)[:, ::n + 1] += 1
        return self._broadcast(root * jtensor.linalg.cholesky(inner))

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._broadcast(jtensor.matmul(factor, factor.mT) + jtensor.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance, by Woodbury's identity."""
        inner = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        solved = jtensor.linalg.solve_triangular(self._capacitance_tril, inner, upper=False)
        return self._broadcast(jtensor.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - solved.mT @ solved)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        of_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        of_diagonal = standard_normal(shape, self.loc.dtype, self.loc.device)
        return (self.loc + _batch_mv(self._unbroadcasted_cov_factor, of_factor) + self._unbroadcasted_cov_diag.sqrt() * of_diagonal)

    def _log_det(self):
        return log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = lowrank_mahalanobis(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, value - self.loc,
                                       self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self):
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)
