"""`torch._foreach_add` and its kin: one operation for each tensor of a list, as optimizers and moving averages are written with.

Owns: what the lists may be, and the list's errors. One call here is one operator a tensor, each recorded as if it had been called
by itself: nothing is gained by these functions, but programs that use them run. Histories have the nodes of these operators, where
PyTorch has others (``ForeachMulBackward1Scalar``).
"""
import math

import jtensor

_UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid
    sign sin sinh sqrt tan tanh trunc""".split()
_BINARY = "add sub mul div pow clamp_min clamp_max maximum minimum".split()
_TAKE_A_TENSOR = "add mul div".split()       # for the others one that has no dimensions and needs no gradient is a number
_EMPTY, _UNEQUAL = "Tensor list must have at least one tensor.", "Tensor lists must have the same number of tensors, got {} and {}"
_SCALARS = "Tensor list must have same number of elements as scalar list."


def _method(name):
    """What is called for each tensor: a method, since this has the form in place, too."""
    if name in ("maximum", "clamp_min"):
        return lambda mark: _clamped("min", mark)
    if name in ("minimum", "clamp_max"):
        return lambda mark: _clamped("max", mark)
    return lambda mark: getattr(jtensor.Tensor, name + mark)


def _clamped(end, mark):
    clamp = getattr(jtensor.Tensor, "clamp" + mark)
    return lambda x, bound: clamp(x, **{end: bound})


def _list(name, value, argument="self", position=1):
    """A list of tensors that is none is refused in the parser's words."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be tuple of Tensors, not {type(value).__name__}")
    for place, one in enumerate(value):
        if not isinstance(one, jtensor.Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument {position - 1}, but got {type(one).__name__}")
    return value


def _of_tensors(value):
    return isinstance(value, (list, tuple)) and all(isinstance(one, jtensor.Tensor) for one in value)


def _same_length(first, *others):
    if not first:
        raise RuntimeError(_EMPTY)
    for other in others:
        if len(other) != len(first):
            raise RuntimeError(_UNEQUAL.format(len(first), len(other)))


def _spread(self, other):
    """The second operand of each tensor: one for all, or one each."""
    if isinstance(other, (list, tuple)):
        if other and _of_tensors(other):
            if len(other) != len(self):
                raise RuntimeError(_UNEQUAL.format(len(self), len(other)))
        elif any(isinstance(one, jtensor.Tensor) for one in other):
            at, one = next((at, one) for at, one in enumerate(other) if not isinstance(one, jtensor.Tensor))
            raise TypeError(f"expected Tensor as element {at} in argument 1, but got {type(one).__name__}")
        elif len(other) != len(self):                      # an empty list is one of numbers
            raise RuntimeError(_SCALARS)
        return other
    if isinstance(other, jtensor.Tensor) and other.dim():
        raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {other.dim()} dimensions and {other.numel()} elements.")
    return [other] * len(self)


def _answer(self, results, mark):
    """In place the list itself is the answer, as it was given."""
    return self if mark else tuple(results)


def _unary(name, mark):
    full, method = f"_foreach_{name}{mark}", _method(name)(mark)

    def function(self):
        _same_length(_list(full, self))
        return _answer(self, [method(x) for x in self], mark)
    return full, function


def _binary(name, mark):
    full, method = f"_foreach_{name}{mark}", _method(name)(mark)

    def function(self, other=None, *, scalar=None, scalars=None, exponent=None, alpha=None):
        given = [one for one in (other, scalar, scalars, exponent) if one is not None]
        if len(given) != 1:
            raise TypeError(f"{full}() takes one operand beside the tensors: a number, a list of numbers, a tensor or a list of tensors")
        other, = given
        if name == "pow" and not mark and not isinstance(self, (list, tuple, jtensor.Tensor)):
            _same_length(_list(full, other, "exponent", 2))
            return tuple([jtensor.pow(self, x) for x in other])
        if not _list(full, self) and not (other and _of_tensors(other)):
            raise RuntimeError(_EMPTY)
        if name not in _TAKE_A_TENSOR and isinstance(other, jtensor.Tensor):
            if other.dim() or other.requires_grad or alpha is not None:
                _list(full, other, "other", 2)
            other = other.item()
        options = {}
        if alpha is not None:
            if name not in ("add", "sub") or not (isinstance(other, jtensor.Tensor) or _of_tensors(other)):
                raise TypeError(f"{full}() takes alpha together with tensors that are added or subtracted alone")
            options["alpha"] = alpha
        return _answer(self, [method(x, y, **options) for x, y in zip(self, _spread(self, other), strict=True)], mark)
    return full, function


def _ternary(name, mark):
    full, method = f"_foreach_{name}{mark}", getattr(jtensor.Tensor, name + mark)

    def function(self, tensor1, tensor2, value=None, *, scalars=None):
        _same_length(_list(full, self), _list(full, tensor1, "tensor1", 2), _list(full, tensor2, "tensor2", 3))
        factors = scalars if value is None else value
        if isinstance(factors, jtensor.Tensor):
            if factors.dim() != 1:
                raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {factors.dim()} instead.")
            if len(factors) != len(self):
                raise RuntimeError(f"Expected length of scalars to match input of length {len(self)} but got {len(factors)} instead.")
            factors = factors.tolist()
        factors = _spread(self, 1 if factors is None else factors)
        return _answer(self, [method(*row, value=factor) for *row, factor in zip(self, tensor1, tensor2, factors, strict=True)], mark)
    return full, function


def _lerp(mark):
    full, method = f"_foreach_lerp{mark}", getattr(jtensor.Tensor, "lerp" + mark)

    def function(self, tensors1, weight=None, *, weights=None):
        _same_length(_list(full, self), _list(full, tensors1, "tensors1", 2))
        factors = _spread(self, weights if weight is None else weight)
        return _answer(self, [method(*row) for row in zip(self, tensors1, factors, strict=True)], mark)
    return full, function


def _foreach_zero_(self):
    _same_length(_list("_foreach_zero_", self))
    for x in self:
        x.zero_()
    return self


def _foreach_copy_(self, src, non_blocking=False):
    _same_length(_list("_foreach_copy_", self), _list("_foreach_copy_", src, "src", 2))
    for x, y in zip(self, src, strict=True):
        x.copy_(y)
    return self


def _foreach_clone(self, *, memory_format=None):
    _same_length(_list("_foreach_clone", self))
    return tuple([x.clone() if memory_format is None else x.clone(memory_format=memory_format) for x in self])


def _foreach_norm(self, ord=2, dtype=None):
    _same_length(_list("_foreach_norm", self))
    if ord == math.inf and not all(x.numel() for x in self):
        raise RuntimeError("_foreach_norm cannot compute the infinity norm on an empty tensor because the operation does not have an "
                           "identity")
    return tuple([jtensor.linalg.vector_norm(x, ord, dtype=dtype) for x in self])


def _foreach_powsum(self, ord=2, dtype=None):
    _same_length(_list("_foreach_powsum", self))
    return tuple([x.abs().pow(ord).sum(dtype=dtype) for x in self])


def _foreach_max(self):
    _same_length(_list("_foreach_max", self))
    return tuple([x.max() for x in self])


def _foreach_mm(self, mat2):
    _same_length(_list("_foreach_mm", self), _list("_foreach_mm", mat2, "mat2", 2))
    return tuple([x.mm(y) for x, y in zip(self, mat2, strict=True)])


def _all():
    for mark in "", "_":
        for name in _UNARY:
            yield _unary(name, mark)
        for name in _BINARY:
            yield _binary(name, mark)
        for name in ("addcmul", "addcdiv"):
            yield _ternary(name, mark)
        yield _lerp(mark)
    for function in (_foreach_zero_, _foreach_copy_, _foreach_clone, _foreach_norm, _foreach_powsum, _foreach_max, _foreach_mm):
        yield function.__name__, function


FUNCTIONS = dict(_all())
for _name, _function in FUNCTIONS.items():
    _function.__name__ = _function.__qualname__ = _name
