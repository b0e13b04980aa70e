"""Calls that look at how their arguments are written: ``isinstance``, ``range``, ``annotate``, ``list`` and their like; comprehensions.

Owns: these. May not know: statements.
"""
import ast

from . import annotations, conditions, contexts, kinds, loops, matching, ranges, values
from .source import NotSupportedError, absent, error, unsupported


def call(state, word, node, hint):
    """What a call of a special word is."""
    return _WORDS[word](state, node, hint)


def hidden(callee, state):
    """What a call of a function that programs do not look into is; None of any other."""
    return None


def _wanted(state, node, count):
    if len(node.args) != count or node.keywords:
        raise error(f"expected exactly {count} arguments but found {len(node.args) + len(node.keywords)}", state.place(node))


def _condition(state, node, hint):
    return values.Simple(conditions.condition(state, node).value)


def _range(state, node, hint):
    return ranges.Range(state, [state.value(one) for one in node.args], state.place(node))


def _enumerate(state, node, hint):
    if not node.args:
        raise error("enumerate expected at least 1 arguments, got 0", state.place(node))
    if len(node.args) > 2:
        raise error(f"enumerate expected at most 2 arguments, got {len(node.args)}", state.place(node))
    found = state.sugared(node.args[0]).iterated(state, state.place(node))
    first = node.args[1] if len(node.args) == 2 else next((one.value for one in node.keywords if one.arg == "start"), None)
    start = None if first is None else state.value(first)
    return ranges.Several([ranges.Count(state, start), found], state.place(node))


def _zip(state, node, hint):
    if not node.args:
        raise error("zip expected at least 1 arguments, got 0", state.place(node))
    return ranges.Several([state.sugared(one).iterated(state, state.place(node)) for one in node.args], state.place(node))


def _annotate(state, node, hint):
    _wanted(state, node, 2)
    kind = annotations.of_node(node.args[0], state.source)
    value = matching.convert_to(state, state.value(node.args[1], kind), kind, True)
    if not kinds.is_part(kinds.plain(value.type), kind):
        raise error(f"expected an expression of type {kind.shown()} but found {value.type.shown()}", state.place(node.args[1]))
    if value.type == kinds.NONE and kind != kinds.NONE:
        value = state.constant(None)
        value.type = kind
    return values.Simple(value)


def _list(state, node, hint):
    if not node.args:
        return state.sugared(ast.copy_location(ast.List([], ast.Load()), node), hint)
    _wanted(state, node, 1)
    found = state.sugared(node.args[0])
    through = found.iterated(state, state.place(node))
    if type(through) is values.Simple and (through.value.type.name == "List" or through.value.type == kinds.STR):
        return values.Simple(state.call("aten::list", through.value, place=state.place(node)))
    if type(through) is values.Simple and through.value.type == kinds.TENSOR:
        return values.Simple(state.call("aten::unbind", through.value, place=state.place(node)))
    name = f"$copied{node.lineno}"
    item = ast.copy_location(ast.Name(name, ast.Load()), node)
    loop = ast.copy_location(ast.comprehension(ast.copy_location(ast.Name(name, ast.Store()), node), node.args[0], [], 0), node)
    return comprehension(state, ast.copy_location(ast.ListComp(item, [loop]), node), hint)


def _tuple(state, node, hint):
    if not node.args:
        return values.Parts([])
    found = state.sugared(node.args[0]).iterated(state, state.place(node))
    if found.parts is None:
        raise error("cannot statically infer the expected size of a list in this context", state.place(node))
    return values.Parts(found.parts)


def _dict(state, node, hint):
    place = state.place(node)
    if not node.args:
        keys = [ast.copy_location(ast.Constant(one.arg), node) for one in node.keywords]
        return state.sugared(ast.copy_location(ast.Dict(keys, [one.value for one in node.keywords]), node), hint)
    found = state.value(node.args[0])
    if found.type.name not in ("Dict", "List") or node.keywords:
        raise absent("this call of dict", place)
    return values.Simple(state.call("aten::dict", found, place=place))


def _getattr(state, node, hint):
    if len(node.args) not in (2, 3):
        raise error(f"getattr expected at least 2 arguments, got {len(node.args)}", state.place(node))
    name = node.args[1]
    if not isinstance(name, ast.Constant) or type(name.value) is not str:
        raise error("getattr's second argument must be a string literal", state.place(node))
    subject = state.sugared(node.args[0])
    if len(node.args) == 2:
        return subject.attribute(state, name.value, state.place(node))
    before = state.mark()
    try:
        return subject.attribute(state, name.value, state.place(node))
    except RuntimeError:
        state.back_to(before)
        return state.sugared(node.args[2])


