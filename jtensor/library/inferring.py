"""The schema of a Python function, from its annotations.

Owns: `infer_schema`, with PyTorch's errors. May not know: what a schema is good for.
"""
import collections.abc
import inspect
import types
import typing

from ..base import devices, dtypes
from ..base.dtypes import dtype
from ..tensor.core import Tensor

_LISTS = (list, collections.abc.Sequence)
_NUMBERS = frozenset((int, float, bool))
_BASES = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", dtype: "ScalarType", devices.device: "Device"}
_ANSWERS = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool"}


def _base(annotation):
    if typing.get_origin(annotation) in (typing.Union, types.UnionType) and set(typing.get_args(annotation)) == _NUMBERS:
        return "Scalar"
    return _BASES.get(annotation) if isinstance(annotation, collections.abc.Hashable) else None


def _type_of(annotation):
    """An annotation as a type of schemas, or None."""
    if (base := _base(annotation)) is not None:
        return base
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType) and type(None) in inside:
        rest = tuple(one for one in inside if one is not type(None))
        kind = _type_of(rest[0]) if len(rest) == 1 else ("Scalar" if set(rest) == _NUMBERS else None)
        return None if kind is None or kind.endswith("?") else kind + "?"
    if origin in _LISTS and len(inside) == 1:
        kind = _type_of(inside[0])
        return None if kind is None or "[" in kind or kind in ("str", "str?", "ScalarType", "Device") else kind + "[]"
    return None


def _answer_of(annotation, fail):
    kind = _ANSWERS.get(annotation) if isinstance(annotation, collections.abc.Hashable) else None
    if kind is None and typing.get_origin(annotation) is list and typing.get_args(annotation) == (Tensor,):
        kind = "Tensor[]"
    if kind is None and _base(annotation) == "Scalar":
        kind = "Scalar"
    return kind or fail(f"Return has unsupported type {annotation}. The valid types are: Tensor, List[Tensor], int, float, bool, Scalar.")


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema that a function's annotations say, as text.

    ``mutates_args``: the names of the arguments that it writes to, or ``"unknown"``, which means all tensors. ``op_name``: a name to begin
    with. ValueError for what a schema cannot say.

    >>> def scale(x: torch.Tensor, by: float = 2.0, *, dims: list[int] | None = None) -> torch.Tensor: ...
    >>> torch.library.infer_schema(scale, mutates_args=())
    '(Tensor x, float by=2.0, *, SymInt[]? dims=None) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def fail(what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")
    spaces = {**getattr(prototype_function, "__globals__", {})}
    parts, written, starred = [], set(), False
    if mutates_args != "unknown" and isinstance(mutates_args, str):
        mutates_args = {mutates_args}
    for at, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.annotation is inspect.Parameter.empty:
            fail(f"Parameter {name} must have a type annotation.")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            parts.append("*")
        kind = _type_of(_evaluated(parameter.annotation, spaces, fail))
        if kind is None:
            fail(f"Parameter {name} has unsupported type {parameter.annotation}. The valid types are: Tensor, int, float, bool, str, "
                 "torch.dtype, torch.device, int | float | bool, Optional of these, and List or Sequence of tensors and numbers.")
        if mutates_args == "unknown" and kind.startswith("Tensor") or mutates_args != "unknown" and name in mutates_args:
            if not kind.startswith("Tensor"):
                fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            kind = f"Tensor(a{at}!){kind.removeprefix('Tensor')}"
            written.add(name)
        parts.append(f"{kind} {name}" + _default(name, parameter.default, fail))
    if mutates_args != "unknown" and (lost := set(mutates_args) - written):
        fail(f"{lost} in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all args that "
             "the custom op mutates, or just the string 'unknown' if you don't know.")
    if signature.return_annotation is inspect.Signature.empty:
        fail("No return type annotation was provided. Please add one.")
    answer = _evaluated(signature.return_annotation, spaces, fail)
    if answer is None or answer is type(None):
        answers = "()"
    elif typing.get_origin(answer) is tuple:
        kinds = [_answer_of(one, fail) for one in typing.get_args(answer)]
        answers = f"({', '.join(kinds)})"
    else:
        answers = _answer_of(answer, fail)
    return f"{op_name or ''}({', '.join(parts)}) -> {answers}"


def _evaluated(annotation, spaces, fail):
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, spaces)                                  # as Python does it for annotations that are kept as text
    except Exception:
        fail(f"Unsupported type annotation {annotation}. It is not a type.")


def _default(name, value, fail):
    if value is inspect.Parameter.empty:
        return ""
    if value is None or isinstance(value, (bool, int, float)):
        return f"={value}"
    if isinstance(value, str):
        return f'="{value}"'
    if isinstance(value, dtypes.dtype):
        return f"={str(value).removeprefix('torch.')}"
    if isinstance(value, devices.device):
        return f'="{value}"'
    fail(f"Parameter {name} has an unsupported default value type {type(value)}. Please file an issue on GitHub so we can prioritize this.")
