"""What distributions have in common that take ``probs`` or ``logits``: the other one is worked out when it is first read.

Owns: the properties. May not know: which distributions there are.
"""
from .utils import lazy_property, logits_to_probs, probs_to_logits


class ByProbability:
    """Of outcomes with one probability each: ``logits`` are log-odds."""

    @lazy_property
    def logits(self):
        """The log-odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)


class ByParameter(ByProbability):
    """The same, with the shape of the one that was given."""

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._param.size()


class ByCategorical:
    """Of outcomes drawn by the categorical distribution ``_categorical``."""

    @property
    def probs(self):
        """Probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """Log-probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._categorical.param_shape


class ByBase:
    """Relaxed, and transformed from ``base_dist``, which has the parameters."""

    @property
    def temperature(self):
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """Log-odds, or log-probabilities."""
        return self.base_dist.logits

    @property
    def probs(self):
        """Probabilities."""
        return self.base_dist.probs
