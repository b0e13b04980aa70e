"""The law of the random streams: every sampler gives PyTorch's numbers, bit for bit, and leaves PyTorch's state bytes."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import random_cases

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "random_streams.npz"
LAW = list(random_cases.cases(seed=1))
STORED = list(random_cases.cases(random_cases.GOLDEN_SEED))


def test_the_law_speaks_of_enough_cases():
    assert len(LAW) >= 300 and {case[0] for case in LAW} == set(random_cases.TABLE)


@pytest.mark.parametrize("function", random_cases.TABLE)
def test_numbers_and_state_are_those_of_live_torch(function):
    torch = pytest.importorskip("torch")
    for case in LAW:
        if case[0] == function:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch warns of bounds that a float dtype cannot tell apart
                numbers, state = random_cases.theirs(case, torch)
            mine, my_state = random_cases.ours(case)
            assert mine == numbers, case
            assert my_state == state, case


@pytest.mark.parametrize("function", random_cases.TABLE)
def test_numbers_and_state_are_the_stored_ones(function):
    stored = np.load(GOLDENS)["digests"]
    assert len(stored) == len(STORED)
    for case, digest in zip(STORED, stored.tolist(), strict=True):
        if case[0] == function:
            assert random_cases.digest(*random_cases.ours(case)) == digest, case
