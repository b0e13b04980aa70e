"""What PyTorch refuses, in PyTorch's words, before anything is drawn.

Owns the checks of the samplers' arguments and of the dtypes they do not serve. Knows numbers, numpy arrays and the names of dtypes: a
dtype is given as anything with a ``name`` ("float32", "bfloat16", ...), numpy's or jtensor's. Each function raises or returns nothing,
but those of integers, which return the texts of PyTorch's warnings.
"""

import functools
import math

import numpy as np

from ..base.dtypes import CPP_NAMES, SCALAR_NAMES, scalar_name
from .integers import inward, largest
from .rounding import BFLOAT16, FLOAT16, FLOAT32, FLOAT64

_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}
_REAL_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
_NUMPY = {"float16": FLOAT16, "bfloat16": BFLOAT16, "float32": FLOAT32, "float64": FLOAT64}
_SMALL_INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
_INTEGERS = _SMALL_INTEGERS + ("uint16", "uint32", "uint64")
_FLOATS = tuple(_DIGITS)

# The kernel that PyTorch names when a dtype is not served, and the dtypes that are.
_KERNELS = {
    "uniform_": ("check_uniform_bounds", _FLOATS + tuple(_REAL_PARTS)),
    "normal_": ("normal_kernel_cpu", _FLOATS + tuple(_REAL_PARTS)),
    "random_": ("random_kernel_cpu", _FLOATS + _SMALL_INTEGERS),
    "bernoulli_": ("bernoulli_scalar_cpu_", _FLOATS + _SMALL_INTEGERS),
    "bernoulli_tensor_self": ("bernoulli_tensor_cpu_self_", _FLOATS + _SMALL_INTEGERS),
    "bernoulli_tensor_p": ("bernoulli_tensor_cpu_p_", _FLOATS),
    "exponential_": ("exponential_cpu", _FLOATS),
    "geometric_": ("geometric_cpu", _FLOATS + _SMALL_INTEGERS[1:]),
    "cauchy_": ("cauchy_cpu", _FLOATS),
    "log_normal_": ("log_normal_cpu", _FLOATS),
    "randperm": ("randperm", _FLOATS + _SMALL_INTEGERS[1:]),
    "poisson": ("poisson_cpu", _FLOATS),
    "_standard_gamma": ("gamma_cpu", ("float32", "float64")),
    "_sample_dirichlet": ("dirichlet", ("float32", "float64")),
    "binomial": ("binomial_cpu", ("float32", "float64")),
    "rrelu": ("rrelu_with_noise_out_cpu", ("bfloat16", "float32", "float64")),
}


def kernel_has(function, dtype):
    """NotImplementedError if ``function`` (a key of the table above: ``"normal_"``, ``"randperm"``, ...) does not serve ``dtype``."""
    kernel, served = _KERNELS[function]
    if dtype.name not in served:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")


_numpy_kernel_has = functools.cache(kernel_has)          # the name of a dtype of NumPy's is worked out each time


def _g(x):
    """A number as C++ streams print it: six digits, no trailing zeros.

    >>> _g(2.0), _g(1 / 3), _g(-1e20)
    ('2', '0.333333', '-1e+20')
    """
    return f"{float(x):g}"


# -- continuous --------------------------------------------------------------------------------------------------------------------


def uniform(low, high, dtype):
    """Bounds and dtype of ``uniform_``."""
    kernel_has("uniform_", dtype)
    real = _REAL_PARTS.get(dtype.name, dtype.name)
    largest = _LARGEST[real]
    for name, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {CPP_NAMES[real]}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={_g(low)} > to={_g(high)}")
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{SCALAR_NAMES[real]}>::max(), but found to={_g(high)} and from={_g(low)} "
            "which result in to-from to exceed the limit"
        )


def normal(std, dtype=None, numel=1):
    """Deviation and dtype of ``normal_`` and ``normal``; an empty tensor of any dtype passes."""
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {_g(std)}")
    if dtype is not None and numel:
        kernel_has("normal_", dtype)


def normal_deviations(std):
    """The deviations of ``normal(mean, std)``, an array."""
    if std.size and not (std.astype(np.float64) >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")


def _continuous(kernel, names, dtype, numel):
    """A kernel whose distribution has no whole numbers, which it says of the types that ``names`` calls by name."""
    if numel:
        if dtype.name in names and dtype.name not in _FLOATS:
            raise RuntimeError(f"{kernel[:-1].capitalize()} distribution is a continuous probability distribution. dtype must be a "
                               f"floating point but you specified {names[dtype.name]}")
        kernel_has(kernel, dtype)


def exponential(rate, dtype, numel=1):
    """Rate and dtype of ``exponential_``."""
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={_g(rate)}")
    _continuous("exponential_", SCALAR_NAMES, dtype, numel)


def cauchy(median, sigma, dtype, numel=1):
    """Width and dtype of ``cauchy_``."""
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={_g(sigma)}")
    _continuous("cauchy_", CPP_NAMES, dtype, numel)


def log_normal(std, dtype, numel=1):
    """Deviation and dtype of ``log_normal_``."""
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={_g(std)}")
    if numel:
        kernel_has("log_normal_", dtype)


# -- discrete --------------------------------------------------------------------------------------------------------------------------


def bernoulli(p, dtype=None, numel=1):
    """Probability (a number) and dtype of ``bernoulli_``."""
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={_g(p)}")
    if dtype is not None and numel:
        kernel_has("bernoulli_", dtype)


def bernoulli_probabilities(p, dtype):
    """Probabilities (an array) and the result's dtype of ``bernoulli``."""
    if not p.size:
        return
    kernel_has("bernoulli_tensor_self", dtype)
    _numpy_kernel_has("bernoulli_tensor_p", p.dtype)
    with np.errstate(invalid="ignore"):
        right = p.min() >= 0 and p.max() <= 1       # a nan is neither
    if not right:
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an "
            "enhancement request to PyTorch.)"
        )


