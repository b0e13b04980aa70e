"""Names with an underscore, and others that PyTorch does not document, which programs of others use all the same."""
import io

import pytest

import jtensor


def lists(library):
    return [library.tensor([1.0, 2.0]), library.tensor([[3.0], [4.5]])], [library.tensor([2.0, 0.5]), library.tensor([[1.0], [2.0]])]


CALLS = [
    lambda f, a, b: f("add")(a, b), lambda f, a, b: f("add_")(a, b, alpha=2), lambda f, a, b: f("add")(a, [1, 2.5]),
    lambda f, a, b: f("add")(a, b[0][0], alpha=3), lambda f, a, b: f("sub_")(a, 2), lambda f, a, b: f("mul_")(a, b[0]),
    lambda f, a, b: f("div")(a, b), lambda f, a, b: f("pow")(2.0, a), lambda f, a, b: f("pow")(a, [2, 3]),
    lambda f, a, b: f("lerp_")(a, b, 0.25), lambda f, a, b: f("lerp")(a, b, [0.5, 0.1]), lambda f, a, b: f("lerp")(a, b, b),
    lambda f, a, b: f("addcmul")(a, b, b, value=0.5), lambda f, a, b: f("addcdiv_")(a, b, b, [1, 2]),
    lambda f, a, b: f("addcmul_")(a, b, b, b[0]), lambda f, a, b: f("addcdiv")(a, b, b, b[1]), lambda f, a, b: f("norm")(a),
    lambda f, a, b: f("norm")(a, float("inf")), lambda f, a, b: f("max")(a), lambda f, a, b: f("powsum")(a, 3),
    lambda f, a, b: f("sqrt_")(a), lambda f, a, b: f("exp")(a), lambda f, a, b: f("sigmoid")(tuple(a)), lambda f, a, b: f("neg_")(a),
    lambda f, a, b: f("maximum")(a, b), lambda f, a, b: f("clamp_max_")(a, [2.0, 1]), lambda f, a, b: f("clamp_min")(a, 2),
    lambda f, a, b: f("copy_")(a, b), lambda f, a, b: f("zero_")(a), lambda f, a, b: f("clone")(a),
    lambda f, a, b: f("mm")(a[1:], [b[0][None]]), lambda f, a, b: f("exp")([]), lambda f, a, b: f("add")(a, b[:1]),
    lambda f, a, b: f("add")(a, [1.0]), lambda f, a, b: f("exp_")(a[0]), lambda f, a, b: f("exp")([1, 2]),
    lambda f, a, b: f("add")(a, [1, b[0][0]]),
    lambda f, a, b: f("sub")(a, b[0].sum(), alpha=2) and None, lambda f, a, b: f("mul")([a[0].requires_grad_()], 3)[0].sum().backward(),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_operations_on_lists_of_tensors(number):
    torch = pytest.importorskip("torch")

    def told(library):
        a, b = lists(library)
        try:
            answer = CALLS[number](lambda name: getattr(library, "_foreach_" + name), a, b)
        except Exception as error:
            return type(error), str(error).partition(".")[0]
        return type(answer), str(answer), answer is a, str(a), str(a[0].grad)
    assert told(jtensor) == told(torch)


def test_a_name_that_is_no_operation_on_lists():
    with pytest.raises(AttributeError, match="no attribute '_foreach_nothing'"):
        jtensor._foreach_nothing


def test_names_that_models_and_optimizers_import():
    from jtensor import _inductor
    from jtensor._utils import _flatten_dense_tensors, _unflatten_dense_tensors
    from jtensor.nn.modules.transformer import _get_activation_fn, _get_clones
    from jtensor.optim.optimizer import ParamsT, _default_to_fused_or_foreach, _get_value, _use_grad_for_differentiable
    parts = [jtensor.arange(4.0).view(2, 2), jtensor.ones(3)]
    flat = _flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 1, 2, 3, 1, 1, 1]
    assert [one.tolist() for one in _unflatten_dense_tensors(flat, parts)] == [one.tolist() for one in parts]
    assert len(_get_clones(jtensor.nn.ReLU(), 2)) == 2 and _get_activation_fn("gelu") is jtensor.nn.functional.gelu
    assert _get_value(jtensor.tensor(3.0)) == 3 and _default_to_fused_or_foreach(parts, False) == (False, False) and ParamsT

    class Plain(jtensor.optim.Optimizer):
        @_use_grad_for_differentiable
        def step(self, closure=None):
            return jtensor.is_grad_enabled()
    weight = jtensor.ones(2, requires_grad=True)
    assert [Plain([weight], {"differentiable": one}).step() for one in (False, True)] == [False, True]
    _inductor.config.coordinate_descent_tuning = True
    assert jtensor.autograd.variable.Variable is jtensor.autograd.Variable
    jtensor._assert(jtensor.tensor(True), "true")
    with pytest.raises(AssertionError, match="^no$"):
        jtensor._assert(0, "no")


def test_a_file_is_placed_by_the_function_that_pytorch_places_by():
    from jtensor.serialization import default_restore_location
    file = io.BytesIO()
    jtensor.save(jtensor.ones(2), file)
    file.seek(0)
    assert jtensor.load(file, map_location=lambda storage, place: default_restore_location(storage, "cpu")).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        default_restore_location(jtensor.ones(1).untyped_storage(), "somewhere")


def test_switches_of_what_is_not_there():
    assert (jtensor._C._jit_set_profiling_mode(False), jtensor._C._jit_set_profiling_mode(True)) == (True, False)
    assert jtensor._C._get_tracing_state() is jtensor._C._log_api_usage_once("x") is None


def test_a_constructor_of_old_refuses_a_tensor_of_another_type():
    torch = pytest.importorskip("torch")
    told = []
    for library in jtensor, torch:
        with pytest.raises(TypeError) as refused:
            library.FloatTensor(library.LongTensor([1]))
        told.append(str(refused.value))
    assert told[0] == told[1]
