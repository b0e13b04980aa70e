"""Subclasses of Tensor: what is there, and what is refused rather than left out."""
import pytest

import jtensor as torch
from jtensor.base.errors import MissingFeature


def test_an_instance_keeps_its_class():
    class Named(torch.Tensor):
        pass
    assert type(torch.ones(2).as_subclass(Named)) is type(Named([1.0])) is Named


@pytest.mark.parametrize("name", ["__torch_function__", "__torch_dispatch__"])
def test_operators_cannot_be_overridden(name):
    with pytest.raises(MissingFeature, match="overrides"):
        type("Logged", (torch.Tensor,), {name: classmethod(lambda cls, *args: None)})
