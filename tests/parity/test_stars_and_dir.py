"""`from torch import *` and `dir(torch)`: what is given and shown, which libraries copy names by, and editors complete by.

PyTorch's lists are stored in `stars.txt`, so that they can be compared without it; with it they are compared with what it lists.
`python tests/parity/test_stars_and_dir.py --store` writes them.
"""
import importlib
import pathlib
import sys
import types

import pytest

import jtensor

STORE = pathlib.Path(__file__).with_name("stars.txt")
ROOMS = ["", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "optim", "optim.lr_scheduler", "autograd", "utils", "utils.data",
         "jit", "distributions", "linalg", "fft", "special", "func", "amp", "testing", "return_types", "storage", "distributed", "random",
         "autograd.functional", "autograd.profiler", "nn.modules", "nn.parameter", "signal.windows", "masked", "multiprocessing", "cuda"]
# What is given beyond PyTorch's: names of this package that are only shown where PyTorch's room lists nothing, or lists less.
BEYOND = {"fft": "hfft2 hfftn ihfft2 ihfftn", "random": "use_cpu_stream uses_cpu_stream"}


def starred(package, room):
    """The public names that a star import gives."""
    given = {}
    exec(f"from {'.'.join(filter(None, (package, room)))} import *", given)
    return {name for name in given if name[0] != "_"}


def shown(package, room):
    return {name for name in dir(importlib.import_module(".".join(filter(None, (package, room))))) if name[0] != "_"}


def stored():
    """{(kind, room): names}"""
    lines = [line.split() for line in STORE.read_text().splitlines()]
    return {(kind, "" if room == "torch" else room): set(names) for kind, room, *names in lines}


def there(room, names):
    """Those of PyTorch's names that jtensor has at all."""
    module = importlib.import_module(".".join(filter(None, ("jtensor", room))))
    return {name for name in names if hasattr(module, name)}


@pytest.mark.parametrize("room", ROOMS)
def test_star_imports_give_what_pytorchs_give(room):
    wanted = there(room, stored()["star", room])
    given = starred("jtensor", room)
    assert not wanted - given
    assert given - wanted <= set(BEYOND.get(room, "").split())


@pytest.mark.parametrize("room", ROOMS)
def test_dir_shows_what_is_there(room):
    assert not there(room, stored()["dir", room]) - shown("jtensor", room)


def test_everything_shown_is_there():
    for name in dir(jtensor):
        assert hasattr(jtensor, name), name


def test_rooms_of_this_package_are_not_shown():
    modules = {name for name in shown("jtensor", "") if isinstance(getattr(jtensor, name), types.ModuleType)}
    assert modules <= stored()["dir", ""] | {"onnx"}                 # which PyTorch shows once it has been imported


def test_the_stored_lists_are_pytorchs():
    pytest.importorskip("torch")
    assert collected() == stored()


def collected():
    found = {}
    for room in ROOMS:
        found["star", room], found["dir", room] = starred("torch", room), shown("torch", room)
    return found


if __name__ == "__main__" and "--store" in sys.argv:
    STORE.write_text("".join([f"{kind} {room or 'torch'} {' '.join(sorted(names))}\n" for (kind, room), names in collected().items()]))
