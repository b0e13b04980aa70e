"""`torch.backends.cuda`: products and attention on a GPU, where XLA makes the choice. That TF32 may be used is heeded; other permissions
are kept, readable, and not made use of."""
import enum
import warnings

import jtensor

from ..base.precision import ALLOWED


class _Permissions:
    """What products of matrices may give up for speed. ``allow_tf32``: whether those of float32 may take TF32's 10 bits of a factor."""

    def __init__(self, **switches):
        self.__dict__.update(switches)

    @property
    def allow_tf32(self):
        """What `set_float32_matmul_precision` permits, too."""
        return ALLOWED["matmul"]

    @allow_tf32.setter
    def allow_tf32(self, allowed):
        if not isinstance(allowed, bool):
            raise TypeError(f"set_allow_tf32_cublas expects a bool, but got {type(allowed).__name__}")
        jtensor.set_float32_matmul_precision("high" if allowed else "highest")


    @property
    def fp32_precision(self):
        """The same by its newer name: "tf32" where it is allowed, "ieee" where it was forbidden, "none" where nothing was said."""
        return "tf32" if ALLOWED["matmul"] else "ieee" if self._said == "tf32" else self._said

    @fp32_precision.setter
    def fp32_precision(self, precision):
        if precision not in ("none", "ieee", "tf32"):
            raise RuntimeError("backend 'cuda' does not support precision 'bf16'" if precision == "bf16" else
                               f"Unknown precision: {precision}")
        jtensor.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        self.__dict__["_said"] = precision


matmul = _Permissions(_said="none", allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True)


def is_built():
    """Whether the library was built with CUDA of its own: no, GPUs come through JAX."""
    return False


def flash_sdp_enabled():
    """Whether scaled dot product attention may be computed by one operator that does not keep the weights."""
    return _ways().allowed[_ways().SDPBackend.FLASH_ATTENTION]


def enable_flash_sdp(enabled):
    """Allows that, or not."""
    _ways().allowed[_ways().SDPBackend.FLASH_ATTENTION] = bool(enabled)


def math_sdp_enabled():
    """Whether it may be computed as products and a softmax."""
    return _ways().allowed[_ways().SDPBackend.MATH]


def enable_math_sdp(enabled):
    """Allows that, or not."""
    _ways().allowed[_ways().SDPBackend.MATH] = bool(enabled)


def mem_efficient_sdp_enabled():
    """Whether it might be computed by the memory-efficient kernel, which is not here."""
    return _ways().allowed[_ways().SDPBackend.EFFICIENT_ATTENTION]


def enable_mem_efficient_sdp(enabled):
    """Allows that, or not."""
    _ways().allowed[_ways().SDPBackend.EFFICIENT_ATTENTION] = bool(enabled)


def cudnn_sdp_enabled():
    """Whether it might be computed by cuDNN's kernel, which is not here."""
    return _ways().allowed[_ways().SDPBackend.CUDNN_ATTENTION]


def enable_cudnn_sdp(enabled):
    """Allows that, or not."""
    _ways().allowed[_ways().SDPBackend.CUDNN_ATTENTION] = bool(enabled)


def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The older form of `nn.attention.sdpa_kernel`: a context that says which ways are allowed."""
    warnings.warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please see "
                  "`torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.", FutureWarning, stacklevel=2)
    way = _ways().SDPBackend
    wanted = {way.FLASH_ATTENTION: enable_flash, way.MATH: enable_math, way.EFFICIENT_ATTENTION: enable_mem_efficient,
              way.CUDNN_ATTENTION: enable_cudnn}
    return _ways().sdpa_kernel([one for one, enabled in wanted.items() if enabled])


def _ways():
    return jtensor.nn.attention


# -- which library is asked for: a hint, kept and not made use of -------------------------------------------------------

class _LinalgBackend(enum.Enum):
    Default, Cusolver, Magma = range(3)


class _BlasBackend(enum.Enum):
    Default, Cublas, Cublaslt, Ck = range(4)


class _ROCmFABackend(enum.Enum):
    Default, AOTriton, Ck = range(3)


_LIBRARIES = {"default": _LinalgBackend.Default, "cusolver": _LinalgBackend.Cusolver, "magma": _LinalgBackend.Magma}
_PRODUCTS = {"default": _BlasBackend.Default, "cublas": _BlasBackend.Cublas, "hipblas": _BlasBackend.Cublas,
             "cublaslt": _BlasBackend.Cublaslt, "hipblaslt": _BlasBackend.Cublaslt, "ck": _BlasBackend.Ck}
_ATTENTION = {"default": _ROCmFABackend.Default, "aotriton": _ROCmFABackend.AOTriton, "ck": _ROCmFABackend.Ck}
_OF_A_GPU = {_LinalgBackend.Cusolver: "cuSOLVER", _LinalgBackend.Magma: "MAGMA", _BlasBackend.Cublaslt: "cuBLASLt"}
_asked = {"linalg": _LinalgBackend.Default, "blas": _BlasBackend.Cublas, "attention": _ROCmFABackend.Default}


def _preferred(what, names, backend, error=RuntimeError):
    if backend is None:
        return _asked[what]
    if isinstance(backend, str):
        if backend not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        backend = names[backend]
    elif not isinstance(backend, type(names["default"])):
        raise error("Unknown input value type." if error is RuntimeError else f"Unknown input value. Choose from: {', '.join(names)}.")
    library = _OF_A_GPU.get(backend)
    if library is not None and not jtensor.cuda.is_available():
        raise RuntimeError(f"Cannot set preferred backend to {library} if PyTorch has not been compiled with {library}.")
    _asked[what] = _BlasBackend.Cublas if backend is _BlasBackend.Default else backend
    return _asked[what]


def preferred_linalg_library(backend=None):
    """Which library linear algebra on a GPU is asked to use ("default", "cusolver", "magma"), once ``backend`` is set, if it is given.

    >>> torch.backends.cuda.preferred_linalg_library()
    <_LinalgBackend.Default: 0>
    """
    return _preferred("linalg", _LIBRARIES, backend)


def preferred_blas_library(backend=None):
    """The same for products of matrices: "default", "cublas", "cublaslt", "ck", or the first two's names on AMD's."""
    return _preferred("blas", _PRODUCTS, backend)


def preferred_rocm_fa_library(backend=None):
    """The same for attention on AMD's GPUs: "default", "aotriton", "ck"."""
    return _preferred("attention", _ATTENTION, backend, ValueError)


def fp16_bf16_reduction_math_sdp_allowed():
    """Whether attention made of products and a softmax may add up in half precision: kept, and not made use of."""
    return _asked.get("halves", False)


def allow_fp16_bf16_reduction_math_sdp(enabled):
    """Allows that, or not."""
    if not isinstance(enabled, bool):
        raise RuntimeError(f"set_sdp_use_math expects a bool, but got {type(enabled).__name__}")           # PyTorch's words
    _asked["halves"] = enabled


def is_flash_attention_available():
    """Whether PyTorch's kernel for attention is there: no, XLA makes one."""
    return False


def is_ck_sdpa_available():
    """Whether AMD's composable kernels are there: no."""
    return False
