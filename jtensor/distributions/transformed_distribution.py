"""A distribution of transformed samples: the density follows from the base's by the Jacobian of the transforms."""
import jtensor

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


def _listed(transforms):
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms


class TransformedDistribution(Distribution):
    """What comes of samples of ``base_distribution`` when transforms are applied to them, one after the other.

    >>> D = torch.distributions
    >>> D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()).log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = _listed(transforms)
        shape, event_dim = base_distribution.batch_shape + base_distribution.event_shape, len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {shape}.")
        behind = whole.forward_shape(shape)
        before = whole.inverse_shape(behind)            # as broadcast by the transforms' parameters
        if shape != before:
            base_distribution = base_distribution.expand(before[:len(before) - event_dim])
        if whole.domain.event_dim > event_dim:
            base_distribution = Independent(base_distribution, whole.domain.event_dim - event_dim)
        self.base_dist = base_distribution
        more = whole.codomain.event_dim - whole.domain.event_dim
        cut = len(behind) - max(whole.codomain.event_dim, len(base_distribution.event_shape) + more)
        super().__init__(behind[:cut], behind[cut:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        base = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        return self._expanded(TransformedDistribution, batch_shape, _instance, self.event_shape, base_dist=base, transforms=self.transforms)

    def _expanded_base(self, like, batch_shape, instance, **parameters):
        """What a subclass's `expand` answers, whose parameters are its base's but for these."""
        new = self._get_checked_instance(like, instance)
        for name, value in parameters.items():
            setattr(new, name, value)
        return TransformedDistribution.expand(self, batch_shape, _instance=new)

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        """The last transform's codomain."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    @property
    def has_rsample(self):
        """Whether gradients flow through samples."""
        return self.base_dist.has_rsample

    def _transformed(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=()):
        with jtensor.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event_dim, log_prob = len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            log_prob = log_prob - _sum_rightmost(transform.log_abs_det_jacobian(x, value), event_dim - transform.domain.event_dim)
            value = x
        return log_prob + _sum_rightmost(self.base_dist.log_prob(value), event_dim - len(self.base_dist.event_shape))

    def _rising(self, probability):
        """The probability below a value, where the transforms may have turned the order around."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._transformed(self.base_dist.icdf(self._rising(value)))
