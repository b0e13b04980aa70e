"""What is done without a kernel has that kernel's bits, or is declined: each function over unusual numbers, alone and in between."""
import itertools
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jtensor as torch
from jtensor.base import compat, devices, dtypes
from jtensor.ops import gradient, loops
from jtensor.ops.registry import REGISTRY
from jtensor.trace import plan, scalars, spec, tiers
from jtensor.trace.lowering import lower, orders
from jtensor.trace.lowering.flat import flattened
from jtensor.trace.op_by_op import buckets, by_numpy, elementwise, equations, kept, kernels
from jtensor.trace.op_by_op.by_numpy import way
from jtensor.trace.report import REPORT

from .concrete import concrete

GROUPS = {                 # every number of a group meets every other one
    "f": {"usual": [1.0, -1.5, 3e-10, -3e10, 7.0, 0.1], "zeros": [0.0, -0.0, 1.0], "infinite": [np.inf, -np.inf, 2.0, 0.0, 3e38],
          "subnormal": [1e-40, -1e-310, 1.0], "tiny": [1e-30, 1.2e-38, 2e-308, 1e-20], "nan": [np.nan, -np.nan, 1.0, np.inf]},
    "i": {"usual": [0, 1, 2, 77, 100], "extreme": [127, -128, 255, 2**31 - 1, -2**31, 2**63 - 1, -2**63, -1]},
    "b": {"both": [0, 1]}}
BUCKETED = {"f": ("remainder",), "i": ("div",), "u": ("div", "left", "right")}
COMPUTED = "float32", "float64", "int64", "int32", "int8", "uint8", "bool"
MOVED = "float32", "bfloat16", "float16", "complex64", "int64", "bool", "float8_e4m3fn"
ARITHMETIC = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "add twice": lambda a, b: a + 2 * b, "div": lax.div, "neg": lambda a, b: -a,
    "abs": lambda a, b: jnp.abs(a), "sqrt": lambda a, b: lax.sqrt(jnp.abs(a)), "square": lambda a, b: lax.square(a),
    "power": lambda a, b: a**2, "max": lax.max, "min": lax.min, "finite": lambda a, b: lax.is_finite(a),
    "floor": lambda a, b: lax.floor(a), "ceil": lambda a, b: lax.ceil(a),
    "remainder": lambda a, b: lax.rem(a, jnp.where((b == 0) | (b == -1), jnp.full_like(b, 3), b)),
    "left": lambda a, b: lax.shift_left(a, b & 7), "right": lambda a, b: lax.shift_right_arithmetic(a, b & 7),
    "eq": lax.eq, "ne": lax.ne, "lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge,
    "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "not": lambda a, b: lax.bitwise_not(a),
    "largest": lambda a, b: jnp.max(a), "least": lambda a, b: jnp.min(a.reshape(3, -1), 1), "sum": lambda a, b: jnp.sum(a),
    "all": lambda a, b: (a != 0).all(), "any": lambda a, b: (a.reshape(2, -1) != 0).any(0),
    "argmax": lambda a, b: lax.argmax(a.reshape(8, 9), 1, jnp.int64), "argmin": lambda a, b: lax.argmin(a, 0, jnp.int32),
    "running max": lambda a, b: lax.cummax(a.reshape(8, 9), 1), "running min": lambda a, b: lax.cummin(a, reverse=True),
    "sorted": lambda a, b: jnp.sort(a.reshape(8, 9), 0), "sorted with another": lambda a, b: lax.sort((a, b), num_keys=1),
    "sorted by two": lambda a, b: lax.sort((a.reshape(8, 9), b.reshape(8, 9), jnp.arange(72).reshape(8, 9)), num_keys=2),
    "argsort": lambda a, b: jnp.argsort(a, stable=True), "top": lambda a, b: lax.top_k(a.reshape(8, 9), 4),
    "loop": lambda a, b: loops.scan(lambda c, x: (c + x[0] - x[1], (c, x[0] > x[1])), a[:3], (a.reshape(24, 3), b.reshape(24, 3))),
    "loop backwards": lambda a, b: loops.scan(lambda c, x: (jnp.where(x > c, x, c), c == x), a[0], b, reverse=True),
    **{f"to {d}": lambda a, b, d=d: a.astype(d) for d in ("float32", "float64", "int64", "int32", "int8", "uint8", "bool")}}
