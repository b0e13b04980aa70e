"""A tensor's axes in another order, split and joined, as a pattern in einops' language says.

Owns: the language of the patterns, `rearrange`. May not know: other einops functions, which PyTorch does not have.

>>> axes, dotted = parse(" b (h w) ...")
>>> axes, dotted
([['b'], ['h', 'w'], '…'], True)
"""
import functools
import keyword
import math
import re
import warnings

import jtensor

DOTS = "…"


class DimensionBindError(Exception):
    """An axis's size does not agree with the pattern's sizes, or leaves some of them open."""

    __module__ = "functorch.dim"


# -- the language ---------------------------------------------------------------------------------------------------------


def parse(expression):
    """One side of a pattern: for each dimension the list of its axes, ``DOTS`` for an ellipsis; and whether it has one.

    An axis of length 1 without a name is a dimension without axes, and nothing within parentheses. ``ValueError`` for what is no side.
    """
    text, dotted = _with_dots(expression)
    dims, group, seen = [], None, set()
    for token in re.findall(r"[\w…]+|.", text, re.DOTALL):
        if token == "(":
            if group is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            group = []
        elif token == ")":
            if group is None:
                raise ValueError("Brackets are not balanced")
            dims.append(group)
            group = None
        elif token != " ":
            axes = _axes(token, seen)
            if group is not None:
                group += axes
            else:
                dims.append(DOTS if axes == [DOTS] else axes)
    if group is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{expression.replace('...', DOTS)}'")
    return dims, dotted


def _with_dots(expression):
    """The text with one sign for its ellipsis, and whether it has one."""
    if "." not in expression:
        return expression, False
    if "..." not in expression:
        raise ValueError("Expression may contain dots only inside ellipsis (...)")
    if expression.count("...") != 1 or expression.count(".") != 3:
        raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
    return expression.replace("...", DOTS), True


def _axes(word, seen):
    """What a word stands for: one axis, or none for the number 1."""
    odd = next((sign for sign in word if not (sign.isalnum() or sign in "_" + DOTS)), None)
    if odd or not (word[0].isalnum() or word[0] in "_" + DOTS):
        raise ValueError(f"Unknown character '{odd or word[0]}'")
    if word in seen:
        raise ValueError(f"Indexing expression contains duplicate dimension '{word}'")
    if word.isdecimal():
        if int(word) < 1:
            raise ValueError(f"Anonymous axis should have positive length, not {int(word)}")
        return [] if int(word) == 1 else [int(word)]
    seen.add(word)
    if word != DOTS:
        _check_name(word)
    return [word]


def _check_name(word):
    reason = "not a valid python identifier" if not word.isidentifier() else (
        "axis name should should not start or end with underscore" if "_" in (word[0], word[-1]) else None)
    if reason:
        raise ValueError(f"Invalid axis identifier: {word}\n{reason}")
    if keyword.iskeyword(word):
        warnings.warn(f"It is discouraged to use axes names that are keywords: {word}", RuntimeWarning, stacklevel=4)
    if word == "axis":
        warnings.warn("It is discouraged to use 'axis' as an axis name and will raise an error in future", FutureWarning, stacklevel=4)


@functools.lru_cache(256)
def _sides(pattern, *lengths):
    """Both sides of the pattern, checked against each other and the names (with their lengths' types) that are given."""
    try:
        left, right = pattern.split("->")
    except ValueError:
        raise ValueError("Pattern must contain a single '->' separator") from None
    if DOTS in dict(lengths):
        raise ValueError(f"'{DOTS}' is not an allowed axis identifier")
    (left, left_dots), (right, right_dots) = parse(left), parse(right)
    if right_dots and not left_dots:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if left_dots and DOTS not in left:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    for _, kind in lengths:
        if kind is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {kind}")
    names, others = _names(left), _names(right)
    if any(type(axis) is int for axis in names | others):
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if names ^ others:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {names ^ others}")
    if unknown := dict(lengths).keys() - names:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")
    return left, right


def _names(dims):
    return {axis for dim in dims for axis in dim}                        # `DOTS` is a dimension of one sign

# -- the tensor -----------------------------------------------------------------------------------------------------------


