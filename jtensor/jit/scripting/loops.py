"""Assignments to targets, and loops, which assign each time round.

Owns: what stands left of ``=``, ``for`` over what is known part by part (written out) and over the rest, ``while``. May not know: other
statements.
"""
import ast

from . import conditions, indexing, kinds, values
from .source import NotSupportedError, error, unsupported


def assign(state, target, given, node, annotated=None):
    """``target = given``, something sugared."""
    place = state.place(target)
    if isinstance(target, ast.Name):
        state.set(target.id, given, target, annotated)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _several(state, target, given, node)
    elif isinstance(target, ast.Subscript):
        indexing.write(state, target, lambda: given.as_value(state, place))
    elif isinstance(target, ast.Attribute):
        state.sugared(target.value).set_attribute(state, target.attr, given.as_value(state, place), state.place(node))
    else:
        raise unsupported(f"{type(target).__name__} aren't supported", place)


def _several(state, target, given, node):
    stars = [at for at, one in enumerate(target.elts) if isinstance(one, ast.Starred)]
    place, count, source = state.place(target), len(target.elts), state.place(getattr(node, "value", node))
    if len(stars) > 1:
        raise error("Only one starred expression is allowed on the lhs", state.place(target))
    if stars and count == 1:
        raise error("A Starred expression may only appear on the lhs within the presence of another non-starred expression",
                    state.place(target))
    if stars and type(given) is values.Simple and given.value.type.name == "List":
        raise error("cannot statically infer the expected size of a list in this context", source)
    parts = given.as_parts(state, source, None if stars else count)
    if stars:
        at, behind = stars[0], count - stars[0] - 1
        if len(parts) < count - 1:
            raise error(f"need at least {count - 1} values to unpack but found only {len(parts)}", place)
        parts = [*parts[:at], values.Parts(parts[at:len(parts) - behind]), *parts[len(parts) - behind:]]
    if len(parts) < count:
        raise error(f"need {'at least ' * bool(stars)}{count} values to unpack but found only {len(parts)}", place)
    if len(parts) > count:
        raise error(f"too many values to unpack: need {count} but found {len(parts)}", place)
    for one, part in zip(target.elts, parts, strict=True):
        inner = one.value if isinstance(one, ast.Starred) else one
        if isinstance(one, ast.Starred):
            part = values.Simple(part.as_value(state, place))
        assign(state, inner, part, node)


# -- loops -------------------------------------------------------------------------------------------------------------------------------


def each(state, found, target, body, node):
    """``for target in found``; ``body()`` adds what is done."""
    place = state.place(node)
    through = found.iterated(state, place)
    if through.parts is not None:
        before, state.loop = state.loop, "unrolled"
        for part in through.parts:
            assign(state, target, part, target)
            body()
        state.loop = before
        return
    length = through.length(state, place)
    loop = state.add_node("prim::Loop", [length], where=node)
    _common(state, loop, None, lambda index: _next(state, through, index, target, place), body)


def _next(state, through, index, target, place):
    value = through.item(state, index, place).as_value(state, place)
    assign(state, target, values.Simple(value), target)


def repeat(state, test, body, node):
    """``while test``."""
    most = state.constant((1 << 63) - 1)
    loop = state.add_node("prim::Loop", [most], where=node)
    _common(state, loop, test, None, body)


def _common(state, loop, test, advance, body):
    outer = state.block, state.frame
    inside, condition = loop.add_block(), loop.add_block()
    state.push(condition)
    condition.results = [state.constant(True) if test is None else conditions.truth(state, state.value(test), test)]
    state.block, state.frame = outer
    before, state.loop = state.loop, "loop"
    index = inside.add_input(kinds.INT)
    state.push(inside)
    if advance is not None:
        advance(index)
    body()
    state.block, state.frame = outer
    state.loop = before


def leave(state, node):
    """``break`` and ``continue``."""
    word = "break" if isinstance(node, ast.Break) else "continue"
    if state.loop == "unrolled":
        raise error("Because we emit iteration over modulelists or tuples as unrolled loops, we do not support break or continue inside "
                    "the body of these loops", state.place(node))
    if not state.loop:
        raise unsupported(f"Syntax Error: '{word}' outside loop", state.place(node),
                          NotSupportedError)
    state.add_node("prim::BreakStmt" if word == "break" else "prim::ContinueStmt")
    state.exits.add(state.block)
