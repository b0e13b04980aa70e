"""Laws of the numerical families: every form of an operator agrees, and values, strides, gradients and node names are PyTorch's."""
import itertools
import math

import pytest

import jtensor

from . import op_samples as samples

torch = pytest.importorskip("torch")

CALLS = [
    *[(name, (values,), {}) for name, values in samples.UNARY.items()],
    *[(name, pair, {}) for name, pair in samples.BINARY.items()],
    *[(name, pair, {}) for name, pairs in samples.WITH_NUMBER.items() for pair in pairs],
    *[(name, args, kwargs) for name, calls in samples.REDUCTIONS.items() for args, kwargs in calls],
]
IDS = [f"{name}-{i}" for i, (name, _, _) in enumerate(CALLS)]


def is_floating(values):
    while isinstance(values, list):
        values = values[0]
    return isinstance(values, float)


def build(lib, args, grad=False):
    """The arguments of a call in one library; leaves that require gradients where they can."""
    return [lib.tensor(a, requires_grad=grad and is_floating(a)) if isinstance(a, list) else a for a in args]


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def assert_equal(got, want, what):
    for x, y in itertools.zip_longest(flat(got), flat(want)):
        assert str(x.dtype) == str(y.dtype), what
        assert tuple(x.shape) == tuple(y.shape), what
        assert tuple(x.stride()) == tuple(y.stride()) or y.numel() < 2, what
        torch.testing.assert_close(torch.tensor(x.tolist(), dtype=y.dtype), y.detach(), rtol=2e-6, atol=1e-6, equal_nan=True, msg=what)


@pytest.mark.parametrize("name, args, kwargs", CALLS, ids=IDS)
def test_value_gradient_and_node_are_pytorchs(name, args, kwargs):
    given, wanted = build(jtensor, args, True), build(torch, args, True)
    got, want = getattr(jtensor, name)(*given, **kwargs), getattr(torch, name)(*wanted, **kwargs)
    assert_equal(got, want, name)
    for x, y in zip(flat(got), flat(want)):
        assert x.requires_grad == y.requires_grad
        if y.grad_fn is not None and "Squeeze" not in y.grad_fn.name() and "NotImplemented" not in y.grad_fn.name():
            assert x.grad_fn.name() == y.grad_fn.name()
    differentiable = [(x, y) for x, y in zip(flat(got), flat(want)) if y.requires_grad]
    if not differentiable or name in ("floor_divide", "heaviside"):
        return
    for side in (0, 1):
        sum((pair[side] * (k + 1.5)).sum() for k, pair in enumerate(differentiable)).backward()
    for x, y in zip(given, wanted):
        if isinstance(y, torch.Tensor) and y.requires_grad:
            assert_equal(x.grad, y.grad, f"gradient of {name}")


@pytest.mark.parametrize("name, args, kwargs", CALLS, ids=IDS)
def test_function_method_out_and_inplace_agree(name, args, kwargs):
    function = getattr(jtensor, name)(*build(jtensor, args), **kwargs)
    if hasattr(torch.Tensor, name):
        first, *rest = build(jtensor, args)
        assert_equal(as_torch(getattr(first, name)(*rest, **kwargs)), as_torch(function), name)
    if not hasattr(torch.Tensor, name + "_"):
        assert not hasattr(jtensor.Tensor, name + "_")
        return
    first, *rest = build(torch, args)
    try:
        want = getattr(first, name + "_")(*rest, **kwargs)
    except RuntimeError as error:
        want = error
    first, *rest = build(jtensor, args)
    if isinstance(want, RuntimeError):
        with pytest.raises(RuntimeError):
            getattr(first, name + "_")(*rest, **kwargs)
    else:
        version = first._version
        assert getattr(first, name + "_")(*rest, **kwargs) is first
        assert first._version == version + 1
        assert_equal(first, want, name + "_")


def as_torch(result):
    made = [torch.tensor(x.tolist(), dtype=getattr(torch, str(x.dtype)[6:])).as_strided(x.shape, x.stride()) for x in flat(result)]
    return made if isinstance(result, (tuple, list)) else made[0]


