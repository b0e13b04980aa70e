"""Names that libraries ask of PyTorch's inner rooms: what they do is PyTorch's, what is not there is refused when it is called."""
import collections
import importlib
import subprocess
import sys
import textwrap
import warnings

import pytest

import jtensor
from jtensor.alias import helpers
from jtensor.base.errors import MissingFeature

IMPORTED = """torch._VF.lstm torch._C._TensorBase torch._dynamo.utils.disable_cache_limit torch._subclasses.FakeTensorMode
    torch._subclasses.fake_tensor.unset_fake_temporarily torch._utils._take_tensors torch.amp.grad_scaler.OptState
    torch.ao.quantization.FakeQuantizeBase torch.ao.quantization.ObserverBase torch.cuda.amp.grad_scaler.OptState
    torch.distributed.autograd.context torch.distributed.checkpoint.metadata.Metadata torch.distributed.checkpoint.planner.SavePlan
    torch.distributed.checkpoint.storage.StorageReader torch.distributed.fsdp.api.LocalOptimStateDictConfig
    torch.distributed.fsdp.api.StateDictSettings torch.distributed.rpc.RRef torch.distributions.multivariate_normal._batch_mahalanobis
    torch.functional.F torch.jit.Future torch.jit._get_trace_graph torch.jit._state._enabled torch.masked.MaskedTensor
    torch.nn.functional._Reduction torch.nn.functional.has_torch_function torch.nn.modules.conv._ConvTransposeMixin
    torch.nn.modules.loss.Tensor torch.nn.modules.normalization._shape_t torch.nn.modules.rnn.apply_permutation torch.nn.parallel.gather
    torch.nn.parallel.parallel_apply.parallel_apply torch.nn.parallel.replicate.replicate torch.nn.utils.clip_grad._get_total_norm
    torch.distributed.tensor.parallel.parallelize_module torch.multiprocessing.reductions.reduce_tensor torch.cuda.profiler.start
    torch.distributed.fsdp.FullyShardedDataParallel torch.utils._python_dispatch.TorchDispatchMode torch.profiler.profiler.profile
    torch.quantization.FakeQuantizeBase torch.sparse.torch torch.utils._pytree._namedtuple_flatten torch.utils.cpp_extension.CUDA_HOME
    torch.utils.cpp_extension.load""".split()


def printed(*lines):
    script = "\n".join(("import jtensor.alias; jtensor.alias.install()", *map(textwrap.dedent, lines)))
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not found.returncode, found.stderr
    return found.stdout


def test_names_are_imported_under_the_alias():
    lines = [f"from {name.rpartition('.')[0]} import {name.rpartition('.')[2]}" for name in IMPORTED]
    assert printed(*lines, "print(bool(_enabled))") == "True\n"


def test_what_is_imported_is_pytorchs():
    pytest.importorskip("torch")
    for name in IMPORTED:
        home, _, leaf = name.rpartition(".")
        if "grad_scaler" not in name or "cuda" not in name:
            assert hasattr(importlib.import_module(home), leaf), name


def test_modules_have_what_pytorchs_import():
    pytest.importorskip("torch")
    for key, paths in helpers.HELD.items():
        name = key.rpartition(":")[2]
        assert not [path for path in paths.split() if not hasattr(importlib.import_module(f"torch.{path}"), name)], name
    assert printed("""
        import importlib, sys, torch
        from jtensor.alias.helpers import HELD
        held = {(key.rpartition(":")[2], path) for key, paths in HELD.items() for path in paths.split()}
        for name, path in held:
            value = getattr(importlib.import_module(f"torch.{path}"), name)
            wanted = {"torch": torch, "Tensor": torch.Tensor, "F": torch.nn.functional, "np": sys.modules["numpy"],
                      "_pair": torch.nn.modules.utils._pair, "_single": torch.nn.modules.utils._single}
            assert value is wanted.get(name, sys.modules.get(name)), (name, path)
        print(torch.sparse.torch.eye(1))
        try:
            torch.sparse.math
        except AttributeError as error:
            print(str(error).splitlines()[0])
    """) == "tensor([[1.]])\nmodule 'torch.sparse' has no attribute 'math'\n"


def test_everything_of_functional():
    assert printed("from torch.nn.functional import *", "print(math.pi > 3, Tensor is torch.Tensor, relu(torch.ones(1)))") == \
        "True True tensor([1.])\n"


def test_rooms_that_pytorch_does_not_have():
    assert printed("""
        import torch
        torch.FloatTensor, torch.typename
        print(hasattr(torch, "legacy"))
    """) == "False\n"


