"""The operators of TorchScript that have a counterpart in ONNX: which function writes which.

A function takes the `writing.Graph`, a node's first argument, and the other arguments by the names of its schema: edges, numbers (or edges
in their place), lists of them, texts, None. It answers an edge, or a list of edges, with None for a result that ONNX lacks. An argument
that it does not name has to be what it is by default. Owns: the table, and what such functions may raise. May not know: the operators.
"""
import functools
import importlib
import inspect

TABLE = {}
FAMILIES = ("pointwise", "activations", "reductions", "shapes", "joining", "creating", "convolution", "pooling", "resizing",
            "normalization", "products", "indexing", "scattering", "attention", "losses", "recurrent")


class Refused(Exception):
    """What cannot be written: the text says why. ``since``: the first version of ONNX's operators in which it could."""

    def __init__(self, reason="", since=None):
        super().__init__(reason)
        self.reason, self.since = reason, since


def aten(*names):
    """Declares that a function writes these operators."""
    def keep(function):
        for name in names:
            assert name not in TABLE, name
            TABLE[name] = function
        return function
    return keep


@functools.cache
def table():
    """The whole table, by name."""
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.families.{family}")
    return TABLE


def since(graph, version, reason=""):
    """Refuses an operator before a version."""
    if graph.opset < version:
        raise Refused(reason, version)


def static(edge, dim, what="its size"):
    """The size of a dimension, which has to be known when the model is written."""
    size = None if edge.shape is None else edge.shape[dim]
    if size is None:
        raise Refused(f"{what} along dimension {dim} is not known before it runs")
    return size


def ranked(edge):
    """The number of dimensions, which has to be known."""
    if edge.shape is None:
        raise Refused("the number of its dimensions is not known")
    return len(edge.shape)


def fixed(*values):
    """Refuses numbers that are computed when the model runs."""
    for value in values:
        if isinstance(value, (list, tuple)):
            fixed(*value)
        elif hasattr(value, "known"):
            raise Refused("a setting is computed when the model runs, and ONNX takes a constant")


def call(function, graph, schema, args, ignored):
    """Calls a function that writes an operator with the arguments of its schema."""
    names = _names(function)
    given = {}
    for argument, value in list(zip(schema.arguments, args, strict=True))[1:]:
        if argument.name in names:
            given[argument.name] = value
        elif argument.name not in ignored and not argument.is_default(value):
            raise Refused(f"its argument '{argument.name}' is {value!r}" if not hasattr(value, "known") else
                          f"its argument '{argument.name}' is a tensor")
    return function(graph, args[0], **given)


@functools.cache
def _names(function):
    return frozenset(inspect.signature(function).parameters)
