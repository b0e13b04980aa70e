"""DLPack's numbers and headers. Owns: `torch.utils.dlpack.DLDeviceType`; types that NumPy has not, in capsules. May not know: tensors."""
import ctypes
import enum

import numpy as np

from . import dtypes


class DLDeviceType(enum.IntEnum):
    """The kinds of device that DLPack knows, by its numbers.

    >>> torch.ones(1).__dlpack_device__()
    (<DLDeviceType.kDLCPU: 1>, 0)
    """

    __module__ = "torch.utils.dlpack"
    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


# What NumPy has no name for goes as bytes of that size through it: DLPack's kind of such elements, and their type.
_STRANGERS = {4: dtypes.bfloat16, 10: dtypes.float8_e4m3fn, 11: dtypes.float8_e4m3fnuz, 12: dtypes.float8_e5m2, 13: dtypes.float8_e5m2fnuz}
_KINDS = {dtype: kind for kind, dtype in _STRANGERS.items()}
_UNSIGNED = 1
_PLACES = {b"dltensor": 20, b"dltensor_versioned": 52}           # of the element's type, in what a capsule points to


def is_stranger(dtype):
    """Whether NumPy gives no capsule of this type, and ``renamed`` has to tell it."""
    return dtype in _KINDS


def _kind_in(capsule):
    """Where a capsule says what its elements are, None for one that is used up."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(capsule)
    if name not in _PLACES:
        return None
    return ctypes.c_uint8.from_address(api.PyCapsule_GetPointer(capsule, name) + _PLACES[name])


def renamed(capsule, dtype):
    """A capsule of unsigned integers, told to be one of the type of that size."""
    _kind_in(capsule).value = _KINDS[dtype]
    return capsule


class _Exporter:
    """Hands on what another object exports, and remembers the type that NumPy would not know."""

    stranger = None

    def __init__(self, exporter):
        self.exporter = exporter

    def __dlpack__(self, **options):
        capsule = self.exporter.__dlpack__(**options)
        kind = _kind_in(capsule)
        if kind is not None and kind.value in _STRANGERS:
            self.stranger, kind.value = _STRANGERS[kind.value], _UNSIGNED
        return capsule

    def __dlpack_device__(self):
        return self.exporter.__dlpack_device__()


def elements(exporter):
    """An ndarray on the memory of an object with ``__dlpack__``, and its dtype where NumPy has not that (then the array is of integers)."""
    asked = _Exporter(exporter)
    return np.from_dlpack(asked), asked.stranger