def refused():
    from jtensor.distributed import autograd, rpc
    from jtensor.utils import cpp_extension
    inner = jtensor.ao.quantization
    yield "quantised", [inner.FakeQuantizeBase, inner.ObserverBase, inner.fuse_modules]
    yield "rpc", [rpc.init_rpc, rpc.RRef, rpc.shutdown, rpc.TensorPipeRpcBackendOptions]
    yield "distributed.autograd", [autograd.context, autograd.backward]
    yield "extensions in C", [cpp_extension.load, cpp_extension.CUDAExtension, cpp_extension.BuildExtension]
    yield "TorchScript", [jtensor.jit._get_trace_graph]
    yield "_subclasses", [importlib.import_module("jtensor._subclasses").FakeTensorMode]


@pytest.mark.parametrize("what, calls", list(refused()), ids=lambda given: given if isinstance(given, str) else "")
def test_what_is_not_there_is_refused_when_it_is_called(what, calls):
    for call in calls:
        with pytest.raises(MissingFeature, match=what):
            call()


def test_questions_answer():
    assert not jtensor._C._is_tracing() and jtensor.jit._state._enabled and not jtensor.distributed.rpc.is_available()
    fake = importlib.import_module("jtensor._subclasses.fake_tensor")
    with fake.unset_fake_temporarily() as mode:
        assert mode is None is fake.maybe_get_fake_mode(jtensor.ones(1))
    config = jtensor._dynamo.config
    before = config.recompile_limit, config.accumulated_recompile_limit
    with jtensor._dynamo.utils.disable_cache_limit():
        assert config.recompile_limit == config.accumulated_recompile_limit == sys.maxsize
    assert (config.recompile_limit, config.accumulated_recompile_limit) == before


def both():
    return [jtensor, pytest.importorskip("torch")]


def test_backwards_are_numbered():
    for torch in both():
        number = torch._C._current_graph_task_id
        seen = []
        for _ in range(2):
            x = torch.ones(1, requires_grad=True)
            x.register_hook(lambda grad, seen=seen, number=number: seen.append(number()))
            (x * 2).sum().backward()
        assert number() == -1 and 0 <= seen[0] < seen[1]


Pair = collections.namedtuple("Pair", "a b")
PAIR = Pair(1, 2)
DOCS = [f"_{word}_doc" for word in "params foreach fused capturable differentiable maximize".split()]
CALLS = """
    F._Reduction.get_enum("mean"), F._Reduction.get_enum("sum")
    F._get_softmax_dim("softmax", 3, 1), F._get_softmax_dim("softmax", 2, 1)
    F._in_projection(x, x, y, torch.ones(2, 2), torch.eye(2), torch.ones(2, 3), None, torch.ones(2), None)
    F._in_projection(x, x, y, torch.ones(2, 2), torch.eye(3), torch.ones(2, 3), torch.ones(3))
    F._in_projection(x, x, y, torch.ones(2, 2), torch.eye(2), torch.ones(2, 3), torch.ones(3))
    F._mha_shape_check(x, x, x, None, None, 1), F._mha_shape_check(x[None], x[None], x[None], None, None, 1)
    F.has_torch_function((x,)), F.has_torch_function_unary(x)
    [[t.dtype for t in some] for some in torch._utils._take_tensors([x, x, y.double(), x, torch.ones(99)], 40)]
    torch._utils.is_compiling(), torch._utils._get_all_device_indices()
    [tuple(one) if isinstance(one, list) else one.__name__ for one in tree._namedtuple_flatten(PAIR)]
    tree._namedtuple_unflatten([3, 4], type(PAIR))
    [part for _, part in tree._namedtuple_flatten_with_keys(PAIR)[0]]
    [(one.name, one.value) for one in sub("amp.grad_scaler").OptState]
    sub("distributions.multivariate_normal")._batch_mv(torch.eye(2).expand(3, 2, 2), x[:, :2].repeat(2, 1)[:3])
    sub("distributions.multivariate_normal")._batch_mahalanobis(torch.eye(2) * 2, x)
    sub("nn.modules.rnn").apply_permutation(y, torch.tensor([2, 0, 1]))
    repr(sub("nn.modules.normalization")._shape_t).replace("jtensor.base.size.", "torch.").replace("torch._C.", "torch.")
    sub("nn.utils.clip_grad")._get_total_norm([x, y], 2.0)
    sub("nn.modules.conv")._ConvTransposeMixin.__mro__[1].__name__
    torch._VF.lstm_cell(x, (x, x), torch.ones(8, 2), torch.ones(8, 2), None, None)[0]
    torch._VF.no_such
    torch.nn.parallel.gather([x, x], "cpu")
    torch.nn.parallel.gather([x, x], 0)
    torch.nn.parallel.gather([{"a": None}, {"a": None}], 0)
    torch.nn.parallel.gather([{"a": None}, {}], 0)
    torch.nn.parallel.gather([(None, [None]), (None, [None])], 0)
    torch.nn.parallel.replicate(torch.nn.Linear(1, 1), [0])
    torch.nn.parallel.replicate(torch.nn.Linear(1, 1), ["cpu"])
    torch.nn.parallel.parallel_apply([torch.nn.Identity()], [x])
    torch.nn.parallel.parallel_apply([torch.nn.Identity()], [x, x])
    torch.nn.parallel.scatter((1, "a"), [0])
    sorted((str(key[1]), at) for key, (_, at) in torch.optim.Optimizer._group_tensors_by_device_and_dtype([[x, y.int(), y]], True).items())
    [sub("distributed.fsdp.api").__dict__[n]().offload_to_cpu for n in ("LocalOptimStateDictConfig", "LocalStateDictConfig")]
    setattr(torch.backends.cuda.matmul, "fp32_precision", "foo")
    opt()._to_scalar(torch.ones(1)), opt()._to_scalar(2.0), opt()._get_scalar_dtype(), opt()._get_scalar_dtype(True)
    opt()._device_dtype_check_for_fused(x.int())
    opt()._device_dtype_check_for_fused(x)
    (lambda a, b: (opt()._view_as_real(a, b), a, b)[1:])([x + 1j, x], [x * 1j, x])
    opt()._disable_dynamo_if_unsupported(len)(abs)(-1), opt().DeviceDict, [type(opt().__dict__[n]) for n in DOCS]
    prune()._validate_pruning_amount(5, 4)
    prune()._validate_pruning_amount(5, 5), prune()._compute_nparams_toprune(0.5, 7), prune()._compute_nparams_toprune(3, 7)
    prune()._validate_pruning_amount_init("a")
    sub("distributed.algorithms._checkpoint.checkpoint_wrapper").CheckpointImpl.NO_REENTRANT
    sub("distributed.fsdp.wrap").always_wrap_policy(1)
    sub("utils.weak").TensorWeakRef(3)
    sub("utils.weak").TensorWeakRef(x)() is x, sub("utils.weak").TensorWeakRef(x + 1)()
    sub("cuda.profiler").start() if not torch.cuda.is_available() else None
    setattr(torch.backends.cuda.matmul, "fp32_precision", "bf16")
    torch.jit.Future is not None, torch.masked.is_masked_tensor(x), torch._C._TensorBase in torch.Tensor.__mro__
""".strip().splitlines()


