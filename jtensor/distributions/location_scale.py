"""What distributions about a place share, and those of a place and a width: their parameters, where they lie, the middle."""
from numbers import Number

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all


class AboutLocation:
    """Of something whose mean and most likely value is ``loc``."""

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc


class LocationScale(AboutLocation, Distribution):
    """A symmetric distribution about ``loc``, as wide as ``scale``: tensors or numbers, broadcast against each other."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        alone = isinstance(loc, Number) and isinstance(scale, Number)
        super().__init__(() if alone else self.loc.size(), validate_args=validate_args)
