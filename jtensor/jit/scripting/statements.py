"""Statements, and whole functions.

Owns: ``if``, ``return``, ``assert``, ``raise``, assignments, a function's arguments and what it answers. May not know: what becomes of the
nodes.
"""
import ast

from . import annotations, arithmetic, conditions, contexts, forms, indexing, ir, kinds, loops, matching, objects, values
from .source import at_start, error, unsupported

_NAMES = {"Try": ("try blocks", "try"), "TryStar": ("try blocks", "try"), "Global": ("global variables", "global"),
          "Nonlocal": ("nonlocal variables", "nonlocal"), "FunctionDef": ("function definitions", "def"),
          "ClassDef": ("class definitions", "class"), "Import": ("import statements", "import"),
          "ImportFrom": ("import statements", "from"),
          "AsyncFunctionDef": ("async function definitions", "async def"), "AsyncFor": ("async for loops", "async for"),
          "AsyncWith": ("async with statements", "async with"), "Match": ("Match", "match")}


def emit_all(state, nodes):
    """Statements one after the other, up to one behind which nothing runs."""
    for node in nodes:
        emit = _STATEMENTS.get(type(node))
        if emit is None:
            what, word = _NAMES.get(type(node).__name__, (type(node).__name__, ""))
            raise unsupported(f"{what} aren't supported", state.place(at_start(node, len(word))))
        emit(state, node)
        if state.block in state.exits:
            return


# -- simple ones -------------------------------------------------------------------------------------------------------------------------


def _expression(state, node):
    if isinstance(node.value, ast.Constant):
        return
    state.sugared(node.value)


def _pass(state, node):
    pass


def _assign(state, node):
    kind = _comment(state, node)
    if len(node.targets) == 1:
        given = _given(state, node.targets[0], node.value, kind)
        _one(state, node.targets[0], given, node, kind)
        return
    found = state.sugared(node.value, kind)
    for target in node.targets:
        loops.assign(state, target, found, node)


def _given(state, target, node, kind):
    if isinstance(target, ast.Subscript):
        return None
    return state.sugared(node, kind)


def _one(state, target, given, node, kind):
    if isinstance(target, ast.Subscript):
        indexing.write(state, target, lambda: state.value(node.value))
    elif isinstance(target, ast.Name) and kind is not None:
        _annotated(state, target, given, node, kind)
    else:
        loops.assign(state, target, given, node)


def _annotated(state, target, given, node, kind):
    value = matching.convert_to(state, given.as_value(state, state.place(node)), kind, True)
    if value.type == kinds.NONE and kind != kinds.NONE and kinds.is_part(kinds.NONE, kind):
        value = state.constant(None)
        value.type = kind
    state.set(target.id, values.Simple(value), target, kind)


def _comment(state, node):
    text = getattr(node, "type_comment", None)
    return None if text is None else annotations.of_node(ast.parse(text, mode="eval").body, state.source)


def _with_annotation(state, node):
    kind = annotations.of_node(node.annotation, state.source)
    if node.value is None:
        raise unsupported("annotated assignments without assigned value aren't supported", state.place(node))
    if not isinstance(node.target, ast.Name):
        given = state.sugared(node.value, kind)
        loops.assign(state, node.target, given, node)
        return
    _annotated(state, node.target, state.sugared(node.value, kind), node, kind)


def _augmented(state, node):
    target, place = node.target, state.place(node)
    if isinstance(target, ast.Subscript):
        indexing.augment(state, target, node.op, lambda: state.value(node.value))
        return
    if not isinstance(target, (ast.Name, ast.Attribute)):
        raise unsupported(f"{type(target).__name__} aren't supported", place)
    load = ast.copy_location(ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else
                             ast.Attribute(target.value, target.attr, ast.Load()), target)
    before = state.value(load)
    given = state.value(node.value)
    if before.type == kinds.TENSOR or before.type.name == "List" and isinstance(node.op, ast.Add):
        made = state.call(indexing.IN_PLACE[type(node.op)], before, given, place=place)
        if isinstance(target, ast.Name):
            state.set(target.id, values.Simple(made), target)
        else:
            loops.assign(state, target, values.Simple(made), node)
        return
    if before.type.what is not None and before.type.what.sort == "class":
        loops.assign(state, target, arithmetic.in_place(state, node.op, before, given, place), node)
        return
    made = values.Simple(arithmetic.binary(state, node.op, before, given, node))
    loops.assign(state, target, made, node)


def _delete(state, node):
    for target in node.targets:
        if isinstance(target, ast.Name):
            state.frame.types.pop(target.id, None)
            state.frame.sugared.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            state.call("aten::Delete", state.value(target.value), state.value(target.slice), place=state.place(node))
        else:
            raise error("del statements are only supported for deleting list and dict items and variables", state.place(target))


# -- what leaves a block -----------------------------------------------------------------------------------------------------------------


def _return(state, node):
    declared = state.declared
    value = state.value(node.value, declared) if node.value is not None else state.constant(None)
    if declared is not None:
        if not (declared == kinds.TENSOR and value.type == kinds.NONE):
            value = matching.convert_to(state, value, declared, True)
        if not kinds.is_part(kinds.plain(value.type), declared):
            raise error(f"Return value was annotated as having type {declared.shown()} but is actually of type {value.type.shown()}",
                        state.place(node))
        state.merged = declared
    else:
        before = state.merged if state.merged is not None else value.type
        merged = kinds.unified(kinds.plain(before), kinds.plain(value.type))
        if merged is None:
            raise error(f"Previous return statement returned a value of type {before.shown()} but this return statement returns a value of "
                        f"type {value.type.shown()}", state.place(node))
        state.merged = merged
    state.add_node("prim::ReturnStmt", [value])
    state.exits.add(state.block)


