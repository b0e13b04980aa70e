"""Compositions of operations that move data between products and sums: as one program and one by one, the bits are the same."""
import random

import pytest

from jtensor.trace.lowering import fences

from .composed_fuzz import composed, differences, drawn

FOUND = ["pick_columns,mm", "pick_columns,linear", "mm,write_columns,gather", "mm,write_columns,scaled", "einsum,write_columns,turned",
         "turned,mm_itself", "sorted,mm_vector", "softmax_rows,pick_both,mm_left"]


@pytest.mark.parametrize("names", FOUND)
def test_one_program_or_many(names):
    assert differences(lambda: composed(names.split(","))) == {}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pictures", [False, True], ids=["matrices", "pictures"])
def test_random_ones(seed, pictures):
    names, backwards = drawn(random.Random(seed), pictures)
    assert differences(lambda: composed(names, pictures, backwards), ("all", "brief")) == {}


def test_the_comparison_bites(monkeypatch):
    monkeypatch.setattr(fences, "ADD", 0)                   # products that are added to something are contracted
    assert differences(lambda: composed(["times", "plus"]), ("brief",))
