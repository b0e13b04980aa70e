"""Fusing cannot be seen: a program of several operators gives the bits that its operators give one by one."""

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jtensor.base import compat
from jtensor.trace.lowering import fences, flat

from . import fence_fuzz as fuzz
from .fence_programs import DTYPES, Writer

ZERO = np.uint32(0)
RNG = np.random.default_rng(0)
KERNELS = fuzz.Kernels()


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def run(function, *arrays, effort="all"):
    return jax.tree.map(np.asarray, fuzz.compiled(function, arrays, effort=effort)(ZERO, *arrays))


def by_one(*steps):
    """Both runs of a chain of operators, each with the former's result and operands of its own."""

    def fused(first, *others):
        for (function, arity), start in zip(steps, starts):
            first = fences.mark(function(first, *others[start : start + arity]))
        return first

    starts = np.cumsum([0, *[arity for _, arity in steps]]).tolist()

    def check(first, *others):
        value = first
        for (function, arity), start in zip(steps, starts):
            value = run(function, value, *others[start : start + arity], effort="kernel")
        return run(fused, first, *others), value

    return check


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


CHAINS = {  # name: (operators with the number of their other operands, inputs)
    "a*b+c": ([(jnp.multiply, 1), (jnp.add, 1)], (normal(1000), normal(1000), normal(1000))),
    "log(exp(x))": ([(jnp.exp, 0), (jnp.log, 0)], (np.float32([100, -200, 1, 2]),)),
    "a/sqrt(b)": ([(lambda x: jnp.sqrt(jnp.abs(x)), 0), (lambda r, x: x / r, 1)], (normal(1000), normal(1000))),
    "x/s": ([(lambda x, s: x / s.astype(x.dtype), 1), (jnp.multiply, 1)], (normal(1000), np.float64(3), normal(1000))),
    "sum of 25 products": ([(jnp.multiply, 1), (lambda x: x.sum(1), 0)], (normal(400, 25), normal(400, 25))),
    "sum over pictures": (
        [(jnp.multiply, 1), (lambda x: x - x.sum((0, 2, 3), keepdims=True), 0), (lambda x: x.sum((2, 3)), 0)],
        (normal(2, 3, 28, 28), normal(3, 1, 1)),
    ),
    "product of 5": (
        [(lambda x: jax.nn.silu(x), 0), (lambda x: x.prod(1), 0), (jnp.add, 1)],
        (normal(100, 5), normal(100, 5), normal(100))[::2],
    ),
    "sum of a reshape": ([(jnp.ravel, 0), (jnp.sum, 0)], (normal(36, 67),)),
    "sum of an expanded": ([(lambda x: jnp.broadcast_to(x, (40, 67)), 0), (lambda x: x.sum(0), 0)], (normal(67),)),
    "sum of sums": ([(lambda x: x.sum(1), 0), (lambda x: x.sum(0), 0)], (normal(50, 70),)),
    "product, extreme of one, add": (
        [(jnp.multiply, 1), (lambda x: x.max(0), 0), (lambda x: x.min(1, keepdims=True), 0), (jnp.add, 1)],
        (normal(1, 1000, 1), normal(1, 1000, 1), normal(1000, 1)),
    ),
    "turned sum": ([(jnp.transpose, 0), (lambda x: x * 1.5, 0), (lambda x: x.sum(0), 0)], (normal(40, 67),)),
    "turned, multiplied, summed": ([(jnp.transpose, 0), (jnp.multiply, 1), (lambda x: x.sum(0), 0)], (normal(71, 71), normal(71, 71))),
    "turned, added, averaged": (
        [(lambda x: x.transpose(2, 0, 1), 0), (jnp.add, 1), (lambda x: x.mean(1), 0)],
        (normal(40, 5, 67), normal(67, 40, 5)),
    ),
    "turned, summed whole": ([(jnp.transpose, 0), (jnp.sum, 0)], (normal(64, 64),)),
    "converted, summed whole": (
        [(lambda x: x.astype(jnp.bfloat16), 0), (lambda x: x.astype(jnp.float32), 0), (jnp.sum, 0)],
        (normal(100, 100),),
    ),
    "exp beside a sum": (
        [(jnp.exp, 0), (jnp.abs, 0), (lambda x, y: x - y.sum(0), 1)],
        (normal(100, 100), normal(100, 100)),
    ),
    "exp in a gradient, beside a sum": (
        [(lambda g: jnp.where(jnp.eye(64) > 0, g, 0), 0), (lambda g, y: g - jnp.exp(y) * g.sum(1, keepdims=True), 1)],
        (normal(64, 64), normal(64, 64)),
    ),
    "computed from a transpose, times a vector": (
        [(jnp.transpose, 0), (jnp.multiply, 1), (jnp.matmul, 1)],
        (normal(64, 64), normal(64, 64), normal(64)),
    ),
    "cumsum, summed": ([(lambda x: lax.cumsum(x, 0), 0), (lambda x: x.sum(0), 0)], (normal(64, 64),)),
    "cumsum, summed crosswise": ([(lambda x: lax.cumsum(x, 0), 0), (lambda x: x.sum(1), 0)], (normal(64, 64),)),
    "summed in windows of two axes": ([(jnp.negative, 0), (jnp.sum, 0)], (normal(63, 63),)),
    "summed in windows of a long axis and short ones": ([(jnp.negative, 0), (jnp.sum, 0)], (normal(33, 2, 5),)),
    "x + zeros": ([(jnp.zeros_like, 0), (jnp.add, 1)], (normal(3), np.float32([-0.0, 1, 2]))),
    "sign of what is not negative, times it": (
        [(jnp.exp, 0), (lambda x: (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype), 0), (jnp.multiply, 1)],
        (np.float32([np.nan, 1, np.inf, -2]), np.float32([np.nan, 1, np.inf, -2])),
    ),
    "written into zeros, + x": (
        [(lambda u: lax.dynamic_update_slice(jnp.zeros(6, u.dtype), u, (u[0].astype(int),)), 0), (jnp.add, 1)],
        (np.float32([1, 2]), np.float32([-0.0] * 6)),
    ),
    "scattered into zeros, + x": (
        [(lambda u: jnp.zeros(6, u.dtype).at[u.astype(int)].add(u), 0), (jnp.add, 1)],
        (np.float32([1, 2]), np.float32([-0.0] * 6)),
    ),
    "scattered, + x": (
        [(lambda x, u: x.at[:, np.arange(52) % 5].add(u), 1), (lambda x: x + 1, 0), (jnp.add, 1)],
        (normal(3, 52, 8), normal(3, 52, 8), normal(3, 52, 8)),
    ),
    "square, abs, sqrt": ([(jnp.square, 0), (jnp.abs, 0), (jnp.sqrt, 0)], (np.float32([1e30, -3, 1e-30]),)),
    "zeros * x": ([(jnp.zeros_like, 0), (jnp.multiply, 1)], (normal(3), np.float32([np.inf, np.nan, -1]))),
    "ones, gradient": (
        [(jnp.ones_like, 0), (lambda ct, x: jax.vjp(lambda x: jnp.std(x, 1, keepdims=True) + 0 * x, x)[1](ct)[0], 1)],
        (normal(10, 29), normal(10, 29)),
    ),
    "+1-1": ([(lambda x: x + 1, 0), (lambda x: x - 1, 0)], (normal(1000),)),
    "log1p of narrow rows": ([(jnp.log1p, 0), (jnp.add, 1)], (np.abs(normal(1500, 8)), normal(1500, 8))),
    "atan, scattered": ([(lambda x: x[::-7], 0), (jnp.arctan, 0), (jnp.add, 1)], (normal(4099), normal(586))),
    "matmul, left turned": ([(jnp.transpose, 0), (lambda a: a * 1.5, 0), (jnp.matmul, 1)], (normal(33, 17), normal(33, 5))),
    "matmul, right turned": ([(jnp.transpose, 0), (lambda b, a: a @ b, 1)], (normal(33, 33), normal(16, 33))),
    "matmul, result turned": ([(jnp.matmul, 1), (jnp.transpose, 0)], (normal(17, 33), normal(33, 5))),
    "matrix vector": ([(jnp.transpose, 0), (jnp.matmul, 1)], (normal(300, 70), normal(300))),
    "row by column of one number": (
        [(lambda x: jnp.broadcast_to(x, (7, 1)), 0), (lambda x: jnp.einsum("ij,ik->jk", x, x), 0), (lambda x: x + 10, 0)],
        (np.float32([[33.3]]),),
    ),
    "bfloat16 chain": (
        [(jnp.multiply, 1), (jnp.add, 1)],
        (normal(100, dtype=jnp.bfloat16), normal(100, dtype=jnp.bfloat16), normal(100, dtype=jnp.bfloat16)),
    ),
    "float16 rsqrt": ([(jnp.abs, 0), (lax.rsqrt, 0), (jnp.add, 1)], (normal(1000, dtype=np.float16), normal(1000, dtype=np.float16))),
    "complex": (
        [(jnp.multiply, 1), (jnp.add, 1), (jnp.abs, 0)],
        tuple(normal(3, 50, dtype=np.complex64) + 1j * normal(3, 50, dtype=np.complex64)),
    ),
    "cumprod, add": (
        [(lambda x: jnp.cumprod(x, 1), 0), (jnp.add, 1)],
        (normal(68, 67, dtype=np.float64), normal(68, 67, dtype=np.float64)),
    ),
    "loops": ([(jnp.multiply, 1), (lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * y + x, x), 1), (jnp.add, 1)], tuple(normal(4, 100))),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chain(name):
    steps, inputs = CHAINS[name]
    fused, one_by_one = by_one(*steps)(*inputs)
    assert fuzz.same(fused, one_by_one).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [1])
