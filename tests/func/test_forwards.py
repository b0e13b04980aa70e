"""Differentiation forwards: `torch.func.jvp` and what stands on it, and `torch.autograd.forward_ad`, against differences, the gradients of
gradients, and live PyTorch."""
import warnings

import pytest

import jtensor
from jtensor.autograd import forward_ad
from jtensor.base.errors import MissingFeature
from jtensor.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

from .both import same

F = jtensor.nn.functional
# Functions of a vector of 4 and a square matrix of 3.
LAWS = {
    "numbers": lambda v, m: [jtensor.xlogy(m, m.abs()), 2.0 ** v, v.abs() ** v,
                             jtensor.lerp(m, m * m, 0.3), m.addcdiv(m, m * m + 1, value=2)],
    "elementwise": lambda v, m: v.sin() * 2 + v.exp() / (1 + v**2) - v.abs().log1p(), "broadcast": lambda v, m: v[:3] * m - m.sum(0),
    "reduce": lambda v, m: [v.mean(), m.std(0), m.amax(1), v.logsumexp(0), m.prod(), m.norm(), m.var(1), m.median(0)[0]],
    "choose": lambda v, m: [v.clamp(-0.5, 0.5), jtensor.where(m > 0, m, m * m), v.relu(), jtensor.maximum(v, -v), v.sort()[0]],
    "matmul": lambda v, m: [m @ m.t(), m @ v[:3], v.dot(v), jtensor.einsum("ij,jk->ki", m, m), jtensor.addmm(m, m.t(), m, alpha=2)],
    "linalg": lambda v, m: [jtensor.linalg.inv(m @ m.T + jtensor.eye(3)), jtensor.linalg.det(m), jtensor.linalg.svdvals(m)],
    "views": lambda v, m: [m.t()[1:, ::2], v.unfold(0, 2, 1), m.diagonal(), v.view(2, 2).flatten(), m[None].expand(2, 3, 3)],
    "index": lambda v, m: [v[jtensor.tensor([2, 0])], m.gather(0, m.argsort(0)), v[v > 0], v.index_add(0, jtensor.tensor([0, 0]), v[:2])],
    "layers": lambda v, m: [m.softmax(0), F.layer_norm(m, (3,)), F.gelu(v), F.conv2d(m[None, None], m[None, None, :2, :2]),
                            F.max_pool2d(m[None], 2, 1), F.cross_entropy(m, jtensor.tensor([0, 2, 1])), F.huber_loss(v, v * 2)],
    "complex": lambda v, m: [jtensor.fft.rfft(v).abs(), jtensor.view_as_real((jtensor.complex(v, v * 2).conj() * 1j).exp())],
    "join": lambda v, m: [jtensor.cat([v, v * 2]), jtensor.stack([m, m.t()]), *v.split(2), F.pad(m, (1, 0)), v.cumsum(0), m.cumprod(1)],
}


def written(v, m):
    m = m.clone()
    m[0] = v[:3] * 2
    m[1:, 0] += v[0]
    m.t()[2].mul_(v[3])
    u = jtensor.zeros(4)
    u[1:3] = m[1, :2]
    return [m, u.add_(v, alpha=2).sin_(), v.clone().fill_(2.0)]


LAWS["writes"] = written


def listed(x):
    return [x] if isinstance(x, jtensor.Tensor) else list(x)


def point():
    jtensor.manual_seed(0)
    return [jtensor.randn(*size) for size in ((4,), (3, 3), (4,), (3, 3))]


def near(a, b, rtol=1e-3, atol=1e-4):
    assert a.shape == b.shape and a.dtype is b.dtype
    assert jtensor.allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", LAWS)
def test_a_derivative_is_the_gradient_of_the_gradient(name):
    v, m, dv, dm = point()
    values, tangents = jvp(lambda a, b: listed(LAWS[name](a, b)), (v, m), (dv, dm))
    a, b = v.clone().requires_grad_(), m.clone().requires_grad_()
    for value, tangent, out in zip(values, tangents, listed(LAWS[name](a, b)), strict=True):
        near(value, out.detach())
        if not out.requires_grad:
            assert not tangent.any()
            continue
        weight = jtensor.ones_like(out).requires_grad_()
        first = jtensor.autograd.grad(out, (a, b), weight, create_graph=True, materialize_grads=True)
        found, = jtensor.autograd.grad(sum((g * d).sum() for g, d in zip(first, (dv, dm), strict=True)), weight, materialize_grads=True)
        near(tangent, found)


