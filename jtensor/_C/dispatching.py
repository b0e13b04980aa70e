"""PyTorch's dispatch keys, by which its C++ core finds kernels: names to be registered under (`torch.library`), and sets of them.

Owns: the names, and what it means here to leave some out, which only those of autocast have a meaning for. May not know: kernels.
"""
import enum

import jtensor

_DEVICES = "CPU CUDA XPU MPS HPU XLA Meta PrivateUse1".split()
_OTHERS = """CompositeExplicitAutograd CompositeImplicitAutograd Conjugate Negative ZeroTensor BackendSelect ADInplaceOrView Python
             FuncTorchBatched FuncTorchGradWrapper Functionalize Dense Sparse SparseCsr Quantized NestedTensor Autograd AutogradOther
             AutogradFunctionality AutogradNestedTensor""".split()

DispatchKey = enum.Enum("DispatchKey", [
    "Undefined", *_OTHERS, *_DEVICES,
    *(prefix + device for prefix in ("Autocast", "Autograd", "Sparse", "SparseCsr", "Quantized", "NestedTensor") for device in _DEVICES)],
    module="torch._C")
"""The names; those of devices that are nowhere here can be named as well."""


class DispatchKeySet:
    """A set of dispatch keys: ``DispatchKeySet(key) | DispatchKeySet(other)``."""

    __module__ = "torch._C"

    def __init__(self, *keys):
        self._keys = frozenset(keys)

    def has(self, key):
        """Whether a key is in it."""
        return key in self._keys

    def add(self, key):
        """A set with one more."""
        return DispatchKeySet(*self._keys, key)

    def remove(self, key):
        """A set with one less."""
        return DispatchKeySet(*(self._keys - {key}))

    def __or__(self, other):
        return DispatchKeySet(*self._keys, *other._keys)

    def __and__(self, other):
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other):
        return DispatchKeySet(*(self._keys - other._keys))

    def __eq__(self, other):
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self):
        return hash(self._keys)

    def __repr__(self):
        return f"DispatchKeySet({', '.join(key.name for key in DispatchKey if key in self._keys)})"


class _ExcludeDispatchKeyGuard:
    """Context manager in which calls pass some keys by. Those of autocast: within, that device's regions cast nothing."""

    __module__ = "torch._C"

    def __init__(self, keys):
        self._devices = [device for device in ("cpu", "cuda") if keys.has(DispatchKey[f"Autocast{device.upper()}"])]

    def __enter__(self):
        self._before = [jtensor.is_autocast_enabled(device) for device in self._devices]
        for device in self._devices:
            jtensor.set_autocast_enabled(device, False)

    def __exit__(self, *_):
        for device, before in zip(self._devices, self._before, strict=True):
            jtensor.set_autocast_enabled(device, before)
