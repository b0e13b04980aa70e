"""Operators element by element: arithmetic, comparisons, logic, functions of one number. Owns: how they are written as ONNX."""
import math

import jtensor

from ...base import dtypes
from ..table import Refused, aten, since
from ..writing import Edge, constant

_FUNCTIONS = {
    "abs": "Abs", "neg": "Neg", "ceil": "Ceil", "floor": "Floor", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh",
    "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf", "reciprocal": "Reciprocal", "sigmoid": "Sigmoid", "sign": "Sign", "sgn": "Sign",
}
_WHOLE = ("ceil", "floor")                                        # which leave whole numbers what they are, and take no others in ONNX


def _function(name, kind):
    def write(graph, self):
        dtype = graph.outs[0].dtype
        if name in _WHOLE and not dtype.is_floating_point:
            return self
        return graph.op(kind, graph.cast(self, dtype))
    aten(name)(write)


for _name, _kind in _FUNCTIONS.items():
    _function(_name, _kind)


def computed(graph, *edges):
    """Edges, or numbers, with the dtype of the result."""
    dtype = graph.outs[0].dtype
    return [graph.number(one, dtype) for one in edges]


def promoted(graph, *given):
    """Edges, or numbers, with the dtype that they have in common."""
    groups = [], [], []
    for one in given:
        if not isinstance(one, Edge):
            groups[2].append(dtypes.of_scalar(one))
        else:
            groups[one.shape == ()].append(one.dtype)
    dtype = dtypes.result_type(*groups)
    return [graph.number(one, dtype) for one in given]


def ordered(graph, *edges):
    """Edges of a dtype whose order ONNX knows."""
    if edges[0].dtype in (dtypes.bool, dtypes.uint8, dtypes.int8, dtypes.int16):
        return [graph.cast(one, dtypes.int32) for one in edges]
    return list(edges)


# -- arithmetic ---------------------------------------------------------------------------------------------------------


def _scaled(graph, edge, alpha):
    return edge if not isinstance(alpha, Edge) and alpha == 1 else graph.op("Mul", edge, graph.number(alpha, edge.dtype))


@aten("add")
def _add(graph, self, other, alpha=1):
    self, other = computed(graph, self, other)
    if self.dtype is dtypes.bool:
        return graph.op("Or", self, other)
    return graph.op("Add", self, _scaled(graph, other, alpha))


@aten("sub")
def _sub(graph, self, other, alpha=1):
    self, other = computed(graph, self, other)
    return graph.op("Sub", self, _scaled(graph, other, alpha))


@aten("rsub")
def _rsub(graph, self, other, alpha=1):
    return _sub(graph, other, self, alpha)


@aten("mul")
def _mul(graph, self, other):
    self, other = computed(graph, self, other)
    return graph.op("And" if self.dtype is dtypes.bool else "Mul", self, other)


def _is_floored_up(graph, a, b, quotient):
    """Whether whole numbers have a rest and are of two signs, so that the quotient, cut off, is one too high."""
    zero = constant(0, a.dtype)
    rest = graph.op("Not", graph.op("Equal", graph.op("Mul", quotient, b), a, dtype=dtypes.bool), dtype=dtypes.bool)
    signs = graph.op("Xor", graph.op("Less", a, zero, dtype=dtypes.bool), graph.op("Less", b, zero, dtype=dtypes.bool), dtype=dtypes.bool)
    return graph.op("And", rest, signs, dtype=dtypes.bool)


@aten("div")
def _div(graph, self, other, rounding_mode=None):
    self, other = computed(graph, self, other)
    quotient = graph.op("Div", self, other)
    if rounding_mode is None:
        return quotient
    if self.dtype.is_floating_point:
        return graph.op("Floor", quotient) if rounding_mode == "floor" else _trunc(graph, quotient)
    if rounding_mode == "trunc" or not self.dtype.is_signed:
        return quotient
    if all(one.known is not None and (one.known >= 0).all() for one in (self, other)):
        return quotient
    one = graph.cast(_is_floored_up(graph, self, other, quotient), self.dtype)
    return graph.op("Sub", quotient, one)


@aten("floor_divide")
def _floor_divide(graph, self, other):
    return _div(graph, self, other, "floor")


@aten("remainder")
def _remainder(graph, self, other):
    self, other = computed(graph, self, other)
    if self.dtype.is_floating_point:
        return graph.op("Sub", self, graph.op("Mul", graph.op("Floor", graph.op("Div", self, other)), other))
    return graph.op("Mod", self, other)