def rearrange(tensor, pattern, **axes_lengths):
    """The elements in the order that a pattern of einops names: axes permuted, split, joined, of length 1 added.

    ``tensor``: one, of any shape and type, or a list or tuple of them, which are stacked first. ``pattern``: "axes -> axes", where
    "(a b)" is one dimension of two axes, "1" or "()" one of length 1 and "..." all others. ``axes_lengths``: the lengths of axes that do
    not follow from the tensor's shape. A view where there is one. ``ValueError`` for what is no pattern or does not fit the number of
    dimensions, ``DimensionBindError`` for lengths that do not.

    >>> import jtensor as torch
    >>> torch.func.rearrange(torch.arange(6).view(1, 6), "a (b c) -> c (a b)", b=2)
    tensor([[0, 3],
            [1, 4],
            [2, 5]])
    """
    if not isinstance(tensor, jtensor.Tensor):
        tensor = jtensor.stack(tensor)
    left, right = _sides(pattern, *((name, type(length)) for name, length in axes_lengths.items()))
    _check_dims(left, tensor.ndim)
    if len(left) == 1 and left != [DOTS]:
        axes_lengths = _alone(left[0])
    sizes, numbers, summed = _axes_of(tensor.shape, left, axes_lengths)
    if not sizes or left == right == [DOTS]:
        return tensor
    groups = []                                                      # the numbers of the axes that make up each dimension of the result
    for dim in right:
        groups += [[number] for number in numbers[DOTS]] if dim == DOTS else [[number for axis in dim for number in numbers[axis]]]
    order = [number for group in groups for number in group] + summed
    shape = [math.prod(sizes[number] for number in group) for group in groups + [[number] for number in summed]]
    result = tensor.view(sizes).permute(order).reshape(shape)
    return result.sum(tuple(range(len(groups), len(shape)))) if summed else result


def _check_dims(left, ndim):
    if DOTS in left:
        count = sum(max(len(dim), 1) for dim in left) - 1
        if count > ndim:
            raise ValueError(f"Number of dimensions in pattern ({count}) must be less than or equal to the number of dimensions in the "
                             f"tensor ({ndim})")
    elif len(left) != ndim:
        raise ValueError(f"Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in the tensor ({ndim})")


def _alone(axes):
    """The lengths that count where a pattern has one dimension alone: none. PyTorch then takes its axes for as many indices."""
    if len(axes) > 1:
        raise ValueError(f"at least {len(axes)} indices were supplied but the tensor only has 1 dimensions")
    return {}


def _axes_of(shape, left, lengths):
    """The sizes of all axes, in order; the numbers that each name has among them; the numbers of those without a name.

    The latter are summed at the end, whatever their size is, as PyTorch does.
    """
    sizes, numbers, summed, shape = [], {}, [], list(shape)
    for place, dim in enumerate(left):
        if dim == DOTS:
            count = len(shape) - (len(left) - 1 - place)
            numbers[DOTS] = list(range(len(sizes), len(sizes) + count))
            sizes += [shape.pop(0) for _ in range(count)]
        elif dim:
            for number, axis in enumerate(dim, len(sizes)):
                numbers[axis] = [number]
            sizes += _split(shape.pop(0), [lengths.get(axis, -1) for axis in dim], len(sizes))
        else:
            summed.append(len(sizes))
            sizes.append(shape.pop(0))
    return sizes, numbers, summed


def _split(size, lengths, first):
    """The lengths of one dimension's axes, of which one may be open (-1). ``first``: the number of the first, for the errors' texts."""
    names = [f"d{number}" for number in range(first, first + len(lengths))]
    unknown = [index for index, length in enumerate(lengths) if length == -1]
    if len(unknown) > 1:
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {names[unknown[0]]} and {names[unknown[1]]}")
    known = math.prod(length for length in lengths if length != -1)
    if not unknown:
        if known != size:
            pack = f"({', '.join(names)}{',' * (len(names) == 1)})"
            raise DimensionBindError(f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack {pack}")
        return lengths
    if size % known:
        given = tuple("?" if length == -1 else length for length in lengths)
        raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {given}")
    return [size // known if length == -1 else length for length in lengths]


__all__ = ["rearrange"]
