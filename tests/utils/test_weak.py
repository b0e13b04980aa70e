"""Dictionaries and references that let their keys die do what PyTorch's do."""
import copy
import importlib

import pytest

import jtensor


def told(library):
    weak = importlib.import_module(library.__name__ + ".utils.weak")
    a, b, c = library.ones(2), library.ones(2), library.zeros(1)
    found = weak.WeakIdKeyDictionary([(a, [1]), (b, [2])])
    deep, shallow = copy.deepcopy(found), copy.copy(found)
    lines = [len(found), c in found, shallow == found, deep == found, deep[a] is found[a], shallow[a] is found[a], found == 3,
             [one() is a for one in found.keyrefs()], [type(one).__name__ for one in found.keyrefs()]]
    more = found | {c: [3]}
    lines += [len(more), list(more.values()), list(({a: [0], c: [3]} | found).values()), type(more).__name__]
    found |= {c: [4]}
    lines += [found.popitem()[1], found.pop(c, None), found.setdefault(b, 5), found.get(c)]
    one, other, dead = weak.WeakIdRef(a), weak.WeakIdRef(a), weak.WeakIdRef(library.ones(1))
    lines += [one == other, hash(one) == hash(other) == id(a), one == weak.WeakIdRef(b), dead(), dead == one, dead == dead, one() is a]
    del a
    return [*lines, one(), one == other, len(found), sorted(weak.__all__)]


def test_keys_and_references():
    assert told(jtensor) == told(pytest.importorskip("torch"))
