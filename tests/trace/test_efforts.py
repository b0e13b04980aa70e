"""What is asked of XLA for a program (`executable`): its efforts, which tell in no bit, and what is always asked."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jtensor
from jtensor.base import compat, malloc
from jtensor.trace import programs
from jtensor.trace.lowering import executable, fences
from jtensor.trace.lowering.executable import compile_program

from .conftest import avals

pytestmark = pytest.mark.usefixtures("jax_stays_as_it_was")
SURE = "promise_in_bounds"
FUNCTIONS = [jnp.tan, jnp.arctan, jnp.cbrt, jnp.exp, jnp.tanh, jax.scipy.special.erf,
             lambda a: jnp.cumprod(jax.lax.complex(a, -a)[:, :9], 1), lambda a: a.var(1), lambda a: jax.nn.softmax(a, 1),
             lambda a: jnp.arctan(jax.lax.complex(a, -a)), jnp.log, jax.nn.sigmoid, jnp.cos, lambda a: abs(a) ** a,
             lambda a: a @ a.T, lambda a: a[:, :9].sum(1), lambda a: a * a + a]


def test_bits_do_not_depend_on_the_effort():
    draws = np.random.default_rng(0)
    x = (draws.normal(size=(37, 290)) * np.exp(draws.uniform(-3, 3, (37, 290)))).astype(np.float32)
    zero = np.zeros((), np.uint32)

    def compiled(function, effort):
        return compile_program(fences.fenced(function, avals(x)).program, avals(zero, x), effort=effort).run([zero, x])

    everything = compiled(lambda a: [fences.mark(f(a)) for f in FUNCTIONS], "all")
    for f, expected in zip(FUNCTIONS, everything, strict=True):
        for effort in ("kernel", "brief", "rough"):
            alone, = compiled(lambda a, f=f: [fences.mark(f(a))], effort)
            assert np.asarray(alone).tobytes() == np.asarray(expected).tobytes(), (f, effort)


@pytest.mark.parametrize("inputs, kernel, padding", [
    ((1, 3, 101), (2, 101, 1), 0), ((2, 3, 101), (3, 101, 1), 0), ((2, 36, 3), (1, 3, 4), 0), ((1, 12, 16), (2, 16, 16), 0),
    ((33, 5, 2), (1, 2, 8), 0), ((16, 3, 64), (5, 64, 8), 2), ((4, 12, 16), (3, 16, 3), 1)], ids=str)
def test_bits_of_a_convolution_do_not_depend_on_the_effort(inputs, kernel, padding):
    """Of few places or with a kernel larger than the picture XLA makes loops of its own, of a kernel of one element a matrix product."""
    draws, zero = np.random.default_rng(0), np.zeros((), np.uint32)
    x, w = draws.normal(size=inputs).astype(np.float32), draws.normal(size=kernel).astype(np.float32)

    def conv(x, w):
        return [fences.mark(jax.lax.conv_general_dilated(x, w, (1,), [(padding,) * 2], dimension_numbers=("NWC", "WIO", "NWC")))]
    fenced = fences.fenced(conv, avals(x, w))
    found = {np.asarray(compile_program(fenced.program, avals(zero, x, w), options=fenced.compiler_options, effort=effort).run(
        [zero, x, w])[0]).tobytes() for effort in ("all", "kernel", "brief", "rough")}
    assert len(found) == 1


@pytest.mark.parametrize("pick", [lambda x, i: x[:, i], lambda x, i: x[i], lambda x, i: x[i[::-1, None], i]],
                         ids=["columns", "rows", "both"])
def test_bits_of_a_product_with_what_was_picked_do_not_depend_on_the_effort(pick):
    """XLA picks columns as rows of a transpose and may multiply by that, which adds up in another order."""
    draws, zero = np.random.default_rng(0), np.zeros((), np.uint32)
    x, y = draws.normal(size=(2, 71, 71)).astype(np.float32)
    i = draws.permutation(71).astype(np.int32)
    picked = np.ascontiguousarray(pick(x, i))

    def product(p, y):
        return [fences.mark(jnp.matmul(p, y, precision="highest"))]

    def compiled(function, arguments, effort):
        fenced = fences.fenced(function, avals(*arguments))
        made, = compile_program(fenced.program, avals(zero, *arguments), options=fenced.compiler_options, effort=effort).run(
            [zero, *arguments])
        return np.asarray(made)
    alone = compiled(product, [picked, y], "kernel")
    for effort in ("all", "kernel", "brief", "rough"):
        together = compiled(lambda x, i, y: product(fences.mark(pick(x, i)), y), [x, i, y], effort)
        np.testing.assert_array_equal(together, alone, effort)


@pytest.mark.parametrize("write", [lambda p, z, i: z.at[:, i].set(p, mode=SURE), lambda p, z, i: z.at[i].set(p, mode=SURE),
                                   lambda p, z, i: z.at[:, i].add(p, mode=SURE)],
                         ids=["columns", "rows", "added"])
def test_bits_of_a_product_do_not_depend_on_where_it_is_written(write):
    """XLA writes columns as rows of a transpose, for which it would multiply the transposes."""
    draws, zero = np.random.default_rng(0), np.zeros((), np.uint32)
    x, y = draws.normal(size=(2, 71, 71)).astype(np.float32)
    i = draws.permutation(71).astype(np.int32)

    def written(p, i):
        return [fences.mark(write(p, jnp.zeros_like(p), i))]

    def compiled(function, arguments, effort="kernel"):
        fenced = fences.fenced(function, avals(*arguments))
        made, = compile_program(fenced.program, avals(zero, *arguments), options=fenced.compiler_options, effort=effort).run(
            [zero, *arguments])
        return np.asarray(made)

    def product(x, y):
        return fences.mark(jnp.matmul(x, y, precision="highest"))
    alone = compiled(written, [compiled(lambda x, y: [product(x, y)], [x, y]), i])
    for effort in ("all", "brief", "rough"):
        together = compiled(lambda x, y, i: written(product(x, y), i), [x, y, i], effort)
        np.testing.assert_array_equal(together, alone, effort)


def test_what_is_always_asked_of_xla_stands_beside_what_a_program_asks():
    x = np.ones(3, np.float32)
    jaxpr = jax.make_jaxpr(jnp.add)(x, x)
    brief = executable.options_of("brief", jaxpr)
    both = executable._settings(executable._always(jaxpr, None), brief, {"xla_allow_excess_precision": False})
    assert both["xla_allow_excess_precision"] is False and both.items() >= {(k, v) for k, v in brief.items() if k != executable._EXTRA}
    if executable.efforts():
        assert {"xla_cpu_disable_tiled_emitter", *brief[executable._EXTRA]} == set(both[executable._EXTRA])
        assert executable._always(jaxpr, None)[executable._EXTRA] == ("xla_cpu_disable_tiled_emitter",)


def test_memory_for_what_is_there_for_a_time_is_taken_in_pieces():
    """Where it is more than one piece, unless a single value is (XLA would warn), or it may be so much that it had better be given back."""
    def asked(rows, values, dtype=np.float32):
        x = jax.ShapeDtypeStruct((rows << 10, 256), dtype)                     # a MB a row of float32
        jaxpr = jax.make_jaxpr(lambda x: functools.reduce(lambda y, _: jnp.sin(y), range(values), x).sum())(x)
        return executable._in_pieces(jaxpr).get(executable._CONSTRAINT)
    piece = malloc.LARGEST
    assert asked(20, 4) == asked(60, 4) == piece and asked(20, 2) is asked(61, 4) is None
    assert asked(60, 4, jnp.bfloat16) == piece and asked(61, 4, jnp.bfloat16) is None           # which XLA computes in float32
    assert asked(40, executable._VERY_MUCH // (40 << 20) + 1) is None


def test_a_program_that_takes_much_at_once_is_kept_and_gets_pieces_when_it_has_run_often(monkeypatch):
    """XLA serialises a program only if it takes its memory as one block; in pieces it gives the same bits."""
    x, v, w = jtensor.rand(5_000_000, 2), jtensor.rand(2, 2), jtensor.rand(2, 2)

    def step():
        return ((x @ v) * (x @ w)).sum().item()
    monkeypatch.setitem(programs.FEW, "brief", 2)
    monkeypatch.setattr(programs, "IN_FULL", 0.0)
    made, build = [], programs.build

    def noted(*args, **kwargs):
        found = build(*args, **kwargs)
        made.append(found[0])
        return found
    monkeypatch.setattr(programs, "build", noted)
    first = step()
    program = next(one for one in made if one.executable.temporary() > malloc.LARGEST)
    assert program.due and program.executable.dump()
    before = program.executable
    assert [step() for _ in range(5)] == [first] * 5
    assert program.left == 0 and not program.executable.portable and program.executable.instead is before
    assert program.executable.dump() == before.dump()


def test_a_program_that_gets_all_effort_is_kept_as_that(monkeypatch):
    """Not as the hurried one that it follows."""
    x = jtensor.rand(300)
    monkeypatch.setitem(programs.FEW, "brief", 2)
    monkeypatch.setitem(programs.FEW, "rough", 2)
    monkeypatch.setattr(programs, "worth", lambda *args: {"brief": 3})
    made, build = [], programs.build
    monkeypatch.setattr(programs, "build", lambda *args, **kwargs: made.append(build(*args, **kwargs)) or made[-1])
    for _ in range(8):
        ((x.exp() * 3.25 - x.tanh()) / 1.75).sum().item()
    program = made[-1][0]
    assert program.due == 3 and program.left == 0 and program.executable.portable and program.executable.instead is None


def test_a_program_that_sorts_can_be_kept_when_it_has_run():
    """XLA's own serialisation refuses it then."""
    jaxpr = jax.make_jaxpr(lambda x: jax.lax.sort((x, x * 2), num_keys=1))(np.zeros((4, 3), np.float32))
    made = compile_program(jaxpr, [])
    x = compat.put(np.arange(12, dtype=np.float32).reshape(4, 3)[:, ::-1].copy())
    first = made.run([x])[1]
    again = compat.load(made.dump())
    np.testing.assert_array_equal(again.run([x])[1], first)


