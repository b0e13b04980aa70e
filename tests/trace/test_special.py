"""Fusing cannot be seen on special data either, and exact arithmetic on it is PyTorch's; `special_fuzz.py` asks the same of more."""
import importlib.util
import pathlib
import random
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
_spec = importlib.util.spec_from_file_location("special_fuzz", pathlib.Path(__file__).with_name("special_fuzz.py"))
special = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(special)


@pytest.fixture(autouse=True)
def always_fused(monkeypatch):
    monkeypatch.setattr(special.choosing.tiers, "PROGRAM_COST", -1e9)
    monkeypatch.setattr(special.choosing, "WORTH_A_THREAD", 1 << 30)


def differing(chains, dtype="float32"):
    rng = random.Random(3)
    arrays, weights = special.data(rng), np.array(rng.sample(special.SPECIAL, special.N), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(str(chain), which) for chain, which, _, _ in special.differences(chains, arrays, weights, dtype)]


def test_random_chains():
    assert not differing(special.chains_of(random.Random(11), 10, 3))


def test_the_law_can_fail(monkeypatch):
    """Without fences a product with truth values is a choice, in which nothing times infinity is nothing."""
    from jtensor.trace.lowering import fences
    chain = special.Chain(random.Random(1), 2, special.BASE)
    chain.steps, chain.kinds = [("m.float()*x", "fb", [~0, ~3]), ("x+0", "f", [0])], ["f"] * 2
    chain.differentiated = chain.exact = False
    monkeypatch.setattr(fences, "place_fences", lambda graph: 0)
    assert differing([chain]) == [(str(chain), "fused")]