@aten("fmod")
def _fmod(graph, self, other):
    return graph.op("Mod", *computed(graph, self, other), fmod=1)


@aten("pow")
def _pow(graph, self, exponent):
    return graph.op("Pow", *computed(graph, self, exponent))


@aten("maximum")
def _maximum(graph, self, other):
    self, other = computed(graph, self, other)
    return graph.op("Or" if self.dtype is dtypes.bool else "Max", self, other)


@aten("minimum")
def _minimum(graph, self, other):
    self, other = computed(graph, self, other)
    return graph.op("And" if self.dtype is dtypes.bool else "Min", self, other)


@aten("addcmul")
def _addcmul(graph, self, tensor1, tensor2, value=1):
    self, one, two = computed(graph, self, tensor1, tensor2)
    return graph.op("Add", self, _scaled(graph, graph.op("Mul", one, two), value))


@aten("addcdiv")
def _addcdiv(graph, self, tensor1, tensor2, value=1):
    self, one, two = computed(graph, self, tensor1, tensor2)
    return graph.op("Add", self, _scaled(graph, graph.op("Div", one, two), value))


@aten("lerp")
def _lerp(graph, self, end, weight):
    self, end, weight = computed(graph, self, end, weight)
    return graph.op("Add", self, graph.op("Mul", graph.op("Sub", end, self), weight))


@aten("clamp")
def _clamp(graph, self, min=None, max=None):
    self, *_ = computed(graph, self)
    for kind, bound in (("Max", min), ("Min", max)):
        if bound is not None:
            self = graph.op(kind, self, graph.number(bound, self.dtype))
    return self


@aten("clamp_min")
def _clamp_min(graph, self, min):
    return _clamp(graph, self, min)


@aten("clamp_max")
def _clamp_max(graph, self, max):
    return _clamp(graph, self, None, max)


# -- functions of one number that are made of others --------------------------------------------------------------------


def _made(name, write):
    def function(graph, self):
        return write(graph, graph.cast(self, graph.outs[0].dtype), lambda value: constant(value, graph.outs[0].dtype))
    aten(name)(function)


_made("square", lambda g, x, c: g.op("Mul", x, x))
_made("rsqrt", lambda g, x, c: g.op("Reciprocal", g.op("Sqrt", x)))
_made("exp2", lambda g, x, c: g.op("Pow", c(2), x))
_made("expm1", lambda g, x, c: g.op("Sub", g.op("Exp", x), c(1)))
_made("log1p", lambda g, x, c: g.op("Log", g.op("Add", x, c(1))))
_made("log2", lambda g, x, c: g.op("Div", g.op("Log", x), c(math.log(2))))
_made("log10", lambda g, x, c: g.op("Div", g.op("Log", x), c(math.log(10))))
_made("erfc", lambda g, x, c: g.op("Sub", c(1), g.op("Erf", x)))
_made("frac", lambda g, x, c: g.op("Sub", x, _trunc(g, x)))
_made("deg2rad", lambda g, x, c: g.op("Mul", x, c(math.pi / 180)))
_made("rad2deg", lambda g, x, c: g.op("Mul", x, c(180 / math.pi)))
_made("sinc", lambda g, x, c: g.where(g.op("Equal", x, c(0), dtype=dtypes.bool), c(1), g.op("Div", g.op("Sin", g.op("Mul", x, c(math.pi))),
                                                                                           g.op("Mul", x, c(math.pi)))))


def _trunc(graph, x):
    return graph.op("Mul", graph.op("Sign", x), graph.op("Floor", graph.op("Abs", x)))


@aten("trunc")
def _truncated(graph, self):
    return _trunc(graph, self) if self.dtype.is_floating_point else self


@aten("round")
def _round(graph, self, decimals=0):
    if not self.dtype.is_floating_point:
        return self
    if not decimals:
        return graph.op("Round", self)
    scale = constant(10.0**decimals, self.dtype)
    return graph.op("Div", graph.op("Round", graph.op("Mul", self, scale)), scale)


@aten("logit")
def _logit(graph, self, eps=None):
    self, = computed(graph, self)
    if eps is not None:
        self = _clamp(graph, self, eps, 1 - eps)
    return graph.op("Log", graph.op("Div", self, graph.op("Sub", constant(1, self.dtype), self)))