def test_a_derivative_is_a_limit_of_differences():
    v, m, dv, _ = (t.double() for t in point())
    h = 1e-6
    for function in (lambda x: (x.sin() * x.cumsum(0)).exp(), lambda x: (m @ x[:3]).tanh().outer(x)):
        near(jvp(function, (v,), (dv,))[1], (function(v + h * dv) - function(v - h * dv)) / (2 * h))


@pytest.mark.parametrize("corner", [
    "abs", "relu", "sqrt", "sign", "hardtanh", "relu6", "hardswish", "leaky_relu", "softplus", "elu", "hardshrink"])
def test_derivatives_at_corners_are_pytorchs(corner):
    torch = pytest.importorskip("torch")
    found = []
    for T in (jtensor, torch):
        function = getattr(T, corner, None) or getattr(T.nn.functional, corner)
        x = T.tensor([0.0, -0.0, 1.0, -1.0, 6.0, 3.0, -3.0, 0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                            # PyTorch's forward mode compiles something of its own
            found.append(T.func.jvp(function, (x,), (T.ones(8),))[1].nan_to_num(7.0).tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def f(a):
    return (a.sin() * a.cumsum(0)).sum() * a.exp()[0]


def test_both_ways_in_either_order():
    v = point()[0]
    wanted = jacrev(jacrev(f))(v)
    for found in (jacfwd(jacrev(f)), jacrev(jacfwd(f)), jacfwd(jacfwd(f)), hessian(f)):
        near(found(v), wanted)
    near(jacfwd(jacrev(jacfwd(f)))(v), jacrev(jacrev(jacrev(f)))(v))
    near(vmap(hessian(f))(jtensor.stack([v, -v])), jtensor.stack([wanted, jacrev(jacrev(f))(-v)]))


def test_a_derivative_has_a_history():
    v, _, dv, _ = point()
    w = jtensor.tensor([0.5, 1.0, 2.0, -1.0], requires_grad=True)
    x = v.clone().requires_grad_()
    value, tangent = jvp(lambda a: (w * a.sin() * a * w).sum(), (x,), (dv,))
    slope = v.cos() * v + v.sin()
    first, second = jtensor.autograd.grad(tangent, (w, x), create_graph=True, retain_graph=True)
    near(first.detach(), (2 * w * slope * dv).detach())
    near(second.detach(), (w**2 * (2 * v.cos() - v * v.sin()) * dv).detach())
    near(jtensor.autograd.grad(first.sum(), w, retain_graph=True)[0], 2 * slope * dv)
    near(jtensor.autograd.grad(value, x)[0], (w**2 * slope).detach())


def test_levels_mix():
    v, m, dv, _ = point()
    near(vmap(lambda a, d: jvp(f, (a,), (d,))[1])(m, m.t()), jtensor.stack([jvp(f, (a,), (d,))[1] for a, d in zip(m, m.t(), strict=True)]))
    near(jvp(lambda a: vmap(lambda q: q * a.sum())(a), (v,), (dv,))[1], dv * v.sum() + v * dv.sum())
    near(jvp(grad(f), (v,), (dv,))[1], jacrev(jacrev(f))(v) @ dv)
    near(grad(lambda a: jvp(f, (a,), (dv,))[1])(v), jacrev(jacrev(f))(v) @ dv)
    near(vjp(lambda a: jvp(f, (a,), (dv,))[1], v)[1](jtensor.tensor(1.0))[0], jacrev(jacrev(f))(v) @ dv)


@pytest.mark.parametrize("solve", [
    lambda a, b: jtensor.linalg.lstsq(a, b).solution, lambda a, b: jtensor.cholesky_solve(b[:2], a[:2], upper=True)],
    ids=["lstsq", "cholesky_solve"])
def test_second_derivatives_forwards_of_solutions(solve):
    a = jtensor.tensor([[2.0, 0.5], [-0.3, 1.5], [0.7, 0.4]], dtype=jtensor.float64)
    b = jtensor.tensor([[1.0], [2.0], [-1.0]], dtype=jtensor.float64)

    def number(a):
        return solve(a, b).pow(2).sum()
    wanted = jacrev(jacrev(number))(a)
    near(hessian(number)(a), wanted)
    near(jacfwd(jacfwd(number))(a), wanted)


def test_linearize_calls_the_function_once():
    v, _, dv, _ = point()
    calls = []
    value, push = linearize(lambda a: (calls.append(0), f(a), a * a)[1:], v)
    near(push(dv)[0], jvp(f, (v,), (dv,))[1])
    near(push(2 * dv)[1], 4 * v * dv)
    assert len(calls) == 1 and not push(dv)[0].requires_grad


def test_what_linearize_answers_has_gradients_in_the_tangents():
    x, one = jtensor.tensor([0.1, 0.2]), jtensor.ones(2)
    slope = x.cos()
    _, push = linearize(jtensor.sin, x)
    near(grad(lambda t: (push(t)**2).sum())(one), 2 * slope**2)
    near(jacrev(push)(one), slope.diag())
    near(vjp(push, one)[1](one)[0], slope)
    tangent = one.clone().requires_grad_()
    near(jtensor.autograd.grad(push(tangent).sum(), tangent)[0], slope)
    near(grad(lambda w: linearize(lambda a: (w * a).sin(), x)[1](one).sum())(one), slope - x * x.sin())


def test_tangents_end_with_their_level():
    v, _, dv, _ = point()
    x = v.clone().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, dv)
        out = (dual * dual).sin()
        tangent = forward_ad.unpack_dual(out).tangent
    assert forward_ad.unpack_dual(out).tangent is None and "tangent" not in repr(out)
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(out * 2).tangent is None
    near(jtensor.autograd.grad(tangent.sum(), x, retain_graph=True)[0], (2 * dv * ((v * v).cos() - 2 * v * v * (v * v).sin())))
    near(jtensor.autograd.grad(out.sum(), x)[0], 2 * v * (v * v).cos())


def test_what_is_computed_on_the_host_has_no_tangent_and_says_so():
    with pytest.raises(MissingFeature, match="the tangent of unique"):
        jvp(lambda a: a.unique(), (jtensor.tensor([1.0, 2.0]),), (jtensor.ones(2),))


def test_the_same_bits_fused_and_one_by_one():
    v, _, dv, _ = point()
    fused = [jvp(f, (v,), (dv,))[1].item() for _ in range(4)]
    with jtensor.eager():
        assert fused == [jvp(f, (v,), (dv,))[1].item()] * 4


CALLS = [
    "f.jvp(show, (x,), (o,))", "f.jvp(T.sin, x, o)", "f.jvp(T.sin, (x,), o)", "f.jvp(T.sin, (), ())", "f.jvp(T.sin, (x,), (o, o))",
    "f.jvp(T.sin, ([x],), ((o,),))", "f.jvp(T.sin, (1.,), (1.,))", "f.jvp(T.sin, (x,), (1.,))", "f.jvp(T.sin, (x,), (T.ones(2),))",
    "f.jvp(T.sin, (x.long(),), (o.long(),))", "f.jvp(T.sin, (x,), (o.long(),))", "f.jvp(lambda x: (x * 2, x), (x,), (o,), has_aux=True)",
    "f.jvp(lambda x: (x * 2, {'a': x, 'b': 3}), (x,), (o,), has_aux=True)", "f.jvp(lambda x: x, (x,), (o,), has_aux=True)",
    "f.jvp(lambda x: T.ones(2), (x,), (o,))", "f.jvp(lambda x: T.ones(2), (x,), (o,), strict=True)", "f.jvp(lambda x: 3., (x,), (o,))",
    "f.jvp(lambda x: {'a': x * 2}, (x,), (o,))", "f.jvp(lambda x: (x * 2).long(), (x,), (o,))", "f.jvp(lambda x: x, (x,), (o,))",
    "f.jvp(lambda x: x * x.sum().item(), (x,), (o,))", "f.jvp(lambda x: x * 2 if x.sum() > 0 else x, (x,), (o,))",
    "f.jvp(lambda x: x.requires_grad_(), (x,), (o,))", "f.jvp(lambda x: T.normal(x, x), (x,), (o,))[1]", "f.jacfwd(lambda x: x ** 2)(x)",
    "f.jacfwd(lambda x, y: x * y, argnums=1)(x, x + 1)",
    "f.jacfwd(lambda x, y: x * y, argnums=(0, 1))(x, x + 1)", "f.jacfwd(lambda x, y: x * y, argnums=(0, 0))(x, x + 1)",
    "f.jacfwd(lambda x, y: x * y, argnums=2)(x, x + 1)", "f.jacfwd(lambda x, y: x * y, argnums='a')(x, x + 1)",
    "f.jacfwd(lambda x: (x * 2, x), has_aux=True)(x)", "f.jacfwd(lambda x: x, has_aux=True)(x)", "f.jacfwd(lambda x: x.long())(x)",
    "f.jacfwd(lambda x: {'a': x['b'] * 2, 'c': x['b'].sum()})({'b': x})", "f.jacfwd(lambda x: x.sum())(T.ones(2, 2))",
    "f.jacfwd(lambda x: 3.)(x)", "f.jacfwd(lambda x: x * 2)(x.long())", "f.jacfwd(lambda x: x * T.rand(3))(x)",
    "f.jacfwd(lambda x: x * T.rand(3), randomness='different')(x)", "f.hessian(lambda x: x ** 3)(x)",
    "f.hessian(lambda x, y: (x ** 3 * y).sum(), argnums=(0, 1))(x, x)", "f.linearize(T.sin, x)", "f.linearize(T.sin, x)[1](o)",
    "f.linearize(lambda a, b: (a * b, a.sum()), x, x)[1](o, o)", "f.linearize(T.sin, x)[1](T.ones(2))", "f.linearize(T.sin, x)[1](o, o)",
    "ad.make_dual(x, o)", "ad.unpack_dual(x)", "inside(lambda: inside(lambda: 1))", "inside(lambda: ad.make_dual(x, o).sin())",
    "inside(lambda: ad.make_dual(x, o).sum())",
    "inside(lambda: ad.unpack_dual(ad.make_dual(x, o).sin()))", "inside(lambda: ad.make_dual(x, T.ones(2)))",
    "inside(lambda: ad.make_dual(x.long(), o))", "inside(lambda: ad.make_dual(x, o.long()))", "inside(lambda: ad.make_dual(3., o))",
    "inside(lambda: ad.unpack_dual(x))", "ad.exit_dual_level()", "inside(lambda: ad.make_dual(ad.make_dual(x, o), o))",
    "inside(lambda: ad.make_dual(x, o)) * 2",
    "inside(lambda: (ad.make_dual(x, o) > 1, ad.make_dual(x, o)[1:], ad.make_dual(x, o).tolist()))",
]


def named(T):
    seen = []

    def show(t):
        seen.append(repr(t))
        return t * 2

    def inside(function):
        with T.autograd.forward_ad.dual_level():
            found = function()
            seen.append(repr(found))
            return found
    return {"f": T.func, "ad": T.autograd.forward_ad, "x": T.arange(1.0, 4.0), "o": T.ones(3), "show": show, "inside": inside, "seen": seen}


@pytest.mark.parametrize("text", CALLS)
def test_as_in_pytorch(text):
    """Of `linearize`'s answers the value is shown, not the function."""
    same(text, named, lambda found: str(found[0] if isinstance(found, tuple) and callable(found[-1]) else found))


STOPPED = {
    "detach": lambda T, x: x.detach() * x, "function": lambda T, x: T.detach(x) * x, "data": lambda T, x: x.data * x,
    "in place": lambda T, x: x.clone().detach_() * x, "straight through": lambda T, x: x + (x.round() - x).detach(),
    "a view of it": lambda T, x: x.detach().view(3, 1).sum() * x, "turned": lambda T, x: x.view(3, 1).t().detach() * x,
    "a part": lambda T, x: T.where(x > 1, x.detach(), x), "in a module": lambda T, x: T.nn.functional.softmax(x, 0).detach() * x,
}


@pytest.mark.parametrize("name", STOPPED)
@pytest.mark.parametrize("how", ["f.jvp(g, (x,), (x,))", "f.jacfwd(g)(x)", "f.vmap(f.jacfwd(g))(T.stack([x, x * 2]))", "dual()"])
def test_detached_has_no_tangent(name, how):
    def named(T):
        def dual():
            with T.autograd.forward_ad.dual_level():
                return T.autograd.forward_ad.unpack_dual(STOPPED[name](T, T.autograd.forward_ad.make_dual(x, x))).tangent
        x = T.tensor([1.0, 2.0, 3.0])
        return {"f": T.func, "g": lambda x: STOPPED[name](T, x), "x": x, "dual": dual}
    same(how, named)


def test_a_hessian_stops_where_the_function_does():
    same("f.hessian(lambda x: (x.detach() * x ** 2).sum())(x)", lambda T: {"f": T.func, "x": T.tensor([1.0, 2.0])})
    same("f.jvp(f.grad(lambda x: (x.detach() * x ** 2).sum()), (x,), (x,))", lambda T: {"f": T.func, "x": T.tensor([1.0, 2.0])})


def test_copies_of_a_tensor_with_a_tangent_have_none():
    import copy

    def named(T):
        def copies():
            with T.autograd.forward_ad.dual_level(), warnings.catch_warnings(action="ignore"):
                x = T.autograd.forward_ad.make_dual(T.ones(2), T.ones(2))
                made = [copy.deepcopy(x), x.new_tensor(x), T.tensor(x), T.nn.Parameter(x), x.detach().requires_grad_(), x.clone()]
                return [T.autograd.forward_ad.unpack_dual(one).tangent for one in made]
        return {"copies": copies}
    same("copies()", named)


DRAWN = {"bernoulli": lambda T, x: T.bernoulli(x / 4), "poisson": lambda T, x: T.poisson(x), "mean": lambda T, x: T.normal(x, 1.0),
         "deviation": lambda T, x: T.normal(1.0, x), "both": lambda T, x: T.normal(x, x)}


@pytest.mark.parametrize("name", DRAWN)
def test_the_tangent_of_numbers_drawn_for_a_tensor_is_zero(name):
    def named(T):
        def tangent():
            with T.autograd.forward_ad.dual_level():
                T.manual_seed(0)
                return T.autograd.forward_ad.unpack_dual(DRAWN[name](T, T.autograd.forward_ad.make_dual(T.ones(3), T.ones(3)))).tangent
        return {"tangent": tangent}
    same("tangent()", named)


def test_the_tangent_of_gamma_numbers_is_that_of_their_gradient():
    """PyTorch has none; an operator that has no gradient, either, refuses, and so do different numbers inside of `vmap`."""
    x, direction = jtensor.tensor([0.5, 2.0, 3.0]), jtensor.tensor([1.0, 2.0, -1.0])

    def drawn(x):
        jtensor.manual_seed(0)
        return jtensor._standard_gamma(x)
    wanted = grad(lambda x: drawn(x).sum())(x)
    assert (wanted > 0).all()
    near(jvp(drawn, (x,), (direction,))[1], wanted * direction)
    near(jacfwd(drawn, randomness="same")(x), wanted.diag())
    for refused in (jtensor._sample_dirichlet, lambda x: jtensor.binomial(jtensor.ones(3), x / 4), lambda x: jtensor.bernoulli(x, 0.5)):
        with pytest.raises(RuntimeError, match="is not implemented"):
            jvp(refused, (x,), (direction,))
    with pytest.raises(MissingFeature, match="different inside of vmap"):
        jacfwd(jtensor._standard_gamma, randomness="different")(x)
