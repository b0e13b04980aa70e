"""A function while it is compiled: where the next node goes, which variables there are and of what types.

Variables are stored and loaded by their names; `ssa` makes values of them later. Owns: adding nodes, frames of variables. May not know:
syntax.
"""
from . import ir, kinds, matching, values
from .source import Place, error


class Frame:
    """The variables of a block. ``types`` of what is stored; ``sugared``: {name: what is no value}; ``wrong``: {name: why it is
    not there}"""

    def __init__(self, block, outer):
        self.block, self.outer, self.types, self.sugared, self.wrong = block, outer, {}, {}, {}

    def defined(self):
        """Names of the values that are stored here."""
        return sorted(self.types)


class State:
    """The compiler's state in one function. ``unit``: what compiles other functions and knows modules; ``source``: the function's;
    ``emit``: what makes something sugared of an expression."""

    def __init__(self, unit, source, emit):
        self.unit, self.source, self.emit, self.graph, self.hint = unit, source, emit, ir.Graph(), None
        self.block, self.frame = self.graph.block, None
        self.exits, self.loop, self.depth = set(), "", 0
        self.declared = self.merged = None                        # types of what is returned
        self.push(self.block)

    def place(self, node):
        return Place(self.source, node)

    def sugared(self, node, hint=None):
        """What an expression is. ``hint``: the kind that is wanted, which literals become."""
        before, self.hint = self.hint, hint
        try:
            return self.emit(self, node, hint)
        finally:
            self.hint = before

    def value(self, node, hint=None):
        """The value of an expression."""
        return self.sugared(node, hint).as_value(self, self.place(node))

    # -- nodes ----------------------------------------------------------------------------------------------------------

    def add_node(self, kind, inputs=(), types=(), data=None, where=None):
        """Another node at the end of the current block."""
        return self.block.add(ir.Node(kind, inputs, types, data, where))

    def add(self, kind, inputs, type, data=None):
        """The one result of another node."""
        return self.add_node(kind, inputs, (type,), data).output

    def constant(self, value, kind=None):
        """A constant."""
        made = kinds.NONE if value is None else kind
        if made is None:
            made = _CONSTANTS[type(value)]
        elif made.name == "Optional":
            made = made.of[0]
        if made == kinds.NUMBER:
            made = _CONSTANTS[type(value)]
        return self.add("prim::Constant", (), made, data=value)

    def mark(self):
        """Where the current block ends now."""
        return len(self.block.nodes)

    def back_to(self, mark):
        """Takes away what was added since."""
        del self.block.nodes[mark:]

    def unpacked(self, value):
        """The values inside of a tuple."""
        if value.node is not None and value.node.kind == "prim::TupleConstruct":
            return value.node.inputs
        return self.add_node("prim::TupleUnpack", [value], kinds.fields(value.type)).outputs

    def call(self, name, *args, place=None, own=None, **named):
        """The result of an operator."""
        given = [matching.Given(one) for one in args]
        return matching.choose(self, name, given, [matching.Given(one, key) for key, one in named.items()], place, own)

    # -- frames ---------------------------------------------------------------------------------------------------------

    def push(self, block):
        """Enters a block, with variables of its own."""
        self.frame = Frame(block, self.frame)
        self.block = block

    def pop(self):
        """Leaves it; its frame."""
        left, self.frame = self.frame, self.frame.outer
        self.block = self.frame.block if self.frame is not None else None
        return left

    def find(self, name, frame=None):
        """What a variable is: a `Kind` of something stored, something sugared, None."""
        frame = frame or self.frame
        while frame is not None:
            if name in frame.types:
                return frame.types[name]
            if name in frame.sugared:
                return frame.sugared[name]
            frame = frame.outer
        return None

    def load(self, name, frame=None):
        """A variable as something sugared; None if there is none."""
        found = self.find(name, frame)
        if found is None or type(found) is not kinds.Kind:
            return found
        return values.Simple(self.add("prim::Load", (), found, data=name))

    def set(self, name, given, node, annotated=None):
        """Makes a variable of something sugared."""
        value = given.value if type(given) is values.Simple else None
        place = self.place(node)
        if value is not None and not value.name and _has_meaning(name) and value.home is self.block:
            value.name = name
        parent = self.find(name, self.frame.outer) if self.frame.outer is not None else None
        if parent is not None:
            value = self._again(name, given, value, parent, place, annotated)
        if value is None:
            self.frame.sugared[name] = given
            self.frame.types.pop(name, None)
            return
        if annotated is not None and not kinds.is_part(value.type, annotated):
            raise error(f"Variable '{name}' is annotated with type {annotated.shown()} but is being assigned to a value of type "
                        f"{value.type.shown()}", place)
        self.store(name, value, annotated or value.type)

    def _again(self, name, given, value, parent, place, annotated):
        if annotated is not None:
            raise error(f"Attempting to declare and annotate the type of variable '{name}' that is already defined in an outer "
                        "block", place)
        if value is None:
            raise error(f"Cannot re-assign '{name}' to a value of type {given.sort} because {name} is not a first-class value.  Only "
                        "reassignments to first-class values are allowed", place)
        if type(parent) is not kinds.Kind:
            raise error(f"Cannot re-assign '{name}' because it has type {parent.sort} and {name} is not a first-class value.  Only "
                        "reassignments to first-class values are allowed", place)
        value = matching.convert_to(self, value, parent, True)
        if not kinds.is_part(kinds.plain(value.type), parent):
            more = ("\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another "
                    "type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)"
                    ) if parent.name == value.type.name == "List" else ""
            raise error(f"Variable '{name}' previously had type {parent.shown()} but is now being assigned to a value of type "
                        f"{value.type.shown()}{more}\n", place)
        return value

    def store(self, name, value, kind):
        """Stores a value under a name."""
        self.add_node("prim::Store", [value], data=name)
        self.frame.sugared.pop(name, None)
        self.frame.types[name] = kind


def _has_meaning(name):
    if not name or name[0] == "$":
        return False
    return name[0] != "_" or any(not letter.isdigit() for letter in name[1:])


_CONSTANTS = {bool: kinds.BOOL, int: kinds.INT, float: kinds.FLOAT, str: kinds.STR, complex: kinds.COMPLEX}
