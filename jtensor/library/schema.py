"""An operator's schema: what it takes and answers, as `mylib::scale(Tensor x, float by=1., *, bool flip=False) -> Tensor` says it.

Owns: the text, read and written; which values fit a type, and what they become. May not know: what runs an operator.
"""
import ast
import re

from ..base import devices, dtypes
from ..base.naming import type_name
from ..tensor.core import Tensor

_TYPE = r"(\w+)(?:\(([^)]*)\))?((?:\[\d*\]|\?)*)"
_ARGUMENT = re.compile(rf"^{_TYPE}\s+(\w+)(?:\s*=\s*(.+))?$")
_RETURN = re.compile(rf"^{_TYPE}(?:\s+(\w+))?$")
_WHOLE = re.compile(r"^\s*(?:([\w:]+)(?:\.(\w+))?)?\s*\((.*)\)\s*->\s*(.+?)\s*$", re.S)
NONE = object()                 # no default


class Misfit(Exception):
    """A value that is none of a type."""


# -- types ------------------------------------------------------------------------------------------------------------


def _whole(value):
    if isinstance(value, Tensor) and value.dim() == 0 and not value.dtype.is_floating_point and not value.dtype.is_complex:
        return int(value.item())
    if isinstance(value, int) or hasattr(value, "__index__") and not isinstance(value, Tensor):
        return int(value)
    raise Misfit


def _real(value):
    if isinstance(value, Tensor) and value.dim() == 0 and not value.dtype.is_complex:
        return float(value.item())
    if isinstance(value, (bool, str, complex, Tensor)) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise Misfit
    return float(value)


def _number(value):
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, Tensor) and value.dim() == 0:
        return value.item()
    raise Misfit


def _of(*classes, made=None):
    def check(value):
        if not isinstance(value, classes):
            raise Misfit
        return made(value) if made else value
    return check


# A type's name -> (what it is called in errors, what becomes of a value).
TYPES = {
    "Tensor": ("Tensor", _of(Tensor)), "int": ("int", _whole), "SymInt": ("int", _whole), "float": ("float", _real),
    "bool": ("bool", _of(bool)), "str": ("str", _of(str)), "Scalar": ("number", _number), "complex": ("complex", _number),
    "ScalarType": ("int", _of(dtypes.dtype)), "Device": ("Device", _of(devices.device, str, made=devices.device)),
    "Layout": ("int", _of(object)), "MemoryFormat": ("int", _of(object)), "Generator": ("Generator", _of(object)),
    "Any": ("Any", _of(object)),
}


class Type:
    """A type: its name, the marks behind it from the inside out (`?`, `[]`, `[3]`), and the set of aliases, if any."""

    def __init__(self, base, marks="", alias=None):
        if base not in TYPES:
            raise RuntimeError(f"Unknown type specifier: {base}")
        self.base, self.marks, self.alias = base, re.findall(r"\[\d*\]|\?", marks), alias

    @property
    def mutated(self):
        return self.alias is not None and "!" in self.alias

    @property
    def is_list(self):
        """Whether it is one of lists of tensors."""
        return self.base == "Tensor" and any(mark != "?" for mark in self.marks)

    def __str__(self):
        alias = f"({self.alias})" if self.alias else ""
        return self.base + alias + "".join(self.marks)

    def called(self):
        """As errors call it."""
        name = TYPES[self.base][0]
        for mark in self.marks:
            name = f"Optional[{name}]" if mark == "?" else f"List[{name}]"
        return name

    def taken(self, value, depth=None):
        """What becomes of a value; raises `Misfit` where it is none of the type."""
        depth = len(self.marks) if depth is None else depth
        if not depth:
            return TYPES[self.base][1](value)
        mark = self.marks[depth - 1]
        if mark == "?":
            return None if value is None else self.taken(value, depth - 1)
        if isinstance(value, (list, tuple)):
            return [self.taken(one, depth - 1) for one in value]
        if mark != "[]":                             # of a fixed length: one stands for all
            return [self.taken(value, depth - 1)] * int(mark[1:-1])
        raise Misfit


# -- arguments and schemas --------------------------------------------------------------------------------------------


class Argument:
    """One argument: ``name``, ``type``, ``default_value`` (None where there is none) and whether it goes by name alone.

    ``shown``: the default as it is written, where one number stands for a list of them.
    """

    def __init__(self, kind, name, default=NONE, keyword_only=False, shown=NONE):
        self.type, self.name, self.default, self.kwarg_only, self.shown = kind, name, default, keyword_only, shown

    @property
    def default_value(self):
        return None if self.default is NONE else self.default

    def has_default_value(self):
        return self.default is not NONE

    def is_default(self, value):
        return value is self.default or type(value) is type(self.default) and value == self.default

    @property
    def is_write(self):
        return self.type.mutated

    def __str__(self):
        return f"{self.type} {self.name}" + ("" if self.shown is NONE else f"={_written(self.shown)}")


def _written(value):
    """A default as PyTorch's schemas write it."""
    if isinstance(value, float):
        return f"{value:.0f}." if value == int(value) and abs(value) < 1e16 else f"{value:.17g}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_written, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).removeprefix("torch.")


