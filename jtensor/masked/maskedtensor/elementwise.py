"""Operators that go element by element: on the data, under the mask that all masked operands must have in common.

Owns: their names and rules. May not know: who asks.
"""
import jtensor

from .core import data_of, is_masked_tensor, mapped, mask_of, masks_match, tensors_match, wrapped

UNARY = """abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not ceil clamp clip
    conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit i0 isnan
    nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt square tan tanh
    trunc""".split()
BINARY = """add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div divide floor_divide fmod
    logaddexp logaddexp2 mul multiply nextafter remainder sub subtract true_divide eq ne le ge greater greater_equal gt less_equal lt
    less maximum minimum fmax fmin not_equal""".split()
UNARY_IN_PLACE = [f"{name}_" for name in UNARY if name not in ("angle", "positive", "signbit", "isnan")]
BINARY_IN_PLACE = [f"{name}_" for name in BINARY if name not in ("logaddexp", "logaddexp2", "fmin", "minimum", "maximum", "fmax")]


def _result(func, args, result, mask):
    """An operator's answer: a new masked tensor, or the first operand with what was computed."""
    if func.__name__.endswith("_"):
        args[0]._set_data_mask(result, mask_of(args[0]))
        return args[0]
    return wrapped(result, mask)


def unary(func, *args, **kwargs):
    """A function of one masked tensor, of sparse ones of their elements; further arguments are numbers."""
    if kwargs:
        raise ValueError("MaskedTensor unary ops require that len(kwargs) == 0. If you need support for this, please open an issue on "
                         "Github.")
    if any(map(jtensor.is_tensor, args[1:])):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    data, *rest = mapped(args, {}, data_of)[0]
    data = data.coalesce() if data.layout == jtensor.sparse_coo else data
    return _result(func, args, _of_elements(data, lambda values: func(values, *rest)), mask_of(args[0]))


def _of_elements(data, function):
    """A tensor in the layout of ``data`` that has ``function(elements)`` where this has elements."""
    if data.layout == jtensor.sparse_coo:
        return jtensor.sparse_coo_tensor(data.indices(), function(data.values()), size=data.size())
    if data.layout == jtensor.sparse_csr:
        return jtensor.sparse_csr_tensor(data.crow_indices(), data.col_indices(), function(data.values()), data.size())
    return function(data)


def _elements_of_both(left, right):
    """The elements of the second of two sparse tensors with theirs at the same places."""
    kind = "sparse_coo" if left.layout == jtensor.sparse_coo else "sparse_csr"
    places = ("indices",) if kind == "sparse_coo" else ("crow_indices", "col_indices")
    if not all(tensors_match(getattr(left, name)(), getattr(right, name)()) for name in places):
        raise ValueError(f"{kind} indices must match. If you need support for this, please open an issue on Github.")
    if kind == "sparse_coo" and left.size() != right.size():
        raise ValueError("input1 and input2 must have the same size for binary functions.")
    return right.values()


def binary(func, *args, **kwargs):
    """A function of a masked tensor and another, an ordinary one or a number."""
    if kwargs:
        raise ValueError("len(kwargs) must equal 0")
    if any(map(jtensor.is_tensor, args[2:])):
        raise TypeError("MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs")
    if not masks_match(*args[:2]):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    left, right, *rest = mapped(args, {}, data_of)[0]
    if left.layout != jtensor.strided and jtensor.is_tensor(right) and right.layout == left.layout:
        right = _elements_of_both(left, right)
    result = _of_elements(left, lambda values: func(values, right, *rest))
    mask = mask_of(args[0] if is_masked_tensor(args[0]) else args[1])
    if left.layout == jtensor.strided and not func.__name__.endswith("_"):
        mask = mask.expand_as(result)
    return _result(func, args, result, mask)
