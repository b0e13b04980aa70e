"""Programs while they are compiled: nodes in blocks, each value given once; variables are stored and loaded until `ssa` has made values
of them.

Owns: these classes and what is asked of their order and uses. May not know: the language, types' meaning, text.
"""
from .. import graph


class Value(graph.Value):
    """``type``: its `Kind`; ``node``: what gives it, None of a block's arguments; ``block``: the one whose argument it is."""

    __slots__ = ("block", "fact")

    def __init__(self, node, type, name="", block=None):
        super().__init__(node, type, name)
        self.block, self.fact = block, None

    @property
    def home(self):
        """The block that it belongs to."""
        return self.node.owner if self.node is not None else self.block


class Node(graph.Step):
    """A step that is compiled. ``blocks`` of an ``if`` or a loop; ``owner``: the block that it is in."""

    __slots__ = ("blocks", "owner")

    def __init__(self, kind, inputs=(), types=(), data=None, where=None):
        super().__init__(kind, inputs, [Value(self, type) for type in types], data, where)
        self.blocks, self.owner = [], None

    def add_block(self):
        made = Block(self)
        self.blocks.append(made)
        return made

    def add_output(self, type, name=""):
        self.outputs.append(Value(self, type, name))
        return self.outputs[-1]

    def insert_before(self, other):
        """Puts it before another node."""
        self.owner = other.owner
        other.owner.nodes.insert(_index(other.owner.nodes, other), self)
        return self

    def remove(self):
        """Takes it out of its block."""
        del self.owner.nodes[_index(self.owner.nodes, self)]
        self.owner = None


def _index(nodes, node):
    return next(at for at, one in enumerate(nodes) if one is node)


class Block:
    """``parent``: the node whose block it is, None of a function's; ``inputs`` and ``results``."""

    __slots__ = ("parent", "nodes", "inputs", "results")

    def __init__(self, parent=None):
        self.parent, self.nodes, self.inputs, self.results = parent, [], [], []

    def add(self, node):
        """Another node at the end."""
        node.owner = self
        self.nodes.append(node)
        return node

    def add_input(self, type, name=""):
        self.inputs.append(Value(None, type, name, self))
        return self.inputs[-1]

    def all_nodes(self):
        """Its nodes and those of the blocks within, each before those within it."""
        for node in list(self.nodes):
            yield node
            for block in node.blocks:
                yield from block.all_nodes()


class Graph:
    """A function's ``block``; ``uninitialized`` values and constants stand at its head."""

    def __init__(self):
        self.block = Block()

    def at_head(self, node):
        """Puts a node first of all."""
        node.owner = self.block
        self.block.nodes.insert(0, node)
        return node

    def uses(self):
        """{value: [(node or None for a block's end, position, block)]} in the order of the program."""
        found = {}

        def walk(block):
            for node in block.nodes:
                for at, value in enumerate(node.inputs):
                    found.setdefault(value, []).append((node, at, block))
                for inner in node.blocks:
                    walk(inner)
            for at, value in enumerate(block.results):
                found.setdefault(value, []).append((None, at, block))
        walk(self.block)
        return found


def replace(root, replaced):
    """Puts values in the place of others, ``{old: new}``, in a block and those within."""
    if not replaced:
        return

    def latest(value):
        while value in replaced:
            value = replaced[value]
        return value
    for node in root.all_nodes():
        node.inputs = [latest(value) for value in node.inputs]
        for block in node.blocks:
            block.results = [latest(value) for value in block.results]
    root.results = [latest(value) for value in root.results]
