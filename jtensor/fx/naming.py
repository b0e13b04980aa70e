"""How a function, a type or a node is called in a graph's text and in the code that is made of it.

Functions of the library have the names that PyTorch's have (`torch._C._nn.gelu`), so that the texts are equal. Owns: those names, and the
unique ones in a graph. May not know: graphs.
"""
import builtins
import functools
import inspect
import keyword
import re
import typing

import jtensor

from .. import overridable
from ..overrides import resolve_name

_SPACES = {"torch.linalg": "linalg", "torch.fft": "fft", "torch.special": "special"}


def ours(obj):
    """Whether something is the library's own, which code finds by its whole name."""
    name = getattr(obj, "__module__", None) or ""
    return name.partition(".")[0] in ("jtensor", "torch") or isinstance(obj, jtensor.dtype)


@functools.cache
def _pytorchs(name):
    space, _, last = name.rpartition(".")
    if space == "torch" and last in jtensor.functional.__all__:
        return f"torch.functional.{last}"
    if space == "torch.nn.functional":
        return f"torch._C._nn.{last}" if last in overridable.NOT_PYTHON else f"torch.{last}" if last in overridable.TORCHS else name
    if space in _SPACES:
        return f"torch._C._{_SPACES[space]}.{_SPACES[space]}_{last}"
    return name


def qualified_name(func):
    """The whole name of a function or a class, as PyTorch writes it.

    >>> import operator, jtensor as torch
    >>> qualified_name(torch.nn.functional.gelu), qualified_name(operator.add), qualified_name(len)
    ('torch._C._nn.gelu', '_operator.add', 'len')
    """
    if hasattr(getattr(func, "overloadpacket", func), "_qualified_op_name"):       # an operator of `torch.ops`, which says how it is found
        return f"torch.ops.{func}"
    name = getattr(func, "__name__", None)
    if name is not None and getattr(builtins, name, None) is func:
        return name
    known = resolve_name(func)
    if known is not None:
        return _pytorchs(known)
    if name is None:
        return type(func).__name__
    if name == "<lambda>":                      # has the name that its module gives it
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except OSError as error:
            raise RuntimeError("Unable to represent lambda") from error
    module = getattr(func, "__module__", None) or ""
    if ours(func):
        if getattr(jtensor, name, None) is func:
            return f"torch.{name}"
        module = module.replace("jtensor", "torch", 1)
    return f"{module}.{name}"


def pretty(func):
    """A function's name in a graph's text.

    >>> import operator
    >>> pretty(operator.add), pretty(len)
    ('operator.add', 'builtins.len')
    """
    if not hasattr(func, "__module__") and resolve_name(func) is None or not hasattr(func, "__name__"):
        return qualified_name(func)
    if getattr(func, "__module__", None) == "builtins" and getattr(builtins, func.__name__, None) is func:
        return f"builtins.{func.__name__}"
    if getattr(func, "__module__", None) == "_operator":
        return f"operator.{func.__name__}"
    return qualified_name(func)


def type_name(obj):
    """The name of a type in a graph's text.

    >>> import typing
    >>> type_name(int), type_name(typing.Optional[int])
    ('int', 'typing.Optional[int]')
    """
    if isinstance(obj, type) and not isinstance(obj, typing.types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        module = obj.__module__.replace("jtensor", "torch", 1) if ours(obj) else obj.__module__
        if ours(obj) and getattr(jtensor, obj.__qualname__, None) is obj:
            module = "torch"
        return f"{module}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if callable(obj) and hasattr(obj, "__name__") and not hasattr(obj, "__origin__"):
        return obj.__name__
    return repr(obj).replace("jtensor.", "torch.")


_ILLEGAL, _NUMBERED = re.compile(r"[^0-9a-zA-Z_]+"), re.compile(r"(.*)_(\d+)")
# Names that would hide something. An interactive Python leaves its last answer among the builtin ones, as "_".
_TAKEN = (frozenset([*keyword.kwlist, *dir(builtins), "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"])
          - {"_"})


class Namespace:
    """The names of a graph's nodes, or of a program's globals: no two alike, all of them Python's identifiers.

    >>> names = Namespace()
    >>> names.create_name("a.b", None), names.create_name("len", None), names.create_name("a_b", None)
    ('a_b', 'len_1', 'a_b_1')
    """

    def __init__(self):
        self._used, self._last, self._of = set(), {}, {}

    def create_name(self, candidate, obj):
        """A name like ``candidate`` that is not taken. ``obj``: what it names; asked for the same again, the same name is answered."""
        if obj is not None:
            try:
                known = self._of.get(obj)
            except TypeError:
                known, obj = None, None
            if known is not None:
                return known
        name = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        numbered = _NUMBERED.fullmatch(name)
        if numbered:
            base, number = numbered[1], int(numbered[2])
        else:
            base, number = name, self._last.get(name, 0)
            if name in _TAKEN and not (obj is not None and getattr(builtins, name, None) is obj):
                number += 1
                name = f"{base}_{number}"
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        self._last[base] = number
        if obj is not None:
            self._of[obj] = name
        return name

    def rename(self, obj, name):
        """Another name for what has one."""
        self._of[obj] = name
        self._used.add(name)


def snake(name):
    """``SomeName`` as ``some_name``.

    >>> snake("max_pool2d"), snake("MyOp"), snake("Size")
    ('max_pool2d', 'my_op', 'size')
    """
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
