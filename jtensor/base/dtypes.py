"""Element types: PyTorch's `dtype` objects, their NumPy counterparts and the promotion lattice.

Owns: which types exist, their names and texts, the default dtype, `promote_types`, `result_type`'s lattice.
May not know: tensors. ml_dtypes (a dependency of jaxlib) gives NumPy the types it lacks.

>>> from jtensor.base import dtypes
>>> dtypes.promote_types(dtypes.int64, dtypes.float16)
torch.float16
"""
import ml_dtypes
import numpy as np

from .errors import missing
from .naming import TorchNamed, attribute_of

_BY_NUMPY = {}
_BY_NAME = {}


class dtype(metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "dtype"))):
    """The type of a tensor's elements; one object for each type, compared by identity.

    Attributes: ``name`` ("float32"), ``itemsize`` (bytes), ``is_floating_point``, ``is_complex``, ``is_signed``,
    ``numpy`` (the `numpy.dtype`), ``category`` (0 bool, 1 integer, 2 floating, 3 complex: the rank in promotion).
    """

    __slots__ = ("name", "itemsize", "is_floating_point", "is_complex", "is_signed", "numpy", "category", "differentiable",
                 "_text", "__weakref__")

    def __init__(self):
        raise TypeError("cannot create 'torch.dtype' instances")          # those that there are, this module makes by hand

    def __repr__(self):
        return self._text

    def __getattr__(self, name):
        if name in ("numpy", "category"):                 # of a name alone, whose counterpart whoever makes an array asks for
            raise missing(f"tensors of {self}", "complex64" if self.is_complex else "float8_e4m3fn, or uint8 for its bits" if
                          self.is_floating_point else "int8 and a scale of one's own")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __reduce__(self):
        return by_name, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    @property
    def abbr(self):
        """The short name that graphs are printed with: "f32", "bf16", "i64", "b8"."""
        if self is bool:
            return "b8"
        stem = self.name.rstrip("0123456789")
        if stem in _SHORT and int(self.name[len(stem):]) >= 8:
            return _SHORT[stem] + self.name[len(stem):]
        short = self.name.replace("float8_", "f8").replace("float4_", "f4").replace("_", "").replace("bits", "b")
        return short if "x" in short or short[0] != "b" else short + "x1"

    def to_real(self):
        """The real type that a complex type is made of; itself if it is real."""
        return _TO_REAL.get(self, self)

    def to_complex(self):
        """The complex type whose parts have this type; itself if it is complex. There is none of integers: ``RuntimeError``."""
        return complex32 if self in (float16, complex32) else self.computed_complex()

    def computed_complex(self):
        """The complex type that numbers of this type are computed in: as `to_complex`, but there are no tensors of complex32."""
        if self not in _TO_COMPLEX:
            raise RuntimeError(f"Unknown Complex ScalarType for {scalar_name(self)}")
        return _TO_COMPLEX[self]


_SHORT = {"float": "f", "bfloat": "bf", "complex": "c", "int": "i", "uint": "u"}


def by_name(name):
    """The dtype of this name: how dtypes are pickled."""
    return _BY_NAME[name]


def _make(name, numpy_type, category, signed=True):
    self = dtype.__new__(dtype)
    self.name, self.numpy, self.category = name, np.dtype(numpy_type), category
    self.itemsize = self.numpy.itemsize
    self.is_floating_point, self.is_complex, self.is_signed = category == 2, category == 3, signed
    self.differentiable = category >= 2
    self._text = "torch." + name
    _BY_NUMPY[self.numpy] = _BY_NAME[name] = self
    return self


