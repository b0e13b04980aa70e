"""The gradient that an operator declares twice, as formulas of arrays (``grad``) and as a function of tensors (``inverse``), is one."""
import jtensor
from jtensor.ops.registry import REGISTRY
from jtensor.tensor import dispatch

# operator: calls on a (2, 3) and b (3,), both of which need gradients
CALLS = {
    "add": ["a + b", "a + 2.5", "T.add(a, b, alpha=3)", "T.add(a, a)"],
    "sub": ["a - b", "a - 2", "T.sub(a, b, alpha=3)", "b.view(3, 1) - a.t()"],
    "mul": ["a * b", "a * 2.5", "a * -3", "a * a", "b.double() * a"],
    "sum_all": ["a.sum() * b"],
    "sum_dim": ["a.sum(1)", "a.sum((0, 1), True)", "a.sum(-1, keepdim=True) * a"],
    "trace.raw": ["a.trace() * b", "a.t().trace()"],
    "diag_embed": ["T.diag_embed(a)", "T.diag_embed(a, 1, 0, 2)"],
    "cat": ["T.cat((a, a * b, b.view(1, 3)))", "T.cat((a, a.double()), 1)"],
    "_to_copy": ["T.view_as_real(a.to(T.complex64))"],
    "complex": ["T.view_as_real(T.complex(a, a * 2))", "T.complex(a, a).imag"],
    "index.raw": ["a[:, b > 0]", "a[a > 1]"],
    "index_put.raw": ["T.index_put(b, (b > 0,), a[0, :2], True)", "T.index_put(a[1], (b > 0,), b[:2])"],
    "repeat.raw": ["a.repeat(2, 1)", "b.repeat(2, 3)", "b.repeat(1)"],
    "cumsum": ["a.cumsum(1)", "a[:1].cumsum(0)"],
    "cumprod": ["a.cumprod(1)", "a[:1].cumprod(0)"],
    "logcumsumexp": ["a.logcumsumexp(1)", "a[:1].logcumsumexp(0)"],
    "linalg_vector_norm": ["a.norm(3) * b", "T.linalg.vector_norm(a, dim=1)"],      # order 0: `test_corner_gradients`
    "dist": ["T.dist(a[0], b)", "T.dist(a, b, 1)"],
    "stack": ["T.stack((a, a.double()))", "T.stack((a, a * b), 1)", "T.stack((b, b, b), -1)"],
}
DECLARED = {o.name: o for o in REGISTRY.operators.values() if o.inverse is not None}


def _gradients(calls):
    made = []
    for call in calls:
        a = jtensor.arange(6.0).view(2, 3).sub(2).requires_grad_()
        b = jtensor.tensor([0.5, -1.25, 3.0], requires_grad=True)
        out = eval(call, {"T": jtensor, "a": a, "b": b})
        weight = jtensor.arange(out.numel(), dtype=out.dtype).view(out.shape) + 0.25
        made.append((call, jtensor.autograd.grad(out, (a, b), weight, allow_unused=True)))
    return [(call, [None if g is None else (g.dtype, g.tolist()) for g in grads]) for call, grads in made]


def test_every_operator_that_declares_an_inverse_is_here():
    assert set(CALLS) == set(DECLARED)


def test_both_declarations_give_one_gradient(monkeypatch):
    used = set()
    for name, operator in DECLARED.items():
        monkeypatch.setattr(operator, "inverse", lambda grad, node, name=name, own=operator.inverse: used.add(name) or own(grad, node))
    dispatch.forget()
    calls = sum(CALLS.values(), [])
    by_inverse = _gradients(calls)
    for operator in DECLARED.values():
        monkeypatch.setattr(operator, "inverse", None)
    dispatch.forget()
    by_formulas = _gradients(calls)
    dispatch.forget()
    assert used == set(DECLARED) and by_inverse == by_formulas
