"""Puts the public namespace together: functions from the registry, factories, types, modes, submodules.

Owns: what ``jtensor.x`` is. Imports every layer in order; nothing imports it but the package itself.
"""
import importlib
import io
import sys

from . import removed
from .autograd import anomaly, forward_ad, function, functional, gradcheck, graph, layouts, mode, tools
from .base import below, devices, dtypes, errors, info, size
from .base.naming import TorchNamed, attribute_of
from .ops import families  # fills the registry
from .tensor import backward, convert, custom, dispatch, install, seldom, shown, variable
from .tensor.calling.guards import guarded
from .tensor.calling.overriding import Layer
from .tensor.core import Tensor
from .tensor.creating import create, from_data, likes, ranges
from .tensor.memory import sending, storages  # noqa: F401 - `multiprocessing` asks the former how tensors are sent
from .tensor.viewing import pieces, retyped
from .trace import executor, report
from .utils import _python_dispatch

_SUBMODULES = ("nn", "optim", "random", "utils", "linalg", "fft", "special", "autograd", "cuda", "distributed", "func", "hub", "testing",
               "backends", "version", "distributions", "amp", "cpu", "accelerator", "jit", "serialization", "types", "compiler", "masked",
               "signal", "overrides", "_C", "xpu", "mps", "mtia", "profiler", "library", "quasirandom",
               "multiprocessing", "functional", "return_types", "sparse", "__config__", "__future__", "_dynamo", "_inductor", "futures",
               "_logging", "fx", "ao", "nested", "quantization", "_custom_ops", "_ops", "onnx", "export", "_utils", "_tensor", "_VF",
               "_functorch", "_jit_internal", "_higher_order_ops", "_lobpcg", "_subclasses", "_tensor_str", "_vmap_internals", "monitor")

_CREATION = {
    from_data: ("tensor", "from_numpy", "as_tensor"),
    create: ("zeros", "ones", "full", "empty", "empty_permuted", "empty_strided", "arange", "eye", "scalar_tensor"),
    likes: ("zeros_like", "ones_like", "empty_like", "full_like"),
}


class _Named:
    """An object that is what its name says."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name

    def __reduce__(self):                       # there is one of each, which copies and pickles find again
        return attribute_of, ("jtensor", self.name)


class layout(_Named, metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "layout"))):
    """`torch.strided` and its kind."""


class memory_format(_Named, metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "memory_format"))):
    """`torch.contiguous_format` and its kind."""


def assemble(space):
    """Fills the package's namespace."""
    families.load()
    install.install()
    seldom.install()
    removed.install()
    space.update(install.FUNCTIONS)
    for room, names in _CREATION.items():
        space.update({name: guarded(getattr(room, name), name) for name in names})
    space.update({name: guarded(function, name) for name, function in ranges.FUNCTIONS.items()})
    for d in dtypes.ALL + dtypes.NAMES_ALONE:
        space[d.name] = d
    space.update(dtypes.ALIASES, bit=space["uint1"])
    space.update(
        dtype=dtypes.dtype, device=devices.device, Size=size.Size, finfo=info.finfo, iinfo=info.iinfo, Tensor=Tensor,
        no_grad=mode.no_grad, enable_grad=mode.enable_grad, set_grad_enabled=mode.set_grad_enabled, inference_mode=mode.inference_mode,
        is_grad_enabled=mode.is_grad_enabled, is_inference_mode_enabled=mode.is_inference_mode_enabled,
        get_default_dtype=dtypes.get_default_dtype, set_default_dtype=_set_default_dtype,
        promote_types=guarded(_promote_types, "promote_types"), can_cast=guarded(_can_cast, "can_cast"),
        result_type=guarded(_result_type, "result_type"), is_tensor=is_tensor, is_storage=storages.is_storage,
        get_default_device=devices.current, set_default_device=devices.set_default,
        from_jax=convert.from_jax, report=_report, trace_boundary=_boundary, eager=_Eager, MissingFeature=errors.MissingFeature,
        layout=layout,
        **{name: layout(name) for name in "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged".split()},
        contiguous_format=(contiguous := memory_format("contiguous_format")), legacy_contiguous_format=contiguous,
        preserve_format=memory_format("preserve_format"),
        channels_last=memory_format("channels_last"), channels_last_3d=memory_format("channels_last_3d"), memory_format=memory_format,
        inf=float("inf"), nan=float("nan"), pi=3.141592653589793, e=2.718281828459045, newaxis=None,
        OutOfMemoryError=errors.OutOfMemoryError,
        is_anomaly_enabled=anomaly.enabled, is_anomaly_check_nan_enabled=anomaly.check_nan_enabled,
        set_anomaly_enabled=anomaly.set_enabled,
        has_lapack=True, has_spectral=True, has_mkl=False, has_openmp=False)             # of the libraries that XLA's CPU stands on
    space.update({name: _of_tensor(name) for name in ("is_floating_point", "is_complex", "numel", "is_inference")})
    Tensor.layout = property(lambda self: space["strided"])
    seldom.refuse_writes()
    Tensor.__dlpack__, Tensor.__dlpack_device__ = _exported("dlpack"), _exported("dlpack_device")
    _printing(space)
    _autograd()
    _storage()
    _ops()
    from .random import draws, generator, seeding
    draws.install()
    space.update({name: guarded(function, name) if hasattr(function, "__code__") else function for name, function in
                  draws.FUNCTIONS.items()})
    space.update(Generator=generator.Generator, default_generator=generator.default_generator)
    space.update(manual_seed=seeding.manual_seed, seed=seeding.seed, initial_seed=seeding.initial_seed)
    methods = dict(vars(Tensor))                   # which a program may replace before it has a class that is asked
    Layer.put_in = lambda: importlib.import_module("jtensor.overridable").put_in(methods)
    below.Layer.wanted = lambda: importlib.import_module("jtensor.dispatching.wrappers")
    for name in ("cuda",):
        space[name] = importlib.import_module("jtensor." + name)


_ROOM_OF = {
    "save": "serialization",
    "load": "serialization",
    "compile": "compiler",
    "_disable_dynamo": "compiler",
    "vmap": "func",
    **dict.fromkeys("bartlett_window blackman_window hamming_window hann_window kaiser_window".split(), "signal.top_level"),
    **dict.fromkeys(
        """asarray fill from_dlpack from_file frombuffer get_device is_distributed is_signed resize_as_ resize_as_sparse_
        unravel_index""".split(), "sharing"),
    **dict.fromkeys("typename set_default_tensor_type".split(), "_legacy"),
    **dict.fromkeys(
        """autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype get_autocast_dtype
        get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled
        set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype""".split(),
        "amp.autocast_mode",
    ),
    "GradScaler": "amp.grad_scaler",
    **dict.fromkeys("""get_autocast_ipu_dtype get_autocast_xla_dtype is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_ipu_dtype
                    set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled""".split(), "amp.autocast_mode"),
    **dict.fromkeys("Event Stream get_device_module".split(), "streams"),
    **dict.fromkeys("AcceleratorError FatalError".split(), "base.errors"),
    **dict.fromkeys("DisableTorchFunction DisableTorchFunctionSubclass DispatchKey DispatchKeySet".split(), "_C"),
    "classproperty": "_utils",
    **dict.fromkeys("eig lstsq matrix_rank solve symeig".split(), "removed"),
    **dict.fromkeys("cond while_loop".split(), "choices"),
    **dict.fromkeys("""SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
                       sym_constrain_range sym_constrain_range_for_size sym_fresh_size""".split(), "symbols"),
    **dict.fromkeys("""_assert _assert_async _check _check_index _check_not_implemented _check_tensor_all _check_tensor_all_with _check_type
                    _check_is_size _check_value _check_with""".split(), "checks"),
    **dict.fromkeys(("_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"), "amp.unscaling"),
    "Future": "futures",
    "parse_schema": "jit.schema_text", **dict.fromkeys(("Argument", "FunctionSchema"), "jit.schema_objects"),
    "PyTorchFileReader": "_C", "FileCheck": "testing.filecheck",
    "StorageBase": "tensor.memory.storage_types",
    **dict.fromkeys(("CompilationUnit", "ScriptModule", "fork", "wait"), "jit"),
    **dict.fromkeys("ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptList ScriptListIterator".split(), "jit.containers"),
    **dict.fromkeys(
        """AnyType AwaitType BoolType ClassType ComplexType ConcreteModuleType DeviceObjType DictType EnumType FloatType FutureType
        InferredType IntType InterfaceType ListType NoneType NumberType OptionalType PyObjectType RRefType StreamObjType StringType
        SymBoolType SymIntType TensorType TupleType Type UnionType""".split(),
        "jit.types",
    ),
    "to_dlpack": "utils.dlpack",
    "sparse_coo_tensor": "sparse.making",
    **dict.fromkeys("sparse_compressed_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor".split(),
                    "sparse.compressed_making"),
    **dict.fromkeys("dsmm hsmm hspmm saddmm smm spmm sspaddmm".split(), "sparse.products"),
    **dict.fromkeys(("segment_reduce", "_segment_reduce"), "segments"),
    "Tag": "library.tags",
    "_shape_as_tensor": "onnx.operators",
    "lobpcg": "_lobpcg",
    "embedding_renorm_": "nn.functional.sparse",
    "grid_sampler": "nn.functional.vision",
    **dict.fromkeys(
        """get_num_threads set_num_threads get_num_interop_threads set_num_interop_threads use_deterministic_algorithms
        are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled get_float32_matmul_precision
        set_float32_matmul_precision set_deterministic_debug_mode get_deterministic_debug_mode set_flush_denormal set_warn_always
        is_warn_always_enabled compiled_with_cxx11_abi""".split(),
        "settings",
    ),
}


