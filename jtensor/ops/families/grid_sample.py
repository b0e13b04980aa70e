"""Images sampled at the places of a grid: grid_sampler, and the grid of an affine map.

Owns: both operators, by PyTorch's names. May not know: tensors.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base.dtypes import scalar_name
from ..operator import Tensor, op
from .create import evenly_on_the_host
from .numeric import floats_only


def _unnormalized(at, size, align_corners, fused):
    """Places in pixels; ``fused``: rounded once, as PyTorch's loop over pictures has it. At a pixel's middle the last bit decides on which
    side of it the gradient is taken, and the grid of an identity is nothing but middles."""
    if align_corners:
        return (at + 1) / 2 * (size - 1)
    if fused and at.dtype == jnp.float32:
        return ((at + 1).astype(jnp.float64) * (size / 2) - 0.5).astype(at.dtype)
    return ((at + 1) * size - 1) / 2


def _reflected(at, low, high):
    if low == high:
        return jnp.zeros_like(at)
    lowest, span = low / 2, (high - low) / 2
    away = jnp.abs(at - lowest)
    extra = away % span
    flips = jnp.floor(away / span)
    return jnp.where(flips % 2 == 0, extra + lowest, span - extra + lowest)


def _kept_within(at, size):
    """Clipped to the image; a place that is just on its border has no gradient, as one beyond has none."""
    return jnp.where(at <= 0, 0, jnp.where(at >= size - 1, size - 1, at))


def _padded_place(at, size, padding_mode, align_corners, lost=-100.0):
    """A place in or beyond the image; one that is no number is at ``lost``."""
    if padding_mode == 1:
        at = _kept_within(at, size)
    elif padding_mode == 2:
        at = _reflected(at, 0, 2 * (size - 1)) if align_corners else _reflected(at, -1, 2 * size - 1)
        at = _kept_within(at, size)
    return jnp.where(jnp.isfinite(at), at, lost)


def _fetch(image, places):
    """Pixels of ``(N, C, *)`` at integer places ``(N, *out)`` of every dimension; zero outside."""
    spatial = image.shape[2:]
    inside, clipped = True, []
    for p, size in zip(places, spatial, strict=True):
        inside = inside & (p >= 0) & (p <= size - 1)
        clipped.append(jnp.clip(p, 0, size - 1).astype(jnp.int32))
    batch = jnp.arange(image.shape[0]).reshape(-1, *(1,) * (places[0].ndim - 1))
    last = jnp.moveaxis(image, 1, -1)
    found = last.at[(batch, *clipped)].get(mode="promise_in_bounds")
    return jnp.where(inside[..., None], found, jnp.zeros((), image.dtype))


def _sampled(image, grid, mode, padding_mode, align_corners):
    n = image.ndim - 2
    spatial = image.shape[2:]
    at = [_unnormalized(grid[..., n - 1 - d], spatial[d], align_corners, n == 2) for d in range(n)]
    if mode == 2:
        return _sampled_cubic(image, at, padding_mode, align_corners)
    lost = [-100.0 if padding_mode == 0 else 0 if n == 2 else size - 1 for size in spatial]       # as PyTorch's comparisons with NaN end
    places = [_padded_place(*one) for one in zip(at, spatial, (padding_mode,) * n, (align_corners,) * n, lost, strict=True)]
    if mode == 1:
        return jnp.moveaxis(_fetch(image, [jnp.round(p) for p in places]), -1, 1)
    low = [lax.stop_gradient(jnp.floor(p)) for p in places]
    if padding_mode or n == 3:                                     # of a picture's zeros, what is infinitely far away makes NaN
        at = places
    total = 0
    for corner in range(1 << n):
        bits = [corner >> d & 1 for d in range(n)]
        weight = 1
        for a, lo, b in zip(at, low, bits, strict=True):
            weight = weight * ((a - lo) if b else (lo + 1 - a))
        total = total + _fetch(image, [lo + b for lo, b in zip(low, bits, strict=True)]) * weight[..., None]
    return jnp.moveaxis(total, -1, 1)


def _cubic_weights(t, a=-0.75):
    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _sampled_cubic(image, at, padding_mode, align_corners):
    low = [lax.stop_gradient(jnp.floor(a)) for a in at]
    weights = [_cubic_weights(a - lo) for a, lo in zip(at, low, strict=True)]
    total = 0
    for i in range(4):
        for j in range(4):
            places = [_padded_place(lo + k - 1, size, padding_mode, align_corners)
                      for lo, k, size in zip(low, (i, j), image.shape[2:], strict=True)]
            total = total + _fetch(image, [jnp.round(p) for p in places]) * (weights[0][i] * weights[1][j])[..., None]
    return jnp.moveaxis(total, -1, 1)


def _check_grid(input, grid, interpolation_mode, padding_mode, align_corners):
    n = input.ndim - 2
    if input.size[0] != grid.size[0]:
        raise RuntimeError("grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
                           f"{list(input.size)} and grid with sizes {list(grid.size)}")
    if grid.size[-1] != n:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {list(grid.size)}")
    if any(m <= 0 for m in input.size[2:]):
        raise RuntimeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                           f"{list(input.size)} with dimension {2 + [m <= 0 for m in input.size[2:]].index(True)} being empty")
    wanted = 4 if n == 2 else 5
    if input.ndim != wanted or grid.ndim != wanted:
        raise RuntimeError(f"grid_sampler(): expected {wanted}D input and grid with same number of dimensions, but got input with sizes "
                           f"{list(input.size)} and grid with sizes {list(grid.size)}")
    if n == 3 and interpolation_mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    floats_only("grid_sampler_2d_cpu_kernel_impl" if n == 2 else "grid_sampler3d_cpu")(input)
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input.dtype)} but found {scalar_name(grid.dtype)}")


@op(check=_check_grid, name="grid_sampler_2d", backward="GridSampler2DBackward0", method=False)
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode, padding_mode, align_corners):
    """The values of ``(N, C, H, W)`` at the places of a grid ``(N, H', W', 2)`` in [-1, 1]; ``nn.functional.grid_sample``'s operator."""
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@op(check=_check_grid, name="grid_sampler_3d", backward="GridSampler3DBackward0", method=False)
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode, padding_mode, align_corners):
    """The values of ``(N, C, D, H, W)`` at the places of a grid ``(N, D', H', W', 3)`` in [-1, 1]."""
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners)


