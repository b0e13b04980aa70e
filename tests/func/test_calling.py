"""A module called with other tensors gives what PyTorch gives, and is as before afterwards."""
import pytest

import jtensor


def tied(library):
    class Tied(library.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = library.nn.Linear(2, 2, bias=False)
            self.b = library.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight
            self.register_buffer("count", library.zeros(()))

        def forward(self, x):
            self.count.add_(1)
            return self.b(self.a(x))
    return Tied()


@pytest.fixture(params=["jtensor", "torch"])
def library(request):
    return jtensor if request.param == "jtensor" else pytest.importorskip("torch")


def test_given_tensors_take_the_places_and_get_the_gradients(library):
    model = library.nn.Linear(1, 1)
    before = model.weight
    w = library.full((1, 1), 3.0, requires_grad=True)
    out = library.func.functional_call(model, ({"weight": w}, {"bias": library.ones(1)}), (library.full((1,), 2.0),))
    out.backward()
    assert out.item() == 7 and w.grad.item() == 2 and model.weight is before and before.grad is None


def test_ties_and_buffers(library):
    model = tied(library)
    given = {"a.weight": 2 * library.eye(2), "count": library.full((), 5.0)}
    x = library.ones(2)
    assert library.func.functional_call(model, given, x).tolist() == [4, 4]
    assert given["count"].item() == 6 and model.count.item() == 0
    both = {"a.weight": 2 * library.eye(2), "b.weight": 3 * library.eye(2)}
    with pytest.raises(ValueError, match="functional_call got multiple values for keys"):
        library.func.functional_call(model, both, x)
    assert library.func.functional_call(model, both, x, tie_weights=False).tolist() == [6, 6]


def test_errors(library):
    model = library.nn.Linear(1, 1)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        library.func.functional_call(model, ({"weight": 1}, {"weight": 2}), library.ones(1))
    with pytest.raises(RuntimeError, match="Missing key"):
        library.func.functional_call(model, {"weight": library.ones(1, 1)}, library.ones(1), strict=True)
    with pytest.raises(AttributeError):
        library.func.functional_call(model, {"nobody.weight": library.ones(1, 1)}, library.ones(1))
    library.func.functional_call(model, {"nothing": library.ones(1, 1)}, library.ones(1))
    assert not hasattr(model, "nothing")


def test_stacked_state(library):
    parameters, buffers = library.func.stack_module_state([library.nn.BatchNorm1d(2) for _ in range(3)])
    assert parameters["weight"].shape == (3, 2) and parameters["weight"].is_leaf and parameters["weight"].requires_grad
    assert buffers["num_batches_tracked"].tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="at least one model"):
        library.func.stack_module_state([])
