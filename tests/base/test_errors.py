"""Exceptions go from process to process: a pool, a queue and `spawn` pickle them."""
import pickle

import pytest

import jtensor
from jtensor.base import errors


@pytest.mark.parametrize("kind", [errors.OutOfMemoryError, errors.AcceleratorError, errors.MissingFeature, errors.LinAlgError])
def test_pickles(kind):
    again = pickle.loads(pickle.dumps(kind("why", 3)))
    assert type(again) is kind and again.args == ("why", 3)


def test_a_class_derived_from_one():
    global Derived

    class Derived(errors.MissingFeature):
        pass
    assert type(pickle.loads(pickle.dumps(Derived("x")))) is Derived


def test_pytorchs_name_of_what_linear_algebra_raises():
    with pytest.raises(jtensor._C._LinAlgError):
        jtensor.linalg.cholesky(-jtensor.eye(2))
