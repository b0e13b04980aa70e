"""jtensor: PyTorch's imperative Tensor on JAX.

`import jtensor as torch`, or `python -m jtensor script.py`. Operations are recorded on a tape and run as XLA programs when a value is
looked at; mutation, views, aliasing and autograd follow PyTorch. `jtensor.report()` says what the engine has done.
"""
import gc as _gc

from .base import collector as _collector
from .base import malloc as _malloc

_malloc.configure()                            # before JAX starts its threads

_collecting = _gc.isenabled()
_gc.disable()                                  # what an import makes lives on: walking JAX's heap for it would double the cost
try:
    from .namespace import assemble as _assemble
    _assemble(globals())
    _collector.settle()
finally:
    if _collecting:
        _gc.enable()

__version__ = "2.13.0+jtensor"


def __getattr__(name):
    from .namespace import late
    return late(name)


def __dir__():
    from .namespace import names
    return names()
