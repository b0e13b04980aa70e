"""`torch.jit.trace`: PyTorch's text, values and files. Kept texts, and live beside PyTorch.

``python tests/jit/test_traced.py`` writes the kept texts anew.
"""
import copy
import io
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor.base.errors import MissingFeature

HERE = Path(__file__).parent
KEPT = HERE.parent / "goldens" / "torchscript" / "traced.json"
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore::jtensor.jit.TracerWarning")
sys.path.insert(0, str(HERE))
import traced_cases  # noqa: E402

sys.path.pop(0)
FUNCTIONS, MODULES = sorted(traced_cases.functions(jtensor)), sorted(traced_cases.modules(jtensor))
OTHER_NAMES = {"lstm", "gru"}                # the same program, whose helping variables are called otherwise


def _traced(lib, kind, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, given = getattr(traced_cases, kind)(lib)[name]
        return lib.jit.trace(made, given), made, given


def _texts(traced):
    """{path and method: text} of all that was traced in a module."""
    found = {}
    for path, part in traced.named_modules():
        for method in ("forward", "forward1"):
            if hasattr(part, "_kind"):
                text = part._kind.methods[method].shown if method in part._kind.methods else None
            else:
                text = part._c._get_method(method).code if part._c._has_method(method) else None
            if text is not None:
                found[f"{path}.{method}"] = text
    return found


def _flat(x):
    if isinstance(x, dict):
        x = list(x.values())
    return [one for part in x for one in _flat(part)] if isinstance(x, (list, tuple)) else [x]


def _same(ours, theirs):
    for one, other in zip(_flat(ours), _flat(theirs), strict=True):
        assert str(one.dtype) == str(other.dtype)
        np.testing.assert_allclose(one.tolist(), other.tolist(), rtol=1e-4, atol=1e-6)


# -- the text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_as_text(name):
    assert _traced(jtensor, "functions", name)[0].code == json.loads(KEPT.read_text())[name]


@pytest.mark.parametrize("name", sorted(set(MODULES) - OTHER_NAMES))
def test_a_module_as_text(name):
    assert _texts(_traced(jtensor, "modules", name)[0]) == json.loads(KEPT.read_text())[name]


# -- beside PyTorch -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_pytorch_reads_a_module(name):
    torch = pytest.importorskip("torch")
    ours, _, given = _traced(jtensor, "modules", name)
    theirs, _, theirs_given = _traced(torch, "modules", name)
    assert str(ours) == str(theirs) and list(ours.state_dict()) == list(theirs.state_dict())
    if name not in OTHER_NAMES:
        assert _texts(ours) == _texts(theirs)
    file = io.BytesIO()
    jtensor.jit.save(ours, file)
    read = torch.jit.load(io.BytesIO(file.getvalue()))
    expected = theirs(*theirs_given)
    _same(ours(*given), expected)
    _same(read(*theirs_given), expected)
    _same(jtensor.jit.load(io.BytesIO(file.getvalue()))(*given), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pytorch_reads_a_function(name, tmp_path):
    torch = pytest.importorskip("torch")
    ours, _, given = _traced(jtensor, "functions", name)
    theirs, _, theirs_given = _traced(torch, "functions", name)
    assert ours.code == theirs.code
    ours.save(tmp_path / "function.pt")
    expected = theirs(*theirs_given)
    _same(ours(*given), expected)
    _same(torch.jit.load(str(tmp_path / "function.pt"))(*theirs_given), expected)


def test_the_schemas_are_pytorchs():
    pytest.importorskip("torch")
    sys.path.insert(0, str(HERE.parent / "house"))
    try:
        import make_schemas
    finally:
        sys.path.pop(0)
    lines = make_schemas.lines()
    assert make_schemas.PATH.read_text() == "".join([line + "\n" for line in lines]), "run tests/house/make_schemas.py"
    others = make_schemas.others({*lines, *make_schemas.lines(below=True)})
    assert make_schemas.OTHERS.read_text() == "".join([line + "\n" for line in others]), "run tests/house/make_schemas.py"


# -- without PyTorch ----------------------------------------------------------------------------------------------------


def test_sizes_stay_open_and_parameters_are_shared():
    traced, net, (tokens,) = _traced(jtensor, "modules", "language")
    longer = jtensor.tensor([[1, 2, 3, 4, 5]])
    _same(traced(longer), net(longer))
    assert traced.head.weight is net.head.weight
    traced(tokens).sum().backward()
    assert net.head.weight.grad is not None
    with jtensor.no_grad():
        net.head.weight.zero_()
    assert not traced(tokens).any()


def test_a_traced_module_is_a_module():
    traced, net, given = _traced(jtensor, "modules", "mlp")
    assert isinstance(traced, jtensor.jit.ScriptModule) and type(traced).__name__ == "TopLevelTracedModule"
    assert type(traced.a).__name__ == "TracedModule" and traced.original_name == "MLP" and traced.a.original_name == "Linear"
    assert [name for name, _ in traced.named_parameters()] == [name for name, _ in net.named_parameters()]
    assert not traced.training and traced.train().a.training and not traced.eval().a.training
    with pytest.raises(RuntimeError, match=r"Trace submodules cannot be called\."):
        traced.a(given[0])
    with pytest.raises(RuntimeError, match=r"forward\(\) expected at most 2 argument\(s\) but received 3 argument\(s\)"):
        traced(given[0], given[0])
    with pytest.raises(RuntimeError, match=r"Cast error details: Unable to cast 3 to Tensor"):
        traced(3)
    with pytest.raises(MissingFeature, match="module.code"):
        _ = traced.graph
    assert type(copy.deepcopy(traced)).__name__ == "RecursiveScriptModule"
    assert traced.double()(given[0].double())[0].dtype is jtensor.float64 and net.a.weight.dtype is jtensor.float64


def test_several_methods():
    class Net(jtensor.nn.Linear):
        def twice(self, x):
            return self(self(x))
    x, net = jtensor.ones(1, 2), Net(2, 2)
    traced = jtensor.jit.trace_module(net, {"forward": x, "twice": x})
    _same(traced.twice(x + 1), net.twice(x + 1))


def _warned(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        jtensor.jit.trace(function, *args, **kwargs)
    return [str(one.message) for one in told if one.category is jtensor.jit.TracerWarning]


@pytest.mark.parametrize(("function", "told"), [
    (lambda x: x if x.sum() > 0 else -x, "Converting a tensor to a Python boolean might cause the trace to be incorrect."),
    (lambda x: x * int(x.sum()), "Converting a tensor to a Python integer"), (lambda x: x * float(x.sum()), "to a Python float"),
    (lambda x: x * x.sum().item(), "to a Python number"), (lambda x: x * x.tolist()[0], "to a Python list"),
    (lambda x: x + jtensor.ones(1) * len(x), "Using len to get tensor shape"), (lambda x: sum(iter(x), x), "Iterating over a tensor"),
    (lambda x: x + jtensor.tensor([1.0]), "torch.tensor results are registered as constants"),
    (lambda x: x + jtensor.rand(2), "Trace had nondeterministic nodes."), (lambda x: [x, x], "Encountering a list at the output")])
def test_what_is_warned_of(function, told):
    assert any(told in one for one in _warned(function, jtensor.ones(2)))


def test_nothing_is_warned_of_a_plain_trace():
    assert _warned(jtensor.nn.Linear(2, 2), jtensor.ones(1, 2)) == []


KEPT_TENSOR = jtensor.arange(3)
WEIGHT = jtensor.nn.Parameter(jtensor.ones(2))


@pytest.mark.parametrize(("function", "given", "error", "text"), [
    (lambda x, y: x, (jtensor.ones(2), 3), RuntimeError, r"Type 'Tuple\[Tensor, int\]' cannot be traced\. Only Tensors and"),
    (lambda x: {"a": x}, (jtensor.ones(2),), RuntimeError, "Encountering a dict at the output of the tracer might"),
    (lambda x: 3, (jtensor.ones(2),), RuntimeError, "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output"),
    (lambda x: (x, None), (jtensor.ones(2),), RuntimeError, "Only tensors, lists, tuples of tensors"),
    (lambda x: KEPT_TENSOR, (jtensor.ones(2),), RuntimeError, "did not have observable data dependence"),
    (lambda x: WEIGHT * x, (jtensor.ones(2),), RuntimeError, "Cannot insert a Tensor that requires grad as a constant"),
    (jtensor.nn.Linear(2, 2), 3, TypeError, "'int' object is not iterable"),
    (jtensor.nn.Linear(2, 2), None, RuntimeError, "example_kwarg_inputs should be a dict"),
    (jtensor.nn.Linear(2, 2).extra_repr, (jtensor.ones(2),), AttributeError, "doesn't support compiling individual module's functions"),
    (jtensor.nn.LocalResponseNorm(2), (jtensor.ones(1, 2, 2),), MissingFeature, "by no operator of TorchScript"),
    (lambda x: x.bernoulli_(0.5, generator=jtensor.Generator()), (jtensor.ones(2),), MissingFeature, "Tensor.bernoulli_"),
    (lambda x: jtensor.add(x, x, out=jtensor.empty(2)), (jtensor.ones(2),), MissingFeature, "torch.add as it is called here")])
def test_what_is_refused(function, given, error, text):
    with pytest.raises(error, match=text):
        jtensor.jit.trace(function, given)


@pytest.mark.parametrize("kind", ["GRUCell", "LSTMCell", "RNNCell"])
def test_cells_are_one_operator(kind):
    """PyTorch, which writes out what they are made of, reads them."""
    torch = pytest.importorskip("torch")
    cell, x = getattr(jtensor.nn, kind)(2, 3), jtensor.ones(1, 2)
    traced = jtensor.jit.trace(cell, (x,))
    file = io.BytesIO()
    jtensor.jit.save(traced, file)
    assert f"torch.{kind[:-4].lower().replace('rnn', 'rnn_tanh')}_cell(" in traced.code
    expected = torch.jit.load(io.BytesIO(file.getvalue()))(torch.ones(1, 2))
    _same(traced(x), expected)
    _same(cell(x), expected)


def test_a_second_trace_that_differs():
    calls = []

    def changing(x):
        calls.append(1)
        return x * 3 if len(calls) % 2 else x + 1
    from jtensor.jit.checks import TracingCheckError
    with pytest.raises(TracingCheckError, match="Graphs differed across invocations!"):
        jtensor.jit.trace(changing, jtensor.ones(2))


def test_what_is_traced_already():
    traced = jtensor.jit.trace(jtensor.nn.Linear(2, 2).eval(), jtensor.ones(1, 2))
    frozen, x = jtensor.jit.freeze(traced), jtensor.ones(1, 2)
    assert frozen(x).tolist() == jtensor.jit.optimize_for_inference(traced)(x).tolist() == traced(x).tolist() and frozen is not traced
    with pytest.warns(UserWarning, match="already a ScriptModule, tracing it is a no-op"):
        assert jtensor.jit.trace(traced, jtensor.ones(1, 2)) is traced
    assert jtensor.jit.script(traced) is traced and not jtensor.jit.is_tracing()
    assert "torch.add" in jtensor.jit.trace(lambda x: x + 1 if jtensor.jit.is_tracing() else x, jtensor.ones(2)).code


def test_after_an_error_nothing_is_traced():
    net = jtensor.nn.Sequential(jtensor.nn.Linear(2, 2))
    with pytest.raises(RuntimeError):
        jtensor.jit.trace(net, jtensor.ones(3, 5))
    assert "forward" not in vars(net[0]) and not jtensor.jit.is_tracing()
    assert jtensor.overrides._get_current_function_mode() is None


def _write():
    import torch
    kept = {name: _traced(torch, "functions", name)[0].code for name in FUNCTIONS}
    kept |= {name: _texts(_traced(torch, "modules", name)[0]) for name in MODULES if name not in OTHER_NAMES}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    _write()
