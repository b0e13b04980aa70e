"""Functions of nested tensors that go element by element: those of the values, where the lengths are the same.

Owns: which functions these are, how two operands are brought together, PyTorch's errors where they do not fit, calls in place. May not
know: what the functions compute.
"""
import jtensor

from ..autograd.gradmode_checks import LEAF
from ..base.errors import missing
from ..tensor.core import Tensor
from ..trace.tape import LOCAL
from .answering import PASS, answers, unknown
from .graph import Passage, followed, joined, passed, wants
from .jagged import is_jagged
from .lengths import NestedInt
from .padding import padded, unpadded

# PyTorch's operators that are tagged as such, the other names of some, and functions that are made of them alone.
_NAMES = frozenset("""
    abs absolute acos arccos acosh arccosh add addcdiv addcmul angle asin arcsin asinh arcsinh atan arctan atan2 arctan2 atanh arctanh
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min clip
    conj_physical copysign cos cosh deg2rad digamma div divide true_divide elu eq erf erfc erfinv exp exp2 expm1 fill float_power floor fmax
    fmin fmod frac frexp gcd ge greater_equal gelu gt greater hardshrink hardsigmoid hardtanh heaviside hypot i0 igamma igammac isfinite
    isinf isnan isneginf isposinf isreal lcm ldexp le less_equal leaky_relu lerp lgamma log log10 log1p log2 logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logit lt less masked_fill maximum minimum mish mul multiply mvlgamma nan_to_num ne
    not_equal neg negative nextafter polygamma positive pow rad2deg reciprocal relu relu6 remainder round rsqrt rsub selu sgn sigmoid sign
    signbit silu sin sinc sinh softplus softshrink sqrt square sub subtract tan tanh threshold trunc fix xlogy fill zero
    special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_entr special_erf special_erfc
    special_erfcx special_erfinv special_exp2 special_expit special_expm1 special_i0 special_i0e special_i1 special_i1e special_log1p
    special_log_ndtr special_logit special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_ndtr special_ndtri special_psi special_digamma special_gammaln special_round
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc special_spherical_bessel_j0 special_xlog1py
    special_xlogy special_zeta""".split())
_DUNDERS = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not", "truediv": "div", "div": "div",
            "mod": "remainder", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
_BY_TENSOR = frozenset("add sub mul div eq ne gt lt ge le remainder fmod bitwise_and bitwise_or bitwise_xor xlogy copysign".split())
_MISFIT = "cannot call binary pointwise function {} with inputs of shapes {} and {}"


def _known(name):
    """(PyTorch's name of the operator, whether it is in place) of a function's name; None where it does not go element by element."""
    inplace = name.endswith("_") and not name.endswith("__")
    base = name.removeprefix("nn.functional.").replace("special.", "special_")
    base = base[:-1] if inplace else base
    if base.startswith("__"):
        base = base.strip("_")
        for prefix in ("", "r", "i"):
            plain = _DUNDERS.get(base.removeprefix(prefix), base.removeprefix(prefix))
            if plain in _NAMES and (not prefix or base.startswith(prefix)):
                return plain, prefix == "i"
    return (base, inplace) if base in _NAMES else None


def by_element(name, entry, args, kwargs):
    """What a function that no table has does: the same to the values, if it goes element by element."""
    known = _known(name)
    if known is None:
        if entry.key is None or entry.python:
            return PASS                                            # made of functions that are asked in their turn
        raise unknown(name)
    operator, inplace = known
    if operator in ("clamp", "clip") and any(is_jagged(given) for given in kwargs.values()):
        args, kwargs = (args[0], *[kwargs.get(limit, args[at] if at < len(args) else None) for at, limit in ((1, "min"), (2, "max"))]), {}
    for given in (*args, *kwargs.values()):
        if isinstance(given, NestedInt):
            raise RuntimeError(f"NestedTensor {_title(operator, args)}: invalid argument {given}")
    if kwargs.get("out") is not None:
        raise missing("out= of nested tensors", "the result")
    if any(is_jagged(given) for given in kwargs.values()):
        raise missing(f"nested tensors that are named in a call of {operator}", "the same by position")
    places = [at for at, given in enumerate(args) if isinstance(given, Tensor)]
    if len(places) > 2:
        raise unknown(operator)
    args = list(args)
    if inplace:
        return _in_place(operator, entry.original, places, args, kwargs)
    x = args[places[0]]
    if len(places) == 1:
        args[places[0]] = joined(x)
    else:
        x, *pair = together(_title(operator, args), *[args[at] for at in places])
        args[places[0]], args[places[1]] = pair
    return _followed(entry.original(*args, **kwargs), x)


def _followed(made, x):
    if isinstance(made, Tensor):
        return followed(made, x)
    if isinstance(made, tuple):
        known = {}
        return type(made)([followed(one, x, known=known) for one in made])
    return made


def _title(operator, args):
    return f"{operator}.{'Tensor' if operator in _BY_TENSOR else 'Tensor_Tensor' if operator == 'pow' else 'default'}"


def matches(x, size):
    """Whether a size agrees with a nested tensor's up to the dimension in which its parts differ; -1 agrees with anything."""
    end = x._ragged_idx + 1
    return len(size) >= end and all(mine == given or given == -1 for mine, given in zip(x._size[:end], size[:end], strict=True))


def together(title, a, b):
    """The nested one of two operands, and what stands for each of them in a function of the values."""
    if is_jagged(a) and is_jagged(b):
        if not matches(a, b._size):
            raise RuntimeError(_MISFIT.format(title, a._size, b._size))
        return a, joined(a), joined(b)
    x, dense = (a, b) if is_jagged(a) else (b, a)
    return (x, joined(x), _beside(title, x, dense, a, b)) if x is a else (x, _beside(title, x, dense, a, b), joined(x))


