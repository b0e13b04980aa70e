"""Lists of `torch._foreach_...` that do not go together are refused in PyTorch's words."""
import pytest

import jtensor


@pytest.mark.parametrize("name", ["add", "mul_", "clamp_max", "maximum_", "pow", "sub"])
@pytest.mark.parametrize(("count", "other"), [(0, 0), (1, 0), (0, 1), (1, 2), (1, [1, 2]), (0, [1.5]), (2, [])])
def test_lists_that_do_not_go_together(name, count, other):
    torch = pytest.importorskip("torch")
    errors = []
    for library in (torch, jtensor):
        with pytest.raises(RuntimeError) as caught:
            second = [library.ones(1)] * other if isinstance(other, int) else other
            getattr(library, "_foreach_" + name)([library.ones(1)] * count, second)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
