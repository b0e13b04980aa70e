"""`FileCheck`: a list of checks of a text, which it has to meet in their order.

Owns: the checks, where each of them is met, and the errors of those that are not. May not know: what wrote the text.
"""
import operator
import re
from dataclasses import dataclass
from typing import Any, Self

from ..base.errors import pybind_refusal
from ..base.highlighting import Found, quoted, shown

_TEXT = "(self: torch._C.FileCheck, arg0: str) -> torch._C.FileCheck"
_NUMBER = "typing.SupportsInt | typing.SupportsIndex"
_COUNT = (f"(self: torch._C.FileCheck, arg0: str, arg1: {_NUMBER}, arg2: bool) -> torch._C.FileCheck",
          f"(self: torch._C.FileCheck, str: str, count: {_NUMBER}, exactly: bool = False) -> torch._C.FileCheck")
_RUN = ("(self: torch._C.FileCheck, arg0: str) -> None", "(self: torch._C.FileCheck, arg0: torch._C.Graph) -> None",
        "(self: torch._C.FileCheck, checks_file: str, test_file: str) -> None",
        "(self: torch._C.FileCheck, checks_file: str, graph: torch._C.Graph) -> None")
_ASSERTION = (' INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/testing/file_check.cpp":{}, please report a bug to '
              "PyTorch. {}")
_KINDS = (("", ": "), ("-NEXT", ": "), ("-SAME", ": "), ("-NOT", ": "), ("-DAG", ": "), ("-COUNT", "-"), ("-SOURCE-HIGHLIGHTED", ": "),
          ("-REGEX", ": "))


@dataclass
class _Check:
    kind: str                   # what stands behind "CHECK"
    text: str
    count: int = 0

    def __str__(self):
        return f"CHECK{self.kind}{f'-{self.count}' if self.kind == '-COUNT' else ''}: {self.text}"


# -- finding ----------------------------------------------------------------------------------------------------------
# Texts are here as strings of bytes (latin-1), since places and what is shown are counted in bytes.


def _find(text, what, start, end=None):
    """Where it is, from a place on, whole before the end; -1 where it is not. Nothing is found at the beginning, wherever one looks."""
    return text.find(what, start, end) if what else 0 if end is None or end >= 0 else -1


def _must(text, what, start, check, end=None):
    place = _find(text, what, start, end)
    if place < 0:
        raise RuntimeError(Found(f"Expected to find {quoted(what)} but did not find it\nSearched string:\n"
                                 f"{shown(text, start, len(what))}{_from(check)}"))
    return place


def _must_not(text, what, start, end, check):
    place = _find(text, what, start, end)
    if place >= 0:
        around = shown(text, place, place + len(what))
        raise RuntimeError(Found(f"Expected to not find {quoted(what)} but found it\n{around}{_from(check)}"))


def _from(check):
    return "" if check is None else f"From {check}\n"


_OF_REGEX = (("unbalanced parenthesis|unterminated subpattern|nothing to repeat", "Mismatched '(' and ')' in regular expression"),
             ("unterminated character set", "Unexpected character within '[...]' in regular expression"),
             ("bad character range", "Invalid range in bracket expression."),
             ("end of pattern", "Invalid escape at end of regular expression"),
             ("invalid group reference", "Back-reference index exceeds current sub-expression count."),
             ("min repeat greater", "Invalid range in '{}' in regular expression"))


_CLASSES = {"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "d": "0-9", "digit": "0-9",
            "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "s": r"\s", "space": r"\s", "upper": "A-Z",
            "w": r"\w", "xdigit": "0-9A-Fa-f"}
_PART = re.compile(r"(?s)\\.|\[(?:\[:.*?:\]|\\.|[^\]\\])*\]|\$|\{|\(\?")


