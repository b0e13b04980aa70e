"""Einsum: the sum of products that an equation says, as one `bmm` for each pair of operands.

Owns: the two ways to write an equation, PyTorch's refusals, how indices become the rows, columns and batch of a product, and the order in
which more than two operands are multiplied. May not know: tensors as objects, but in composites.
"""
import contextlib
import math

from ...base.naming import type_name
from ..registry import composite
from .composing import only_tensors
from .products import bmm

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@composite(method=False)
def einsum(equation=None, *operands):
    """The sum of products that an equation like ``"bij,bjk->bik"`` says; ``...`` stands for dimensions that broadcast.

    >>> torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4)).shape
    torch.Size([2, 4])
    """
    if hasattr(equation, "_spec") and operands:
        equation, operands = _from_lists((equation, *operands))
    elif not operands:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts "
                         "list")
    elif not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(type(equation))}")
    elif len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts "
                         "list")
    only_tensors(operands, 1)
    terms, result = _parsed(equation, operands)
    labels, result = _labels(terms, result)
    sizes = _sizes(terms, operands, labels)
    aligned = [_aligned(t, term, labels) for t, term in zip(operands, terms, strict=True)]
    keep = len(result)
    return _reduced(aligned, labels, keep, sizes)


def _from_lists(arguments):
    """The form with a list of integers behind each operand, as an equation."""
    operands, parts = [], []

    def text(entries):
        if any(e is not Ellipsis and not 0 <= e < len(_LETTERS) for e in entries):
            raise ValueError(f"einsum(): subscript in subscript list is not within the valid range [0, {len(_LETTERS)})")
        return "".join("..." if e is Ellipsis else _LETTERS[e] for e in entries)
    at = 0
    while at + 1 < len(arguments):
        operands.append(arguments[at])
        parts.append(text(arguments[at + 1]))
        at += 2
    equation = ",".join(parts)
    return (equation + "->" + text(arguments[at]) if at < len(arguments) else equation), tuple(operands)


def _split(text, operand, before):
    """The labels of one operand (None: of the result), an ellipsis being one entry; so many characters of the equation stand ``before``."""
    labels, at = [], 0
    while at < len(text):
        c = text[at]
        if c == " ":
            pass
        elif c == "." and operand is None and "..." in labels:
            raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found")
        elif text.startswith("...", at):
            if "..." in labels:
                raise RuntimeError(f"einsum(): found '.' for operand {operand} for which an ellipsis was already found")
            labels.append("...")
            at += 2
        elif c == ".":
            raise RuntimeError("einsum(): found '.' for output that is not part of any ellipsis (...)" if operand is None else
                               f"einsum(): found '.' for operand {operand} that is not part of any ellipsis")
        elif c.isalpha() and c.isascii():
            labels.append(c)
        else:
            raise RuntimeError(f"einsum(): invalid subscript given at index {before + at} in the equation string, subscripts must be in "
                               "[a-zA-Z]")
        at += 1
    return labels


def _parsed(equation, operands):
    """Labels of each operand with ellipses written out as numbers (from the last dimension), and of the result (None: implicit)."""
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(texts) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    terms, most = [], 0
    for at, (text, t) in enumerate(zip(texts, operands, strict=True)):
        labels, n = _split(text, at, sum(len(one) + 1 for one in texts[:at])), t._spec.ndim
        if "..." in labels:
            spare = n - len(labels) + 1
            if spare < 0:
                raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(labels) - 1}) is more than the number of "
                                   f"dimensions ({n}) for operand {at}")
            most = max(most, spare)
            place = labels.index("...")
            labels[place:place + 1] = range(-spare, 0)
        elif len(labels) != n:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(labels)}) does not match the number of "
                               f"dimensions ({n}) for operand {at} and no ellipsis was given")
        terms.append(labels)
    if not arrow:
        return terms, (None, most)
    result = _split(right, None, len(left) + 2)
    if "..." in result:
        place = result.index("...")
        result[place:place + 1] = range(-most, 0)
    return terms, (result, most)


def _labels(terms, given):
    """All labels, those of the result first, and those of the result."""
    result, most = given
    counts = {}
    for term in terms:
        for label in term:
            counts[label] = counts.get(label, 0) + 1
    if result is None:
        result = [*range(-most, 0), *sorted(label for label, n in counts.items() if n == 1 and isinstance(label, str))]
    for at, label in enumerate(result):
        if label in result[:at]:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label not in counts:
            raise RuntimeError(f"einsum(): output subscript {label} does not appear in the equation for any input operand")
    rest = sorted((label for label in counts if label not in result), key=lambda x: (isinstance(x, str), x))
    return [*result, *rest], result


