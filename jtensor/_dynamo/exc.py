"""What `torch._dynamo` raises. Owns: these exceptions; `InvalidBackend` alone is ever raised, the others are there for `except`."""

__all__ = ["BackendCompilerFailed", "InternalTorchDynamoError", "InvalidBackend", "TorchDynamoException", "TorchRuntimeError",
           "Unsupported"]


class TorchDynamoException(RuntimeError):
    """What all of them are."""


class InvalidBackend(TorchDynamoException):
    """A backend's name that is not known.

    >>> raise torch._dynamo.exc.InvalidBackend(name="fast")
    Traceback (most recent call last):
    jtensor._dynamo.exc.InvalidBackend: Invalid backend: 'fast', see `torch._dynamo.list_backends()` for available backends.
    """

    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class InternalTorchDynamoError(TorchDynamoException):
    """A failure of the compiler of Python code, which is not here."""


class Unsupported(TorchDynamoException):
    """Code that the compiler of Python code does not take; here all code runs."""


class TorchRuntimeError(TorchDynamoException):
    """An error of an operator while code is looked at; here it is the operator's own."""


class BackendCompilerFailed(TorchDynamoException):
    """A failure of a backend. Where XLA fails, operations run one by one."""