def _part(found):
    """A part of a regular expression of C++ as Python writes it."""
    part, rest = found[0], found.string[found.end():]
    if part == "$":
        return r"\Z"                                             # of the text, with or without a line's end before it
    if part == "{" and not re.match(r"\d+(,\d*)?\}", rest):
        sort = "Mismatched '{' and '}'" if re.match(r"\d+(,\d*)?$", rest) else "Invalid range in '{}'"
        sort = sort if found.start() else "Mismatched '(' and ')'"
        raise RuntimeError(f"{sort} in regular expression")
    if part == "(?" and rest[:1] not in tuple(":=!"):
        raise RuntimeError("Invalid '(?...)' zero-width assertion in regular expression")
    if part[0] == "[":
        if not set(re.findall(r"\[:(.*?):\]", part)) <= _CLASSES.keys():
            raise RuntimeError("Invalid character class.")
        return re.sub(r"\[:(.*?):\]", lambda one: _CLASSES[one[1]], part)
    return part


def _pattern(text):
    """A regular expression of C++ as one of Python's; what only Python has is refused."""
    try:
        return re.compile(_PART.sub(_part, text), re.ASCII)
    except re.error as error:
        raise RuntimeError(next((said for known, said in _OF_REGEX if re.search(known, str(error))), str(error))) from None


# -- groups of checks -------------------------------------------------------------------------------------------------


def _met(group, text, start):
    """(beginning, end) of where checks are met from a place on: of the one in the group, or of those whose order is free."""
    check = group[0]
    if check.kind == "-DAG":
        places = [(_must(text, one.text, start, one), len(one.text)) for one in group]
        return min(place for place, _ in places), max(place + size for place, size in places)
    return _MET[check.kind](check, text, start)


def _met_check(check, text, start):
    place = _must(text, check.text, start, check)
    return place, place + len(check.text)


def _met_same(check, text, start):
    place = _must(text, check.text, start, check)
    _must_not(text, "\n", start, place, check)
    return place, place + len(check.text)


def _met_next(check, text, start):
    line = _must(text, "\n", start, check) + 1
    place = _must(text, check.text, line, check)
    _must_not(text, "\n", line, place, check)
    return place, place + len(check.text)


def _met_count(check, text, start):
    if not check.count:
        raise RuntimeError("check.count_ && *check.count_ != 0" + _ASSERTION.format(483, ""))
    places = []
    for _ in range(check.count):
        places.append(_must(text, check.text, start, check))
        start = places[-1] + len(check.text)
    return min(places), start


def _met_regex(check, text, start):
    found = _pattern(check.text).search(text[start:])
    if found is None:
        raise RuntimeError(Found(f"Expected to find regex {quoted(check.text)} but did not find it\nSearched string:\n{_from(check)}"))
    return found.start(), found.start() + len(check.text)        # as PyTorch has it: counted from `start`, and the expression's letters


def _met_highlighted(check, text, start):
    """Whether tildes stand below it in the next line, and no more than it is long. What comes next is looked for from `start` on."""
    at, what = start, check.text

    def lacking(place):
        return RuntimeError(Found(f"Expected to find {quoted(what)}highlighted but it is not.\n{shown(text, place, len(what))}"))

    while (place := _find(text, what, at)) >= 0 and at < len(text):
        below, column = text.find("\n", place) + 1, place - (text.rfind("\n", 0, place) + 1)
        low, high = below + column, min(below + column + len(what), len(text))
        if not below or high >= len(text):
            raise lacking(place)
        if text[low:high] == "~" * (high - low):
            _must_not(text, "~", low - 1, low, check)
            _must_not(text, "~", high, high + 1, check)
            return start, start
        at = place + 1
    if at == start:
        _must(text, what, start, check)
    raise lacking(start)


_MET = {"": _met_check, "-SAME": _met_same, "-NEXT": _met_next, "-COUNT": _met_count, "-REGEX": _met_regex,
        "-SOURCE-HIGHLIGHTED": _met_highlighted}


