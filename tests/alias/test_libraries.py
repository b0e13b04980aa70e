"""What libraries for PyTorch import, ask and derive from: what is asked answers, what is not there raises when it is called."""
import importlib
import subprocess
import sys
import textwrap

import pytest

import jtensor as torch
from jtensor.base.errors import MissingFeature

IMPORTED = """torch._C._TensorMeta torch._C._functorch.is_batchedtensor torch._C._nn._parse_to torch._dynamo.OptimizedModule
    torch._dynamo.eval_frame.OptimizedModule torch._dynamo._trace_wrapped_higher_order_op.TransformGetItemToIndex
    torch._functorch.vmap.Tensor torch._functorch.deprecated.vmap torch._functorch.make_functional.FunctionalModule
    torch._functorch.python_key.make_fx torch._subclasses.fake_tensor.FakeTensor torch._subclasses.functional_tensor.FunctionalTensor
    torch._tensor_str.PRINT_OPTS torch._utils._flatten_dense_tensors torch.fx.GraphModule
    torch.fx.experimental.proxy_tensor.get_proxy_mode torch.hub.HASH_REGEX torch.jit.ScriptFunction torch.jit._overload_method
    torch.nn.modules.module._EXTRA_STATE_KEY_SUFFIX torch.nn.modules.module._global_parameter_registration_hooks
    torch.nn.parallel.scatter_gather.scatter torch.onnx.is_in_onnx_export torch.return_types.cummax torch.return_types.max_out
    torch.serialization.MAP_LOCATION torch.utils._contextlib._DecoratorContextManager
    torch.utils._python_dispatch.is_traceable_wrapper_subclass torch.utils._pytree._dict_flatten_with_keys
    torch.utils._pytree._get_node_type torch.utils.flop_counter.FlopCounterMode torch.utils.weak.WeakIdKeyDictionary torch.futures.Future
    torch.Future torch.ScriptModule torch.PyTorchFileReader torch.jagged torch.complex32 torch.legacy_contiguous_format""".split()


def test_names_are_imported_under_the_alias():
    script = "\n".join(f"from {name.rpartition('.')[0]} import {name.rpartition('.')[2]}" for name in IMPORTED)
    script = f"import jtensor.alias; jtensor.alias.install()\n{script}\nimport torch; print(torch.__name__, torch.torch is torch)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout == "torch True\n", found.stderr


def test_a_name_of_the_package_itself_is_adopted_once():
    script = textwrap.dedent("""
        import jtensor.alias; jtensor.alias.install()
        import torch
        torch.torch.torch.nn
        try:
            torch.no_such_name
        except AttributeError as error:
            print(str(error).splitlines()[0])
    """)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout == "module 'torch' has no attribute 'no_such_name'\n", found.stderr


def refusals():
    exported = importlib.import_module("jtensor.export")
    yield "torch.export", [lambda: exported.draft_export(torch.nn.Linear(1, 1), ()), lambda: exported.unflatten(None)]
    yield "_subclasses", [importlib.import_module("jtensor._subclasses.fake_tensor").FakeTensor]
    yield "TorchScript", [torch._C.Graph, torch._C.Value]
    yield "single records", [torch.PyTorchFileReader]


@pytest.mark.parametrize("what, calls", list(refusals()), ids=lambda given: given if isinstance(given, str) else "")
def test_what_is_not_there_is_refused_when_it_is_called(what, calls):
    for call in calls:
        with pytest.raises(MissingFeature, match=what):
            call()


def test_questions_answer():
    assert not torch.compiler.is_exporting() and not torch.onnx.is_in_onnx_export()
    assert torch._C._get_tracing_state() is None is torch._C._log_api_usage_once("a library")
    assert not importlib.import_module("jtensor._subclasses.fake_tensor").is_fake(torch.ones(1))
    assert not torch._C._are_functorch_transforms_active()
    seen = []
    active, batched = torch._C._are_functorch_transforms_active, torch._C._functorch.is_batchedtensor
    torch.vmap(lambda x: seen.append((active(), batched(x))) or x)(torch.ones(2))
    assert seen == [(True, True)] and not torch._C._functorch.is_batchedtensor(torch.ones(2))
    x = torch.ones(4)
    assert torch._C._is_alias_of(x, x[1:]) and not torch._C._is_alias_of(x, x.clone())


