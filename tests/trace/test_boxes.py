"""Writes of large slices: operations on whole arrays with the same bits, in few loops, and what is read again put into memory."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jtensor
from jtensor.base import compat
from jtensor.trace import executor
from jtensor.trace.lowering import boxes, fences, flat


def graph_of(function, *avals):
    with jax.enable_x64(True):
        return flat.flattened(jax.make_jaxpr(function)(*avals))


def opened(function, *avals, **how):
    """The names of the equations that are left, the way, and how many results are kept."""
    graph = boxes.opened(graph_of(function, *avals), **how)
    return [e.name for e in graph.equations], graph.boxes, sum(e.kept for e in graph.equations)


def write(base, new, *starts):
    return lax.dynamic_update_slice(base, new, [np.int64(at) for at in starts])


FLOATS, INTEGERS = jax.ShapeDtypeStruct((20, 20), "float32"), jax.ShapeDtypeStruct((20, 20), "int32")
PART = jax.ShapeDtypeStruct((18, 20), "float32")


def test_which_writes_become_operations_on_the_whole_array():
    def shifted(u):
        return write(u, u[2:] + u[:-2], 1, 0)

    def rounds(u):
        return shifted(shifted(u))

    def in_place(u):
        return write(u, u[1:-1] * u[1:-1], 1, 0)

    def neighbours(n, g):
        n = write(n, n[1:] + g[:-1], 1, 0)
        n = write(n, g[:, 1:] + n[:, :-1], 0, 0)
        return write(n, n[:, 1:] - g[:, :-1], 0, 1)

    names, way, kept = opened(shifted, FLOATS)
    assert way == boxes.MASKED and names.count("pad") == 1 and "dynamic_update_slice" not in names and kept == 0
    names, way, kept = opened(rounds, FLOATS)
    assert way == boxes.MASKED and names.count("select_n") == 2 and kept == 1       # the first is read twice by the second
    names, way, _ = opened(in_place, FLOATS)
    assert way == boxes.PADDED and "slice" not in names and "pad" not in names      # the slice in the same place is the array
    assert opened(in_place, FLOATS, briefly=True)[1] == boxes.HURRIED
    names, way, kept = opened(neighbours, INTEGERS, INTEGERS)
    assert way == boxes.PADDED and names.count("pad") == 3 and "select_n" not in names and kept == 0
    assert opened(lambda u: shifted(u) + u.sum(), FLOATS)[1] == boxes.PADDED        # sums are not compiled swiftly
    for left in (lambda u, v: write(u, v * 2, 1, 0), lambda u, v: write(u, v[2:3] + u[:1], 1, 0),
                 lambda u, v: lax.dynamic_update_slice(u, u[2:] * 2, [v[0, 0].astype(np.int64), np.int64(0)])):
        assert opened(left, FLOATS, PART)[1] is None


def test_what_is_read_from_where_it_was_written_is_not_looked_for_in_the_array():
    def rounds(u, k):
        for _ in range(3):
            u = write(u, u[1:-1, 1:-1] @ k, 1, 1)
        return u
    names, way, _ = opened(rounds, FLOATS, jax.ShapeDtypeStruct((18, 18), "float32"))
    assert way is None and names == ["slice", "dot_general", "dot_general", "dot_general", "dynamic_update_slice"]


def test_writes_one_into_another_end_in_memory():
    """XLA's emitters take a time that grows exponentially with their number: for these sixteen it would be a quarter of an hour."""
    def rounds(u, v, count=16):
        for at in range(count):
            u = write(fences.mark(jnp.sin(u + v[at, 0]) * 0.5), v[:1, :1], at, 0)
        return u
    assert opened(rounds, FLOATS, FLOATS)[2] == 8 and opened(lambda u, v: rounds(u, v, 1), FLOATS, FLOATS)[2] == 0
    assert opened(rounds, FLOATS, FLOATS, briefly=True)[2] == (0 if compat.has_option(boxes.EMITTERS) else 8)
    given = [np.float32([[1, 2], [3, 4]]) / at for at in (1, 3)]
    with jax.enable_x64(True):
        alone = given[0]
        for at in (0, 1):
            alone = lax.dynamic_update_slice(jnp.sin(alone + given[1][at, 0]) * 0.5, given[1][:1, :1], [at, 0])
        made = fences.of_graph(graph_of(lambda u, v: rounds(u, v, 2), *given))
        together = jax.jit(made.program).lower(np.uint32(0), *given).compile(made.compiler_options)(np.uint32(0), *given)
    np.testing.assert_allclose(together[0], alone, rtol=1e-6)