# Rooms of this package, which are bound as attributes where they are imported and are no names of PyTorch's.
_ROOMS = frozenset("""
    alias base checks choices dispatching namespace overridable removed segments settings sharing streams symbols views""".split())
_OWN = frozenset(("MissingFeature", "eager", "from_jax", "report", "trace_boundary"))
# What ``from torch import *`` does not give of what ``dir(torch)`` shows, beside the submodules.
_UNSTARRED = frozenset("""
    BFloat16Storage BFloat16Tensor ComplexDoubleStorage ComplexFloatStorage HalfStorage HalfTensor Storage StorageBase broadcast_shapes
    channels_last channels_last_3d classproperty compiled_with_cxx11_abi contiguous_format eig from_dlpack jagged legacy_contiguous_format
    lstsq lu matrix_rank ops pca_lowrank preserve_format segment_reduce set_default_dtype set_grad_enabled solve sparse_bsc sparse_bsr
    sparse_coo sparse_csc sparse_csr storage strided svd_lowrank symeig to_dlpack torch unique while_loop""".split())


def names():
    """What ``dir(jtensor)`` shows: the names that are there, and those that `late` finds when they are asked for."""
    from . import _foreach, _legacy
    found = {*vars(sys.modules["jtensor"]), *_SUBMODULES, *_ROOM_OF, *storages.BY_NAME, *_legacy.CPU, *_foreach.FUNCTIONS, *_FROM_RANDOM,
             *_FROM_NN, "JITException", "Storage", "__all__", "torch"}
    return sorted(found - _ROOMS)


def starred():
    """``jtensor.__all__``: what ``from jtensor import *`` gives, as PyTorch does; what is jtensor's own has to be named."""
    unstarred = _UNSTARRED | _OWN | set(_SUBMODULES) - {"export"}
    return [name for name in names() if name[0] != "_" and name not in unstarred]


def late(name):
    """Submodules are imported when they are asked for; an unknown name is an honest AttributeError."""
    if name == "__all__":
        return starred()
    if name in _SUBMODULES:
        try:
            return importlib.import_module("jtensor." + name)
        except ModuleNotFoundError as error:
            if error.name != "jtensor." + name:
                raise
    if name == "torch":                        # the package is an attribute of itself, in PyTorch too
        return sys.modules["jtensor"]
    if name in _ROOM_OF:
        return getattr(importlib.import_module("jtensor." + _ROOM_OF[name]), name)
    if name in storages.BY_NAME:
        return storages.BY_NAME[name]
    if name == "JITException":
        return importlib.import_module("jtensor.jit").Error
    if name == "Storage":
        from .tensor.memory.typed_storages import CLASSES
        return CLASSES[dtypes.get_default_dtype()]
    if name.endswith("Tensor"):
        from ._legacy import CPU
        if name in CPU:
            return CPU[name]
    if name.startswith("_foreach_"):
        from ._foreach import FUNCTIONS
        if name in FUNCTIONS:
            return FUNCTIONS[name]
    if name in _FROM_RANDOM:
        return getattr(importlib.import_module("jtensor.random"), name)
    if name in _FROM_NN:
        return getattr(importlib.import_module("jtensor.nn.functional.top_level"), name)
    raise AttributeError(f"module 'jtensor' has no attribute '{name}'")


_FROM_RANDOM = ("get_rng_state", "set_rng_state", "thread_safe_generator")
_FROM_NN = frozenset("""
    _softmax_backward_data adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout alpha_dropout_ avg_pool1d
    binary_cross_entropy_with_logits conv1d conv2d conv3d
    conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity ctc_loss dropout dropout_
    feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ gru gru_cell hinge_embedding_loss kl_div lstm lstm_cell
    margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d max_pool3d native_channel_shuffle native_dropout pairwise_distance
    poisson_nll_loss rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell triplet_margin_loss""".split())


def _exported(name):
    def method(self, **options):
        return getattr(importlib.import_module("jtensor.sharing"), name)(self, **options)
    method.__name__ = method.__qualname__ = f"__{name}__"
    return method


def _of_tensor(name):
    """A method that is asked for as a function, too."""
    def function(input):
        return getattr(input, name)()
    function.__doc__ = getattr(Tensor, name).__doc__
    return guarded(function, name)


def _printing(space):
    from .tensor import formatting
    space["set_printoptions"] = formatting.set_printoptions