def _raise(state, node):
    if node.exc is None:
        raise unsupported("re-raising an exception isn't supported", state.place(node))
    found = state.sugared(node.exc)
    if type(found) is not objects.Raised:
        raise error("exceptions must derive from BaseException", state.place(node))
    _thrown(state, found, state.place(node))


def _thrown(state, found, place):
    message = found.message if found.message is not None else state.constant("")
    if message.type != kinds.STR:
        message = state.call("aten::str", message, place=place)
    room = found.python.__module__.replace("jtensor", "torch", 1)
    kind = None if found.message is None else f"{room}.{found.python.__qualname__}"
    state.add_node("prim::RaiseException", [message, state.constant(kind)],
                   data=forms.of("prim::RaiseException")[0])
    state.exits.add(state.block)


def _assert(state, node):
    found = conditions.condition(state, node.test)

    def wrong():
        message = state.value(node.msg) if node.msg is not None else state.constant("")
        if message.type != kinds.STR:
            message = state.call("aten::str", message, place=state.place(node))
        text = state.call("aten::add", state.constant("AssertionError: "), message, place=state.place(node))
        state.add_node("prim::RaiseException", [text, state.constant(None)], data=forms.of("prim::RaiseException")[0])
        state.exits.add(state.block)
    _either(state, found, lambda: None, wrong, node)


# -- if ----------------------------------------------------------------------------------------------------------------------------------


def _if(state, node):
    found = conditions.condition(state, node.test)
    _either(state, found, lambda: emit_all(state, node.body), lambda: emit_all(state, node.orelse), node)


def _either(state, found, true, false, node):
    if found.static is not None:
        conditions.refine(state, found.true if found.static else found.false, node)
        (true if found.static else false)()
        return
    made = state.add_node("prim::If", [found.value], where=node)
    frames, outer = [], (state.block, state.frame)
    for emit, known in ((true, found.true), (false, found.false)):
        state.push(made.add_block())
        conditions.refine(state, known, node)
        emit()
        frames.append(state.frame)
        state.block, state.frame = outer
    leaves = [block in state.exits for block in made.blocks]
    if all(leaves):
        state.exits.add(state.block)
    place, changed = state.place(node), set()
    for at, (frame, other) in enumerate((frames, frames[::-1])):
        for name in frame.defined():
            if state.find(name, other) is not None or leaves[1 - at]:
                changed.add(name)
            else:
                state.frame.wrong[name] = f"\n{name} is not defined in the {('false', 'true')[at]} branch:\n{place}"
    if not all(leaves):
        for name in sorted(changed):
            _joined(state, name, made, frames, leaves, place)
    for block, frame in zip(made.blocks, frames, strict=True):
        frame.block = block


def _joined(state, name, made, frames, leaves, place):
    """A variable that is set in a branch, behind the two."""
    found = []
    for frame, leave in zip(frames, leaves, strict=True):
        if leave:
            found.append(None)
            continue
        kind = state.find(name, frame)
        if type(kind) is not kinds.Kind:
            raise error(f"{name} is set to a value that is not first-class in one branch", place)
        found.append(kind)
    for at, leave in enumerate(leaves):
        if leave:
            block = made.blocks[at]
            unset = ir.Node("prim::Uninitialized", (), (found[1 - at],))
            block.add(unset)
            block.add(ir.Node("prim::Store", [unset.output], data=name))
            frames[at].types[name] = found[at] = found[1 - at]
    before = state.find(name)
    either = type(before) is kinds.Kind and before.name in ("Union", "Any")
    kind = kinds.unified(*map(kinds.plain, found), default_to_union=either)
    if kind is None:
        text = (f"Type mismatch: {name} is set to type {found[0].shown()} in the true branch and type {found[1].shown()} in the false "
                "branch")
        if any(state.find(name, frame.outer) is not None for frame in frames):
            raise error(text, place)
        state.frame.wrong[name] = f"\n{text}:\n{place}"
        return
    state.frame.types[name] = kind
    state.frame.sugared.pop(name, None)


# -- loops -------------------------------------------------------------------------------------------------------------------------------


def _for(state, node):
    if node.orelse:
        raise unsupported("else branches of for loops aren't supported", state.place(node))
    found = state.sugared(node.iter)
    loops.each(state, found, node.target, lambda: emit_all(state, node.body), node)


def _while(state, node):
    if node.orelse:
        raise unsupported("else branches of while loops aren't supported", state.place(node))
    loops.repeat(state, node.test, lambda: emit_all(state, node.body), node)


def _with(state, node):
    contexts.within(state, node, lambda: emit_all(state, node.body))


_STATEMENTS = {ast.Expr: _expression, ast.Pass: _pass, ast.Assign: _assign, ast.AnnAssign: _with_annotation, ast.AugAssign: _augmented,
               ast.Return: _return, ast.Raise: _raise, ast.Assert: _assert, ast.If: _if, ast.For: _for, ast.While: _while, ast.With: _with,
               ast.Break: loops.leave, ast.Continue: loops.leave, ast.Delete: _delete}
