"""What a node saves stands in an order that does not depend on the process: Python's order of a set of names does."""
import types

from jtensor.ops import saves
from jtensor.ops.registry import REGISTRY


def test_saved_results_stand_in_their_own_order(monkeypatch):
    operator = REGISTRY.operators["exp"]
    monkeypatch.setattr(operator, "grad", None)
    monkeypatch.setattr(operator, "saves", tuple(f"result{k}" for k in range(9)))       # a set of nine is hardly ever in order by chance
    plan = types.SimpleNamespace(operator=operator, notes=types.SimpleNamespace(where={}), inputs=(), outputs=(None,) * 9)
    assert saves._saved(plan, (0,)) == tuple(~k for k in range(9))
