"""Elementwise operations of sparse tensors: sums, products, and the functions that take 0 to 0.

Owns: these entries of the table, with their gradients. Where places meet is worked out by `patterns`.
"""
import numbers

import numpy as np

import jtensor

from ..base.dtypes import scalar_name
from ..ops.families.arithmetic import check_subtraction
from ..tensor.creating.from_data import from_host
from .answering import COORDINATES, answers
from .graph import assembled, at_places, coalesced, conjugate, elements_of, is_recorded, merged_elements, recorded, wants
from .patterns import Pattern, of_numbers
from .refusals import refused
from .replacing import before, given, holds, replace
from .tensors import is_sparse, sparse

# -- functions of each element -----------------------------------------------------------------------------------------

# PyTorch adds up what falls on one place before it computes these.
ZERO_TO_ZERO = """
    abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf log1p nan_to_num rad2deg relu round sgn
    sign signbit sin sinh sqrt square tan tanh trunc""".split()


def _unary(name):
    function = getattr(jtensor, name)

    def of_sparse(input, *args, out=None, **options):
        x = coalesced(input)
        values = function(elements_of(x), *args, **options)
        node = values.grad_fn
        return given(out, assembled(x._pattern, values, True, "" if node is None else node.name()))

    def in_place(input, *args, **options):
        if not input._coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input")
        return replace(input, of_sparse(before(input), *args, **options))
    answers(name)(of_sparse)
    answers(name + "_")(in_place)


for _name in ZERO_TO_ZERO:
    _unary(_name)
