"""Expressions: each becomes nodes and a value, or something sugared.

Owns: what Python's expressions mean in TorchScript. May not know: statements.
"""
import ast

from . import arithmetic, conditions, indexing, kinds, matching, objects, special, values
from .source import NotSupportedError, at_start, error, unsupported

_COMPARED = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Is: "__is__",
             ast.IsNot: "__isnot__"}
_UNARY = {ast.USub: "neg", ast.Not: "__not__", ast.Invert: "bitwise_not", ast.UAdd: "positive"}


def emit(state, node, hint):
    """What an expression is."""
    made = _EXPRESSIONS.get(type(node))
    if made is None:
        name = type(node).__name__
        raise unsupported(f"{name} aren't supported", state.place(at_start(node)))
    return made(state, node, hint)


# -- names and constants -----------------------------------------------------------------------------------------------------------------


def _name(state, node, hint):
    found = state.load(node.id)
    if found is not None:
        return found
    frame = state.frame
    while frame is not None:
        if node.id in frame.wrong:
            raise RuntimeError(f"\n{frame.wrong[node.id]}and was used here:\n{state.place(node)}")
        frame = frame.outer
    try:
        found = state.source.lookup(node.id)
    except KeyError:
        raise error(f"undefined value {node.id}", state.place(node)) from None
    return objects.sugared(state, found, state.place(node))


def _constant(state, node, hint):
    if node.value is Ellipsis:
        raise error("Expected a value, found '...'", state.place(node))
    if isinstance(node.value, bytes):
        raise unsupported("bytes literals aren't supported", state.place(node))
    return values.Simple(state.constant(node.value))


def _attribute(state, node, hint):
    return state.sugared(node.value).attribute(state, node.attr, state.place(node))


# -- calls -------------------------------------------------------------------------------------------------------------------------------


def _call(state, node, hint):
    callee = state.sugared(node.func)
    place = state.place(node.func)
    if type(callee) is objects.Special:
        return special.call(state, callee.word, node, hint)
    hidden = special.hidden(callee, state)
    if hidden is not None:
        return hidden
    args, named = matching.arguments(state, node)
    state.hint = hint
    return callee.called(state, args, named, place)


# -- operators ---------------------------------------------------------------------------------------------------------------------------


def _binary(state, node, hint):
    left = state.value(node.left)
    return values.Simple(arithmetic.binary(state, node.op, left, state.value(node.right), node))


def _unary(state, node, hint):
    if isinstance(node.op, ast.Not):
        return values.Simple(conditions.condition(state, node).value)
    inner = state.value(node.operand)
    if isinstance(node.op, ast.USub) and inner.node is not None and inner.node.is_constant and inner.type in kinds.NUMBERS:
        given = inner.node.data
        return values.Simple(state.constant(complex(0 - given.real, -given.imag) if isinstance(given, complex) else -given))
    if inner.type.what is not None and inner.type.what.sort == "class":
        method = {ast.USub: "__neg__", ast.Invert: "__invert__", ast.UAdd: "__pos__"}[type(node.op)]
        return state.unit.attribute(state, inner, method, state.place(node)).called(state, [], [], state.place(node))
    return values.Simple(state.call("aten::" + _UNARY[type(node.op)], inner, place=state.place(node)))


def _compare(state, node, hint):
    if len(node.ops) > 1:
        left, pairs = node.left, []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            pairs.append(ast.copy_location(ast.Compare(left, [operator], [right]), node))
            left = right
        whole = pairs[0]
        for one in pairs[1:]:
            whole = ast.copy_location(ast.BoolOp(ast.And(), [whole, one]), node)
        return values.Simple(conditions.condition(state, whole).value)
    operator, = node.ops
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return values.Simple(conditions.condition(state, node).value)
    return values.Simple(compared(state, operator, node))


def compared(state, operator, node):
    """The value of one comparison."""
    left, right = state.value(node.left), state.value(node.comparators[0])
    place = state.place(node)
    if isinstance(operator, (ast.In, ast.NotIn)):
        if right.type == kinds.STR and left.type == kinds.STR:
            at = state.call("aten::find", right, left, state.constant(0), state.call("aten::len", right), place=place)
            found = state.call("aten::ne", at, state.constant(-1), place=place)
        elif right.type.what is not None and right.type.what.sort == "class":
            method = state.unit.attribute(state, right, "__contains__", place)
            found = method.called(state, [matching.Given(left)], [], place).as_value(state, place)
        else:
            found = state.call("aten::__contains__", right, left, place=place)
        return found if isinstance(operator, ast.In) else state.call("aten::__not__", found, place=place)
    enums = [one.type.what is not None and one.type.what.sort == "enum" for one in (left, right)]
    if all(enums) and isinstance(operator, (ast.Eq, ast.NotEq)) and left.type != right.type:
        return state.constant(isinstance(operator, ast.NotEq))
    if left.type.what is not None and left.type.what.sort == "class":
        found = state.unit.attribute(state, left, f"__{_COMPARED[type(operator)]}__", place)
        return found.called(state, [matching.Given(right)], [], place).as_value(state, place)
    return state.call("aten::" + _COMPARED[type(operator)], left, right, place=place)


