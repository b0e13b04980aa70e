"""`torch.jit.frontend`: the exceptions of sources that TorchScript does not have. Owns: these. May not know: anything else."""


class FrontendError(Exception):
    """Source that TorchScript does not have."""

    __module__ = "torch.jit.frontend"


class NotSupportedError(FrontendError):
    """What TorchScript has no word for."""

    __module__ = "torch.jit.frontend"


class UnsupportedNodeError(NotSupportedError):
    """A statement or an expression of Python's that TorchScript does not have."""

    __module__ = "torch.jit.frontend"
