"""`torch.jit.script`: PyTorch's text, values, files and errors. Kept texts, and live beside PyTorch.

``python tests/jit/test_script.py`` writes the kept texts anew.
"""
import copy
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor._jit_internal import BroadcastingList2
from jtensor.base.errors import MissingFeature

HERE = Path(__file__).parent
KEPT = HERE.parent / "goldens" / "torchscript" / "scripted.json"
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore:.*torch.jit.script:DeprecationWarning",
                                        "ignore:The TorchScript type system doesn:UserWarning")
sys.path.insert(0, str(HERE))
import scripted_cases  # noqa: E402
import scripted_mistakes  # noqa: E402

sys.path.pop(0)
OURS = scripted_cases.load(jtensor)
FUNCTIONS, MODULES = sorted(OURS["FUNCTIONS"]), ["language", "layers", "net", "pictures", "recurrent"]
MISTAKES = sorted(scripted_mistakes.load(jtensor)["MISTAKES"])
OTHERWISE = {                        # {a layer or module whose program PyTorch has otherwise: how}
    "LSTM": "is written for each layer", "GRU": "the same", "LSTMCell": "checks less", "Upsample": "takes lists",
    "ConvTranspose2d": "takes no output_size", "MaxPool2d": "has another helping function", "Threshold": "the same",
    "BCEWithLogitsLoss": "has a constant for an attribute", "Recurrent": "calls of its parts have other names", "Pictures": "the same"}
X = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]


def _flat(x):
    if hasattr(x, "detach"):
        return [(str(x.dtype), np.asarray(x.detach().tolist()))]
    if isinstance(x, dict):
        return [part for key, one in x.items() for part in (key, *_flat(one))]
    if isinstance(x, (list, tuple)):
        return [part for one in x for part in _flat(one)]
    return [getattr(x, "name", x)]


def _same(ours, theirs):
    for one, other in zip(_flat(ours), _flat(theirs), strict=True):
        if isinstance(one, tuple):
            assert one[0] == other[0]
            np.testing.assert_allclose(one[1], other[1], rtol=1e-4, atol=1e-5)
        else:
            assert one == other and type(one) is type(other)


def _texts(module):
    """{path, method and class: text} of all that is compiled in a module."""
    found = {}
    for path, part in module.named_modules():
        for method in ("forward", "foo", "bar", "attend", "generate"):
            if hasattr(part, "_kind"):
                text = getattr(part, method).code if method in part._kind.methods else None
            else:
                text = part._c._get_method(method).code if part._c._has_method(method) else None
            if text is not None and part.original_name not in OTHERWISE:
                found[f"{path}.{method}"] = text
    return found


# -- the text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_as_text(name):
    assert jtensor.jit.script(OURS[name]).code == json.loads(KEPT.read_text())["functions"][name]


