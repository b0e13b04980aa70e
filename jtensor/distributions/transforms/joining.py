"""Transforms made of others, or of shapes alone: more dimensions to an event, another shape, one transform to each slice.

Owns: how their Jacobians are put together. May not know: formulas of single transforms.
"""
import jtensor

from .. import constraints
from ..utils import _sum_rightmost
from .base import Transform

__all__ = ["CatTransform", "IndependentTransform", "ReshapeTransform", "StackTransform"]


class IndependentTransform(Transform):
    """A transform whose last ``reinterpreted_batch_ndims`` batch dimensions belong to the event: its Jacobian is summed over them."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The base's, of larger events."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """The base's, of larger events."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        return self.base_transform.bijective

    @property
    def sign(self):
        return self.base_transform.sign

    def _call(self, x):
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y):
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)


def _reshaped(shape, old, new):
    """A shape whose last dimensions, ``old``, are ``new`` ones."""
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    batch = len(shape) - len(old)
    if shape[batch:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[batch:]} but got {old}")
    return shape[:batch] + new


class ReshapeTransform(Transform):
    """Events of ``in_shape`` as events of ``out_shape``, of as many elements."""

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = jtensor.Size(in_shape), jtensor.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self):
        """Real events of ``in_shape``."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        """Real events of ``out_shape``."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x):
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape):
        return _reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return _reshaped(shape, self.out_shape, self.in_shape)


class _Slices(Transform):
    """One transform to each slice along a dimension; ``_cut`` says which slices, ``_join`` puts the answers together."""

    def _prepare(self, tseq, dim, cache_size):
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq), dim

    def _check_size(self, x, size, what):
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {x.dim()} dimensions")
        if x.size(self.dim) != size:
            raise AssertionError(f"x.size({self.dim}) = {x.size(self.dim)} must equal {what} {size}")

    def _call(self, x):
        return self._join([t(part) for t, part in zip(self.transforms, self._cut(x))], self.dim)

    def _inverse(self, y):
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._cut(y))], self.dim)

    @property
    def bijective(self):
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)


class CatTransform(_Slices):
    """Transforms of consecutive stretches of a dimension, ``lengths`` long (1 each, where nothing is said), as `torch.cat` joins them."""

    _join = staticmethod(jtensor.cat)

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        self._prepare(tseq, dim, cache_size)
        self.lengths = list([1] * len(self.transforms) if lengths is None else lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @property
    def event_dim(self):
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self):
        """The size of the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _cut(self, x):
        self._check_size(x, self.length, "length")
        return jtensor.split(x, self.lengths, self.dim)

    def log_abs_det_jacobian(self, x, y):
        found = [_sum_rightmost(t.log_abs_det_jacobian(before, behind), self.event_dim - t.event_dim)
                 for t, before, behind in zip(self.transforms, self._cut(x), self._cut(y))]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return jtensor.cat(found, dim=dim) if dim < 0 else sum(found)

    @constraints.dependent_property
    def domain(self):
        """The parts', side by side."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        """The parts', side by side."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Slices):
    """A transform to each slice of a dimension, as `torch.stack` joins them."""

    _join = staticmethod(jtensor.stack)

    def __init__(self, tseq, dim=0, cache_size=0):
        self._prepare(tseq, dim, cache_size)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _cut(self, x):
        self._check_size(x, len(self.transforms), "len(transforms)")
        return [x.select(self.dim, i) for i in range(x.size(self.dim))]

    def log_abs_det_jacobian(self, x, y):
        return jtensor.stack([t.log_abs_det_jacobian(before, behind)
                              for t, before, behind in zip(self.transforms, self._cut(x), self._cut(y))], dim=self.dim)

    @constraints.dependent_property
    def domain(self):
        """The parts', one above the other."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        """The parts', one above the other."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
