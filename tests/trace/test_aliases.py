"""Results that lie where an input lay: they wait for what reads the input, or get a buffer of their own; no number changes."""
import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.trace.lowering import aliases, fences, flat

LARGE, SMALL = jax.ShapeDtypeStruct((64, 64), "float32"), jax.ShapeDtypeStruct((2, 2), "float32")


def arranged(function, pairs, aval=LARGE, count=3):
    graph = flat.flattened(jax.make_jaxpr(function)(*[aval] * count))
    return aliases.arrange(graph, pairs), [e.name for e in graph.equations for _ in e.after]


def test_what_a_result_depends_on_needs_no_waiting():
    assert arranged(lambda w, x, g: (w - x @ w,), [(0, 0)]) == ([(0, 0)], [])
    assert arranged(lambda w, x, g: (w - g, x @ g), [(0, 0)]) == ([(0, 0)], [])


def test_an_update_waits_for_whoever_else_reads_the_old_one():
    assert arranged(lambda w, x, g: (x @ w, w - g), [(0, 1)]) == ([(0, 1)], ["sub"])
    assert arranged(lambda w, x, g: (x @ w.T, w @ x, w - g), [(0, 2)]) == ([(0, 2)], ["sub"] * 3)     # the transpose, and both products


def test_what_cannot_wait_gets_a_buffer_of_its_own():
    def late(w, x, g):
        new = w - g
        return new, w @ new                     # the old one is read when the new one is there
    assert arranged(late, [(0, 0)]) == ([], [])
    assert arranged(lambda w, x, g: (x @ w, w - g), [(0, 1)], SMALL) == ([], [])       # a small one is copied as fast
    assert arranged(lambda w, x, g: (x @ w, w), [(0, 1)]) == ([], [])                  # nothing is made


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "int16", "bool", "float8_e5m2", "uint8"])
def test_waiting_changes_no_number(dtype):
    """Whatever is waited for: negative numbers, NaN, truth."""
    random = np.random.default_rng(3)
    with jax.enable_x64(True):
        w, g = (jax.numpy.asarray(random.standard_normal((80, 80)) - 1).astype(dtype) for _ in range(2))
        w = w.at[0, 0].set(w.dtype.type(-1) if w.dtype.kind in "ib" else np.nan) if w.dtype.kind != "u" else w

        def step(w, g):
            return w[::-1], w[:0], (w != w), jax.numpy.where(w == w, w, g)
        graph = flat.flattened(jax.make_jaxpr(step)(w, g))
        made = fences.of_graph(graph, donated=[(0, 3)])
        assert made.donated == [(0, 3)] and any(e.after for e in graph.equations)
        for got, expected in zip(jax.jit(made.program)(np.uint32(0), w, g), step(w, g), strict=True):
            assert np.asarray(got).tobytes() == np.asarray(expected).tobytes()


def test_training_steps_have_the_bits_of_their_operations():
    """The middle layer's weight is read for the gradient that it hands on, and written over."""
    def losses():
        torch.manual_seed(5)
        nn = torch.nn
        net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        x, found = torch.randn(16, 64), []
        for _ in range(6):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found, [p.tolist() for p in net.parameters()]

    fused = losses()
    with torch.eager():
        assert fused == losses()