def test_few_features_leave_a_convolution_to_the_library():
    """The last layer of a network that draws pictures has one or three; it need not make a whole program slow to compile."""
    x, w = np.ones((4, 8, 8, 16), np.float32), np.ones((3, 3, 16, 1), np.float32)
    jaxpr = jax.make_jaxpr(lambda x, w: jax.lax.conv_general_dilated(
        x, w, (1, 1), [(1, 1)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")))(x, w)
    assert executable.possible(["brief"], jaxpr) == ("brief" if executable.efforts() else "all")


@pytest.mark.parametrize("shape, axes", [((40, 80), (0, 1)), ((40, 2, 40), (0, 1, 2)), ((40, 2, 41), (0, 2)), ((64, 100), (0, 1)),
                                         ((2, 3, 28, 28), (0, 2, 3)), ((33, 2, 5), (0, 1, 2)), ((64, 5), (0, 1)),
                                         ((64, 3, 2), (0, 1, 2))], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_bits_of_a_sum_over_several_axes_do_not_depend_on_the_effort(shape, axes, dtype):
    zero = np.zeros((), np.uint32)
    with jax.enable_x64(True):
        xs = [np.random.default_rng(seed).normal(size=shape).astype(dtype) for seed in range(3)]
        fenced = fences.fenced(lambda x: [fences.mark(x.sum(axes)), fences.mark((x * x).sum(axes))], avals(xs[0]))
        programs = [compile_program(fenced.program, avals(zero, xs[0]), effort=effort) for effort in ("all", "kernel", "brief", "rough")]
        assert executable.possible(["brief"], jax.make_jaxpr(fenced.program)(zero, xs[0])) == ("brief" if executable.efforts() else "all")
    for x in xs:
        first, *others = [[np.asarray(made) for made in program.run([zero, x])] for program in programs]
        assert all(one.tobytes() == other.tobytes() for found in others for one, other in zip(first, found, strict=True))
        np.testing.assert_allclose(first[0], x.sum(axes), rtol=1e-5, atol=1e-4)


def test_the_emitters_stay_where_they_would_change_bits():
    x = np.ones(3, np.float32)
    nested = jax.make_jaxpr(jax.jit(lambda a: jax.lax.cond(a[0] > 0, jnp.tan, jnp.sin, a)))(x)
    for effort in executable.efforts():
        others = executable.options_of(effort, jax.make_jaxpr(jnp.exp)(x)).get(executable.EMITTERS)
        assert others is (False if compat.has_option(executable.EMITTERS) else None)
        assert executable.EMITTERS not in executable.options_of(effort, nested)
    assert executable.options_of("all", nested) == {}


def test_a_kernel_leaves_short_rows_in_loops_and_large_arrays_to_the_emitters():
    if not executable.efforts():
        pytest.skip("one effort for all")
    picture, large = jnp.ones((8, 16, 7, 7)), jnp.ones(1 << 16)
    unrolled, emitted = "xla_cpu_disable_loop_unrolling", executable.EMITTERS
    either = compat.has_option(emitted)                 # whether loops can be others than the emitters'
    short = executable.options_of("kernel", jax.make_jaxpr(jnp.exp)(picture))
    assert unrolled in short[executable._EXTRA] and (emitted in short) == either
    long = jax.make_jaxpr(lambda x: functools.reduce(lambda total, _: total * x + 1, range(8), jnp.log(x)))
    assert emitted not in executable.options_of("kernel", long(large))
    assert (emitted in executable.options_of("kernel", long(picture))) == either
    assert executable.options_of("kernel", jax.make_jaxpr(jnp.sum)(picture)) == ({emitted: False} if either else {})
