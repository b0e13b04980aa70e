"""`torch.jit.script` of programs with objects, contexts, forks: PyTorch's text, values, files and whole errors, live beside PyTorch."""
import io
import re
import sys
from pathlib import Path

import pytest

import jtensor

HERE = Path(__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore:.*torch.jit.script:DeprecationWarning",
                                        "ignore:The TorchScript type system doesn:UserWarning")
sys.path.insert(0, str(HERE))
import scripted_classes  # noqa: E402
from test_script import X, _same  # noqa: E402

sys.path.pop(0)
OURS = scripted_classes.load(jtensor)


@pytest.fixture(scope="module")
def theirs():
    return scripted_classes.load(pytest.importorskip("torch"))


@pytest.mark.parametrize("name", sorted(OURS["FUNCTIONS"]))
def test_a_function_beside_pytorch(name, theirs):
    import torch
    ours, other = jtensor.jit.script(OURS[name]), torch.jit.script(theirs[name])
    texts = [re.sub(r"_mangle_\d+", "_mangle", one.code) for one in (ours, other)]         # PyTorch numbers them in the whole process
    assert name == "norms" or texts[0] == texts[1]

    def given(lib, space):
        return space["FUNCTIONS"][name](lib.tensor(X))
    expected = other(*given(torch, theirs))
    _same(ours(*given(jtensor, OURS)), expected)
    files = io.BytesIO(), io.BytesIO()
    jtensor.jit.save(ours, files[0])
    torch.jit.save(other, files[1])
    for file in files:
        text = torch.jit.load(io.BytesIO(file.getvalue()))
        if name != "given_objects":                               # whose objects are those of the file alone
            _same(text(*given(torch, theirs)), expected)
            _same(jtensor.jit.load(io.BytesIO(file.getvalue()))(*given(jtensor, OURS)), expected)


def test_a_module_with_an_object(theirs):
    import torch
    ours, other = OURS["Net"](), theirs["Net"]()
    with torch.no_grad():
        for mine, its in zip(ours.parameters(), other.parameters(), strict=True):
            mine.data = jtensor.tensor(its.tolist())
    ours, other = jtensor.jit.script(ours), torch.jit.script(other)
    assert ours.code == other.code and ours.many == 0
    _same(ours(jtensor.tensor(X)), other(torch.tensor(X)))
    assert ours.many == 1 and ours.pair.items == other.pair.items == [3]
    file = io.BytesIO()
    ours.save(file)
    _same(ours(jtensor.tensor(X)), other(torch.tensor(X)))
    expected = other(torch.tensor(X))
    for lib in (jtensor, torch):
        read = lib.jit.load(io.BytesIO(file.getvalue()))
        read(lib.tensor(X))
        _same(read(lib.tensor(X)), expected)


def test_gradients_are_off_in_a_block_alone():
    made = jtensor.jit.script(OURS["without_gradients"])
    x = jtensor.ones(2, requires_grad=True)
    found, on = made(x, 3)
    assert not found.requires_grad and on and jtensor.is_grad_enabled()
    with jtensor.no_grad():
        assert made(x, 3)[1] is False
        assert jtensor.jit.script(OURS["returned_within"])(x).requires_grad is False and not jtensor.is_grad_enabled()


def test_objects_are_those_of_pythons_class():
    found, = jtensor.jit.script(OURS["answered"])(jtensor.ones(2), 3)
    assert type(found) is OURS["Pair"] and found.a == 3 and found.items == [1] and found.size == 1
    assert jtensor.jit.script(OURS["Pair"]) is OURS["Pair"]


def _told(lib, function):
    try:
        return lib.jit.script(function).code
    except Exception as error:
        kinds = [one.__name__ for one in type(error).__mro__ if one not in (Exception, BaseException, object)]
        return kinds, re.sub("0x[0-9a-f]+", "0x", str(error).partition("The following variants")[0])


@pytest.mark.parametrize("name", sorted(OURS["MISTAKES"]))
def test_a_mistake_is_told_with_pytorchs_whole_text(name, theirs):
    import torch
    assert _told(jtensor, OURS["MISTAKES"][name]()) == _told(torch, theirs["MISTAKES"][name]())
