"""Each operator as ONNX: what ONNX computes of it is what jtensor computes, also for other sizes of the axes that may change."""
import functools
import sys
from pathlib import Path

import numpy as np
import pytest

import jtensor as torch

onnx = pytest.importorskip("onnx")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import operator_cases  # noqa: E402

sys.path.pop(0)
CASES = {name: rest for name, *rest in operator_cases.cases(torch)}
pytestmark = pytest.mark.filterwarnings("ignore::jtensor.jit.TracerWarning", "ignore:Exporting a model while it is in training mode")


class Called(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def run(program, given):
    """What ONNX Runtime computes, or ONNX's own evaluator."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return program.call_reference(*given)
    return program(*given)


def same(program, module, given):
    """Compares the outputs of a program with those of the module."""
    wanted = module(*given)
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    found = run(program, given)
    assert len(found) == len(wanted)
    for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), at
        loose = one.dtype is torch.float16
        np.testing.assert_allclose(one.double().numpy(), other.detach().double().numpy(), rtol=1e-2 if loose else 2e-4, atol=2e-5,
                                   err_msg=str(at))


def resized(given, changing):
    """Inputs with other sizes of the axes that may change."""
    given = list(given)
    for (at, axis), (_, size) in changing.items():
        index = torch.arange(size) % given[at].shape[axis]
        given[at] = given[at].index_select(axis, index)
        if given[at].is_floating_point():
            given[at] = given[at] + torch.arange(float(given[at].numel())).reshape(given[at].shape) * 1e-4
    return tuple(given)


@functools.cache
def exported(name, changing):
    """A case as a module, its program, and which operators were written in it; ``changing``: with axes that may change."""
    from jtensor.onnx import lowering
    function, given, changes = CASES[name]
    module, seen, called = Called(function).eval(), set(), lowering.Lowering._called

    def listening(self, node, short, args, facts):
        seen.add(short)
        return called(self, node, short, args, facts)
    shapes = [{axis: said for (at, axis), (said, _) in changes.items() if at == which} for which in range(len(given))]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lowering.Lowering, "_called", listening)
        return module, torch.onnx.export(module, given, dynamic_shapes=shapes if changing else None), seen


@pytest.mark.parametrize("name", CASES)
def test_an_operator(name):
    module, program, _ = exported(name, False)
    onnx.checker.check_model(program.model_proto, full_check=True)
    same(program, module, CASES[name][1])


RANDOM = {"rand", "randn", "rand_like", "randn_like", "bernoulli"}                  # below
LAYERS = {"lstm", "gru", "rnn_tanh", "rnn_relu"}                                     # in test_export.py


def test_only_operators_that_are_recorded_are_written():
    from jtensor.jit import schemas
    from jtensor.onnx import table
    assert {name for name in table.table() if not schemas.forms(name) and not schemas.forms(name + "_")} == set()


def test_random_numbers():
    x = torch.full((300, 4), 0.25)
    module = Called(lambda x: (torch.rand(x.size(0), 4), torch.randn(x.size(0), 4), torch.rand_like(x), torch.randn_like(x),
                               torch.bernoulli(x))).eval()
    made = run(torch.onnx.export(module, (x,), dynamic_shapes=({0: "n"},)), (torch.full((500, 4), 0.25),))
    assert [one.shape for one in made] == [(500, 4)] * 5
    for one, mean, spread in zip(made, (0.5, 0, 0.5, 0, 0.25), (12**-0.5, 1, 12**-0.5, 1, 0.1875**0.5), strict=True):
        assert abs(one.mean().item() - mean) < 0.1 and abs(one.std().item() - spread) < 0.1


@pytest.mark.parametrize("name", [name for name, rest in CASES.items() if rest[2]])
def test_an_operator_with_axes_that_change(name):
    module, program, _ = exported(name, True)
    onnx.checker.check_model(program.model_proto, full_check=True)
    same(program, module, resized(*CASES[name][1:]))


def test_every_operator_has_a_case():
    """At last, when all cases have been exported."""
    from jtensor.onnx import table
    seen = set().union(*[exported(name, bool(rest[2]))[2] for name, rest in CASES.items()])
    assert set(table.table()) - seen == RANDOM | LAYERS
