"""`from torch import *` and `dir(torch)`: what is given and shown, which libraries copy names by, and editors complete by.

PyTorch's lists are stored in `stars.txt`, so that they can be compared without it; with it they are compared with what it lists.
`python tests/parity/test_stars_and_dir.py --store` writes them.
"""
import importlib
import pathlib
import subprocess
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


def collected(package):
    """{(kind, room): names} of a package, "star" imports and "dir", and of PyTorch's names those that are "there" at all."""
    found, names = {}, stored() if package == "jtensor" else {}
    for room in ROOMS:
        path = ".".join(filter(None, (package, room)))
        given, module = {}, importlib.import_module(path)
        exec(f"from {path} import *", given)
        found["star", room], found["dir", room] = (sorted(name for name in among if name[0] != "_") for among in (given, dir(module)))
        listed = set(names.get(("star", room), ())) | set(names.get(("dir", room), ()))
        found["there", room] = sorted(name for name in listed if hasattr(module, name))
    return found


def stored():
    """{(kind, room): names}"""
    lines = [line.split() for line in STORE.read_text().splitlines()]
    return {(kind, "" if room == "torch" else room): names for kind, room, *names in lines}


def text(found):
    return "".join([f"{kind} {room or 'torch'} {' '.join(names)}\n" for (kind, room), names in found.items()])


def in_a_process(package):
    """What one room shows depends on which others have been imported, so it is asked in a process that has imported none."""
    found = subprocess.run([sys.executable, __file__, package], capture_output=True, text=True, check=True)
    lines = [line.split() for line in found.stdout.splitlines()]
    return {(kind, "" if room == "torch" else room): set(names) for kind, room, *names in lines}


@pytest.fixture(scope="module")
def ours():
    return in_a_process("jtensor")


@pytest.mark.parametrize("room", ROOMS)
def test_star_imports_give_what_pytorchs_give(room, ours):
    wanted, given = set(stored()["star", room]) & ours["there", room], ours["star", room]
    assert not wanted - given
    assert given - wanted <= set(BEYOND.get(room, "").split())


@pytest.mark.parametrize("room", ROOMS)
def test_dir_shows_what_is_there(room, ours):
    assert not set(stored()["dir", room]) & ours["there", room] - ours["dir", room]


def test_everything_shown_is_there():
    for name in dir(jtensor):
        assert hasattr(jtensor, name), name


def test_rooms_of_this_package_are_not_shown():
    modules = {name for name in dir(jtensor) if name[0] != "_" and isinstance(getattr(jtensor, name), types.ModuleType)}
    assert modules <= {*stored()["dir", ""], "onnx"}                 # which PyTorch shows once it has been imported


def test_the_stored_lists_are_pytorchs():
    pytest.importorskip("torch")
    found = in_a_process("torch")
    assert {key: sorted(names) for key, names in found.items() if key[0] != "there"} == stored()


if __name__ == "__main__":
    if "--store" in sys.argv:
        STORE.write_text(text({key: names for key, names in collected("torch").items() if key[0] != "there"}))
    else:
        print(text(collected(sys.argv[1])), end="")
