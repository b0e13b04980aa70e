"""What `torch._dynamo` raises. Owns: these exceptions; `InvalidBackend` and `UserError` alone are raised, the others are for `except`."""

__all__ = ["BackendCompilerFailed", "InternalTorchDynamoError", "InvalidBackend", "TorchDynamoException", "TorchRuntimeError",
           "Unsupported", "UserError"]


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


class UserError(Unsupported):
    """Arguments of `torch.export.export` that are none. ``error_type``: a kind of errors, kept and nothing else.

    >>> torch.export.export(torch.nn.ReLU(), torch.ones(2))                 # doctest: +ELLIPSIS
    Traceback (most recent call last):
    jtensor._dynamo.exc.UserError: Expecting `args` to be a tuple of example positional inputs, got <class 'torch.Tensor'>...
    """

    def __init__(self, error_type, msg, case_name=None):
        super().__init__(msg)
        self.error_type, self.message = error_type, msg


class TorchRuntimeError(TorchDynamoException):
    """An error of an operator while code is looked at; here it is the operator's own."""


class BackendCompilerFailed(TorchDynamoException):
    """A failure of a backend. Where XLA fails, operations run one by one."""
