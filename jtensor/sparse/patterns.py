"""Where the elements of a sparse tensor are: an index tensor, and what is worked out of it once.

Owns: `Pattern`, coalescing (sorting, and which elements fall on the same place), matching one pattern's places with another's. It looks at
the indices on the host, as PyTorch does on a CPU, because the shapes of what follows depend on them; a pattern looks once, however many
tensors and steps share it. May not know: sparse tensors, autograd.
"""
import weakref

import numpy as np

import jtensor

from ..base import devices
from ..base.errors import missing
from ..tensor.creating.from_data import from_host
from ..tensor.looking import host_copy

REASON = "sparse indices"


class Pattern:
    """``indices`` ``(sparse_dim, nnz)`` of int64, and ``size``, the lengths of the sparse dimensions. What was worked out of the indices is
    forgotten once they have been written to."""

    __slots__ = ("indices", "size", "_known", "_version", "__weakref__")

    def __init__(self, indices, size, sorted_already=False):
        self.indices, self.size = indices, tuple(size)
        self._version, self._known = indices._counter.version, {"sorted": True} if sorted_already else {}

    @property
    def nnz(self):
        return self.indices._spec.size[1]

    @property
    def sparse_dim(self):
        return self.indices._spec.size[0]

    def _once(self, name, make):
        if self._version != self.indices._counter.version:
            self._version, self._known = self.indices._counter.version, {}
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = make()
        return found

    def host(self):
        """The indices as an ndarray that is not to be written to."""
        return self._once("host", lambda: _looked_at(self.indices))

    def numbers(self):
        """The place of each element as one number, as an ndarray: its index if the sparse dimensions were one."""
        return self._once("numbers", lambda: _raveled(self.host(), self.size))

    def lines(self):
        """The indices of each sparse dimension, as tensors; kept, because that they are within bounds is known of a value, not of a
        view."""
        return self._once("lines", lambda: [line.clone() for line in self.indices.unbind(0)])

    def flat(self):
        """`numbers` as a tensor."""
        return self._once("flat", lambda: self.lines()[0] if len(self.size) == 1 else from_host(self.numbers()).to(self.indices.device))

    def merged(self):
        """The same places, each once and in order."""
        return self if self._once("order", self._order) is ALREADY else self._known["order"].pattern

    def order(self):
        """How values come to the places of `merged`; `ALREADY` where they are there."""
        return self._once("order", self._order)

    def _order(self):
        if self._known.get("sorted"):
            return ALREADY
        numbers = self.numbers()
        by_place = np.argsort(numbers, kind="stable")
        places = numbers[by_place]
        begins = np.ones(len(places), bool)
        np.not_equal(places[1:], places[:-1], out=begins[1:])
        if begins.all() and (by_place == np.arange(len(by_place))).all():
            self._known["sorted"] = True
            return ALREADY
        return Order(self, by_place, places, begins)

    def match(self, other):
        """Where the elements here are in ``other``, whose places are in order: (positions, whether they are there at all), ndarrays."""
        found = self._once("match", dict).get("last")
        if found is None or found[0]() is not other:
            there, mine = other.numbers(), self.numbers()
            at = np.searchsorted(there, mine)
            at[at == len(there)] = 0
            hit = there[at] == mine if len(there) else np.zeros(len(mine), bool)
            tensors = from_host(at), None if hit.all() else from_host(hit)
            found = self._known["match"]["last"] = weakref.ref(other), tensors, hit
        return found[1]

    def hits(self, other):
        """Which elements here are in ``other``, as an ndarray."""
        self.match(other)
        return self._known["match"]["last"][2]


ALREADY = object()


class Order:
    """How values in the order of a pattern come to the places of its merged one: the first of each place, to which the rest is added in
    turn, as PyTorch adds."""

    __slots__ = ("pattern", "first", "rest", "onto")

    def __init__(self, origin, by_place, places, begins):
        merged = np.unravel_index(places[begins], origin.size) if origin.size else np.zeros((0, int(begins.sum())))
        indices = np.stack(merged).astype(np.int64) if origin.size else merged.astype(np.int64)
        self.pattern = Pattern(from_host(indices), origin.size, sorted_already=True)
        self.first = from_host(by_place[begins])
        self.rest = self.onto = None
        if not begins.all():
            self.rest = from_host(by_place[~begins])
            self.onto = from_host((np.cumsum(begins) - 1)[~begins])

    def values(self, values):
        """Values at the places of the merged pattern."""
        made = values.index_select(0, self.first)
        if self.rest is None:
            return made
        return added_at(made, self.onto, values.index_select(0, self.rest))


def added_at(base, rows, values):
    """``base`` with values added to rows of it, one after the other; of truth values, whether any is true."""
    if base.dtype is jtensor.bool:
        return base.to(jtensor.int64).index_add(0, rows, values.to(jtensor.int64)) > 0
    return base.index_add(0, rows, values)


def _looked_at(indices):
    if indices._spec.device is devices.meta:
        raise missing("looking at indices that have no data", "a tensor on the CPU")
    return np.asarray(host_copy(indices, REASON))


def _raveled(indices, size):
    numbers = np.zeros(indices.shape[1], np.int64)
    for line, length in zip(indices, size, strict=True):
        numbers = numbers * length + line
    return numbers


def of_numbers(numbers, size):
    """The pattern of places that are given as numbers, in order."""
    if not size:
        return Pattern(from_host(np.zeros((0, len(numbers)), np.int64)), size)
    return Pattern(from_host(np.stack(np.unravel_index(numbers, size)).astype(np.int64)), size)
