"""`parse_schema`: reads a schema as PyTorch does, with its errors.

Owns: the words of the language, what a schema is made of. May not know: what is done with it. (`library.schema` reads those of operators
that users define, for what a call needs; what it does not know is an error there.)
"""
import functools
import re
from pathlib import Path
from typing import Any

from ..base import devices, dtypes
from ..base.errors import pybind_refusal
from ..base.highlighting import shown
from . import types
from .calls import CODES
from .schema_objects import NONE, Argument, FunctionSchema, _AliasInfo, faked

_KEYWORDS = frozenset("""False None True and as assert break class continue def del elif else for global if import in is not or pass raise
                         return while with""".split())
_WORD = re.compile(r"(?P<ident>[A-Za-z_]\w*)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)|"
                   r"(?P<string_literal>'(?:\\.|[^'\\\n])*'|"
                   r'"(?:\\.|[^"\\\n])*")|(?P<arrow>->)|(?P<dots>\.\.\.)|'
                   r"(?P<sign>[-+*/%@()\[\]:,={}><.?!&^|~])", re.ASCII)
_TYPES = ("\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full list, please "
          "see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :\n")
_NUMBERS = {"strided": 0, "Mean": 1, "contiguous_format": 0}
_OLDER = {"half": "float16", "float": "float32", "double": "float64", "cfloat": "complex64", "cdouble": "complex128", "short": "int16",
          "int": "int32", "long": "int64"}
_CONSTANTS = ("StringType", "OptionalType", "NumberType", "IntType", "BoolType", "FloatType", "ComplexType", "DeviceObjType", "SymIntType",
              "SymBoolType", "ScalarTypeType", "LayoutType", "MemoryFormatType")


class _Reader:
    """Goes through a text word by word. ``kind``, ``word``: of the one that is next; ``start``, ``end``: where it stands."""

    def __init__(self, text):
        self.text, self.end, self.depth, self.fresh = text, 0, 0, 0
        self.end = re.compile(r"\s*").match(text).end()
        self.next()

    def next(self):
        """Goes on to the next word; answers the one before."""
        before = self.__dict__.get("kind"), self.__dict__.get("word")
        text, place = self.text, self.end
        gap = re.compile(r"(?:[ \t\r]|#[^\n]*)*" if not self.depth else r"(?:\s|#[^\n]*)*").match(text, place).end()
        if gap == len(text) or not text[gap:].strip():
            self.kind, self.word, self.start, self.end = "eof", "", len(text), len(text)
            return before
        if text[gap] == "\n":
            end = re.compile(r"\s*\n").match(text, gap).end()
            self.kind, self.word, self.start, self.end = "indent" if text[end] in " \t" else "newline", "", gap, end
            return before
        found = _WORD.match(text, gap)
        if found is None:
            raise RuntimeError(f"expected a valid token but found '{text[place]}' here:\n{shown(text, place, place + 1)}")
        self.kind, self.word, self.start, self.end = found.lastgroup, found[0], *found.span()
        if self.kind == "sign" or self.word in _KEYWORDS:
            self.kind = self.word
        self.depth += (self.kind in ("(", "[", "{")) - (self.kind in (")", "]", "}"))
        return before

    def takes(self, kind):
        """Whether the next word is of a kind; if so, goes on."""
        found = self.kind == kind
        if found:
            self.next()
        return found

    def must(self, kind):
        """The next word, which has to be of a kind."""
        if self.kind != kind:
            raise RuntimeError(f"expected {kind} but found '{self.kind}' here:\n{shown(self.text, self.start, self.end)}")
        return self.next()[1]

    def error(self, message, span=None):
        return RuntimeError(f"{message}{shown(self.text, *(span or (self.start, self.end)))}")

    def several(self, opening, one, closing):
        """What stands between brackets, with commas."""
        self.must(opening)
        found = []
        if self.kind != closing:
            found.append(one())
            while self.takes(","):
                found.append(one())
        self.must(closing)
        return found


# -- types ------------------------------------------------------------------------------------------------------------