def _steps(count, dtype, align_corners):
    if count <= 1:
        return jnp.zeros((count,), dtype)
    kind = np.float64 if dtype == np.float64 else np.float32
    at = evenly_on_the_host(-1, 1, count, kind)
    return jnp.asarray(at if align_corners else at * kind(count - 1) / kind(count)).astype(dtype)


def _check_maps(theta, size, align_corners):
    n = len(size) - 1
    if theta.size[0] != size[0]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {n}] but got: "
                           f"[{theta.size[0]}, {n}].")


@op(check=_check_maps, saves=(), backward="AffineGridGeneratorBackward0", method=False)
def affine_grid_generator(theta: Tensor, size, align_corners):
    """The places that affine maps ``(N, 2, 3)`` give the pixels of an image of ``size``; ``nn.functional.affine_grid``'s operator."""
    spatial = size[2:]
    n = len(spatial)
    axes = [_steps(spatial[n - 1 - i], theta.dtype, align_corners) for i in range(n)]
    columns = []
    for i, steps in enumerate(axes):
        shape = [1] * n
        shape[n - 1 - i] = -1
        columns.append(jnp.broadcast_to(steps.reshape(shape), spatial))
    base = jnp.stack([*columns, jnp.ones(spatial, theta.dtype)], -1).reshape(-1, n + 1)
    made = lax.dot_general(theta, base, (((2,), (1,)), ((), ())), precision=lax.Precision.HIGHEST)
    return made.swapaxes(1, 2).reshape(size[0], *spatial, n)
