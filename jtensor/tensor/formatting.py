"""The numbers of a printed tensor: from one NumPy array to PyTorch's text between the parentheses.

Owns: the print options, the choice between whole, fixed and scientific notation, columns, line breaks and the dots of a summary.
May not know: tensors, JAX. Everything here is a function of a NumPy array and the options.

PyTorch measures the columns on the numbers it shows, and only on the finite ones that are not zero; so does this room. The array is cut
down to what is shown first, hence a large tensor costs no more than a small one.
"""
import contextlib
import dataclasses
import itertools
import math
from typing import Any

import numpy as np


@dataclasses.dataclass
class PrintOptions:
    """What `set_printoptions` sets; ``sci_mode`` None lets the numbers decide."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()

_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Changes how tensors are printed, for the whole process.

    An option left out keeps its value, except ``sci_mode``, which every call sets (None: decided by the numbers). ``profile`` is one of
    ``"default"``, ``"short"``, ``"full"`` and comes before the other options; a name that is none of them changes nothing, as in PyTorch.

    Args: ``precision`` digits after the point, ``threshold`` number of elements above which a tensor is summarised, ``edgeitems`` elements
    shown at each end of a summarised dimension, ``linewidth`` characters a line, ``sci_mode`` True or False for always or never.

    >>> from jtensor.tensor.formatting import array_text, set_printoptions
    >>> set_printoptions(precision=1)
    >>> array_text(np.array([0.25, 10.0]))
    '[ 0.2, 10.0]'
    >>> set_printoptions(profile="default")
    """
    chosen = dict(_PROFILES.get(profile, ())) if isinstance(profile, str) else {}
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen.update({name: value for name, value in given.items() if value is not None})
    for name, value in chosen.items():
        setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The print options as a dictionary that `set_printoptions` takes as keywords.

    >>> get_printoptions()["precision"]
    4
    """
    return dataclasses.asdict(OPTIONS)


@contextlib.contextmanager
def printoptions(**options):
    """`set_printoptions` inside a ``with`` block; the options are as before after it.

    >>> with printoptions(precision=2):
    ...     array_text(np.array([0.12345]))
    '[0.12]'
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


# -- texts of numbers --------------------------------------------------------------------------------------------------


def float_texts(numbers, counts=None):
    """Texts of Python floats, padded to one width, and that width.

    ``counts`` says for each number whether the notation and the width are chosen by it: by default the finite ones that are not zero.

    >>> float_texts([1.0, float("nan"), -20.0])
    (['  1.', ' nan', '-20.'], 4)
    """
    if counts is None:
        counts = [x - x == 0 and x != 0 for x in numbers]              # x - x is NaN for infinities and NaN
    style, point = _style(list(itertools.compress(numbers, counts)))
    texts = [format(x, style) for x in numbers]
    if point:
        texts = [text + "." if x - x == 0 else text for x, text in zip(numbers, texts, strict=True)]
    width = max(map(len, itertools.compress(texts, counts)), default=1)
    return [text.rjust(width) for text in texts], width


def _style(counted):
    """The format specification for a tensor with these numbers (those that count), and whether a point is to follow the digits."""
    if not counted:
        return ".0f", True
    sizes = list(map(abs, counted))
    highest, lowest = max(sizes), min(sizes)
    scientific = OPTIONS.sci_mode
    if scientific is None:
        # NaN counts in one type only (see number_texts), and no comparison with it holds
        scientific = not math.isnan(sum(sizes)) and (highest / lowest > 1000.0 or highest > 1.0e8 or lowest < 1.0e-4)
    if scientific:
        return f".{OPTIONS.precision}e", False
    if all(map(float.is_integer, counted)):
        return ".0f", True
    return f".{OPTIONS.precision}f", False


