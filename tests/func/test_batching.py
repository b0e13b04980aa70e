"""`torch.vmap`: a call for a batch is the calls for its slices, stacked; and as in live PyTorch, with messages, texts and drawn numbers."""
import pytest

import jtensor
from jtensor.func import grad, hessian, jacrev, vmap

from .both import same

# Functions of one slice, a vector of 4 and a square matrix of 3: each is called for a batch, and for each slice.
LAWS = {
    "elementwise": lambda v, m: v.sin() * 2 + v.exp() / (1 + v**2),
    "numbers and types": lambda v, m: (v * 3).long() + v.to(jtensor.float64),
    "broadcast": lambda v, m: v[:3] + m - m.sum(0, keepdim=True), "compare": lambda v, m: jtensor.where(m > m.t(), m, -m),
    "reduce": lambda v, m: [v.mean(), m.std(0), m.amax(1), v.logsumexp(0), m.prod(), m.norm()],
    "arg": lambda v, m: [v.argmax(), v.argsort()],
    "sort": lambda v, m: list(m.sort(1)) + list(v.topk(2)), "scan": lambda v, m: [v.cumsum(0), m.cumprod(1), m.cummax(0)[1]],
    "matmul": lambda v, m: [m @ m.t(), m @ v[:3], v.dot(v), jtensor.einsum("ij,jk->ki", m, m), m.T @ m],
    "linalg": lambda v, m: [jtensor.linalg.inv(m @ m.T + jtensor.eye(3)), jtensor.linalg.det(m), jtensor.linalg.svdvals(m)],
    "views": lambda v, m: [m.t()[1:, ::2], v.unfold(0, 2, 1), m.diagonal(), v.view(2, 2).flatten(), m[None].expand(2, 3, 3), v[-1]],
    "join": lambda v, m: [jtensor.cat([v, v * 2]), jtensor.stack([m, m.t()]), *v.split(2), jtensor.nn.functional.pad(m, (1, 0))],
    "index": lambda v, m: [v[jtensor.tensor([2, 0])], m.gather(0, m.argsort(0)), v.gather(0, v.argmax(0, keepdim=True)),
                          m.index_select(1, jtensor.tensor([1]))],
    "scatter": lambda v, m: [m.scatter(0, m.argsort(0), 1.0), v.index_add(0, jtensor.tensor([0, 0]), v[:2]), m.masked_fill(m > 0, 7.0)],
    "softmax": lambda v, m: [m.softmax(0), jtensor.nn.functional.layer_norm(m, (3,)), jtensor.nn.functional.gelu(v)],
    "convolution": lambda v, m: jtensor.nn.functional.conv2d(m[None, None], m[None, None, :2, :2]),
    "pool": lambda v, m: jtensor.nn.functional.max_pool2d(m[None], 2, 1),
    "losses": lambda v, m: [jtensor.nn.functional.cross_entropy(m, jtensor.tensor([0, 2, 1])), jtensor.nn.functional.huber_loss(v, v * 2)],
    "fft": lambda v, m: jtensor.fft.rfft(v).abs(), "complex": lambda v, m: jtensor.view_as_real(jtensor.complex(v, v * 2).conj() * 1j),
    "a slice that does not matter": lambda v, m: jtensor.ones(2), "empty": lambda v, m: v[:0],
}


def written(v, m):
    m = m.clone()
    m[0] = v[:3]
    m[1:, 0] += v[0]
    m.t()[2].mul_(2)
    m.diagonal().fill_(3)
    u = jtensor.zeros_like(v)
    u[1:3] = m[1, :2]
    u.add_(v, alpha=2).clamp_(max=5)
    return [m, u, v.new_zeros(2).copy_(v[:2])]


LAWS["writes"] = written


def listed(x):
    return [x] if isinstance(x, jtensor.Tensor) else list(x)


def batch():
    jtensor.manual_seed(0)
    return jtensor.randn(3, 4), jtensor.randn(3, 3, 3)


def near(a, b):
    assert a.shape == b.shape and a.dtype is b.dtype
    assert jtensor.allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAWS)
