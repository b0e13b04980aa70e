"""Objects that are no tensors as plain pickles which PyTorch reads, and the other way round.

Owns: that such a pickle names PyTorch's classes. May not know: whose objects they are.
"""
from . import reading, writing

_PROTOCOL = 4


def dump(obj, file):
    """Writes an object to an open binary file, its classes by PyTorch's names."""
    writing.Pickler(file, _PROTOCOL, False).dump(obj)


def load(file):
    """Reads what `dump` or PyTorch's pickle wrote. It may import what it names: for files that you trust."""
    return reading._OfAnything(file, None).load()
