"""The base of all distributions: shapes, the check of parameters and samples, what follows from a few methods.

Owns: PyTorch's messages about parameters and samples outside their constraints. May not know: any distribution.
"""
import warnings

import jtensor

from ..tensor.lifted.batching import is_batch
from ..tensor.values import read
from ..trace.executor import on_host
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


def _hold(valid):
    """Whether all are true; inside of `vmap`, where nobody may ask it of one array, those of all arrays."""
    return on_host(read(valid), "value bounds").all() if is_batch(valid) else valid.all()


class Distribution:
    """A probability distribution: ``batch_shape`` of independent ones, each over events of ``event_shape``.

    Parameters, and the values whose probability is asked for, are checked, which looks at them; ``validate_args=False`` leaves it out.
    """

    has_rsample = has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions made from now on check their arguments."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = jtensor.Size(batch_shape), jtensor.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _validate_parameters(self):
        try:
            allowed = self.arg_constraints
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                          "distribution with `validate_args=False` to turn off validation.", stacklevel=4)
            return
        for name, constraint in allowed.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue
            value = getattr(self, name)
            if not _hold(constraint.check(value)):
                raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                                 f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}")

    def _validate_sample(self, value):
        if not isinstance(value, jtensor.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(value.size()) - len(self._event_shape)
        if value.size()[events:] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}.")
        actual, expected = value.size(), self._batch_shape + self._event_shape
        if any(i != 1 and j != 1 and i != j for i, j in zip(reversed(actual), reversed(expected))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=3)
            return
        if not _hold(support.check(value)):
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                             f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def _get_checked_instance(self, cls, _instance=None):
        """An empty instance for `expand` to fill, unless that is for a subclass to say."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                                      "define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, like, batch_shape, instance, event_shape=(), **parameters):
        """What `expand` answers: another of the class ``like`` with these parameters, unchecked."""
        new = self._get_checked_instance(like, instance)
        for name, value in parameters.items():
            setattr(new, name, value)
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self):
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of a single sample."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """What each parameter has to satisfy, by name."""
        raise NotImplementedError

    @property
    def support(self):
        """What samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The square root of the variance."""
        return self.variance.sqrt()

    def expand(self, batch_shape, _instance=None):
        """The distribution with its parameters expanded to a batch shape."""
        raise NotImplementedError

    def sample(self, sample_shape=()):
        """Samples of ``sample_shape + batch_shape + event_shape``, without gradient."""
        with jtensor.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Samples through which gradients flow to the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """``n`` samples."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of what is not above the value."""
        raise NotImplementedError

    def icdf(self, value):
        """The value that `cdf` answers a probability for."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        """The entropy in nats."""
        raise NotImplementedError

    def perplexity(self):
        """The exponential of the entropy."""
        return jtensor.exp(self.entropy())

    def _extended_shape(self, sample_shape=()):
        return jtensor.Size(sample_shape) + self._batch_shape + self._event_shape

    def __repr__(self):
        shown = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        return f"{type(self).__name__}({', '.join(f'{name}: {x if x.numel() == 1 else x.size()}' for name, x in shown)})"