class Schema:
    """What an operator takes and answers. ``name`` with its namespace, if any; ``arguments``, ``returns``, ``overload_name``.

    >>> schema = Schema.read("mylib::scale(Tensor x, float by=2, *, int[]? dims=None) -> (Tensor, Tensor)")
    >>> str(schema)
    'mylib::scale(Tensor x, float by=2., *, int[]? dims=None) -> (Tensor, Tensor)'
    >>> [argument.name for argument in schema.arguments], len(schema.returns)
    (['x', 'by', 'dims'], 2)
    """

    def __init__(self, name, overload, arguments, returns):
        self.name, self.overload_name, self.arguments, self.returns = name, overload, arguments, returns

    @classmethod
    def read(cls, text):
        """The schema that a text says. RuntimeError where it says none."""
        found = _WHOLE.match(text)
        if found is None:
            raise RuntimeError(f"expected a schema such as 'name(Tensor x, int n=1) -> Tensor', got: {text}")
        name, overload, inside, answers = found.groups()
        arguments, keyword_only = [], False
        for part in _parts(inside):
            if part == "*":
                keyword_only = True
                continue
            one = _ARGUMENT.match(part)
            if one is None:
                raise RuntimeError(f"expected an argument such as 'Tensor x' or 'int n=1', got '{part}' in: {text}")
            base, alias, marks, called, default = one.groups()
            kind = Type(base, marks, alias)
            value, shown = (NONE, NONE) if default is None else _default(kind, default, text)
            arguments.append(Argument(kind, called, value, keyword_only, shown))
        returns = []
        for part in _parts(answers[1:-1] if answers.startswith("(") else answers):
            one = _RETURN.match(part)
            if one is None:
                raise RuntimeError(f"expected a type such as 'Tensor', got '{part}' in: {text}")
            returns.append(Type(one[1], one[3], one[2]))
        return cls(name or "", overload or "", arguments, returns)

    def __str__(self):
        parts, starred = [], False
        for argument in self.arguments:
            if argument.kwarg_only and not starred:
                starred = True
                parts.append("*")
            parts.append(str(argument))
        answers = str(self.returns[0]) if len(self.returns) == 1 else f"({', '.join(map(str, self.returns))})"
        return f"{self.name}{'.' * bool(self.overload_name)}{self.overload_name}({', '.join(parts)}) -> {answers}"

    __repr__ = __str__

    @property
    def is_mutable(self):
        """Whether it writes to an argument."""
        return any(argument.is_write for argument in self.arguments)

    def bound(self, args, kwargs):
        """The values of a call, (by position, by name), each of its argument's type. RuntimeError where it does not fit."""
        positional = [argument for argument in self.arguments if not argument.kwarg_only]
        most, many = (len(positional), len(args)) if len(args) > len(positional) else (len(self.arguments), len(args) + len(kwargs))
        if many > most:
            raise RuntimeError(f"{self.name}() expected at most {most} argument(s) but received {many} argument(s). Declaration: {self}")
        given, left, names = [], dict(kwargs), {}
        for place, argument in enumerate(self.arguments):
            if not argument.kwarg_only and place < len(args):
                value = args[place]
            elif argument.name in left:
                value = left.pop(argument.name)
            elif argument.default is not NONE:
                value = argument.default
            else:
                raise RuntimeError(f"{self.name}() is missing value for argument '{argument.name}'. Declaration: {self}")
            value = self._fitted(argument, place, value)
            if argument.kwarg_only:
                names[argument.name] = value
            else:
                given.append(value)
        if left:
            raise RuntimeError(f"Unknown keyword argument '{next(iter(left))}' for operator '{self.name}'. Schema: {self}")
        return given, names

    def _fitted(self, argument, place, value):
        try:
            return argument.type.taken(value) if value is not argument.default else value
        except Misfit:
            raise RuntimeError(
                f"{self.name}() Expected a value of type '{argument.type.called()}' for argument '{argument.name}' but instead found type "
                f"'{type_name(type(value))}'.\nPosition: {place}\nValue: {value!r}\nDeclaration: {self}") from None

    def told(self, args, kwargs):
        """What a kernel is told of bound values: not what is the default, and nothing else comes after by position."""
        positional = [argument for argument in self.arguments if not argument.kwarg_only]
        count = len(args)
        while count and positional[count - 1].is_default(args[count - 1]):
            count -= 1
        left = {argument.name: argument for argument in self.arguments if argument.kwarg_only}
        return args[:count], {name: value for name, value in kwargs.items() if not left[name].is_default(value)}

    def answered(self, value):
        """What a kernel has answered, each of its type. RuntimeError or TypeError where it does not fit."""
        if not self.returns:
            return None
        if len(self.returns) == 1:
            return _answer(self.returns[0], value)
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"Object of type '{type(value).__name__}' is not an instance of 'sequence'")
        if len(value) != len(self.returns):
            raise RuntimeError(f"{self.name}() answers {len(self.returns)} values, its kernel gave {len(value)}")
        return tuple(map(_answer, self.returns, value))


def _answer(kind, value):
    try:
        return kind.taken(value)
    except Misfit:
        raise RuntimeError(f"Unable to cast {value!r} to {kind.called()}") from None


# -- reading ----------------------------------------------------------------------------------------------------------


def _parts(text):
    """What stands between the commas that are in no brackets."""
    return [part for part in (one.strip() for one in re.split(r",(?![^(\[]*[)\]])", text)) if part]


def _default(kind, text, whole):
    """(a default, how it is shown)."""
    if text in ("None", "True", "False"):
        return (ast.literal_eval(text),) * 2
    if kind.base in ("ScalarType", "Device", "Layout", "MemoryFormat") or text.isidentifier() and kind.base == "int":
        word = text.strip("\"'")
        return (dtypes.__dict__.get(word, word),) * 2
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise RuntimeError(f"expected a default value, got '{text}' in: {whole}") from None
    try:
        value = kind.taken(value)
        return value, value[0] if isinstance(value, list) and "[" not in text else value
    except Misfit:
        raise RuntimeError(f"the default '{text}' is no {kind} in: {whole}") from None