def _all_met(groups, text):
    """Goes through the groups; what must not be there must not between the one before and the one after."""
    end, forbidden = 0, ()
    for group in groups:
        if group[0].kind == "-NOT":
            forbidden = group
            continue
        low, high = _met(group, text, end)
        for one in forbidden if low >= end else ():
            _must_not(text, one.text, end, low, one)
        end, forbidden = high, ()
    for one in forbidden:
        _must_not(text, one.text, end, len(text) + 1, one)


# -- checks that are written in comments ------------------------------------------------------------------------------


def _next_check(text, start):
    """Where the word CHECK of the next comment ends; -1 where there is none."""
    while (start := text.find("#", start)) >= 0:
        blanks = re.compile(r"[ \t]{0,6}").match(text, start + 1).end()
        if text.startswith("CHECK", blanks):
            return blanks + 5
        start = blanks + 1
    return -1


def _number(text):
    """The number at the beginning of a text."""
    found = re.match(r"\s*([+-]?\d+)", text)
    if found is None:
        raise ValueError("stoll")
    if not -2 ** 63 <= int(found[1]) < 2 ** 63:
        raise IndexError("stoll")
    return int(found[1]) % 2 ** 64


def _written(text):
    """The checks that the comments of a text say, each (kind, text, count, exactly)."""
    start = _next_check(text, 0)
    while start >= 0:
        kind = next(((kind, sign) for kind, sign in _KINDS if text.startswith(kind + sign, start)), None)
        if kind is None:
            raise RuntimeError(Found(f"Could not parse check at:\n{shown(text, start, start + 1)}Check for bad input."))
        begin, count, exactly = start + len(kind[0] + kind[1]), 0, False
        line = text.find("\n", begin)
        if kind[0] == "-COUNT":
            exactly = text.startswith("EXACTLY-", begin)
            begin += 8 * exactly
            colon = _must(text, ":", begin, None, len(text) if line < 0 else line)
            count, begin = _number(text[begin:colon]), colon + 2
        yield kind[0], text[begin:] if line < begin else text[begin:line], count, exactly
        start = -1 if line < 0 else _next_check(text, line)


# -- the object -------------------------------------------------------------------------------------------------------


def _bytes(value):
    """A text as a string of its bytes, None for what is none."""
    return value.encode().decode("latin-1") if isinstance(value, str) else bytes(value).decode("latin-1") \
        if isinstance(value, bytes | bytearray) else None


