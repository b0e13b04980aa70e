"""Normal vectors with a covariance."""
import math

import jtensor

from . import constraints
from .by_covariance import ByCovariance, factor_of, the_one_given
from .by_covariance import factor_of_precision as _precision_to_scale_tril  # noqa: F401  which libraries ask for
from .distribution import Distribution
from .location_scale import AboutLocation
from .utils import standard_normal

__all__ = ["MultivariateNormal"]


def _batch_mv(matrix, vector):
    return jtensor.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(factor, x):
    """The squared length of ``factor^-1 x``, for batches ``(*, D, D)`` and ``(*, D)`` that broadcast."""
    return jtensor.linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


class MultivariateNormal(ByCovariance, AboutLocation, Distribution):
    """Normal vectors of mean ``loc`` ``(*, D)`` and one of: a covariance, its inverse, its Cholesky factor ``scale_tril``, ``(*, D, D)``.

    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = the_one_given(covariance_matrix, precision_matrix, scale_tril, ValueError)
        if matrix.dim() < 2:
            raise ValueError(f"{name} {'matrix ' if name == 'scale_tril' else ''}must be at least two-dimensional, "
                             "with optional leading batch dimensions")
        batch_shape = jtensor.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        return self._expanded(MultivariateNormal, batch_shape, _instance, self.event_shape, **self._kept(batch_shape),
                              loc=self.loc.expand(batch_shape + self.event_shape),
                              _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril)

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        eps = standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)