def test_a_batch_is_its_slices(name):
    v, m = batch()
    wanted = [listed(LAWS[name](a, b)) for a, b in zip(v, m, strict=True)]
    for got, column in zip(vmap(lambda a, b: listed(LAWS[name](a, b)))(v, m), zip(*wanted, strict=True), strict=True):
        near(got, jtensor.stack(column))
    if name == "writes":                                    # of a batch into what is none: refused, as `test_as_in_pytorch` says
        return
    alone = vmap(lambda a: listed(LAWS[name](a, m[0])), in_dims=1)(v.t().contiguous())
    wanted = [listed(LAWS[name](a, m[0])) for a in v]
    for got, column in zip(alone, zip(*wanted, strict=True), strict=True):
        near(got, jtensor.stack(column))


def loss(a, b, w):
    return ((b * w).tanh() @ a[:3]).exp().sum() + (a * a).sum() * w[0].sin()


def test_gradients_through_a_batch():
    v, m = (t.requires_grad_() for t in batch())
    w = jtensor.tensor([0.5, -1.0, 2.0], requires_grad=True)
    inputs, found = (v, m, w), []
    for values in (vmap(loss, in_dims=(0, 0, None))(v, m, w), jtensor.stack([loss(a, b, w) for a, b in zip(v, m, strict=True)])):
        first = jtensor.autograd.grad(values.pow(2).sum(), inputs, create_graph=True)
        found.append((*first, *jtensor.autograd.grad(sum(g.sin().sum() for g in first), inputs)))
    for a, b in zip(*found, strict=True):
        near(a.detach(), b.detach())


def test_gradients_inside_of_a_batch():
    v, m = batch()
    w = jtensor.tensor([0.5, -1.0, 2.0])
    one_by_one = [grad(loss, argnums=2)(a, b, w) for a, b in zip(v, m, strict=True)]
    near(vmap(grad(loss, argnums=2), in_dims=(0, 0, None))(v, m, w), jtensor.stack(one_by_one))
    twice = vmap(lambda a: grad(lambda x: vmap(lambda q: (q * x).sum() ** 2)(m[0]).sum())(a))
    near(twice(v[:, :3]), jtensor.stack([grad(lambda x: ((m[0] @ x) ** 2).sum())(a) for a in v[:, :3]]))
    outer = grad(lambda x: vmap(grad(lambda a: (a**3).sum()))(x).sum())
    near(outer(v), 6 * v)


