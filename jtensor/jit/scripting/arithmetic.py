"""Operators between two values: which of TorchScript's they are, and a class's own.

Owns: that. May not know: expressions.
"""
import ast

from . import kinds, matching
from .source import error

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "remainder",
           ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__",
           ast.LShift: "__lshift__", ast.RShift: "__rshift__"}


def binary(state, operator, left, right, node):
    """The value of ``left operator right``."""
    name = _BINARY.get(type(operator))
    for one, method in ((left, _MAGIC.get(name)),):
        if one.type.what is not None and one.type.what.sort == "class":
            found = state.unit.attribute(state, one, method, state.place(node))
            return found.called(state, [matching.Given(right)], [], state.place(node)).as_value(state, state.place(node))
    if name == "remainder" and left.type == kinds.STR:
        return state.call("aten::percentFormat", left, right, place=state.place(node))
    if name == "floordiv" and kinds.TENSOR in (left.type, right.type):
        name = "floor_divide"
    return state.call("aten::" + name, left, right, place=state.place(node))


def in_place(state, operator, left, right, place):
    """What an object is by ``left operator= right``: its class's own, or the operator that makes another."""
    plain = _MAGIC.get(_BINARY[type(operator)], f"__{_BINARY[type(operator)]}__")
    own = f"__i{plain[2:]}"
    for name in (own, plain):
        if state.unit.classes.method(left.type, name) is not None:
            found = state.unit.attribute(state, left, name, place)
            return found.called(state, [matching.Given(right)], [], place)
    raise error(f"Cannot emit inplace op on {left.type.shown()} since it does not define an {own} or {plain} method", place)


_MAGIC = {"add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__", "remainder": "__mod__", "matmul": "__matmul__",
          "pow": "__pow__", "floordiv": "__floordiv__"}
