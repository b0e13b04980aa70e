"""jtensor: PyTorch's imperative Tensor on JAX.

`import jtensor as torch`, or `python -m jtensor script.py`. Operations are recorded on a tape and run as XLA programs when a value is looked
at; mutation, views, aliasing and autograd follow PyTorch. `jtensor.report()` says what the engine has done.
"""
from .base import malloc as _malloc

_malloc.configure()                            # before JAX starts its threads

from .namespace import assemble as _assemble  # noqa: E402

__version__ = "2.13.0+jtensor"
_assemble(globals())


def __getattr__(name):
    from .namespace import late
    return late(name)