def test_settings_of_the_compiler_are_patched_for_a_while():
    config = torch._dynamo.config
    before = config.cache_size_limit
    with config.patch(cache_size_limit=3), config.patch({"verbose": True}), config.patch("suppress_errors", True):
        assert (config.cache_size_limit, config.verbose, config.suppress_errors) == (3, True, True)
    assert (config.cache_size_limit, config.verbose, config.suppress_errors) == (before, False, False)


@pytest.mark.parametrize("name", ["complex32", "qint8", "quint8", "qint32", "quint4x2", "quint2x4", "int4", "bits8", "float8_e8m0fnu"])
def test_types_that_are_names_alone(name):
    import copy
    import pickle
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype) and repr(dtype) == f"torch.{name}" and type(dtype).__name__ == "dtype"
    assert pickle.loads(pickle.dumps(dtype)) is dtype is copy.deepcopy(dtype)
    for make in (lambda: torch.zeros(2, dtype=dtype), lambda: torch.tensor([1], dtype=dtype), lambda: torch.ones(2).to(dtype),
                 lambda: torch.empty(2, dtype=dtype), lambda: torch.ones(4).view(dtype), lambda: torch.ones(1).sum(dtype=dtype)):
        with pytest.raises(MissingFeature, match=f"tensors of torch.{name}"):
            make()
    theirs = getattr(pytest.importorskip("torch"), name)
    assert (dtype.itemsize, dtype.is_complex, dtype.is_floating_point) == (theirs.itemsize, theirs.is_complex, theirs.is_floating_point)


def test_what_to_is_told():
    parse = torch._C._nn._parse_to
    assert parse("cpu", torch.float64, non_blocking=True) == (torch.device("cpu"), torch.float64, True, None)
    assert parse(torch.ones(1, dtype=torch.int32)) == (torch.device("cpu"), torch.int32, False, None)
    assert parse(torch.float16)[1] is torch.float16 and parse(memory_format=torch.channels_last)[3] is torch.channels_last


def test_a_storage_counts_its_bytes():
    assert sys.getsizeof(torch.ones(10).untyped_storage()) - sys.getsizeof(torch.ones(0).untyped_storage()) == 40


def test_dense_tensors_in_a_row():
    tensors = [torch.arange(2.0), torch.ones(0), torch.ones(2, 1)]
    flat = torch._utils._flatten_dense_tensors(tensors)
    again = torch._utils._unflatten_dense_tensors(flat, tensors)
    assert flat.tolist() == [0, 1, 1, 1] and [t.tolist() for t in again] == [t.tolist() for t in tensors] and again[0]._base is not None


def test_names_of_devices_modules():
    assert torch._utils._get_device_module("cpu") is torch.cpu and torch._utils._get_device_index("cuda:1") == 1
    with pytest.raises(ValueError, match="Expected a non cpu device, but got: cpu"):
        torch._utils._get_device_index("cpu", optional=True)
    with pytest.raises(RuntimeError, match="does not have a corresponding module registered as 'torch.foo'"):
        torch._utils._get_device_module("foo")


