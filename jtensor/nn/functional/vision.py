"""Images: resizing, sampling at given places, shuffling pixels, sliding windows."""
import warnings

import jtensor

from ...base import sites
from ...base.naming import type_name
from ...ops.families.numeric import not_implemented
from ...tensor import raw
from ...tensor.calling.taking import TAKES, is_int
from ._given import Tensor, refuse, spread
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "native_channel_shuffle", "upsample", "interpolate",
    "upsample_nearest", "upsample_bilinear", "grid_sample", "affine_grid", "unfold", "fold",
]


# ------------------------------------------------------------------------------------------------------------ shuffles

def native_channel_shuffle(input, groups):
    """The same as ``channel_shuffle``."""
    return raw.channel_shuffle(input, groups)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The sliding windows of an image: ``(N, C, H, W)`` to ``(N, C k, L)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.unfold(torch.zeros(1, 3, 4, 5), 2).shape
    torch.Size([1, 12, 12])
    """
    return raw.im2col(input, *(spread(value, 2) for value in (kernel_size, dilation, padding, stride)))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Adds sliding windows up to an image: ``(N, C k, L)`` to ``(N, C, *output_size)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.fold(torch.zeros(1, 12, 12), (4, 5), 2).shape
    torch.Size([1, 3, 4, 5])
    """
    return raw.col2im(input, *(spread(value, 2) for value in (output_size, kernel_size, dilation, padding, stride)))


# ------------------------------------------------------------------------------------------------------------ resizing

_DIMS_OF = {"linear": 3, "bilinear": 4, "trilinear": 5}


def _is_integer(x):
    return not x.is_floating_point() if isinstance(x, jtensor.Tensor) else hasattr(x, "__index__")


