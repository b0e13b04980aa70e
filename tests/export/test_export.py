"""`torch.export.export`: PyTorch's graphs, node for node, and programs that compute what the module does. Kept texts, and live.

``python tests/export/test_export.py`` writes the kept texts anew. PyTorch exports in a process of its own: it loads its compiler for that.
"""
import copy
import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

import jtensor
from jtensor.utils import _pytree as pytree

HERE = Path(__file__).parent
KEPT = HERE.parent / "goldens" / "export.json"
sys.path.insert(0, str(HERE))
import exported_cases as cases  # noqa: E402

sys.path.pop(0)
REFUSED = {
    "numbers": "Tensor.item: sizes and numbers that are not known are no values here",
    "masked_out": "as many results as there are numbers above zero", "counted": "the same",
    "without_gradient": "PyTorch makes a graph within the graph of it",
    "pooled_by_powers": "made of parts within the library that nobody sees", "responses": "the same", "module_weight_norm": "the same",
    "module_embedding_bag": "here it answers no offsets, which PyTorch's operator does",
}
"""What PyTorch exports and jtensor does not: it raises. All other cases are equal."""
EQUAL = sorted(json.loads(KEPT.read_text())) if KEPT.exists() else []


def in_pytorch(*names):
    """{case: what PyTorch says of it}."""
    done = subprocess.run([sys.executable, str(HERE / "exported_cases.py"), "torch", *names], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("torch")
    return in_pytorch()


@functools.cache
def ours(name):
    """What jtensor says of a case."""
    return cases.told(jtensor, cases.ours()[name])


# -- graphs -------------------------------------------------------------------------------------------------------------


def test_every_case_is_kept_or_refused():
    assert sorted(cases.ours()) == sorted([*EQUAL, *REFUSED])


@pytest.mark.parametrize("name", EQUAL)
def test_a_graph_is_as_kept(name):
    found, kept = ours(name), json.loads(KEPT.read_text())[name]
    assert {key: found[key] for key in cases.KEPT} == kept


@pytest.mark.parametrize("name", EQUAL)
def test_a_graph_is_pytorchs(name, theirs):
    """Nodes, names and arguments, the signature, all texts, and dtype, size and strides of every value."""
    assert ours(name) == theirs[name]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_is_a_graph_in_pytorch(name, theirs):
    assert ours(name)["error"].startswith("MissingFeature: jtensor does not have ")
    assert "error" not in theirs[name]


# -- what programs compute ----------------------------------------------------------------------------------------------


WITHOUT_GRADIENT = {"losses": "of a target", "operators": "of a floor division", "in_place_zoo": "of what is written to afterwards",
                    "set_items": "the same"}


def _copied(x, gradient):
    """Copies of tensors, one for what is given twice."""
    made = {}

    def copied(t):
        if isinstance(t, jtensor.Tensor) and id(t) not in made:
            made[id(t)] = t.detach().clone().requires_grad_(gradient and t.is_floating_point())
        return made.get(id(t), t)
    return pytree.tree_map(copied, x), list(made.values())


def _outcome(function, args, kwargs, parameters, gradient):
    """[results], gradients of parameters and arguments, arguments as they are then."""
    (args, kwargs), given = _copied((args, kwargs), gradient)
    written = {id(t): t.clone() for t in given}                  # leaves may not be written to
    inner = pytree.tree_map(lambda t: written.get(id(t), t), (args, kwargs))
    jtensor.manual_seed(7)
    results = pytree.tree_leaves(function(*inner[0], **inner[1]))
    total = [t.double().sum() for t in results if isinstance(t, jtensor.Tensor) and t.is_floating_point() and t.requires_grad]
    if total:
        sum(total).backward()
    return results, [one.grad for one in (*parameters, *given)], pytree.tree_leaves(inner)


def _same(one, other):
    if isinstance(one, jtensor.Tensor):
        assert one.dtype is other.dtype and one.shape == other.shape and one.stride() == other.stride()
        assert jtensor.equal(one.nan_to_num(7.0) if one.is_floating_point() else one,
                             other.nan_to_num(7.0) if other.is_floating_point() else other)
    else:
        assert type(one) is type(other) and one == other


@pytest.mark.parametrize("name", EQUAL)
def test_a_program_computes_what_the_module_does(name):
    """The same bits: results, gradients, what is written to arguments and buffers."""
    module, args, kwargs = cases.ours()[name]
    module, twin = copy.deepcopy(module), copy.deepcopy(module)
    before = {key: one.detach().clone() for key, one in module.state_dict().items()}
    inner = jtensor.export.export(module, args, kwargs).module()
    assert all(jtensor.equal(one, before[key]) for key, one in module.state_dict().items()), "exporting changes nothing"
    gradient = name not in WITHOUT_GRADIENT
    mine = _outcome(inner, args, kwargs, list(module.parameters()), gradient)
    wanted = _outcome(twin, args, kwargs, list(twin.parameters()), gradient)
    for ours, expected in zip(mine, wanted, strict=True):
        for one, other in zip(ours, expected, strict=True):
            _same(one, other)
    for one, other in zip(module.buffers(), twin.buffers(), strict=True):
        _same(one, other)


def test_gradients_reach_the_exported_modules_parameters():
    module = jtensor.nn.Linear(3, 2)
    inner = jtensor.export.export(module, (jtensor.ones(1, 3),)).module()
    assert inner.weight is module.weight
    inner(jtensor.ones(1, 3)).sum().backward()
    assert jtensor.equal(module.weight.grad, jtensor.ones(2, 3))


def test_exporting_leaves_everything_as_it_was():
    """Buffers, arguments, attributes, the stream of random numbers."""
    class Net(jtensor.nn.Module):
        def __init__(self):
            super().__init__()
            self.bn, self.calls = jtensor.nn.BatchNorm1d(3), 0

        def forward(self, x):
            self.calls += 1
            self.last = x
            return self.bn(x.add_(jtensor.rand(2, 3)))
    net, x = Net(), jtensor.ones(2, 3)
    jtensor.manual_seed(0)
    first = jtensor.rand(2)
    jtensor.manual_seed(0)
    program = jtensor.export.export(net, (x,))
    assert jtensor.equal(jtensor.rand(2), first) and jtensor.equal(x, jtensor.ones(2, 3)) and x._version == 0
    assert net.calls == 0 and not hasattr(net, "last")
    assert net.bn.num_batches_tracked.item() == 0 and jtensor.equal(net.bn.running_mean, jtensor.zeros(3))
    assert type(net.bn.weight) is jtensor.nn.Parameter and program.state_dict["bn.weight"] is net.bn.weight
    program.module()(x)
    assert net.bn.num_batches_tracked.item() == 1                # the program's buffers are the module's


# -- printing -----------------------------------------------------------------------------------------------------------


def test_printing():
    class Net(jtensor.nn.Module):
        def forward(self, x, n):
            y = x.double() * n
            return y.chunk(2), jtensor.tensor([True]) | (x > 0)[0, :1]
    program = jtensor.export.export(Net(), (jtensor.ones(2, 3), 2))
    line = Net.forward.__code__.co_firstlineno
    place = f"# File: {__file__}:{{}} in forward, code: {{}}"
    assert str(program).split("\n")[:4] == [
        "ExportedProgram:", "    class GraphModule(torch.nn.Module):",
        '        def forward(self, c_lifted_tensor_0: "b8[1]", x: "f32[2, 3]", n):',
        "            " + place.format(line + 1, "y = x.double() * n")]
    assert '    to: "f64[2, 3]" = torch.ops.aten.to.dtype(x, torch.float64)\n' in str(program)
    assert place.format(line + 2, "return y.chunk(2), jtensor.tensor([True]) | (x > 0)[0, :1]") in str(program)
    assert '            chunk = torch.ops.aten.chunk.default(mul, 2);  mul = None\n' in str(program)
    assert str(program).endswith("\n    \nRange constraints: {}\n") and repr(program) == str(program)


def test_printing_is_pytorchs(tmp_path):
    """But for the library's own lines: a module of the user's alone."""
    pytest.importorskip("torch")
    file = tmp_path / "printed.py"
    file.write_text("""import sys, warnings, logging
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
torch = __import__(sys.argv[1])
class Inner(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x).to(torch.float64)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.w = Inner(), torch.nn.Parameter(torch.ones(3))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
    def forward(self, x, pair):
        self.seen += 1
        y = self.inner(x * self.w) + pair[0].sum() - \\
            pair[1]
        return y.split(1), helper(y)
def helper(y):
    return y.max(1)
print(torch.export.export(Net(), (torch.ones(2, 3), (torch.ones(2, 3), 2.5))))
""")
    said = [subprocess.run([sys.executable, str(file), name], capture_output=True, text=True, check=True).stdout.strip()
            for name in ("jtensor", "torch")]
    assert said[0] == said[1] and "f64[2, 3]" in said[0]


if __name__ == "__main__":
    kept = {name: {key: one[key] for key in cases.KEPT} for name, one in in_pytorch(*sorted(set(cases.ours()) - set(REFUSED))).items()}
    KEPT.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