bool = _make("bool", np.bool_, 0, False)          # PyTorch's name
uint8 = _make("uint8", np.uint8, 1, False)
int8 = _make("int8", np.int8, 1)
int16 = _make("int16", np.int16, 1)
int32 = _make("int32", np.int32, 1)
int64 = _make("int64", np.int64, 1)
uint16 = _make("uint16", np.uint16, 1, False)
uint32 = _make("uint32", np.uint32, 1, False)
uint64 = _make("uint64", np.uint64, 1, False)
float16 = _make("float16", np.float16, 2)
bfloat16 = _make("bfloat16", ml_dtypes.bfloat16, 2)
float32 = _make("float32", np.float32, 2)
float64 = _make("float64", np.float64, 2)
float8_e4m3fn = _make("float8_e4m3fn", ml_dtypes.float8_e4m3fn, 2)
float8_e5m2 = _make("float8_e5m2", ml_dtypes.float8_e5m2, 2)
float8_e4m3fnuz = _make("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 2)
float8_e5m2fnuz = _make("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, 2)
complex64 = _make("complex64", np.complex64, 3)
complex128 = _make("complex128", np.complex128, 3)
LARGEST_E4M3FN = 448.0          # what PyTorch makes of everything beyond it, infinities too; the others become infinite, or NaN

ALIASES = {"half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
           "cfloat": complex64, "cdouble": complex128}
_TO_REAL = {complex64: float32, complex128: float64}
_TO_COMPLEX = {float32: complex64, float64: complex128, float16: complex64, bfloat16: complex64, complex64: complex64,
               complex128: complex128}
ALL = tuple(_BY_NAME.values())
NAMES = dict(_BY_NAME)


def _name_alone(name, itemsize, signed=True):
    """A type that programs name and no tensor has: it has no counterpart (`dtype.__getattr__`)."""
    self = object.__new__(dtype)
    self.name, self.itemsize, self.is_signed, self._text = name, itemsize, signed, "torch." + name
    self.is_floating_point, self.is_complex = name[0] == "f", name[0] == "c"
    self.differentiable = self.is_floating_point or self.is_complex
    _BY_NAME[name] = self
    return self


NAMES_ALONE = (_name_alone("complex32", 4), _name_alone("qint8", 1), _name_alone("quint8", 1, False), _name_alone("qint32", 4),
               _name_alone("quint4x2", 1, False), _name_alone("quint2x4", 1, False),
               *(_name_alone(f"int{bits}", 1) for bits in range(1, 8)), *(_name_alone(f"uint{bits}", 1, False) for bits in range(1, 8)),
               *(_name_alone(name, 1, False) for name in ("bits8", "bits1x8", "bits2x4", "bits4x2")), _name_alone("bits16", 2, False),
               _name_alone("float4_e2m1fn_x2", 1), _name_alone("float8_e8m0fnu", 1, False))
complex32 = NAMES_ALONE[0]
_TO_REAL[complex32] = float16


def of_numpy(numpy_type):
    """The dtype of a `numpy.dtype`; ``TypeError`` with PyTorch's text if there is none."""
    found = _BY_NUMPY.get(numpy_type if type(numpy_type) is np.dtype else np.dtype(numpy_type))
    if found is None:
        if numpy_type == np.dtype(numpy_type).newbyteorder("=") and _BY_NUMPY.get(np.dtype(numpy_type).newbyteorder("=")):
            return _BY_NUMPY[np.dtype(numpy_type).newbyteorder("=")]
        raise TypeError(f"can't convert np.ndarray of type {_numpy_text(numpy_type)}. The only supported types are: float64, float32, "
                        "float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.")
    return found


def _numpy_text(numpy_type):
    kind = np.dtype(numpy_type).type
    return f"numpy.{kind.__name__}"


# -- the default type -------------------------------------------------------------------------------------------------

_default = float32


def get_default_dtype():
    """The floating-point type that Python floats and integer-to-float operators get."""
    return _default


def set_default_dtype(d):
    """Sets the default floating-point type; anything but a floating-point dtype raises ``TypeError``."""
    global _default
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def default_complex():
    return {float64: complex128}.get(_default, complex64)


# -- promotion --------------------------------------------------------------------------------------------------------

_SIGNED = (int8, int16, int32, int64)
_FLOATS = (float16, bfloat16, float32, float64)
_WIDE_UNSIGNED = (uint16, uint32, uint64)


def _promote(a, b):
    if a is b:
        return a
    if a.name.startswith("float8") or b.name.startswith("float8"):
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {scalar_name(a)} and {scalar_name(b)}")
    low, high = (a, b) if a.category <= b.category else (b, a)
    if high.category == 3:
        if low in _WIDE_UNSIGNED:
            raise _unsupported_unsigned(a, b)
        wide = high is complex128 or low in (complex128, float64)
        return complex128 if wide else complex64
    if high.category == 2:
        if low.category < 2:
            return high
        return float32 if {a, b} == {float16, bfloat16} else max(a, b, key=_FLOATS.index)
    if a in _WIDE_UNSIGNED or b in _WIDE_UNSIGNED:
        raise _unsupported_unsigned(a, b)
    if low.category == 0:
        return high
    if uint8 in (a, b):
        other = b if a is uint8 else a
        return int16 if other is int8 else other
    return max(a, b, key=_SIGNED.index)


def _unsupported_unsigned(a, b):
    return RuntimeError("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                        f"{scalar_name(a)} and {scalar_name(b)}")


SCALAR_NAMES = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "float16": "Half",
                "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex32": "ComplexHalf",
                "complex64": "ComplexFloat", "complex128": "ComplexDouble", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
                "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2", "float8_e4m3fnuz": "Float8_e4m3fnuz",
                "float8_e5m2fnuz": "Float8_e5m2fnuz", "qint8": "QInt8", "quint8": "QUInt8", "qint32": "QInt32", "quint4x2": "QUInt4x2",
                "quint2x4": "QUInt2x4", "float4_e2m1fn_x2": "Float4_e2m1fn_x2"}
SCALAR_NAMES |= {d.name: (d.name[0].upper() + d.name[1:]).replace("Ui", "UI") for d in NAMES_ALONE if d.name not in SCALAR_NAMES}


def scalar_name(d):
    """The name PyTorch's error messages use: ``Float``, ``Long``, ``ComplexDouble``."""
    return SCALAR_NAMES[d.name]


CPP_NAMES = {"bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int",
             "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int", "float32": "float",
             "float64": "double", "complex32": "c10::complex<c10::Half>", "complex64": "c10::complex<float>",
             "complex128": "c10::complex<double>"}
CPP_NAMES |= {name: "c10::" + scalar for name, scalar in SCALAR_NAMES.items() if name not in CPP_NAMES}


def cpp_name(d):
    """The name of C++, which other error messages use: ``float``, ``long int``, ``c10::Half``."""
    return CPP_NAMES[d.name]


def converted_name(dtype):
    """The type's name where a number cannot be converted to it."""
    return f"{dtype.name}_t" if dtype.category == 1 and dtype is not int32 else cpp_name(dtype)


_promoted = {}


def promote_types(a, b):
    """The smallest type that holds values of both, as PyTorch promotes them."""
    found = _promoted.get((a, b))
    if found is None:
        found = _promoted[a, b] = _promote(a, b)
    return found


def can_cast(from_, to):
    """Whether a result of type ``from_`` may be stored in ``to``: never to a lower category, nor from signed to unsigned."""
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and to.category < 2:
        return False
    return not (from_.category == 1 and to is bool)


def plain_number(value):
    """A number of NumPy's, or of a class derived from Python's (an `IntEnum` is of one), as Python has it; anything else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, int):
        return value if type(value) in (int, _python_bool) else int.__int__(value)
    if isinstance(value, float):
        return value if type(value) is float else float.__float__(value)
    return complex(value.real, value.imag) if isinstance(value, complex) else value


def fits_a_word(value):
    """The number; OverflowError for a Python integer that neither int64 nor uint64 has, even where it would become a float."""
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")
    return value


def of_scalar(value):
    """The type a Python number has in promotion: bool, int64, the default float or its complex type."""
    kind = type(value)
    if kind is float:
        return _default
    if kind is int:
        return int64
    if kind is _python_bool:
        return bool
    if kind is complex:
        return default_complex()
    plain = plain_number(value)
    if plain is not value:
        return of_scalar(plain)
    raise TypeError(f"not a number: {value!r}")


_python_bool = __builtins__["bool"] if isinstance(__builtins__, dict) else __builtins__.bool
OF_PYTHON = {float: float64, int: int64, _python_bool: bool, complex: complex128}         # Python's types where a dtype is wanted


def result_type(dimensioned, zero_dim, scalars):
    """PyTorch's promotion over three groups: a group of lower rank only counts if its category is higher."""
    result = None
    for group in (dimensioned, zero_dim, scalars):
        top = None
        for d in group:
            top = d if top is None else promote_types(top, d)
        if top is not None:
            result = top if result is None else _combine(result, top)
    return result


def _combine(strong, weak):
    """The stronger group keeps its type, unless the weaker one is of a higher category."""
    if strong.is_complex:
        return strong
    if strong.is_floating_point:
        return strong.computed_complex() if weak.is_complex else strong
    if weak.is_complex:                                               # also beside integers that promote with nothing
        return weak
    return promote_types(strong, weak) if strong is bool or weak.category >= 2 else strong