class FileCheck:
    """Checks of a text, met in their order: ``FileCheck().check("a").check_not("b").run(text)``.

    Each method adds a check and returns the object. RuntimeError where the text does not meet them, with the place.
    An object that goes away without having been run says so.

    >>> from jtensor.testing import FileCheck
    >>> FileCheck().check("conv").check_next("relu").check_count("linear", 2, exactly=True).run("conv\\nrelu\\nlinear linear")
    >>> FileCheck().check("conv").check_not("relu").run("conv\\nrelu\\n")
    Traceback (most recent call last):
    RuntimeError: Expected to not find "relu" but found it
    conv
    relu
    ~~~~ <--- HERE
    From CHECK-NOT: relu
    <BLANKLINE>
    """

    __module__ = "torch"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._groups, self._has_run = [], True
        if args or kwargs:
            raise pybind_refusal("__init__", ["torch._C.FileCheck()"], args, kwargs, "constructor")
        self._has_run = False

    def _add(self, kind, text, count=0):
        if kind in ("-NOT", "-DAG") and self._groups and self._groups[-1][0].kind == kind:
            self._groups[-1].append(_Check(kind, text, count))
        else:
            self._groups.append([_Check(kind, text, count)])
        self._has_run = False
        return self

    def _told(self, name, kind, args, kwargs):
        text = _bytes(args[0]) if len(args) == 1 and not kwargs else None
        if text is None:
            raise pybind_refusal(name, [_TEXT], (self, *args), kwargs)
        return self._add(kind, text)

    def check(self, *args: Any, **kwargs: Any) -> Self:
        """The text has to come after what the check before has found."""
        return self._told("check", "", args, kwargs)

    def check_not(self, *args: Any, **kwargs: Any) -> Self:
        """The text must not come between the check before and the one after."""
        return self._told("check_not", "-NOT", args, kwargs)

    def check_same(self, *args: Any, **kwargs: Any) -> Self:
        """The text has to come in the line in which the check before ended."""
        return self._told("check_same", "-SAME", args, kwargs)

    def check_next(self, *args: Any, **kwargs: Any) -> Self:
        """The text has to come in the line after the one in which the check before ended."""
        return self._told("check_next", "-NEXT", args, kwargs)

    def check_dag(self, *args: Any, **kwargs: Any) -> Self:
        """The text has to come; several of these checks in a row may be met in any order."""
        return self._told("check_dag", "-DAG", args, kwargs)

    def check_regex(self, *args: Any, **kwargs: Any) -> Self:
        """The regular expression has to match after what the check before has found.

        As in PyTorch, what comes next is looked for as if this check had come first, and the match had the expression's length.
        """
        return self._told("check_regex", "-REGEX", args, kwargs)

    def check_source_highlighted(self, *args: Any, **kwargs: Any) -> Self:
        """The text has to come with ``~~~`` below it. What comes next is looked for from the same place on."""
        return self._told("check_source_highlighted", "-SOURCE-HIGHLIGHTED", args, kwargs)

    def check_count(self, *args: Any, **kwargs: Any) -> Self:
        """``check_count(str, count, exactly=False)``: the text has to come that many times; with `exactly` not once more."""
        given = dict(zip(("str", "count", "exactly"), args, strict=False))
        fits = len(args) <= 3 and not given.keys() & kwargs.keys() and (given := given | kwargs).keys() <= {"str", "count", "exactly"}
        text, exactly = _bytes(given.get("str")), given.get("exactly", False)
        try:
            count = operator.index(given.get("count"))
        except TypeError:
            count = -1
        if not fits or text is None or not 0 <= count < 2 ** 64 or not (exactly is None or hasattr(exactly, "__bool__")):
            raise pybind_refusal("check_count", _COUNT, (self, *args), kwargs)
        if not count and not exactly:
            raise RuntimeError("count != 0 || exactly" + _ASSERTION.format(604, "Count == 0 && !exactly doesn't do anything"))
        if count:
            self._add("-COUNT", text, count)
        return self._add("-NOT", text) if exactly else self

    def run(self, *args: Any, **kwargs: Any) -> None:
        """``run(text)`` looks whether a text meets the checks; ``run(checks_file, test_file)`` also those that comments of another say.

        Such a comment is ``# CHECK: text``, ``# CHECK-NEXT: text``, ``# CHECK-COUNT-2: text`` or ``# CHECK-COUNT-EXACTLY-2: text``.
        """
        given = dict(zip(("checks_file", "test_file"), args, strict=False)) | kwargs
        texts = [_bytes(value) for value in given.values()]
        two = len(args) + len(kwargs) == 2 and given.keys() == {"checks_file", "test_file"}
        if None in texts or not (two or len(args) == 1 and not kwargs):
            raise pybind_refusal("run", _RUN, (self, *args), kwargs)
        try:
            self._run(*(texts if not two else (_bytes(given["checks_file"]), _bytes(given["test_file"]))))
        except RuntimeError as error:
            if error.args and isinstance(error.args[0], Found):
                raise RuntimeError(str(error).encode("latin-1").decode(errors="replace")) from None
            raise

    def _run(self, *texts):
        if len(texts) == 2:
            try:
                for kind, text, count, exactly in _written(texts[0]):
                    self._add(kind, text, count)
                    if exactly:
                        self._add("-NOT", text)
            except RuntimeError as error:
                self._has_run = str(error).startswith("Could not parse")
                raise
        self._has_run = True
        if not self._groups:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        _all_met(self._groups, texts[-1])

    def __del__(self):
        if not self._has_run:
            said = "".join(f"\t{check}\n" for group in self._groups for check in group).encode("latin-1").decode(errors="replace")
            print(f"You have not run this instance of FileCheck!\nFileCheck checks:\n{said}", end="")
