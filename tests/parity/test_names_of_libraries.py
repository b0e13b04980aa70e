"""Private names and small rooms of PyTorch that libraries import: they are there, and do what they do there."""
import contextlib
import importlib
import inspect

import pytest

import jtensor

ROOMS = """utils._foreach_utils utils._triton _vmap_internals quantization utils.tensorboard utils.tensorboard.writer
           utils.tensorboard.summary utils.data._utils.pin_memory autograd.profiler_util cuda._memory_viz cuda.comm
           _dynamo.config _C._distributed_c10d""".split()
LINES = """
    torch.cuda._initialized, torch.cuda._lazy_call(lambda: 1 / 0)
    torch._dynamo.config.suppress_errors, torch.autograd._is_checkpoint_valid(), torch.autograd.forward_ad._current_level
    room("distributed.distributed_c10d")._rank_not_in_group(None)
    room("distributions.multivariate_normal")._precision_to_scale_tril(torch.eye(2) * 4)
    room("optim.lbfgs")._cubic_interpolate(t(0.0), t(1.0), t(-1.0), t(1.0), t(0.5), t(0.3))
    room("optim.lbfgs")._strong_wolfe(value, t([1.0, 2.0]), 1.0, t([-1.0, -2.0]), 5.0, t([2.0, 4.0]), t(-10.0))
    sorted(map(str, grouped([[t(1.0), t(2.0).double(), t(3.0)], [t(4.0), None, t(5.0)]], True).items()))
    grouped([[t(1.0), t(2.0)], []])
    room("utils._foreach_utils")._has_foreach_support([t(1.0), None], torch.device("cpu"))
    room("utils._foreach_utils")._get_fused_kernels_supported_devices(), room("utils._triton").has_triton()
    room("_vmap_internals")._vmap(lambda x: x.sum())(torch.ones(2, 3))
    room("utils.data._utils.pin_memory").pin_memory({"a": ["b", 1], "c": (2, b"d")})
    torch.StorageBase, issubclass(torch.UntypedStorage, torch.StorageBase), issubclass(torch.TypedStorage, torch.StorageBase)
    room("amp.autocast_mode")._cast((q, [q.double()], "a", {"k": q}), "cpu", torch.bfloat16), torch.autograd._profiler_enabled()
    torch._segment_reduce(torch.arange(4.0), "sum", offsets=torch.tensor([0, 1, 4]), initial=0), torch.backends.fp32_precision
    p._cdata == p._cdata, p._cdata == p.detach()._cdata
    repr(type("Mine", (torch.nn.Parameter,), {"__repr__": lambda self: "mine"})(torch.ones(2))), torch.quantization.QuantStub()(t(1.0))
    str(type("Mine", (torch.nn.Parameter,), {"__repr__": lambda self: "mine"})(torch.ones(2)))
    [getattr(y.grad_fn, "_saved_dim") for y in (p.softmax(0), torch.cat([p, p], -1), p.sum(-1), p.amax(0), p.cumsum(-1))]
    (p * 2).grad_fn._saved_other, (p / 2).grad_fn._saved_other, (p ** 2).grad_fn._saved_exponent
    "_saved_flips" in dir(torch.mm(p.view(1, 2), p.view(2, 1)).grad_fn)
    fw.unpack_dual(fw.make_dual(p.detach(), q)).tangent is q, q.add_(1) is q, fw.unpack_dual(fw.make_dual(p.detach(), q) * 2).tangent
"""


@pytest.mark.parametrize("name", ROOMS)
def test_rooms_are_there(name):
    assert importlib.import_module(f"jtensor.{name}").__name__ == f"jtensor.{name}"


def told(lib, line):
    def value(x, t, d):
        return float(((x + t * d) ** 2).sum()), 2 * (x + t * d)
    fw = lib.autograd.forward_ad
    with fw.dual_level() if "fw." in line else contextlib.nullcontext():
        lists = importlib.import_module(f"{lib.__name__}.utils._foreach_utils")
        return repr(eval(line, {"torch": lib, "t": lib.tensor, "value": value, "p": lib.ones(2, requires_grad=True), "q": lib.ones(2),
                                "grouped": lists._group_tensors_by_device_and_dtype,
                                "room": lambda name: importlib.import_module(f"{lib.__name__}.{name}"), "fw": fw}))


@pytest.mark.filterwarnings("ignore:.*vmap:FutureWarning", "ignore:.*torch.ao.quantization is deprecated:DeprecationWarning",
                            "ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("line", [line.strip() for line in LINES.strip().splitlines()])
def test_as_in_pytorch(line):
    assert told(jtensor, line) == told(pytest.importorskip("torch"), line)


def test_an_operator_that_only_writes_needs_no_fake_kernel():
    @jtensor.library.custom_op("names::sine_", mutates_args={"x"})
    def sine_(x: jtensor.Tensor) -> None:
        x.copy_(x.sin())
    assert sine_(jtensor.ones(3, device="meta")) is None
    assert set(jtensor.library.opcheck(sine_, (jtensor.ones(3),)).values()) == {"SUCCESS"}


def test_a_class_that_overrides_nothing_stands_beside_one_that_does():
    """What PyTorch has for it is no method: it is given what it is looked up in by nobody."""
    found = []
    for lib in (jtensor, pytest.importorskip("torch")):
        silent = type("Silent", (lib.Tensor,), {"__torch_function__": lib._C._disabled_torch_function_impl})
        heard = type("Heard", (lib.Tensor,), {})
        x, y = lib.ones(2).as_subclass(silent), lib.ones(2).as_subclass(heard)
        found.append([str(x + y), type(x + y).__name__, str(x + 1), type(x.sin()).__name__, repr(lib._C._disabled_torch_function_impl)])
    assert found[0] == found[1]


def test_defaults_of_keywords_are_shown_when_functions_ask():
    type("Mine", (jtensor.Tensor,), {})
    jtensor.ones(1).as_subclass(type("Mine", (jtensor.Tensor,), {})) + 1
    assert jtensor.meshgrid.__kwdefaults__ == {"indexing": None}
    assert inspect.signature(jtensor.meshgrid).parameters["indexing"].default is None


def test_a_recipes_last_lines_run():
    with jtensor.profiler.profile(with_stack=True) as prof:
        jtensor.ones(3).sum()
    assert "test_a_recipes_last_lines_run" in prof.key_averages(group_by_stack_n=5).table(sort_by="self_cpu_time_total", row_limit=5)
    from jtensor.utils.benchmark import Compare
    assert Compare([]).colorize() is None