# -- beside PyTorch -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs():
    return scripted_cases.load(pytest.importorskip("torch"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_beside_pytorch(name, theirs):
    import torch
    ours, other = jtensor.jit.script(OURS[name]), torch.jit.script(theirs[name])
    assert ours.code == other.code

    def given(lib, space):
        return space["FUNCTIONS"][name](lib.tensor(X))
    expected = other(*given(torch, theirs))
    _same(ours(*given(jtensor, OURS)), expected)
    file = io.BytesIO()
    jtensor.jit.save(ours, file)
    _same(torch.jit.load(io.BytesIO(file.getvalue()))(*given(torch, theirs)), expected)
    _same(jtensor.jit.load(io.BytesIO(file.getvalue()))(*given(jtensor, OURS)), expected)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_beside_pytorch(name, theirs):
    import torch
    module, given = OURS["modules"]()[name]
    their_module, their_given = theirs["modules"]()[name]
    ours, other = jtensor.jit.script(module), torch.jit.script(their_module)
    assert str(ours) == str(other) and list(ours.state_dict()) == list(other.state_dict())
    assert _texts(ours) == _texts(other)
    expected = other(*their_given)
    _same(ours(*given), expected)
    file = io.BytesIO()
    ours.save(file)
    expected = other(*their_given)                                # which has counted its calls
    read = torch.jit.load(io.BytesIO(file.getvalue()))
    assert str(read) == str(torch.jit.load(_saved(torch, other)))
    _same(read(*their_given), expected)
    _same(jtensor.jit.load(io.BytesIO(file.getvalue()))(*given), expected)


def _saved(torch, module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    return io.BytesIO(file.getvalue())


def _told(lib, function):
    try:
        return lib.jit.script(function).code
    except Exception as error:
        kinds = [one.__name__ for one in type(error).__mro__ if one not in (Exception, BaseException, object)]
        return [kinds, str(error).strip().partition("  File ")[0].strip().partition("The following variants")[0]]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_as_pytorch_tells_it(name):
    ours = _told(jtensor, scripted_mistakes.load(jtensor)["MISTAKES"][name]())
    assert ours == json.loads(KEPT.read_text())["mistakes"][name]


def test_the_schemas_are_pytorchs():
    pytest.importorskip("torch")
    sys.path.insert(0, str(HERE.parent / "house"))
    try:
        import make_schemas
    finally:
        sys.path.pop(0)
    lines = "".join([line + "\n" for line in make_schemas.scripted()])
    assert make_schemas.SCRIPTED.read_text() == lines, "run tests/house/make_schemas.py"


# -- without PyTorch ----------------------------------------------------------------------------------------------------


def test_a_compiled_module_shares_its_parameters_and_no_other_attribute():
    net = OURS["Net"]().eval()
    made = jtensor.jit.script(net)
    assert isinstance(made, jtensor.jit.ScriptModule) and type(made).__name__ == "RecursiveScriptModule" and made.original_name == "Net"
    assert made.l.weight is net.l.weight and made.b is net.b and dict(made.named_parameters()).keys() == dict(net.named_parameters()).keys()
    made(jtensor.ones(2, 3)).sum().backward()
    assert net.w.grad is not None and net.k == 3 and made.k == 4 and made.seen == [4] and net.seen == []
    assert made.bar(1) == 2 and not made.training and made.train().c.training
    with pytest.raises(AttributeError):
        made.no_such_name
    with pytest.raises(AttributeError, match="constant value: 'scale'"):
        made.scale = 2.0
    assert made.double().l.weight.dtype is jtensor.float64


def test_arguments_are_checked():
    def product(x, n: int):
        return x * n
    made = jtensor.jit.script(product)
    with pytest.raises(RuntimeError, match=r"product\(\) Expected a value of type 'Tensor \(inferred\)' for argument 'x' but instead found "
                                           r"type 'int'\.\nInferred 'x' to be of type 'Tensor'"):
        made(3, 3)
    with pytest.raises(RuntimeError, match=r"product\(\) is missing value for argument 'n'. Declaration: product\(Tensor x, int n\) -> "):
        made(jtensor.ones(1))


def test_one_number_for_a_list_of_so_many():
    def windows(x, size: BroadcastingList2[int]):
        return x.unfold(0, size[0], size[1])
    made = jtensor.jit.script(windows)
    assert made(jtensor.arange(5), 2).tolist() == [[0, 1], [2, 3]] and made(jtensor.arange(3), [2, 1]).tolist() == [[0, 1], [1, 2]]
    with pytest.raises(RuntimeError, match=r"missing value for argument 'size'. Declaration: windows\(Tensor x, int\[2\] size"):
        made(jtensor.ones(1))


def test_gradients():
    made = jtensor.jit.script(OURS["in_place"])
    x, y = jtensor.tensor(X, requires_grad=True), jtensor.tensor(X, requires_grad=True)
    made(x).sum().backward()
    OURS["in_place"](y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_a_function_of_python_within():
    made = jtensor.jit.script(OURS["Calls"]())
    x = jtensor.ones(1, 3)
    _same(made(x), made.l(x) * 2)
    assert "^outside()" in made.code
    with pytest.raises(RuntimeError, match="Could not export Python function call 'outside'"):
        made.save(io.BytesIO())


def test_what_is_not_compiled_runs_as_it_is():
    def quiet(x):
        with jtensor.no_grad():
            if bool(x.sum() > 0):
                return x * 2
        return x
    made = jtensor.jit.script(quiet)
    assert made(jtensor.ones(1)).item() == 2
    for ask in (lambda: made.code, lambda: made.save(io.BytesIO())):
        with pytest.raises(MissingFeature, match="'return' under a condition"):
            ask()

    layer = jtensor.nn.FractionalMaxPool2d(2, output_size=2, _random_samples=jtensor.full((1, 1, 2), 0.5))
    module, x = jtensor.jit.script(layer), jtensor.arange(16.0).reshape(1, 1, 4, 4)
    _same(module(x), layer(x))
    assert module._random_samples is layer._random_samples and isinstance(module, jtensor.jit.ScriptModule)
    assert not module.eval().training and not layer.training
    with pytest.raises(RuntimeError, match="register_forward_hook is not supported on ScriptModules"):
        module.register_forward_hook(print)
    with pytest.raises(MissingFeature):
        jtensor.jit.save(module, io.BytesIO())


def test_what_is_compiled_already_and_what_stays():
    made = jtensor.jit.script(OURS["straight"])
    assert jtensor.jit.script(made) is made and isinstance(made, jtensor.jit.ScriptFunction) and made.__name__ == "straight"
    module = jtensor.jit.script(jtensor.nn.Linear(1, 1))
    assert jtensor.jit.script(module) is module

    class Plain:
        pass
    assert jtensor.jit.script(Plain) is Plain
    jtensor.jit._state.disable()
    try:
        assert jtensor.jit.script(OURS["straight"]) is OURS["straight"]
    finally:
        jtensor.jit._state.enable()


def test_frozen():
    net = OURS["Net"]()
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input"):
        jtensor.jit.freeze(net)
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        jtensor.jit.freeze(jtensor.jit.script(net))
    made = jtensor.jit.script(net.eval())
    frozen = jtensor.jit.optimize_for_inference(made)
    x = jtensor.ones(2, 3)
    expected = frozen(x)
    with jtensor.no_grad():
        net.w.zero_()
    assert not expected.requires_grad and not any(p.requires_grad for p in frozen.parameters()) and made.w.requires_grad
    assert jtensor.jit.freeze(made)(x).tolist() != expected.tolist()


# -- keeping ------------------------------------------------------------------------------------------------------------


def _kept(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, mistakes = scripted_cases.load(torch), scripted_mistakes.load(torch)["MISTAKES"]
        return {"functions": {name: torch.jit.script(theirs[name]).code for name in sorted(theirs["FUNCTIONS"])},
                "mistakes": {name: _told(torch, mistakes[name]()) for name in sorted(mistakes)}}


def test_containers_answer_as_those_of_python():
    def answers(torch):
        net = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()))
        found = [len(net), repr(net[0]), [repr(one) for one in net], bool(net)]
        traced = torch.jit.trace(torch.nn.Linear(1, 1), torch.ones(1, 1))
        for call in (lambda: 0 in net, lambda: len(torch.jit.script(torch.nn.ReLU())), lambda: len(copy.deepcopy(net)), lambda: traced[0],
                     lambda: net[7]):
            with pytest.raises((NotImplementedError, TypeError, IndexError)) as raised:
                call()
            found.append((raised.type, str(raised.value)))
        return found
    ours = answers(jtensor)
    assert ours[0] == 2 and ours[-1] == (IndexError, "index 7 is out of range")
    assert ours == answers(pytest.importorskip("torch"))


def test_layers_are_known_under_pytorchs_names_too(tmp_path):
    """A script that is run unchanged has classes that say they come from ``torch.nn``."""
    script = tmp_path / "script.py"
    script.write_text("import warnings; warnings.filterwarnings('ignore')\nimport torch\nfrom torch import nn\n"
                      "print(torch.jit.script(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()))._modules['0'].code)\n")
    found = subprocess.run([sys.executable, "-m", "jtensor", str(script)], capture_output=True, text=True)
    assert "(self)._conv_forward(input, weight, bias, )" in found.stdout, found.stderr


if __name__ == "__main__":
    import torch
    KEPT.write_text(json.dumps(_kept(torch), indent=1) + "\n")
