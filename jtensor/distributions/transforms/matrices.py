"""Transforms of vectors and matrices: to probabilities, to factors of positive definite matrices and of correlations.

Owns: their formulas. May not know: distributions.
"""
import math

import jtensor

from .. import constraints
from ..utils import tril_matrix_to_vec, vec_to_tril_matrix
from .base import Transform
from .pointwise import _clipped_sigmoid, _OfItsKind

__all__ = ["CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "SoftmaxTransform", "StickBreakingTransform"]


def _one_before(x):
    """Along the last dimension moved by one, a one put in front."""
    return jtensor.nn.functional.pad(x[..., :-1], [1, 0], value=1)


def _at_least_a_vector(shape):
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return shape


class SoftmaxTransform(_OfItsKind):
    """``y = exp(x) / sum(exp(x))`` along the last dimension; the inverse is the logarithm, up to a constant."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        return _at_least_a_vector(shape)

    def inverse_shape(self, shape):
        return _at_least_a_vector(shape)


class StickBreakingTransform(_OfItsKind):
    """K real numbers to K + 1 probabilities: each takes its share, a logistic function, of what the ones before have left.

    >>> torch.distributions.transforms.StickBreakingTransform()(torch.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def _log_parts_left(self, x):
        """log(K + 1 - k), so that zeros are broken into equal parts."""
        return (x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)).log()

    def _call(self, x):
        share = _clipped_sigmoid(x - self._log_parts_left(x))
        left = (1 - share).cumprod(-1)
        pad = jtensor.nn.functional.pad
        return pad(share, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y):
        cropped = y[..., :-1]
        left = jtensor.clamp(1 - cropped.cumsum(-1), min=jtensor.finfo(y.dtype).tiny)
        return cropped.log() - left.log() + self._log_parts_left(cropped)

    def log_abs_det_jacobian(self, x, y):
        x = x - self._log_parts_left(x)
        return (-x + jtensor.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        _at_least_a_vector(shape)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        _at_least_a_vector(shape)
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_OfItsKind):
    """A square matrix to a lower triangular one of positive diagonal: what stands above is dropped, the diagonal exponentiated."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_OfItsKind):
    """A square matrix to a positive definite one, whose Cholesky factor is that of `LowerCholeskyTransform`."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(jtensor.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """D (D - 1) / 2 real numbers to the Cholesky factor of a D x D correlation matrix.

    Their tanh are canonical partial correlations, put row by row below the diagonal; along a row each takes its share of the length 1
    that is left (Lewandowski, Kurowicka and Joe, 2009).
    """

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        eps = jtensor.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(jtensor.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        rows = partial + jtensor.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return rows * _one_before(left)

    def _inverse(self, y):
        left = _one_before(1 - jtensor.cumsum(y * y, dim=-1))
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        of_tanh = -2 * (x + jtensor.nn.functional.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return 0.5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape):
        _at_least_a_vector(shape)
        n = shape[-1]
        size = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        size = shape[-1]
        return shape[:-2] + (size * (size - 1) // 2,)
