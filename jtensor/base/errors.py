"""The exceptions PyTorch has beside Python's own, and jtensor's honest refusal.

Owns: the tree below and the text of a refusal. May not know: tensors.

    RuntimeError
    ├── OutOfMemoryError         the device has no room for a program's buffers
    ├── AcceleratorError         PyTorch's, for handlers that name it
    └── NotImplementedError
        └── MissingFeature       jtensor does not have it (yet); names the nearest thing that works
"""


class OutOfMemoryError(RuntimeError):
    """The device ran out of memory; every tensor is as it was before the operation."""

    __module__ = "torch"


class AcceleratorError(RuntimeError):
    """An error of the accelerator itself. Nothing here raises it: XLA's errors come as they are."""

    __module__ = "torch"


class MissingFeature(NotImplementedError):
    """A feature of PyTorch that jtensor does not have; the message names the nearest thing that works."""

    __module__ = "jtensor"


def missing(what, instead=None):
    """The exception for a feature that is not there: ``raise missing("sparse layouts", "dense tensors")``."""
    return MissingFeature(f"jtensor does not have {what}" + (f"; what works: {instead}" if instead else ""))


class _LinAlgError(RuntimeError):
    """A matrix that a linear algebra function cannot work with: singular, not positive-definite, not converging."""

    __module__ = "torch._C"


LinAlgError = _LinAlgError
