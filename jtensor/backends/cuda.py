"""`torch.backends.cuda`: products and attention on a GPU, where XLA makes the choice. Permissions are kept, readable, and not made use
of."""


class _Permissions:
    """What a program may give up for speed; it does not."""

    def __init__(self, **switches):
        self.__dict__.update(switches)


matmul = _Permissions(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True)


def is_built():
    """Whether the library was built with CUDA of its own: no, GPUs come through JAX."""
    return False


def flash_sdp_enabled():
    """Whether scaled dot product attention may be computed by flash attention: it is computed as written."""
    return False


def mem_efficient_sdp_enabled():
    """Whether it may be computed by the memory-efficient kernel: it is computed as written."""
    return False


def math_sdp_enabled():
    """Whether it may be computed as written: always."""
    return True
