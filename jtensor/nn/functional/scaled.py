"""Products of matrices of 8-bit floats with scales: `scaled_mm`, and the kinds of scales there are.

Owns: what is checked, in PyTorch's order. May not know: how a product is computed, which is in single precision, as on PyTorch's CPU.
"""
import enum

import jtensor

from ...base import dtypes
from ...base.errors import missing
from ...tensor.underivable import without_derivative

__all__ = ["ScalingType", "SwizzleType", "scaled_grouped_mm", "scaled_mm"]

_EIGHT_BITS = (dtypes.float8_e4m3fn, dtypes.float8_e5m2, dtypes.float8_e4m3fnuz, dtypes.float8_e5m2fnuz)
_BIASES = (dtypes.float32, dtypes.bfloat16, dtypes.float16)


class _Kind(enum.Enum):
    def __int__(self):
        return self.value

    __index__ = __int__

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"


class ScalingType(_Kind):
    """What has a scale of its own: the whole matrix, each row (column of the second one), or each block."""

    TensorWise, RowWise, BlockWise1x16, BlockWise1x32, BlockWise1x128, BlockWise128x128 = range(6)


class SwizzleType(_Kind):
    """The order in which the scales of blocks lie in memory."""

    NO_SWIZZLE, SWIZZLE_32_4_4 = range(2)


for _kind in (ScalingType, SwizzleType):
    _kind.__name__ = _kind.__qualname__ = "_" + _kind.__name__
    _kind.__module__ = "torch.nn.functional"


def scaled_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None, swizzle_b=None, bias=None,
              output_dtype=dtypes.bfloat16, contraction_dim=(), use_fast_accum=False):
    """``(mat_a * scale_a) @ (mat_b * scale_b) + bias`` of 8-bit floats, computed in single precision, without a derivative.

    ``mat_a`` ``(m, k)`` and ``mat_b`` ``(k, n)`` of 8-bit floats; the scales float32: of one element each (``ScalingType.TensorWise``), or
    ``(m, 1)`` and ``(1, n)`` (``RowWise``). ``bias`` ``(n,)``. ``output_dtype``: None for that of ``mat_a``. ``ValueError`` for what does
    not fit, and for scales of blocks, which PyTorch has on no CPU. ``swizzle_...`` and ``use_fast_accum`` change nothing.

    >>> import jtensor as torch
    >>> from jtensor.nn.functional import ScalingType, scaled_mm
    >>> a, one = torch.eye(2).to(torch.float8_e4m3fn), torch.tensor(1.)
    >>> scaled_mm(a, a, 3 * one, ScalingType.TensorWise, one, ScalingType.TensorWise)
    tensor([[3., 0.],
            [0., 3.]], dtype=torch.bfloat16)
    """
    scales, recipes = (_listed(scale_a), _listed(scale_b)), (_values(scale_recipe_a), _values(scale_recipe_b))
    for number, given in enumerate(scales):
        for at, scale in enumerate(given):
            if not isinstance(scale, jtensor.Tensor):
                raise TypeError(f"expected Tensor as element {at} in argument {(2, 5)[number]}, but got {type(scale).__name__}")
    _check_sizes(mat_a, mat_b, contraction_dim)
    if bias is not None:
        _check_bias(bias, mat_b.shape[1])
    if not (mat_a.dtype in _EIGHT_BITS and mat_b.dtype in _EIGHT_BITS and len(scales[0]) == len(scales[1]) == 1
            and scales[0][0].dtype is scales[1][0].dtype is dtypes.float32 and recipes in (([0], [0]), ([1], [1]))):
        raise ValueError("Invalid scaling configuration.")
    (a,), (b,), whole = *scales, recipes[0] == [0]
    (_check_whole if whole else _check_rows)(a, b, mat_a.shape[0], mat_b.shape[1])
    with jtensor.no_grad():
        made = (mat_a.float() * (a.reshape(()) if whole else a)) @ (mat_b.float() * (b.reshape(()) if whole else b))
        made = (made if bias is None else made + bias.float()).to(mat_a.dtype if output_dtype is None else output_dtype)
    without_derivative("_scaled_mm_v2", [t for t in (mat_a, mat_b, a, b, bias) if t is not None], [made])
    return made


def _listed(given):
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _values(recipes):
    return [one.value for one in _listed(recipes)]


def _check_sizes(a, b, dims):
    for name, matrix in (("mat_a", a), ("mat_b", b)):
        if matrix.ndim != 2:
            raise ValueError(f"{name} must be a matrix")
    if not dims:
        if a.shape[1] != b.shape[0]:
            raise ValueError(f"mat_a and mat_b shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
        return
    if len(dims) != 2:
        raise ValueError("contraction_dim must have exactly 2 elements")
    if a.size(dims[0]) != b.size(dims[1]):
        raise ValueError(f"mat_a and mat_b shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}) with "
                         f"contraction dims mat_a: {dims[0]}, mat_b: {dims[1]}")


def _check_bias(bias, columns):
    if bias.numel() != columns:
        raise ValueError(f"Bias must be size {columns} but got {bias.numel()}")
    if bias.dtype not in _BIASES:
        raise ValueError(f"Bias must be Float32 or BFloat16 or Half, but got {dtypes.scalar_name(bias.dtype)}")


def _check_whole(a, b, rows, columns):
    for name, scale in (("scale_a", a), ("scale_b", b)):
        if scale.numel() != 1:
            raise ValueError(f"{name} must have 1 Float element")


def _check_rows(a, b, rows, columns):
    if a.size(0) != rows or a.size(1) != 1 or a.ndim != 2:
        raise ValueError(f"scale_a must have shape [{rows}, 1], got [{list(a.shape)}]")
    if b.numel() != columns:
        raise ValueError(f"scale_b must have {columns} Float elements, got {b.numel()}")
    b.size(1)


def scaled_grouped_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None, swizzle_b=None, bias=None, offs=None,
                      output_dtype=dtypes.bfloat16, contraction_dim=(), use_fast_accum=False):
    """Refuses: `scaled_mm` of groups, which PyTorch has on no CPU either."""
    raise missing("products of 8-bit floats by groups (scaled_grouped_mm)", "scaled_mm of each group, or grouped_mm of wider floats")
