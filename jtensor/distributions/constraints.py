"""Constraints: what values a parameter or a sample may have. ``check(value)`` answers a bool tensor, one number for each event.

Owns: the constraints and their texts. May not know: distributions.
"""
import jtensor

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
           "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
           "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
           "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
           "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval"]


class Constraint:
    """The base of all: ``is_discrete``, and of how many dimensions an event is."""

    is_discrete, event_dim = False, 0

    def check(self, value):
        """Whether each event satisfies the constraint."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """Depends on other parameters: nothing can be checked."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self):
        """Whether values are integers."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        """The dimensions of an event."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, value):
        """Refused: it is not known yet."""
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    """Whether the constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a distribution that answers a constraint, and of the class a dependent constraint."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """Dimensions to the right belong to the event: all of them have to satisfy the base."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if result.dim() < n:
            expected = self.base_constraint.event_dim + n
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return result.reshape(result.shape[:result.dim() - n] + (-1,)).all(-1)

    def __repr__(self):
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


# -- numbers ----------------------------------------------------------------------------------------------------------


class _Real(Constraint):
    def check(self, value):
        return value == value                  # all but NaN


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _Bounded(Constraint):
    """Between bounds that are given by name; ``within(value, *bounds)`` says what is between them."""

    names = ()

    def __init__(self, *bounds, **named):
        for name, bound in {**dict(zip(self.names, bounds)), **named}.items():
            setattr(self, name, bound)

    def check(self, value):
        return self.within(value, *[getattr(self, name) for name in self.names])

    def __repr__(self):
        return f"{type(self).__name__[1:]}({', '.join(f'{name}={getattr(self, name)}' for name in self.names)})"


def _bounded(name, names, within, discrete=False):
    return type(name, (_Bounded,), {"names": names, "within": staticmethod(within), "is_discrete": discrete, "__module__": __name__})


_LOW, _HIGH, _BOTH = ("lower_bound",), ("upper_bound",), ("lower_bound", "upper_bound")
_GreaterThan = _bounded("_GreaterThan", _LOW, lambda x, low: low < x)
_GreaterThanEq = _bounded("_GreaterThanEq", _LOW, lambda x, low: low <= x)
_LessThan = _bounded("_LessThan", _HIGH, lambda x, high: x < high)
_Interval = _bounded("_Interval", _BOTH, lambda x, low, high: (low <= x) & (x <= high))
_HalfOpenInterval = _bounded("_HalfOpenInterval", _BOTH, lambda x, low, high: (low <= x) & (x < high))
_IntegerInterval = _bounded("_IntegerInterval", _BOTH, lambda x, low, high: (x % 1 == 0) & (low <= x) & (x <= high), True)
_IntegerGreaterThan = _bounded("_IntegerGreaterThan", _LOW, lambda x, low: (x % 1 == 0) & (x >= low), True)


# -- vectors and matrices ---------------------------------------------------------------------------------------------


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return (value >= 0).all(dim=-1) & (value.sum(dim=-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        lower = value.tril()
        return (lower == value).view(value.shape[:-2] + (-1,)).min(-1)[0]


class _LowerCholesky(_LowerTriangular):
    def check(self, value):
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        return jtensor.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=jtensor.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value):
        square = super().check(value)
        return square if not square.all() else jtensor.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        symmetric = super().check(value)
        return symmetric if not symmetric.all() else jtensor.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        symmetric = super().check(value)
        return symmetric if not symmetric.all() else jtensor.linalg.cholesky_ex(value).info.eq(0)


class _CorrCholesky(Constraint):
    """Lower triangular, of positive diagonal, each row of length 1."""

    event_dim = 2

    def check(self, value):
        loose = jtensor.finfo(value.dtype).eps * value.size(-1) * 10        # 10 is what rounding may cost
        length = jtensor.linalg.norm(value.detach(), dim=-1)
        return _LowerCholesky().check(value) & (length - 1).abs().le(loose).all(dim=-1)


# -- of several -------------------------------------------------------------------------------------------------------


class _Joined(Constraint):
    """A constraint for each slice along ``dim``; ``_cut`` says which slices."""

    def __init__(self, cseq, dim):
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Joined):
    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = list([1] * len(self.cseq) if lengths is None else lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self):
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        checks = [c.check(value.narrow(self.dim, start, n)) for c, start, n in zip(self.cseq, starts, self.lengths)]
        return jtensor.cat(checks, self.dim)


class _Stack(_Joined):
    def __init__(self, cseq, dim=0):
        super().__init__(cseq, dim)

    @property
    def event_dim(self):
        n = max(c.event_dim for c in self.cseq)
        return n + 1 if self.dim + n < 0 else n

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        return jtensor.stack([c.check(value.select(self.dim, i)) for i, c in enumerate(self.cseq)], self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: what one of the components, which lie side by side along the batch's last dimension, may take.

    The base's ``check`` is asked with that dimension put in.
    """

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim

    def check(self, value):
        """Whether any component allows a value."""
        n = self.event_dim
        result = self.base_constraint.check(value.unsqueeze(-1 - n))
        if value.dim() < n:
            raise ValueError(f"Expected value.dim() >= {n} but got {value.dim()}")
        return result.reshape(result.shape[:value.dim() - n] + (-1,)).any(-1)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


dependent, dependent_property = _Dependent(), _DependentProperty
independent = _IndependentConstraint
boolean, one_hot, simplex, real = _Boolean(), _OneHot(), _Simplex(), _Real()
real_vector = independent(real, 1)
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval, multinomial = _Interval, _HalfOpenInterval, _IntegerInterval, _Multinomial
cat, stack, corr_cholesky = _Cat, _Stack, _CorrCholesky()
lower_triangular, lower_cholesky, square, symmetric = _LowerTriangular(), _LowerCholesky(), _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
