"""`torch.jit.script` of what programs are put together of: PyTorch's text, values, files and errors, live beside PyTorch."""
import io
import re
import sys
from pathlib import Path

import pytest

import jtensor
from jtensor.base.errors import MissingFeature

HERE = Path(__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore:.*torch.jit.script:DeprecationWarning",
                                        "ignore:.*nested tensors is in prototype:UserWarning",
                                        "ignore:The TorchScript type system doesn:UserWarning")
sys.path.insert(0, str(HERE))
import scripted_parts  # noqa: E402
from test_script import _same  # noqa: E402

sys.path.pop(0)
OURS = scripted_parts.load(jtensor)


@pytest.fixture(scope="module")
def theirs():
    return scripted_parts.load(pytest.importorskip("torch"))


def _plain(text):
    """Without what PyTorch numbers in the whole process, and without what is said of the line that a loaded program has."""
    text = re.sub(r"___torch_mangle_\d+\.", "", text)
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@pytest.mark.parametrize("name", ["of_hooks", "of_interfaces", "of_signatures", "of_texts", "of_compiled_parts", "of_containers"])
def test_parts_beside_pytorch(name, theirs):
    ours, others = ([_plain(one) for one in space[name]()] for space in (OURS, theirs))
    for one, other in zip(ours, others, strict=True):
        assert one.strip() == other.strip()


def test_a_part_that_was_put_there_later_is_not_written():
    """Its program is another one; PyTorch writes them all."""
    made = jtensor.jit.script(OURS["Chosen"](OURS["One"]()))
    made.one = jtensor.jit.script(OURS["Other"]())
    with pytest.raises(MissingFeature, match="parts come from elsewhere"):
        jtensor.jit.save(made, io.BytesIO())


@pytest.mark.parametrize("name", sorted(OURS["LAYERS"]))
def test_a_layer_beside_pytorch(name, theirs):
    import torch
    layer, *given = OURS["LAYERS"][name]
    ours, other = jtensor.jit.script(OURS["filled"](layer)), torch.jit.script(theirs["filled"](theirs["LAYERS"][name][0]))
    assert _plain(ours.code) == _plain(other.code)
    expected = other(*theirs["LAYERS"][name][1:])
    _same(ours(*given), expected)
    file = io.BytesIO()
    ours.save(file)
    _same(torch.jit.load(io.BytesIO(file.getvalue()))(*theirs["LAYERS"][name][1:]), expected)


@pytest.mark.parametrize("name", sorted(OURS["ATTENTION"]))
def test_attention_beside_pytorch(name, theirs):
    import torch
    layer, *given = OURS["ATTENTION"][name]
    ours, other = jtensor.jit.script(OURS["filled"](layer)), theirs["filled"](theirs["ATTENTION"][name][0])
    file = io.BytesIO()
    ours.save(file)
    read = torch.jit.load(io.BytesIO(file.getvalue()))
    for grad in (True, False):
        with torch.set_grad_enabled(grad), jtensor.set_grad_enabled(grad):
            expected = other(*theirs["ATTENTION"][name][1:])
            _same(ours(*given), expected)
            _same(read(*theirs["ATTENTION"][name][1:]), expected)
