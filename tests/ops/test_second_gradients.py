"""Gradients of gradients: what finite differences say, what PyTorch says where there is none, and which inputs may not have any."""
import pytest

import jtensor

F = jtensor.nn.functional


def leaf(T, *shape, seed=1.7):
    n = 1
    for m in shape:
        n *= m
    return ((T.arange(n, dtype=T.float64) + 1) * seed).sin().reshape(shape).requires_grad_()


@pytest.mark.parametrize("function, shapes", [
    (lambda x, w, b: F.layer_norm(x, (4,), w, b), [(3, 4), (4,), (4,)]), (lambda x: F.layer_norm(x, (3, 2)), [(2, 3, 2)]),
    (lambda x, w, b: F.group_norm(x, 2, w, b), [(2, 4, 3), (4,), (4,)]), (lambda x: F.instance_norm(x), [(2, 2, 3)]),
    (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [(3, 2, 2), (2,), (2,)]),
    (lambda x, w: F.batch_norm(x, jtensor.zeros(2, dtype=x.dtype), jtensor.ones(2, dtype=x.dtype), w), [(3, 2), (2,)]),
    (lambda x: jtensor.polygamma(1, x.abs() + 1), [(3,)]), (lambda x, y: jtensor.special.xlog1py(x, y), [(3,), (3,)]),
    (lambda x: x.cumprod(0), [(4,)]),
    (lambda x, y: jtensor.scatter_reduce(x, 0, jtensor.tensor([0, 0, 1]), y, "prod"), [(3,), (3,)]),
    (lambda x, y: jtensor.index_reduce(x, 0, jtensor.tensor([0, 0, 1]), y, "prod", include_self=False), [(2, 2), (3, 2)]),
    (lambda x, w: sum([(k + 1) * y.sin().sum() for k, y in enumerate(jtensor.native_group_norm(x, w, None, 2, 4, 3, 2, 1e-5))]),
     [(2, 4, 3), (4,)]),
], ids=range(12))
def test_finite_differences_agree(function, shapes):
    """Along one direction, which no coordinate is left out of."""
    given = [leaf(jtensor, *shape, seed=1.7 + at) for at, shape in enumerate(shapes)]
    along = [leaf(jtensor, *shape, seed=0.3 + at).detach() for at, shape in enumerate(shapes)]

    def slope(given, create_graph=False):
        result = function(*given)
        grads = jtensor.autograd.grad((result * leaf(jtensor, *result.shape, seed=2.3).detach()).sum(), given, create_graph=create_graph)
        return sum([(g * leaf(jtensor, *g.shape, seed=0.9 + at).detach()).sum() for at, g in enumerate(grads)])

    second = jtensor.autograd.grad(slope(given, True), given, allow_unused=True)
    told = sum([(g * v).sum().item() for g, v in zip(second, along, strict=True) if g is not None])
    up, down = [slope([(x + h * v).detach().requires_grad_() for x, v in zip(given, along, strict=True)]).item() for h in (1e-5, -1e-5)]
    assert told == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-8)


def test_zeros_in_a_cumulative_product():
    x = jtensor.tensor([2.0, 0.0, 3.0, 0.0, 5.0], requires_grad=True)
    first, = jtensor.autograd.grad((x.cumprod(0) * jtensor.arange(1.0, 6)).sum(), x, create_graph=True)
    (first * jtensor.arange(1.0, 6)).sum().backward()
    assert first.tolist() == [1, 22, 0, 0, 0] and x.grad.tolist() == [22, 725, 12, 348, 0]


@pytest.mark.parametrize("own, of_x, of_y", [(True, [6, 0, 4.5, 0], [7, 42, 3.5, 63, 36, -6]), (False, [0] * 4, [2, 14, 1, 15, 9, -2])])
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_zeros_in_products_at_places(own, of_x, of_y):
    """Where one factor is 0 a product still has second derivatives: by that one and each of the others. The numbers are PyTorch's, but for
    the place where two are 0, which it refuses."""
    index = jtensor.tensor([0, 1, 0, 2, 2, 1])
    for reduced in (lambda *xs: jtensor.scatter_reduce(*xs, "prod", include_self=own),
                    lambda *xs: jtensor.index_reduce(*xs, "prod", include_self=own)):
        x = jtensor.tensor([2.0, 3.0, 4.0, 5.0], requires_grad=True)
        y = jtensor.tensor([1.5, 0.0, 3.0, 0.0, 0.5, 0.0], requires_grad=True)
        grads = jtensor.autograd.grad(reduced(x, 0, index, y), (x, y), jtensor.tensor([1.0, 2.0, 3.0, 4.0]), create_graph=True)
        along = jtensor.tensor([1.0, -1.0, 2.0, 3.0]), jtensor.tensor([1.0, -1.0, 2.0, 3.0, 5.0, 7.0])
        second = jtensor.autograd.grad(grads, (x, y), along)
        assert [g.tolist() for g in second] == [of_x, of_y]


