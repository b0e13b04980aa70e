"""The base of transforms, their inverses, and transforms after each other.

Owns: the cache of the last pair, what an inverse is. May not know: any formula.
"""
import functools
import operator
import weakref

import jtensor

from .. import constraints
from ..utils import _sum_rightmost, lazy_property

__all__ = ["ComposeTransform", "Transform", "identity_transform"]


class Transform:
    """A differentiable function with a computable logarithm of its Jacobian's determinant, and where it has one, an inverse ``inv``.

    ``domain`` and ``codomain`` are constraints. With ``cache_size=1`` the last input and output are kept, so that the inverse of what was
    just computed is the very tensor that it came from. Another size raises ValueError.
    """

    bijective = False
    domain: constraints.Constraint
    codomain: constraints.Constraint

    def __init__(self, cache_size=0):
        self._cache_size, self._inv = cache_size, None
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        if cache_size:
            self._cached_x_y = None, None
        super().__init__()

    def __getstate__(self):
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self):
        """The dimensions of an event, if those are as many before as after."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self):
        """The inverse, whose own inverse this is."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self):
        """1 for a rising function, -1 for a falling one."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """The same transform with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return not self.__eq__(other)

    def __call__(self, x):
        if not self._cache_size:
            return self._call(x)
        known, y = self._cached_x_y
        if x is not known:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if not self._cache_size:
            return self._inverse(y)
        x, known = self._cached_x_y
        if y is not known:
            x = self._inverse(y)
            self._cached_x_y = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the determinant's absolute value, at an input and its output: one number for each event."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__ + "()"

    def forward_shape(self, shape):
        """The output's shape for an input's."""
        return shape

    def inverse_shape(self, shape):
        """The input's shape for an output's."""
        return shape


class _InverseTransform(Transform):
    """A transform read backwards; ``_inv`` is the transform itself here, so that it lives as long."""

    def __init__(self, transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self):
        return self._inv.bijective

    @property
    def sign(self):
        return self._inv.sign

    @property
    def inv(self):
        return self._inv

    def with_cache(self, cache_size=1):
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self):
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x):
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)


def _event_dim_before(parts):
    """How many dimensions an event has to have at the input, so that every part finds its own."""
    needed = parts[-1].codomain.event_dim
    for part in reversed(parts):
        needed = max(needed + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
    return needed


def _event_dim_behind(parts):
    found = parts[0].domain.event_dim
    for part in parts:
        found = max(found + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
    return found


def _of_events(constraint, event_dim):
    missing = event_dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing > 0 else constraint


class ComposeTransform(Transform):
    """Transforms one after the other.

    >>> transforms = torch.distributions.transforms
    >>> transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(1.0, 2.0)])(torch.tensor(0.0))
    tensor(3.)
    """

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """What the first part takes, in events that serve all."""
        return _of_events(self.parts[0].domain, _event_dim_before(self.parts)) if self.parts else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """What the last part answers."""
        return _of_events(self.parts[-1].codomain, _event_dim_behind(self.parts)) if self.parts else constraints.real

    @lazy_property
    def bijective(self):
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self):
        """The product of the parts' signs."""
        return functools.reduce(operator.mul, [part.sign for part in self.parts], 1)

    @property
    def inv(self):
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv, inverse._inv = weakref.ref(inverse), weakref.ref(self)
        return inverse

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return jtensor.zeros_like(x)
        between = [x]
        for part in self.parts[:-1]:
            between.append(part(between[-1]))
        between.append(y)
        terms, event_dim = [], self.domain.event_dim
        for part, before, behind in zip(self.parts, between, between[1:]):
            terms.append(_sum_rightmost(part.log_abs_det_jacobian(before, behind), event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        return f"{type(self).__name__}(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


identity_transform = ComposeTransform([])
