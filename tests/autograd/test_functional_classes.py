"""`autograd.functional` with a subclass of Tensor: the function is given the subclass, and the answer is of it."""
import importlib

import pytest

import jtensor

CALLS = {
    "jacobian": lambda A, x, ones: A.jacobian(cubes, x), "vectorized": lambda A, x, ones: A.jacobian(cubes, x, vectorize=True),
    "create_graph": lambda A, x, ones: A.jacobian(cubes, x, create_graph=True), "hessian": lambda A, x, ones: A.hessian(squares, x),
    "hessian_vectorized": lambda A, x, ones: A.hessian(squares, x, vectorize=True), "vjp": lambda A, x, ones: A.vjp(cubes, x, ones),
    "jvp": lambda A, x, ones: A.jvp(cubes, x, ones), "vhp": lambda A, x, ones: A.vhp(squares, x, ones),
    "hvp": lambda A, x, ones: A.hvp(squares, x, ones), "two": lambda A, x, ones: A.jacobian(product, (x, ones)),
    "history": lambda A, x, ones: A.jacobian(cubes, x.detach().requires_grad_(), create_graph=True),
}
SEEN = []


def cubes(x):
    SEEN.append(type(x).__name__)
    return x ** 3


def squares(x):
    SEEN.append(type(x).__name__)
    return (x * x).sum()


def product(x, y):
    SEEN.append((type(x).__name__, type(y).__name__))
    return x * y


def shown(found):
    return [shown(one) for one in found] if isinstance(found, tuple) else (type(found).__name__, found.tolist())


def answer(torch, call, kind):
    class Sub(torch.Tensor):
        pass

    SEEN.clear()
    x = torch.nn.Parameter(torch.tensor([1., 2., 3.])) if kind == "Parameter" else torch.tensor([1., 2., 3.])
    x = x.as_subclass(Sub) if kind == "Sub" else x
    return shown(CALLS[call](torch.autograd.functional, x, torch.ones(3))), list(SEEN)


@pytest.mark.parametrize("kind", ["Sub", "Parameter", "Tensor"])
@pytest.mark.parametrize("call", CALLS)
def test_the_class_is_as_in_pytorch(call, kind):
    pytest.importorskip("torch")
    assert answer(jtensor, call, kind) == answer(importlib.import_module("torch"), call, kind)


@pytest.mark.parametrize("call", CALLS)
def test_a_subclass_is_kept(call):
    found, seen = answer(jtensor, call, "Sub")
    assert "Sub" in str(found) and "Tensor" not in str(found)
    assert seen == [("Sub", "Tensor")] if call == "two" else set(seen) == {"Sub"}
