"""`torch.ops.aten`: the functions by the names of PyTorch's schemas; libraries that nobody has defined."""
import copy
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor.base.errors import MissingFeature
from jtensor.library import aten

LINES = r"""
    torch.ops.aten.add, str(torch.ops.aten.add), str(torch.ops.aten.add.Tensor), repr(torch.ops.aten.add.Tensor)
    torch.ops.aten.add.Tensor.name(), torch.ops.aten.mm.default.name(), torch.ops.aten.add.Tensor.namespace
    torch.ops.aten.add.Tensor is torch.ops.aten.add.Tensor, torch.ops.aten.add.Tensor.overloadpacket is torch.ops.aten.add
    torch.ops.aten.add.Tensor(x, x, alpha=2), torch.ops.aten.add.Scalar(x, 1), torch.ops.aten.add(x, 1)
    torch.ops.aten.slice.Tensor(x, 1, 0, 2), torch.ops.aten.slice.Tensor(x, -1, 1), torch.ops.aten.select.int(x, 1, 2)
    torch.ops.aten.index.Tensor(x, [None, torch.tensor([0, 2])])
    torch.ops.aten._to_copy.default(x, dtype=torch.int64), torch.ops.aten._to_copy(x) is x
    torch.ops.aten.view.default(x, [3, 2]), torch.ops.aten.alias.default(x)._is_view()
    torch.ops.aten.gelu.default(x / 2), torch.ops.aten.mm.default(x, x.t()), torch.ops.aten._softmax.default(x, 1, False)
    torch.ops.aten.sym_size.int(x, 0), torch.ops.aten.mul_.Tensor(x.clone(), 2)
    torch.ops.aten.mm.out(x, x.t(), out=torch.empty(0))
    copy.deepcopy([torch.ops.aten.add.Tensor, torch.ops.aten.mm]), copy.deepcopy(torch.ops.aten.mm) is torch.ops.aten.mm
    torch.ops.aten, torch.ops.nobody
    torch.ops.aten.nothing
    torch.ops.aten.add.Nothing
    torch.ops.nobody.nothing
"""


@pytest.mark.parametrize("line", [line.strip() for line in LINES.strip().splitlines()])
def test_as_in_pytorch(line):
    torch = pytest.importorskip("torch")
    found = []
    for lib in (jtensor, torch):
        try:
            found.append(repr(eval(line, {"copy": copy, "torch": lib, "x": lib.arange(6.0).reshape(2, 3)})))
        except AttributeError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_forms_are_pytorchs():
    pytest.importorskip("torch")
    path = Path(__file__).parents[1] / "house" / "make_overloads.py"
    made = importlib.util.module_from_spec(importlib.util.spec_from_file_location("make_overloads", path))
    made.__spec__.loader.exec_module(made)
    assert made.PATH.read_text() == made.text(), "python tests/house/make_overloads.py"


def test_every_operator_has_a_function():
    assert all(aten.function_of(name) is not None for name in aten.operators())


def test_what_is_refused():
    with pytest.raises(MissingFeature, match="the tags of aten::add"):
        _ = jtensor.ops.aten.add.Tensor.tags
    with pytest.raises(MissingFeature, match="an operator of one's own"):
        jtensor.library.register_kernel(jtensor.ops.aten.add.Tensor, "cpu")(lambda x: x)
    with pytest.raises(MissingFeature, match="an operator of one's own"):
        jtensor.library.Library("aten", "IMPL").impl("sin", lambda x: x, "CPU")
    with pytest.raises(AttributeError):
        _ = jtensor.ops.__path_of_nothing__


TRACED = ["torch.ops.aten.add(x, 1)", "torch.ops.aten.add.Tensor(x, x)", "torch.ops.aten.view(x, [6])",
          "torch.ops.aten.cat.default([x, x])",
          "torch.ops.aten.max_pool2d_with_indices.default(x[None], [1, 1])[0]", "torch.ops.traced_here.twice(x)",
          "torch.ops.traced_here.twice.default(x)"]


@pytest.fixture
def twice():
    """In both libraries an operator of one's own."""
    made = []
    for library in (jtensor, pytest.importorskip("torch")):
        made.append(library.library.Library("traced_here", "DEF"))
        made[-1].define("twice(Tensor x) -> Tensor")
        made[-1].impl("twice", lambda x: x * 2, "CPU")
    yield
    for one in made:
        one._destroy()


