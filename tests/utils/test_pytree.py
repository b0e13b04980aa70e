"""Nests: taken apart, put together, mapped, written down; PyTorch's answers to the same lines."""
import collections
import copy
import dataclasses
import importlib
import pickle
import time

import pytest

import jtensor

from ..parity.lines import alike, listed


def box():
    """A class of boxes, which are equal if what is in them is."""
    return dataclasses.make_dataclass("C", ["a"], frozen=True)


def parts(cls, by_value=False):
    """How such a box comes apart and is put together."""
    return (lambda box: ([box.a], box.a if by_value else None)), (lambda parts, context: cls(*parts))


def fields(**options):
    """A class with two fields."""
    return dataclasses.make_dataclass("D", ["x", ("y", int, dataclasses.field(**options))])


SPACE = {**vars(collections), "dataclasses": dataclasses, "time": time, "print": lambda *args: None, "box": box, "parts": parts,
         "fields": fields}
LINES = listed(r'''
p.tree_flatten(3)
p.tree_flatten(None)
p.tree_flatten([])
p.tree_flatten({})
p.tree_flatten({"b": 1, "a": [2, (3, None)]})
p.tree_flatten(OrderedDict(b=1, a=2))
p.tree_flatten(defaultdict(list, b=1))
p.tree_flatten(deque([1,2], maxlen=3))
P = namedtuple("P", "x y"); p.tree_flatten(P(1, [2]))
p.tree_flatten(torch.max(torch.ones(2, 2), 0))
p.tree_flatten(torch.Size([1, 2]))
p.tree_flatten({1: 2, "a": 3})
p.tree_unflatten([1], p.tree_structure([1, 2]))
p.tree_unflatten([1], 3)
p.tree_unflatten(3, p.tree_structure([1, 2]))
p.tree_unflatten(iter([1, 2]), p.tree_structure([1, 2]))
p.tree_map(lambda a, b: a + b, [1, {"a": 2}], [3, {"a": 4}])
p.tree_map(lambda a, b: (a, b), [1, {"a": 2}], [3, {"a": [4]}])
p.tree_map(lambda a, b: (a, b), [1, 2], (3, 4))
p.tree_map(lambda a, b: (a, b), [1, 2], [3, 4, 5])
p.tree_map(lambda a, b: (a, b), {"a": 1}, {"b": 1})
p.tree_map(lambda a, b: (a, b), {"a": 1}, {"a": 1, "b": 1})
p.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, {"b": 1, "a": 3})
p.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, OrderedDict(b=1, a=3))
p.tree_map(lambda a, b: (a, b), [1, 2], 3)
p.tree_map(lambda a: a, [1, 2], is_leaf=lambda x: isinstance(x, list))
p.tree_map_only(int, lambda x: x + 1, [1, "a", 2.0])
p.tree_map_only((int, float), lambda x: x + 1, [1, "a", 2.0])
p.tree_map_only(lambda x: x == 1, lambda x: x + 1, [1, "a", 2.0])
p.tree_map_only(int | float, lambda x: x + 1, [1, "a", 2.0])
p.tree_map_only(3, lambda x: x + 1, [1, "a", 2.0])
p.map_only(int)(lambda x: x + 1)(3)
x = [1, 2]; p.tree_map_(lambda a: a + 1, x) is x
x = [1, 2]; p.tree_map_only_(int, print, x) is x
p.tree_all(lambda x: x > 0, [1, 2]), p.tree_any(lambda x: x > 1, [1, 2])
p.tree_all_only(int, lambda x: x > 0, [1, "a"]), p.tree_any_only(int, lambda x: x > 1, [1, "a"])
p.tree_leaves([1, {"a": (2, 3)}]), list(p.tree_iter([1, [2]]))
p.arg_tree_leaves(1, [2], a={"b": 3})
s = p.tree_structure([1, {"a": (2, 3)}]); s
s = p.tree_structure([1, {"a": (2, 3)}]); s.num_leaves, s.num_nodes, s.num_children, s.type, s.context
s = p.tree_structure([1, {"a": (2, 3)}]); s.children()
s = p.tree_structure([1, {"a": (2, 3)}]); s.child(0), s.child(1)
s = p.tree_structure([1, {"a": (2, 3)}]); s.is_leaf(), s.child(0).is_leaf()
s = p.tree_structure([1, {"a": (2, 3)}]); s.entries()
s = p.tree_structure([1, {"a": (2, 3)}]); s.child(1).entries()
s = p.tree_structure([1, {"a": (2, 3)}]); s.entry(0)
s = p.tree_structure([1, {"a": (2, 3)}]); s == p.tree_structure([0, {"a": (2, 3)}]), s == p.tree_structure([0, {"b": (2, 3)}]), s != 3
s = p.tree_structure([1, {"a": (2, 3)}]); hash(s) == hash(p.tree_structure([0, {"a": (2, 3)}]))
s = p.tree_structure([1, [2]]); hash(s) == hash(p.tree_structure([0, [5]]))
s = p.tree_structure([1, 2]); s.flatten_up_to([[1], {}])
s = p.tree_structure([1, 2]); s.flatten_up_to([1])
s = p.tree_structure([1, 2]); s.flatten_up_to((1, 2))
s = p.tree_structure({"a": 1}); s.flatten_up_to([1])
s = p.tree_structure({"a": 1}); s.flatten_up_to({"b": 1})
s = p.tree_structure([1, 2]); s.unflatten([3, 4])
p.treespec_tuple([3])
p.tree_flatten_with_path([1, {"a": (2, 3)}])
p.tree_leaves_with_path([1, {"a": (2, 3)}])
[p.keystr(k) for k, _ in p.tree_leaves_with_path([1, {"a": (2, 3)}])]
P = namedtuple("P", "x y"); [p.keystr(k) for k, _ in p.tree_leaves_with_path(P(1, OrderedDict(b=[3])))]
p.tree_map_with_path(lambda k, x, y: (p.keystr(k), x, y), [1, {"a": 2}], [3, {"a": 4}])
p.SequenceKey(1), p.MappingKey("a"), p.GetAttrKey("x"), str(p.SequenceKey(1)), str(p.GetAttrKey("x"))
p.key_get([1, {"a": 5}], (p.SequenceKey(1), p.MappingKey("a")))
p.treespec_dumps(p.tree_structure([1, {"a": (2, None)}]))
p.treespec_loads(p.treespec_dumps(p.tree_structure([1, {"a": (2, None)}])))
p.treespec_dumps(3)
p.treespec_pprint(p.tree_structure([1, {"a": (2, None)}]))
p.tree_is_leaf(1), p.tree_is_leaf([]), p.tree_is_leaf(None), p.tree_is_leaf([1], is_leaf=lambda x: True)
import time; p.is_structseq(time.localtime()), p.is_structseq_class(time.struct_time), p.is_structseq_instance(time.localtime())
p._broadcast_to_and_flatten([1, 2], p.tree_structure([1, [2, 3]]))
p._broadcast_to_and_flatten([1], p.tree_structure([1, [2, 3]]))
C = box(); p.register_pytree_node(C, *parts(C)); p.tree_map(lambda x: x + 1, [C(1)])
C = box(); p.register_pytree_node(C, *parts(C)); p.register_pytree_node(C, *parts(C))
C = box(); p.register_pytree_node(C, *parts(C)); p.tree_flatten_with_path(C(1))
C = box(); p.register_pytree_node(C, *parts(C)); p.treespec_dumps(p.tree_structure(C(1)))
p.register_pytree_node(list, None, None)
D = fields(); p.register_dataclass(D); p.tree_map(lambda v: v + 1, D(1, [2])), p.tree_structure(D(1, [2]))
p.register_dataclass(int)
D = fields(); p.register_dataclass(D, field_names=["x"])
D = fields(); p.register_dataclass(D, drop_field_names=["y"]); p.tree_structure(D(1, 2))
C = box(); p.register_constant(C); p.tree_leaves([C(1), 1]), p.is_constant_class(C), p.is_constant_class(int)
C = type("C", (), {}); p.register_constant(C)
p.register_constant(int)
class_ = type("L", (list,), {}); p.tree_leaves(class_([1]))
p.tree_leaves({"a": 1}, is_leaf=lambda x: isinstance(x, dict))
p.PyTreeSpec is p.TreeSpec, p.BUILTIN_TYPES, list(p.STANDARD_DICT_TYPES), len(p.SUPPORTED_NODES) > 6
p.tree_map(lambda *a: a, deque([1], maxlen=2), deque([1], maxlen=3))
p.tree_map(lambda *a: a, defaultdict(list, a=1), defaultdict(int, a=1))
p.tree_map(lambda *a: a, defaultdict(list, a=1), defaultdict(int, b=1))
P = namedtuple("P", "x y"); Q = namedtuple("Q", "x y"); p.tree_map(lambda *a: a, P(1, 2), Q(1, 2))
P = namedtuple("P", "x y"); p.tree_map(lambda *a: a, P(1, 2), (1, 2))
P = namedtuple("P", "x y"); p.tree_map(lambda *a: a, P(1, 2), 4)
C = box(); p.register_pytree_node(C, *parts(C, True)); p.tree_map(lambda *a: a, C(1), C(2))
C = box(); p.register_pytree_node(C, *parts(C, True)); p.tree_map(lambda *a: a, C(1), 3)
p.treespec_dumps(p.tree_structure(OrderedDict(a=1)))
p.treespec_dumps(p.tree_structure(defaultdict(list, a=1)))
p.treespec_dumps(p.tree_structure(deque([1], maxlen=3)))
p.treespec_loads(p.treespec_dumps(p.tree_structure([OrderedDict(a=1), defaultdict(list, a=1), deque([1], maxlen=3)])))
p.treespec_dumps(p.tree_structure([1]), protocol=7)
p.treespec_loads('[7, {}]')
p.treespec_loads('[1, {"type": "foo", "context": "null", "children_spec": []}]')
p.treespec_dumps(p.tree_structure({(1, 2): 3}))
p.treespec_dumps(p.tree_structure({object: 3}))
C = box(); p.register_constant(C); p.register_constant(C)
C = type("C", (), {"__eq__": lambda s, o: True}); p.register_constant(C)
C = box(); p.register_constant(C); p.tree_structure([C(1)]), p.tree_map(lambda x: x, [C(1)]), p.tree_flatten_with_path([C(1)])
C = box(); p.register_constant(C); p.register_pytree_node(C, None, None)
D = fields(); p.register_dataclass(D, field_names=["x", "y", "z"])
D = fields(default=3); p.register_dataclass(D, drop_field_names=["y"]); p.tree_structure(D(1, 2)), p.tree_map(lambda a: a, D(1, 2))
D = fields(default=3); p.register_dataclass(D, field_names=["x"], drop_field_names=["y"]); p.tree_structure(D(1, 2))
D = fields(default=3, init=False); p.register_dataclass(D); p.tree_structure(D(1))
D = fields(); p.register_dataclass(D); p.tree_structure(D(1, None)), p.tree_map(lambda a: a, D(1, None))
p.key_get([1], (p.SequenceKey(4),))
p._register_pytree_node(set, lambda s: (list(s), None), lambda a, c: set(a)); p.tree_map(lambda x: x + 1, {1})
p.TreeSpec(list, None, [3])
p.TreeSpec(None, 3, [])
p.treespec_dict([("a", p.treespec_leaf())]), p.treespec_tuple()
p.treespec_dict(a=3)
s = p.tree_structure([1]); s.children_specs
s = p.tree_structure([1]); isinstance(s, p.PyTreeSpec), p.treespec_leaf() == p.treespec_leaf(), p.treespec_leaf().num_nodes
s = p.treespec_leaf(); s.type, s.context, s.num_leaves, s.unflatten([3]), s.flatten_up_to([3]), s.children()
s = p.treespec_leaf(); s.unflatten([])
p.tree_map([1], print)
p.tree_leaves((torch.Size([2]), torch.max(torch.ones(1, 1), 0)))
p.tree_leaves_with_path(torch.max(torch.ones(1, 1), 0))
p.tree_leaves_with_path(torch.Size([2]))
p.tree_map(lambda x: x, torch.Size([2])), p.tree_map(lambda x: x, torch.max(torch.ones(1, 1), 0))
p.tree_leaves(dataclasses.make_dataclass("D", ["x"])(3))
''')


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    pytest.importorskip("torch")
    before = {name: _table(name) for name in ("torch", "jtensor")}
    try:
        alike(line, ".utils._pytree", **SPACE)
    finally:
        for name, kinds in before.items():            # classes of these lines are no kinds of other tests
            table = importlib.import_module(f"{name}.utils._pytree").SUPPORTED_NODES
            for kind in set(table) - kinds:
                del table[kind]


def _table(name):
    return set(importlib.import_module(f"{name}.utils._pytree").SUPPORTED_NODES)


def test_a_spec_is_copied_and_pickled():
    spec = jtensor.utils._pytree.tree_structure([1, {"a": (2,)}])
    assert copy.deepcopy(spec) == spec == pickle.loads(pickle.dumps(spec))
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.type = tuple


def test_transforms_take_registered_classes():
    pytree = jtensor.utils._pytree
    kind = dataclasses.make_dataclass("Kind", ["w", "b"])
    pytree.register_dataclass(kind)
    try:
        grad = jtensor.func.grad(lambda p: (p.w * 3 + p.b).sum())(kind(jtensor.ones(2), jtensor.zeros(2)))
    finally:
        del pytree.SUPPORTED_NODES[kind]
    assert type(grad) is kind and grad.w.tolist() == [3, 3] and grad.b.tolist() == [1, 1]