def answer(torch, call):
    """What a call gives, as text, or the error; and what it warns of."""
    def sub(name):
        return importlib.import_module(f"{torch.__name__}.{name}")
    given = {"torch": torch, "F": sub("nn.functional"), "tree": sub("utils._pytree"), "sub": sub, "PAIR": PAIR, "DOCS": DOCS,
             "opt": lambda: sub("optim.optimizer"), "prune": lambda: sub("nn.utils.prune"),
             "x": torch.arange(4.0).view(2, 2), "y": torch.arange(6.0).view(2, 3)}
    sub("distributed.fsdp"), sub("nn.parallel")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            made = repr(eval(call, given))
        except Exception as error:
            made = f"{type(error).__name__}: {str(error).replace('jtensor.', 'torch.')}"
    return made, [str(one.message) for one in said if one.category in (UserWarning, FutureWarning)]


@pytest.mark.parametrize("call", [call.strip() for call in CALLS], ids=range(len(CALLS)))
def test_as_pytorch(call):
    mine, theirs = (answer(torch, call) for torch in both())
    assert mine == theirs


def test_precision_by_its_newer_name():
    matmul = jtensor.backends.cuda.matmul
    try:
        assert matmul.fp32_precision == "none"
        for said, found in (("tf32", "tf32"), ("ieee", "ieee"), ("none", "none")):
            matmul.fp32_precision = said
            assert matmul.fp32_precision == found and matmul.allow_tf32 == (found == "tf32")
        jtensor.set_float32_matmul_precision("high")
        assert matmul.fp32_precision == "tf32"
    finally:
        matmul.fp32_precision = "none"


def test_a_transposed_convolution_by_its_older_name():
    mixin = importlib.import_module("jtensor.nn.modules.conv")._ConvTransposeMixin
    assert issubclass(mixin, jtensor.nn.modules.conv._ConvTransposeNd) and not isinstance(jtensor.nn.ConvTranspose1d(1, 1, 1), mixin)


def test_a_tensor_is_sent_and_received():
    receive, arguments = importlib.import_module("jtensor.multiprocessing.reductions").reduce_tensor(jtensor.arange(3.0)[1:])
    assert receive(*arguments).tolist() == [1, 2]


def test_a_scheduler_that_is_written_after_pytorchs():
    for torch in both():
        schedulers = importlib.import_module(f"{torch.__name__}.optim.lr_scheduler")

        class Halves(schedulers.LRScheduler):
            def get_lr(self, said=schedulers._warn_get_lr_called_within_step):
                said(self)
                return [group["lr"] / 2 for group in self.optimizer.param_groups]
        made = Halves(torch.optim.SGD([torch.ones(1, requires_grad=True)], 1.0))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with schedulers._enable_get_lr_call(made):
                made.get_lr()
            assert not said
            made.get_lr()
        assert [str(one.message) for one in said] == [
            "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."] and said[0].filename == __file__
