"""`torch.Size` beside live PyTorch: values, types, texts and refusals of small programs."""
import copy
import pickle

import numpy as np
import pytest

from jtensor.base.naming import type_name
from jtensor.base.size import Size, size_of

ACCEPTED = [
    "S()", "S([2, 3])", "S((2, 3))", "S(x for x in (1, 2))", "S([True, False])", "S([np.int64(3)])", "S([np.uint8(3)])", "S([-1])",
    "S([np.array(3)])", "S(np.array([1, 2]))", "S({3: 1})", "S(range(3))", "S(s)", "S([I(4)])", "S.__new__(S)",
    "s[0]", "s[-1]", "s[:2]", "s[::-1]", "s[1:1]", "s[True]", "s[np.int64(1)]",
    "s + s", "s + (1,)", "(1,) + s", "() + s", "s + ()", "s + np.array([1, 2, 3])",
    "np.array([1, 2, 3]) + s", "s + np.int64(1)",
    "(1, 2).__add__(s)", "s.__add__((True,))", "s * 2", "2 * s", "s * 0", "s * -1", "s * True",
    "s * np.int64(2)", "s * np.array([1, 2, 3])",
    "s.numel()", "S([]).numel()", "S([2**40, 2**40]).numel()", "S([2**62, 3]).numel()", "S([-2, 3]).numel()", "S([2**63 - 1, -1]).numel()",
    "len(S([2**70]))", "len(s + (2**70,))",
    "hash(s) == hash((2, 3, 4))", "s == (2, 3, 4)", "(2, 3, 4) == s", "s == [2, 3, 4]", "s < (3,)", "3 in s", "bool(S())", "sum(s)",
    "tuple(s)", "list(s)", "sorted(s)", "len(s)", "s.count(2)", "s.index(4)", "str(s)", "f'{s}'", "'%s' % (s,)", "f'{s!r:>30}'",
    "S.__module__", "S.__name__", "S.__qualname__", "str(S)", "isinstance(s, tuple)", "s.__reduce__()[1]", "s.__getnewargs__()",
    "copy.copy(s)", "copy.deepcopy(s)", "pickle.loads(pickle.dumps(s, 4))", "pickle.loads(pickle.dumps(s, 0))",
]
REFUSED = [
    "S(5)", "S('ab')", "S([1.5])", "S([2, 'a'])", "S([None])", "S([np.float32(3)])", "S([np.array([3])])", "S([np.bool_(True)])",
    "S([[1, 2]])", "S([S([1])])", "S(sequence=[1])", "S([1], [2])", "S([2**70])", "S([2**63])", "S([-2**63 - 1])", "S([2**63, 1]).numel()",
    "S(None)", "S(i for i in [1, 'a'])", "S([2**70, 'a'])",
    "s['a']", "s[9]", "s[None]", "s[1.0]", "s[:'a']", "s[::0]",
    "s + [1]", "[1] + s", "s + (1.5,)", "(1.5,) + s", "s + ('a',)", "s + None", "s + 1", "1 + s", "s + 'a'", "'a' + s", "str(s + (2**70,))",
    "s * 1.5", "s * None", "None * s", "s * 'a'", "'a' * s", "s * [1]", "[1] * s", "(1,) * s", "s * 2**70", "s * s",
    "s.foo", "S.foo", "setattr(s, 'a', 1)", "s.index(9)", "s.__dict__", "type('Derived', (S,), {})", "{}[s]", "s < 1",
]


class Indexed:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def outcome(program, cls):
    scope = {"S": cls, "s": cls([2, 3, 4]), "np": np, "copy": copy, "pickle": pickle, "I": Indexed}
    try:
        value = eval(program, scope)
        kinds = repr([type(item) for item in value]) if isinstance(value, tuple) else None
        return type_name(type(value)).removeprefix("PyTorch's "), repr(value), kinds
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("program", ACCEPTED)
def test_accepts_as_pytorch_does(program):
    torch = pytest.importorskip("torch")
    expected = outcome(program, torch.Size)
    assert isinstance(expected[0], str), "PyTorch refuses this: it belongs in the other list"
    assert outcome(program, Size) == expected


@pytest.mark.parametrize("program", REFUSED)
def test_refuses_as_pytorch_does(program):
    torch = pytest.importorskip("torch")
    expected = outcome(program, torch.Size)
    assert not isinstance(expected[0], str), "PyTorch accepts this: it belongs in the other list"
    assert outcome(program, Size) == expected


def test_without_pytorch():
    assert repr(Size([2, 3])[:1] + (5,)) == "torch.Size([2, 5])"
    assert Size([2, 3]).numel() == 6 and hash(Size([2])) == hash((2,))
    assert size_of((2, 3)) == Size([2, 3]) and type(size_of((2,))) is Size


def test_pickles_without_a_module_of_pytorchs_name():
    stored = pickle.dumps([Size([2, 3]), Size])
    assert b"ctorch" not in stored and b"\x05torch" not in stored
    size, cls = pickle.loads(stored)
    assert size == (2, 3) and type(size) is cls is Size