@aten("atan2")
def _atan2(graph, self, other):
    y, x = computed(graph, self, other)
    zero = constant(0, x.dtype)
    below = graph.op("Less", y, zero, dtype=dtypes.bool)
    half = graph.where(below, constant(-math.pi, x.dtype), constant(math.pi, x.dtype))
    base = graph.op("Atan", graph.op("Div", y, x))
    made = graph.where(graph.op("Less", x, zero, dtype=dtypes.bool), graph.op("Add", base, half), base)
    origin = graph.op("And", graph.op("Equal", x, zero, dtype=dtypes.bool), graph.op("Equal", y, zero, dtype=dtypes.bool))
    return graph.where(origin, zero, made)


@aten("logaddexp")
def _logaddexp(graph, self, other):
    a, b = computed(graph, self, other)
    distance = graph.op("Neg", graph.op("Abs", graph.op("Sub", a, b)))
    return graph.op("Add", graph.op("Max", a, b), graph.op("Log", graph.op("Add", graph.op("Exp", distance), constant(1, a.dtype))))


@aten("hypot")
def _hypot(graph, self, other):
    a, b = computed(graph, self, other)
    return graph.op("Sqrt", graph.op("Add", graph.op("Mul", a, a), graph.op("Mul", b, b)))


# -- comparisons and logic ----------------------------------------------------------------------------------------------


def _comparison(name, kind, negated=False):
    def write(graph, self, other):
        pair = promoted(graph, self, other)
        if kind != "Equal":
            pair = ordered(graph, *pair)
        made = graph.op(kind, *pair, dtype=dtypes.bool)
        return graph.op("Not", made) if negated else made
    aten(name)(write)


for _name, _kind in {"eq": "Equal", "gt": "Greater", "ge": "GreaterOrEqual", "lt": "Less", "le": "LessOrEqual"}.items():
    _comparison(_name, _kind)
_comparison("ne", "Equal", negated=True)


def truth(graph, edge):
    """Whether an edge, or a number, is not zero."""
    if not isinstance(edge, Edge):
        return constant(bool(edge), dtypes.bool)
    return graph.cast(edge, dtypes.bool)


def _logic(name, kind, bitwise=None):
    def write(graph, self, other):
        if bitwise is not None and graph.outs[0].dtype is not dtypes.bool:
            since(graph, 18)
            return graph.op(bitwise, *computed(graph, self, other))
        return graph.op(kind, truth(graph, self), truth(graph, other), dtype=dtypes.bool)
    aten(name)(write)


for _name, _kind, _bitwise in (("and", "And", "BitwiseAnd"), ("or", "Or", "BitwiseOr"), ("xor", "Xor", "BitwiseXor")):
    _logic("logical_" + _name, _kind)
    _logic("bitwise_" + _name, _kind, _bitwise)
    _logic(f"__{_name}__", _kind, _bitwise)


@aten("logical_not")
def _logical_not(graph, self):
    return graph.op("Not", truth(graph, self), dtype=dtypes.bool)


@aten("bitwise_not")
def _bitwise_not(graph, self):
    if self.dtype is dtypes.bool:
        return graph.op("Not", self)
    since(graph, 18)
    return graph.op("BitwiseNot", self)


@aten("isnan")
def _isnan(graph, self):
    return graph.op("IsNaN", self, dtype=dtypes.bool)


@aten("isinf")
def _isinf(graph, self):
    return graph.op("IsInf", self, dtype=dtypes.bool)


@aten("isfinite")
def _isfinite(graph, self):
    return graph.op("Not", graph.op("Or", _isnan(graph, self), _isinf(graph, self), dtype=dtypes.bool), dtype=dtypes.bool)


@aten("nan_to_num")
def _nan_to_num(graph, self, nan=None, posinf=None, neginf=None):
    kind = jtensor.finfo(self.dtype)
    inf, zero = _isinf(graph, self), constant(0, self.dtype)
    above = graph.op("And", inf, graph.op("Greater", self, zero, dtype=dtypes.bool))
    made = graph.where(_isnan(graph, self), constant(nan or 0, self.dtype), self)
    made = graph.where(above, constant(kind.max if posinf is None else posinf, self.dtype), made)
    below = graph.op("And", inf, graph.op("Less", self, zero, dtype=dtypes.bool))
    return graph.where(below, constant(kind.min if neginf is None else neginf, self.dtype), made)


@aten("where")
def _where(graph, condition, self=None, other=None):
    if self is None:
        raise Refused("with a condition alone it answers a list")
    return graph.where(truth(graph, condition), *computed(graph, self, other))


@aten("masked_fill")
def _masked_fill(graph, self, mask, value):
    return graph.where(truth(graph, mask), graph.number(value, self.dtype), self)