def test_a_tensor_is_exchanged_by_name():
    swap = importlib.import_module("jtensor.nn.utils._named_member_accessor").swap_tensor
    layer = torch.nn.Linear(2, 2)
    before = swap(layer, "weight", torch.zeros(2, 2))
    assert isinstance(before, torch.nn.Parameter) and type(layer.weight) is torch.Tensor and "weight" in layer._parameters
    absent = swap(layer, "scale", torch.ones(1), allow_missing=True)
    assert layer.scale.item() == 1
    swap(layer, "scale", absent)
    assert not hasattr(layer, "scale")
    for wrong, error in ((("scale", torch.ones(1)), AttributeError), (("weight", 3), TypeError), (("a.b", torch.ones(1)), KeyError),
                         (("", torch.ones(1)), KeyError), (("forward", torch.ones(1)), TypeError)):
        with pytest.raises(error):
            swap(layer, *wrong)


def test_contexts_that_are_derived_decorate():
    base = importlib.import_module("jtensor.utils._contextlib")._DecoratorContextManager
    entered = []

    class Within(base):
        def __enter__(self):
            entered.append(1)

        def __exit__(self, *error):
            entered.append(-1)

    @Within()
    def double(x):
        assert sum(entered) == 1
        return 2 * x
    assert double(2) == double(2) == 4 and entered == [1, -1, 1, -1]


def test_parts_of_nests():
    tree = importlib.import_module("jtensor.utils._pytree")
    assert tree._dict_flatten({"b": 1, "a": 2}) == ([1, 2], ["b", "a"]) and tree._dict_unflatten([1, 2], ["b", "a"]) == {"b": 1, "a": 2}
    assert tree._list_flatten([1, 2]) == ([1, 2], None) and tree._tuple_unflatten([1, 2], None) == (1, 2)
    assert tree._dict_flatten_with_keys({"a": 1}) == ([(tree.MappingKey("a"), 1)], ["a"]) and tree._get_node_type([1]) is list


def test_return_types_are_there_before_the_first_call():
    script = "import jtensor as t; kind = t.return_types.cummin;" \
             "print(type(t.cummin(t.ones(2), 0)) is kind, t.return_types.max_out.__name__)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout == "True max_out\n", found.stderr
    for absent in ("add", "no_such", "_x"):
        assert not hasattr(torch.return_types, absent)


def test_numbers_of_workers_generators():
    mine = importlib.import_module("jtensor.utils.data._utils.worker")._generate_state
    theirs = pytest.importorskip("torch.utils.data._utils.worker")._generate_state
    for seed, worker in ((1, 2), (0, 0), (123456789012345, 3)):
        assert mine(seed, worker) == theirs(seed, worker)


SCANS = ["(torch.add, x, 0)", "(torch.mul, x, 0, reverse=True)", "(torch.add, x.reshape(7, 1).T, -1)", "(torch.add, x, 1)",
         "(lambda p, q: {'a': p['a'] * q['a'], 'b': p['b'] * q['a'] + q['b']}, {'a': x / 4, 'b': x.view(7, 1).expand(7, 2)}, 0)",
         "(torch.add, x[:1], 0)", "(torch.add, x[:2], 0)", "(torch.add, x[:0], 0)", "(3, x, 0)"]


@pytest.mark.parametrize("call", SCANS)
def test_running_results(call):
    """Against the slices combined one after the other, in the bracketing that is the plainest; the messages against PyTorch's."""
    scan = importlib.import_module("jtensor._higher_order_ops.associative_scan").associative_scan
    where = {"x": torch.arange(1.0, 8), "torch": torch, "found": lambda *args, **options: (args, options)}
    (combine, xs, dim), options = eval("found" + call, where)
    if call in ("(torch.add, x, 1)", "(torch.add, x[:0], 0)", "(3, x, 0)"):
        with pytest.raises((IndexError, ValueError), match="Dimension out of range|All xs leaves must at least|must be a callable"):
            scan(combine, xs, dim, combine_mode="generic", **options)
        return
    tree = importlib.import_module("jtensor.utils._pytree")
    found = scan(combine, xs, dim, combine_mode="generic", **options)

    def sliced(nest, at):
        return tree.tree_map(lambda leaf: leaf.select(dim, at), nest)
    slices = [sliced(xs, at) for at in range(tree.tree_leaves(xs)[0].shape[dim])]
    running = [slices.pop(-1 if options else 0)]
    while slices:
        running.append(combine(running[-1], slices.pop(-1 if options else 0)))
    for at, wanted in enumerate(reversed(running) if options else running):
        for one, other in zip(tree.tree_leaves(sliced(found, at)), tree.tree_leaves(wanted)):
            torch.testing.assert_close(one, other)


