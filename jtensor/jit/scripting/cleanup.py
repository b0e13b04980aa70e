"""What is left out of a program, or decided before it runs, as PyTorch does before it shows one.

Owns: tuples that are taken apart at once, operators of constants, conditions that are known, what nobody uses, the order of what branches
and loops answer. May not know: the language, text.
"""
import math

from ...base.errors import MissingFeature
from .. import calls
from ..lowering import SAME
from . import forms, ir, kinds

_MOST = (1 << 63) - 1
_CALLS = ("prim::CallMethod", "prim::CallFunction")
_EFFECTS = frozenset(("prim::SetAttr", "prim::RaiseException", "prim::Print", "aten::warn", "aten::manual_seed", "prim::Enter",
                      "prim::Exit", "aten::set_grad_enabled", "aten::wait", "prim::fork", *_CALLS))


def tidy(graph):
    """All of it, in PyTorch's order."""
    _loops(graph)
    _normal(graph)
    _tuples(graph)
    _constants(graph)
    _unused(graph)
    _order(graph)


# -- loops of two conditions, operators by other names -----------------------------------------------------------------------------------


def _is(value, wanted):
    return value.node is not None and value.node.is_constant and value.node.data is wanted


def kind_of_loop(node, uses):
    """"for", "while", or "both" of a loop that counts and asks."""
    count, first = node.inputs[:2]
    body = node.blocks[0]
    always = _is(first, True) and _is(body.results[0], True)
    most = count.node is not None and count.node.is_constant and count.node.data == _MOST
    counts = not most or bool(uses.get(body.inputs[0]))
    return ("for" if counts else "while") if always else "both" if counts else "while"


def _loops(graph):
    uses = graph.uses()
    for node in list(graph.block.all_nodes()):
        if node.kind != "prim::Loop" or kind_of_loop(node, uses) != "both":
            continue
        body, count = node.blocks[0], node.inputs[0]

        def insert(kind, inputs, type, node=node):
            return ir.Node(kind, inputs, (type,), _form(kind, inputs)).insert_before(node).output

        def number(value, kind=kinds.INT, node=node):
            return ir.Node("prim::Constant", (), (kind,), value).insert_before(node).output
        zero, one = number(0), number(1)
        go_on = insert("aten::gt", [count, zero], kinds.BOOL)
        node.inputs[0] = number(_MOST)
        if not _is(node.inputs[1], True):
            go_on = insert("aten::__and__", [go_on, node.inputs[1]], kinds.BOOL)
        node.inputs[1] = go_on
        node.inputs.append(zero)
        node.add_output(kinds.INT)
        old = body.inputs[0]
        old.name = ""
        index = body.add_input(kinds.INT)
        ir.replace(body, {old: index})
        more = body.add(ir.Node("aten::add", [index, one], (kinds.INT,), forms.form("aten::add", "int"))).output
        body.results.append(more)
        less = body.add(ir.Node("aten::lt", [more, count], (kinds.BOOL,), forms.form("aten::lt", "int"))).output
        both = ir.Node("aten::__and__", [less, body.results[0]], (kinds.BOOL,), forms.form("aten::__and__", "bool"))
        body.results[0] = body.add(both).output


def _form(kind, inputs):
    return forms.form(kind, "bool" if kind == "aten::__and__" else "int")


_SAME = {f"aten::{old}": f"aten::{new}" for old, new in SAME.items() if not old.startswith("__") and old != new} | {
    f"aten::{old}_": f"aten::{new}_" for old, new in SAME.items() if not old.startswith("__") and old != new}


def _normal(graph):
    for node in graph.block.all_nodes():
        if node.kind in _SAME and node.data is not None:
            other = next((form for form in forms.of(_SAME[node.kind]) if form.overload == node.data.overload
                          and len(form.arguments) == len(node.data.arguments)), None)
            if other is not None:
                node.kind, node.data = _SAME[node.kind], other


# -- tuples ------------------------------------------------------------------------------------------------------------------------------


def _tuples(graph):
    replaced = {}
    for node in list(graph.block.all_nodes()):
        node.inputs = [replaced.get(value, value) for value in node.inputs]
        made = node.inputs[0].node if node.inputs else None
        if made is None or made.kind != "prim::TupleConstruct":
            continue
        if node.kind == "prim::TupleUnpack":
            replaced.update(zip(node.outputs, made.inputs, strict=True))
            node.remove()
        elif node.kind == "prim::TupleIndex" and node.inputs[1].node is not None and node.inputs[1].node.is_constant:
            replaced[node.output] = made.inputs[node.inputs[1].node.data]
            node.remove()
    ir.replace(graph.block, replaced)


