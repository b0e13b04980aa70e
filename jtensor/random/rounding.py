"""The number formats the samplers answer in, and how a value reaches them.

Half-precision results always pass through float32, as PyTorch's conversions do. Knows numpy and ml_dtypes.
"""

from ctypes import c_float

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
COMPLEX64 = np.dtype(np.complex64)
COMPLEX128 = np.dtype(np.complex128)
INT64 = np.dtype(np.int64)

HALVES = (FLOAT16, BFLOAT16)
REAL_OF_COMPLEX = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}

# Bits of the significand, the hidden one included: integers up to 2**DIGITS are all representable.
DIGITS = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}


def cast(x, dtype):
    """``x`` (float64, float32 or int64 array) in ``dtype``, a fresh array unless it has that dtype already."""
    if x.dtype == dtype:
        return x
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype in HALVES:
            return x.astype(np.float32).astype(dtype) if x.dtype != np.float32 else x.astype(dtype)
        return x.astype(dtype)


def rounded(value, dtype):
    """The Python number ``value`` as it looks after a stay in ``dtype``, as a Python float.

    >>> rounded(0.1, FLOAT32)
    0.10000000149011612
    """
    if dtype == FLOAT64:
        return float(value)
    if dtype == FLOAT32:
        return single(value)
    with np.errstate(over="ignore"):
        return float(np.float32(value).astype(dtype))


def single(value):
    """The Python number ``value`` rounded to float32; infinite beyond it. A tenth of the price of asking numpy.

    >>> single(2), single(-1e39)
    (2.0, -inf)
    """
    return c_float(value).value


def compute_dtype(dtype):
    """The dtype in which uniform and block-normal numbers are made: double for float64, float32 for all others."""
    return FLOAT64 if dtype == FLOAT64 else FLOAT32
