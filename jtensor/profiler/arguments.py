"""What the arguments of a call are in PyTorch's operator: their shapes in its order, the name of its form, its FLOPs.

Owns: that, for those who asked for it. May not know: what a call does, how it is recorded.
"""
import functools
import inspect
import math
from typing import NamedTuple

from ..base import devices
from ..dispatching import schemas as below
from ..dispatching.exchange import ASKS
from ..jit import schemas
from ..tensor.core import Tensor


class Found(NamedTuple):
    """``shapes``: a list for each argument, empty for what is no tensor (lists of tensors, too, as in PyTorch); ``form``: its overload."""

    shapes: list
    form: str


def _shape(value):
    return list(value._spec.size) if isinstance(value, Tensor) else []          # the class of a tensor is not asked


def forms(name):
    """The schemas of an operator, by its name without ``aten::``."""
    return schemas.forms(name) or below.forms(name)


def is_whole(name):
    """Whether PyTorch has an operator below autograd that is made of no others; with ``out=`` alone it is made of them otherwise."""
    return any(all(argument.name != "out" for argument in schema.arguments) for schema in below.forms(name))


class Below:
    """Of a function that asks below autograd, which finds out by itself which operator it is."""

    parameters = ()

    def found(self, row, args, kwargs):
        try:
            found = row.entries[ASKS].found(args, kwargs)
        except Exception:                       # an odd call: the function refuses it better, or has an argument of its own
            found = None
        if found is None:
            return _otherwise(row.entries[ASKS].name, args, kwargs)
        overload, given, named = found
        name, _, form = overload.__name__.partition(".")
        schema = next(one for one in below.forms(name) if (one.overload_name or "default") == form)
        given = dict(zip([argument.name for argument in schema.arguments], given, strict=False)) | named
        return Found([_shape(given.get(argument.name)) for argument in schema.arguments], schema.overload_name)


def _otherwise(name, args, kwargs):
    """Of a form that PyTorch makes of other operators."""
    found = schemas.bound(name, list(args), kwargs)
    if found is None:
        return Found([_shape(one) for one in args], "")
    schema, pairs, *_ = found
    return Found([_shape(value) for _, value in pairs], schema.overload_name)


class OfTo:
    """Of ``x.to(...)``, whose forms are told apart by their arguments."""

    parameters = ()

    def found(self, row, args, kwargs):
        others = (*args[1:], *kwargs.values())
        form = "other" if any(isinstance(one, Tensor) for one in others) else "device" if any(
            isinstance(one, (str, devices.device)) for one in others) else "dtype"
        shapes = [_shape(one) for one in args[:2]]
        return Found([*shapes, *[[]] * ((6 if form == "device" else 5) - len(shapes))], form)


_ELSEWHERE = {"input": ("self", "indices"), "tensor": ("self",), "training": ("train",)}


def _there(name, names):
    """The name that an argument has among an operator's; its own where there is none."""
    return name if name in names else next((one for one in _ELSEWHERE.get(name, ()) if one in names), name)


class Named:
    """Of a function of Python, whose parameters are the operator's by their names, or by their places."""

    def __init__(self, function, name):
        self.signature, self.name = inspect.signature(function), name.removeprefix("aten::")
        self.parameters = self.signature.parameters

    def given(self, args, kwargs):
        """{name of a parameter: argument}; none of a call that does not fit, which the function refuses itself."""
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return {}

    def found(self, row, args, kwargs):
        given = self.given(args, kwargs)
        schema = self._schema(frozenset(given))
        if schema is None:
            return Found([_shape(one) for one in given.values()], "")
        names, places = [argument.name for argument in schema.arguments], list(self.parameters)
        shapes = [[] for _ in names]
        for name, value in given.items():
            there = _there(name, names)
            at = names.index(there) if there in names else places.index(name)
            if isinstance(value, Tensor) and at < len(names):
                shapes[at] = _shape(value)
        return Found(shapes, schema.overload_name)

    @functools.cache                            # noqa: B019 - as many as there are functions, which stay
    def _schema(self, given):
        """The first form that has all the arguments that are given, else the first."""
        known = forms(self.name)
        for schema in known:
            names = [argument.name for argument in schema.arguments]
            if {_there(name, names) for name in given} <= set(names):
                return schema
        return known[0] if known else None


# -- FLOPs --------------------------------------------------------------------------------------------------------------

_FACTOR = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}        # which tensor of a call is the left factor


def flops(name, args, kwargs, made):
    """How many floating-point operations an operator takes, of those that PyTorch's profiler counts: products, two-dimensional
    convolutions without their bias, ``mul`` and ``add``; 0 of all others."""
    if name not in _FACTOR and name not in ("aten::conv2d", "aten::mul", "aten::add") or not isinstance(made, Tensor):
        return 0
    tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)]
    if name in _FACTOR:
        return 2 * made._spec.numel * tensors[_FACTOR[name]]._spec.size[-1]
    if name == "aten::conv2d":
        return 2 * made._spec.numel * math.prod(tensors[1]._spec.size[1:])
    return math.prod(args[0]._spec.size) if args and isinstance(args[0], Tensor) else 0