OUT = [call for call in CALLS if call[0] not in ("var_mean", "std_mean", "rsub", "count_nonzero", "dist", "isclose", "mvlgamma")]


@pytest.mark.parametrize("name, args, kwargs", OUT[::2], ids=[f"{c[0]}-{i}" for i, c in enumerate(OUT[::2])])
def test_out_holds_the_result(name, args, kwargs):
    result = getattr(jtensor, name)(*build(jtensor, args), **kwargs)
    out = [jtensor.empty_like(x) for x in flat(result)]
    if not takes_out(name, args, kwargs, out):
        with pytest.raises(TypeError):
            getattr(jtensor, name)(*build(jtensor, args), **kwargs, out=out[0])
        return
    answer = getattr(jtensor, name)(*build(jtensor, args), **kwargs, out=out[0] if not isinstance(result, tuple) else tuple(out))
    assert all(a is b for a, b in zip(flat(answer), out))
    assert_equal(as_torch(out), flat(as_torch(result)), name)


def takes_out(name, args, kwargs, out):
    """Whether PyTorch takes ``out=`` in this form of a call: sums and medians of everything do not."""
    theirs = [torch.empty(tuple(x.shape), dtype=getattr(torch, str(x.dtype)[6:])) for x in out]
    try:
        getattr(torch, name)(*build(torch, args), **kwargs, out=theirs[0] if len(theirs) == 1 else tuple(theirs))
    except TypeError:
        return False
    return True


SAVED = list({call[0]: call for call in CALLS if is_floating(call[1][0]) and call[0] not in ("heaviside", "quantile")}.values())


@pytest.mark.parametrize("name, args, kwargs", SAVED, ids=[f"{c[0]}-{i}" for i, c in enumerate(SAVED)])
def test_what_is_saved_is_what_pytorch_saves(name, args, kwargs):
    """After each tensor of the call (and the result) was modified in place, the backward raises where PyTorch's does."""
    tensors = [i for i, a in enumerate(args) if isinstance(a, list) and is_floating(a)]
    for modified in [*tensors, "result"]:
        answers = [raises_after_change(lib, name, args, kwargs, modified) for lib in (jtensor, torch)]
        assert answers[0] == answers[1], f"{name}: {modified} modified"


def raises_after_change(lib, name, args, kwargs, modified):
    leaves = build(lib, args, True)
    inputs = [x.clone() if isinstance(x, lib.Tensor) and x.requires_grad else x for x in leaves]
    result = flat(getattr(lib, name)(*inputs, **kwargs))
    differentiable = [x for x in result if x.requires_grad]
    if not differentiable:
        return None
    total = sum(x.sum() for x in differentiable)
    with lib.no_grad():
        (differentiable[0] if modified == "result" else inputs[modified]).zero_()
    try:
        total.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return True
    return False


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_one_number_is_not_rounded_to_a_narrow_type(dtype):
    """Products and quotients whose second operand is a number or a tensor without dimensions; and their gradients, bit for bit."""
    generator = torch.Generator().manual_seed(1)
    values, weights = torch.randn(2, 300, generator=generator).to(getattr(torch, dtype)).tolist()
    calls = [lambda a, s: a * s, lambda a, s: a / s, lambda a, s: s * a, lambda a, s: a * s.item(), lambda a, s: a / s.item(),
             lambda a, s: s.item() / a, lambda a, s: a.detach().clone().mul_(s), lambda a, s: a * 70000]
    for at, call in enumerate(calls):
        results = []
        for lib in (torch, jtensor):
            a = lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)
            result = call(a, lib.tensor(-0.35924652))
            if result.requires_grad:
                result.backward(lib.tensor(weights, dtype=a.dtype))
            results.append((result.tolist(), None if a.grad is None or at == 2 else a.grad.tolist()))
        assert str(results[0]) == str(results[1]), at


