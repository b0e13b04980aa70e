"""Conditions: what is known of variables where one holds, and what is decided before the program runs.

Owns: ``and``, ``or``, ``not``, ``is None``, ``isinstance``, ``hasattr``, one value or another. May not know: statements.
"""
import ast

from . import annotations, kinds, objects, values
from .source import error


class Condition:
    """``value``: a truth; ``true`` and ``false``: {variable: its kind} where it holds, and where it does not; ``static``: what it always
    is, None if that depends."""

    __slots__ = ("value", "true", "false", "static")

    def __init__(self, value, true=None, false=None, static=None):
        self.value, self.true, self.false, self.static = value, true or {}, false or {}, static


def condition(state, node):
    """The `Condition` that an expression is."""
    if isinstance(node, ast.BoolOp):
        *firsts, last = node.values
        if len(firsts) > 1:
            first = ast.copy_location(ast.BoolOp(node.op, firsts), node)
            first.end_lineno, first.end_col_offset = firsts[-1].end_lineno, firsts[-1].end_col_offset
        else:
            first = firsts[0]
        return _short(state, first, last, isinstance(node.op, ast.Or), node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = condition(state, node.operand)
        made = state.call("aten::__not__", inner.value, place=state.place(node))
        return Condition(made, inner.false, inner.true, None if inner.static is None else not inner.static)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return _is(state, node)
    if isinstance(node, ast.Call):
        word = _word(state, node.func)
        if word in ("isinstance", "jit.isinstance") and len(node.args) == 2:
            return _isinstance(state, node)
        if word == "hasattr" and len(node.args) == 2:
            return _hasattr(state, node)
    return _plain(state, state.value(node), node)


def _word(state, node):
    if isinstance(node, ast.Name) and state.find(node.id) is None or isinstance(node, ast.Attribute):
        try:
            found = state.source.evaluated(node)
        except Exception:
            return None
        return objects._WORDS.get(id(found))
    return None


def _plain(state, value, node):
    value = truth(state, value, node)
    static = None
    if value.node is not None and (value.node.is_constant or value.node.kind == "aten::is_scripting"):
        static = True if value.node.kind == "aten::is_scripting" else bool(value.node.data)
    return Condition(value, static=static)


def truth(state, value, node):
    """A value as a truth."""
    if value.type == kinds.BOOL:
        return value
    if value.type == kinds.TENSOR or value.type in (kinds.INT, kinds.FLOAT, kinds.NUMBER):
        return state.call("aten::Bool", value, place=state.place(node))
    raise error(f"Could not cast value of type {value.type.shown()} to bool", state.place(node))


def _never_none(value):
    return value.type.name not in ("Optional", "NoneType", "Any") and not (value.type.name == "Union" and kinds.NONE in value.type.of)


def _is(state, node):
    its_is = isinstance(node.ops[0], ast.Is)
    right = node.comparators[0]
    sides = [state.value(node.left), state.value(right)]
    always, never = [one.type == kinds.NONE for one in sides], [_never_none(one) for one in sides]
    if all(always):
        return Condition(state.constant(its_is), static=its_is)
    if always[0] and never[1] or always[1] and never[0]:
        return Condition(state.constant(not its_is), static=not its_is)
    made = state.call("aten::__is__" if its_is else "aten::__isnot__", *sides, place=state.place(node))
    for one, kind, other in ((node.left, sides[0].type, always[1]), (right, sides[1].type, always[0])):
        if other and isinstance(one, ast.Name) and kind.name in ("Optional", "Union"):
            some = {one.id: kinds.without_none(kind)}
            none = {one.id: kinds.NONE}
            return Condition(made, none if its_is else some, some if its_is else none) if kind.name == "Union" else Condition(
                made, {} if its_is else some, some if its_is else {})
    return Condition(made)


def _short(state, first, last, is_or, node):
    left = condition(state, first)
    kept = []

    def rest():
        kept.append(condition(state, last))
        return kept[0].value

    def known():
        return state.constant(is_or)
    made = choice(state, left, *((known, rest) if is_or else (rest, known)), node)
    right, = kept
    if is_or:
        true, false = _both(left.true, right.true, True), _both(left.false, right.false, False)
        static = True if True in (left.static, right.static) else False if left.static is False and right.static is False else None
    else:
        true, false = _both(left.true, right.true, False), _both(left.false, right.false, True)
        static = False if False in (left.static, right.static) else True if left.static and right.static else None
    return Condition(made, true, false, static)


def _both(one, other, either):
    """What is known where either of two conditions holds, or both."""
    if not either:
        return {**one, **other}
    made = {}
    for name in one.keys() & other.keys():
        kind = kinds.unified(one[name], other[name], default_to_union=True)
        if kind is not None:
            made[name] = kind
    return made


def refine(state, known, node):
    """Makes variables of the kinds that are known of them."""
    for name, kind in sorted(known.items()):
        found = state.load(name)
        if type(found) is not values.Simple:
            continue
        made = state.add("prim::unchecked_cast", [found.value], kind)
        state.set(name, values.Simple(made), node)


def choice(state, found, true, false, node):
    """One value or another: ``true()`` where a condition holds, else ``false()``."""
    if found.static is not None and isinstance(node, ast.IfExp):
        refine(state, found.true if found.static else found.false, node)
        return true() if found.static else false()
    made = state.add_node("prim::If", [found.value], where=node)
    outer = state.block, state.frame
    for emit, known in ((true, found.true), (false, found.false)):
        block = made.add_block()
        state.push(block)
        refine(state, known, node)
        block.results = [emit()]
        state.block, state.frame = outer
    one, other = (block.results[0].type for block in made.blocks)
    kind = kinds.unified(kinds.plain(one), kinds.plain(other))
    if kind is None:
        raise error(f"if-expression's true branch has type {one.shown()} but false branch has type {other.shown()}", state.place(node))
    return made.add_output(kind)


# -- of which type, and whether there is an attribute ------------------------------------------------------------------------------------


def _isinstance(state, node):
    subject, wanted = node.args
    value = state.value(subject)
    found = []
    for one in wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]:
        text = ast.unparse(one)
        if text in ("list", "tuple", "dict"):
            found.append(text)
        else:
            found.append(annotations.of_node(one, state.source))
    if isinstance(subject, ast.Name) and False in [type(one) is not str for one in found] and value.type == kinds.ANY:
        found = [one for one in found if type(one) is not str]
    members = kinds.parts(value.type) if value.type != kinds.NUMBER else (kinds.NUMBER,)
    held = [_is_of(kinds.plain(one), found) for one in members]
    if value.type != kinds.ANY and None not in held and len(set(held)) == 1:
        known = {subject.id: kinds.union(members)} if isinstance(subject, ast.Name) and kinds.plain(value.type) != kinds.NONE else {}
        return Condition(state.constant(held[0]), *((known, {}) if held[0] else ({}, known)), static=held[0])
    exact = sorted([one for one in found if type(one) is not str], key=kinds.rank)
    made = state.add("prim::isinstance", [value], kinds.BOOL, data=exact)
    if not isinstance(subject, ast.Name):
        return Condition(made)
    inside = [one for one, is_one in zip(members, held, strict=True) if is_one] if value.type != kinds.ANY else exact
    outside = [one for one, is_one in zip(members, held, strict=True) if not is_one] if value.type != kinds.ANY else [kinds.ANY]
    return Condition(made, {subject.id: kinds.union(inside)} if inside else {}, {subject.id: kinds.union(outside)} if outside else {})


def _is_of(kind, found):
    """Whether a kind is one of several; None where that is not known before the program runs."""
    names = {"list": kind.name == "List", "tuple": kinds.is_tuple(kind), "dict": kind.name == "Dict"}
    if any(names[one] if type(one) is str else kinds.is_part(kind, one) for one in found):
        return True
    if kind == kinds.ANY or kind == kinds.NUMBER or any(type(one) is not str and kinds.is_part(one, kind) for one in found):
        return None
    return False


def _hasattr(state, node):
    subject, name = state.sugared(node.args[0]), node.args[1]
    if not isinstance(name, ast.Constant) or type(name.value) is not str:
        raise error("hasattr's second argument must be a string literal", state.place(node))
    before = state.mark()
    try:
        subject.attribute(state, name.value, state.place(node))
        held = True
    except RuntimeError:
        held = False
    state.back_to(before)
    return Condition(state.constant(held), static=held)

