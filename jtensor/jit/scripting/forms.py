"""The forms of operators as the compiler knows them: all those of tensors, and those of numbers, texts, lists and dictionaries.

The latter are in `schemas.txt`, made of PyTorch's (`tests/house/make_schemas.py`), in PyTorch's order, which is the one in which they are
tried. Owns: reading forms. May not know: which one a call is (`matching`).
"""
import functools
import re
from pathlib import Path

from . import kinds

MISSING = object()
_ALIAS = re.compile(r"(?<!Dict)(?<!Future)(?<!Await)(?<!RRef)\((?:[a-z*](?:[!|*a-z> -])*)\)")
_BASES = {"Scalar": kinds.NUMBER, "number": kinds.NUMBER, "SymInt": kinds.INT, "ScalarType": kinds.INT, "Layout": kinds.INT,
          "MemoryFormat": kinds.INT, "Tensor": kinds.TENSOR, "int": kinds.INT, "float": kinds.FLOAT, "bool": kinds.BOOL, "str": kinds.STR,
          "complex": kinds.COMPLEX, "Device": kinds.DEVICE, "Generator": kinds.GENERATOR, "Any": kinds.ANY, "NoneType": kinds.NONE}


class Argument:
    """``count``: of ``int[2]``, which one number may stand for; ``default``: `MISSING` if there is none."""

    __slots__ = ("name", "kind", "default", "kwarg_only", "count")

    def __init__(self, name, kind, default=MISSING, kwarg_only=False, count=None):
        self.name, self.kind, self.default, self.kwarg_only, self.count = name, kind, default, kwarg_only, count

    def has_default_value(self):
        """Whether it may be left out."""
        return self.default is not MISSING


class Form:
    """One form of an operator, or what a function or method takes. ``returns``: kinds; ``names`` of these; ``varied``: whether more
    arguments may follow; ``is_mutable``: whether it writes to one."""

    def __init__(self, name, arguments, returns, names=(), overload="", varied=False, is_mutable=False, text=None):
        self.name, self.arguments, self.returns, self.names = name, arguments, returns, names
        self.overload, self.varied, self.is_mutable, self.text = overload, varied, is_mutable, text

    def __str__(self):
        if self.text is not None:
            return self.text
        parts = [f"{one.kind.schema()} {one.name}" + (f"={_shown(one.default)}" if one.has_default_value() else "")
                 for one in self.arguments]
        return f"{self.name}({', '.join(parts)}) -> {_answers(self.returns[0])}"


def _answers(kind):
    text = kind.schema()
    return f"({text})" if text.startswith("(") else text


def _shown(value):
    from .. import text
    return text.number(value) if isinstance(value, float) else repr(value).replace("'", '"')


@functools.cache
def _lines():
    found = {}
    for path, space in ((Path(__file__).parent / "schemas.txt", ""), (Path(__file__).parents[1] / "schemas.txt", "aten::")):
        here = {}
        for line in path.read_text().splitlines():
            line = space + line
            here.setdefault(re.match(r"[\w:]+", line)[0], []).append(line)
        for name, lines in here.items():
            found.setdefault(name, lines)
    return found


@functools.cache
def of(name):
    """The `Form`s of an operator such as ``aten::add``; none if it is not known."""
    return [_read(line) for line in _lines().get(name, ())]


def every():
    """The names of all operators."""
    return _lines().keys()


def form(name, overload=""):
    """One form of an operator."""
    return next(one for one in of(name) if one.overload == overload)


def _read(line):
    head, _, tail = line.partition("(")
    inside, answers = _closed(tail)
    name, _, overload = head.partition(".")
    arguments, only, varied = [], False, False
    for part in _split(_ALIAS.sub("", inside)):
        if part == "*":
            only = True
        elif part == "...":
            varied = True
        else:
            arguments.append(_argument(part, only))
    answers = _ALIAS.sub("", answers.removeprefix(" -> "))
    returns = [] if answers in ("()", "...") else _split(answers[1:-1]) if answers.startswith("(") and answers.endswith(")") else [answers]
    found = [re.fullmatch(r"(.*?[^ ,])(?: (\w+))?", one) for one in returns]
    return Form(name, arguments, [_kind(one[1])[0] for one in found], tuple([one[2] for one in found if one[2]]), overload, varied,
                "!" in inside, line)


def _closed(text):
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[:at], text[at + 1:]
    raise ValueError(text)


def _split(text):
    """The parts between commas, but for those in brackets."""
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[last:at].strip())
            last = at + 1
    return [one for one in [*parts, text[last:].strip()] if one]


def _argument(text, only):
    head, equals, default = text.partition("=")
    written, _, name = head.rpartition(" ")
    kind, count = _kind(written)
    return Argument(name, kind, _default(default, kind, count) if equals else MISSING, only, count)


def _default(text, kind, count):
    if kind.name == "Optional" and text != "None":
        kind = kind.of[0]
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("["):
        return [_default(one, kind.of[0], None) for one in _split(text[1:-1])]
    if text.startswith(("'", '"')):
        return text[1:-1]
    value = float(text) if kind == kinds.FLOAT or any(mark in text for mark in ".e") or text in ("inf", "nan") else int(text)
    return [value] * (count or 1) if kind.name == "List" else value


_WORDS = {"None": None, "True": True, "False": False, "contiguous_format": 0, "strided": 0, "Mean": 1, "long": 4}


@functools.cache
def _kind(text):
    """(the kind that a schema means, the number in ``int[2]``)."""
    if text.endswith("?"):
        inner, count = _kind(text[:-1])
        return kinds.optional(inner), count
    listed = re.fullmatch(r"(.*)\[(\d*)\]", text)
    if listed:
        return kinds.listed(_kind(listed[1])[0]), int(listed[2]) if listed[2] else None
    if text.startswith("(") and text.endswith(")"):
        return kinds.paired(*[_kind(one)[0] for one in _split(text[1:-1])]), None
    inside = re.fullmatch(r"(\w+)\((.*)\)", text)
    if inside:
        return kinds.Kind(inside[1], [_kind(one)[0] for one in _split(inside[2])]), None
    return _BASES.get(text) or kinds.Kind(text), None


def is_variable(kind):
    """Whether it stands for any kind: ``t``, ``tKey``."""
    return kind.name[:1] == "t" and not kind.of and kind.what is None
