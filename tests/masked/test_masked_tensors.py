"""Masked tensors beside PyTorch's: what they are, what is done to them, gradients, refusals. Each library in a process of its own: a class
that is asked below autograd stays known."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("masked_cases.py")


def _told(library):
    done = subprocess.run([sys.executable, "-W", "ignore", str(CASES), library], capture_output=True, text=True, check=True)
    return {name: _plain(text) for name, text in json.loads(done.stdout.splitlines()[-1]).items()}


def _plain(text):
    """RecursionErrors, which PyTorch raises where an operator asks itself for ever, say where in Python the end was met."""
    return text.partition(" exceeded")[0] if text.startswith("RecursionError") else text.replace("jtensor.", "torch.")


def test_as_pytorch():
    pytest.importorskip("torch")
    theirs = _told("torch")
    ours = _told("jtensor")
    assert len(theirs) > 150
    assert {name: text for name, text in ours.items() if theirs[name] != text} == {}


def test_who_names_none_pays_for_none():
    """The class installs the layer that asks classes, so it is made when it is first named."""
    code = """
import sys, jtensor
from jtensor.tensor.calling import overriding
assert jtensor.masked.sum(jtensor.ones(3)).item() == 3
assert overriding.Layer.put_in is not None and not any("maskedtensor" in name for name in sys.modules)
from jtensor.masked import is_masked_tensor
assert not is_masked_tensor(jtensor.ones(2)) and "jtensor.masked.maskedtensor.core" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
