"""What distributions have in common that take a covariance, its inverse or its Cholesky factor: the others are worked out when first read.

Owns: the three matrices. They are made of ``_unbroadcasted_scale_tril``, the factor as it was given or computed, not repeated for each of
the batch. May not know: which distributions there are.
"""
import jtensor

from .utils import lazy_property

MATRICES = "covariance_matrix", "precision_matrix", "scale_tril"


def the_one_given(covariance_matrix, precision_matrix, scale_tril, error):
    """(one of `MATRICES`, its value); an ``error`` for none or several."""
    given = zip(MATRICES, (covariance_matrix, precision_matrix, scale_tril))
    found = [(name, matrix) for name, matrix in given if matrix is not None]
    if len(found) != 1:
        raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return found[0]


def factor_of(name, matrix):
    """The Cholesky factor of the covariance that one of `MATRICES` says."""
    if name == "scale_tril":
        return matrix
    return jtensor.linalg.cholesky(matrix) if name == "covariance_matrix" else factor_of_precision(matrix)


def factor_of_precision(precision):
    """The Cholesky factor of a precision matrix's inverse: the flipped matrix's own factor, turned back and inverted."""
    flipped = jtensor.linalg.cholesky(jtensor.flip(precision, (-2, -1)))
    upper = jtensor.transpose(jtensor.flip(flipped, (-2, -1)), -2, -1)
    identity = jtensor.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return jtensor.linalg.solve_triangular(upper, identity, upper=False)


class ByCovariance:
    """Of vectors, or of matrices, with one of `MATRICES`."""

    def _kept(self, batch_shape):
        """The matrices that there are, for `expand`."""
        n = self.event_shape[-1:]
        return {name: self.__dict__[name].expand(batch_shape + n + n) for name in MATRICES if name in self.__dict__}

    def _broadcast(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape[-1:] * 2)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._broadcast(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        return self._broadcast(jtensor.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._broadcast(jtensor.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
