"""Neural networks: modules, their parameters, the functions behind them, and initialisation.

>>> import jtensor as torch
>>> net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
>>> net(torch.ones(2, 4)).shape
torch.Size([2, 1])
"""
from . import attention as attention
from . import functional as functional
from . import grad as grad
from . import init as init
from . import modules as modules
from . import parallel as parallel
from . import parameter as parameter
from . import quantized as quantized
from . import utils as utils
from .modules import *  # noqa: F403
from .modules import __all__ as _modules
from .parallel import DataParallel as DataParallel
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

__all__ = sorted([*_modules, "Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter", "factory_kwargs",
                  "attention", "common_types", "functional", "grad", "init", "modules", "parallel", "parameter", "quantized", "utils"])


def factory_kwargs(kwargs):
    """Of a constructor's keyword arguments those that say how tensors are made: device, dtype and memory_format.

    TypeError for any other keyword, and where ``factory_kwargs`` inside contradicts one beside it.
    """
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    expected = simple | {"factory_kwargs"}
    if not kwargs.keys() <= expected:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - expected}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in simple:
        if name in kwargs:
            if name in found:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            found[name] = kwargs[name]
    return found
