"""`torch.finfo` and `torch.iinfo`: the numeric limits of a dtype.

Owns: the limits and PyTorch's texts. May not know: tensors. Complex types answer for their parts.
"""
from . import dtypes
from .naming import TorchNamed, attribute_of, type_name

# name: (distance from 1 to the next number, largest, smallest normal, decimal digits kept). The distance of e5m2fnuz is PyTorch's word.
_FLOATING = {
    "float16": (2.0**-10, 65504.0, 2.0**-14, 3),
    "bfloat16": (2.0**-7, 3.3895313892515355e38, 2.0**-126, 2),
    "float32": (2.0**-23, 3.4028234663852886e38, 2.0**-126, 6),
    "float64": (2.0**-52, 1.7976931348623157e308, 2.0**-1022, 15),
    "float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6, 0),
    "float8_e4m3fnuz": (2.0**-3, 240.0, 2.0**-7, 0),
    "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14, 0),
    "float8_e5m2fnuz": (2.0**-3, 57344.0, 2.0**-15, 0),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 0),
}
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_PYTHON_TYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool, complex: dtypes.complex128}


class _Limits:
    """What both have: read-only fields, equality by type, no hash, no pickling, as in PyTorch."""

    __slots__ = ("dtype", "bits")

    def __setattr__(self, name, value):
        kind = type_name(type(self))
        if name in type(self)._shown or hasattr(self, name):
            raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def __eq__(self, other):
        return self.dtype == other.dtype if type(other) is type(self) else NotImplemented

    def __reduce_ex__(self, protocol):
        raise TypeError(f"cannot pickle '{type_name(type(self))}' object")

    def __repr__(self):
        # PyTorch streams numbers as C++ does by default: six significant digits, integers too
        fields = ", ".join([f"{name}={getattr(self, name):g}" for name in self._shown])
        return f"{type(self).__name__}({fields}, dtype={self.dtype})"


def _fill(self, **fields):
    for name, value in fields.items():
        object.__setattr__(self, name, value)
    return self


def _given_type(who, args, kwargs):
    """The dtype argument, or None if there is none; refused in PyTorch's words."""
    if len(args) > 1:
        if who == "iinfo":
            raise TypeError(f"iinfo() takes 1 positional argument but {len(args)} were given")
        kinds = ", ".join(["torch.dtype" if isinstance(a, dtypes.dtype) else type(a).__name__ for a in args])
        raise TypeError(f"finfo() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
                        " * (torch.dtype type)\n * ()\n")
    if not args and "type" not in kwargs:
        if who == "finfo" and not kwargs:
            return None
        raise TypeError(f'{who}() missing 1 required positional arguments: "type"')
    given = args[0] if args else kwargs["type"]
    found = given if isinstance(given, dtypes.dtype) else _PYTHON_TYPES.get(given) if isinstance(given, type) else None
    if found is None:
        raise TypeError(f"{who}(): argument 'type' (position 1) must be torch.dtype, not {type(given).__name__}")
    return found


class finfo(_Limits, metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "finfo"))):
    """Limits of a floating-point dtype (the default dtype if none is given): ``bits``, ``eps``, ``max``, ``min``, ``tiny``,
    ``smallest_normal``, ``resolution``, ``dtype`` (a string).

    ``TypeError`` if the dtype is not a floating-point or complex one.

    >>> finfo(dtypes.float16)
    finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)
    """

    __slots__ = ("eps", "max", "min", "tiny", "smallest_normal", "resolution")
    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __new__(cls, *args, **kwargs):
        given = _given_type("finfo", args, kwargs) or dtypes.get_default_dtype()
        name = _PARTS.get(given.name, given.name)
        if name not in _FLOATING:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        eps, largest, tiny, digits = _FLOATING[name]
        bits = 8 * given.itemsize // (1 + given.is_complex)
        lowest = tiny if name == "float8_e8m0fnu" else -largest          # that one has no sign
        return _fill(object.__new__(cls), dtype=name, bits=bits, eps=eps, max=largest, min=lowest, tiny=tiny, smallest_normal=tiny,
                     resolution=float(f"1e-{digits}"))


class iinfo(_Limits, metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "iinfo"))):
    """Limits of an integer dtype: ``bits``, ``max``, ``min``, ``dtype`` (a string).

    ``TypeError`` if the dtype is not an integer one.

    >>> iinfo(dtypes.int8).max
    127
    """

    __slots__ = ("max", "min")
    _shown = ("min", "max")

    def __new__(cls, *args, **kwargs):
        given = _given_type("iinfo", args, kwargs)
        if given is dtypes.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if given.is_floating_point or given.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = 8 * given.itemsize
        lowest, highest = (-1 << bits - 1, (1 << bits - 1) - 1) if given.is_signed else (0, (1 << bits) - 1)
        return _fill(object.__new__(cls), dtype=given.name, bits=bits, max=highest, min=lowest)
