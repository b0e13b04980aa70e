"""Structure sequences beside live PyTorch's `torch.return_types`."""
import copy
import pickle

import jax
import pytest

from jtensor.base.return_types import return_type

PROGRAMS = [
    "r", "str(r)", "f'{r}'", "r[0]", "r[:1]", "r.values", "r.indices", "r.foo", "len(r)", "[*r]", "r == (1, 2)",
    "hash(r) == hash((1, 2))", "r < (1, 3)",
    "r._fields", "r.n_fields", "r.n_sequence_fields", "r.n_unnamed_fields", "r.__match_args__", "r.__reduce__()[1]",
    "M([1, 2])", "M('ab')", "M((1,))", "M((1, 2, 3))", "M(1)", "M(1, 2)", "M()", "M(sequence=(1, 2))", "M((1, 2), {'indices': 5})",
    "M((1, 2), dict={})", "M((1, 2), 3)", "M(x for x in 'ab')", "M((1, [1, 'a']))",
    "r + (1,)", "(1,) + r", "r * 2", "r + r", "isinstance(r, tuple)",
    "M", "M.__module__", "M.__name__", "M.__qualname__", "setattr(r, 'values', 3)", "setattr(r, 'foo', 3)", "r.__dict__",
    "type('Derived', (M,), {})", "copy.copy(r)", "copy.deepcopy(r)", "pickle.loads(pickle.dumps(r))",
]


def outcome(program, cls):
    try:
        value = eval(program, {"M": cls, "r": cls((1, 2)), "copy": copy, "pickle": pickle})
    except Exception as error:
        return type(error), str(error)
    return "type" if isinstance(value, type) else type(value).__name__, repr(value)


@pytest.mark.parametrize("program", PROGRAMS)
def test_behaves_as_pytorchs(program):
    torch = pytest.importorskip("torch")
    assert outcome(program, return_type("max", ("values", "indices"))) == outcome(program, torch.return_types.max)


def test_any_of_pytorchs_types_can_be_made():
    torch = pytest.importorskip("torch")
    for theirs in torch.return_types.all_return_types:
        made = return_type(theirs.__name__, theirs.__match_args__)
        items = tuple(range(theirs.n_fields))
        assert repr(made(items)) == repr(theirs(items)) and repr(made) == repr(theirs)


def test_one_class_a_name():
    cls = return_type("sort", ("values", "indices"))
    assert return_type("sort", ["values", "indices"]) is cls
    with pytest.raises(ValueError, match="has the fields"):
        return_type("sort", ("values", "order"))
    assert repr(cls((1, 2))) == "torch.return_types.sort(\nvalues=1,\nindices=2)"


def test_pickles_where_nothing_was_made_yet():
    stored = pickle.dumps(return_type("topk", ("values", "indices"))((1, 2)))
    from jtensor.base import return_types
    made = return_types._made.pop("topk")
    try:
        again = pickle.loads(stored)
        assert again == (1, 2) and again.indices == 2 and type(again) is not made
    finally:
        return_types._made["topk"] = made


def test_jax_sees_a_container():
    result = return_type("max", ("values", "indices"))((1, 2))
    doubled = jax.tree.map(lambda x: 2 * x, result)
    assert type(doubled) is type(result) and doubled == (2, 4)


def test_names_are_there_before_their_operators_are_called():
    torch = pytest.importorskip("torch")
    import jtensor
    for theirs in torch.return_types.all_return_types:
        ours = getattr(jtensor.return_types, theirs.__name__)
        assert ours.__match_args__ == theirs.__match_args__ and repr(ours) == repr(theirs)
    assert {t.__name__ for t in jtensor.return_types.all_return_types} == {t.__name__ for t in torch.return_types.all_return_types}
    with pytest.raises(AttributeError):
        _ = jtensor.return_types.sinus
