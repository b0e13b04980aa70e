"""A module called with other tensors gives what PyTorch gives, and is as before afterwards."""
import importlib

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
    models = [library.nn.Linear(1, 1) for _ in range(2)]
    models[0].bias.requires_grad_(False)
    with pytest.raises(RuntimeError, match="Expected bias from each model to have the same .requires_grad"):
        library.func.stack_module_state(models)


# -- the older way ----------------------------------------------------------------------------------------------------


@pytest.fixture
def older(library):
    return importlib.import_module(library.__name__ + "._functorch.make_functional")


def test_a_module_made_a_function(library, older):
    model = library.nn.Sequential(library.nn.Linear(2, 2), library.nn.ReLU())
    function, parameters = older.make_functional(model)
    x = library.ones(1, 2)
    assert function.param_names == ("0.weight", "0.bias") and parameters[0] is not model[0].weight
    assert library.equal(function(parameters, x), model(x))
    found = library.func.grad(lambda p: function(p, x).sum())([library.eye(2), library.zeros(2)])
    assert found[0].tolist() == [[1, 1], [1, 1]] and model[0].weight.grad is None
    assert [p.requires_grad for p in older.make_functional(model, disable_autograd_tracking=True)[1]] == [False, False]
    with pytest.raises(RuntimeError, match="meta"):
        function.stateless_model(x)
    with pytest.raises(RuntimeError, match="Please use make_functional_with_buffers"):
        older.make_functional(library.nn.BatchNorm1d(2))


def test_ties_and_buffers_of_a_function(library, older):
    model = tied(library)
    function, parameters, buffers = older.make_functional_with_buffers(model)
    assert (function.param_names, function.buffer_names) == (("a.weight",), ("count",))
    assert function([2 * library.eye(2)], buffers, library.ones(2)).tolist() == [4, 4]
    assert buffers[0].item() == 1 and model.count.item() == 0


def test_an_ensemble(library, older):
    models = [library.nn.Linear(2, 1) for _ in range(3)]
    function, parameters, buffers = older.combine_state_for_ensemble(models)
    x = library.ones(2)
    assert library.equal(library.vmap(function, in_dims=(0, 0, None))(parameters, buffers, x), library.stack([m(x) for m in models]))
    assert [tuple(p.shape) for p in parameters] == [(3, 1, 2), (3, 1)] and not parameters[0].requires_grad and buffers == ()
    for wrong, text in (([], "at least one model"), ([models[0], library.nn.ReLU()], "same class"),
                        ([models[0], library.nn.Linear(1, 1).eval()], "same training/eval mode")):
        with pytest.raises(RuntimeError, match=text):
            older.combine_state_for_ensemble(wrong)


def test_new_parameters_and_modules_below_themselves(library):
    """A parameter under a name that the module lacks is one of its for the call; a module may hold itself where no names are tied."""
    class Named(library.nn.Linear):
        def forward(self, x):
            return super().forward(x).item(), [name for name, _ in self.named_parameters()]

    model, x, one = Named(1, 1), library.ones(1), library.ones(1)
    given = {"weight": library.ones(1, 1), "bias": one, "extra": library.nn.Parameter(one)}
    assert library.func.functional_call(model, given, x) == (2, ["weight", "bias", "extra"])
    assert not hasattr(model, "extra")
    assert library.func.functional_call(model, {**given, "extra": one}, x) == (2, ["weight", "bias"])
    model.again = model
    assert library.func.functional_call(model, {"again.weight": one.view(1, 1), "bias": one * 2}, x, tie_weights=False)[0] == 3


def test_older_names_warn_in_pytorchs_words():
    older = importlib.import_module("jtensor._functorch.deprecated")
    for name, called, now in (("vmap", older.vmap, "torch.vmap"), ("grad", older.grad, "torch.func.grad"),
                              ("jacrev", older.jacrev, "torch.func.jacrev"),
                              ("make_functional", lambda _: older.make_functional(jtensor.nn.Linear(1, 1)), "torch.func.functional_call")):
        with pytest.warns(FutureWarning) as caught:
            called(jtensor.sin)
        said, = [str(one.message) for one in caught]
        assert said.startswith(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is ")
        assert said.endswith(f"Please use `{now}` instead; see the PyTorch 2.0 release notes and/or the `torch.func` migration guide for "
                             "more details https://pytorch.org/docs/main/func.migrating.html")


def test_torch_func_where_functorch_looks_for_it():
    apis, transforms, norms = [importlib.import_module(f"jtensor._functorch.{name}") for name in (
        "apis", "eager_transforms", "batch_norm_replacement")]
    x = jtensor.arange(10.0).reshape(5, 2)
    for chunks in (1, 2, 3, 7):
        assert apis.chunk_vmap(jtensor.sum, chunks=chunks)(x).tolist() == [1, 5, 9, 13, 17]
    made = apis.chunk_vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=1)(x, x[:, 0])
    assert jtensor.equal(made, x * x[:, :1])
    norm = jtensor.nn.Sequential(jtensor.nn.BatchNorm1d(2))
    norms.replace_all_batch_norm_modules_(norm)
    assert norm[0].running_mean is None and apis.grad is jtensor.func.grad and transforms.hessian is jtensor.func.hessian
