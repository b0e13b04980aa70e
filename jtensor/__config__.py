"""`torch.__config__`: what computes here. Owns: these texts."""


def show():
    """What jtensor computes with: versions of JAX and NumPy, and where from.

    >>> print(torch.__config__.show())                              # doctest: +ELLIPSIS
    jtensor built with:
      - JAX ...
    """
    import jax
    import jaxlib
    import numpy as np

    import jtensor
    return (f"jtensor built with:\n  - JAX {jax.__version__}, jaxlib {jaxlib.__version__} (XLA)\n  - NumPy {np.__version__}\n"
            f"  - behaviour of PyTorch {jtensor.__version__.split('+')[0]}\n")


def parallel_info():
    """How many threads XLA works with."""
    import jtensor
    return f"XLA:\n\tget_num_threads() : {jtensor.get_num_threads()}\n\tget_num_interop_threads() : {jtensor.get_num_interop_threads()}\n"
