"""`torch.nn.attention`: by which of PyTorch's ways scaled dot products may be computed.

Two are here, as on PyTorch's CPU: one operator that does not keep the weights (``FLASH_ATTENTION``), and products and a softmax
(``MATH``). Both are XLA's work; they differ in nodes of the graph, in layouts and in the last bits.

Owns: the permissions. May not know: tensors.
"""
import contextlib
import enum

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.Enum):
    """The ways that PyTorch has."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_CHOICES = (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION)
allowed = dict.fromkeys(_CHOICES, True)


def chosen(fits):
    """Whether one operator computes an attention that it fits (or not), as far as it is allowed to.

    RuntimeError where nothing that is allowed can.
    """
    one, several = allowed[SDPBackend.FLASH_ATTENTION], allowed[SDPBackend.MATH]
    if fits and one:
        return True
    if several:
        return False
    if one:
        raise RuntimeError("No available kernel.  Aborting execution.")
    raise RuntimeError("No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math "
                       "kernel and the fused kernels.")


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Inside, `scaled_dot_product_attention` is computed by one of ``backends`` (an `SDPBackend` or several), or raises RuntimeError.

    A context manager and a decorator. ``set_priority``: as on PyTorch's CPU, the operator comes first however they are ordered.

    >>> import jtensor as torch
    >>> from jtensor.nn.attention import SDPBackend, sdpa_kernel
    >>> q = torch.ones(1, 1, 2, 4, requires_grad=True)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     out = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    >>> out.grad_fn.name()
    'UnsafeViewBackward0'
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                             f"{type(backends).__name__}")
    wanted = {backends} if isinstance(backends, SDPBackend) else set(backends)
    before = dict(allowed)
    allowed.update({choice: choice in wanted for choice in _CHOICES})
    try:
        yield {}
    finally:
        allowed.update(before)


__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]
