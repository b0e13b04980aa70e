"""A recorder says what the general path says: the same values, geometry, type and history, whatever the call."""
import pytest

import jtensor as torch
from jtensor.ops.registry import REGISTRY
from jtensor.tensor import dispatch
from jtensor.tensor.calling.arguments import identity
from jtensor.trace import executor, tape

OPERATORS = REGISTRY.operators


def a(*size, grad=False):
    return torch.arange(1.0, 1 + torch.Size(size).numel()).reshape(*size).requires_grad_(grad)


CALLS = {
    "numbers left alone": ("add", lambda: (a(2, 3), a(3, grad=True), 1)),
    "a number given": ("add", lambda: (a(2, 3, grad=True), a(3), 0.5)),
    "an operand that is a number": ("add", lambda: (a(2, 3, grad=True), 3, 1)),
    "a number of another type": ("add", lambda: (a(2), True, 1)),
    "a number beyond int64": ("mul", lambda: (a(2), 1 << 63)),
    "an absent tensor": ("nll_loss", lambda: (a(2, 3, grad=True), torch.tensor([0, 2]), None, 1, -100)),
    "an optional tensor": ("nll_loss", lambda: (a(2, 3, grad=True), torch.tensor([0, 2]), a(3), 1, -100)),
    "a list": ("cat", lambda: ([a(2, 2, grad=True), a(1, 2)], 0)),
    "numbers that may be None": ("clamp_Scalar", lambda: (a(4, grad=True), None, 2.5)),
    "an operand as it lies": ("mm", lambda: (a(2, 3), a(2, 3, grad=True).t())),
    "a view that is no transpose": ("mm", lambda: (a(2, 3), a(2, 6, grad=True)[:, ::2].t())),
    "several results": ("max_dim", lambda: (a(2, 3, grad=True), 1, False)),
    "an input without gradient": ("gather.raw", lambda: (a(2, 3, grad=True), 1, torch.tensor([[0], [1]]), False)),
    "no tensor": ("full_of", lambda: ((2, 2), 1.5, torch.float64, torch.device("cpu"))),
    "no data": ("exp", lambda: (torch.ones(2, device="meta"),)),
}


def shown(outs):
    return [(t.shape, t.stride(), t.dtype, t.device, t.requires_grad, t.grad_fn and t.grad_fn.name(),
             t.grad_fn and [e[0] and e[0].name() for e in t.grad_fn.next_functions], None if t.is_meta else t.tolist())
            for t in (outs if isinstance(outs, tuple) else (outs,))]


@pytest.mark.parametrize("name, make", CALLS.values(), ids=CALLS)
def test_as_the_general_path(name, make):
    operator = OPERATORS[name]
    for mode in (torch.enable_grad, torch.no_grad, torch.eager):
        with mode():
            for _ in range(2):                                   # the first call grows the trie, the second finds its node there
                assert shown(operator.record(*make())) == shown(dispatch.call(operator, make()))


def test_statics_are_told_by_type_and_value():
    values = [1, 1.0, True, 0.0, -0.0, None, "1", (1,), (1.0,), (True,), torch.float32, torch.device("cpu")]
    keys = [identity(v) for v in values]
    assert all(k != j for i, k in enumerate(keys) for j in keys[:i])
    assert identity([1, 2]) == identity((1, 2)) == identity(torch.Size((1, 2)))


def test_a_refused_call_leaves_the_tape_as_it_was():
    executor.flush("a new start")
    x, wrong = a(2) * 2.0, a(3)
    segment = tape.LOCAL.segment
    before = len(segment.nodes), segment.count, list(segment.floats), segment.state
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.add(x, wrong, alpha=0.5)
    assert before == (len(segment.nodes), segment.count, segment.floats, segment.state)
    assert (x + 1).tolist() == [3.0, 5.0]


def test_a_node_knows_the_line_that_saved_however_it_was_called():
    F, relu, weight = torch.nn.functional, torch.nn.ReLU(), a(2, 2, grad=True)
    for call in (lambda x: x * x, lambda x: x / weight, lambda x: x @ weight, torch.exp, lambda x: x.sigmoid(), F.relu, relu, torch.relu,
                 lambda x: F.linear(x, weight, a(2)), lambda x: torch.nn.Sequential(relu, torch.nn.Tanh())(x)):
        for written in "ab":                                     # the operand, or the result: one of them was saved
            x = a(2, 2, grad=True) * 1.0
            y = call(x)
            with torch.no_grad():
                (x if written == "a" else y).add_(1)
            try:
                y.sum().backward()
            except RuntimeError as error:
                text = str(error)
                assert "modified by an inplace operation" in text and "saved for the gradient at test_recorders.py" in text, (call, text)
                assert "in test_a_node_knows" in text or "in <lambda>" in text, text
                break
        else:
            raise AssertionError(f"{call} saved nothing")


def test_nodes_of_what_saves_only_numbers_can_be_freed():
    x = a(2, grad=True)
    for make, freed in ((lambda: x * 2.0, True), (lambda: x + 2.0, False), (lambda: 2.0 * x, True), (lambda: -x, False),
                        (lambda: x / 2.0, True)):
        y = make()
        y.sum().backward()
        if freed:
            with pytest.raises(RuntimeError, match="a second time"):
                y.sum().backward()
        else:
            y.sum().backward()


def test_products_of_all_shapes_by_the_operator_and_by_the_function():
    for left, right in (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4))):
        for _ in range(2):
            x, y = a(*left, grad=True), a(*right, grad=True)
            assert shown(x @ y) == shown(torch.matmul(x, y))
    assert shown(a(3, 2).t() @ a(4, 3, grad=True).t()) == shown(torch.mm(a(3, 2).t(), a(4, 3, grad=True).t()))
    assert a(2, 2).__matmul__(3) is NotImplemented
    with pytest.raises(TypeError):
        a(2, 2) @ 3
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        a(2, 3) @ a(2, 3)
    with pytest.raises(RuntimeError, match="at least 1D"):
        a(2, 3) @ torch.tensor(1.0)
