"""Random correlation matrices, by their Cholesky factors."""
import math

import jtensor

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices ``(dim, dim)`` whose density is in proportion to ``det ** (concentration - 1)``
    (Lewandowski, Kurowicka and Joe, 2009): uniform for 1, nearer to no correlation for more."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration, = broadcast_all(concentration)
        row = jtensor.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        row = jtensor.cat([row.new_zeros((1,)), row])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, marginal.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.size(), jtensor.Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        return self._expanded(LKJCholesky, batch_shape, _instance, self.event_shape, dim=self.dim,
                              concentration=self.concentration.expand(batch_shape), _beta=self._beta.expand(batch_shape + (self.dim,)))

    def sample(self, sample_shape=()):
        """The onion method: each row a point of the sphere, shrunk by the root of a beta number; the diagonal makes its length 1."""
        length = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = jtensor.randn(self._extended_shape(sample_shape), dtype=length.dtype, device=length.device).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        rows = jtensor.sqrt(length) * direction
        tiny = jtensor.finfo(rows.dtype).tiny
        rows += jtensor.diag_embed(jtensor.clamp(1 - jtensor.sum(rows**2, dim=-1), min=tiny).sqrt())
        return rows

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        dim, diagonal = self.dim, value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = jtensor.arange(2, dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + dim - order
        unnormalised = jtensor.sum(order * diagonal.log(), dim=-1)
        n = dim - 1
        alpha = self.concentration + 0.5 * n            # page 1999 of the paper, in terms of multivariate gamma functions
        return unnormalised - (0.5 * n * math.log(math.pi) + jtensor.mvlgamma(alpha - 0.5, n) - jtensor.lgamma(alpha) * n)