def _autograd():
    """``torch.autograd``: its parts live in several rooms."""
    from . import autograd
    autograd.backward, autograd.grad = backward.backward, backward.grad
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "set_multithreading_enabled", "is_multithreading_enabled"):
        setattr(autograd, name, getattr(mode, name))
    autograd.detect_anomaly, autograd.set_detect_anomaly = anomaly.detect_anomaly, anomaly.set_detect_anomaly
    autograd.enforce_grad_layout_policy = mode.enforce_grad_layout_policy = layouts.enforce_grad_layout_policy
    autograd.SavedTensor, graph.Variable = shown.SavedTensor, variable.Variable
    graph.TorchDispatchMode = _python_dispatch.TorchDispatchMode
    tools.install(snapshot=shown.snapshot, restore=shown.restore)
    shown.install()
    for name, part in tools.PUBLIC.items():
        setattr(graph, name, part)
    autograd.grad_mode, autograd.anomaly_mode, autograd.functional, autograd.forward_ad = mode, anomaly, functional, forward_ad
    for name, part in (("grad_mode", mode), ("anomaly_mode", anomaly), ("variable", variable)):
        sys.modules[f"{autograd.__name__}.{name}"] = part          # under PyTorch's name, too, it can be imported
    autograd.gradcheck, autograd.gradgradcheck = gradcheck.gradcheck, gradcheck.gradgradcheck
    variable.variable.Variable = variable.Variable
    autograd.Variable, autograd.Function, autograd.variable = variable.Variable, function.Function, variable.variable


def _ops():
    """``torch.ops``: the operators of libraries, which few programs ask for."""
    from . import ops

    def space_of(name):
        return importlib.import_module("jtensor.library.spaces").space_of(name)
    ops.space_of = space_of


def _storage():
    """``torch.storage``: its classes are the tensors' matter."""
    from . import storage

    def _load_from_bytes(b):
        return importlib.import_module("jtensor.serialization").load(io.BytesIO(b), weights_only=False)
    _load_from_bytes.__module__ = storage.__name__
    storage.TypedStorage, storage.UntypedStorage = storages.TypedStorage, storages.UntypedStorage
    storage._load_from_bytes = _load_from_bytes                    # how PyTorch's pickles have memory


# -- small functions --------------------------------------------------------------------------------------------------


def _set_default_dtype(d):
    """The floating-point type that Python floats, and what is made of integers by division and its like, have from now on.

    ``TypeError`` for anything but a floating-point dtype.

    >>> torch.set_default_dtype(torch.float64)
    >>> torch.tensor(0.5).dtype, torch.set_default_dtype(torch.float32)
    (torch.float64, None)
    """
    executor.flush("default dtype")
    dtypes.set_default_dtype(d)
    dispatch.forget()


def _only_types(*given):
    for one in given:
        if not isinstance(one, dtypes.dtype):
            raise TypeError(f"must be torch.dtype, not {type(one).__name__}")              # said in PyTorch's words by `guarded`


def _promote_types(type1, type2):
    """The smallest dtype that holds values of both.

    >>> torch.promote_types(torch.int64, torch.float32)
    torch.float32
    """
    _only_types(type1, type2)
    return dtypes.promote_types(type1, type2)


def _can_cast(from_, to):
    """Whether a result of dtype ``from_`` may be written to ``to``: never to a lower kind (complex, floating-point, integer, bool).

    >>> torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)
    (True, False)
    """
    _only_types(from_, to)
    return dtypes.can_cast(from_, to)


def _result_type(tensor1, tensor2):
    """The dtype of arithmetic between two tensors, or a tensor and a number: numbers and 0-d tensors count by their kind alone.

    >>> torch.result_type(torch.tensor([1, 2], dtype=torch.uint8), 3), torch.result_type(torch.tensor([1, 2]), 0.5)
    (torch.uint8, torch.float32)
    """
    groups = ([], [], [])
    for x in (tensor1, tensor2):
        if isinstance(x, Tensor):
            groups[0 if x.ndim else 1].append(x.dtype)
        else:
            groups[2].append(dtypes.of_scalar(x))
    return dtypes.result_type(*groups)


def is_tensor(obj):
    """Whether the object is a tensor."""
    return isinstance(obj, Tensor)


def _report():
    """What the engine has done so far: programs, kernels, flushes by reason and line, donated bytes. Printable."""
    return report.REPORT


def _boundary(reason):
    """A natural end of a stretch of tape, such as the end of an optimizer step."""
    executor.flush(reason)


class _Eager:
    """Context manager: every operation runs at once, for debugging (``JTENSOR_EAGER=1`` does it for the whole process)."""

    def __enter__(self):
        executor.flush("eager")
        self.previous, dispatch.LOCAL.eager = dispatch.LOCAL.eager, True
        return self

    def __exit__(self, *exc):
        dispatch.LOCAL.eager = self.previous


__all__ = ["assemble", "custom", "late", "pieces", "retyped"]