def test_random_program(index, dtype):
    program = Writer(fuzz.seed_of(7, index, dtype), dtype, KERNELS, 8).program
    assert not fuzz.check(program, np.random.default_rng(index))


def test_the_comparison_bites():
    """Without fences a product and a sum are contracted."""
    a, b, c = normal(3, 1000)
    assert (np.asarray(jax.jit(lambda a, b, c: a * b + c)(a, b, c)) != a * b + c).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_arithmetic(dtype):
    a, b, c = normal(3, 1000, dtype=dtype)
    s = dtype(3)
    terms = lambda a, b, c, s: (a * b + c, a / b, a / s, jnp.sqrt(jnp.abs(a)), a - b * c, a / b / c)
    got = run(lambda *x: [fences.mark(y) for y in terms(*x)], a, b, c, s)
    for x, y in zip(got, (a * b + c, a / b, a / s, np.sqrt(np.abs(a)), a - b * c, a / b / c)):
        assert fuzz.same(x, y).all()


def test_signs_of_zero_and_nan():
    x = np.float32([-0.0, 0.0, np.nan, np.inf, -np.inf, 1])
    zero, one = np.float32(0), np.float32(1)
    with np.errstate(invalid="ignore"):
        want = x + zero, x * one, x - x, x * zero, x / x
    got = run(lambda x, zero, one: [fences.mark(y) for y in (x + zero, x * one, x - x, x * zero, x / x)], x, zero, one)
    for a, b in zip(got, want):
        assert fuzz.same(a, b).all()