@pytest.mark.parametrize("text", TRACED)
def test_traced_calls_are_nodes(text, twice):
    torch = pytest.importorskip("torch")

    def seen(library):
        function = eval(f"lambda x: {text}", {"torch": library})
        made = library.fx.symbolic_trace(function)
        x = library.arange(6.).view(2, 3)
        assert made(x).tolist() == copy.deepcopy(made)(x).tolist() == function(x).tolist()
        return made.code, [(node.op, node.name, str(node.target)) for node in made.graph.nodes if node.op != "call_function"]
    assert seen(jtensor) == seen(torch)


@pytest.mark.parametrize("text", ["torch.ops.aten.add.Tensor(s, s)", "torch.ops.aten.mul(s, 2)", "torch.ops.aten.cat([s, s])",
                                  "torch.ops.traced_here.twice(s)"])
def test_classes_and_modes_are_asked(text, twice):
    torch = pytest.importorskip("torch")

    def seen(library):
        asked = []

        class Sub(library.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append(str(func))
                return super().__torch_function__(func, types, args, kwargs)

        class Mode(library.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                asked.append(f"mode: {func}")
                return func(*args, **(kwargs or {}))
        answer, plain = eval(text, {"torch": library, "s": library.ones(2).as_subclass(Sub)}), library.ones(2)
        first = asked[0]
        with Mode():
            eval(text, {"torch": library, "s": plain})
        return first, type(answer).__name__, [one for one in asked if one.startswith("mode")][0]
    assert seen(jtensor) == seen(torch)


def test_what_an_operator_is():
    torch = pytest.importorskip("torch")
    for library in (jtensor, torch):
        assert isinstance(library.ops.aten.add.Tensor, library._ops.OpOverload)
        assert isinstance(library.ops.aten.add, library._ops.OpOverloadPacket)


def test_regions_of_a_profile_are_operators():
    """As a program that rewrites a graph puts them into it."""
    enter, leave = jtensor.ops.profiler._record_function_enter, jtensor.ops.profiler._record_function_exit
    graph = jtensor.fx.Graph()
    x = graph.placeholder("x")
    handle = graph.call_function(enter, ("mine",))
    answer = graph.call_function(jtensor.relu, (x,))
    graph.call_function(leave, (handle,))
    graph.output(answer)
    module = jtensor.fx.GraphModule({}, graph)
    assert "_record_function_enter = torch.ops.profiler._record_function_enter('mine')" in module.code
    with jtensor.autograd.profiler.profile() as found:
        module(jtensor.ones(2))
    assert [event.key for event in found.key_averages()].count("mine") == 1


CALLS = """
    ops.mse_loss(x, y) | ops.mse_loss(x, y, 2) | ops.nll_loss_nd(x, k) | ops.cross_entropy_loss(x, k, None, 0) | ops.elu(x, 0.5, 2.0)
    ops.binary_cross_entropy_with_logits(x, y) | ops.kl_div(x, y, 2) | ops.tensordot(x, y, [1], [1]) | ops.einsum("ij,ij->i", [x, y])
    ops.convolution(z, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1) | ops.im2col(z, [2, 2], [1, 1], [0, 0], [1, 1])
    ops.upsample_bilinear2d(z, [5, 5], False) | ops.upsample_nearest2d.vec(z, None, [2.0, 2.0])
    ops.adaptive_max_pool2d(z, [2, 2])
    ops.linalg_vector_norm(x) | ops.fft_rfft(x) | ops.special_expit(x) | ops.log_sigmoid(x) | ops.reflection_pad1d(x, [1, 1])
    ops.stft(x[0], 2, 1, None, x[0, :2] + 1, False, None, True) | ops.silu_(x.clone()) | ops.numpy_T(x)
    ops.grid_sampler(z, g, 0, 0, False)
    ops.upsample_bicubic2d(z, [5, 5], True) | ops.cosine_embedding_loss(x, y, k.float()) | ops.max_pool2d_with_indices(z, [2, 2])
    """


@pytest.mark.parametrize("line", [part.strip() for part in CALLS.replace("\n", "|").split("|") if part.strip()])
def test_arguments_are_those_of_schemas(line):
    torch = pytest.importorskip("torch")
    found = []
    for lib in (jtensor, torch):
        x = lib.arange(12.0).reshape(3, 4) / 10
        made = eval(line, {"ops": lib.ops.aten, "x": x, "y": x.flip(0) / 2 + 0.1, "k": lib.tensor([0, 1, 2]),
                                   "z": lib.arange(16.0).reshape(1, 1, 4, 4), "w": lib.ones(1, 1, 2, 2),
                                   "g": lib.zeros(1, 2, 2, 2)})
        found.append([t.tolist() for t in (made if isinstance(made, tuple) else (made,))])
    assert str(found[0]) == str(found[1]) or all(map(_close, *found))


def _close(ours, theirs):
    return np.allclose(ours, theirs, rtol=1e-5, atol=1e-6)
