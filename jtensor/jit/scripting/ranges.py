"""What loops go through besides containers: ``range``, ``enumerate``, ``zip``.

Owns: these. May not know: syntax.
"""
from . import kinds
from .source import error
from .values import Parts, Simple, Sugared


class Range(Sugared):
    """``range(...)``."""

    sort = "range"

    def __init__(self, state, given, place):
        if not 1 <= len(given) <= 3:
            raise error(f"range expected 1 to 3 arguments, got {len(given)}", place)
        for one in given:
            if one.type != kinds.INT:
                raise error("all inputs of range must be ints, found " + one.type.shown() + f" in argument {given.index(one)}", place)
        self.start, self.end, self.step = (None, given[0], None) if len(given) == 1 else (*given, None)[:3]
        if self.start is not None and self.step is None:
            self.step = state.constant(1)

    def iterated(self, state, place):
        return self

    def length(self, state, place):
        if self.start is None:
            return self.end
        return state.call("aten::__range_length", self.start, self.end, self.step, place=place)

    def item(self, state, index, place):
        if self.start is None:
            return Simple(index)
        return Simple(state.call("aten::__derive_index", index, self.start, self.step, place=place))

    def as_value(self, state, place):
        raise error("range cannot be used as a value", place)


class Count(Range):
    """The numbers of ``enumerate``."""

    def __init__(self, state, start):
        self.start, self.end, self.step = start, state.constant((1 << 63) - 1), None
        if start is not None:
            self.step = state.constant(1)

    def length(self, state, place):
        return self.end if self.start is None else state.call("aten::__range_length", self.start, self.end, self.step, place=place)


class Several(Sugared):
    """``zip`` and ``enumerate``: several things that a loop goes through at once."""

    sort = "iterabletree"

    def __init__(self, children, place):
        self.children = children
        lengths = [len(one.parts) for one in children if one.parts is not None]
        self.known = min(lengths) if lengths else None
        if lengths and any(one.parts is None and type(one) is not Count for one in children):
            raise error("Can not iterate over a module list or tuple with a value that does not have a statically determinable length\n",
                        place)

    def iterated(self, state, place):
        if self.known is not None:
            return Parts([self.item(state, state.constant(at), place) for at in range(self.known)])
        return self

    def length(self, state, place):
        found = [one.length(state, place) for one in self._leaves()]
        return state.call("prim::min", state.add("prim::ListConstruct", found, kinds.listed(kinds.INT)), place=place)

    def _leaves(self):
        return [leaf for one in self.children for leaf in (one._leaves() if type(one) is Several else [one])]

    def item(self, state, index, place):
        return Parts([one.item(state, index, place) for one in self.children])