def _letters(reader):
    found = []
    while True:
        if reader.takes("*"):
            found.append("*")
        elif "*" not in found:
            found.append(reader.must("ident"))
        if not reader.takes("|"):
            return found


def _alias(reader):
    """What stands behind a type: ``(a!)``, ``(a -> *)``, ``!``; None where nothing does."""
    if reader.takes("!"):
        reader.fresh += 1
        return _AliasInfo(True, [f"${reader.fresh - 1}"], [])
    if not reader.takes("("):
        return None
    before = _letters(reader)
    write = reader.takes("!")
    after = _letters(reader) if reader.takes("arrow") else before
    reader.must(")")
    return _AliasInfo(write, before, after)


def _around(reader, inner):
    """The alias of a list, which holds that of its elements."""
    outer = _alias(reader)
    if inner is None:
        return outer
    if outer is None:
        outer = _AliasInfo(inner.is_write, [], [])
    outer._contained.append(inner)
    return outer


def _single(reader):
    """(a type before its marks, its alias)."""
    word = reader.word if reader.kind == "ident" else ""
    if reader.kind == "(":
        return types.made("TupleType", *reader.several("(", lambda: faked(_type(reader)[0]), ")")), None
    if word in ("Future", "Await", "RRef", "Dict", "Union"):
        reader.next()
        parts = reader.several("(", lambda: faked(_type(reader)[0]), ")")
        return types.made(f"{word}Type", *parts), _alias(reader) if word == "Dict" else None
    if reader.kind != "None":
        span = reader.start, reader.end
        reader.must("ident")
    else:
        word, _ = "None", reader.next()
    kind = types.plain(word) if word != "PyObject" else None
    if kind is None:
        if not (word[:1].islower() and reader.variables):
            raise reader.error(_TYPES, span)
        kind = types.variable(word)
    return kind, _alias(reader)


def _type(reader):
    """(a type, its alias), without a list of a fixed length."""
    kind, alias = _single(reader)
    while True:
        if reader.kind == "[" and re.compile(r"\s*\]").match(reader.text, reader.end):
            reader.next()
            reader.next()
            kind, alias = types.made("ListType", kind), _around(reader, alias)
        elif reader.takes("?"):
            kind = types.made("OptionalType", kind)
        else:
            return kind, alias


# -- defaults ---------------------------------------------------------------------------------------------------------


def _constant(reader, kind):
    if reader.kind in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[reader.next()[0]]
    if reader.kind == "string_literal":
        text = re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t", "r": "\r"}.get(one[1], one[1]), reader.next()[1][1:-1])
        return devices.device(text) if kind._kind == "DeviceObjType" else text
    if reader.kind == "ident":
        word = reader.next()[1]
        dtype = getattr(dtypes, _OLDER.get(word, word), None)
        if word in _NUMBERS:
            return _NUMBERS[word]
        if isinstance(dtype, dtypes.dtype) and dtype in CODES:
            return CODES.index(dtype)
        raise reader.error("\ninvalid numeric default value:\n")
    sign = "-" * reader.takes("-")
    text = sign + reader.must("number")
    try:
        if kind._kind == "ComplexType" or "j" in text:
            return complex(0, float(text[:-1]))
        return float(text) if kind._kind == "FloatType" or re.search("[.e]", text) else int(text)
    except ValueError:
        raise ValueError("stod") from None


def _default(reader, kind, count):
    sort, unsupported = kind._kind, reader.error("\nunexpected type, file a bug report:\n")
    if sort in ("TensorType", "GeneratorType", "QuantizerType"):
        reader.must("None")
        return None
    if sort == "ListType":
        inner, span = faked(kind._parts[0]), (reader.start, reader.end)
        if count is not None and reader.kind != "[":
            value = [_constant(reader, inner)] * count
        else:
            value = reader.several("[", lambda: _constant(reader, inner), "]")
        if inner._kind not in ("IntType", "FloatType", "ComplexType", "BoolType"):
            raise reader.error("\nlists are only supported for float, int and complex types:\n", span)
        return value
    if sort not in _CONSTANTS:
        raise unsupported
    return _constant(reader, kind)


