"""Classes that call themselves PyTorch's: `doctest` passes over them, since they name another module, so their examples run here."""
import doctest
import pickle

import numpy as np
import pytest

from jtensor.base import dtypes
from jtensor.base.info import finfo, iinfo
from jtensor.base.naming import type_name
from jtensor.base.size import Size

CLASSES = {Size: {"Size": Size}, finfo: {"finfo": finfo, "dtypes": dtypes}, iinfo: {"iinfo": iinfo, "dtypes": dtypes}}


@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_examples_run(cls):
    found = [case for case in doctest.DocTestFinder().find(cls, cls.__name__, module=False, globs=CLASSES[cls]) if case.examples]
    assert found
    for case in found:
        assert doctest.DocTestRunner().run(case).failed == 0


@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_classes_pickle_by_where_they_are(cls):
    assert pickle.loads(pickle.dumps(cls)) is cls


def test_names_of_types():
    types = (int, np.ndarray, np.bool_, Size, dtypes.dtype)
    assert [type_name(t) for t in types] == ["int", "numpy.ndarray", "numpy.bool", "torch.Size", "dtype"]