def test_a_long_chain_on_a_repeated_number_keeps_the_compiler_quiet(capfd):
    def chain(s):
        y = fences.mark(jnp.broadcast_to(s, (5,)))
        for _ in range(40):
            y = fences.mark(jnp.sin(jax.nn.silu(y)))
        return y

    run(chain, np.float32(1))
    assert "circular" not in capfd.readouterr().err


@pytest.mark.parametrize("moved", [lambda m: m, lambda m: m[::-1], lambda m: m.reshape(2, 3).reshape(-1)])
@pytest.mark.parametrize("marked", [fences.mark, lambda x: x])
def test_truth_values_are_factors_and_no_choice(marked, moved):
    """Of the product XLA would make a choice, in which nothing times NaN, or times a negative number, is 0.0."""
    m, x = np.array([0, 1, 0, 0, 1, 0], bool), np.float32([np.nan, 2, np.inf, -3, -4, 5])
    got, = run(lambda m, x: [fences.mark(marked(moved(m).astype(x.dtype)) * x)], m, x)
    with np.errstate(invalid="ignore"):
        want = moved(m).astype(x.dtype) * x
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got[3]), np.signbit(want[3]))


SQUARES = {
    "abs": jnp.abs,
    "x*x": lambda x: x * x,
    "x**4": lambda x: lax.integer_pow(x, 4),
    "of one number twice": lambda x: (x - 1) * (x - 1),
    "of a copy": lambda x: jnp.copy(x) * x,
}


@pytest.mark.parametrize("name", SQUARES)
def test_squares_of_integers_and_absolute_values_may_be_negative(name):
    """XLA takes them not to be, whether they fit or not, and leaves out what is for negative numbers."""
    uses = jnp.abs, lambda y: y // 7, lambda y: y % 8, lambda y: jnp.maximum(y, 0), lambda y: y < 0, lambda y: jnp.sign(y).astype(float)
    x = np.array([-(2**31), 46341, 50000, -7, 6, 0, 92683], np.int32)
    square = fences.mark(SQUARES[name](x))
    for use in uses:
        got, = run(lambda x, use=use: [use(fences.mark(SQUARES[name](x)))], x)
        np.testing.assert_array_equal(got, run(use, np.asarray(square)))


ZEROS = {
    "i - i": lambda i, m: i - i,
    "(i - 1) ^ (i - 1)": lambda i, m: (i - 1) ^ (i - 1),
    "m != m": lambda i, m: m != m,
    "no and m": lambda i, m: jnp.zeros_like(m) & m,
    "not (yes or m)": lambda i, m: ~(jnp.ones_like(m) | m),
    "i * 0": lambda i, m: i * jnp.zeros_like(i),
}