# -- constants ---------------------------------------------------------------------------------------------------------------------------

_FIXED = frozenset(("int", "float", "bool", "str", "NoneType", "Device", "complex", "number"))
_RUN = {"aten::is_scripting": lambda: True, "prim::abs": abs, "prim::min": min, "prim::max": max, "aten::Int": int, "aten::Float": float,
        "aten::Bool": bool, "prim::unchecked_cast": lambda x: x, "aten::_unwrap_optional": lambda x: x}

_ASK = frozenset(("aten::is_grad_enabled", "aten::is_autocast_enabled", "aten::is_autocast_cpu_enabled", "aten::get_autocast_dtype"))
"""What asks how things are when the program runs."""


def _fixed(kind):
    if kind.name == "Optional":
        return _fixed(kind.of[0])
    return kind.name in _FIXED or kind.name == "Tuple" and all(map(_fixed, kind.of))


def _runs(node):
    """The value of an operator of constants; KeyError where it is not run before the program."""
    if not node.outputs or not all(value.node is not None and value.node.is_constant for value in node.inputs):
        raise KeyError
    if not all(_fixed(value.type) for value in (*node.outputs, *node.inputs)) or node.kind in _EFFECTS or node.kind in _ASK:
        raise KeyError
    given = [value.node.data for value in node.inputs]
    if node.kind == "prim::TupleConstruct":
        return tuple(given)
    if node.kind in _RUN:
        return _RUN[node.kind](*given)
    space, _, name = node.kind.partition("::")
    if space != "aten" or node.data is None or node.data.is_mutable:
        raise KeyError
    return calls.torch(name)(*given)


def _constants(graph):
    replaced = {}

    def walk(block):
        for node in list(block.nodes):
            node.inputs = [_latest(replaced, value) for value in node.inputs]
            if node.kind == "prim::If":
                if node.inputs[0].node is not None and node.inputs[0].node.is_constant:
                    chosen = node.blocks[0 if node.inputs[0].node.data else 1]
                    walk(chosen)
                    for one in list(chosen.nodes):
                        one.insert_before(node)
                    replaced.update(zip(node.outputs, [_latest(replaced, value) for value in chosen.results], strict=True))
                    node.remove()
                    continue
                for inner in node.blocks:
                    walk(inner)
                _same_outputs(node, replaced)
            elif node.kind == "prim::Loop":
                if _is(node.inputs[1], False) or node.inputs[0].node is not None and node.inputs[0].node.is_constant and (
                        node.inputs[0].node.data <= 0):
                    replaced.update(zip(node.outputs, node.inputs[2:], strict=True))
                    node.remove()
                    continue
                walk(node.blocks[0])
                _same_carried(node, replaced)
            elif not node.is_constant:
                try:
                    found = _runs(node)
                except (KeyError, MissingFeature, ArithmeticError, ValueError, TypeError, IndexError):
                    continue
                for value, one in zip(node.outputs, found if len(node.outputs) > 1 else [found], strict=True):
                    kind = kinds.NONE if one is None else value.type
                    made = ir.Node("prim::Constant", (), (kind,), one, node.where).insert_before(node)
                    replaced[value] = made.output
                node.remove()
        block.results = [_latest(replaced, value) for value in block.results]
    walk(graph.block)
    ir.replace(graph.block, replaced)


def _latest(replaced, value):
    while value in replaced:
        value = replaced[value]
    return value


def _equal(one, other):
    if one is other:
        return True
    nodes = one.node, other.node
    return all(node is not None and node.is_constant for node in nodes) and type(nodes[0].data) is type(nodes[1].data) and (
        nodes[0].data == nodes[1].data) and one.type == other.type and not (
            isinstance(nodes[0].data, float) and math.copysign(1, nodes[0].data) != math.copysign(1, nodes[1].data))


def _same_outputs(node, replaced):
    """Outputs of a condition that are the same in both branches are no outputs."""
    for at in range(len(node.outputs) - 1, -1, -1):
        one, other = (block.results[at] for block in node.blocks)
        if _equal(one, other):
            if one is not other:
                one = ir.Node("prim::Constant", (), (one.type,), one.node.data).insert_before(node).output
            replaced[node.outputs[at]] = one
            _drop(node, at)


