"""Variables become values: what is stored in branches and loops is carried out of them, what is loaded is what was stored.

Owns: that, and what ``break`` and ``continue`` leave a loop with. May not know: the language, text.
"""
from . import exits, ir, kinds


def to_values(graph):
    """Makes values of a function's variables, and lets nothing leave a block but at its end."""
    _Carried().block(graph.block)
    _continuations(graph.block, None)
    _conditions(graph.block)
    _scopes(graph.block)
    replaced = {}
    _erase(graph.block, [], replaced)
    ir.replace(graph.block, replaced)
    exits.transform(graph)


# -- what branches and loops carry -------------------------------------------------------------------------------------------------------


class _Carried:
    """Adds inputs and outputs to branches and loops, still as stores and loads."""

    def __init__(self):
        self.frames = []

    def find(self, name, frames=None):
        for frame in reversed(self.frames if frames is None else frames):
            if name in frame:
                return frame[name]
        return None

    def block(self, block):
        self.frames.append({})
        for node in list(block.nodes):
            if node.kind == "prim::If":
                self._if(node)
            elif node.kind == "prim::Loop":
                self._loop(node)
            elif node.kind == "prim::ComprehensionScope":
                self.block(node.blocks[0])
            elif node.kind == "prim::Store":
                self.frames[-1][node.data] = node.inputs[0].type
        return self.frames.pop()

    def _if(self, node):
        frames = [self.block(block) for block in node.blocks]
        names = set()
        for one, other in (frames, frames[::-1]):
            names.update(name for name in one if name in other or self.find(name) is not None)
        for name in sorted(names):
            types = [frame.get(name) or self.find(name) for frame in frames]
            kind = kinds.unified(*map(kinds.plain, types), default_to_union=True)
            if kind is None:
                continue
            for block, type in zip(node.blocks, types, strict=True):
                _result(block, type, name)
            self._output(node, kind, name)

    def _loop(self, node):
        body = node.blocks[0]
        for name, kind in sorted(self.block(body).items()):
            before = self.find(name)
            if before is None:
                continue
            both = kinds.unified(kinds.plain(before), kinds.plain(kind))
            node.inputs.append(ir.Node("prim::Load", (), (before,), name).insert_before(node).output)
            inside = body.add_input(both, name)
            store = ir.Node("prim::Store", [inside], data=name)
            store.owner = body
            body.nodes.insert(0, store)
            _result(body, kind, name)
            self._output(node, both, name)

    def _output(self, node, kind, name):
        value = node.add_output(kind, name if _named(name) else "")
        store = ir.Node("prim::Store", [value], data=name)
        at = ir._index(node.owner.nodes, node)
        last = at + 1
        nodes = node.owner.nodes
        while last < len(nodes) and nodes[last].kind == "prim::Store" and nodes[last].inputs[0].node is node:
            last += 1
        store.owner = node.owner
        nodes.insert(last, store)
        self.frames[-1][name] = kind


def _named(name):
    return not name.startswith("$") and (name[0] != "_" or any(not letter.isdigit() for letter in name[1:]))


def _result(block, kind, name):
    block.results.append(block.add(ir.Node("prim::Load", (), (kind,), name)).output)


# -- leaving a loop's round --------------------------------------------------------------------------------------------------------------


def _continuations(block, loop):
    for node in list(block.nodes):
        if node.kind == "prim::Loop":
            _continuations(node.blocks[0], node)
        elif node.kind in ("prim::ContinueStmt", "prim::BreakStmt"):
            made = ir.Node("prim::LoopContinuation").insert_before(node)
            if node.kind == "prim::BreakStmt":
                go_on = ir.Node("prim::Constant", (), (kinds.BOOL,), False).insert_before(made).output
            else:
                go_on = _copied(loop.blocks[1], made)
            made.inputs = [go_on]
            for value in loop.blocks[0].results:
                made.inputs.append(ir.Node("prim::Load", (), (value.type,), value.node.data).insert_before(made).output)
            node.remove()
        else:
            for inner in node.blocks:
                _continuations(inner, loop)


def copy_nodes(nodes, known):
    """Copies of nodes, ``known``: {value: the one to use instead}, which is added to."""
    made = []
    for node in nodes:
        one = ir.Node(node.kind, [known.get(value, value) for value in node.inputs], (), node.data, node.where)
        for value in node.outputs:
            known[value] = one.add_output(value.type, value.name)
            known[value].fact = value.fact
        for block in node.blocks:
            inner = one.add_block()
            for value in block.inputs:
                known[value] = inner.add_input(value.type, value.name)
            for copied in copy_nodes(block.nodes, known):
                inner.add(copied)
            inner.results = [known.get(value, value) for value in block.results]
        made.append(one)
    return made


def _copied(block, before):
    """Copies a block's nodes in front of a node; the copy of its first result."""
    known = {}
    for node in copy_nodes(block.nodes, known):
        node.insert_before(before)
    return known.get(block.results[0], block.results[0])


def _conditions(block):
    """A loop's condition is computed before it and at the end of each round."""
    for node in list(block.nodes):
        for inner in list(node.blocks):
            _conditions(inner)
        if node.kind == "prim::Loop":
            body, condition = node.blocks
            node.inputs.insert(1, _copied(condition, node))
            for one in condition.nodes:
                body.add(one)
            body.results.insert(0, condition.results[0])
            del node.blocks[1]


def _scopes(block):
    for node in list(block.nodes):
        for inner in node.blocks:
            _scopes(inner)
        if node.kind == "prim::ComprehensionScope":
            for one in node.blocks[0].nodes:
                one.insert_before(node)
            _rename(node.blocks[0])
            node.remove()


def _rename(block, count=[0]):                                    # noqa: B006 - numbers scopes, whose variables are nobody else's
    count[0] += 1
    names = {node.data for node in block.all_nodes() if node.kind == "prim::Store"}
    for node in block.all_nodes():
        if node.kind in ("prim::Store", "prim::Load") and node.data in names:
            node.data = f"${count[0]}{node.data}"


def _erase(block, frames, replaced):
    frames = [*frames, {}]
    kept = []
    for node in block.nodes:
        if node.kind == "prim::Store":
            frames[-1][node.data] = replaced.get(node.inputs[0], node.inputs[0])
        elif node.kind == "prim::Load":
            replaced[node.output] = next(frame[node.data] for frame in reversed(frames) if node.data in frame)
        else:
            node.inputs = [replaced.get(value, value) for value in node.inputs]
            for inner in node.blocks:
                _erase(inner, frames, replaced)
            kept.append(node)
    block.nodes = kept
    block.results = [replaced.get(value, value) for value in block.results]