def test_running_results_have_gradients():
    scan = importlib.import_module("jtensor._higher_order_ops.associative_scan").associative_scan
    x = torch.arange(1.0, 6, requires_grad=True)
    scan(torch.mul, x, 0, combine_mode="generic").sum().backward()
    again = x.detach().clone().requires_grad_()
    again.cumprod(0).sum().backward()
    torch.testing.assert_close(x.grad, again.grad)
    with pytest.raises(ValueError, match="For combine_mode='pointwise', all input tensors need to be on CUDA or XPU"):
        scan(torch.mul, x, 0)


def test_loops_over_slices():
    """What PyTorch's `torch._higher_order_ops` answers, and its messages."""
    ops = importlib.import_module("jtensor._higher_order_ops")
    x, zeros = torch.arange(6.0).reshape(2, 3), torch.zeros(2)
    carry, made = ops.scan(lambda c, x: (c + x, c * x), zeros, x, dim=1)
    assert carry.tolist() == [3, 12] and made.tolist() == [[0, 0, 2], [0, 12, 35]]
    assert ops.scan(lambda c, x: (c + x, c.sum()), zeros, x, dim=1, reverse=True)[1].tolist() == [12, 7, 0]
    assert ops.scan(lambda c, x: (c, x), zeros, []) == (zeros, [])
    x.requires_grad_()
    (_, last), outs = ops.scan(lambda c, x: ((c[0] + 1, c[1] * x["x"]), {"y": c[1]}), (torch.tensor(0), torch.ones(3)), {"x": x})
    (last.sum() + outs["y"].sum()).backward()
    assert last.tolist() == [0, 4, 10] and x.grad.tolist() == [[4, 5, 6], [0, 1, 2]]
    assert ops.map(lambda one, y: {"a": one["x"] + y, "b": one["x"].sum()}, {"x": torch.ones(3, 2)}, 5)["b"].tolist() == [2, 2, 2]
    assert ops.cond(torch.tensor(False), len, sum, ([1, 2],)) == 3
    assert ops.while_loop(lambda i: i < 3, lambda i: (i + 1,), (torch.tensor(0),))[0].item() == 3
    assert [one.item() for one in ops.foreach_map(torch.sub, [x[1, 0], x[1, 1]], 1, alpha=2)] == [1, 2] and ops.foreach_map(max, 1, 2) == 2
    for refused, kind, said in ((lambda: ops.scan(3, zeros, x), RuntimeError, "must be a callable"),
                                (lambda: ops.scan(max, 3, x), RuntimeError, "All init leaves must be a Tensor but got 3"),
                                (lambda: ops.scan(max, zeros, x, dim=2), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
                                (lambda: ops.scan(max, zeros, x[:0]), RuntimeError, "scan dimension > 0"),
                                (lambda: ops.scan(lambda c, x: (c[:1], x), zeros, x), RuntimeError, "other tensors than init"),
                                (lambda: ops.map(len, torch.ones(0)), RuntimeError, "Leading dimensions of mapped xs cannot be 0."),
                                (lambda: ops.map(len, [x, zeros[:1]]), RuntimeError, "must be consistent. Got shapes"),
                                (lambda: ops.map(len, [3]), RuntimeError, "can only consist of tensors")):
        with pytest.raises(kind, match=said):
            refused()


def test_the_gradient_of_a_softmax_by_itself():
    x, moved = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)
    out = x.softmax(1)
    out.backward(moved)
    torch.testing.assert_close(torch._softmax_backward_data(moved, out.detach(), 1, torch.float32), x.grad)
