"""`cat` and `stack` of more tensors than XLA puts together at once: by groups, of any type, in any dimension, with gradients."""
import numpy as np
import pytest

import jtensor as torch

COUNT = 300


def parts(dtype, pending):
    made = [(torch.arange(6).reshape(2, 3) % 4 * (n % 3)).to(dtype) for n in range(COUNT)]
    if not pending:
        for t in made:
            t.tolist()
    return made


@pytest.mark.parametrize("pending", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16], ids=str)
def test_elements(dtype, pending):
    made = parts(dtype, pending)
    arrays = [t.double().numpy() if dtype is torch.bfloat16 else t.numpy() for t in parts(dtype, False)]
    for dim in (0, 1, -1):
        for ours, theirs in ((torch.cat(made, dim), np.concatenate(arrays, dim)), (torch.stack(made, dim), np.stack(arrays, dim))):
            assert ours.dtype is dtype
            np.testing.assert_array_equal(ours.double().numpy() if dtype is torch.bfloat16 else ours.numpy(), theirs)


def test_gradients_of_first_and_second_order_and_forwards():
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    for join in (torch.stack, torch.cat):
        def total(x, join=join):
            return (join([x ** 2 * n for n in range(COUNT)]) ** 2).sum()
        weight = sum(n * n for n in range(COUNT))
        first, = torch.autograd.grad(total(x), x, create_graph=True)
        second, = torch.autograd.grad(first.sum(), x)
        np.testing.assert_allclose(first.detach().numpy(), 4 * weight * x.detach().numpy() ** 3, rtol=1e-12)
        np.testing.assert_allclose(second.numpy(), 12 * weight * x.detach().numpy() ** 2, rtol=1e-12)
        _, tangent = torch.func.jvp(total, (x.detach(),), (torch.ones(2, dtype=torch.float64),))
        np.testing.assert_allclose(tangent.item(), first.sum().item(), rtol=1e-12)


def test_batches_and_the_sums_behind_them():
    x = torch.arange(6.0).reshape(3, 2)
    for join in (torch.stack, torch.cat):
        def total(row, join=join):
            return join([row * n for n in range(COUNT)]).sum()
        assert torch.vmap(total)(x).tolist() == [total(row).item() for row in x]