def _super(state, node, hint):
    if node.args:
        raise error("Python type cannot be used as a value", state.place(node.args[0]))
    return values.Base()


def _scripting(state, node, hint):
    return values.Simple(state.add("aten::is_scripting", [], kinds.BOOL))


def _tracing(state, node, hint):
    return values.Simple(state.constant(False))


def _unwrap(state, node, hint):
    _wanted(state, node, 1)
    value = state.value(node.args[0])
    if value.type == kinds.NONE:
        raise error("Type variables in type Optional[t] could not be inferred from actual type NoneType", state.place(node))
    kind = kinds.without_none(value.type)
    return values.Simple(value if kind == value.type else state.add("aten::_unwrap_optional", [value], kind))


def _len(state, node, hint):
    _wanted(state, node, 1)
    found, place = state.sugared(node.args[0]), state.place(node)
    if type(found) is values.Simple and found.value.type.what is not None and found.value.type.what.sort in ("module", "class"):
        place = state.place(node.func)
        return found.attribute(state, "__len__", place).called(state, [], [], place)
    return values.Simple(found.length(state, place))


def _fork(state, node, hint):
    place = state.place(node)
    if not node.args:
        raise error("Expected at least one argument to fork()", place)
    callee = state.sugared(node.args[0])
    args, named = matching.arguments(state, ast.copy_location(ast.Call(node.func, node.args[1:], node.keywords), node))
    return contexts.forked(state, callee, args, named, place)


def _wait(state, node, hint):
    _wanted(state, node, 1)
    return values.Simple(state.call("aten::wait", state.value(node.args[0]), place=state.place(node)))


def _reversed(state, node, hint):
    place = state.place(node.func)
    given = [state.value(one) for one in node.args]
    for at, value in enumerate(given):
        if value.type != kinds.TENSOR:
            form = f"reversed({', '.join([f'Tensor {one}' for one in range(len(given))])}) -> Tensor {len(given) - 1}"
            raise error(f"\n{form}:\nExpected a value of type 'Tensor' for argument '{at}' but instead found type "
                        f"'{value.type.shown()}'.\n", place)
    raise absent("reversed", place)


_WORDS = {"isinstance": _condition, "jit.isinstance": _condition, "hasattr": _condition, "range": _range, "enumerate": _enumerate,
          "zip": _zip, "len": _len, "annotate": _annotate, "list": _list, "tuple": _tuple, "dict": _dict, "getattr": _getattr,
          "super": _super,
          "is_scripting": _scripting, "is_tracing": _tracing, "unwrap": _unwrap, "fork": _fork, "wait": _wait, "reversed": _reversed}


# -- comprehensions ----------------------------------------------------------------------------------------------------------------------


def comprehension(state, node, hint):
    """A list or dictionary of a loop."""
    place = state.place(node)
    if len(node.generators) != 1:
        raise unsupported("Only a single generator is currently supported", place, NotSupportedError)
    loop, = node.generators
    if loop.ifs:
        raise unsupported("Comprehension ifs are not supported yet", place, NotSupportedError)
    loop = ast.copy_location(ast.For(loop.target, loop.iter, [], []), node)
    of_list = isinstance(node, ast.ListComp)
    kind = "List" if of_list else "Dict"
    wanted = kinds.without_none(hint) if hint is not None and kinds.without_none(hint).name == kind else None
    made = state.add(f"prim::{kind}Construct", [], wanted or (kinds.listed(kinds.TENSOR) if of_list else kinds.mapped(kinds.STR,
                                                                                                                  kinds.TENSOR)))
    found = state.sugared(loop.iter)
    known = [wanted]
    scope = state.add_node("prim::ComprehensionScope")
    outer = state.block, state.frame
    state.push(scope.add_block())

    def body():
        if of_list:
            one = state.value(node.elt, wanted.of[0] if wanted else None)
            if known[0] is None:
                known[0] = made.type = kinds.listed(kinds.plain(one.type))
            state.call("aten::append", one, own=made, place=place)
        else:
            key = state.value(node.key)
            one = state.value(node.value, wanted.of[1] if wanted else None)
            if known[0] is None:
                known[0] = made.type = kinds.mapped(kinds.plain(key.type), kinds.plain(one.type))
            state.call("aten::_set_item", made, key, one, place=place)
    loops.each(state, found, loop.target, body, loop)
    state.block, state.frame = outer
    return values.Simple(made)