def heat(T, u):
    for _ in range(6):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u[0, :] = 1.0
        u[:, -1] = 0.0
    return u


def life(T, g):
    g = (g * 3).to(T.int32)
    for _ in range(4):
        n = T.zeros_like(g)
        n[1:, :] += g[:-1, :]
        n[:, :-1] += g[:, 1:]
        n[1:, 1:] += g[:-1, :-1]
        n[:-1, 1:] -= g[1:, :-1]
        g[:] = 0
        g[(n == 3) | (n == 2)] = 1
    return g


def waves(T, u):
    v, w = u.clone(), u * 1e-40             # subnormal: what is not written to stays as it is
    for _ in range(3):
        u[1:] -= v[:-1] * 0.5
        v[:, 1:] += u[:, 1:] * (u[:, 1:] - u[:, :-1])
        w[1:-1] = -w[1:-1] / (1 + v[:-2])
        w[1:, 1:] = w[:-1, :-1].clone()
        w[1:-1, 1:-1] = v[1:-1, 1:-1] @ u[1:-1, 1:-1] * 0.01
        v[2:] = u[2:].sum()
    return T.stack([u, v, w])


def mixed(T, u):
    b, x = u > 0.5, u.to(T.bfloat16)
    for _ in range(3):
        b[1:] |= b[:-1].clone()
        b[:, 1:] &= ~b[:, :-1]
        x[:, :-2] += x[:, 2:] * 2
        x[:, :-2] += x[:, 1:-1].abs()
    return x + b


@pytest.mark.parametrize("program", [heat, life, waves, mixed])
def test_loops_of_slice_writes_give_the_bits_of_their_operators(program, settled):
    torch = pytest.importorskip("torch")
    numbers = np.random.default_rng(0).random((20, 20)).astype(np.float32)
    expected = program(torch, torch.tensor(numbers))
    with jtensor.eager():
        alone = program(jtensor, jtensor.tensor(numbers)).float().numpy()
    np.testing.assert_allclose(alone, expected.float().numpy(), rtol=1e-5, atol=1e-6)
    for _ in range(3):
        executor.flush("a new start")
        together = program(jtensor, jtensor.tensor(numbers)).float().numpy()
        assert together.tobytes() == alone.tobytes()


def test_every_way_gives_the_same_bits():
    def program(u, n):
        for _ in range(3):
            u = write(u, fences.mark(fences.mark(u[2:] * 0.3) + u[:-2]), 1, 0)
            u = write(u, fences.mark(u[:, 1:] / n[0, 0].astype(np.float32)), 0, 1)
            n = write(n, n[1:] + n[:-1], 1, 0)
        return [u, n]
    rng = np.random.default_rng(1)
    given = [np.uint32(0), rng.standard_normal((20, 20)).astype(np.float32), rng.integers(1, 9, (20, 20)).astype(np.int32)]
    found = []
    with jax.enable_x64(True):
        for options in ({}, {boxes.EMITTERS: False})[:1 + compat.has_option(boxes.EMITTERS)]:
            for briefly in (False, True):
                made = fences.of_graph(graph_of(program, FLOATS, INTEGERS), briefly)
                compiled = jax.jit(made.program).lower(*given).compile({**made.compiler_options, **options})
                found.append([np.asarray(x).tobytes() for x in compiled(*given)])
    assert len(set(map(tuple, found))) == 1


def test_what_is_computed_and_read_many_times_is_put_into_memory():
    """As what is before a depthwise convolution: each of its shifted products would compute it anew."""
    def windows(u, computed=True, times=9):
        padded = jax.numpy.pad(u * u if computed else u, 1)
        return sum(padded[at:at + 70, at:at + 70] for at in range(times))
    large, small = jax.ShapeDtypeStruct((80, 80), "float32"), jax.ShapeDtypeStruct((20, 20), "float32")
    assert opened(windows, large)[2] == 1 and opened(lambda u: windows(u, times=3), large)[2] == 0
    assert opened(lambda u: windows(u, computed=False), large)[2] == 0
    assert opened(lambda u: sum(jax.numpy.pad(u * u, 1)[at:at + 10] for at in range(9)), small)[2] == 0

    def chain(u, factor):
        v, total = u * u, 0.0
        for at in range(9):
            total += (v * factor(u, at)).sum()
        return total
    assert opened(lambda u: chain(u, lambda u, at: u[at, 0] * u), large)[2] == 1
    assert opened(lambda u: sum(u * u * (u * u + at) for at in range(9)), large)[2] == 0      # one loop does all of it
