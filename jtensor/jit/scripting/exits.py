"""``return``, ``break`` and ``continue`` in the midst of a function: what follows is run only where none of them was met.

As PyTorch does it: a branch that leaves also says so, and the rest of the block is put under that condition. Owns: that. May not know: the
language, text.
"""
from . import ir, kinds

WONT, MIGHT, WILL, THROWS = "wont", "might", "will", "throws"


def transform(graph):
    """Has blocks left at their ends alone."""
    _Exits(graph, "prim::LoopContinuation").block(graph.block)
    _Exits(graph, "prim::ReturnStmt").block(graph.block)
    _join(graph)


class _Exits:
    """One of the two ways to leave: ``kind``."""

    def __init__(self, graph, kind):
        self.graph, self.kind, self.target, self.unset, self.truths = graph, kind, None, {}, {}

    def _truth(self, value):
        if value not in self.truths:
            self.truths[value] = self.graph.at_head(ir.Node("prim::Constant", (), (kinds.BOOL,), value)).output
        return self.truths[value]

    def _without(self, kind):
        """A value of a kind that nobody looks at."""
        if kind not in self.unset:
            self.unset[kind] = self.graph.at_head(ir.Node("prim::Uninitialized", (), (kind,))).output
        return self.unset[kind]

    def _match(self, values):
        return [self._without(value.type) for value in values]

    def _is_target(self, block):
        if self.kind == "prim::LoopContinuation":
            return block.parent is not None and block.parent.kind == "prim::Loop"
        return block.parent is None

    def block(self, block):
        """(how a block is left, whether it was, what with)."""
        before = self.target
        if self._is_target(block):
            self.target = block
        found = WONT, self._truth(False), []
        for node in list(block.nodes):
            if node.owner is not block:
                continue
            if node.kind == "prim::RaiseException":
                found = THROWS, None, []
            elif node.kind == self.kind:
                found = WILL, self._truth(True), node.inputs
                at = ir._index(block.nodes, node)
                del block.nodes[at + 1:]
                node.remove()
                self._forget(block)
                break
            elif node.kind in ("prim::ReturnStmt", "prim::LoopContinuation"):
                continue
            elif node.kind == "prim::If":
                found = self._if(node)
            elif node.kind == "prim::Loop":
                found = self._loop(node)
            if found[0] in (WILL, THROWS):
                at = ir._index(block.nodes, node)
                if at + 1 < len(block.nodes) or block.results:
                    del block.nodes[at + 1:]
                    self._forget(block)
                break
            if found[0] == MIGHT:
                at = ir._index(block.nodes, node)
                if any(not one.is_constant for one in block.nodes[at + 1:]):
                    found = self._guard(block, found, at + 1)
                break
        if self.target is block:
            status, left, given = found
            if status == MIGHT:
                made = block.add(ir.Node("prim::If", [left]))
                made.add_block()
                made.add_block()
                _outputs(made, given, block.results)
                block.results = list(made.outputs)
            elif status == WILL:
                block.results = list(given)
            found = WONT, self._truth(False), []
        self.target = before
        return found

    def _forget(self, block):
        """What a block answers that is left before: nobody looks at it."""
        block.results = self._match(block.results)

    def _guard(self, block, found, at):
        made = ir.Node("prim::If", [found[1]])
        rest = block.nodes[at:]
        del block.nodes[at:]
        block.add(made)
        left, guarded = made.add_block(), made.add_block()
        for node in rest:
            guarded.add(node)
        left.results, guarded.results = self._match(block.results), block.results
        for value in block.results:
            made.add_output(value.type)
        block.results = list(made.outputs)
        left.add(ir.Node(self.kind, found[2]))
        return self._if(made)

    def _if(self, node):
        pairs = [self.block(block) for block in node.blocks]
        states = [pair[0] for pair in pairs]
        if states == [THROWS, THROWS]:
            return THROWS, None, []
        if all(state in (WONT, THROWS) for state in states):
            return WONT, self._truth(False), []
        for at, state in enumerate(states):
            if state in (WONT, THROWS):
                pairs[at] = state, self._truth(state == THROWS), self._match(pairs[1 - at][2])
        if all(state in (WILL, THROWS) for state in states):
            status, left = WILL, self._truth(True)
        else:
            status = MIGHT
            _outputs(node, [pairs[0][1]], [pairs[1][1]])
            left = node.outputs[-1]
        count = len(pairs[0][2])
        _outputs(node, pairs[0][2], pairs[1][2])
        return status, left, node.outputs[len(node.outputs) - count:]

    def _loop(self, node):
        body = node.blocks[0]
        status, left, given = self.block(body)
        if status in (WONT, THROWS):
            return WONT, self._truth(False), []
        made = body.add(ir.Node("prim::If", [left]))
        made.add_block().results = [self._truth(False)]
        made.add_block().results = [body.results[0]]
        body.results[0] = made.add_output(kinds.BOOL)
        outputs = []
        for value, first in ((left, self._truth(False)), *[(value, self._without(value.type)) for value in given]):
            node.inputs.append(first)
            body.add_input(value.type)
            body.results.append(value)
            outputs.append(node.add_output(value.type))
        return MIGHT, outputs[0], outputs[1:]


def _outputs(node, true, false):
    for one, other in zip(true, false, strict=True):
        node.blocks[0].results.append(one)
        node.blocks[1].results.append(other)
        kind = kinds.unified(kinds.plain(one.type), kinds.plain(other.type), default_to_union=True)
        node.add_output(kind)


# -- one condition after the other -------------------------------------------------------------------------------------------------------


def _join(graph):
    """A condition that the one before has just decided becomes a part of it."""
    replaced = {}

    def walk(block):
        at = 0
        while at < len(block.nodes):
            for inner in block.nodes[at].blocks:
                walk(inner)
            if not (at + 1 < len(block.nodes) and _joined(block, at, replaced)):
                at += 1
    walk(graph.block)
    ir.replace(graph.block, replaced)


def _joined(block, at, replaced):
    from .ssa import copy_nodes
    first = block.nodes[at]
    behind = next((place for place in range(at + 1, len(block.nodes)) if not block.nodes[place].is_constant), None)
    if behind is None or first.kind != "prim::If" or block.nodes[behind].kind != "prim::If":
        return False
    second = block.nodes[behind]
    condition = replaced.get(second.inputs[0], second.inputs[0])
    if condition.node is not first:
        return False
    place = next(index for index, value in enumerate(first.outputs) if value is condition)
    decided = [inner.results[place] for inner in first.blocks]
    if any(value.node is None or not value.node.is_constant for value in decided) or len({value.node.data for value in decided}) != 2:
        return False
    for inner, value in zip(first.blocks, decided, strict=True):
        other = second.blocks[0 if value.node.data else 1]
        known = {given: inner.results[index] for index, given in enumerate(first.outputs)}
        for old, new in replaced.items():
            if new in known:
                known[old] = known[new]
        for node in copy_nodes(other.nodes, known):
            inner.add(node)
        inner.results += [known.get(one, one) for one in other.results]
    for value in second.outputs:
        replaced[value] = first.add_output(value.type, value.name)
    del block.nodes[behind]
    return True
