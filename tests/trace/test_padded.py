"""Products and sums by the kernels of larger ones: the bits are those of kernels of their own size, and of fused programs."""
import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.trace.lowering import orders

from . import padded_bits


@pytest.fixture(autouse=True)
def known():
    if not orders.are_known():
        pytest.skip("this XLA, or this processor's, adds up in another order")


def test_random_sizes():
    draws, compared = np.random.default_rng(7), 0
    while compared < 24:
        text, function, arrays = padded_bits.case(draws)
        found = padded_bits.differ(function, arrays)
        assert not found, text
        compared += found is not None


def test_a_product_is_a_chain_of_multiply_adds():
    draws = np.random.default_rng(3)
    for length, turned in ((300, False), (1100, True)):
        x, y = draws.normal(size=(5, length)).astype(np.float32), draws.normal(size=(length, 60)).astype(np.float32)
        right = torch.from_numpy(np.ascontiguousarray(y.T)).t() if turned else torch.from_numpy(y)
        assert np.array_equal((torch.from_numpy(x) @ right).numpy(), orders.product(x, y))


def test_where_a_library_adds_up_otherwise_nobody_counts_on_it(monkeypatch):
    """What this processor's library does is compared first."""
    def kernel():
        return padded_bits.kernel(lambda x: (jax.lax.reduce_sum(x, (1,)),), [np.ones((64, 2000), np.float32)])
    assert kernel()
    for name in ("row_sums", "product"):
        with monkeypatch.context() as patch:
            given = getattr(orders, name)
            patch.setattr(orders, name, lambda *arrays, given=given: np.nextafter(given(*arrays), np.float32(np.inf)))
            orders.are_known.cache_clear()
            assert not orders.are_known() and not kernel()
    orders.are_known.cache_clear()
    assert kernel()


def test_fused_and_op_by_op():
    draws = np.random.default_rng(4)
    for rows, length, columns in ((37, 50, 20), (19, 513, 70), (70, 33, 130)):
        x, w = (torch.from_numpy(draws.normal(size=shape).astype(np.float32)) for shape in ((rows, length), (columns, length)))

        def step(x=x, w=w, columns=columns):
            y = (x * 1.5) @ w.t()
            return (y.sum(1) + (y @ w[:, :columns]).exp().sum(1)).tolist()
        fused = [step() for _ in range(4)][-1]
        with torch.eager():
            assert step() == fused


def test_one_kernel_serves_many_sizes():
    def product(x, y):
        return (jax.lax.dot_general(x, y, (((1,), (1,)), ((), ())), precision="highest"),)

    names = set()
    for rows in range(33, 49):
        arrays = [np.ones((rows, 40), np.float32), np.ones((24, 40), np.float32)]
        found = padded_bits.kernel(product, arrays)
        names.add(found.name)
        assert found.run(arrays)[0].tolist() == [[40.0] * 24] * rows
    assert len(names) == 1


def test_vectors_and_other_types_are_left_alone():
    def product(x, y):
        return (jax.lax.dot_general(x, y, (((1,), (0,)), ((), ())), precision="highest"),)

    def kernel(rows, length, columns, dtype=np.float32):
        return padded_bits.kernel(product, [np.ones((rows, length), dtype), np.ones((length, columns), dtype)])
    assert kernel(20, 30, 40)
    assert not kernel(1, 30, 40) and not kernel(20, 30, 1) and not kernel(20, 30, 40, np.float64) and not kernel(20, 600, 40)
