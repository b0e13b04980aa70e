"""What a compiler could know of each variable of a flat program, as far as fences depend on it.

Owns the analysis, one walk forwards and one back (`Facts`). Knows the flattened jaxpr; where fences are put, `fences` decides on it.
"""
import numpy as np

from .kinds import (
    ADD,
    CONSTANT,
    CONVERT,
    ELEMENTWISE,
    ELEMENTWISE_MOVES,
    EXTREME,
    FOLDED,
    MATRIX_PRODUCTS,
    MOVES,
    MUL,
    OTHER,
    PLAIN,
    PRODUCT,
    SUM,
    TURNED,
)

_IDENTITIES = {"operator_result", "copy", "copy_p", "barrier", "optimization_barrier"}
# What gives equal numbers where its inputs are equal numbers.
_WIDENED = ELEMENTWISE | ELEMENTWISE_MOVES | {"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "slice"}
_OF_EQUALS = {"xor", "sub", "eq", "ne", "lt", "le", "gt", "ge"}          # what is known of two integers that are the same
_ABSORBED_BY = {"mul": 0, "and": 0, "or": -1}                            # the number that makes it known, whatever the other one is


class Facts:
    """What the compiler could know of each variable, one list a fact."""

    def __init__(self, graph):
        count, self.avals = len(graph.avals), graph.avals
        self.made = [0] * count         # kinds of the arithmetic whose result it is, looking back through moves
        self.used = [0] * count         # kinds of the arithmetic that uses it, looking on through moves
        self.constant = [False] * count
        self.single = [False] * count   # of what is constant: all its elements are the same
        self.moved = [False] * count    # it is something moved, or computed from nothing else
        self.turned = [False] * count   # the same for transposes
        self.truth = [False] * count    # it is made of truth values as numbers, or is a sign, which may be no more than one
        self.maker = [None] * count     # the equation
        for e in graph.equations:
            self._look_back(e)
        for e in reversed(graph.equations):
            self._look_on(e)

    def _look_back(self, e):
        """What an equation's inputs tell of its results."""
        made, constant, moved, turned = 0, True, None, None
        for at, v in enumerate(e.inputs):
            if type(v) is int:
                if self.constant[v]:
                    e.kind |= FOLDED if e.kind & ~PLAIN else 0
                else:
                    constant = False
                    made |= self.made[v]
                    if not self.avals[v].shape and e.name not in MOVES or e.name == "select_n" and at == 0:
                        continue        # one number goes along with any move, and where both choices are the same there is none
                    moved = self.moved[v] and moved is not False
                    turned = self.turned[v] and turned is not False
            elif e.kind & ~PLAIN:
                e.kind |= FOLDED
        if constant or self._folds(e):
            constant, single = True, e.inputs != [] and (not constant or e.name in _WIDENED and all(map(self._is_single, e.inputs)))
        else:
            # Of a choice that is known in advance one side is left, which may be constant.
            single = constant = e.name == "select_n" and self._is_single(e.inputs[0]) and any(map(self._is_constant, e.inputs[1:]))
        if e.name not in MOVES:
            made = e.kind | (made if e.name == "abs" else 0)        # there is none of what is not negative: sqrt(abs(x * x)) is abs(x)
        elif e.name not in ELEMENTWISE_MOVES:
            moved = True
            turned = turned or turns(e)
        if e.kind & (SUM | PRODUCT | EXTREME | OTHER) or e.name in MATRIX_PRODUCTS or constant:
            moved, turned = constant, False
        if e.name.startswith("cum"):            # XLA writes these out with reshapes and transposes around them
            moved = turned = True
        elif not constant and e.kind & SUM and turns(e):
            turned = True
        if constant:
            made = CONSTANT | (made if e.name == "select_n" else 0)
        asks = any if e.name in MOVES else all if e.name == "convert_element_type" or e.kind & (ADD | MUL) else None
        truth = e.name == "sign" or asks is not None and asks(self.truth[v] or e.kind & CONVERT and self.avals[v].dtype == bool
                                                              for v in e.inputs if type(v) is int)
        for v in e.outputs:
            self.made[v], self.constant[v], self.moved[v], self.turned[v] = made, constant, bool(moved), bool(turned)
            self.truth[v], self.maker[v], self.single[v] = bool(truth), e, single

    def _look_on(self, e):
        """What an equation tells of its inputs: by what arithmetic they are used, beyond moves."""
        used = e.kind
        if e.name in MOVES or e.name == "abs":
            for v in e.outputs:
                used |= self.used[v]
        if turns(e):
            used |= TURNED
        for v in e.inputs:
            if type(v) is int:
                self.used[v] |= used

    def _is_constant(self, atom):
        return type(atom) is not int or self.constant[atom]

    def _is_single(self, atom):
        """Whether it is constant, and one number, as an array of one element always is."""
        if type(atom) is not int:
            return self._number(atom) is not None
        return self.constant[atom] and (self.single[atom] or self.avals[atom].size == 1)

    def _number(self, atom):
        """What all elements of an atom are in the program, if that is easily seen; else None."""
        while type(atom) is int:
            maker = self.maker[atom]
            if maker is None or maker.name not in _IDENTITIES | {"broadcast_in_dim", "reshape"}:
                return None
            atom = maker.inputs[0]
        value = np.asarray(atom.value)
        return value.flat[0] if value.size and (value == value.flat[0]).all() else None

    def _folds(self, e):
        """Whether XLA knows what comes of an equation on integers or truth values, some of which only the run knows."""
        if e.name in _OF_EQUALS:
            return self._is_exact(e.inputs[0]) and self.are_equal(*e.inputs)
        if e.name not in _ABSORBED_BY or not self._is_exact(e.outputs[0]):
            return False
        absorbing = np.asarray(_ABSORBED_BY[e.name]).astype(e.avals[0].dtype)
        return any(self._number(v) == absorbing for v in e.inputs)

    def _is_exact(self, atom):
        """Whether it holds integers or truth values that only the run knows."""
        return type(atom) is int and getattr(self.avals[atom], "dtype", np.dtype(object)).kind in "iub"

    def are_equal(self, a, b, depth=8):
        """Whether XLA would find two atoms to be the same variable: made by one equation, or by two that are alike."""
        if type(a) is not int or type(b) is not int or a == b:
            return type(a) is type(b) is int
        one, other = self.maker[a], self.maker[b]
        if one is not None and one.name in _IDENTITIES:
            return self.are_equal(one.inputs[0], b, depth)
        if other is not None and other.name in _IDENTITIES:
            return self.are_equal(a, other.inputs[0], depth)
        return (depth > 0 and one is not None and other is not None and one.name == other.name and one.name in ELEMENTWISE | MOVES
                and len(one.outputs) == 1 and one.params == other.params and all(
                    _is_same_number(x, y) or self.are_equal(x, y, depth - 1) for x, y in zip(one.inputs, other.inputs)))


def turns(e):
    """Whether an equation exchanges axes, or XLA makes one of it that does: where what is picked or written lies along another axis than
    the first, it picks or writes along the first one of a transpose, and turns that back."""
    if e.name == "gather":
        numbers, rank = e.params["dimension_numbers"], len(e.avals[0].shape)
        return _not_first(numbers.start_index_map) or _not_last(numbers.offset_dims, rank)
    if e.name.startswith("scatter"):
        return _not_first(e.params["dimension_numbers"].scatter_dims_to_operand_dims)
    return e.name == "transpose"


def _not_first(axes):
    return tuple(axes) != tuple(range(len(axes)))


def _not_last(axes, rank):
    return tuple(axes) != tuple(range(rank - len(axes), rank))


def _is_same_number(a, b):
    return type(a) is not int and type(b) is not int and np.array_equal(a.value, b.value)
