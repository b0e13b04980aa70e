"""The Dirichlet distribution."""
import jtensor

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class _Dirichlet(jtensor.autograd.Function):
    """Samples whose gradient is that of the implicit reparametrisation (Figurnov, Mohamed and Mnih, 2018): on the simplex, moving one
    concentration moves its own share as of a beta distribution, and takes from the others in proportion."""

    @staticmethod
    def forward(ctx, concentration):
        x = jtensor._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @jtensor.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        return jtensor._dirichlet_grad(x, concentration, total) * (grad - (x * grad).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Vectors of probabilities: gamma numbers of ``concentration`` ``(*, K)``, divided by their sum.

    >>> torch.distributions.Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        return self._expanded(Dirichlet, batch_shape, _instance, self.event_shape,
                              concentration=self.concentration.expand(batch_shape + self.event_shape))

    def rsample(self, sample_shape=()):
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return jtensor.xlogy(a - 1.0, value).sum(-1) + jtensor.lgamma(a.sum(-1)) - jtensor.lgamma(a).sum(-1)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1)
        mode[flat] = jtensor.nn.functional.one_hot(mode[flat].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self):
        a = self.concentration
        total = a.sum(-1, True)
        return a * (total - a) / (total.pow(2) * (total + 1))

    def entropy(self):
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return (jtensor.lgamma(a).sum(-1) - jtensor.lgamma(total) - (k - total) * jtensor.digamma(total)
                - ((a - 1.0) * jtensor.digamma(a)).sum(-1))

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - jtensor.lgamma(x.sum(-1))