@pytest.mark.parametrize("name", ZEROS)
def test_what_is_known_of_integers_is_as_good_as_a_constant(name):
    """XLA adds no zeros that it knows, although -0.0 + 0.0 is 0.0; of a choice that it knows one side is left."""
    i, m, x = np.int32([3, 5]), np.array([True, False]), np.float32([-0.0, -3])
    added, chosen = run(lambda i, m, x: [
        fences.mark(fences.mark(ZEROS[name](i, m).astype(x.dtype)) + x),
        fences.mark(fences.mark(jnp.where(ZEROS[name](i, m) != 0, x, jnp.zeros_like(x))) + x)], i, m, x)
    assert not np.signbit([added[0], chosen[0]]).any() and added[1] == chosen[1] == -3


def test_fences_on_products_of_integers_are_few():
    i = np.int32([3, 5])
    count = lambda function: fences.fenced(function, (i, i)).count
    assert count(lambda x, y: x * y + (x + 1) * (y + 1) + (x - 1) * (x - 2)) == 0
    assert count(lambda x, y: x * x + (x - y) * (x - y) + jnp.abs(y)) == 3


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_factor_that_is_known_is_not_put_together_with_another(dtype):
    x, s, c = (RNG.standard_normal(999)).astype(dtype), dtype(1.37), dtype(0.3)
    want = run(lambda y, s: fences.mark(y * s), run(lambda x: fences.mark(x * c), x), s)
    assert (run(lambda x, s: fences.mark(fences.mark(x * c) * s), x, s) == want).all() and (x * (c * s) != want).any()


def test_a_repeated_number_is_summed_up_and_not_multiplied():
    """XLA would take `n` times the number for the sum of what was made of ones and a number."""
    x, s = np.ones((1003, 5), np.float32), np.float32(0.7132103)
    want, = run(lambda y: [fences.mark(y.sum(0))], x * s)
    for effort in "all", "brief", "rough":
        got, = run(lambda x, s: [fences.mark(fences.mark(fences.mark(jnp.ones_like(x)) * s).sum(0))], x, s, effort=effort)
        assert (got == want).all() and (want != np.float32(1003) * s).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64, bool])
def test_a_slice_is_written_after_its_neighbours_are_read(dtype):
    """XLA writes it in place while it still reads, where what is written to was reshaped."""
    def twice(x, one, zero, two):
        x = fences.mark(x[0] | x[0] if dtype is bool else x[0] * one)
        for _ in range(2):
            a, b = (lax.dynamic_slice(x, (s,), (10,)) for s in (two, zero))
            x = lax.dynamic_update_slice(x, fences.mark(a ^ b if dtype is bool else a + b), (one.astype(np.int32),))
        return x

    x = (RNG.standard_normal((7, 12)) * 9).astype(dtype)
    want = x[0].copy()
    for _ in range(2):
        want[1:-1] = want[2:] ^ want[:-2] if dtype is bool else want[2:] + want[:-2]
    one = np.int32(1) if dtype is bool else dtype(1)
    for effort in "all", "brief", "rough":
        assert (run(twice, x, one.real, np.int32(0), np.int32(2), effort=effort) == want).all()


def test_sums_begin_at_zero():
    got = run(lambda *xs: [jnp.sum(x, 0) for x in xs], *[np.full((n, 2), -0.0, np.float32) for n in (1, 3, 32, 33)])
    assert not np.signbit(got).any()


def test_marks_cost_nothing_where_nothing_is_rewritten():
    made = fences.fenced(lambda x, y: fences.mark(jnp.maximum(fences.mark(x + y), y)), (normal(5), normal(5)))
    assert made.count == 0


def test_dead_equations_are_left_out():
    graph = flat.flattened(jax.make_jaxpr(lambda x: (jnp.exp(x), x + 1)[1])(normal(3)))
    assert [e.name for e in graph.equations] == ["add"]


