"""``torch._foreach_add_`` and its kind: an operation on each tensor of a list, as hand-written optimizers call them.

PyTorch has them for one launch instead of many; here a whole tape is one program anyway, so that each is a loop over its tensors. Owns:
which there are, and what their lists have to be. May not know: the operations.
"""
import jtensor

_ONE = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign
sin sinh sqrt tan tanh trunc""".split()
_TWO = "add sub mul div pow maximum minimum clamp_max clamp_min".split()
_THREE = "addcmul addcdiv".split()
_OTHERWISE = {"maximum": "clamp_min", "minimum": "clamp_max"}       # methods that take a number, too, and write in place


def _tensors(name, given, where="self", position=1):
    if not isinstance(given, (list, tuple)) or not all(isinstance(x, jtensor.Tensor) for x in given):
        raise TypeError(f"_foreach_{name}(): argument '{where}' (position {position}) must be tuple of Tensors, not {type(given).__name__}")
    if not given:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return given


def _as_long(tensors, others):
    if len(others) != len(tensors):
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(others)}")
    return others


def _operands(name, tensors, other):
    """The second operands, one for each tensor: of a list of tensors or of numbers, of one number, or of a tensor of no dimension."""
    if isinstance(other, (list, tuple)):
        found = [isinstance(x, jtensor.Tensor) for x in other]
        if any(found):
            if not all(found):
                at = found.index(not found[0]) if found[0] else 0
                raise TypeError(f"expected Tensor as element {at} in argument 1, but got {type(other[at]).__name__}")
            return _as_long(tensors, other)
        if len(other) != len(tensors):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        return other
    if isinstance(other, jtensor.Tensor):
        if other.dim() != 0:
            raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {other.dim()} dimensions and {other.numel()} elements.")
    elif not isinstance(other, (int, float, complex)):
        raise TypeError(f"_foreach_{name}(): argument 'other' (position 2) must be a number, a Tensor or a tuple of these, not "
                        f"{type(other).__name__}")
    return [other] * len(tensors)


def _factors(tensors, value):
    """The factors of `addcmul` and `addcdiv`, one for each tensor."""
    if isinstance(value, jtensor.Tensor):
        if value.dim() != 1 or value.numel() != len(tensors):
            raise RuntimeError(f"Expected length of scalars to match input of length {len(tensors)} but got {value.numel()} instead.")
        return value.tolist()
    if not isinstance(value, (list, tuple)):
        return [value] * len(tensors)
    if len(value) != len(tensors):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return value


def _on_one(name):
    method = getattr(jtensor.Tensor, name)

    def function(self):
        return [method(x) for x in _tensors(name, self)]
    return function


def _on_two(name):
    stem, end = name.rstrip("_"), "_" if name.endswith("_") else ""
    method = getattr(jtensor.Tensor, _OTHERWISE.get(stem, stem) + end)

    def function(self, other, *, alpha=1):
        if name == "pow" and isinstance(self, (int, float, complex)):
            return [jtensor.pow(self, x) for x in _tensors(name, other, "exponent", 2)]
        others, options = _operands(name, _tensors(name, self), other), {} if alpha == 1 else {"alpha": alpha}
        if options and not isinstance(others[0], jtensor.Tensor):
            raise TypeError(f"_foreach_{name}() takes `alpha` with tensors alone")
        return [method(x, y, **options) for x, y in zip(self, others, strict=True)]
    return function


def _on_three(name):
    method = getattr(jtensor.Tensor, name)

    def function(self, tensor1, tensor2, value=1):
        first, second = (_as_long(_tensors(name, self), others) for others in (tensor1, tensor2))
        return [method(x, a, b, value=v) for x, a, b, v in zip(self, first, second, _factors(self, value), strict=True)]
    return function


def _lerp(name):
    method = getattr(jtensor.Tensor, name)

    def function(self, tensors1, weight):
        ends = _as_long(_tensors(name, self), tensors1)
        return [method(x, y, w) for x, y, w in zip(self, ends, _operands(name, self, weight), strict=True)]
    return function


def _copy_(self, src, non_blocking=False):
    return [x.copy_(y) for x, y in zip(_tensors("copy_", self), _as_long(self, src), strict=True)]


def _norm(self, ord=2, dtype=None):
    return [jtensor.linalg.vector_norm(x, ord, dtype=dtype) for x in _tensors("norm", self)]


def _mm(self, mat2):
    return [x @ y for x, y in zip(_tensors("mm", self), _as_long(self, mat2), strict=True)]


def _powsum(self, ord=2, dtype=None):
    return [(x if dtype is None else x.to(dtype)).abs().pow(ord).sum() for x in _tensors("powsum", self)]


_MADE = {
    **{name: _on_one(name) for stem in _ONE for name in (stem, stem + "_")},
    **{name: _on_two(name) for stem in _TWO for name in (stem, stem + "_")},
    **{name: _on_three(name) for stem in _THREE for name in (stem, stem + "_")},
    "lerp": _lerp("lerp"), "lerp_": _lerp("lerp_"), "zero_": _on_one("zero_"), "clone": _on_one("clone"), "max": _on_one("max"),
    "copy_": _copy_, "norm": _norm, "mm": _mm, "powsum": _powsum,
}


def _shown(name, made):
    """The public function: in place it answers what it was given, else a tuple."""
    def function(self, *args, **kwargs):
        answer = made(self, *args, **kwargs)
        return self if name.endswith("_") else tuple(answer)
    function.__name__ = function.__qualname__ = f"_foreach_{name}"
    function.__doc__ = f"`{name}` of each tensor of a list{', in place' if name.endswith('_') else ': a tuple'}."
    return function


FUNCTIONS = {f"_foreach_{name}": _shown(name, made) for name, made in _MADE.items()}
globals().update(FUNCTIONS)
