"""What distributions have in common that take ``probs`` or ``logits``: the other one is worked out when it is first read.

Owns: the properties. May not know: which distributions there are.
"""
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def the_one_given(probs, logits):
    """("probs" or "logits", its value); ``ValueError`` for both or neither."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("probs", probs) if probs is not None else ("logits", logits)


class ByProbability:
    """Of outcomes with one probability each: ``logits`` are log-odds."""

    _parameters = "probs", "logits"

    def _kept(self, batch_shape):
        """The parameters that there are, for `expand`."""
        return {name: self.__dict__[name].expand(batch_shape) for name in self._parameters if name in self.__dict__}

    @lazy_property
    def logits(self):
        """The log-odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)


class ByParameter(ByProbability):
    """The same, with the one that was given as ``_param``."""

    def _kept(self, batch_shape):
        kept = super()._kept(batch_shape)
        return {**kept, "_param": kept["probs" if "probs" in kept else "logits"]}

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._param.size()


class OfTrials(ByParameter):
    """Counted in trials with that probability, up to ``total_count``."""

    _parameters = "total_count", "probs", "logits"

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        name, given = the_one_given(probs, logits)
        count, self._param = broadcast_all(total_count, given)
        self.total_count = count.type_as(self._param)
        setattr(self, name, self._param)
        super().__init__(self._param.size(), validate_args=validate_args)


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
