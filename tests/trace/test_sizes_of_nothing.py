"""Tensors without elements whose other sizes multiply to more than a word holds, at which XLA would end the process."""
import contextlib

import pytest

import jtensor
from jtensor import MissingFeature


@pytest.mark.parametrize("make", [
    lambda: jtensor.empty(2 ** 62, 0), lambda: jtensor.zeros(0).view(2 ** 62, 0) + 1, lambda: jtensor.zeros(0, 1).expand(0, 2 ** 62).cos(),
    lambda: jtensor.zeros(2 ** 40, 0)[..., None].expand(-1, -1, 2 ** 40).sum()])
@pytest.mark.parametrize("how", [jtensor.eager, contextlib.nullcontext])
def test_are_refused_where_they_would_be_computed(make, how):
    with how(), pytest.raises(MissingFeature, match="fits 64 bits"):
        made = make()
        assert made.dtype is jtensor.float32               # what it is can be told
        made.tolist()


def test_what_fits_is_there():
    assert (jtensor.empty(2 ** 60, 0) + 1).shape == (2 ** 60, 0)
    assert jtensor.empty(2 ** 62, 0, device="meta").shape == (2 ** 62, 0)