def test_a_graph_is_put_together_of_jaxprs():
    both = compat.trace(lambda x, n: [x * n, n > 0], [np.float32([1, 2]), np.float32(0)])
    for length in 1, 3:                         # of one number there is nothing to slice
        graph = flat.Flat([jax.core.ShapedArray((length,), np.dtype(np.float32)), jax.core.ShapedArray((2,), np.dtype(np.float32))])
        numbers, x = graph.inputs
        product, sign = graph.call(both, [x, graph.element(numbers, length - 1)])
        assert graph.mark(sign) == sign != graph.mark(product), "only what is floating-point is marked"
        again, _ = graph.call(both, [graph.mark(product), flat.Constant(np.float32(0.5))])
        graph.finish([again, product])
        names = [e.name for e in graph.equations]
        assert names[-3:] == ["mul", "operator_result", "mul"] and "gt" not in names
        numbers = np.float32([5, 6, 3])[3 - length:]
        got = jax.jit(fences.of_graph(graph).program)(np.uint32(0), numbers, np.float32([1, 2]))
        assert [g.tolist() for g in got] == [[1.5, 3.0], [3.0, 6.0]]


WRITTEN = {
    "a quotient by one number": lambda x, n: x * 3 / n,
    "a table": lambda x, n: jnp.exp(x) * np.float32([[1, 2, 3], [4, 5, 6]]) + np.float32([1, 2, 3]),
    "sums": lambda x, n: (x * x).sum(0) + (x * n).sum() + jnp.cumsum(x, 1).prod(0),
    "loops": lambda x, n: lax.fori_loop(0, 3, lambda k, y: y * y + n, x) + lax.scan(lambda c, y: (c * y + n, c * n), x[0], x)[1],
    "a choice": lambda x, n: lax.cond(n > 0, lambda y: y * n + y, lambda y: y - n, x),
    "a callback": lambda x, n: [x + n, jax.debug.callback(lambda y: None, x)][0],
}


@pytest.mark.parametrize("what", WRITTEN)
def test_what_is_written_down_is_what_would_be_traced(what):
    x, n = normal(2, 3), np.float32(0.7)
    made = fences.fenced(lambda x, n: [fences.mark(fences.mark(WRITTEN[what](x, n)) * n)], (x, n))
    written, traced = made.jaxpr(), jax.make_jaxpr(made.program)(ZERO, x, n)
    names = [[e.primitive.name for e in jaxpr.eqns] for jaxpr in (written, traced)]
    assert names[0] == names[1] and bool(written.effects) == bool(traced.effects) == (what == "a callback")
    got, wanted = (np.asarray(jax.jit(jax.extend.core.jaxpr_as_fun(jaxpr))(ZERO, x, n)[0]) for jaxpr in (written, traced))
    assert (got == wanted).all() and got.dtype == wanted.dtype == np.float32


def test_any_pytree_comes_back():
    x = normal(3)
    got = run(lambda x: {"a": (x, 1.0), "b": [x * 2]}, x)
    assert set(got) == {"a", "b"} and (got["b"][0] == x * 2).all()
    made = fences.fenced(lambda i: fences.mark(i) + 1, (np.int64([1, 2]),))
    assert made.count == 0


def test_convolutions_keep_to_their_library():
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME")
    assert (
        "INDIVIDUAL_CONVOLUTION"
        not in fences.fenced(conv, (normal(1, 2, 9), normal(2, 2, 3))).compiler_options["xla_cpu_experimental_ynn_fusion_type"]
    )
    assert fences.fenced(jnp.add, (normal(3), normal(3))).compiler_options == {"xla_allow_excess_precision": False}


@pytest.mark.parametrize(
    "name, exact, low, high",
    [
        ("log1p", np.log1p, -0.99, 0.99),
        ("atan", np.arctan, -0.99, 0.99),
        ("asinh", np.arcsinh, -0.99, 0.99),
        ("acosh", np.arccosh, 1, 50),
        ("atanh", np.arctanh, -0.99, 0.99),
        ("tanh", np.tanh, -10, 10),
        ("sinh", np.sinh, -89.41, 89.41),
        ("sinh", np.sinh, -2, 2),
        ("cosh", np.cosh, -89.41, 89.41),
    ],
)
def test_formulations_are_accurate(name, exact, low, high):
    x = RNG.uniform(low, high, 5000).astype(np.float32)
    want = exact(x.astype(np.float64))
    got = run(getattr(lax, name), x)
    assert np.max(np.abs(got - want) / np.spacing(np.abs(want).astype(np.float32))) < (1.5 if name == "tanh" else 3)
    assert name in ("acosh", "cosh") or np.signbit(run(getattr(lax, name), np.float32([-0.0])))


def test_atan2_in_all_directions():
    edges = np.float32([0.0, -0.0, 1, -1, np.inf, -np.inf, 1e30, 1e-30])
    y, x = (v.ravel() for v in np.meshgrid(edges, edges))
    got, want = run(lax.atan2, y, x), np.arctan2(y, x)
    assert (np.signbit(got) == np.signbit(want)).all() and np.allclose(got, want, rtol=4e-7, atol=0)