def exact_texts(values):
    """Texts of Python integers or booleans, padded to one width, and that width.

    >>> exact_texts([True, False])
    ([' True', 'False'], 5)
    """
    texts = list(map(str, values))
    width = max(map(len, texts), default=1)
    return [text.rjust(width) for text in texts], width


def complex_texts(numbers):
    """Texts of Python complex numbers and their width; each part has a notation of its own, and only the real parts are aligned.

    >>> complex_texts([1 - 2.5j, 10 + 0j])
    ([' 1.-2.5000j', '10.+0.0000j'], 11)
    """
    reals, real_width = float_texts([x.real for x in numbers])
    imaginaries, imaginary_width = float_texts([x.imag for x in numbers])
    texts = []
    for real, imaginary in zip(reals, imaginaries, strict=True):
        imaginary = imaginary.lstrip()
        texts.append(f"{real}{imaginary}j" if imaginary[0] == "-" else f"{real}+{imaginary}j")
    return texts, real_width + imaginary_width + 1


def number_texts(shown):
    """Texts of an array's elements in order, and the width of a column."""
    numbers = shown.ravel().tolist()
    kind = shown.dtype.kind
    if kind == "c":
        return complex_texts(numbers)
    if kind in "biu":
        return exact_texts(numbers)
    if shown.dtype.name == "float8_e8m0fnu":
        # a type without zero and infinity: PyTorch's tests take its smallest number for zero and its NaN for finite
        return float_texts(numbers, [x != 2.0**-127 for x in numbers])
    return float_texts(numbers)


# -- rows and brackets -------------------------------------------------------------------------------------------------


def array_text(array, indent=0):
    """The text of an array as PyTorch prints it; continuation lines are indented by ``indent`` and one for each open bracket.

    >>> print(array_text(np.array([[1.5, -2.0], [0.0, np.inf]])))
    [[ 1.5000, -2.0000],
     [ 0.0000,     inf]]
    """
    if array.size == 0:
        return "[]"
    edge, shown = None, array
    if array.size > OPTIONS.threshold and array.ndim:
        edge = OPTIONS.edgeitems
        if not edge:
            return "[...]"
        shown = edges(array, edge)
    texts, width = number_texts(shown)
    if array.ndim == 0:
        return texts[0]
    return _brackets(texts, array.shape, edge, width, indent)


def edges(array, edge):
    """The elements that a summary shows: of each dimension longer than ``2 * edge`` the first and the last ``edge`` ones.

    >>> edges(np.arange(9), 2)
    array([0, 1, 7, 8])
    """
    picks = [[*range(edge), *range(length - edge, length)] if length > 2 * edge else range(length) for length in array.shape]
    return array[np.ix_(*picks)]


def _brackets(texts, shape, edge, width, indent):
    """The texts of the shown elements as nested lists, with dots where a dimension of ``shape`` was cut to ``edge`` at both ends."""
    *outer, columns = _shown_lengths(shape, edge)
    row_indent = indent + len(outer)
    per_line = max(1, math.floor((OPTIONS.linewidth - row_indent) / (width + 2)))
    cut = columns < shape[-1]
    rows = [_row(texts[i:i + columns], edge if cut else None, per_line, row_indent) for i in range(0, len(texts), columns)]
    for axis in range(len(outer) - 1, -1, -1):
        length = outer[axis]
        gap = "," + "\n" * (len(outer) - axis) + " " * (indent + axis + 1)
        blocks = [rows[i:i + length] for i in range(0, len(rows), length)]
        if length < shape[axis]:
            for block in blocks:
                block.insert(edge, "...")
        rows = ["[" + gap.join(block) + "]" for block in blocks]
    return rows[0]


def _shown_lengths(shape, edge):
    return shape if edge is None else [2 * edge if length > 2 * edge else length for length in shape]


def _row(items, edge, per_line, indent):
    """One innermost list, broken into lines of ``per_line`` items; the dots count as an item."""
    if edge is not None:
        items.insert(edge, " ...")
    lines = [", ".join(items[i:i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
