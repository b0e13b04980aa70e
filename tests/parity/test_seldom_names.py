"""Names that scripts seldom write: removed functions, older names, questions of sparse tensors, choices by value, TorchScript's marks."""
import numpy as np
import pytest

import jtensor

from .lines import alike, answer, listed

LINES = listed(r'''
    torch.SymInt, torch.SymFloat, torch.SymBool, isinstance(3, (torch.SymInt, int))
    torch.utils.checkpoint.get_device_states(torch.ones(2)), torch.utils.checkpoint.set_device_states([], [])
    list(torch.utils.checkpoint.CheckpointPolicy), vars(torch.utils.checkpoint.SelectiveCheckpointContext(is_recompute=True))
    torch.autograd.graph.region_activation_memory_budget(0.5)
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    m = __import__(torch.__name__ + ".cuda.amp.autocast_mode", fromlist="x"); m.autocast is torch.cuda.amp.autocast
    m = __import__(torch.__name__ + ".cuda.amp.grad_scaler", fromlist="x"); m.GradScaler is torch.cuda.amp.GradScaler
    c = __import__(torch.__name__ + ".nn.common_types", fromlist="x"); c._size_2_t, c._size_any_t, c._size_3_opt_t
    m = __import__(torch.__name__ + ".amp.autocast_mode", fromlist="x"); m.custom_fwd is torch.amp.custom_fwd
    torch.nn.grad.conv1d_input((1, 2, 7), torch.ones(2, 1, 3), torch.ones(1, 2, 4), 2, 1, 1, 2)
    g = torch.nn.grad; x = torch.ones(1, 1, 3, 3); g.conv2d_weight(x, (1, 1, 2, 2), x[..., :2, :2])
    g = torch.nn.grad; w = torch.ones(1, 1, 2).requires_grad_(); g.conv1d_input((1, 1, 3), w, w)[0, 0, 1].backward(); w.grad
    c = torch.backends.cuda; c.preferred_linalg_library(), c.preferred_linalg_library("default"), c.preferred_linalg_library().name
    torch.backends.cuda.preferred_linalg_library("magma")
    torch.backends.cuda.preferred_linalg_library("x")
    torch.backends.cuda.preferred_linalg_library(3)
    c = torch.backends.cuda; c.preferred_blas_library(), c.preferred_blas_library("ck"), c.preferred_blas_library("default")
    torch.backends.cuda.preferred_blas_library("hipblaslt")
    c = torch.backends.cuda; c.preferred_rocm_fa_library("ck"), c.preferred_rocm_fa_library("default")
    torch.backends.cuda.preferred_rocm_fa_library(1)
    c = torch.backends.cuda; c.allow_fp16_bf16_reduction_math_sdp(True), c.fp16_bf16_reduction_math_sdp_allowed()
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(1)
    torch.backends.cuda.is_flash_attention_available(), torch.backends.cuda.is_ck_sdpa_available()
    torch.lstsq(1, 2)
    torch.eig(torch.ones(2, 2))
    torch.symeig(torch.ones(2, 2))
    torch.solve(torch.ones(2, 2), torch.ones(2, 2))
    torch.matrix_rank(torch.ones(2, 2))
    torch.ones(2).lstsq(3)
    torch.ones(2, 2).eig()
    torch.ones(2, 2).symeig()
    torch.ones(2, 2).solve(3)
    torch.ones(2).reinforce(3)
    torch.ones(2).resize(1, 2)
    torch.ones(2).resize_as(torch.ones(1, 2))
    torch.ones(2).name
    torch.ones(2).is_xla, torch.ones(2).is_ipu, torch.ones(2).is_maia, torch.ones(2).is_mtia
    torch.tensor([1e10], dtype=torch.float16)
    torch.tensor([1e300, 1.]), torch.tensor(1e300), torch.tensor([[1e300], [1]])
    torch.tensor([1e39 + 1j]), torch.tensor(__import__('numpy').array([1e300]), dtype=torch.float32)
    torch.as_tensor([70000], dtype=torch.float16), torch.ones(1).new_tensor([True, 1e39])
    callable(torch.device("cpu"))
    torch.ones(2).volatile
    torch.autograd.Variable(torch.ones(2), volatile=True)
    x = torch.ones(2); x.volatile = True
    x = torch.ones(2); setattr(x, "volatile", True)
    torch.ones(2).is_distributed()
    x = torch.ones(2); x.const_data_ptr() == x.data_ptr()
    torch.ones(2).grad_dtype
    torch.ones(2, requires_grad=True).grad_dtype
    x = torch.ones(2, requires_grad=True); (x * 2).grad_dtype
    torch.ones(2).module_load(torch.zeros(2))
    torch.ones(2).module_load(torch.zeros(2), assign=True)
    torch.ones(2).storage_type()
    torch.ones(2).record_stream(None)
    torch.ones(2).dense_dim(), torch.ones(2).sparse_dim()
    torch.ones(2).is_coalesced()
    torch.ones(2).coalesce()
    torch.ones(2).indices()
    torch.ones(2).values()
    torch.ones(2).to_dense()
    torch.ones(2).to_dense(torch.float64)
    torch.embedding_renorm_(torch.ones(3, 2) * 5, torch.tensor([0, 2]), 1.0, 2.0)
    torch.embedding_renorm_(torch.ones(3, 2) * 5, torch.tensor([0, 2]), 1, 1)
    torch.embedding_renorm_(torch.ones(3), torch.tensor([0, 2]), 1, 1)
    torch.embedding_renorm_(torch.ones(3, 2), torch.tensor([0.]), 1, 1)
    torch.embedding_renorm_(torch.ones(3, 2), torch.tensor([5]), 1, 1)
    torch.grid_sampler(torch.arange(4.).view(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 0, 0, True)
    torch.grid_sampler(torch.arange(4.).view(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 1, 1, False)
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "max", lengths=torch.tensor([1, 3]))
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "sum", offsets=torch.tensor([0, 2, 4]))
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "mean", lengths=torch.tensor([0, 4]))
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "min", lengths=torch.tensor([0, 4]), initial=3.)
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "prod", lengths=torch.tensor([2, 2]))
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "foo", lengths=torch.tensor([2, 2]))
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "sum")
    torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "sum", lengths=torch.tensor([1, 1]))
    torch.segment_reduce(torch.ones(4, 2), "sum", lengths=torch.tensor([1, 3]), axis=0)
    torch.segment_reduce(torch.ones(4), "sum", lengths=torch.tensor([-1, 5]))
    torch.nn.Embedding(3, 2, sparse=True)
    torch.nn.functional.embedding(torch.tensor([0]), torch.ones(2, 2), sparse=True)
    torch.testing.assert_allclose(torch.ones(2), torch.ones(2))
    torch.testing.assert_allclose(torch.ones(2), torch.zeros(2))
    m = torch.nn.Conv2d(2, 3, 2); torch.nn.utils.convert_conv2d_weight_memory_format(m, torch.channels_last).weight.stride()
    m = torch.nn.Conv3d(2, 3, 2); f = torch.nn.utils.convert_conv3d_weight_memory_format; f(m, torch.channels_last_3d).weight.stride()
    m = torch.nn.Linear(2, 2); torch.nn.utils.convert_conv2d_weight_memory_format(m, torch.channels_last).weight.stride()
    m = torch.nn.BatchNorm2d(3); torch.func.replace_all_batch_norm_modules_(m).running_mean
    m = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Linear(1, 1)); torch.func.replace_all_batch_norm_modules_(m)
    m = torch.nn.BatchNorm1d(3, affine=False); r = torch.func.replace_all_batch_norm_modules_(m); r is m, r.running_var
    torch.func.functionalize(lambda x: x.add_(1))(torch.zeros(2))
    x = torch.zeros(2); torch.func.functionalize(lambda x: x.add_(1))(x); x
    torch.func.functionalize(lambda x: x, remove="foo")(torch.ones(1))
    torch.autograd.variable(torch.ones(2))
    torch.is_storage(torch.FloatStorage(2)), torch.is_storage(torch.ones(2)), torch.is_storage(torch.UntypedStorage(2))
    torch.sym_int(3.5), torch.sym_max(1, 2), torch.sym_not(True), torch.sym_float(2), torch.sym_min(2, 1)
    torch.sym_sum([1, 2]), torch.sym_sqrt(4), torch.sym_ite(True, 1, 2)
    torch.sym_int("a")
    torch.while_loop(lambda i: i < 3, lambda i: (i + 1,), (torch.tensor(0),))
    torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
    torch.cond(torch.tensor(False), lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
    torch.cond(True, lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
    torch.ones(2).data.volatile
    torch.segment_reduce(torch.arange(4.), "max", lengths=torch.tensor([0, 4]))
    torch.segment_reduce(torch.arange(4.), "mean", lengths=torch.tensor([0, 4]), initial=1.)
    torch.sym_max(1, 2.5), torch.sym_int(-2.5), torch.sym_min(1, 2.0)
    torch.jit.annotate(int, 3), torch.jit.is_scripting(), torch.jit.is_tracing(), torch.jit.isinstance([1], list[int])
''')


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    pytest.importorskip("torch")
    alike(line)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_names_of_torchscript():
    jit, module = jtensor.jit, jtensor.nn.Linear(2, 2)

    @jit.script
    def double(x: int):
        return x * 2
    assert double(3) == 6 and isinstance(jit.script(module), jit.ScriptModule)
    assert jit.ignore(double) is double and jit.ignore(drop=True)(double) is double
    assert jit.unused(double) is jit.export(double) is jit.script_method(double) is double
    assert not isinstance(module, jit.ScriptModule) and issubclass(jit.ScriptModule, jtensor.nn.Module)
    assert jit.isinstance({"a": 1}, dict[str, int]) and not jit.isinstance([1, "a"], list[int]) and jit.isinstance(3, int | str)
    assert jit.isinstance((1, "a"), tuple[int, str]) and not jit.isinstance((1,), tuple[int, str])
    with pytest.raises(NotImplementedError, match="jtensor does not have"):
        jit.save(module, "a")
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input"):
        jit.freeze(module)
    assert jit.wait(jit.fork(double, 3)) == 6
    with pytest.raises(ZeroDivisionError):
        jit.fork(lambda: 1 / 0)
    assert jit.onednn_fusion_enabled() is False and jit.enable_onednn_fusion(False) is None


