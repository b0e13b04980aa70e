"""What a function that `torch.func` differentiates may do: what PyTorch refuses there, and leaves of its own."""
import pytest

import jtensor

torch = pytest.importorskip("torch")

PROGRAMS = {
    "marked": "F.vjp(lambda t: t.requires_grad_(), x)[0]",
    "rows": "F.jacrev(lambda t: t.requires_grad_())(x)",
    "a copy marked": "F.grad(lambda t: (t.detach().requires_grad_(False) * t).sum())(x)",
    "backward": "F.grad(lambda t: (T.autograd.backward((t * 2).sum()), t.sum())[1])(x)",
    "jacobian": "F.grad(lambda t: T.autograd.functional.jacobian(T.sin, t).sum())(x)",
    "leaf": "F.grad(lambda t: (t * T.ones(3, requires_grad=True)).sum())(x)",
    "leaf of data": "F.grad(lambda t: (t * T.tensor([2.], requires_grad=True)).sum())(x)",
    "parameter": "F.grad(lambda t: (t * T.nn.Parameter(T.ones(3))).sum())(x)",
    "parameter and leaf outside": "F.grad(lambda t: (t * w * T.nn.Parameter(T.ones(3))).sum())(x)",
    "leaf in a function in a function": "F.grad(lambda t: F.grad(lambda u: (u**2 * T.ones(3, requires_grad=True)).sum())(t).sum())(x)",
    "gradient": "F.grad(lambda t: T.autograd.grad((t**3).sum(), t, create_graph=True)[0].sum())(x)",
    "module": "F.grad(lambda t: T.nn.Linear(3, 1)(t).sum())(x).requires_grad",
    "kept": "F.grad(lambda t: ((u := t.sin()).retain_grad(), u.sum())[1])(x)",
    "kept within vmap": "F.vmap(lambda t: ((u := t.sin()).retain_grad(), u.sum())[1])(x[None])",
    "the way back, differentiated": "F.vjp(lambda v: F.vjp(T.square, x)[1](v)[0], x)[0]",
    "another's way back, differentiated": "(lambda back: F.vjp(lambda v: back(v)[0], x)[0])(F.vjp(T.square, x)[1])",
    "a way back to what is outside": "(lambda back: F.vjp(lambda v: back(v)[0], x)[0])(F.vjp(lambda t: t * w, x)[1])",
    "what has been carried out": "(lambda seen: (F.grad(lambda t: (seen.append(t.sin()), t.sum())[1])(x), "
                                 "F.grad(lambda t: (seen[0] * t).sum())(x))[1])([])",
    "within vmap": "F.vmap(lambda t: t * T.ones(1, requires_grad=True))(x).shape",
}


def outcome(T, program):
    scope = {"T": T, "F": T.func, "x": T.tensor([1.0, 2.0, 3.0]), "w": T.ones(3, requires_grad=True)}
    try:
        answer = eval(program, scope)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]
    return (answer.tolist(), answer.requires_grad) if hasattr(answer, "tolist") else str(answer)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_pytorch(name):
    assert outcome(jtensor, PROGRAMS[name]) == outcome(torch, PROGRAMS[name])


def test_nothing_is_refused_behind_a_function_that_failed():
    with pytest.raises(ZeroDivisionError):
        jtensor.func.grad(lambda t: 1 / 0)(jtensor.ones(1))
    leaf = jtensor.ones(2).requires_grad_()
    leaf.sum().backward()
    assert leaf.grad.tolist() == [1, 1]