def _drop(node, at):
    del node.outputs[at]
    for block in node.blocks:
        del block.results[at]


def _same_carried(node, replaced):
    body = node.blocks[0]
    for at in range(len(node.outputs) - 1, -1, -1):
        if _latest(replaced, body.results[at + 1]) is body.inputs[at + 1]:
            replaced[node.outputs[at]] = replaced[body.inputs[at + 1]] = node.inputs[at + 2]
            _drop_carried(node, at)


def _drop_carried(node, at):
    body = node.blocks[0]
    del node.outputs[at], node.inputs[at + 2], body.inputs[at + 1], body.results[at + 1]


# -- what nobody uses --------------------------------------------------------------------------------------------------------------------


def _has_effects(node):
    if node.kind in _EFFECTS or not node.outputs and node.kind.startswith("aten::"):
        return True
    if node.data is not None and type(node.data) is forms.Form and node.data.is_mutable:
        return True
    return any(_has_effects(one) for block in node.blocks for one in block.all_nodes())


def _unused(graph):
    while _sweep(graph):
        pass


def _sweep(graph):
    wanted, changed = set(), False

    def walk(block):
        nonlocal changed
        wanted.update(block.results)
        kept = []
        for node in reversed(block.nodes):
            if not any(value in wanted for value in node.outputs) and not _has_effects(node):
                changed = True
                continue
            if node.kind == "prim::If":
                for at in range(len(node.outputs) - 1, -1, -1):
                    if node.outputs[at] not in wanted:
                        changed = True
                        _drop(node, at)
                for inner in node.blocks[::-1]:
                    walk(inner)
            elif node.kind == "prim::Loop":
                _loop(node)
            else:
                for inner in node.blocks:
                    walk(inner)
            wanted.update(node.inputs)
            kept.append(node)
        block.nodes = kept[::-1]

    def _loop(node):
        nonlocal changed
        body = node.blocks[0]
        inside = _needed(node, wanted)
        for at in range(len(node.outputs) - 1, -1, -1):
            if node.outputs[at] not in wanted and body.inputs[at + 1] not in inside:
                changed = True
                _drop_carried(node, at)
        walk(body)
    walk(graph.block)
    return changed


def _needed(node, wanted):
    """Values that a loop's body needs, but for those that only carry themselves."""
    body = node.blocks[0]
    live = {0} | {at + 1 for at, value in enumerate(node.outputs) if value in wanted}
    while True:
        seen = {body.results[at] for at in live}
        _follow(body, seen)
        more = {at for at, value in enumerate(body.inputs) if at and value in seen} - live
        if not more:
            return seen
        live |= more


def _follow(block, seen):
    for node in reversed(block.nodes):
        for inner in node.blocks:
            seen.update(inner.results)
            _follow(inner, seen)
        if node.blocks or _has_effects(node) or any(value in seen for value in node.outputs):
            seen.update(node.inputs)


# -- the order of outputs ----------------------------------------------------------------------------------------------------------------


def _order(graph):
    """What branches and loops answer is in the order in which it is used."""
    at, first = 0, {}

    def walk(block):
        nonlocal at
        for node in block.nodes:
            at += 1
            for index, value in enumerate(node.inputs):
                first.setdefault(value, (at, index))
            for inner in node.blocks:
                walk(inner)
        at += 1
        for index, value in enumerate(block.results):
            first.setdefault(value, (at, index))

    def sort(block):
        for node in reversed(block.nodes):
            if node.kind in ("prim::If", "prim::Loop") and len(node.outputs) > 1:
                order = sorted(range(len(node.outputs)), key=lambda i, node=node: first.get(node.outputs[i], (math.inf, i)))
                offset = 1 if node.kind == "prim::Loop" else 0
                node.outputs = [node.outputs[i] for i in order]
                for inner in node.blocks:
                    inner.results = inner.results[:offset] + [inner.results[i + offset] for i in order]
                    if offset:
                        inner.inputs = inner.inputs[:1] + [inner.inputs[i + 1] for i in order]
                if offset:
                    node.inputs = node.inputs[:2] + [node.inputs[i + 2] for i in order]
                walk_again()
            for inner in node.blocks:
                sort(inner)

    def walk_again():
        nonlocal at
        at = 0
        first.clear()
        walk(graph.block)
    walk_again()
    sort(graph.block)
