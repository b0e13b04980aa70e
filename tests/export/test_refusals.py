"""`torch.export.export`: what is no program of fixed sizes raises, and nothing that a tensor holds is baked into one."""
import copy
import os
import subprocess
import sys

import numpy as np
import pytest

import jtensor
from jtensor.base.errors import MissingFeature
from jtensor.export import Dim, export
from jtensor.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

F = jtensor.nn.functional


def module(function):
    class Net(jtensor.nn.Module):
        def forward(self, x):
            return function(x)
    return Net()


def graph_of(function, x=None):
    return export(module(function), (jtensor.arange(6.).reshape(2, 3) + 1 if x is None else x,)).graph


def targets(graph):
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


class _Square(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad


def _written_out(x):
    made = jtensor.empty(2, 3)
    jtensor.add(x, 1, out=made)
    return made


def _in_autocast(x):
    with jtensor.autocast("cpu"):
        return x @ x.t()


DECIDED = {
    "if": lambda x: x if x.sum() > 0 else -x, "any": lambda x: x if (x > 0).any() else -x, "float": lambda x: x * float(x.sum()),
    "int": lambda x: x[int(x[0, 0])], "range": lambda x: sum(x[0, i] for i in range(int(x[0, 0]))), "sorted": lambda x: sorted(x[0])[0],
    "assert": lambda x: jtensor._assert(x.sum() > 0, "no") or x, "while": lambda x: next(x for _ in iter(lambda: bool(x.sum()), False)),
}
"""PyTorch's ``GuardOnDataDependentSymNode``."""
MISSING = {
    "item": lambda x: x * x.sum().item(), "tolist": lambda x: x * x.tolist()[0][0], "equal": lambda x: x if jtensor.equal(x, x) else -x,
    "allclose": lambda x: x if jtensor.allclose(x, x) else -x, "in": lambda x: x if 1.0 in x else -x,
    "of tensors": lambda x: jtensor.tensor([x.sum(), 1.0]) + 1, "deepcopy": lambda x: copy.deepcopy(x) + 1,
    "vmap": lambda x: jtensor.vmap(lambda row: row * 2)(x), "func.grad": lambda x: jtensor.func.grad(lambda z: (z * z).sum())(x),
    "Function": lambda x: _Square.apply(x) + 1, "out": _written_out, "data": lambda x: x + x.data, "no_grad": lambda x: jtensor.no_grad()(
        lambda: x * 2)(), "autocast": _in_autocast, "mask": lambda x: x[x > 0], "nonzero": lambda x: x.nonzero(),
    "where": lambda x: jtensor.where(x > 0)[0], "unique": lambda x: x.unique(), "masked_select": lambda x: x.masked_select(x > 0),
    "repeats": lambda x: x.repeat_interleave(jtensor.tensor([1, 2]), 0), "one number": lambda x: x[x.argmax()], "array": lambda x: x[
        np.array([0])], "generator": lambda x: x + jtensor.rand(2, 3, generator=jtensor.Generator()),
    "backward": lambda x: x.sum().backward(), "packet": lambda x: jtensor.ops.aten.add(x, 1),
}


@pytest.mark.parametrize("name", sorted(DECIDED))
def test_what_python_decides_by_numbers(name):
    with pytest.raises(GuardOnDataDependentSymNode, match="^Could not guard on data-dependent expression .*\n\nThe following call raised "
                                                          "this error:\n  File .*test_refusals.py"):
        graph_of(DECIDED[name])
    assert issubclass(GuardOnDataDependentSymNode, RuntimeError)


def test_whole_numbers_have_pytorchs_other_text():
    for function in (lambda x: x * int(x.sum()), lambda x: [1, 2, 3][x.sum()]):
        with pytest.raises(GuardOnDataDependentSymNode, match="^Could not extract specialized integer from data-dependent expression u0 "):
            graph_of(function, jtensor.zeros(3, dtype=jtensor.int64))


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_missing(name):
    with pytest.raises(MissingFeature, match="^jtensor does not have .*; what works: "):
        graph_of(MISSING[name])


def test_nested_tensors_are_refused():
    class Twice(jtensor.nn.Module):
        def forward(self, x):
            return x * 2
    x = jtensor.nested.nested_tensor([jtensor.ones(2), jtensor.ones(3)], layout=jtensor.jagged)
    with pytest.raises(MissingFeature, match="^jtensor does not have torch.export of nested tensors; what works: "):
        jtensor.export.export(Twice(), (x,))


def test_numpy_is_pytorchs_error():
    for function in (lambda x: x.numpy(), np.asarray):
        with pytest.raises(RuntimeError, match="^.numpy\\(\\) is not supported for tensor subclasses.$"):
            graph_of(function)


def test_constants_are_not_written_to():
    kept = jtensor.ones(2, 3)
    for function in (lambda x: x + kept.add_(1), lambda x: kept[0].add_(1) + x, lambda x: kept.__setitem__(0, 5.0) or x + kept):
        with pytest.raises(MissingFeature, match="writing to a tensor that is neither an argument nor a buffer of the exported module"):
            graph_of(function)
        assert jtensor.equal(kept, jtensor.ones(2, 3))


def test_a_module_that_failed_is_what_it_was():
    class Net(jtensor.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.bn = jtensor.nn.Linear(3, 3), jtensor.nn.BatchNorm1d(3)

        def forward(self, x):
            self.seen = 1
            return self.bn(self.linear(x)).sum().item()
    net = Net()
    before = dict(net.state_dict(keep_vars=True))
    with pytest.raises(MissingFeature):
        export(net, (jtensor.ones(2, 3),))
    assert all(one is before[name] for name, one in net.state_dict(keep_vars=True).items()) and not hasattr(net, "seen")
    assert net.bn.num_batches_tracked.item() == 0 and "forward" not in vars(net.linear) and not jtensor.compiler.is_exporting()


# -- arguments ----------------------------------------------------------------------------------------------------------


def test_arguments():
    linear, x = jtensor.nn.Linear(3, 2), jtensor.ones(2, 3)
    with pytest.raises(ValueError, match="^Expected `mod` to be an instance of `torch.nn.Module`, got <class 'function'>.$"):
        export(lambda x: x, (x,))
    for wrong in (x, [x]):
        with pytest.raises(jtensor._dynamo.exc.UserError, match="^Expecting `args` to be a tuple of example positional inputs, got <class"):
            export(linear, wrong)
    with pytest.raises(TypeError, match="^missing a required argument: 'input'$"):
        export(linear, ())
    with pytest.raises(TypeError, match="^got an unexpected keyword argument 't'$"):
        export(linear, (x,), {"t": x})
    with pytest.raises(ValueError, match="^Unsupported input type <class 'object'>. Export only supports pytree containers of basic types"):
        export(linear, (object(),))
    with pytest.raises(RuntimeError, match="^Found <class 'object'> in output, which is not a known type."):
        graph_of(lambda x: object())


@pytest.mark.parametrize("options", [{"strict": True}, {"preserve_module_call_signature": ("a",)}, {"dynamic_shapes": {"input": {
    0: Dim("batch")}}}, {"dynamic_shapes": ({0: Dim.DYNAMIC},)}, {"dynamic_shapes": ((Dim.AUTO, None),)}])
def test_options_that_are_missing(options):
    with pytest.raises(MissingFeature, match="what works"):
        export(jtensor.nn.Linear(3, 2), (jtensor.ones(2, 3),), **options)


def test_sizes_that_are_said_to_be_fixed():
    plain = str(export(jtensor.nn.Linear(3, 2), (jtensor.ones(2, 3),)).graph)
    for shapes in (None, {"input": None}, ({0: Dim.STATIC, 1: None},), ((2, 3),), {}):
        assert str(export(jtensor.nn.Linear(3, 2), (jtensor.ones(2, 3),), dynamic_shapes=shapes).graph) == plain


# -- the program's module -----------------------------------------------------------------------------------------------


def test_a_programs_module_checks_its_arguments():
    class Net(jtensor.nn.Module):
        def forward(self, x, n, *, k):
            return x * n + k["a"]
    x = jtensor.ones(2, 3)
    inner = export(Net(), (x, 2), {"k": {"a": x}}).module()
    assert jtensor.equal(inner(x, 2, k={"a": x}), x * 3)
    for args, text in (((jtensor.ones(3, 3), 2), "x.size()[0] == 2"), ((x[:, :2], 2), "x.size()[1] == 3"), ((x, 3), "n == 2")):
        with pytest.raises(AssertionError) as error:
            inner(*args, k={"a": x})
        assert str(error.value) == f"Guard failed: {text}"
    with pytest.raises(AssertionError, match=r"^Guard failed: k_a.size\(\)\[1\] == 3$"):
        inner(x, 2, k={"a": x[:, :1]})
    with pytest.raises(ValueError, match=r"^Ran into a kwarg keyword mismatch: Got the following keywords \[\] but expected \['k'\]$"):
        inner(x, 2)
    with pytest.raises(ValueError, match="^Trying to flatten user inputs with exported input tree spec: \nTreeSpec.*") as error:
        inner(x, k={"a": x})
    assert "but actually got inputs with tree spec of: \nTreeSpec(tuple, None, [TreeSpec(tuple, None, [*])," in str(error.value)
    assert jtensor.equal(export(Net(), (x, 2), {"k": {"a": x}}).module(check_guards=False)(x, 3, k={"a": x}), x * 3 + x - x)
    for name in ("train", "eval"):
        with pytest.raises(NotImplementedError, match=rf"^Calling {name}\(\) is not supported yet.$"):
            getattr(inner, name)()


def test_a_program_is_not_called():
    program = export(jtensor.nn.ReLU(), (jtensor.ones(2),))
    with pytest.raises(RuntimeError, match="^Unable to call ExportedProgram directly. You should use `exported_program.module\\(\\)` inst"):
        program(jtensor.ones(2))
    for missing in (program.run_decompositions, jtensor.export.unflatten, jtensor.export.draft_export, jtensor.export.ShapesCollection,
                    jtensor.export.default_decompositions):
        with pytest.raises(MissingFeature):
            missing() if missing is not jtensor.export.unflatten else missing(program)


# -- what is said while one exports -------------------------------------------------------------------------------------


def test_a_module_may_ask_whether_it_is_exported():
    assert targets(graph_of(lambda x: x + 1 if jtensor.compiler.is_exporting() and jtensor.compiler.is_compiling() else x - 1)) == [
        "aten.add.Tensor"]
    assert not jtensor.compiler.is_exporting() and not jtensor.compiler.is_compiling()


def test_operators_by_their_names_and_ones_own():
    @jtensor.library.custom_op("exportlib::twice", mutates_args=())
    def twice(x: jtensor.Tensor, n: int = 2) -> jtensor.Tensor:
        return x * n
    program = export(module(lambda x: twice(x, 3) + jtensor.ops.aten.sum.dim_IntList(x, [0], True) + jtensor.ops.exportlib.twice(x)),
                     (jtensor.ones(2, 3),))
    assert targets(program.graph) == ["exportlib.twice.default", "aten.sum.dim_IntList", "aten.add.Tensor", "exportlib.twice.default",
                                      "aten.add.Tensor"]
    assert [node.args[1:] for node in program.graph.nodes if node.op == "call_function"][:2] == [(3,), ([0], True)]
    assert jtensor.equal(program.module()(jtensor.ones(2, 3)), jtensor.full((2, 3), 7.0))


def test_a_dataclass_as_an_argument():
    import dataclasses

    @dataclasses.dataclass
    class Pair:
        first: jtensor.Tensor
        second: jtensor.Tensor
    jtensor.export.register_dataclass(Pair)

    class Net(jtensor.nn.Module):
        def forward(self, pair):
            return Pair(pair.first + 1, pair.second * 2)
    program = export(Net(), (Pair(jtensor.ones(2), jtensor.ones(3)),))
    made = program.module()(Pair(jtensor.zeros(2), jtensor.ones(3)))
    assert program.graph_signature.user_inputs == ("pair_first", "pair_second")
    assert jtensor.equal(made.first, jtensor.ones(2)) and jtensor.equal(made.second, jtensor.full((3,), 2.0))


def test_the_one_difference_that_is_known():
    """PyTorch pads before ``stft`` in Python, and has the form without ``center``."""
    found = targets(graph_of(lambda x: jtensor.stft(x.flatten(), 4, 2, window=jtensor.hann_window(4), return_complex=True)))
    assert found == ["aten.flatten.using_ints", "aten.hann_window.default", "aten.stft.center"]


_PROGRAM = """
import jtensor as torch
class Net(torch.nn.Sequential):
    def forward(self, x):
        y = x.clone()
        y[0] += 1
        return super().forward(y) * torch.tensor(2.0)
layers = torch.nn.Linear(3, 2), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(2)
print(*[node.name for node in torch.export.export(Net(*layers), (torch.ones(2, 3),)).graph.nodes if node.op == "call_function"])
"""


@pytest.mark.parametrize("eager", ["0", "1"])
def test_op_by_op_as_well(eager):
    """Exporting does not depend on whether operations wait on the tape."""
    said = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True,
                          env={**os.environ, "JTENSOR_EAGER": eager})
    assert said.stdout.split() == ["clone", "select", "add_", "select_1", "copy_", "linear", "dropout", "add__1", "batch_norm",
                                   "lift_fresh_copy", "detach_", "mul"]
