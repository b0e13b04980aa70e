"""Schemas of operators: what is read is written as PyTorch writes it; and the laws of operators that users define."""
import numpy as np
import pytest

import jtensor
from jtensor.library.operators import gathered, spread
from jtensor.library.schema import Schema

SCHEMAS = [
    "x::a(Tensor x) -> Tensor",
    "x::b(Tensor(a!) x, *, Tensor? y=None, Scalar c=1, ScalarType? d=None, bool[3] m=[True,True,False]) -> Tensor(a!)",
    "x::c.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "x::d() -> ()",
    "x::e(str z='a b', float e=1e-5, int k=-1, float f=2) -> (Tensor, int)",
    "x::f(Tensor[] x, Tensor?[] y, int[]? z=None) -> Tensor[]", "x::g(Tensor(a) x, int[2] y=0) -> (Tensor(a), Tensor)",
]


@pytest.mark.parametrize("text", SCHEMAS)
def test_schemas_are_written_as_pytorch_writes_them(text):
    torch = pytest.importorskip("torch")
    theirs, ours = torch._C.parse_schema(text), Schema.read(text)
    assert str(ours) == str(theirs)
    assert [a.name for a in ours.arguments] == [a.name for a in theirs.arguments]
    assert [a.kwarg_only for a in ours.arguments] == [a.kwarg_only for a in theirs.arguments]


@pytest.mark.parametrize("text", SCHEMAS)
def test_what_is_written_reads_as_the_same(text):
    assert str(Schema.read(str(Schema.read(text)))) == str(Schema.read(text))


@pytest.mark.parametrize("text", ["a(Tensor x", "a(Tensr x) -> Tensor", "a(Tensor) -> Tensor", "a(int x=q q) -> int",
                                  "a(int x='s') -> int"])
def test_what_is_no_schema_is_refused(text):
    with pytest.raises(RuntimeError):
        Schema.read(text)


def test_lists_come_back_as_they_were():
    counts = [None, 2, 0, None]
    assert gathered(spread([1, [2, 3], [], 4], counts), counts) == [1, [2, 3], [], 4]


@pytest.fixture
def library():
    made = jtensor.library.Library("test_schema_lib", "FRAGMENT")
    yield made
    made._destroy()


def test_an_operator_is_the_same_late_and_at_once(library):
    """Whether the tape ran before the body looked at it cannot be seen."""
    @jtensor.library.custom_op("test_schema_more::sine", mutates_args=())
    def sine(x: jtensor.Tensor) -> jtensor.Tensor:
        return jtensor.from_numpy(np.sin(x.numpy()))
    sine.register_autograd(lambda ctx, g: g * ctx.saved_tensors[0].cos(),
                           setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))

    def program():
        x = jtensor.linspace(0, 1, 5, requires_grad=True)
        y = (sine(x * 2) * x).sum()
        y.backward()
        return y.item(), x.grad.tolist()
    late = program()
    with jtensor.eager():
        assert program() == late


def test_overloads_are_chosen_by_the_arguments(library):
    library.define("pick(Tensor x) -> Tensor")
    library.define("pick.number(Scalar x) -> Scalar")
    library.impl("pick", lambda x: x + 1)
    library.impl("pick.number", lambda x: x + 2)
    pick = jtensor.ops.test_schema_lib.pick
    assert pick(3) == 5 and pick(jtensor.zeros(1)).item() == 1 and pick.overloads() == ["default", "number"]
    with pytest.raises(RuntimeError, match="failed to match any schema"):
        pick("a")


def test_what_there_is_not(library):
    library.define("lost(Tensor x) -> Tensor")
    for refused in (lambda: library.impl("lost", len, "AutogradCPU"), lambda: library.impl("lost", len, "HPU"),
                    lambda: library.fallback(len), lambda: jtensor.library.triton_op("a::b", mutates_args=()),
                    lambda: jtensor.library.Library("build_plan", "FRAGMENT") and jtensor.library.define("registry::x", "() -> ()")):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()
    with pytest.raises(NotImplementedError, match="Could not run 'test_schema_lib::lost'"):
        jtensor.ops.test_schema_lib.lost(jtensor.ones(1))
    with pytest.raises(RuntimeError, match="multiple times"):
        library.define("lost(Tensor x, int y) -> Tensor")
    library._destroy()
    assert not hasattr(jtensor.ops.test_schema_lib, "lost")


def test_a_batch_is_what_its_rule_makes_of_it():
    seen = []

    @jtensor.library.custom_op("test_schema_more::total", mutates_args=())
    def total(x: jtensor.Tensor, *, k: float = 1) -> jtensor.Tensor:
        return jtensor.tensor(float(x.numpy().sum()) * k)

    @total.register_vmap
    def _(info, in_dims, x, *, k=1):
        seen.append((info.batch_size, in_dims, tuple(x.shape), k))
        return x.movedim(in_dims[0], 0).flatten(1).sum(1) * k, 0
    assert jtensor.vmap(lambda x: total(x, k=2), in_dims=1)(jtensor.ones(2, 3)).tolist() == [4, 4, 4]
    assert seen == [(3, (0,), (3, 2), 2)]              # batches come with their dimension first
