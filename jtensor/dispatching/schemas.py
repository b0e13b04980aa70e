"""Which form of an operator of ``torch.ops.aten`` a call of the engine is, and its arguments as those below autograd are told them.

The forms are in `schemas.txt`, made of PyTorch's (`tests/house/make_schemas.py`): of the operators that are made of no others there. Owns:
the look-up. May not know: who calls, who is asked.
"""
import functools
from pathlib import Path

from ..base.errors import missing
from ..export.making import decoded, overload
from ..jit import schemas
from ..library.schema import Schema
from ..tensor.core import Tensor


@functools.cache
def _lines():
    found = {}
    for line in (Path(__file__).parent / "schemas.txt").read_text().splitlines():
        found.setdefault(line.partition("(")[0].partition(".")[0], []).append(line)
    return found


@functools.cache
def forms(name):
    """The schemas of an operator below autograd; none where PyTorch makes it of others, or has no such operator."""
    return [Schema.read(line) for line in _lines().get(name, ())]


def is_below(func):
    """Whether an `OpOverload` is an operator below autograd."""
    name, _, form = func.__name__.partition(".")
    return any((schema.overload_name or "default") == form for schema in forms(name))


def bound(name, args, kwargs):
    """(overload, arguments, keywords) of a call of an operator; None where PyTorch makes this form of it of others."""
    for schema, asks in [(schema, asks) for asks in (False, True) for schema in forms(name)]:
        try:
            values, _, _ = schemas._bound(schema, name, args, kwargs, lambda kind, value: value)
        except schemas.Unfit:
            continue
        if any(kind.base != "Tensor" and isinstance(value, Tensor) for kind, value in values) is not asks:
            continue                                              # a tensor stands for its number only where nothing else fits
        values = [value if kind.base == "Tensor" else value.item() if isinstance(value, Tensor) else decoded(kind.base, value)
                  for kind, value in values]
        pairs = list(zip(schema.arguments, values, strict=True))
        given, named = schema.told([value for argument, value in pairs if not argument.kwarg_only],
                                   {argument.name: value for argument, value in pairs if argument.kwarg_only})
        return overload(schema, name), tuple(given), named
    return None


def refused(name):
    """The error for a call that goes by no form of an operator here."""
    return missing(f"the operator {name} of the engine for __torch_dispatch__", "__torch_function__, which is asked above it")