def geometric(p, dtype, numel=1):
    """Probability and dtype of ``geometric_``."""
    if not 0.0 < p < 1.0:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={_g(p)}")
    if numel:
        kernel_has("geometric_", dtype)


def dropout(p, exception=ValueError):
    """The probability of the dropout family: ValueError from ``nn.functional``, RuntimeError from ``torch.dropout``."""
    if not 0.0 <= p <= 1.0:
        shown = p if exception is ValueError else _g(p)
        raise exception(f"dropout probability has to be between 0 and 1, but got {shown}")


def poisson(rate):
    """Rates of ``poisson``, an array."""
    kernel_has("poisson", rate.dtype)
    if not (rate.astype(np.float64) >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")


def multinomial(p, samples, replacement):
    """Weights (an array) and number of samples of ``multinomial``."""
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if p.dtype.name not in _FLOATS:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {scalar_name(p.dtype)}")
    if samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and samples > p.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if p.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    by_inversion = replacement and samples > 1
    if p.shape[-1] == 0 and (p.ndim == 1 or p.shape[0]):
        if by_inversion:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if not p.size:
        return
    wide = p.astype(np.float64)
    if by_inversion:
        _weights_one_by_one(wide)
    elif not ((wide >= 0) & (wide < math.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (wide.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _weights_one_by_one(wide):
    wrong = ~((wide >= 0) & (wide < math.inf)).reshape(-1)
    if wrong.any():
        first = wide.reshape(-1)[wrong.argmax()]  # a nan is named with the negative ones
        what = "= infinity or NaN" if first == math.inf else "< 0"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {what})")


# -- integers ----------------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def integer_range(low, high, dtype):
    """Bounds and dtype of ``randint`` and ``random_(low, high)``. Returns the warnings PyTorch gives, a list of texts."""
    if not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.name in _REAL_PARTS:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if dtype.name not in _FLOATS + _INTEGERS:
        raise NotImplementedError(f"\"random_update_from_to\" not implemented for '{scalar_name(dtype)}'")
    warnings = _bounds_fit((("from", low), ("to - 1", high - 1)), dtype)
    if dtype.name in _FLOATS:
        low, high = inward(low, high, _NUMPY[dtype.name])
        if not low < high:
            raise RuntimeError(
                f"random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from={low} >= to={high}"
            )
    return warnings


def integer_from(low, dtype):
    """Lower bound and dtype of ``random_(low, None)``. Returns the warnings PyTorch gives, a list of texts."""
    if low == -(1 << 63):
        if dtype.name not in _SMALL_INTEGERS[1:] + _FLOATS[1:]:
            raise NotImplementedError(f"\"random_full_64_bits_range_kernel_cpu\" not implemented for '{scalar_name(dtype)}'")
        if dtype.name not in ("int64", "float64", "float32", "bfloat16"):
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        return []
    if dtype.name in _REAL_PARTS:
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    if dtype.name not in _FLOATS + _INTEGERS:
        raise NotImplementedError(f"\"random_from_to_range_calc\" not implemented for '{scalar_name(dtype)}'")
    if dtype.name == "uint64":
        raise RuntimeError("to - 1 is out of bounds for long unsigned int")
    warnings = _bounds_fit((("from", low),), dtype)
    if dtype.name in _FLOATS:
        top = largest(_NUMPY[dtype.name])
        low, _ = inward(low, top + 1, _NUMPY[dtype.name])
        if not low < top:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
                f"but got from={low} > to_inc={top}"
            )
    return warnings


def _bounds_fit(bounds, dtype):
    name = dtype.name
    warnings = []
    for what, bound in bounds:
        if name in _FLOATS:
            fits = -_LARGEST[name] <= bound <= _LARGEST[name]
        elif name == "bool":
            fits = 0 <= bound <= 1
        else:
            info = np.iinfo(name)
            fits = info.min <= bound <= info.max
        if not fits:
            raise RuntimeError(f"{what} is out of bounds for {CPP_NAMES[name]}")
        if name in _FLOATS and not -(1 << _DIGITS[name]) <= bound <= 1 << _DIGITS[name]:
            warnings.append(
                f"{what} is out of bounds [-(2^{_DIGITS[name]}), 2^{_DIGITS[name]}]. Due to precision limitations {CPP_NAMES[name]} can "
                "support discrete uniform distribution only within this range. This warning will become an error in version 1.7 release, "
                "please fix the code in advance"
            )
    return warnings


_COUNTS = {"float16": (2049, "2049"), "float32": ((1 << 24) + 1, "2^24+1"), "float64": ((1 << 53) + 1, "2^53+1")}


def randperm(n, dtype):
    """Count and dtype of ``randperm``."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    name = dtype.name
    if name in _COUNTS and n > _COUNTS[name][0]:
        raise RuntimeError(f"n cannot be greater than {_COUNTS[name][1]} for {scalar_name(dtype)} type.")
    if name in ("uint8", "int8", "int16", "int32", "uint16", "uint32") and n - 1 > np.iinfo(name).max:
        raise RuntimeError(f"value cannot be converted to type {'int' if name == 'int32' else name + '_t'} without overflow")
    kernel_has("randperm", dtype)


def dense(layout, kernel):
    """Numbers are drawn into dense memory alone: PyTorch's error for another layout."""
    if layout is not None and layout.name != "strided":
        kind = "SparseCPU" if layout.name == "sparse_coo" else "SparseCsrCPU"
        raise NotImplementedError(f"Could not run 'aten::{kernel}' with arguments from the '{kind}' backend.")