def test_the_norm_of_one_element_is_its_size():
    """Where its square or cube would be no number of the type."""
    for lib in (torch, jtensor):
        x = lib.tensor([[1e-24], [-2e25]], requires_grad=True)
        sizes = [lib.linalg.vector_norm(x, p, dim=1) for p in (1, 2, 3, float("inf"))]
        sizes[1].sum().backward()
        assert all(s.tolist() == x.detach().abs().flatten().tolist() for s in sizes) and x.grad.tolist() == [[1], [-1]]


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_norms_of_narrow_numbers_in_a_wider_type(kind):
    found = []
    for lib in (torch, jtensor):
        x = lib.tensor([[0.25, 0.75], [1.5, 2.25]], dtype=getattr(lib, kind), requires_grad=True)
        norms = [lib.norm(x, dtype=lib.float32), lib.linalg.vector_norm(x, 3, dtype=lib.float64),
                 lib.linalg.matrix_norm(x, dtype=lib.float32)]
        sum(norms).backward()
        found.append(([str(n.dtype) for n in norms], [n.item() for n in norms], x.grad.tolist()))
    assert found[0][::2] == found[1][::2] and found[0][1] == pytest.approx(found[1][1], rel=1e-6)


def test_deviations_of_numbers_whose_squares_are_too_small():
    for lib in (torch, jtensor):
        x = lib.tensor([[1e-24, -1e-24, 3e-24], [2e24, 4e24, 6e24]])
        assert x.std(1).tolist() == pytest.approx([2e-24, 2e24], rel=1e-6, abs=0)
        assert lib.std_mean(x, 1)[0].tolist() == x.std(1).tolist()


def test_differences_of_complex_numbers_have_pytorchs_zeros():
    """PyTorch adds -1 times the second number, a product of complex numbers, which has no -0.0 left."""
    parts = [0.0, -0.0, 1.0, float("inf"), float("nan")]
    pairs = [[complex(*p) for p in pair] for pair in itertools.product(itertools.product(parts, parts), repeat=2)]
    for call in (lambda a, b: a - b, lambda a, b: a - a, lambda a, b: a.sub(b, alpha=2), lambda a, b: a - 0, lambda a, b: 1j - a):
        got, want = (call(*(lib.tensor(column) for column in zip(*pairs, strict=True))).tolist() for lib in (jtensor, torch))
        assert list(map(str, got)) == list(map(str, want))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_arc_tangents_of_complex_numbers_everywhere(dtype):
    """On both sides of the cuts, beside i, where squares overflow, at infinity, of NaN."""
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-3, 1 - 1e-6, 1e-17, 1e15, -1e17, float("inf"), float("-inf"), float("nan")]
    numbers = [complex(*pair) for pair in itertools.product(parts, parts)]
    got, want = (lib.tensor(numbers, dtype=getattr(lib, dtype)).atan() for lib in (jtensor, torch))
    for part in ("real", "imag"):
        ours, theirs = getattr(got, part).tolist(), getattr(want, part).tolist()
        assert ours == pytest.approx(theirs, rel=1e-6 if dtype == "complex64" else 1e-14, abs=0, nan_ok=True)
        assert [math.copysign(1, x) for x in ours if x == x] == [math.copysign(1, x) for x in theirs if x == x]


def test_whole_powers_of_one_number_keep_the_compiler_quiet(capfd):
    assert (3 ** jtensor.arange(7)).tolist()[-1] == 729 and (jtensor.arange(11)[:, None] ** jtensor.arange(7)).sum().item() == 2228039
    assert "circular" not in capfd.readouterr().err


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("n", [3, 6, 7, 10, 33, 1000, 5000])
def test_equal_numbers_have_no_spread(n, dtype):
    """However their sum is rounded, as in PyTorch; so the gradient of their deviation is nothing, not rounding magnified."""
    x = jtensor.full((4, n), 0.1, dtype=getattr(jtensor, dtype), requires_grad=True)
    found = [x.var(1), x.std(1), x.t().var(0), x.T.std((0,)), *jtensor.var_mean(x, 1), jtensor.std_mean(x, (0, 1))[0]]
    assert all((found[at] == 0).all() for at in (0, 1, 2, 3, 4, 6)) and (found[5] == x[:, 0]).all()
    x.std(1).real.sum().backward()
    assert (x.grad == 0).all()