def _boolean(state, node, hint):
    return values.Simple(conditions.condition(state, node).value)


def _either(state, node, hint):
    found = conditions.condition(state, node.test)
    true, false = (lambda one=one: state.value(one, hint) for one in (node.body, node.orelse))
    return values.Simple(conditions.choice(state, found, true, false, node))


# -- containers --------------------------------------------------------------------------------------------------------------------------


def _tuple(state, node, hint):
    hints = hint.of if hint is not None and hint.name == "Tuple" and len(hint.of) == len(node.elts) else [None] * len(node.elts)
    made = []
    for one, wanted in zip(node.elts, hints, strict=True):
        if isinstance(one, ast.Starred):
            made += [part.as_value(state, state.place(one)) for part in state.sugared(one.value).as_parts(state, state.place(one))]
        else:
            made.append(state.value(one, wanted))
    return values.Simple(state.add("prim::TupleConstruct", made, kinds.paired(*[kinds.plain(one.type) for one in made])))


def _list(state, node, hint):
    hint = hint if hint is None else kinds.without_none(hint)
    wanted = hint.of[0] if hint is not None and hint.name == "List" else None
    made = [state.value(one) for one in node.elts]
    place = state.place(node)
    if not made:
        empty = state.add("prim::ListConstruct", [], kinds.listed(wanted or kinds.TENSOR))
        empty.fact = "empty list" if wanted is None else None
        return values.Simple(empty)
    kind = _common(state, made, "List", place)
    if wanted is not None and not kinds.is_part(kind, wanted):
        raise error(f"List type annotation `List[{wanted.shown()}]` did not match the types of the given list elements, which were unified "
                    f"to {kind.shown()}", place)
    return values.Simple(state.add("prim::ListConstruct", made, kinds.listed(wanted or kind)))


def _common(state, made, what, place):
    kind = kinds.plain(made[0].type)
    for one in made[1:]:
        found = kinds.unified(kind, kinds.plain(one.type), default_to_union=True)
        kind = found
    return kind


def _dict(state, node, hint):
    hint = hint if hint is None else kinds.without_none(hint)
    wanted = hint.of if hint is not None and hint.name == "Dict" else (None, None)
    made = []
    for key, one in zip(node.keys, node.values, strict=True):
        if key is None:
            raise unsupported("Dict expansion (e.g. `{**dict}`) is not supported", state.place(node), NotSupportedError)
        made += [state.value(key, wanted[0]), state.value(one, wanted[1])]
    if not made:
        empty = state.add("prim::DictConstruct", [], hint if wanted[0] else kinds.mapped(kinds.STR, kinds.TENSOR))
        empty.fact = None if wanted[0] else "empty dict"
        return values.Simple(empty)
    place = state.place(node)
    key, inner = wanted[0] or _common(state, made[::2], "Dict", place), wanted[1] or _common(state, made[1::2], "Dict", place)
    return values.Simple(state.add("prim::DictConstruct", made, kinds.mapped(key, inner)))


def _formatted(state, node, hint):
    text, parts = "", []
    for one in node.values:
        if isinstance(one, ast.Constant):
            text += str(one.value)
        else:
            if one.conversion != -1:
                raise unsupported("Don't support conversion in JoinedStr", state.place(node), NotSupportedError)
            if one.format_spec is not None:
                raise unsupported("Don't support formatting in JoinedStr", state.place(at_start(node)), NotSupportedError)
            text += "{}"
            parts.append(one.value)
    given = [state.value(one) for one in parts]
    return values.Simple(state.call("aten::format", state.constant(text), *given, place=state.place(node)))


def _subscript(state, node, hint):
    return indexing.read(state, state.sugared(node.value), node)


def _list_of_loop(state, node, hint):
    return special.comprehension(state, node, hint)


_EXPRESSIONS = {
    ast.Name: _name, ast.Constant: _constant, ast.Attribute: _attribute, ast.Call: _call, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.BoolOp: _boolean, ast.IfExp: _either, ast.Tuple: _tuple, ast.List: _list, ast.Dict: _dict,
    ast.JoinedStr: _formatted, ast.Subscript: _subscript, ast.ListComp: _list_of_loop, ast.DictComp: _list_of_loop,
}
