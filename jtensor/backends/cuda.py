"""`torch.backends.cuda`: products and attention on a GPU, where XLA makes the choice. Permissions are kept, readable, and not made use
of."""
import warnings

import jtensor


class _Permissions:
    """What a program may give up for speed; it does not."""

    def __init__(self, **switches):
        self.__dict__.update(switches)


matmul = _Permissions(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True)


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