def _beside(title, x, dense, a, b):
    """What stands for a dense operand beside the values of a nested one."""
    if dense.dim() > x.dim():
        raise NotImplementedError("NYI: broadcasting NT with T with larger dim")
    leading = 0
    while leading < dense.dim() and dense.shape[leading] == 1:
        leading += 1
    if x.dim() >= dense.dim() - leading + 2:
        if not leading:
            return dense
        return passed("ViewBackward0", dense.detach().reshape(dense.shape[leading:]), dense, lambda grad: grad.reshape(dense.shape))
    if dense.dim() != x.dim() or dense.shape[0] != x.shape[0]:
        raise RuntimeError(_MISFIT.format(title, a.shape, b.shape))
    return spread(dense, x)


def spread(dense, x):
    """A dense tensor of a nested one's dimensions, with 1 or the longest length where that is ragged, as values of the same lengths."""
    total, longest = x._values.shape[x._ragged_idx - 1], x._maybe_max_seqlen
    count = total if longest is None else longest
    wide = [count if at == x._ragged_idx else length for at, length in enumerate(dense.shape)]

    def back(grad):
        whole = padded(joined(grad) if is_jagged(grad) else grad, x._offsets, 0, count, x._ragged_idx)
        return whole.sum_to_size(dense.shape)
    made = unpadded(dense.detach().expand(wide), x._offsets, total, x._ragged_idx)
    return passed("ExpandBackward0", made, dense, back)


# -- in place ----------------------------------------------------------------------------------------------------------


def _in_place(operator, original, places, args, kwargs):
    x = args[0]
    if not is_jagged(x):
        raise RuntimeError(_MISFIT.format(_title(operator + "_", args), tuple(x.shape), args[places[1]]._size))
    values = _to_write(x, *args[1:])
    args[0] = values
    if len(places) == 2:
        args[1] = together(_title(operator + "_", args), x, args[places[1]])[2]
    original(*args, **kwargs)
    return written(x, values)


_MADE_WITHOUT = ("A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is "
                 "ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either "
                 "both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to "
                 "be tracked).")


def _to_write(x, *others):
    if LOCAL.grad_enabled and any(map(wants, (x, *others))):
        if x._origin is not None and x._origin.alone:
            raise RuntimeError(_MADE_WITHOUT)
        if x._origin is not None:
            raise missing("recorded writes to a nested tensor that lies on another one's memory", "x + 1 in place of x.add_(1)")
        if x.requires_grad and x._edge is None:
            raise RuntimeError(LEAF)
    return joined(x)


def written(x, values):
    """A nested tensor whose `joined` values have been written to: it gets the history that they have got."""
    if values.requires_grad and values._edge is not None and not isinstance(values._edge[0], Passage):
        made = followed(values, x)
        x._edge, x._requires_grad = made._edge, True
    return x


@answers("zero_")
def zero_(self):
    values = _to_write(self)
    values.zero_()
    return written(self, values)


@answers("fill_")
def fill_(self, value):
    values = _to_write(self)
    values.fill_(value)
    return written(self, values)


@answers("copy_")
def copy_(self, src, non_blocking=False):
    if not is_jagged(src):
        raise ValueError("NestedTensor copy_default(self: jt_all, src: jt_all, non_blocking: any?): expected src to be a jagged layout "
                         "NestedTensor")
    if self._size != src._size and [c.shape for c in self.unbind()] != [c.shape for c in src.unbind()]:
        raise RuntimeError(f"copy_(): expected compatible input and src shapes, but got: {self.shape} and {src.shape}")
    values = _to_write(self, src)
    values.copy_(joined(src))
    return written(self, values)


@answers("apply_")
def apply_(self, callable):
    self._values.apply_(callable)
    return self


# -- three operands ----------------------------------------------------------------------------------------------------


@answers("where")
def where(condition, input=None, other=None, *, out=None):
    if isinstance(input, Tensor) and input.dtype is jtensor.bool and condition.dtype is not jtensor.bool:          # x.where(condition, y)
        condition, input = input, condition
    if input is None:
        raise unknown("nonzero")
    if out is not None:
        raise missing("out= of nested tensors", "the result")
    if not is_jagged(condition):
        raise ValueError("NestedTensor where_self(condition: jt_all, self: any, other: any): expected condition to be a jagged layout "
                         "NestedTensor")
    made = []
    for one in (input, other):
        if is_jagged(one):
            if not matches(condition, one._size):
                raise RuntimeError("The size of tensor a must match the size of tensor b: nested tensors of other lengths")
            one = joined(one)
        elif isinstance(one, Tensor) and one.dim() >= condition.dim():
            raise ValueError("broadcast_tensors(): broadcasting nested tensors with dense tensors of equal or higher dim is not currently "
                             "supported")
        made.append(one)
    return followed(jtensor.where(condition._values, *made), condition)


@answers("equal")
def equal(input, other):
    if not (is_jagged(input) and is_jagged(other) and matches(input, other._size)):
        sizes = [x._size if is_jagged(x) else tuple(x.shape) for x in (input, other)]
        raise RuntimeError(_MISFIT.format("equal.default", *sizes))
    return jtensor.equal(input._values, other._values)


@answers("addcmul", "addcdiv", "addcmul_", "addcdiv_")
def refused(*args, **kwargs):
    raise unknown("addcmul")

