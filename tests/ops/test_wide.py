"""Arrays that are reduced to few long rows are added up row by row: the same bits however they are run."""
import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.base import compat
from jtensor.trace import executor
from jtensor.trace.lowering import barriers, fences
from jtensor.trace.lowering.flat import flattened

SHAPE = 37, barriers.WIDE + 3
ROWS = np.random.default_rng(3).normal(size=SHAPE).astype(np.float32)
CALLS = {
    "sum": lambda x: x.sum(0), "mean": lambda x: x.mean(0), "amax": lambda x: x.amax(0), "amin": lambda x: x.amin(0),
    "softmax": lambda x: x.softmax(0), "short": lambda x: x[:9].softmax(0),
    "of a chain": lambda x: (x * 3 + 1).exp().sum(0), "after two": lambda x: (x[:20] * x[17:]).sum(0) * 0.5 + 1,
    "of three axes": lambda x: x.reshape(1, *SHAPE).sum((0, 1)), "bias": lambda x: torch.ones(SHAPE[1], requires_grad=True).add(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_bits_are_the_same_fused_and_op_by_op(name):
    def run():
        found = CALLS[name](torch.from_numpy(ROWS.copy()))
        if found.requires_grad:
            found, = torch.autograd.grad((found * found).sum(), found.grad_fn.next_functions[0][0].variable)
        return found.numpy().copy()
    with torch.eager():
        alone = run()
    executor.flush("a new start")
    assert (run() == alone).all() and (run() == alone).all()


def test_values():
    x, wide = torch.from_numpy(ROWS.copy()), ROWS.astype(np.float64)
    np.testing.assert_allclose(x.sum(0).numpy(), wide.sum(0), rtol=0, atol=3e-6)
    assert (x.amax(0).numpy() == ROWS.max(0)).all() and (x.amin(0).numpy() == ROWS.min(0)).all()
    np.testing.assert_allclose(x.double().sum(0).numpy(), wide.sum(0), rtol=0, atol=1e-14)


def test_zeros_and_numbers_that_are_none():
    x = torch.from_numpy(ROWS.copy())
    x[:, 5], x[3, 7], x[2, 9], x[4, 9] = -0.0, float("nan"), float("inf"), -float("inf")
    total, most = x.sum(0).numpy(), x.amax(0).numpy()
    assert total[5] == 0 and not np.signbit(total[5])                  # as PyTorch adds up
    assert np.isnan(total[[7, 9]]).all() and np.isnan(total).sum() == 2
    assert np.isnan(most[7]) and np.isnan(most).sum() == 1 and most[9] == np.inf


@pytest.mark.skipif(compat.default_device().platform != "cpu", reason="accelerators have no such library")
def test_the_library_does_not_get_them():
    """Nor do rows so many or so short change their order."""
    def kinds(name, *shape):
        executor.flush("a new start")
        getattr(torch.zeros(shape), name)(0)
        plan = executor.LOCAL.segment.nodes[-1][0]
        with jax.enable_x64(True):
            return {e.primitive.name for e in fences.of_graph(flattened(plan.jaxpr())).jaxpr().eqns}
    for name, primitive in (("amax", "reduce_max"), ("amin", "reduce_min"), ("sum", "reduce_sum")):
        assert primitive not in kinds(name, *SHAPE) and primitive in kinds(name, SHAPE[0], barriers.WIDE)
        assert "cond" in kinds(name, *SHAPE)                            # what is read for each row is made but once
    axes = (1,)
    assert barriers.is_wide((3, *SHAPE), np.float32, axes) and not barriers.is_wide((4, *SHAPE), np.float32, axes)
    assert not barriers.is_wide(SHAPE, np.int32, (0,)) and not barriers.is_wide(SHAPE, np.float32, (1,))
