"""Loops inside of operations: the kernels that serve many numbers of rounds have the bits of the operation's own."""
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jtensor as torch
from jtensor.ops import loops
from jtensor.trace.op_by_op import looped
from jtensor.trace.report import REPORT

from .test_by_numpy import Both

LOOPS = {               # of (weights, a state, rows)
    "a product": lambda w, h, x: loops.scan(lambda h, x: (jnp.tanh(jnp.matmul(h, w, precision="highest") + x), h), h, x),
    "backwards": lambda w, h, x: loops.scan(lambda h, x: (h * jnp.exp(-x), (h, x > h)), h, x, reverse=True),
    "no rows": lambda w, h, x: loops.scan(lambda h, _: (jnp.exp(h) / 3, h), h, None, length=len(x)),
    "nothing kept": lambda w, h, x: loops.scan(lambda h, x: (jnp.log(abs(h) + x * x + w[0, 0]), ()), h, x)}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_any_length(afresh, name):
    """One kernel up to sixteen rounds, and one for each power of two."""
    rng = np.random.default_rng(9)
    w = rng.normal(size=(5, 5)).astype(np.float32)
    names = set()
    for length in (2, 3, 15, 16, 17, 30, 32, 70):
        h, x = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 5), (length, 4, 5)))
        ways = Both((name, length), LOOPS[name], [w, h, x])
        assert ways.agree([w, h, x])
        h[0, :3], x[-1, 0, 0] = [np.nan, 1e-40, np.inf], -0.0
        assert ways.agree([w, h, x])
        names.update(kernel.name for kernel in ways.by_numpy.kernels)
    assert len(names) == 3


def test_a_loop_of_many_rounds_has_a_kernel():
    x = np.ones((9, 9), np.float32)
    ways = Both("many rounds", lambda a: loops.scan(lambda c, x: (c + x, c), a[0, 0], jnp.zeros(9000, a.dtype)), [x])
    assert ways.agree([x]) and len(ways.by_numpy.kernels) == 1


def test_a_loop_whose_name_does_not_say_all_of_it_has_none(afresh, monkeypatch):
    x, more = np.ones((4, 3), np.float32), jnp.arange(3, dtype=np.float32)

    def loop(x):
        def row(h, x):
            return lax.cond(x[0] > 0, lambda h: jnp.exp(h) + more, jnp.log, h), h
        return loops.scan(row, x[0], x)
    ways = Both("a choice in it", loop, [x])
    assert ways.agree([x]) and ways.by_numpy.kernels
    inside = jax.make_jaxpr(lambda h: h + more)(x[0])
    assert len(inside.consts) == 1 and looped._has_constants(types.SimpleNamespace(params={"branches": (inside,)}))
    monkeypatch.setattr(looped, "_has_constants", lambda equation: True)
    assert not Both("a choice in it, again", loop, [x]).by_numpy


def test_recurrent_layers_of_any_length_compile_nothing_new(afresh):
    def step(layer, n):
        torch.manual_seed(n)
        made = layer(torch.randn(n, 3, 4))[0]
        made.square().sum().backward()
        return made.sum().item(), layer.weight_hh_l0.grad.norm().item()

    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        torch.manual_seed(0)
        layer = kind(4, 6)
        with torch.eager():
            for n in (17, 18, 20, 23):                          # their other operations are known from here on (`sizes`)
                step(layer, n)
            before = sum(REPORT.kernels.values())
            for n in (19, 21, 25, 29, 31):
                step(layer, n)
            assert sum(REPORT.kernels.values()) - before <= 2 * 5, kind      # small products, and none of the layer
