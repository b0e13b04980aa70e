"""What `torch.autograd` does forwards and for batches: `gradcheck`'s options, Jacobians by columns, batches of gradients."""
import pytest

from .both import classes, same

CALLS = [
    "gradcheck(T.sin, (x,), check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)",
    "gradcheck(lambda a: (a.sin(), a.sum(), a.long()), (x,), check_forward_ad=True)",
    "gradcheck(T.sin, (x,), check_forward_ad=True, check_backward_ad=False)", "gradcheck(bad.apply, (x,), check_forward_ad=True)",
    "gradcheck(bad.apply, (x,), check_forward_ad=True, check_backward_ad=False)",
    "gradcheck(bad.apply, (x,), check_forward_ad=True, raise_exception=False)", "gradcheck(bad.apply, (x,))",
    "gradcheck(T.sin, (x,), check_batched_forward_grad=True)",
    "gradcheck(T.sin, (x,), check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)",
    "gradcheck(lambda c: c * c.conj() + c.exp(), (c,), check_forward_ad=True)", "gradcheck(T.abs, (c,), check_forward_ad=True)",
    "gradcheck(lambda a, c: a * c, (x, c), check_forward_ad=True)", "gradgradcheck(T.sin, (x,), check_fwd_over_rev=True)",
    "gradgradcheck(T.sin, (x,), check_fwd_over_rev=True, check_rev_over_rev=False)", "gradgradcheck(T.sin, (x,), check_batched_grad=True)",
    "jacobian(square, y, **forwards)", "jacobian(square, y, strategy='forward-mode')", "jacobian(square, y, strict=True, **forwards)",
    "jacobian(square, y, create_graph=True, **forwards)", "jacobian(lambda a, b: (a * b, b.sum()), (y, y), **forwards)",
    "jacobian(lambda a, b: (a * b, a.sum()), (y, y), vectorize=True)", "jacobian(square, y, vectorize=True)",
    "jacobian(lambda a: T.ones(2), y, **forwards)", "jacobian(lambda a: T.ones(2), y, vectorize=True)",
    "jacobian(lambda a: 3, y, **forwards)",
    "jacobian(square, 3, **forwards)", "hessian(cube, y, vectorize=True)", "hessian(cube, y, outer_jacobian_strategy='forward-mode')",
    "hessian(cube, y, outer_jacobian_strategy='forward-mode', vectorize=True)",
    "grad(x * 2, x, eye, is_grads_batched=True)", "grad(x * 2, x, is_grads_batched=True)",
    "grad((x * 2, x), x, (eye, T.ones(3, 2)), is_grads_batched=True)",
    "grad(x ** 3, x, eye, is_grads_batched=True, create_graph=True)[0].sum(0)",
    "grad(x * 2, (x, c), eye, is_grads_batched=True, allow_unused=True)", "grad(x * 2, (x, c), eye, is_grads_batched=True)",
    "grad(x * 2, (x, c), eye, is_grads_batched=True, materialize_grads=True)", "grad(x.sum(), x, eye[0, 0], is_grads_batched=True)",
]


def named(T):
    class Bad(classes(T)["Generated"]):
        @staticmethod
        def jvp(ctx, t):
            return 2 * ctx.saved_tensors[0] * t
    functional = T.autograd.functional
    return {
        "x": T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True), "y": T.tensor([1.0, 2.0]), "eye": T.eye(2, dtype=T.float64),
        "c": T.tensor([1.0 + 2j, 2.0 - 1j], dtype=T.complex128, requires_grad=True), "grad": T.autograd.grad, "bad": Bad,
        "gradcheck": T.autograd.gradcheck, "gradgradcheck": T.autograd.gradgradcheck, "jacobian": functional.jacobian,
        "hessian": functional.hessian, "square": lambda a: a**2, "cube": lambda a: (a**3).sum(),
        "forwards": {"strategy": "forward-mode", "vectorize": True}}


@pytest.mark.parametrize("text", CALLS)
def test_as_in_pytorch(text):
    same(text, named)
