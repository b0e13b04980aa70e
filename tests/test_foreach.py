"""``torch._foreach_...``: what hand-written optimizers call, beside PyTorch's."""
import pytest

import jtensor
from jtensor import _foreach

LISTS = "x = [torch.tensor([0.5, 0.75]), torch.tensor([[0.25], [0.125]])]; y = [t + 0.5 for t in x]; k = torch.tensor(0.5)"
LINES = """
    torch._foreach_add(x, 1.5), torch._foreach_add(x, [1.0, 2.0]), torch._foreach_add(x, y, alpha=2), torch._foreach_add(x, k)
    torch._foreach_sub(x, y), torch._foreach_mul(x, y), torch._foreach_div(x, 2), torch._foreach_pow(x, 2), torch._foreach_pow(2.0, x)
    torch._foreach_maximum(x, 0.5), torch._foreach_minimum(x, y), torch._foreach_clamp_max(x, 0.5), torch._foreach_clamp_min(x, [0.5, 0.2])
    torch._foreach_addcmul(x, x, y), torch._foreach_addcdiv(x, x, y, 0.5), torch._foreach_addcmul(x, x, y, [1.0, 2.0])
    torch._foreach_addcdiv(x, x, y, torch.tensor([1.0, 2.0])), torch._foreach_lerp(x, y, 0.25), torch._foreach_lerp(x, y, y)
    torch._foreach_norm(x), torch._foreach_norm(x, 1), torch._foreach_norm(x, float("inf"), dtype=torch.float64), torch._foreach_max(x)
    torch._foreach_abs(x), torch._foreach_sqrt(x), torch._foreach_neg(x), torch._foreach_sigmoid(x), torch._foreach_reciprocal(x)
    torch._foreach_mul_(x, 2) is x, x
    torch._foreach_add_(x, y, alpha=-1), torch._foreach_lerp_(x, y, 0.5), torch._foreach_addcmul_(x, x, y, 2), x
    torch._foreach_maximum_(x, 0.6), torch._foreach_sqrt_(x), torch._foreach_copy_(x, y), torch._foreach_zero_(y), x, y
    torch._foreach_clone(x)[0] is x[0], torch._foreach_add(x, [k, k])
    torch._foreach_add(x, [1.0])
    torch._foreach_add(x, y[:1])
    torch._foreach_add([], 1)
    torch._foreach_abs(1)
    torch._foreach_lerp(x, y[:1], 0.5)
    torch._foreach_add(x, torch.ones(2))
    torch._foreach_addcmul(x, x, y, torch.ones(3))
    torch._foreach_add(x, [1, k])
"""


@pytest.mark.parametrize("line", [line.strip() for line in LINES.strip().splitlines()])
def test_as_in_pytorch(line):
    torch = pytest.importorskip("torch")
    found = []
    for lib in (jtensor, torch):
        names = {"torch": lib}
        exec(LISTS, names)
        try:
            found.append(repr(eval(line, names)))
        except (RuntimeError, TypeError) as error:
            found.append((type(error), str(error).splitlines()[0]))
    assert found[0] == found[1]


def test_every_function_is_pytorchs():
    torch = pytest.importorskip("torch")
    assert {name for name in dir(torch) if name.startswith("_foreach_")} == set(_foreach.FUNCTIONS)