OLDER = {"arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "fix": "trunc", "absolute": "abs"}
for _old, _new in OLDER.items():
    for _ending in ("", "_"):
        answers(_old + _ending)(COORDINATES.table[_new + _ending])


@answers("nn.functional.relu")
def relu(input, inplace=False):
    return COORDINATES.table["relu_" if inplace else "relu"](input)


@answers("neg", "negative")
def neg(input, *, out=None):
    """``-input``, element by element as they are kept."""
    return given(out, recorded("NegBackward0", sparse(input._pattern, -input._elements, input._coalesced), [input], lambda g: (-g,)))


@answers("neg_", "negative_")
def neg_(input):
    return replace(input, neg(before(input)))


@answers("pow")
def power(input, exponent, *, out=None):
    """``input ** exponent`` for a positive number."""
    if not is_sparse(input) or isinstance(exponent, jtensor.Tensor) and exponent.ndim:
        raise refused("pow.Tensor_Tensor", (input, exponent))
    if not isinstance(exponent, jtensor.Tensor) and exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    x = coalesced(input)
    return given(out, assembled(x._pattern, elements_of(x) ** exponent, True, "PowBackward0"))


@answers("__pow__")
def power_by_operator(input, exponent):
    return power(input, exponent)


@answers("float_power")
def float_power(input, exponent):
    return power(input.to(jtensor.float64), exponent)


# -- with numbers ------------------------------------------------------------------------------------------------------


def is_number(x):
    return isinstance(x, numbers.Number) or isinstance(x, jtensor.Tensor) and not is_sparse(x) and x.ndim == 0


def _by_number(name, x, number, function, back):
    made = sparse(x._pattern, function(x._elements, _plain(number)), x._coalesced)
    return recorded(name, made, [x, number], lambda g: (
        back(g, number) if wants(x) else None,
        _number_gradient(x, number, g, function) if wants(number) else None), [x] if wants(number) else [])


def _number_gradient(x, number, grad, function):
    """The gradient of a number that every element is multiplied with, or divided by."""
    x = conjugate(x)
    product = jtensor.sparse.sum(coalesced(grad) * coalesced(x)) if is_sparse(grad) else jtensor.sparse.sum(x * grad)
    return product if function is jtensor.mul else -product / conjugate(number * number)


def _plain(x):
    return x.detach() if isinstance(x, jtensor.Tensor) else x


@answers("mul", "multiply", "__rmul__")
def mul(input, other, *, out=None):
    """The product: sparse, whichever of the two is dense."""
    x, y = (input, other) if is_sparse(input) and not (input.ndim == 0 and is_sparse(other)) else (other, input)
    if is_sparse(y) and y.ndim == 0 != x.ndim:                  # a number that happens to be kept as a sparse tensor
        y = y.to_dense()
    if is_number(y):
        return given(out, _by_number("MulBackward0", x, y, jtensor.mul, lambda g, n: g * conjugate(n)))
    if not isinstance(y, jtensor.Tensor):
        raise TypeError(f"mul(): argument 'other' (position 1) must be Tensor, not {type(y).__name__}")
    return given(out, _by_sparse(x, y) if is_sparse(y) else _by_dense(x, y))


def _by_dense(x, y):
    size = tuple(x.shape)
    if tuple(jtensor.broadcast_shapes(size, tuple(y.shape))) != size:
        raise RuntimeError(f"mul operation on a sparse tensor of size {list(size)} cannot be broadcast to the size of a dense tensor "
                           f"{list(y.shape)}")
    picked = at_places(y.detach().expand(size), x._pattern)
    made = sparse(x._pattern, x._elements * picked, x._coalesced)

    def pull(grad):
        of_y = None
        if wants(y):
            of_y = grad * conjugate(x)
            of_y = of_y if y.shape == x.shape else of_y.to_dense().sum_to_size(y.shape)
        return grad * conjugate(y) if wants(x) else None, of_y
    return recorded("MulBackward0", made, [x, y], pull, [x, y])


def _by_sparse(x, y):
    if x.shape != y.shape:
        raise RuntimeError(f"mul: expected 'self' and 'other' to have same sizes when both are sparse, but {list(x.shape)} != "
                           f"{list(y.shape)}")
    made = _product(x, y)
    return recorded("MulBackward0", made, [x, y], lambda g: (
        g * conjugate(y) if wants(x) else None, g * conjugate(x) if wants(y) else None), [x, y])


def _product(x, y):
    """Of two coalesced ones an element where both have one; else where one has, in its order, and zeros where the other has none."""
    if not x._nnz() or not y._nnz():
        pattern = x._pattern
        kind = jtensor.result_type(x, y)
        return sparse(Pattern(pattern.indices[:, :0], pattern.size), x._elements.new_zeros((0, *x.shape[pattern.sparse_dim:]), dtype=kind),
                      True)
    both = x._coalesced and y._coalesced
    by_first = both or y._coalesced or not x._coalesced and x._nnz() < y._nnz()
    first, second = (x, y) if by_first else (y, x)
    other, places = second._pattern.merged(), first._pattern
    values = first._elements * _picked(second, places)
    hits = None if other is places else places.hits(other)
    if both:
        if hits is None or hits.all():
            return sparse(places, values, True)
        keep = from_host(np.flatnonzero(hits))
        return sparse(Pattern(places.indices.index_select(1, keep), places.size), values.index_select(0, keep), True)
    if hits is not None and not hits.all():
        values = jtensor.where(from_host(hits).reshape(-1, *[1] * (values.ndim - 1)), values, 0)
    return sparse(places, values + 0, False)                                # PyTorch adds them up: of -0.0 becomes 0.0


def _picked(x, places):
    """The values of a sparse tensor at other places, without history."""
    return at_places(sparse(x._pattern.merged(), merged_elements(x), True), places)


def _check_divisor(kind, other):
    if not is_number(other):
        got = f"shape {list(other.shape)} for" if other.ndim else "a sparse"
        raise RuntimeError(f"Sparse {kind} requires a scalar or zero-dim dense tensor divisor (got {got} divisor)")


@answers("div", "divide", "true_divide")
def div(input, other, *, rounding_mode=None, out=None):
    """A sparse tensor divided by a number."""
    if not is_sparse(input):
        raise refused("reciprocal" if is_number(input) else "div.out", (input, other))
    _check_divisor("division", other)
    x = coalesced(input) if rounding_mode is not None else input
    return given(out, _by_number("DivBackward0" if rounding_mode is None else "DivBackward1", x, other,
                                  lambda v, n: jtensor.div(v, n, rounding_mode=rounding_mode),
                                  lambda g, n: g / conjugate(n) if rounding_mode is None else g * 0))


@answers("floor_divide", "__floordiv__")
def floor_divide(input, other, *, out=None):
    """The quotient rounded down, which has no gradient."""
    def pull(grad):
        raise RuntimeError("derivative for aten::floor_divide is not implemented")
    _check_divisor("floor division", other)
    made = div(input.detach(), other, rounding_mode="floor")
    return given(out, recorded("NotImplemented", made, [input], pull))


@answers("__rfloordiv__")
def floor_divided_by(input, other):
    return floor_divide(other, input)


@answers("__rtruediv__", "reciprocal")
def reciprocal(input, other=None):
    raise refused("reciprocal", (input,))


@answers("mul_", "multiply_")
def mul_(input, other):
    return _written(input, other, "mul")


@answers("div_", "divide_", "true_divide_")
def div_(input, other, *, rounding_mode=None):
    return _written(input, other, "div") if rounding_mode is None else \
        replace(input, div(before(input), other, rounding_mode=rounding_mode))


@answers("floor_divide_", "__ifloordiv__")
def floor_divide_(input, other):
    return replace(input, floor_divide(before(input), other))


def _written(input, other, name):
    """In place: values are multiplied where they lie, so that who shares them sees it."""
    if name == "mul" and not is_number(other):
        _check_product(jtensor.result_type(input, other), input, other)
    if not is_sparse(input):
        made = at_product(input, other) if name == "mul" else div(input, other)
        return input.copy_(made)
    if is_number(other) and not is_recorded(input, other):
        getattr(input._elements, name + "_")(other)
        input._counter.version += 1
        input._coalesced = input._coalesced and name != "mul"               # PyTorch forgets it then
        return input
    return replace(input, (mul if name == "mul" else div)(before(input), other))


def _check_product(kind, input, other):
    if is_sparse(input) and not is_sparse(other) and kind is not input.dtype:
        raise RuntimeError(f"dtype of values ({scalar_name(kind)}) must match dtype of sparse tensor ({scalar_name(input.dtype)})")
    holds(kind, input.dtype, "mul" if is_sparse(input) else "add")


def at_product(dense, other):
    return mul(dense, other).to_dense()


# -- sums --------------------------------------------------------------------------------------------------------------


@answers("add")
def add(input, other, *args, alpha=1, out=None):
    """``input + alpha * other``; of a dense and a sparse tensor a dense one."""
    if args:                                                       # PyTorch's first order: (input, alpha, other)
        other, alpha = args[0], other
    return given(out, _sum(input, other, alpha, "AddBackward0"))


@answers("sub", "subtract")
def sub(input, other, *, alpha=1, out=None):
    check_subtraction(input, other)
    return given(out, _sum(input, other, -alpha, "SubBackward0"))


@answers("__rsub__", "rsub")
def reversed_sub(input, other, alpha=1):
    check_subtraction(input, other)
    return _sum(other, input, -alpha, "RsubBackward0")


def _sum(x, y, alpha, name):
    if not is_sparse(y):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if not is_sparse(x):
        if not isinstance(x, jtensor.Tensor):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        made = _onto_dense(x.detach().clone(), y, alpha)
        made._counter.version = 0                                          # nobody else has seen it
    else:
        if x.shape != y.shape:
            raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(x.shape)} != {list(y.shape)}")
        made = _sparse_sum(x, y, alpha)
    return recorded(name, made, [x, y], lambda g: (
        g if wants(x) else None, g * conjugate(alpha) if alpha != 1 and wants(y) else g))


