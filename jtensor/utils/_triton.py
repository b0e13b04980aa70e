"""`torch.utils._triton`: whether Triton is there, which what is compiled here has no use for. Owns: the answers."""

__all__ = ["has_triton", "has_triton_package"]


def has_triton_package():
    """Whether programs of Triton can be run here: no."""
    return False


has_triton = has_triton_tma = has_triton_tma_device = has_triton_package
