"""Index tensors in the ordinary case, and batched products: the short way answers what the long one does."""
import itertools

import pytest

import jtensor


def answers(torch, statement):
    try:
        made = statement()
    except Exception as error:
        return type(error).__name__, str(error)
    history = made.grad_fn.name() if made.grad_fn is not None else None
    return made.tolist(), tuple(made.shape), made.stride(), made._version, made._is_view(), made.requires_grad, history


def test_tensors_along_dimensions_that_follow_each_other():
    def seen(torch):
        x = torch.arange(60.0).reshape(3, 4, 5)
        items = [torch.tensor([0, 2, 1]), torch.tensor([2, -1, 0]), torch.tensor([[0, -5]]), slice(None), slice(1, None)]
        pairs = list(itertools.product(items, repeat=2))
        found = [answers(torch, lambda: x[i, j]) for i, j in pairs]         # noqa: B023
        found += [answers(torch, lambda: x[:, i, j]) for i, j in pairs[:3]]         # noqa: B023
        found += [answers(torch, lambda: torch.zeros(3, 0, 5)[i, :, j]) for i, j in pairs]       # noqa: B023
        return [*found, answers(torch, lambda: x.clone().requires_grad_()[pairs[1]]), answers(torch, lambda: x.transpose(0, 2)[pairs[1]])]
    torch = pytest.importorskip("torch")
    for ours, theirs in zip(seen(jtensor), seen(torch), strict=True):
        assert ours == theirs


def test_batched_products_with_and_without_a_history():
    def seen(torch):
        def numbers(*size):
            return torch.arange(float(jtensor.Size(size).numel())).reshape(size) % 7 - 3
        left = [numbers(4, 2, 3), numbers(3, 1, 2, 3), numbers(4, 3, 2).transpose(1, 2)]
        right = [numbers(4, 3, 5), numbers(3, 5), numbers(4, 2, 2)]
        found = []
        for a, b in itertools.product(left, right):
            for grad in (False, True):
                a.requires_grad_(grad)
                found.append(answers(torch, lambda: a @ b))         # noqa: B023
        return found
    torch = pytest.importorskip("torch")
    assert seen(jtensor) == seen(torch)


def test_bounds_of_slices_are_integers():
    def seen(torch):
        x = torch.arange(6.0)
        bounds = [1.5, object(), [1], torch.tensor(2), torch.tensor(2.0), torch.tensor([1, 2]), torch.tensor(True), True]
        return [answers(torch, lambda: x[:b]) for b in bounds] + [answers(torch, lambda: x[b::2]) for b in bounds]          # noqa: B023
    torch = pytest.importorskip("torch")
    assert seen(jtensor) == seen(torch)
