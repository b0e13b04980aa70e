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


def test_values_for_the_elements_that_a_mask_chooses():
    """Written on the host, so that no program is compiled for each number of them; what is not ordinary takes the long way."""
    def seen(torch):
        mask, rows = torch.tensor([[True, False, True], [False, True, True]]), torch.tensor([True, True])
        many, none = torch.arange(4.0) + 10, torch.zeros(2, 3, dtype=torch.bool)
        writes = {
            "all": lambda x: x.__setitem__(mask, many), "rows": lambda x: x.__setitem__(rows, torch.ones(2, 3)),
            "one each": lambda x: x.__setitem__(rows, torch.ones(2, 1)), "too few": lambda x: x.__setitem__(mask, many[:3]),
            "too many": lambda x: x.__setitem__(mask, torch.ones(5)), "one": lambda x: x.__setitem__(mask, many[:1]),
            "none": lambda x: x.__setitem__(none, torch.ones(0)), "none of some": lambda x: x.__setitem__(none, many),
            "type": lambda x: x.__setitem__(mask, torch.arange(4)), "part of itself": lambda x: x.__setitem__(mask, x.flatten()[1:5]),
            "its own": lambda x: x.__setitem__(mask, x[mask] * 2), "mask of itself": lambda x: x.__setitem__(x > 2, x[x > 2] + 1),
            "with history": lambda x: x.__setitem__(mask, many.clone().requires_grad_() * 2),
            "shape": lambda x: x.__setitem__(torch.tensor([True, False, True]), torch.ones(2, 3))}
        targets = {
            "plain": lambda: torch.arange(6.0).reshape(2, 3), "turned": lambda: torch.arange(6.0).reshape(3, 2).t(),
            "a part": lambda: torch.arange(12.0).reshape(4, 3)[1:3],
            "history": lambda: torch.zeros(2, 3, requires_grad=True) * 1, "leaf": lambda: torch.zeros(2, 3, requires_grad=True),
            "numpy": lambda: torch.from_numpy(torch.arange(6.0).reshape(2, 3).numpy()), "mask": lambda: torch.zeros(2, 3, dtype=torch.bool)}
        found = {}
        for (target, make), (name, write) in itertools.product(targets.items(), writes.items()):
            x = make()
            base = x._base if x._is_view() else x
            try:
                write(x)
                error = None
            except Exception as raised:
                error = type(raised).__name__, str(raised).partition("\n")[0].partition(" (Triggered")[0]
            found[target, name] = error, x.tolist(), x._version, base.tolist(), x.requires_grad, x.stride()
        with torch.no_grad():
            leaf = torch.zeros(2, 3, requires_grad=True)
            leaf[mask] = many
            found["leaf without history"] = leaf.tolist(), leaf._version, leaf.is_leaf
        return found
    torch = pytest.importorskip("torch")
    ours, theirs = seen(jtensor), seen(torch)
    for case in theirs:
        assert ours[case] == theirs[case], case


def test_masks_that_choose_another_number_each_time_compile_nothing():
    report = jtensor.report()
    x = jtensor.arange(50.0)
    for n in range(2, 20):
        if n == 5:
            before = report.programs["compiled"] + report.kernels["compiled"]
        x[x % n == 0] += 1
        x[x > n] = x[x > n] * 0.5
    assert x.sum().item() > 0
    assert report.programs["compiled"] + report.kernels["compiled"] - before <= 4
