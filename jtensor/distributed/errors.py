"""What goes wrong between processes. Owns: PyTorch's tree of these errors.

    RuntimeError
    └── DistError
        ├── DistBackendError
        │   └── DistNetworkError     no connection, or none any more
        ├── DistStoreError           a key that did not come in time
        └── QueueEmptyError
"""


class DistError(RuntimeError):
    """Something went wrong between processes."""

    __module__ = "torch.distributed"


class DistBackendError(DistError):
    """What processes talk by has failed."""

    __module__ = "torch.distributed"


class DistNetworkError(DistError):
    """There is no connection to another process, or there is none any more."""

    __module__ = "torch.distributed"


class DistStoreError(DistError):
    """What a store was asked for did not come in time."""

    __module__ = "torch.distributed"


class QueueEmptyError(DistStoreError):
    """A queue of a store that nobody waits for has nothing in it."""

    __module__ = "torch.distributed"


__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]
