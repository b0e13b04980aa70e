"""Autograd to PyTorch's letter: small programs show the same text, exceptions and warnings under both libraries.

The programs are in ``snippets/*.txt``; what PyTorch shows is stored in ``tests/goldens/autograd.json`` (`snippets.py --store`).
"""
import importlib.util
import json
from pathlib import Path

import pytest

import jtensor

_spec = importlib.util.spec_from_file_location("autograd_snippets", Path(__file__).with_name("snippets.py"))
snippets = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(snippets)
_spec = importlib.util.spec_from_file_location("autograd_fuzz", Path(__file__).with_name("fuzz.py"))
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)
PROGRAMS = snippets.load()
GOLDENS = json.loads(snippets.GOLDENS.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_shows_what_pytorch_shows(name):
    assert not snippets.differences(GOLDENS[name], snippets.run(PROGRAMS[name], jtensor))


def test_random_programs_show_what_pytorch_shows():
    """`fuzz.py --programs 1000 --seed N` asks the same of more."""
    torch = pytest.importorskip("torch") and snippets.live_torch()
    wrong = [seed for seed in range(5_000_000, 5_000_040)
             if snippets.differences(snippets.run(fuzz.program(seed), torch), snippets.run(fuzz.program(seed), jtensor))]
    assert not wrong


def test_stored_is_what_pytorch_shows():
    pytest.importorskip("torch")
    torch = snippets.live_torch()
    stale = [name for name, source in PROGRAMS.items() if snippets.run(source, torch) != GOLDENS[name]]
    assert not stale and set(GOLDENS) == set(PROGRAMS)


def test_the_comparison_can_fail():
    seen = snippets.run("print(torch.ones(2) * 2)\nraise KeyError(1)", jtensor)
    assert seen == {"out": ["tensor([2., 2.])"], "error": ["KeyError", "1"], "warnings": []}
    assert snippets.differences({**seen, "out": ["tensor([2., 3.])"]}, seen)
    assert snippets.differences({**seen, "error": None}, seen)
    assert snippets.differences({**seen, "warnings": [["UserWarning", "a"]]}, seen)