MOVES = {
    "reshape": lambda a: a.reshape(3, 4), "transpose": lambda a: a.reshape(3, 4).T, "reverse": lambda a: a[::-1],
    "slice": lambda a: a[2:9:3], "column": lambda a: jnp.broadcast_to(a[:, None], (12, 2)), "pad": lambda a: lax.pad(a, a[1], [(1, 2, 0)]),
    "two": lambda a: jnp.concatenate([a, a]), "stack": lambda a: jnp.stack([a, a[::-1], a], 1),
    "tile": lambda a: jnp.tile(a.reshape(3, 4), (2, 3)),
    "inside": lambda a: lax.pad(a, a[0], [(1, 0, 2)]), "where": lambda a: jnp.where(np.arange(12) % 2 == 0, a, a[::-1]),
    "part": lambda a: lax.dynamic_slice(a, (jnp.int64(9),), (5,)), "write": lambda a: lax.dynamic_update_slice(a, a[:3], (jnp.int64(-1),))}


class Both:
    """A function as a kernel and by NumPy."""

    def __init__(self, name, function, arrays):
        avals = [spec.aval(a.shape, dtypes.of_numpy(a.dtype), devices.cpu) for a in arrays]
        self.plan = plan.make(("both ways", name), lambda *arrays: jax.tree.leaves(function(*arrays)), avals)
        self.kernel, self.by_numpy = lower.kernel(self.plan)[0], way(self.plan)

    def agree(self, arrays):
        """Whether NumPy does it with these numbers; if so, it has the kernel's bits."""
        found = self.by_numpy and self.by_numpy.run(arrays)
        if not found:
            return False
        device = self.kernel.device
        expected = self.kernel.run([scalars.zero(device), *[compat.put(a, device) for a in arrays]])
        for a, b in zip(map(np.asarray, expected), found, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert a.tobytes() == b.tobytes(), (self.plan.key, arrays, a, b)
            assert b.flags.c_contiguous and not any(np.shares_memory(b, given) for given in arrays)
        return True


def pairs(numbers, dtype):
    """Each number of a group beside each, in two arrays of 72."""
    with np.errstate(all="ignore"):
        numbers = np.array(numbers).astype(dtype)
    return [np.resize(side, 72) for side in (np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers)))]


@pytest.mark.parametrize("dtype", COMPUTED)
def test_arithmetic(dtype):
    groups = {group: pairs(numbers, dtype) for group, numbers in GROUPS[np.dtype(dtype).kind.replace("u", "i")].items()}
    for name, function in ARITHMETIC.items():
        arrays = next(iter(groups.values()))
        try:
            with compat.x64():
                jax.eval_shape(function, *arrays)
        except TypeError:
            continue
        ways = Both(name, function, arrays)
        done = {group for group, numbers in groups.items() if ways.agree(numbers)}
        if name in BUCKETED.get(np.dtype(dtype).kind, ()):
            assert done == set(groups)
        elif np.dtype(dtype).kind == "f":
            assert "zeros" in done or name in ("div", "max", "min", "largest", "least", "running max", "running min", "top"), name
            assert "usual" in done or name.startswith("to "), name          # -3e10 is in no int32
            assert not done & {"subnormal", "nan"} or name in ("finite", f"to {dtype}")
        else:
            assert done == set(groups)


def test_moves():
    unusual = np.array([0.0, -0.0, np.nan, np.inf, 1e-40, *range(7)])
    for dtype, (name, function) in itertools.product(MOVED, MOVES.items()):
        numbers = (np.arange(12) if dtype in ("int64", "bool") else unusual).astype(dtype)
        assert Both(name, function, [numbers]).agree([numbers]), (dtype, name)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
def test_running_sums_of_whole_numbers(dtype):
    numbers = np.random.default_rng(2).integers(0, 127, (5, 7)).astype(dtype)
    for name, function in {"sum": lax.cumsum, "product": lax.cumprod}.items():
        for axis, reverse in ((0, False), (1, True)):
            ways = Both(("running", name, axis), lambda x, f=function, a=axis, r=reverse: f(x, a, r), [numbers])
            assert ways.agree([numbers]) and not ways.by_numpy.kernels


