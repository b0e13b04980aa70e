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


@pytest.mark.parametrize("name", ["sub", "sub_", "pow", "clamp_min", "minimum_"])
def test_a_tensor_without_dimensions_is_a_number(name):
    """Where there is no form for a tensor; one that has dimensions or requires a gradient is refused."""
    torch = pytest.importorskip("torch")
    made = []
    for library in (torch, jtensor):
        function = getattr(library, "_foreach_" + name)
        number = library.tensor(2.0, dtype=library.float64)
        made.append([(x.tolist(), str(x.dtype)) for x in function([library.ones(2), library.tensor(3.0)], number)])
        for other, alpha in ((library.ones(1), {}), (library.tensor(2.0, requires_grad=True), {}), (number, {"alpha": 2})):
            with pytest.raises(TypeError):
                function([library.ones(2)], other, **alpha)
    assert made[0] == made[1]
