"""`torch.return_types`: the named tuples of operators with several results, by their names. Owns: nothing; they are made in `base`."""
from .base.return_types import _made


def __getattr__(name):
    if name in _made:
        return _made[name]
    raise AttributeError(f"module 'jtensor.return_types' has no attribute '{name}'")


def __dir__():
    return sorted(_made)