def test_what_numpy_does_not_do_is_xlas():
    square = np.ones((9, 9), np.float32)
    for name, function in {"cumsum": lambda a: jnp.cumsum(a, 0), "product": lambda a: a @ a,
                           "sorted somehow": lambda a: lax.sort(a, is_stable=False)}.items():
        assert not Both(name, function, [square]).by_numpy
    for shape, axes in (((4096,), (0,)), ((64, 65), (0,)), ((70, 60), (0, 1))):         # a library's sum
        assert not Both("sum", lambda a, axes=axes: a.sum(axes), [np.ones(shape, np.float32)]).by_numpy


def test_rows_that_a_library_adds_up():
    if not orders.are_known():
        pytest.skip("this XLA's library adds up in another order")
    rng = np.random.default_rng(8)
    for length in (33, 64, 65, 255, 256, 300, 500, 513, 1000, 1024):
        rows = -(-4096 // length) + int(rng.integers(0, 40))
        x = (rng.normal(size=(rows, length)) * np.exp2(rng.integers(-9, 9, (rows, length)))).astype(np.float32)
        ways = Both("rows", lambda a: a.sum(1), [x])
        assert ways.agree([x]) and not ways.by_numpy.kernels
        x[0], x[1] = -0.0, 0.0
        assert ways.agree([x]) and not ways.agree([x * np.float32(1e-38)])
    assert Both("longer", lambda a: a.sum(1), [np.ones((4, 1025), np.float32)]).by_numpy.kernels


def test_places():
    rng = np.random.default_rng(5)
    x, i, j, k = rng.normal(size=(7, 5, 6)), rng.integers(0, 5, (4, 3)), rng.integers(0, 5, (4, 1)), rng.integers(0, 5, (7, 5, 2))
    read = {"first": lambda x, i, j, k: x[i], "middle": lambda x, i, j, k: x[:, i], "last": lambda x, i, j, k: x[:, :, i],
            "two": lambda x, i, j, k: x[i, j], "last two": lambda x, i, j, k: x[:, i, j], "apart": lambda x, i, j, k: x[i, :, j],
            "along": lambda x, i, j, k: jnp.take_along_axis(x, k, 2), "clipped": lambda x, i, j, k: x.at[i + 3].get(mode="clip"),
            "filled": lambda x, i, j, k: x.at[i].get(mode="fill")}
    for dtype, (name, function) in itertools.product(("float32", "int64"), read.items()):
        given = [(x * 100).astype(dtype), i, j, k]
        ways = Both(name, function, given)
        assert ways.agree(given) and not ways.by_numpy.kernels
        if dtype == "float32":
            more = rng.normal(size=jax.eval_shape(function, *given).shape).astype(dtype)

            def added(x, i, j, k, more, f=function):
                return jax.linear_transpose(lambda x: f(x, i, j, k), x)(more)[0]
            ways = Both(("add", name), added, [*given, more])
            assert ways.agree([*given, more]) and not ways.by_numpy.kernels
    ways = Both("integers", lambda x, i: x.at[i].add(x[:4, :3, None]), [given[0], i])
    assert ways.agree([given[0], i])
    for rows in (400, 3):                                       # some places come up several times, or all of them often
        table, at, more = (a.astype(t) for a, t in zip((rng.normal(size=(rows, 32)), rng.integers(0, rows, (3, 100)),
                                                       rng.normal(size=(3, 100, 32))), ("f", "l", "f"), strict=True))
        ways = Both(("rows", rows), lambda x, i, m: x.at[i].add(m), [table, at, more])
        assert ways.agree([table, at, more])
    ways = Both("filled", read["filled"], [x, i, j, k])
    assert not ways.agree([x, i + 3, j, k])                     # there is nothing there


def test_places_that_are_written_to():
    """Also to one place twice: what comes last stays."""
    rng = np.random.default_rng(6)
    x, i, j = rng.normal(size=(7, 5, 6)), rng.integers(0, 5, (4, 3)), rng.integers(0, 5, (4, 1))
    write = {"first": lambda x, i, j: x.at[i], "middle": lambda x, i, j: x.at[:, i], "last": lambda x, i, j: x.at[:, :, i],
             "two": lambda x, i, j: x.at[i, j], "last two": lambda x, i, j: x.at[:, i, j], "apart": lambda x, i, j: x.at[i, :, j]}
    for dtype, (name, place) in itertools.product(("float32", "int64", "bool", "complex64", "bfloat16"), write.items()):
        given = [(x * 100).astype(dtype), i, j]
        shape = jax.eval_shape(lambda *given, place=place: place(*given).get(), *given).shape
        for more in (rng.normal(size=shape).astype(dtype), np.ones((), dtype)):
            ways = Both((name, more.ndim), lambda x, i, j, m, f=place: f(x, i, j).set(m, mode="promise_in_bounds"), [*given, more])
            assert ways.agree([*given, more]) and not ways.by_numpy.kernels, (name, dtype)


def test_a_part_of_an_operation_may_have_a_kernel():
    rng = np.random.default_rng(6)
    a, b, bias = (rng.normal(size=shape).astype(np.float32) for shape in ((70, 80), (80, 90), (90,)))
    ways = Both("linear", lambda a, b, bias: jax.nn.softmax(a @ b + bias), [a, b, bias])
    assert ways.agree([a, b, bias]) and len(ways.by_numpy.kernels) == 2           # the product, an exponential


@pytest.mark.parametrize("shape, axes", [
    ((3,), (0,)), ((32,), (0,)), ((33,), (0,)), ((4095,), (0,)), ((31, 5), (0, 1)), ((7, 301), (1,)), ((301, 7), (0,)),
    ((127, 32), (0, 1)), ((5, 65, 3), (0, 1)), ((5, 65, 3), (0, 1, 2)), ((5, 65, 3), (1, 2)), ((2, 3, 40, 2), (0, 2)),
    ((1, 1000, 1), (0, 1, 2)), ((33, 40), (1,)), ((40, 34), (0, 1)), ((35, 2, 50), (0, 1, 2)), ((34, 3, 35), (0, 2))])
def test_sums(shape, axes):
    numbers = np.random.default_rng(len(shape)).normal(size=shape)
    for dtype in ("float32", "float64"):
        x = numbers.astype(dtype)
        ways = Both(("sum", axes), lambda a: a.sum(axes), [x])
        assert ways.agree([x]) and ways.agree([x * 1e30]) and ways.agree([-x * 0]), dtype
        assert not ways.agree([x * 1e-34 if dtype == "float32" else x * 1e-300])        # sums of these may be subnormal
        x[(0,) * len(shape)] = np.nan
        assert not ways.agree([x])


@pytest.mark.parametrize("left, right", [
    ((2, 1, 16), (2, 16, 5)), ((4, 1, 16), (4, 16, 300)), ((4, 1, 300), (4, 300, 16)), ((3, 40, 70), (3, 70, 1)),
    ((2, 1, 1000), (2, 1000, 16)), ((2, 1, 33), (2, 33, 1)), ((2, 3, 1, 64), (2, 3, 64, 9)), ((5, 2, 33), (5, 33, 1))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_products_with_vectors(left, right, dtype):
    rng = np.random.default_rng(8)
    given = [rng.normal(size=shape).astype(dtype) for shape in (left, right)]
    ways = Both(("products", left, right), jnp.matmul, given)
    assert ways.agree(given) and ways.agree([-given[0] * 0, given[1]]) and not ways.by_numpy.kernels
    assert np.allclose(ways.by_numpy.run(given)[0], np.matmul(*given, dtype="float64"), rtol=1e-5, atol=1e-5)
    turned = [given[0], np.ascontiguousarray(given[1].swapaxes(-1, -2))]
    assert Both(("turned", left, right), lambda a, b: a @ b.swapaxes(-1, -2), turned).agree(turned)


def test_attention_to_ever_more_compiles_nothing_new(afresh):
    def step(n):
        torch.manual_seed(n)
        query, keys, values = torch.randn(2, 4, 1, 16), torch.randn(2, 4, n, 16), torch.randn(2, 4, n, 16)
        return (torch.softmax(query @ keys.transpose(-2, -1) / 4, -1) @ values).sum().item()

    for n in range(3, 13):
        step(n)
    before = sum(REPORT.kernels.values()) + sum(REPORT.programs.values())
    found = [step(n) for n in (*range(20, 40), *range(80, 90))]
    assert sum(REPORT.kernels.values()) + sum(REPORT.programs.values()) - before < 10
    with torch.eager():
        assert found == [step(n) for n in (*range(20, 40), *range(80, 90))]


ELEMENTWISE = {
    "f": [jnp.exp, jnp.log, jnp.tanh, jnp.sin, jnp.cos, jnp.log1p, jnp.expm1, lax.rsqrt, lax.logistic, lax.erf, jnp.arctan, jnp.sinh,
          jnp.sign, jnp.round, lambda a: a**2.5, lambda a: jnp.arctan2(a, a + 1), lambda a: jnp.clip(a, -1, 2),
          lambda a: jnp.where(a > 0.5, a, jnp.exp(a)), lambda a: a.astype(np.int32)],
    "c": [jnp.exp, jnp.log, jnp.tanh, jnp.conj, lambda a: a.real * 2j, lambda a: a / (a + 1)],
    "i": [lambda a: a // 3, lambda a: a % 5, lambda a: a.astype(np.float32).astype(np.int64) + 1, lax.population_count]}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "complex64", "int64"])
def test_elementwise_functions_on_any_shape(dtype):
    """Several in one operation: a kernel for the shape, and one for a power of two."""
    kind = "f" if dtype == "bfloat16" else np.dtype(dtype).kind
    rng = np.random.default_rng(3)
    for shape in ((5, 3), (17, 19)):
        x = (rng.normal(size=shape) * 3 + (rng.normal(size=shape) * 1j if kind == "c" else 0)).astype(dtype)
        if kind == "f":
            x.flat[:9] = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40, 6e-8, 6e4, -1]
        for at in range(0, len(ELEMENTWISE[kind]), 4):
            ways = Both(("each", shape, at), lambda a, at=at: [function(a) for function in ELEMENTWISE[kind][at:at + 4]], [x])
            assert ways.agree([x]) and ways.agree([x[::-1]])


def test_a_bucket_has_room_for_every_shape_up_to_a_power_of_two(afresh):
    before = sum(REPORT.kernels.values())
    for n in range(129, 257, 9):
        x = torch.full((2, n), 0.375)
        assert torch.erfinv(x).unique().tolist() == [torch.erfinv(torch.tensor(0.375)).item()]
    assert sum(REPORT.kernels.values()) - before <= 4


def test_scripts_whose_shapes_never_come_again_compile_next_to_nothing(afresh):
    def step(n):
        x = torch.arange(n, dtype=torch.float32)
        y = torch.cat([x, x * 2 + 1])[::2]
        y[1:] -= y[:-1].clone()
        return (y > 1).sum().item() + y.max().item()

    for n in range(3, 13):
        step(n)
    before = sum(REPORT.kernels.values()) + sum(REPORT.programs.values())
    found = [step(n) for n in range(20, 30)]
    assert sum(REPORT.kernels.values()) + sum(REPORT.programs.values()) - before < 10
    with torch.eager():
        assert found == [step(n) for n in range(20, 30)]


def test_what_an_operation_computes_on_the_way_counts_as_work(afresh):
    """All differences of 200 rows are a thousand times the rows; by NumPy they take as long as a kernel's compilation."""
    rows = spec.aval((200, 20), dtypes.float32, devices.cpu)
    found = plan.make("differences", lambda a: (abs(a.T[:, :, None] - a.T[:, None]).sum(0),), [rows])
    assert by_numpy.of(found).elements > 200 * 200 * 20 and by_numpy.of(found).done([np.ones((200, 20), np.float32)], []) is not None
    little = plan.make("little", lambda a: (a + 1,), [rows])
    assert by_numpy.of(little).elements == by_numpy.CALL + little.elements()


def test_a_single_number_among_arrays_is_no_array(afresh):
    x, number = np.full(5, 0.5, np.float32), np.full((), 0.5, np.float32)
    for given in ([x, x], [x, number], [number, x]):
        assert Both(("power", *(a.ndim for a in given)), lax.pow, given).agree(given)


def test_kernels_are_forgotten_and_made_again(afresh, monkeypatch):
    monkeypatch.setattr(equations.KERNELS, "limit", 2)
    monkeypatch.setattr(kernels.KERNELS, "limit", 3)
    kernels.KERNELS.clear()
    made = []
    with torch.eager():
        for _ in range(2):
            made.append([(torch.ones(n, 9) @ torch.full((9, n), 0.5)).softmax(0).logsumexp(0).erfinv().nan_to_num().tolist()
                         for n in (65, 80, 90, 100)])
            assert len(equations.KERNELS) <= 2 and len(kernels.KERNELS) <= 3
    assert made[0] == made[1]


def test_kernels_tell_constants_by_every_element(afresh):
    x, one = np.ones((40, 40), np.float32), np.zeros((40, 40), np.float32)
    another = one.copy()
    another[20, 20] = 1                                         # where NumPy's text of an array has dots
    for constant in (one, another):
        assert Both(("product", constant[20, 20]), lambda a, c=constant: a @ jnp.asarray(c) + 1, [x]).agree([x])
    for number in (0.0, 1e-40, -0.0):
        assert Both(("power", repr(number)), lambda a, n=number: lax.pow(a, jnp.full_like(a, n)) / n, [x]).agree([x])


def test_kernels_are_begun_before_anything_runs(afresh, monkeypatch):
    there, run = [], equations.Shared.done
    monkeypatch.setattr(equations.Shared, "done", lambda self, arrays: there.append(len(equations.KERNELS)) or run(self, arrays))
    monkeypatch.setattr(tiers, "PROGRAM_COST", 1e9)
    x = torch.full((67, 71), 0.5)
    y = torch.addmm(torch.ones(67), x, x.t())
    assert torch.addmm(torch.ones(71), y, x)[0, 0].item() == (71 * 0.25 + 1) * 67 * 0.5 + 1 and there == [2, 2]
    made = threading.Event()
    kept.Kept(1).begin("one", lambda: (made.set(), "compiled"))
    assert made.wait(60)


def test_a_kernel_that_failed_is_made_anew():
    some, made = kept.Kept(2), []

    def make():
        made.append(len(made))
        if len(made) < 3:
            raise KeyboardInterrupt if len(made) == 1 else RuntimeError
        return len(made), "compiled"
    with pytest.raises(KeyboardInterrupt):
        some.get("one", make)
    with pytest.raises(RuntimeError):
        some.get("one", make)
    assert some.get("one", make) == some.get("one", make) == 3 and len(some) == 1


def plan_on(operator, shape, dtype, inplace=False):
    """A plan of an operator on tensors of one shape and type; None if it takes none."""
    try:
        return concrete(operator, shape, dtype, inplace)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return None


@pytest.mark.filterwarnings("ignore:Casting from complex to real dtypes", "ignore:invalid value encountered in cast")
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int64, dtypes.bool, dtypes.complex64, dtypes.bfloat16])
def test_the_equations_of_elementwise_operators_are_those_of_any_shape(dtype):
    """An operator that was traced on one shape is not traced again on another: what that would have given is what is made of the first."""
    compared, planes = 0, ((2, 3), (0, 2), (3, 2)) if dtype is dtypes.float32 else ()
    for operator in REGISTRY.operators.values():
        for inplace in (False, True) if operator.inplace else (False,):
            for shape in ((5,),) if inplace else ((0,), (5,), (7,), (1,), *planes):
                plan = plan_on(operator, shape, dtype, inplace)
                if plan is not None and plan.elementwise:
                    told, traced = elementwise.graph_of(plan), plan.jaxpr()
                    assert equations.text(told) == equations.text(flattened(traced)), (operator, shape)
                    assert [(a.shape, a.dtype.numpy) for a in plan.outputs] == [(a.shape, a.dtype) for a in traced.out_avals]
                    compared += buckets.is_elementwise(told)
    assert compared > 100


def test_so_are_those_of_their_gradients():
    compared = 0
    for operator in REGISTRY.operators.values():
        for shape in ((5,), (7,), (2, 3), (3, 2)):
            plan = plan_on(operator, shape, dtypes.float32)
            if plan is None or not plan.elementwise or not plan.outputs[0].dtype.is_floating_point or len(plan.outputs) > 1:
                continue
            try:
                backward = gradient.backward_plan(plan, tuple(range(len(plan.inputs))), (0,))
                traced = backward.jaxpr()
            except (RuntimeError, NotImplementedError, AttributeError, KeyError, TypeError, ValueError):
                continue                                    # it has no gradient
            told = elementwise.graph_of(backward)
            assert equations.text(told) == equations.text(flattened(traced)), (operator, shape)
            compared += bool(backward.elementwise) and buckets.is_elementwise(told)
    assert compared > 100


def test_numbers_made_of_bits_are_looked_at():
    def bits(rows):
        x = torch.tensor([1, 0x00400000, 0x7FC00001, 0x3F800000], dtype=torch.int32).repeat(rows)
        y = (x.view(torch.float32)[1:] * 1.5).reshape(-1)
        z = torch.full((4 * rows - 1,), float("nan"))[1:] + torch.cat([y[2:], y[:1]])
        return (y * 0.75).view(torch.int32).tolist(), z.view(torch.int32).tolist()

    lazily = [bits(rows) for rows in (1, 2, 3)]
    with torch.eager():
        assert [bits(rows) for rows in (1, 2, 3)] == lazily