def test_gradients_of_products_inside_of_a_batch():
    x = jtensor.tensor([[2.0, 3.0, 4.0], [0.0, 5.0, 6.0], [0.0, 0.0, 7.0]])
    wanted = [[12.0, 8.0, 6.0], [30.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    for product in (lambda a: a.prod(), lambda a: a.prod(0), lambda a: a[None].prod(1, keepdim=True).sum()):
        assert vmap(grad(product))(x).tolist() == wanted
        assert vmap(hessian(product))(x)[1].tolist() == [[0.0, 6.0, 5.0], [6.0, 0.0, 0.0], [5.0, 0.0, 0.0]]


def test_zeros_leave_the_batches_of_rows():
    x = jtensor.tensor([2.0, 3.0])
    for function in (lambda a: a**2, lambda a: a.pow(2) * 3, lambda a: a * a[:0].prod()):
        found = jacrev(jacrev(jacrev(lambda a, f=function: f(a).sum())))(x)
        assert found.tolist() == [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    rows = jacrev(lambda a: vmap(grad(lambda b: (b * a)[:0].prod()))(jtensor.ones(3, 2)))(x)
    assert rows.shape == (3, 2, 2) and not rows.any().item()


def test_distributions_check_all_arrays_of_a_batch():
    normal, gamma = jtensor.distributions.Normal, jtensor.distributions.Gamma
    x = jtensor.tensor([[0.5, 1.0], [2.0, 3.0]])
    near(vmap(lambda a: normal(a, a + 1).log_prob(a * 2))(x), normal(x, x + 1).log_prob(x * 2))
    near(vmap(vmap(lambda a: gamma(a, 2.0).log_prob(a)))(x), gamma(x, 2.0).log_prob(x))
    near(vmap(grad(lambda a: normal(a, 1.0).log_prob(a * 3).sum()))(x), -4 * x)
    for wrong in (lambda a: gamma(a, a), lambda a: gamma(1.0, 1.0).log_prob(a)):
        with pytest.raises(ValueError, match="Expected (parameter|value)"):
            vmap(wrong)(x - 1)


def test_nested_batches_and_those_of_other_levels_mix():
    v, m = batch()
    near(vmap(lambda a: vmap(lambda b: a.sum() * b)(v))(v), v.sum(1)[:, None, None] * v[None])
    near(vmap(vmap(jtensor.dot, in_dims=(0, None)), in_dims=(0, 0))(m, v[:, :3]), jtensor.einsum("bij,bj->bi", m, v[:, :3]))
    near(vmap(lambda b: vmap(lambda a: a @ b)(m), in_dims=1, out_dims=-1)(v[:, :3].t()), m @ v[:, :3].t())


def test_an_ensemble_and_per_sample_gradients():
    from jtensor.func import functional_call, stack_module_state
    jtensor.manual_seed(0)
    models = [jtensor.nn.Sequential(jtensor.nn.Linear(4, 3), jtensor.nn.Tanh(), jtensor.nn.Linear(3, 2)) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    x = jtensor.randn(5, 4)

    def call(p, b, x):
        return functional_call(models[0], (p, b), (x,))
    near(vmap(call, in_dims=(0, 0, None))(parameters, buffers, x), jtensor.stack([model(x) for model in models]))
    own = {name: p.detach() for name, p in models[0].named_parameters()}
    each = vmap(grad(lambda p, x: call(p, {}, x).pow(2).sum()), in_dims=(None, 0))(own, x)
    for at in range(5):
        models[0].zero_grad()
        models[0](x[at]).pow(2).sum().backward()
        for name, p in models[0].named_parameters():
            near(each[name][at], p.grad)


def test_a_batch_of_cotangents():
    x = jtensor.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = vmap(lambda a: a**2)(x)
    near(vmap(lambda g: jtensor.autograd.grad(y, x, g, retain_graph=True)[0])(jtensor.eye(3)), jtensor.diag(2 * x.detach()))


def test_histories_that_are_rewritten_or_recorded_again():
    from jtensor.utils.checkpoint import checkpoint
    v, _ = batch()

    def rewritten(t):
        z = jtensor.zeros_like(t)
        z[0] = t[0] * 2
        z[1:] = t[:1] * t[1:]
        return z.sum() + t.sum()
    near(vmap(grad(rewritten))(v), jtensor.stack([grad(rewritten)(a) for a in v]))
    found, x, w = [], v.requires_grad_(), jtensor.tensor([0.5, -1.0, 2.0, 1.0], requires_grad=True)
    for again in (True, False):
        def function(a):
            return (a * w).sin() * a

        def called(t, again=again):
            return checkpoint(function, t, use_reentrant=False).sum() if again else function(t).sum()
        found.append(jtensor.autograd.grad(vmap(called)(x).pow(2).sum(), (x, w)))
    for a, b in zip(*found, strict=True):
        near(a, b)


@pytest.mark.parametrize("function", [
    lambda w, u: vmap(lambda row: (row.sin() * u).exp().sum())(w),
    lambda w, u: vmap(lambda row: vmap(lambda a, b: (a * b).sin())(row, u.cos()))(w),
    lambda w, u: jtensor.func.jvp(lambda a: (a * u).sin().sum(), (w,), (w.cos(),))[1],
])
def test_a_batch_that_is_opened_again_by_a_checkpoint(function):
    from jtensor.utils.checkpoint import checkpoint
    w, u = jtensor.arange(12.).view(3, 4).requires_grad_(), jtensor.ones(4, requires_grad=True)
    first = jtensor.autograd.grad(function(w, u).sum(), (w, u))
    again = jtensor.autograd.grad(checkpoint(function, w, u, use_reentrant=False).sum(), (w, u))
    assert [g.shape for g in again] == [(3, 4), (4,)]
    for a, b in zip(first, again, strict=True):
        near(a, b)


def test_a_loop_of_steps_learns_what_the_loop_without_a_batch_does():
    v, _ = batch()
    found = []
    for batched in (True, False):
        w = jtensor.tensor([[0.5, -1.0, 2.0, 1.0]] * 2, requires_grad=True)
        optimizer = jtensor.optim.SGD([w], lr=0.1)
        for _ in range(8):
            optimizer.zero_grad()
            values = vmap(lambda a, w=w: ((w @ a).tanh() ** 2).sum())(v) if batched else ((v @ w.t()).tanh() ** 2).sum(1)
            values.mean().backward()
            optimizer.step()
        found.append(w.detach())
    near(*found)


def test_the_same_bits_fused_and_one_by_one():
    v, _ = batch()

    def called():
        return vmap(lambda a: (a.sin() * a.sum() + 1) / a.exp().sum())(v)
    fused = [called().tolist() for _ in range(4)]
    with jtensor.eager():
        assert all(one == called().tolist() for one in fused)


CALLS = [
    "vmap(lambda t: t.item())(x)", "vmap(lambda t: 1 if t else 0)(x)",
    "vmap(lambda t: t.sum().item())(x)", "vmap(lambda t: t if t.sum() > 0 else -t)(x)", "vmap(lambda t: float(t[0]))(x)",
    "vmap(lambda t: t.tolist())(x)", "vmap(lambda t: t.numpy())(x)", "vmap(lambda t: t.nonzero())(x)", "vmap(lambda t: t[t > 0])(x)",
    "vmap(lambda t: t.masked_select(t > 0))(x)", "vmap(lambda t: t.unique())(x)", "vmap(lambda t: T.zeros(2).copy_(t))(x)",
    "vmap(lambda t: setitem(T.zeros(2), 0, t[0]))(x)", "vmap(lambda t: setitem(T.zeros_like(t), 0, t[0]))(x)", "vmap(lambda: 1)()",
    "vmap(lambda t: t, in_dims='a')(x)", "vmap(lambda t: t, in_dims=(0, 0))(x)", "vmap(lambda t: t, in_dims=((0,),))(x)",
    "vmap(lambda t: t, in_dims=2)(x)", "vmap(lambda t: t, in_dims=-3)(x)", "vmap(lambda t: t, in_dims=None)(x)",
    "vmap(lambda t: t, in_dims=(None,))(x)", "vmap(lambda t, u: t, in_dims=(0, 0))(x, 2.)", "vmap(lambda t, u: t)(x, T.ones(4))",
    "vmap(lambda t, u: t, in_dims=(0, .5))(x, x)", "vmap(lambda t, u: t, in_dims=[0, 0])(x, x)",
    "vmap(lambda t, u: t * u, (0, None))(x, 2.)",
    "vmap(lambda t: t['a'], in_dims=({'a': 1},))({'a': x})", "vmap(lambda t: t['a'][1])({'a': [x, x * 2]})", "vmap(lambda t: t, 0, 1)(x)",
    "vmap(lambda t: t, out_dims=2)(x)", "vmap(lambda t: t, out_dims=None)(x)", "vmap(lambda t: T.ones(1), out_dims=None)(x)",
    "vmap(lambda t: (t, t), out_dims=(0,))(x)", "vmap(lambda t: (t, t), out_dims=(0, 1))(x)", "vmap(lambda t: (t, t), out_dims='a')(x)",
    "vmap(lambda t: {'a': t, 'b': (t, T.ones(2))})(x)", "vmap(lambda t: (t, 1))(x)", "vmap(lambda t: (t, 1), out_dims=(0, None))(x)",
    "vmap(lambda t: None)(x)", "vmap(lambda t: [t, t], out_dims=(0, 1))(x)", "vmap(lambda t: t, out_dims=-1)(x)",
    "vmap(lambda t: t, randomness='foo')(x)", "vmap(lambda t: t * 2, chunk_size=2)(x)", "vmap(lambda t: t * 2, chunk_size=0)(x)",
    "vmap(lambda t: (t * 2, t.sum()), out_dims=(1, 0), chunk_size=2)(x)", "vmap(lambda t: t * 2)(T.ones(0, 2))", "vmap(T.sin).__name__",
    "vmap(lambda t: repr(t), out_dims=None)(x)", "vmap(vmap(lambda t: repr(t), out_dims=None), out_dims=None)(x)",
    "vmap(lambda t: t.requires_grad_())(x)", "vmap(lambda t: t.sum().backward())(x)", "vmap(lambda t: t.add_(1))(x), x",
    "vmap(lambda t: t.add_(1))(x.requires_grad_()), x", "vmap(lambda t: t.sin())(x.requires_grad_())", "T.vmap is vmap",
    "vmap(T.linalg.cholesky)(T.stack([T.eye(2), -T.eye(2)]))", "vmap(lambda t: T.zeros(3)[t])(T.tensor([[0], [5]]))",
]
DRAWN = [
    "t * 0 + T.rand(2)", "T.rand(2)", "T.rand_like(t)", "t.clone().normal_()", "T.nn.functional.dropout(t + 1)", "T.randperm(3)",
    "T.nn.functional.dropout(T.ones(2))", "T.bernoulli(t / 10)", "T.randint(5, (2,))", "T.multinomial(t + 1, 1)", "T.normal(t, 1.)",
    "T.nn.functional.alpha_dropout(T.ones(2), .5, True)", "T.nn.functional.feature_alpha_dropout(T.ones(2, 3) * t[0], .5, True)",
    "T.multinomial(T.ones(2, 3), 4, True)", "T.multinomial(T.ones(2, 3) + t[:, None], 2)",
    "T.zeros(2).uniform_()", "T.randn(size=(2,))", "T.normal(0., 2., (2,))", "T.randint_like(t, 9)", "t.new_zeros(2).exponential_()",
]
CALLS += [f"vmap(lambda t: {drawn}, randomness='{how}')(x)" for drawn in DRAWN for how in ("error", "same", "different")]
CALLS += ["(vmap(lambda t: T.rand(2), randomness='same', chunk_size=2)(x), T.rand(1))",
          "vmap(lambda t: T.rand(2), randomness='different', chunk_size=2)(x)", "vmap(lambda t: t.mul_(2), 1, 1)(x) is x",
          "[vmap(lambda t: t, a, b)(x)._base is (None if a == b else x) for a in (0, 1, -1) for b in (0, 1, -1)]",
          "vmap(lambda t, g: T.func.vjp(lambda u: through(u), t)[1](g)[0])(T.arange(8.).view(2, 2, 2) / 8, T.ones(2, 1, 2))"]
CALLS += ["vmap(lambda t, i: t[i])(x, T.tensor([0, 1, -1]))",
          "vmap(lambda t, i: setitem(t.clone(), i, 9.))(x, T.tensor([0, 1, -1]))",
          "vmap(T.nn.BatchNorm1d(2))(x.reshape(1, 3, 2))", "vmap(T.nn.BatchNorm1d(2).eval())(x.reshape(1, 3, 2)).detach()",
          "vmap(T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.LayerNorm(3)))(x).detach()",
          "vmap(lambda t: T.lu_unpack(*T.linalg.lu_factor(t))[2])(T.eye(2).expand(3, 2, 2))",
          "vmap(T.nn.Conv2d(1, 2, 2))(x.reshape(1, 1, 1, 3, 2)).detach()",
          "vmap(T.nn.Embedding(5, 2))(T.tensor([[0, 1], [2, 4]])).detach()"]
CALLS += ["vmap(lambda t, u: T.linspace(t, u, 4))(x[:, 0], T.arange(3))", "vmap(lambda t: T.linspace(0, t, 3, dtype=T.int64))(x[:, 0])",
          "vmap(lambda t: vmap(lambda u: T.logspace(t, u, 3, 2.))(x[:, 1]))(x[:, 0])"]
SLICED = ["T.special.bessel_j0(t).sin_()", "T.special.airy_ai(t[0])", "T.histc(t, 3, 0, 6)", "T.histc(t, 2)", "T.histc(x, 2)",
          "T.bincount(t.long(), minlength=6)", "T.bincount(t.long())", "T.bincount(t.long() - 1)", "T.bincount(n, t, 4)",
          "T.histogram(t, 2)[:]", "T.histogram(t, n.flip(0) * 1.)[:]", "T.linalg.ldl_factor(t.diag() + 1)[:]",
          "T.linalg.ldl_solve(*T.linalg.ldl_factor(t.diag() + 1), x[:2])", "T.repeat_interleave(t, t.long() - t[0].long() + n)",
          "T.repeat_interleave(t, t.long())"]
CALLS += [f"vmap(lambda t: {text})(x)" for text in SLICED]
CALLS += ["vmap(T.masked_scatter, (0, 0, None))(x, x % 3 > 0, x + 9)", "vmap(T.masked_scatter, (None, 0, 0))(x, x % 3 > 0, x + 9)",
          "vmap(T.masked_scatter, (None, 0, None))(x, x > 0, x[:1])", "vmap(T.masked_scatter, (0, 0, None))(x, x > 9, x[:0])",
          "vmap(lambda t, u: (t * 2).masked_scatter_(t % 3 > 0, u).sin_())(x, x + 9)",
          "vmap(grad(lambda t, u, m: (t.masked_scatter(m, u) ** 2 * n).sum(), argnums=(0, 1)))(x, x + 9, x % 3 > 0)"]
CALLS += ["vmap(vmap(lambda t, u: T.histc(T.stack([t, u]), 2, 0, 6), (0, None)), (None, 0))(x[0], x[1])",
          "vmap(vmap(T.special.bessel_y1, out_dims=1), in_dims=1)(x)", "vmap(T.special.bessel_j1)(x[:0])",
          "vmap(lambda t: T.linspace(0, t[0], 3))(x[:0])"]
CALLS += [f"vmap(T.func.grad(lambda t: (T.arange(1., 3) * T.segment_reduce(t[[0, 1, 1]], '{how}', lengths={of})).sum()))(x)"
          for how, of in (("max", "n"), ("prod", "n"), ("sum", "n"), ("mean", "t.detach().long().clamp(max=0) + n"))]
CALLS += ["vmap(lambda t, n: T.segment_reduce(t, 'max', lengths=n, initial=0.))(x, T.tensor([[1, 1], [0, 2], [2, 0]]))",
          "vmap(lambda t, n: T.segment_reduce(t, 'max', lengths=n))(x, T.tensor([[1, 1], [0, 2], [2, 1]]))"]
CALLS += ["vmap(vmap(lambda t: t + T.rand(2), randomness='different'), randomness='same')(T.zeros(2, 2, 2))",
          "vmap(vmap(lambda t: t + T.rand(2), randomness='same'), randomness='different')(T.zeros(2, 2, 2))"]


def named(T):
    def setitem(tensor, at, value):
        tensor[at] = value
        return tensor

    def through(leaf):
        base = leaf * leaf
        view = base.transpose(0, 1)
        view[1:] *= 2
        view.diagonal().sin_()
        return view[1:].cos_()
    return {"vmap": T.func.vmap, "grad": T.func.grad, "x": T.arange(6.0).reshape(3, 2), "n": T.tensor([2, 1]), "setitem": setitem,
            "through": through}


@pytest.mark.parametrize("text", CALLS)
def test_as_in_pytorch(text):
    same(text, named)


def test_nothing_else_is_slower_for_it():
    """An operation recorded outside of a level takes the same path before the first level and after it."""
    from jtensor.trace.tape import LOCAL
    v, _ = batch()
    vmap(lambda a: a.sin())(v)
    nodes = len(LOCAL.segment.nodes)
    _ = v.cos() + 1
    assert [plan.operator.name for plan, *_ in LOCAL.segment.nodes[nodes:]] == ["cos", "add"]
