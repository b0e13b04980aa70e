"""Functions that several layers share, given to each of them under its own name.

Python's errors name the function that was called (``Conv2d.forward() takes 2 positional arguments but 3 were given``). Where PyTorch
writes a function out in every class, here it stands once, in a base. Owns: which bases these are. May not know: what the functions do.
"""
from ...base.functions import as_it_is
from .activation import _Inplace
from .batchnorm import _BatchNorm
from .conv import _Conv, _ConvTransposeNd
from .lazy_conv import _LazyConv, _LazyConvTranspose
from .padding import _PadNd, _ReflectionPadNd, _ReplicationPadNd
from .pooling import (
    _AdaptiveAvgPoolNd,
    _AdaptiveMaxPoolNd,
    _AvgPoolWithDivisor,
    _FractionalMaxPoolNd,
    _LPPoolNd,
    _MaxPoolNd,
    _MaxUnpoolNd,
)
from .rnn import RNNBase
from .softmax import _AlongDim

# Bases whose public classes have these functions to themselves.
_SHARED = {
    "__init__": (_AlongDim, _Inplace, _Conv, _ConvTransposeNd, _LazyConv, _LazyConvTranspose, _PadNd, _AvgPoolWithDivisor,
                 _FractionalMaxPoolNd, _MaxUnpoolNd),
    "forward": (_Conv, _ConvTransposeNd, _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd, _AvgPoolWithDivisor, _FractionalMaxPoolNd, _LPPoolNd,
                _MaxPoolNd, _MaxUnpoolNd, RNNBase),
}
# Bases that have one to themselves, which their public classes share.
_OF_BASES = ((_BatchNorm, "__init__"), (_ReflectionPadNd, "forward"), (_ReplicationPadNd, "forward"))


def _own(cls, name):
    function = as_it_is(getattr(cls, name))
    function.__qualname__ = f"{cls.__name__}.{name}"
    setattr(cls, name, function)


def give_own(classes):
    """Gives each of the classes what it shares with others, those that are bases of others first."""
    for name, bases in _SHARED.items():
        for cls in sorted([cls for cls in classes if issubclass(cls, bases) and cls not in bases], key=lambda cls: len(cls.__mro__)):
            if next(c for c in cls.__mro__ if name in c.__dict__).__name__.startswith("_") or getattr(cls, name) is getattr(RNNBase, name):
                _own(cls, name)
    for cls, name in _OF_BASES:
        _own(cls, name)
