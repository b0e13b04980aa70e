"""Mixtures of distributions of one kind."""
import jtensor

from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of the distributions along the last batch dimension of ``component_distribution``, chosen by the `Categorical`
    ``mixture_distribution``.

    >>> D = torch.distributions
    >>> D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.tensor([0.0, 4.0]), torch.ones(2))).mean
    tensor(2.)
    """

    arg_constraints = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        chosen, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for ours, theirs in zip(reversed(chosen), reversed(batch)):
            if ours != 1 and theirs != 1 and ours != theirs:
                raise ValueError(f"`mixture_distribution.batch_shape` ({chosen}) is not compatible with "
                                 f"`component_distribution.batch_shape`({batch})")
        choices, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if choices is not None and components is not None and choices != components:
            raise ValueError(f"`mixture_distribution component` ({choices}) does not equal `component_distribution.batch_shape[-1]` "
                             f"({components})")
        self._num_component = components
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = jtensor.Size(batch_shape)
        return self._expanded(MixtureSameFamily, batch_shape, _instance, self._component_distribution.event_shape,
                              _mixture_distribution=self._mixture_distribution.expand(batch_shape),
                              _component_distribution=self._component_distribution.expand(batch_shape + (self._num_component,)),
                              _num_component=self._num_component, _event_ndims=self._event_ndims)

    @constraints.dependent_property
    def support(self):
        """What any component may take."""
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        """How components are chosen."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _weights(self):
        """The components' probabilities, shaped to be multiplied with their means."""
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _pad(self, x):
        """With a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _averaged(self, x):
        return jtensor.sum(self._weights() * x, dim=-1 - self._event_ndims)

    @property
    def mean(self):
        return self._averaged(self._component_distribution.mean)

    @property
    def variance(self):
        """The mean variance, plus the variance of the means."""
        apart = (self._component_distribution.mean - self._pad(self.mean)).pow(2.0)
        return self._averaged(self._component_distribution.variance) + self._averaged(apart)

    def cdf(self, x):
        found = self._component_distribution.cdf(self._pad(x))
        return jtensor.sum(found * self._mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        of_each = self._component_distribution.log_prob(self._pad(x))
        return jtensor.logsumexp(of_each + jtensor.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape=()):
        with jtensor.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            index = index.repeat((1,) * len(chosen.shape) + (1,) + tuple(self.event_shape))
            return jtensor.gather(values, dim, index).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
