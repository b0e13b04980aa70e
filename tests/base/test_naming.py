"""Classes that call themselves PyTorch's."""
import pickle

import numpy as np
import pytest

from jtensor.base import dtypes
from jtensor.base.info import finfo, iinfo
from jtensor.base.naming import type_name
from jtensor.base.size import Size


@pytest.mark.parametrize("cls", [Size, finfo, iinfo], ids=str)
def test_classes_pickle_by_where_they_are(cls):
    assert pickle.loads(pickle.dumps(cls)) is cls


def test_names_of_types():
    types = (int, np.ndarray, np.bool_, Size, dtypes.dtype)
    assert [type_name(t) for t in types] == ["int", "numpy.ndarray", "numpy.bool", "torch.Size", "torch.dtype"]