def _target_size(input, size, scale_factor, dims):
    """(output size or None, scale factors or None), one number a dimension."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    spatial = list(input.shape[2:])
    if size is None:
        if not isinstance(scale_factor, (list, tuple)):
            return None, [scale_factor] * dims
        if len(scale_factor) != dims:
            raise ValueError("Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
                             f"dimensions of {spatial} and scale_factor of shape {scale_factor}. Please provide input tensor in "
                             "(N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.")
        return None, list(scale_factor)
    if not isinstance(size, (list, tuple)):
        return [size] * dims, None
    if len(size) != dims:
        raise ValueError("Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
                         f"of {spatial} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                         "output size in (o1, o2, ...,oK) format.")
    if not all(map(_is_integer, size)):
        raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with "
                        f"types {[type(x) for x in size]}")
    return list(size), None


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Resizes the spatial dimensions of ``(N, C, *)`` to ``size`` or by ``scale_factor``.

    ``mode``: "nearest", "nearest-exact", "area", "linear" (3 dimensions), "bilinear" or "bicubic" (4), "trilinear" (5).

    >>> import jtensor as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    if not isinstance(mode, str):
        raise _unknown(mode, input.dim() - 2)
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                             "trilinear")
    elif align_corners is None:
        align_corners = False
    dims = input.dim() - 2
    output_size, scales = _target_size(input, size, scale_factor, dims)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    given = scales
    if scales is not None and all(map(TAKES["float"], scales)):
        output_size = [_whole(input.size(i + 2) * scale) for i, scale in enumerate(scales)]
        if recompute_scale_factor or mode == "area":
            given = None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input")
    if size is not None and not all(is_int(n) or at and isinstance(n, bool) for at, n in enumerate(output_size)) \
            or scales is not None and not all(map(TAKES["float"], scales)):
        _refuse_sizes(mode, dims, size, scale_factor)
    return _resized(input, dims, mode, [int(n) for n in output_size], align_corners, given or [None] * dims, antialias)


def _whole(length):
    if not -2.0 ** 63 <= length < 2.0 ** 63:                       # nor is a NaN
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(length)


def _refuse_sizes(mode, dims, size, scale_factor):
    """TypeError in the words of the function that PyTorch hands sizes and factors on to."""
    if mode == "area" and size is not None:
        first = size[0] if isinstance(size, (list, tuple)) else size
        raise TypeError(f"adaptive_avg_pool{dims}d(): argument 'output_size' (position 2) must be "
                        f"{'tuple of ints' if dims > 1 else 'int'}, but found element of type {type_name(type(first))} at pos 0")
    kernel = {"nearest": "nearest", "nearest-exact": "_nearest_exact", "bicubic": "bicubic"}.get(mode, "linear")
    shown = [type_name(type(given if isinstance(given, (list, tuple)) or given is None else [])) for given in (size, scale_factor)]
    if mode not in ("nearest", "nearest-exact"):
        shown.insert(1, "bool")
    kernel = f"_upsample_nearest_exact{dims}d" if kernel[0] == "_" else f"upsample_{_LINEAR.get(mode, kernel)}{dims}d"
    raise TypeError(f"{kernel}() received an invalid combination of arguments - got (Tensor, {', '.join(shown)}), but expected one of:")


_LINEAR = {"linear": "linear", "bilinear": "bilinear", "trilinear": "trilinear"}


_KERNELS = {"nearest": "nearest", "nearest-exact": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear",
            "bicubic": "cubic"}


def _check_kernel(input, mode):
    """PyTorch has kernels for floating point numbers and for bytes."""
    if input.is_floating_point() or input.dtype is jtensor.uint8 and mode not in ("linear", "trilinear") or mode not in _KERNELS:
        return
    raise not_implemented(f"upsample_{mode.partition('-')[0]}2d_channels_last" if input.dim() == 4 and mode != "bicubic"
                          else f"compute_indices_weights_{_KERNELS[mode]}", input.dtype)


def _resized(input, dims, mode, size, align_corners, scales, antialias):
    if align_corners is not None and not isinstance(align_corners, bool):
        raise TypeError(f"interpolate(): argument 'align_corners' must be bool, not {type_name(type(align_corners))}")
    if dims in (1, 2, 3):
        if mode == "area":
            return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1](input, size)
        if not antialias:
            _check_kernel(input, mode)
        if mode == "nearest":
            return getattr(raw, f"upsample_nearest{dims}d")(input, size, *scales)
        if mode == "nearest-exact":
            return getattr(raw, f"_upsample_nearest_exact{dims}d")(input, size, *scales)
        if _DIMS_OF.get(mode) == dims + 2:
            name = {1: "upsample_linear1d", 2: "upsample_bilinear2d", 3: "upsample_trilinear3d"}[dims]
            name = "_upsample_bilinear2d_aa" if antialias else name
            return getattr(raw, name)(input, size, align_corners, *scales)
        if mode == "bicubic" and dims == 2:
            return getattr(raw, "_upsample_bicubic2d_aa" if antialias else "upsample_bicubic2d")(input, size, align_corners, *scales)
        if mode == "lanczos" and dims == 2:
            if align_corners:
                raise ValueError("Lanczos mode does not support align_corners=True")
            if not antialias:
                raise ValueError("Lanczos mode requires antialias=True")
            return raw._upsample_lanczos2d_aa(input, size, align_corners, *scales)
        if mode in _DIMS_OF:
            raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {_DIMS_OF[mode]}D input")
    raise _unknown(mode, dims)


def _unknown(mode, dims):
    return NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: nearest | "
                               f"linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})")


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Deprecated name of ``interpolate``."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """Deprecated: ``interpolate`` by repeating."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """Deprecated: bilinear ``interpolate`` with aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ---------------------------------------------------------------------------------------------------- sampling by a grid

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def _default_corners(align_corners):
    if align_corners is None:
        sites.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
                   "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.")
        return False
    return align_corners


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """`grid_sample` with numbers for the modes: 0, 1, 2 for bilinear, nearest, bicubic; 0, 1, 2 for zeros, border, reflection."""
    sampler = raw.grid_sampler_3d if input.dim() == 5 else raw.grid_sampler_2d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of an image ``(N, C, H, W)`` (or a volume) at the places ``grid`` ``(N, H', W', 2)``, in [-1, 1].

    >>> import jtensor as torch
    >>> torch.nn.functional.grid_sample(torch.zeros(1, 3, 4, 4), torch.zeros(1, 2, 5, 2), align_corners=False).shape
    torch.Size([1, 3, 2, 5])
    """
    if not isinstance(mode, str) or mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
                         f"'{mode}'")
    if not isinstance(padding_mode, str) or padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
                         f"'{padding_mode}'")
    align_corners = _default_corners(align_corners)
    if not (isinstance(input, Tensor) and isinstance(grid, Tensor)):
        refuse("grid_sampler", input=input, grid=grid)
    modes = GRID_SAMPLE_INTERPOLATION_MODES[mode], GRID_SAMPLE_PADDING_MODES[padding_mode]
    return grid_sampler(input, grid, *modes, align_corners)


def affine_grid(theta, size, align_corners=None):
    """The places that an affine map ``theta`` ``(N, 2, 3)`` (or ``(N, 3, 4)``) gives the pixels of an image of ``size``."""
    align_corners = _default_corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
                                  f"size {size}.")
    n = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}.")
    if align_corners and min(size[-n:]) == 1:
        sites.warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is "
                   "not an intended use case of affine_grid. See the documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return raw.affine_grid_generator(theta, size, align_corners)
