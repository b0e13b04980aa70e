"""What `no_grad` is besides a context: a decorator. Owns: the class that other libraries derive such contexts from."""
from ..autograd.mode import _Mode


class _DecoratorContextManager(_Mode):
    """A context that also decorates functions, each call of which it is entered anew for. To be derived from: ``__enter__``, ``__exit__``,
    and `clone` where there are arguments."""

    __module__ = "torch.utils._contextlib"

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError
