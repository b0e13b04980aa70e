"""Every public function and class says what it does."""
import importlib
import inspect
import types

import pytest

import jtensor

ROOMS = """nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations nn.utils.prune optim
    optim.lr_scheduler optim.swa_utils linalg fft special func autograd autograd.functional autograd.graph autograd.forward_ad distributions
    distributions.transforms utils.data utils.checkpoint utils.dlpack utils.hooks testing random amp cuda cpu signal.windows hub overrides
    serialization backends.cuda profiler""".split()


def silent(space):
    """Public functions and classes of the library without a docstring."""
    found = []
    look = getattr if isinstance(space, types.ModuleType) else inspect.getattr_static        # a module finds some when they are asked for
    for name in dir(space):
        value = None if name.startswith("_") else look(space, name)
        ours = (getattr(value, "__module__", None) or "").startswith(("jtensor", "torch"))
        if callable(value) and ours and not isinstance(value, types.ModuleType) and not inspect.getdoc(value):
            found.append(name)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_docstrings(room):
    assert not silent(importlib.import_module("jtensor." + room))


@pytest.mark.parametrize("space", [jtensor, jtensor.Tensor], ids=["torch", "Tensor"])
def test_the_namespace_has_docstrings(space):
    assert not silent(space)


def test_silence_is_found():
    def spoken():
        """Says something."""
    def unspoken():
        pass
    spoken.__module__ = unspoken.__module__ = "jtensor"
    assert silent(types.SimpleNamespace(a=spoken, b=unspoken, _c=unspoken)) == ["b"]
