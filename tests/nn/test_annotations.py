"""What layers say of their attributes, which programs read: class annotations, and what `typing.get_type_hints` makes of them."""
import re
import typing

import pytest

import jtensor

from .both import same


def layers(torch):
    nn = torch.nn
    return [name for name in sorted(vars(nn)) if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)]


def shown(hints):
    """As text, in which a class is its name alone."""
    return {name: re.sub(r"\b(jtensor|torch)\.[\w.]*?(\w+)\b(?!\.)", r"\2", str(kind)) for name, kind in hints.items()}


@pytest.mark.parametrize("name", layers(jtensor))
def test_annotations_of_a_layer(name):
    def program(torch):
        kind = getattr(torch.nn, name)
        return shown(kind.__annotations__), list(kind.__annotations__), shown(typing.get_type_hints(kind))

    same(program)


def test_hints_of_an_object():
    """As fastai asks for them."""
    nn = jtensor.nn
    assert typing.get_type_hints(nn.CrossEntropyLoss()) == {"ignore_index": int, "label_smoothing": float}
    assert nn.Conv2d.__annotations__ == {} and typing.get_type_hints(nn.Conv2d)["weight"] is jtensor.Tensor
    assert typing.get_type_hints(nn.Sequential)["_modules"] == dict[str, nn.Module]
    assert nn.ReLU.__annotations__ is not nn.SiLU.__annotations__


def test_a_users_layer_has_its_own():
    class Layer(jtensor.nn.Module):
        width: int

    class Bare(jtensor.nn.Linear):
        pass

    assert Layer.__annotations__ == {"width": int} and typing.get_type_hints(Layer)["training"] is bool
    assert Bare.__annotations__ == {} and typing.get_type_hints(Bare)["in_features"] is int