def _onto_dense(dense, x, alpha):
    """Adds a sparse tensor to a dense one without history, in place, element after element."""
    if tuple(dense.shape) != tuple(x.shape):
        raise RuntimeError(f"add: expected 'self' and 'other' to have same size, but self has size {list(dense.shape)} while other has "
                           f"size {list(x.shape)} (FYI: dense-sparse addition does not currently support broadcasting)")
    kind = jtensor.result_type(dense, x)
    if kind is not dense.dtype:
        dense = dense.to(kind)
    values = x._elements.to(kind)
    values = values if alpha == 1 else values * alpha
    if not x._pattern.nnz:
        return dense
    if not x._pattern.sparse_dim:
        return dense.add_(values.sum(0).to(kind))
    if kind is jtensor.bool:
        return dense.logical_or_(x.to(jtensor.int64).to_dense() > 0)
    if x._pattern.sparse_dim == 1:
        return dense.index_add_(0, x._pattern.flat(), values)
    return dense.index_put_(tuple(x._pattern.lines()), values, accumulate=True)


def _sparse_sum(x, y, alpha):
    kind = jtensor.result_type(x, y)
    a, b = x._elements.to(kind), y._elements.to(kind)
    b = b if alpha == 1 else b * alpha
    if not y._pattern.nnz:                             # nothing of it is looked at, not even how many of its dimensions are sparse
        return sparse(x._pattern, a.clone(), x._coalesced)
    if not x._pattern.nnz:
        return sparse(y._pattern, b.clone() if b is y._elements else b, y._coalesced)
    if x._pattern.sparse_dim != y._pattern.sparse_dim:
        raise RuntimeError(f"add: expected 'self' and 'other' to have same density, but 'self' has {x._pattern.sparse_dim} sparse "
                           f"dimensions while 'other' has {y._pattern.sparse_dim} sparse dimensions")
    both = x._coalesced and y._coalesced
    if not (a.is_contiguous() and b.is_contiguous()):
        indices = jtensor.cat([x._pattern.indices, y._pattern.indices], 1)
        return sparse(Pattern(indices, x._pattern.size), jtensor.cat([a, b]))
    if x._pattern is y._pattern or np.array_equal(x._pattern.numbers(), y._pattern.numbers()):
        return sparse(x._pattern, a + b, both)
    return _merged_sum(x._pattern, y._pattern, a, b, both)