def _sizes(terms, operands, labels):
    sizes = dict.fromkeys(labels, 1)
    for at, (term, t) in enumerate(zip(terms, operands, strict=True)):
        own = {}
        for label, n in zip(term, t._spec.size, strict=True):
            if own.setdefault(label, n) != n:
                raise RuntimeError(f"einsum(): subscript {label} is repeated for operand {at} but the sizes don't match, "
                                   f"{n} != {own[label]}")
            if n != 1:
                if sizes[label] not in (1, n):
                    raise RuntimeError(f"einsum(): subscript {label} has size {n} for operand {at} which does not broadcast with "
                                       f"previously seen size {sizes[label]}")
                sizes[label] = n
    return sizes


def _aligned(t, term, labels):
    """A view of an operand with a dimension for every label (of size 1 where it has none); repeated labels become a diagonal."""
    term = list(term)
    for label in [x for i, x in enumerate(term) if x in term[:i]]:
        i = term.index(label)
        j = term.index(label, i + 1)
        t = t.diagonal(0, i, j)
        term = [x for d, x in enumerate(term) if d not in (i, j)] + [label]
    for label in labels:
        if label not in term:
            t = t.unsqueeze(t._spec.ndim)
            term.append(label)
    return t.permute(*[term.index(label) for label in labels])


def _path(operands, labels, keep):
    """The pairs to contract: from left to right, or as opt_einsum finds where there are more than two operands and it may."""
    n = len(operands)
    if n > 2:
        import jtensor
        names, choosing = _LETTERS[:len(labels)], jtensor.backends.opt_einsum
        if choosing.enabled and len(names) == len(labels):
            with contextlib.suppress(ImportError):
                find = choosing.get_opt_einsum().paths.get_path_fn(choosing.strategy)
                sizes = {c: max(t._spec.size[d] for t in operands) for d, c in enumerate(names)}
                inputs = [{c for d, c in enumerate(names) if t._spec.size[d] != 1 or sizes[c] == 1} for t in operands]
                return [tuple(sorted(p)) for p in find(inputs, set(names[:keep]), sizes)]
    return [(0, 1)] + [(left, 0) for left in range(n - 2, 0, -1)]      # a product stands behind the operands that are left


def _reduced(operands, labels, keep, sizes):
    """Contracts pairs; what only one operand has is summed before, what no other operand needs within the product."""
    total = len(labels)
    if len(operands) == 1:
        dims = tuple(range(keep, total))
        return operands[0].sum(dims) if dims else operands[0]
    for i, j in _path(operands, labels, keep):
        a, b = operands[i], operands[j]
        others = [t for at, t in enumerate(operands) if at not in (i, j)]
        done = []
        for d in range(keep, total):
            if any(t._spec.size[d] != 1 for t in others):
                continue
            x, y = a._spec.size[d], b._spec.size[d]
            if x == 1 and y == 1:
                continue
            if x != 1 and y != 1:
                done.append(d)
            elif x != 1:
                a = a.sum(d, keepdim=True)
            else:
                b = b.sum(d, keepdim=True)
        operands = others + [_pair(a, b, done)]
    result = operands[0]
    return result.view(tuple(result._spec.size[:keep])) if total > keep else result


def _pair(a, b, summed):
    """The product of two operands of as many dimensions, summed (and kept with size 1) over ``summed``: one `bmm`, or a plain product."""
    if not summed:
        return a * b
    x, y = a._spec.size, b._spec.size
    n = len(x)
    both = [d for d in range(n) if d not in summed and x[d] != 1 and y[d] != 1]
    left = [d for d in range(n) if d not in summed and x[d] != 1 and y[d] == 1]
    right = [d for d in range(n) if d not in summed and x[d] == 1]
    if left and right and right[-1] < left[0]:      # what only the second operand has comes first in the result: so it lies in memory, too
        a, b, x, y, left, right = b, a, y, x, right, left
    batch, rows, columns = ([sizes[d] for d in dims] for sizes, dims in ((x, both), (x, left), (y, right)))
    k = math.prod([x[d] for d in summed])
    p = a.permute(*both, *left, *summed, *right).reshape(math.prod(batch), math.prod(rows), k)
    q = b.permute(*both, *summed, *right, *left).reshape(math.prod(batch), k, math.prod(columns))
    made = bmm(p, q).view(*batch, *rows, *[1] * len(summed), *columns)
    come = [*both, *left, *summed, *right]
    return made.permute(*[come.index(d) for d in range(n)])
