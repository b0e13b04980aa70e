"""An operator's schema as programs look at it: `FunctionSchema`, its arguments, what they share memory with.

Owns: these objects, how they are written. May not know: how a text is read (`schema_text`), what runs an operator.
"""
from typing import Any

from ..base.errors import missing, pybind_refusal
from ..base.highlighting import quoted
from ..library.schema import _written
from .types import Type, made, plain

NONE = object()                 # no default
_ASSERTION = ('!seen_default_arg || arg.kwarg_only() INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/core/function_schema.h"'
              ":342, please report a bug to PyTorch. Non-default positional argument follows default argument. Parameter ")


class _AliasInfo:
    """Which memory an argument or a result shares, by letters: before the call and after, and whether it is written to."""

    __module__ = "torch._C"

    def __init__(self, is_write: bool, before_set: Any, after_set: Any) -> None:
        self._before, self._after, self._contained, self.is_write = list(before_set), list(after_set), [], is_write

    before_set = property(lambda self: set(self._before))
    after_set = property(lambda self: set(self._after))

    def __str__(self) -> str:
        before, after = ("|".join(reversed(letters)) for letters in (self._before, self._after))
        return f"({before}{'!' * self.is_write}{'' if before == after else f' -> {after}'})"


def faked(kind):
    """A type as calls see it: a number for a dtype, a layout or a format of memory."""
    if kind._kind in ("ListType", "OptionalType"):
        return made(kind._kind, faked(kind._parts[0]))
    return plain("int") if kind._kind in ("ScalarTypeType", "LayoutType", "MemoryFormatType", "SymIntType") else kind


class Argument:
    """An argument, or a result, in a schema: ``name``, ``type``, ``default_value``, ``kwarg_only``, ``alias_info``, ``N`` of a list.

    ``type`` has a number for a dtype, a layout or a format of memory, ``real_type`` these.
    """

    __module__ = "torch"

    def __init__(self, name: str, type: Type, N: int | None, default_value: Any, kwarg_only: bool, alias_info: _AliasInfo | None) -> None:
        self.name, self.real_type, self.N, self.kwarg_only, self.alias_info = name, type, N, kwarg_only, alias_info
        self._default = NONE if default_value is None else default_value

    @property
    def type(self):
        """Its type."""
        return faked(self.real_type)

    @property
    def default_value(self) -> Any:
        """Its default; None where it has none."""
        return None if self._default is NONE else self._default

    def has_default_value(self) -> bool:
        """Whether it has a default."""
        return self._default is not NONE

    is_write = property(lambda self: self.alias_info is not None and self.alias_info.is_write)
    is_out = property(lambda self: self.kwarg_only and self.is_write)

    def __repr__(self) -> str:
        return object.__repr__(self).replace("jtensor.jit.schema_objects", "torch")

    def _written(self):
        kind, alias = self.real_type, self.alias_info
        inner = kind._parts[0] if kind._kind == "OptionalType" else kind
        if inner._kind == "ListType":
            contained = alias._contained if alias is not None else []
            text = f"{inner._parts[0]._written()}{contained[0] if contained else ''}[{'' if self.N is None else self.N}]"
        else:
            text = inner._written()
        text += (str(alias) if alias is not None and alias._before else "") + "?" * (inner is not kind) + f" {self.name}" * bool(self.name)
        return text if self._default is NONE else f"{text}={self._shown(inner)}"

    def _shown(self, inner):
        value = self._default
        if isinstance(value, str):
            return quoted(value.encode().decode("latin-1")) if inner._kind == "StringType" else value
        if self.real_type._kind == "ListType" and inner._parts[0]._kind == "IntType" and len(value) > 1 and len(set(value)) == 1:
            return _shown(value[0])                               # int[2] stride=1
        return _shown(value)


def _shown(value):
    if isinstance(value, complex):
        return f"{_written(value.real)}{'+' if value.imag >= 0 else ''}{_written(value.imag)}j"
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list) else _written(value)


def _sort(value):
    return {str: "text", list: "list", tuple: "list", bool: "flag"}.get(type(value))


class FunctionSchema:
    """What an operator takes and answers: ``name``, ``overload_name``, ``arguments``, ``returns``, ``is_mutable``.

    >>> import jtensor
    >>> schema = jtensor.ops.aten.add.Tensor._schema
    >>> schema
    aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    >>> [(one.name, one.type, one.default_value, one.kwarg_only) for one in schema.arguments][1:]
    [('other', Tensor, None, False), ('alpha', number, 1, True)]
    """

    __module__ = "torch"

    def __init__(self, *args: Any) -> None:
        if list(map(_sort, args)) != ["text", "text", "list", "list", "flag", "flag"]:
            listed = "collections.abc.Sequence[c10::Argument]"
            raise pybind_refusal("__init__", [f"torch._C.FunctionSchema(arg0: str, arg1: str, arg2: {listed}, arg3: {listed}, "
                                              "arg4: bool, arg5: bool)"], args, kind="constructor")
        self._told(*args)

    def _told(self, name, overload_name, arguments, returns, is_vararg, is_varret):
        self._name, self._overload_name, self._arguments, self._returns = name, overload_name, tuple(arguments), tuple(returns)
        self._open = bool(is_vararg), bool(is_varret)
        seen = False
        for one in self._arguments:
            seen = seen or one.has_default_value()
            if seen and not one.has_default_value() and not one.kwarg_only and one.real_type._kind != "ListType":
                raise RuntimeError(f"{_ASSERTION}{one.name} in {self}")

    name = property(lambda self: self._name)
    overload_name = property(lambda self: self._overload_name)
    arguments = property(lambda self: list(self._arguments))
    returns = property(lambda self: list(self._returns))

    @property
    def is_mutable(self) -> bool:
        """Whether it writes to an argument."""
        return any(one.is_write for one in self._arguments)

    def _is_view_op(self):
        aliases = [one.alias_info for one in self._arguments if one.alias_info is not None]
        return bool(aliases) and not any(alias.is_write for alias in aliases)

    def check_forward_compatible_with(self, other: "FunctionSchema") -> Any:
        """Not here: which schemas programs of others would run with."""
        raise missing("the comparison of schemas (FunctionSchema.check_forward_compatible_with)", "== of schemas, or of their arguments")

    def is_backward_compatible_with(self, other: "FunctionSchema") -> Any:
        """Not here: which schemas programs of others would run with."""
        raise missing("the comparison of schemas (FunctionSchema.is_backward_compatible_with)", "== of schemas, or of their arguments")

    def __repr__(self) -> str:
        parts, starred = [], False
        for one in self._arguments:
            parts += ["*"] * (one.kwarg_only and not starred)
            starred = starred or one.kwarg_only
            parts.append(one._written())
        answers = [one._written() for one in self._returns] + ["..."] * self._open[1]
        answered = answers[0] if len(answers) == 1 and answers[0][0] != "(" else f"({', '.join(answers)})"
        name = f"{self._name}.{self._overload_name}" if self._overload_name else self._name
        return f"{name}({', '.join(parts + ['...'] * self._open[0])}) -> {answered}"

    def __eq__(self, other):
        return str(self) == str(other) if isinstance(other, FunctionSchema) else NotImplemented

    def __hash__(self):
        return hash(str(self))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _again, (str(self),)


def _again(text):
    """What a pickle holds."""
    from .schema_text import parse_schema
    return parse_schema(text)
