"""Random covariances: the Wishart distribution."""
import math
import warnings
from numbers import Number

import jtensor

from . import constraints
from .by_covariance import ByCovariance, factor_of, the_one_given
from .chi2 import Chi2
from .exp_family import ExponentialFamily

__all__ = ["Wishart"]


def _mvdigamma(x, p):
    """The derivative of `mvlgamma`."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    return jtensor.digamma(x.unsqueeze(-1) - jtensor.arange(p, dtype=x.dtype, device=x.device).div(2).expand(x.shape + (-1,))).sum(-1)


class Wishart(ByCovariance, ExponentialFamily):
    """Sums of ``df`` products ``x x^T`` of normal vectors, of one of: a covariance, its inverse, its Cholesky factor, ``(*, P, P)``.

    >>> torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        name, matrix = the_one_given(covariance_matrix, precision_matrix, scale_tril, AssertionError)
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Number):
            batch_shape = jtensor.Size(matrix.shape[:-2])
            self.df = jtensor.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = jtensor.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if self.df.lt(event_shape[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        below = jtensor.arange(event_shape[-1], dtype=self.df.dtype, device=self.df.device).expand(batch_shape + (-1,))
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - below)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        return self._expanded(Wishart, batch_shape, _instance, self.event_shape, **self._kept(batch_shape), df=self.df.expand(batch_shape),
                              _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril.expand(batch_shape + self.event_shape),
                              _dist_chi2=self._dist_chi2.expand(batch_shape + self.event_shape[-1:]))

    def _df_of(self, n):
        return self.df.view(self._batch_shape + (1,) * n)

    @property
    def mean(self):
        return self._df_of(2) * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = jtensor.nan
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._df_of(2) * (v.pow(2) + jtensor.einsum("...i,...j->...ij", diagonal, diagonal))

    def _bartlett(self, sample_shape):
        """Bartlett's decomposition: roots of chi-squared numbers on the diagonal, normal ones below it, are the factor of a sample."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=jtensor.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        row, column = jtensor.tril_indices(p, p, offset=-1)
        shape = jtensor.Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,)
        noise[..., row, column] = jtensor.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Samples, of which PyTorch draws the good ones a second time, and singular ones up to ``max_try_correction`` times (10).

        Its first test is the wrong way round, and it warns of singular samples where there are none; the same seed has to give the same.
        """
        sample = self._bartlett(jtensor.Size(sample_shape))
        again = self._amax(self.support.check(sample))
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(10 if max_try_correction is None else max_try_correction):
                fresh = self._bartlett(again[again].shape)
                sample[again] = fresh
                again[again.clone()] = self._amax(~self.support.check(fresh))
                if not again.any():
                    break
        return sample

    def _amax(self, found):
        """Whether any of a batch is."""
        return found.amax([-1 - i for i in range(len(self._batch_shape))]) if self._batch_shape else found

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        solved = jtensor.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (-nu * (p * math.log(2) / 2 + self._half_log_det()) - jtensor.mvlgamma(nu / 2, p=p)
                + (nu - p - 1) / 2 * jtensor.linalg.slogdet(value).logabsdet - solved / 2)

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        return ((p + 1) * (p * math.log(2) / 2 + self._half_log_det()) + jtensor.mvlgamma(nu / 2, p=p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p) + nu * p / 2)

    @property
    def _natural_params(self):
        nu, p = self.df, self._event_shape[-1]
        return -self.precision_matrix / 2, (nu - p - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (-jtensor.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + jtensor.mvlgamma(y + (p + 1) / 2, p=p)