# -- schemas ----------------------------------------------------------------------------------------------------------


def _argument(reader, keyword_only, is_return):
    kind, alias = _type(reader)
    count, name, default = None, "", NONE
    if reader.takes("["):
        count = int(reader.must("number"))
        reader.must("]")
        kind, alias = types.made("ListType", kind), _around(reader, alias)
        if reader.takes("?"):
            kind = types.made("OptionalType", kind)
    if not is_return:
        name = reader.must("ident")
        if reader.takes("="):
            default = _default(reader, kind, count)
    elif reader.kind == "ident":
        name = reader.next()[1]
    made = Argument(name, kind, count, None, keyword_only, alias)
    made._default = default
    return made


class _Listed:
    """Arguments, or results: what has been read of them."""

    def __init__(self, reader, called):
        self.reader, self.called, self.found, self.keyword_only, self.open = reader, called, [], False, False

    def one(self):
        """Reads one of them."""
        reader, answers = self.reader, self.called == "return"
        if self.open:
            raise reader.error(f"\n... must be the last element of the {self.called} list:\n")
        if not answers and reader.takes("*"):
            self.keyword_only = True
        elif reader.takes("dots"):
            self.open = True
        else:
            self.found.append(_argument(reader, self.keyword_only, answers))


def parse_schema(*args: Any, **kwargs: Any) -> FunctionSchema:
    """``parse_schema(schema, allow_typevars=True)``: the schema that a text says.

    `allow_typevars`: a word in lower case that is no type stands for any. RuntimeError where the text says no schema.

    >>> import jtensor
    >>> schema = jtensor.parse_schema("mylib::scale_(Tensor(a!) x, float by=2, *, int[2]? dims=None) -> Tensor(a!)")
    >>> schema.name, schema.is_mutable, schema.arguments[1].default_value, schema.arguments[2].N
    ('mylib::scale_', True, 2.0, 2)
    """
    given = dict(zip(("schema", "allow_typevars"), args, strict=False)) | kwargs
    text, variables = given.get("schema"), given.get("allow_typevars", True)
    if len(args) + len(kwargs) != len(given) or given.keys() - {"schema", "allow_typevars"} or not isinstance(text, str):
        raise pybind_refusal("parse_schema", ["(schema: str, allow_typevars: bool = True) -> c10::FunctionSchema"], args, kwargs)
    reader = _Reader(text)
    reader.variables = variables
    name, overload = reader.must("ident"), ""
    if reader.takes(":"):
        reader.must(":")
        name += "::" + reader.must("ident")
    if reader.takes("."):
        overload = reader.must("ident")
        if overload == "default" or overload.startswith("__"):
            raise RuntimeError(f"{overload} is not a legal overload name for aten operators")
    if reader.kind != "(":
        reader.must("eof")
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    taken, answered = _Listed(reader, "argument"), _Listed(reader, "return")
    reader.several("(", taken.one, ")")
    reader.must("arrow")
    if reader.kind == "(":
        reader.several("(", answered.one, ")")
    else:
        answered.one()
    reader.must("eof")
    return FunctionSchema(name, overload, taken.found, answered.found, taken.open, answered.open)


# -- those of operators -----------------------------------------------------------------------------------------------


@functools.cache
def _lines():
    """{(operator, form): its schema as text} of PyTorch's own operators."""
    found = {}
    for path in ("schemas.txt", "other_schemas.txt", "../dispatching/schemas.txt"):
        for line in (Path(__file__).parent / path).read_text().splitlines():
            name, _, form = line.partition("(")[0].partition(".")
            found.setdefault((name, form), "aten::" + line.replace("(b|a)", "(a|b)"))          # written the other way round than read
    return found


def of_operator(overload):
    """The schema of one form of an operator, PyTorch's or a user's."""
    definition = overload._definition
    space, _, name = definition.name.partition("::")
    return parse_schema(_lines()[name, definition.schema.overload_name] if space == "aten" else str(definition.schema))
