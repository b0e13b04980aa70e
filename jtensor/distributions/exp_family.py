"""Exponential families: densities that are the exponential of natural parameters times statistics."""
import jtensor

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution whose entropy follows from its log-normaliser, by differentiating that."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """The log-normaliser less the mean statistics times the natural parameters."""
        result = -self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        normaliser = self._log_normalizer(*natural)
        slopes = jtensor.autograd.grad(normaliser.sum(), natural, create_graph=True)
        result += normaliser
        for parameter, slope in zip(natural, slopes):
            result -= (parameter * slope).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
