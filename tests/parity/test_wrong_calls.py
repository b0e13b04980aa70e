"""Wrong calls are refused in PyTorch's words, and change what PyTorch lets them change. See `wrong_calls.py`."""
import importlib.util
import json
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("wrong_calls", Path(__file__).with_name("wrong_calls.py"))
wrong_calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wrong_calls)
CALLS = wrong_calls.calls()
GOLDENS = json.loads(wrong_calls.GOLDENS.read_text())
SIZE = 60


@pytest.mark.parametrize("first", range(0, len(CALLS), SIZE))
def test_is_refused_as_in_pytorch(first):
    wrong = {}
    for call in CALLS[first:first + SIZE]:
        found = wrong_calls.seen("jtensor", call)
        if found != GOLDENS[call]:
            wrong[call] = GOLDENS[call], found
    assert not wrong


def test_stored_is_what_pytorch_says():
    pytest.importorskip("torch")
    assert set(CALLS) == set(GOLDENS)
    stale = {call for call in CALLS[::7] if wrong_calls.seen("torch", call) != GOLDENS[call]}
    assert not stale


def test_the_comparison_can_fail():
    assert wrong_calls.seen("jtensor", "x.add_(1)") == ["nothing", {"x": "([2.0, 2.0, 2.0], (3,), 1, False, True, None)"}]
    assert wrong_calls.seen("jtensor", "x.add_(m, 5, 5)")[0].startswith("TypeError: add_()")
