"""Products and sums by the kernels of larger ones: the bits are those of kernels of their own size, and of fused programs."""
import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.trace import padded
from jtensor.trace.executable import is_consistent
from tests.trace import padded_bits

pytestmark = pytest.mark.skipif(not is_consistent(), reason="this XLA does not add up in one order")


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
        total, part = np.zeros((5, 60), np.float32), np.zeros((5, 60), np.float32)
        for k in range(length):
            # in double precision the product is exact and the sum all but always, so that it is rounded once
            part = (x[:, k:k + 1].astype(np.float64) * y[k] + part).astype(np.float32)
            if k % padded.CHAIN == padded.CHAIN - 1 or k == length - 1:
                total, part = total + part, np.zeros_like(part)
        right = torch.from_numpy(np.ascontiguousarray(y.T)).t() if turned else torch.from_numpy(y)
        assert np.array_equal((torch.from_numpy(x) @ right).numpy(), total)


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
