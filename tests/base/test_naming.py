"""Classes that call themselves PyTorch's."""
import pickle

import numpy as np
import pytest

import jtensor
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


def test_what_is_of_the_real_pytorch_is_told_apart():
    torch = pytest.importorskip("torch")
    assert type_name(jtensor.Tensor) == "Tensor" and type_name(jtensor.Size) == "torch.Size"
    assert [type_name(c) for c in (torch.Tensor, torch.Size, torch.nn.Parameter, torch.dtype)] == [
        "PyTorch's Tensor", "PyTorch's torch.Size", "PyTorch's Parameter", "PyTorch's torch.dtype"]
    with pytest.raises(TypeError, match="must be Tensor, not PyTorch's Tensor$"):
        jtensor.add(jtensor.ones(2), torch.ones(2))
