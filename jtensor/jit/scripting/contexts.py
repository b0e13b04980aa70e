"""``with``, and calls that run beside the program (`torch.jit.fork`).

Owns: these two. May not know: other statements.
"""
from . import kinds, loops, values
from .source import absent, error

_LEAVES = {"prim::ReturnStmt": "return", "prim::BreakStmt": "break", "prim::ContinueStmt": "continue"}


def within(state, node, body):
    """``with``; ``body()`` adds what is done."""
    entered = [_entered(state, item) for item in node.items]
    first = state.mark()
    body()
    nodes = state.block.nodes[first:]
    last = nodes[-1] if nodes else None
    leaves = last is not None and last.kind == "prim::ReturnStmt"
    for one in nodes[:-1] if leaves else nodes:
        _stays(state, one, node, False)
    if leaves:
        state.back_to(first + len(nodes) - 1)
    for value in entered[::-1]:
        state.add_node("prim::Exit", [value])
    if leaves:
        state.block.add(last)


def _entered(state, item):
    place = state.place(item.context_expr)
    value = state.sugared(item.context_expr).as_value(state, place)
    if value.type.what is None or value.type.what.sort != "class":
        raise error("With item expression must return an object", place)
    methods = [state.unit.classes.method(value.type, name) for name in ("__enter__", "__exit__")]
    if None in methods:
        raise error("Object returned by with item expression does not define __enter__ and __exit__ methods", place)
    made = state.add("prim::Enter", [value], methods[0].form.returns[0])
    if item.optional_vars is not None:
        loops.assign(state, item.optional_vars, values.Simple(made), item.optional_vars)
    return value


def _stays(state, one, node, in_loop):
    """Refuses what would leave a block of ``with`` under a condition, which PyTorch fails to compile."""
    if one.kind in _LEAVES and not (in_loop and one.kind != "prim::ReturnStmt"):
        raise absent(f"'{_LEAVES[one.kind]}' under a condition, or out of a loop, within a block of with", state.place(node))
    for inner in one.blocks:
        for each in inner.nodes:
            _stays(state, each, node, in_loop or one.kind == "prim::Loop")


def forked(state, callee, args, named, place):
    """A ``Future`` of what a call answers."""
    made = state.add_node("prim::fork")
    outer = state.block, state.frame
    state.push(made.add_block())
    value = callee.called(state, args, named, place).as_value(state, place)
    made.blocks[0].results = [value]
    state.block, state.frame = outer
    return values.Simple(made.add_output(kinds.Kind("Future", (kinds.plain(value.type),))))