def test_one_output_below_another():
    """Roots of a backward that leads to some tensors only: one of them may be reached from the others."""
    leaf = jtensor.tensor(1.0, requires_grad=True)
    a, b = jtensor.tensor(3.0), jtensor.tensor(5.0)
    for outputs in ([leaf, leaf * 1], [leaf * 1, leaf], [leaf, leaf]):
        assert jtensor.autograd.grad(outputs, leaf, [a, b])[0].item() == 8
    middle = leaf * 1
    assert [g.item() for g in jtensor.autograd.grad([middle, middle * 2], [middle, leaf], [a, b])] == [13, 13]
    middle = leaf * 1
    jtensor.autograd.backward([middle, middle * 2], [a, b], inputs=[leaf])
    assert leaf.grad.item() == 13


# -- beside PyTorch ---------------------------------------------------------------------------------------------------

def outcome(T, function):
    x, w = leaf(T, 3, 4), leaf(T, 3, 4, seed=0.7)
    try:
        result = function(T, T.nn.functional, x, w)
        first, = T.autograd.grad(result.sum(), x, create_graph=True)
        name = first.grad_fn and first.grad_fn.name()
        try:
            first.square().sum().backward()
        except Exception as error:
            return name, type(error).__name__, str(error)
        return name, x.grad is None
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


@pytest.mark.parametrize("function", [
    lambda T, F, x, w: T.cdist(x, w), lambda T, F, x, w: T.pdist(x), lambda T, F, x, w: F.hardsigmoid(x),
    lambda T, F, x, w: F.multi_margin_loss(x, T.tensor([0, 1, 2])), lambda T, F, x, w: T.igamma(x, w),
    lambda T, F, x, w: T.special.zeta(x, w),
    lambda T, F, x, w: F.multilabel_margin_loss(x, T.tensor([[0, 1, -1, 0]] * 3)),
    lambda T, F, x, w: F.ctc_loss(x[:, None], T.tensor([[1]]), T.tensor([3]), T.tensor([1])),
    lambda T, F, x, w: F.scaled_dot_product_attention(x[None, None], w[None, None], w[None, None]),
    lambda T, F, x, w: F.soft_margin_loss(x, w), lambda T, F, x, w: F.binary_cross_entropy(x.sigmoid(), w.detach().sigmoid(), weight=w),
    lambda T, F, x, w: F.binary_cross_entropy_with_logits(x, w.detach(), pos_weight=w),
    lambda T, F, x, w: F.cross_entropy(x, T.tensor([0, 1, 2]), weight=w[0]),
    lambda T, F, x, w: F.multi_margin_loss(x, T.tensor([0, 1, 2]), weight=w[0]), lambda T, F, x, w: F.batch_norm(x, w[0], w[0]),
], ids=range(15))
def test_what_has_no_derivative(function):
    torch = pytest.importorskip("torch")
    assert outcome(jtensor, function) == outcome(torch, function)


def test_what_only_chooses_has_no_second_derivative():
    x = jtensor.tensor([1.0, 2.0], requires_grad=True)
    assert not jtensor.autograd.grad(jtensor.xlogy(x, 2.0).sum(), x, create_graph=True)[0].requires_grad


def test_gradients_that_are_zero_have_no_history():
    """Of what is rounded, drawn anew or repeated no times, broadcast or not."""
    for function in (lambda x: jtensor.div(x, jtensor.ones(2, 2, requires_grad=True), rounding_mode="floor"), lambda x: x.round(decimals=2),
                     lambda x: jtensor.normal(x, 1.0), lambda x: jtensor.bernoulli(x), lambda x: (x * 1).normal_(), lambda x: x.repeat(0)):
        x = jtensor.ones(2, requires_grad=True)
        first, = jtensor.autograd.grad(function(x).sum(), x, create_graph=True)
        assert not first.requires_grad and first.tolist() == [0, 0]


