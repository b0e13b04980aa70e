"""The types of TorchScript: what they are called, which is part of which, what one of two things is.

Owns: `Kind` and the relations between kinds. May not know: Python's annotations (`annotations`), values of programs.
"""


class Kind:
    """A type. ``name``: its constructor (``"Tensor"``, ``"List"``, a class's qualified name); ``of``: the kinds inside; ``what``: the
    class or module that it is the type of; ``note``: what makes no difference: that nobody wrote it, names of a tuple's parts.

    >>> pair = Kind("Tuple", (INT, optional(TENSOR)))
    >>> str(pair), is_part(INT, optional(INT)), str(unified(NONE, INT))
    ('Tuple[int, Optional[Tensor]]', True, 'Optional[int]')
    """

    __slots__ = ("name", "of", "what", "note")

    def __init__(self, name, of=(), what=None, note=None):
        self.name, self.of, self.what, self.note = name, tuple(of), what, note

    def __eq__(self, other):
        if type(other) is not Kind or self.name != other.name or self.what is not other.what:
            return False
        return set(self.of) == set(other.of) if self.name == "Union" else self.of == other.of

    def __hash__(self):
        return hash((self.name, id(self.what), frozenset(self.of) if self.name == "Union" else self.of))

    def __str__(self):
        """As annotations have it."""
        if self.name == "named tuple":
            return self.what.name
        if self.name == "Tuple" and not self.of:
            return "Tuple[()]"
        of = sorted(self.of, key=rank) if self.name == "Union" else self.of
        return f"{self.name}[{', '.join(map(str, of))}]" if self.of else self.name

    def shown(self):
        """As errors have it."""
        if self.name == "named tuple":
            return self.what.name
        if self.what is not None and self.what.sort == "class":
            return f"{self.what.name} (of Python compilation unit at: {id(self.what):#x})"
        if self.name == "Tensor" and self.note:
            return "Tensor (inferred)"
        if self.name == "number":
            return "Scalar"
        inner = [one.shown() for one in (sorted(self.of, key=rank) if self.name == "Union" else self.of)]
        return f"{self.name}[{', '.join(inner)}]" if self.of else str(self)

    def schema(self):
        """As schemas have it."""
        if self.name in ("List", "Optional"):
            return self.of[0].schema() + ("[]" if self.name == "List" else "?")
        if self.name == "number":
            return "Scalar"
        if self.what is not None and self.what.sort == "interface":
            return f"InterfaceType<{self.what.python.__name__}>"
        if self.name == "Tuple":
            return f"({', '.join([one.schema() for one in self.of])})"
        return f"{self.name}({', '.join([one.schema() for one in self.of])})" if self.of else str(self)

    __repr__ = __str__


_RANKS = ("Any", "Tensor", "Tuple", "List", "Dict", "number", "float", "complex", "Future", "int", "NoneType", "str", "Generator", "bool",
          "Optional", "Device")


def rank(kind):
    """Where PyTorch has a kind among those of a union."""
    return _RANKS.index(kind.name) if kind.name in _RANKS else len(_RANKS)


class Number:
    """How the library's annotations call a number of any type."""


TENSOR, INT, FLOAT, BOOL, STR = Kind("Tensor"), Kind("int"), Kind("float"), Kind("bool"), Kind("str")
COMPLEX, NUMBER, NONE, ANY, DEVICE, GENERATOR = (Kind(name) for name in ("complex", "number", "NoneType", "Any", "Device", "Generator"))
INFERRED = Kind("Tensor", note="inferred")
NUMBERS = (INT, FLOAT, COMPLEX)


def listed(kind):
    """``List[kind]``."""
    return Kind("List", (kind,))


def mapped(key, value):
    """``Dict[key, value]``."""
    return Kind("Dict", (key, value))


def paired(*kinds):
    """``Tuple[...]``."""
    return Kind("Tuple", kinds)


def optional(kind):
    """``Optional[kind]``, which is the kind where that may be None already."""
    if kind.name in ("Optional", "NoneType", "Any") or kind.name == "Union" and NONE in kind.of:
        return kind
    return Kind("Union", (*kind.of, NONE)) if kind.name == "Union" else Kind("Optional", (kind,))


def union(kinds):
    """``Union[...]`` of several kinds: one of them, or an ``Optional``, where no more are left."""
    flat = []
    for kind in kinds:
        for one in kind.of if kind.name == "Union" else (kind.of[0], NONE) if kind.name == "Optional" else (kind,):
            if one not in flat and not any(is_part(one, other) for other in flat):
                flat = [other for other in flat if not is_part(other, one)] + [one]
    if len(flat) == 1:
        return flat[0]
    if len(flat) == 2 and NONE in flat:
        return optional(next(one for one in flat if one != NONE))
    return NUMBER if set(flat) == set(NUMBERS) else Kind("Union", flat)


def parts(kind):
    """What a value of a kind may be: the members of a union, of an optional."""
    if kind.name == "Union":
        return kind.of
    return (kind.of[0], NONE) if kind.name == "Optional" else NUMBERS if kind.name == "number" else (kind,)


def is_tuple(kind):
    """Whether it is a tuple, named or not."""
    return kind.name in ("Tuple", "named tuple")


def fields(kind):
    """The kinds inside of a tuple, named or not."""
    return kind.what.kinds if kind.name == "named tuple" else kind.of


def is_part(kind, other):
    """Whether each value of a kind is one of another."""
    if kind == other or other.name == "Any":
        return True
    if other.name == "AnyListType":
        return kind.name == "List"
    if other.name == "AnyEnumType":
        return kind.what is not None and kind.what.sort == "enum"
    if kind.name in ("Optional", "Union"):
        return all(is_part(one, other) for one in parts(kind))
    if other.name in ("Optional", "Union", "number"):
        return any(is_part(kind, one) for one in parts(other)) or other.name == "number" and kind == other
    if is_tuple(kind) and other.name == "Tuple":
        mine = fields(kind)
        return len(mine) == len(other.of) and all(map(is_part, mine, other.of))
    if kind.what is not None and other.what is not None and other.what.sort == "interface":
        return other.what.why_not(kind) is None
    return kind.name == other.name == "Future" and is_part(kind.of[0], other.of[0])


def unified(one, other, default_to_union=False):
    """The least kind that both are; None where there is none."""
    if is_part(one, other):
        return other
    if is_part(other, one):
        return one
    if one == NONE or other == NONE:
        return optional(other if one == NONE else one)
    if one.name == "Optional" and is_part(other, one.of[0]):
        return one
    if one.name == other.name == "Tuple" and len(one.of) == len(other.of):
        inner = [unified(a, b) for a, b in zip(one.of, other.of, strict=True)]
        if None not in inner:
            return paired(*inner)
    if one.name == "Optional" or other.name == "Optional":
        inner = unified(*[kind.of[0] if kind.name == "Optional" else kind for kind in (one, other)])
        if inner is not None:
            return optional(inner)
    return union((one, other)) if default_to_union else None


def without_none(kind):
    """A kind that may be None where it is not."""
    return kind.of[0] if kind.name == "Optional" else union([one for one in kind.of if one != NONE]) if kind.name == "Union" else kind


def plain(kind):
    """A kind without the mark that nobody wrote it."""
    return TENSOR if kind == TENSOR else kind