@pytest.mark.parametrize("reduce, lengths, initial",
                         [("prod", [2, 1], None), ("max", [2, 0, 1], 0.5), ("mean", [2, 1], 2.0), ("min", [0, 3], None)])
def test_gradients_of_segments(reduce, lengths, initial):
    found = []
    for T in (pytest.importorskip("torch"), jtensor):
        x = T.arange(1.0, 4.0, requires_grad=True)
        y = T.segment_reduce(x, reduce, lengths=T.tensor(lengths), initial=initial)
        found.append((y.tolist(), T.autograd.grad(y.sum(), x)[0].tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("reduce, initial", [("prod", None), ("prod", 2.0), ("max", None), ("min", 0.0)])
def test_gradients_of_segments_with_ties_zeros_and_nan(reduce, initial):
    found = []
    for T in (pytest.importorskip("torch"), jtensor):
        x = T.tensor([[0.0, 2, 0, 5, 5], [3, float("nan"), 3, 0, 1]], requires_grad=True)
        y = T.segment_reduce(x, reduce, lengths=T.tensor([[3, 2, 0], [2, 1, 2]]), axis=1, initial=initial)
        weights = T.arange(1.0, 7.0).view(2, 3)
        found.append((y.tolist(), T.autograd.grad((y * weights)[:, :2].sum(), x)[0].tolist()))
    assert str(found[0]) == str(found[1])                              # NaN is written alike, and differs from itself


FILES = listed(r'''
    torch.from_file(path, size=3, dtype=torch.float32)
    torch.from_file(path, False, 3)
    torch.from_file(path, size=30)
    torch.from_file(path)
    torch.from_file(path, size=2, dtype=torch.int64)
    torch.from_file(path, size=2, dtype=torch.bfloat16)
    torch.from_file(path, size=2).fill_(9); torch.from_file(path, size=2)
    x = torch.from_file(path, shared=True, size=2); x.fill_(5); torch.from_file(path, size=2)
    x = torch.from_file(path + ".new", shared=True, size=2); x.fill_(3); torch.from_file(path + ".new", size=2)
    torch.from_file(path, size=-1)
    torch.from_file(path + ".none", size=1)
    torch.from_file(3)
    torch.from_file(path, size=2, requires_grad=True)
''')


@pytest.mark.parametrize("line", FILES)
def test_files_as_memory(line, tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "numbers"
    answers = []
    for name in ("torch", "jtensor"):
        np.arange(4, dtype=np.float32).tofile(path)
        answers.append(answer(name, line, path=str(path)))
        path.unlink()
        (tmp_path / "numbers.new").unlink(missing_ok=True)
    assert answers[0] == answers[1]


def test_anomaly_detection_is_switched():
    pytest.importorskip("torch")
    for mode in ("True, False", "True", "False"):
        alike(f"torch.set_anomaly_enabled({mode}); torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()")


def test_what_there_is_not():
    for refused in (jtensor.overrides.enable_reentrant_dispatch, lambda: jtensor.jit.save(jtensor.nn.ReLU(), "a")):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()


def test_whether_backward_may_use_threads_is_remembered():
    with jtensor.autograd.set_multithreading_enabled(False):
        assert not jtensor.autograd.is_multithreading_enabled()
    assert jtensor.autograd.is_multithreading_enabled()


@pytest.mark.parametrize("name", ["jtensor", "torch"])
def test_a_text_as_an_index_is_a_sequence_first(name):
    x = pytest.importorskip(name).ones(2, 2)
    for index in ("a", "ab", "abc"):
        with pytest.warns(UserWarning, match="Using a non-tuple sequence"), pytest.raises((TypeError, IndexError)):
            x[index]
    for index in ("", "a" * 40, b"a", (0, "a")):
        with pytest.raises(TypeError, match="invalid data type"):
            x[index]