def _merged_sum(first, second, a, b, both):
    """Two lists of places become one, whose heads are compared in turn: where they are equal, the values are added."""
    mine, theirs = first.numbers(), second.numbers()
    if both:
        numbers = np.union1d(mine, theirs)
        at_first, at_second = np.searchsorted(numbers, mine), np.searchsorted(numbers, theirs)
    else:
        numbers, at_first, at_second = _by_heads(mine.tolist(), theirs.tolist())
    made = jtensor.zeros((len(numbers), *a.shape[1:]), dtype=a.dtype, device=a.device)
    made = made.index_copy(0, from_host(at_first), a)
    made = made.index_add(0, from_host(at_second), b) if a.dtype is not jtensor.bool else \
        made.logical_or(jtensor.zeros_like(made).index_copy(0, from_host(at_second), b))
    return sparse(of_numbers(numbers, first.size), made, both)


def _by_heads(mine, theirs):
    numbers, at_first, at_second = [], [], []
    i = j = 0
    while i < len(mine) or j < len(theirs):
        turn = 0 if i == len(mine) else 1 if j == len(theirs) else mine[i] - theirs[j]
        from_first = j == len(theirs) or i < len(mine) and turn <= 0
        from_second = i == len(mine) or j < len(theirs) and turn >= 0
        if from_first:
            numbers.append(mine[i])
            at_first.append(len(numbers) - 1)
            i += 1
        if from_second:
            if not from_first:
                numbers.append(theirs[j])
            at_second.append(len(numbers) - 1)
            j += 1
    return np.array(numbers, np.int64), np.array(at_first, np.int64), np.array(at_second, np.int64)


@answers("add_")
def add_(input, other, *args, alpha=1):
    if args:
        other, alpha = args[0], other
    return _added(input, other, alpha, "AddBackward0")


@answers("sub_", "subtract_")
def sub_(input, other, *, alpha=1):
    check_subtraction(input, other)
    return _added(input, other, -alpha, "SubBackward0")


def _added(input, other, alpha, name):
    kind = jtensor.result_type(input, other)
    if is_sparse(other):
        holds(kind, input.dtype, "add")
    if is_sparse(input):
        return replace(input, _sum(before(input), other, alpha, name))
    if is_recorded(input, other):
        return input.copy_(_sum(input, other, alpha, name))
    if kind is not input.dtype:
        return input.copy_(_onto_dense(input.to(kind), other, alpha))
    _onto_dense(input, other, alpha)
    return input
