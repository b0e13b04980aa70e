"""The public surface: what is listed is there, what is there is PyTorch's or is listed here as jtensor's own."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import jtensor

# Public names of the package that PyTorch does not have.
OWN = {
    "report": "what was compiled, run and waited for, and why",
    "from_jax": "a tensor of a jax array",
    "eager": "a context in which operations run at once",
    "MissingFeature": "what is raised where a feature of PyTorch is not there",
    "trace_boundary": "a good place to end a recorded program, as an optimizer step is",
}
# Layers of the library, visible as attributes because importing a package binds its parts.
ROOMS = {"alias", "base", "checks", "choices", "dispatching", "namespace", "ops", "overridable", "removed", "segments", "settings",
         "sharing", "storage", "streams", "symbols", "tensor", "trace", "views"}
FUNCTIONS_NAMED_LIKE_ROOMS = ["tensor", "trace"]


def modules():
    """Every public module of the package, imported."""
    yield jtensor
    for found in pkgutil.walk_packages(jtensor.__path__, "jtensor."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)


def test_everything_listed_is_there_once():
    wrong = []
    for module in modules():
        listed = getattr(module, "__all__", [])
        wrong += [f"{module.__name__}.{name} is not there" for name in listed if not hasattr(module, name)]
        wrong += [f"{module.__name__}.{name} is listed twice" for name in set(listed) if list(listed).count(name) > 1]
    assert not wrong


@pytest.mark.parametrize("name", FUNCTIONS_NAMED_LIKE_ROOMS)
def test_a_function_is_not_hidden_by_the_room_of_its_name(name):
    list(modules())  # importing a room's modules must not bind the room over the function
    assert inspect.isroutine(getattr(jtensor, name))


def public(module):
    return {name for name in dir(module) if not name.startswith("_")}


def test_every_other_public_name_is_pytorchs():
    torch = pytest.importorskip("torch")
    assert torch.onnx                                       # which is listed once it was asked for
    extra = {name for name in public(jtensor) - public(torch) if not (name in ROOMS and isinstance(getattr(jtensor, name), ModuleType))}
    assert extra == set(OWN)


@pytest.mark.parametrize("path", ["nn", "nn.functional", "nn.init", "optim", "optim.lr_scheduler", "autograd", "utils.data"])
def test_public_names_of_namespaces_are_pytorchs(path):
    torch = pytest.importorskip("torch")
    ours, theirs = (importlib.import_module(f"{library}.{path}") for library in ("jtensor", torch.__name__))
    extra = {
        name
        for name in public(ours) - public(theirs)
        if not isinstance(getattr(ours, name), ModuleType) and getattr(getattr(ours, name), "__module__", "").startswith("jtensor")
    }
    assert not extra


# Classes that are files' and pickles' names for nothing: what PyTorch has in another module, and why not here.
ELSEWHERE = {"LinearCrossEntropyOptions": "PyTorch has it in a module of its own"}


@pytest.mark.parametrize("path", ["nn", "nn.utils.rnn", "nn.utils.prune", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data",
                                  "distributions", "amp"])
def test_classes_come_from_where_pytorch_has_them(path):
    torch = pytest.importorskip("torch")
    ours, theirs = (importlib.import_module(f"{library}.{path}") for library in ("jtensor", torch.__name__))
    homes = [(name, *(getattr(library, name).__module__.partition(".")[2] for library in (ours, theirs))) for name in sorted(public(ours))
             if inspect.isclass(getattr(theirs, name, None)) and name not in ELSEWHERE]
    assert homes and not [home for home in homes if home[1] != home[2]]
    for name, home, _ in homes:
        if getattr(theirs, name).__module__.startswith("torch"):
            assert getattr(importlib.import_module(f"jtensor.{home}".rstrip(".")), name) is getattr(ours, name)


def test_named_tuples_can_be_asked_for_before_there_is_one():
    torch = pytest.importorskip("torch")
    theirs = {name for name, kind in vars(torch.return_types).items()
              if name[0] != "_" and getattr(kind, "__module__", "") == "torch.return_types" and hasattr(kind, "__match_args__")}
    assert set(dir(jtensor.return_types)) - {"all_return_types"} == theirs
    for name in theirs:
        assert getattr(jtensor.return_types, name).__match_args__ == getattr(torch.return_types, name).__match_args__
    assert isinstance(jtensor.ones(2).max(0), jtensor.return_types.max)