@pytest.mark.parametrize("power, orders", [(2, 3), (3, 4), (4, 5), (-1, 3), (0.5, 3)])
def test_powers_have_one_derivative_after_the_last(power, orders):
    """The constant that a power comes to has a history still, of which the gradient is 0, as in PyTorch: loops over orders end alike."""
    x, shown = jtensor.tensor([2.0, 0.0], requires_grad=True), []
    made = x ** power
    for _ in range(orders):
        made, = jtensor.autograd.grad(made.sum(), x, create_graph=True)
        shown.append((made.tolist(), made.requires_grad))
    torch = pytest.importorskip("torch")
    x, expected = torch.tensor([2.0, 0.0], requires_grad=True), []
    made = x ** power
    for _ in range(orders):
        made, = torch.autograd.grad(made.sum(), x, create_graph=True)
        expected.append((made.tolist(), made.requires_grad))
    assert [s[1] for s in shown] == [e[1] for e in expected]
    for (got, _), (want, _) in zip(shown, expected, strict=True):
        assert got == pytest.approx(want, nan_ok=True, rel=1e-6)


def _times_sin(T, U, s, V):
    return (U * s.sin()[..., None, :]) @ V


@pytest.mark.parametrize("function", [
    lambda T, x: T.linalg.lstsq(x, x[:, :2]).solution, lambda T, x: T.linalg.svdvals(x),
    lambda T, x: T.linalg.eigvalsh(x), lambda T, x: T.linalg.eigvals(x).abs(),
    lambda T, x: T.linalg.norm(x, "nuc"), lambda T, x: T.linalg.cond(x),
    lambda T, x: (lambda L, V: _times_sin(T, V, L, V.mH))(*T.linalg.eigh(x)),
    lambda T, x: _times_sin(T, *T.linalg.svd(x)),
    lambda T, x: T.cholesky_solve(x[:, :2], x), lambda T, x: T.cholesky_solve(x[:, :2], x, upper=True),
    lambda T, x: T.cholesky_inverse(x), lambda T, x: T.cholesky_inverse(x, upper=True),
], ids=range(12))
def test_matrices_have_the_gradients_of_pytorch(function):
    """First ones where singular values are equal or none, too; second ones where they are not."""
    torch = pytest.importorskip("torch")

    def made(T, rows, dtype):
        x = T.tensor(rows, dtype=dtype, requires_grad=True)
        y = function(T, x)
        first, = T.autograd.grad((y * (T.arange(y.numel(), dtype=T.float64).reshape(y.shape) + 1).cos()).real.sum(), x, create_graph=True)
        return [first.tolist(), T.autograd.grad((first.abs() ** 2).sum(), x)[0].tolist() if rows[0][1] else []]

    for rows in ([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]], [[2.0, 0, 0], [0, 3, 0], [0, 0, 2]], [[2.0, 1, 0.5], [0.25, 3, 0.5], [1, 0.5, 4]]):
        for dtype in ("float64", "complex128"):
            got, want = made(jtensor, rows, getattr(jtensor, dtype)), made(torch, rows, getattr(torch, dtype))
            if all(w == w for w in _flat(want)):                      # vectors of equal values have no derivative
                assert _flat(got) == pytest.approx(_flat(want), rel=1e-8, abs=1e-8)


def test_third_gradients_of_products_at_places_say_that_they_are_missing():
    x = leaf(jtensor, 3)
    y = jtensor.ones(1, dtype=x.dtype).scatter_reduce(0, jtensor.tensor([0, 0, 0]), x, "prod").sum()
    for _ in range(2):
        y, = jtensor.autograd.grad(y.sum(), x, create_graph=True)
    with pytest.raises(jtensor.MissingFeature, match="third derivatives of reductions by places"):
        jtensor.autograd.grad(y.sum(), x)[0].tolist()


def _flat(x):
    return [n for part in x for n in _flat(part)] if isinstance(x, list) else [x]
