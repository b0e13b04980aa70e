"""What has been traced: nodes that take values and give values, in blocks, one for each call of a module; and what becomes of it.

While tracing, values go freely from block to block. Then `settle` makes methods of blocks: what a block takes from outside becomes its
arguments, what is used outside of it its results, parameters become attributes that are looked up from the block's own module, and what
nobody uses is left out. Owns: these classes and those steps. May not know: tensors, functions, text.
"""


class Value:
    """``name``: what it is to be called ("" if anything will do); ``type`` as TorchScript writes it; ``node``: what gives it."""

    __slots__ = ("name", "type", "node")

    def __init__(self, node, type="Tensor", name=""):
        self.node, self.type, self.name = node, type, name


class Step:
    """What takes values and gives ``outputs``, traced or compiled. ``kind``: ``aten::add``, or one of those of `prim`; ``data``: a
    constant's value, a path to an attribute, a form, a name; ``where``: the place in the source that it stands for."""

    __slots__ = ("kind", "inputs", "outputs", "data", "where")

    def __init__(self, kind, inputs, outputs, data, where):
        self.kind, self.inputs, self.outputs, self.data, self.where = kind, list(inputs), outputs, data, where

    @property
    def output(self):
        return self.outputs[0]

    @property
    def is_constant(self):
        return self.kind == "prim::Constant"


class Node(Step):
    """A step that was traced. ``block``: what a call of a module consists of."""

    __slots__ = ("block",)

    def __init__(self, kind, inputs=(), types=("Tensor",), data=None, block=None, where=None):
        super().__init__(kind, inputs, [Value(self, type) for type in types], data, where)
        self.block = block

    @property
    def writes(self):
        """Whether it changes what it is given."""
        return self.data is not None and self.kind.startswith("aten::") and self.data.is_mutable


class Block:
    """Nodes in their order. ``path``: the names that lead from the traced module to the one that is called; ``inputs``, ``results``."""

    def __init__(self, path=()):
        self.path, self.nodes, self.inputs, self.results = tuple(path), [], [], []
        self.own = Value(None, "", "self")                        # the module itself

    def add(self, *args, **kwargs):
        """Another node at the end."""
        node = Node(*args, **kwargs)
        self.nodes.append(node)
        return node

    def all_nodes(self):
        """Its nodes and those of the blocks within, in the order in which they ran."""
        for node in self.nodes:
            if node.block is not None:
                yield from node.block.all_nodes()
            yield node


# -- what becomes of it -------------------------------------------------------------------------------------------------


def settle(root):
    """Makes of the outermost block, and of those within, what methods consist of."""
    _name_results(root, _users_of(root))
    _without_unused(root)
    _attributes(root)
    _arguments(root)


def flatten(block):
    """Puts the nodes of the blocks within in the place of their calls: a function has no modules."""
    flat = []
    for node in block.nodes:
        if node.block is None:
            flat.append(node)
        else:
            flatten(node.block)
            flat += node.block.nodes
    block.nodes = flat


def _users_of(root):
    """[(the path of blocks to a use, the value)] in the order of the uses."""
    uses = []

    def walk(block, way):
        way = (*way, block)
        for node in block.nodes:
            if node.block is not None:
                walk(node.block, way)
            else:
                uses.extend((way, value) for value in node.inputs)
        if len(way) == 1:
            uses.extend((way, value) for value in block.results)
    walk(root, ())
    return uses


def _name_results(root, uses):
    """What a block computes and others use becomes its result, in the order of the first use, and a result of its call."""
    homes = {}                                                    # {value: the way to the block that it is made in}

    def walk(block, way):
        way = (*way, block)
        for node in block.nodes:
            if node.block is not None:
                walk(node.block, way)
            for value in node.outputs:
                homes[value] = way
    walk(root, ())
    replaced = {}                                                 # {(block that asks, value): what it is called there}
    calls = {node.block: node for node in root.all_nodes() if node.block is not None}
    for way, value in uses:
        home = homes.get(value)
        if home is None or value.node.kind == "prim::Attribute":
            continue
        common = 0
        while common < min(len(way), len(home)) and way[common] is home[common]:
            common += 1
        shown = value
        for block in reversed(home[common:]):
            key = block, value
            if key not in replaced:
                block.results.append(shown)
                call = calls[block]
                replaced[key] = outside = Value(call, value.type)
                call.outputs.append(outside)
            shown = replaced[key]
        if shown is not value:
            replaced.setdefault((None, way[-1], value), shown)
    _replace(root, replaced)


def _replace(root, replaced):
    def walk(block, outer):
        for node in block.nodes:
            if node.block is not None:
                walk(node.block, False)
            node.inputs = [replaced.get((None, block, value), value) for value in node.inputs]
        if outer:
            block.results = [replaced.get((None, block, value), value) for value in block.results]
    walk(root, True)


def _without_unused(block, wanted=None):
    """Leaves out what nobody uses and what changes nothing."""
    wanted = set() if wanted is None else wanted
    wanted.update(block.results)
    kept = []
    for node in reversed(block.nodes):
        if node.block is not None:
            live = [at for at, value in enumerate(node.outputs) if value in wanted]
            node.outputs = [node.outputs[at] for at in live]
            node.block.results = [node.block.results[at] for at in live]
            _without_unused(node.block, wanted)
            if not node.block.nodes and not node.outputs:
                continue
        elif not node.writes and not any(value in wanted for value in node.outputs):
            continue
        wanted.update(node.inputs)
        kept.append(node)
    block.nodes = kept[::-1]


def _attributes(block):
    """Looks parameters up from the block's module where they are below it; the others become its first arguments, and are answered."""
    known, above = {}, {}
    looked_up = []                                                # chains of nodes; the last one comes first

    def local(path):
        if path not in known:
            chain, value = [], block.own
            for name in path[len(block.path):]:
                node = Node("prim::GetAttr", [value], ("Module",), name)
                value = node.output
                value.name = name if name.isidentifier() else "_" + name
                chain.append(node)
            value.type = "Tensor"
            looked_up.insert(0, chain)
            known[path] = value
        return known[path]

    def found(value):
        if value.node is None or value.node.kind != "prim::Attribute":
            return value
        if value.node.data[:len(block.path)] == block.path:
            return local(value.node.data)
        if value not in above:
            above[value] = Value(None)
            block.inputs.append(above[value])
        return above[value]

    for node in block.nodes:
        if node.block is not None:                                # what parts ask for of others is looked up first
            node.inputs = [found(value) for value in _attributes(node.block)]
    for node in block.nodes:
        if node.block is not None:
            node.inputs.insert(0, local(node.block.path))
        node.inputs = [found(value) for value in node.inputs]
    block.results = [found(value) for value in block.results]
    block.nodes = [node for chain in looked_up for node in chain] + [node for node in block.nodes if node.kind != "prim::Attribute"]
    return list(above)


def _arguments(block):
    """What a block takes from those around it becomes its arguments; answered are the values themselves."""
    own, taken = {block.own, *block.inputs}, {}

    def found(value):
        if value in own:
            return value
        if value not in taken:
            taken[value] = Value(None, value.type, value.name)
            block.inputs.append(taken[value])
        return taken[value]

    for node in block.nodes:
        if node.block is not None:
            node.inputs += _arguments(node.block)
        node.inputs = [found(value) for value in node.inputs]
        own.update(node.outputs)
    block.results = [found(value) for value in block.results]
    return list(taken)
