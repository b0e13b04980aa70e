"""Images resized and sampled: nearest, linear and cubic interpolation, grids.

Owns: the upsampling operators by PyTorch's names, grid_sampler, affine_grid_generator. Interpolation along one dimension is a sum of a few
picked slices with weights worked out beforehand; its gradient a product with the matrix of those weights. May not know: tensors.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ...base.dtypes import scalar_name
from ..operator import RAW, Tensor, op
from .numeric import NARROW, floats_only, not_implemented

# -- along one dimension ----------------------------------------------------------------------------------------------


def _ratio(size, out, scale, align_corners, kind):
    """The distance of neighbouring results in the input, computed in the type ``kind``."""
    if align_corners:
        return kind(size - 1) / kind(out - 1) if out > 1 else kind(0)
    return kind(1.0 / scale) if scale is not None and scale > 0 else kind(size) / kind(out)


def _kind(x):
    """The type that places and weights are computed in: that of the image, but not a narrow one."""
    return np.float64 if x.dtype == np.float64 else np.float32


def nearest_places(size, out, scale, exact):
    """The input's place for each result."""
    ratio = _ratio(size, out, scale, False, np.float32)
    at = np.arange(out, dtype=np.float32)
    found = np.floor((at + np.float32(0.5)) * ratio) if exact else np.floor(at * ratio)
    return np.minimum(found.astype(np.int64), size - 1)


def _sources(size, out, scale, align_corners, kind, cubic=False):
    ratio = _ratio(size, out, scale, align_corners, kind)
    at = np.arange(out, dtype=kind)
    if align_corners:
        return at * ratio
    source = (at + kind(0.5)) * ratio - kind(0.5)
    return source if cubic else np.maximum(source, kind(0))


def linear_taps(size, out, scale, align_corners, kind):
    """(places, weights) of two slices each. A dimension that keeps its size keeps its values, whatever the scale."""
    if size == out:
        return [(np.arange(out), np.ones(out, kind))]
    source = _sources(size, out, scale, align_corners, kind)
    low = np.minimum(source.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    part = np.clip(source - low.astype(kind), 0, 1)
    return [(low, 1 - part), (high, part)]


def _cubic_weight(t, a=-0.75):
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, far)


def cubic_taps(size, out, scale, align_corners, kind):
    """(places, weights) of four slices each; places beyond the border are at it."""
    source = _sources(size, out, scale, align_corners, kind, cubic=True)
    low = np.floor(source)
    part = (source - low).astype(np.float64)
    low = low.astype(np.int64)
    return [(np.clip(low + i, 0, size - 1), _cubic_weight(part - i).astype(kind)) for i in (-1, 0, 1, 2)]


def _matrix(taps, size):
    out = len(taps[0][0])
    made = np.zeros((out, size))
    for places, weights in taps:
        np.add.at(made, (np.arange(out), places), weights)
    return made


def _blend(x, d, taps):
    total = None
    for places, weights in taps:
        shape = [1] * x.ndim
        shape[d] = -1
        term = jnp.take(x, jnp.asarray(places), axis=d, mode="clip") * jnp.asarray(weights.reshape(shape)).astype(x.dtype)
        total = term if total is None else total + term
    return total


def _blend_bytes(x, d, taps):
    """`_blend` of bytes as PyTorch has it: with weights of 16 bits, rounded to bytes after every dimension. Places beyond the border, which
    are at it, have one weight with it."""
    taps = [(at, weights.copy()) for at, weights in taps]
    for k, (at, weights) in enumerate(taps):
        for other, sum_of in taps[:k]:
            sum_of += np.where(at == other, weights, 0)
            weights[at == other] = 0
    largest, places = max(float(weights.max()) for _, weights in taps), 0
    while places < 22 and int(0.5 + largest * 2.0 ** (places + 1)) < 1 << 15:
        places += 1
    total = 1 << places - 1
    for at, weights in taps:
        shape = [1] * x.ndim
        shape[d] = -1
        whole = np.trunc(weights * 2.0**places + np.where(weights < 0, -0.5, 0.5)).astype(np.int32).reshape(shape)
        total = total + jnp.take(x, jnp.asarray(at), axis=d, mode="clip").astype(jnp.int32) * jnp.asarray(whole)
    return jnp.clip(total >> places, 0, 255).astype(jnp.uint8)


def _along_all(x, output_size, taps_of):
    dtype, n = x.dtype, len(output_size)
    if dtype == jnp.uint8:
        for i in reversed(range(n)):
            taps = taps_of(i, x.shape[x.ndim - n + i], np.float64)
            x = x if taps is None else _blend_bytes(x, x.ndim - n + i, taps)
        return x
    x = x.astype(jnp.float32) if dtype in NARROW else x
    for i in reversed(range(n)):
        d = x.ndim - n + i
        taps = taps_of(i, x.shape[d], _kind(x))
        x = x if taps is None else _blend(x, d, taps)
    return x.astype(dtype)


def _back_along_all(grad, shape, taps_of, n):
    dtype = grad.dtype
    g = grad.astype(jnp.float32) if dtype in NARROW else grad
    for i in range(n):
        d = g.ndim - n + i
        size = shape[d]
        weights = jnp.asarray(_matrix(taps_of(i, size, _kind(g)), size)).astype(g.dtype)
        g = jnp.moveaxis(lax.dot_general(g, weights, (((d,), (0,)), ((), ())), precision=lax.Precision.HIGHEST), -1, d)
    return g.astype(dtype)


# -- declarations -----------------------------------------------------------------------------------------------------

def _check_size(n):
    def check(self, output_size, *others):
        if len(output_size) != n:
            raise RuntimeError(f"It is expected output_size equals to {n}, but got size {len(output_size)}")
        if self.ndim != n + 2:
            raise RuntimeError(f"It is expected input_size equals to {n + 2}, but got size {self.ndim}")
        if not self.size[1] and all(m > 0 for m in (*self.size[2:], *output_size)):
            raise RuntimeError(f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(self.size)}")
        if any(m <= 0 for m in (*self.size[2:], *output_size)):
            shown = [", ".join(f"{letter}: {m}" for letter, m in zip("DHW"[3 - n:], sizes)) for sizes in (self.size[2:], output_size)]
            raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({shown[0]}) {'and ' if n == 1 else ''}"
                               f"output ({shown[1]})")
    return check


def _check_antialiased(self, output_size, *others):
    _check_size(2)(self, output_size)
    if self.dtype not in (dtypes.float32, dtypes.float64, dtypes.uint8):
        raise not_implemented("compute_index_ranges_weights", self.dtype)


def _nearest(n, exact):
    name = f"_upsample_nearest_exact{n}d" if exact else f"upsample_nearest{n}d"
    backward = f"UpsampleNearest{'Exact' if exact else ''}{n}DBackward0"

    def taps_of(shape, output_size, scales):
        return lambda i, size, kind: [(nearest_places(size, output_size[i], scales[i], exact), np.ones(output_size[i], np.float32))]

    def pick(x, output_size, scales):
        for i in range(n):
            d = x.ndim - n + i
            x = jnp.take(x, jnp.asarray(nearest_places(x.shape[d], output_size[i], scales[i], exact)), axis=d, mode="clip")
        return x

    def back(grad, output_size, scales, shapes):
        return _back_along_all(grad, shapes[0], taps_of(shapes[0], output_size, scales), n)
    return _declare(name, backward, n, pick, back)


def _declare(name, backward, n, forward, back):
    """The operator with one scale a dimension, as PyTorch's signatures have them."""
    settings = {"name": name, "backward": backward, "check": _check_size(n), "layout": "suggested", **RAW}
    if n == 1:
        @op(grad={"self": lambda grad, output_size, scales, shapes: back(grad, output_size, (scales,), shapes)}, **settings)
        def resized(self: Tensor, output_size, scales=None):
            return forward(self, output_size, (scales,))
    elif n == 2:
        @op(grad={"self": lambda grad, output_size, scales_h, scales_w, shapes: back(grad, output_size, (scales_h, scales_w), shapes)},
            **settings)
        def resized(self: Tensor, output_size, scales_h=None, scales_w=None):
            return forward(self, output_size, (scales_h, scales_w))
    else:
        @op(grad={"self": lambda grad, output_size, scales_d, scales_h, scales_w, shapes: back(
            grad, output_size, (scales_d, scales_h, scales_w), shapes)}, **settings)
        def resized(self: Tensor, output_size, scales_d=None, scales_h=None, scales_w=None):
            return forward(self, output_size, (scales_d, scales_h, scales_w))
    return resized


NEAREST = [_nearest(n, exact) for n in (1, 2, 3) for exact in (False, True)]


def _blended(name, backward, n, taps, keeps=False):
    """``keeps``: whether the result, but not the gradient, leaves a dimension alone that keeps its size.

    (Of `cubic_taps` it is the gradient that is left alone, where all dimensions keep theirs.)
    """
    def forward(x, output_size, align_corners, scales):
        return _along_all(x, output_size, lambda i, size, kind: None if keeps and size == output_size[i] else taps(
            size, output_size[i], scales[i], align_corners, kind))

    def back(grad, output_size, align_corners, scales, shapes):
        if taps is cubic_taps and tuple(output_size) == tuple(shapes[0][2:]):
            return grad
        return _back_along_all(grad, shapes[0], lambda i, size, kind: taps(size, output_size[i], scales[i], align_corners, kind), n)

    settings = {"name": name, "backward": backward, "check": _check_antialiased if name.endswith("_aa") else _check_size(n),
                "layout": "suggested", **RAW}
    if n == 1:
        @op(grad={"self": lambda grad, output_size, align_corners, scales, shapes: back(
            grad, output_size, align_corners, (scales,), shapes)}, **settings)
        def resized(self: Tensor, output_size, align_corners, scales=None):
            return forward(self, output_size, align_corners, (scales,))
    elif n == 2:
        @op(grad={"self": lambda grad, output_size, align_corners, scales_h, scales_w, shapes: back(
            grad, output_size, align_corners, (scales_h, scales_w), shapes)}, **settings)
        def resized(self: Tensor, output_size, align_corners, scales_h=None, scales_w=None):
            return forward(self, output_size, align_corners, (scales_h, scales_w))
    else:
        @op(grad={"self": lambda grad, output_size, align_corners, scales_d, scales_h, scales_w, shapes: back(
            grad, output_size, align_corners, (scales_d, scales_h, scales_w), shapes)}, **settings)
        def resized(self: Tensor, output_size, align_corners, scales_d=None, scales_h=None, scales_w=None):
            return forward(self, output_size, align_corners, (scales_d, scales_h, scales_w))
    return resized


def _antialiased(support, weight):
    """Taps of a filter that widens where the image shrinks: every place within reach, weights normalised."""
    def taps(size, out, scale, align_corners, kind):
        ratio = float(_ratio(size, out, scale, align_corners, kind))
        stretch = max(ratio, 1.0)
        reach = support * stretch
        found = []
        for i in range(out):
            center = ratio * (i + 0.5)
            begin = max(int(center - reach + 0.5), 0)
            end = min(int(center + reach + 0.5), size)
            weights = np.array([weight((j + begin - center + 0.5) / stretch) for j in range(end - begin)])
            found.append((begin, weights / weights.sum()))
        longest = max(len(w) for _, w in found)
        return [(np.array([min(b + k, size - 1) for b, _ in found]),
                 np.array([w[k] if k < len(w) else 0.0 for _, w in found], kind)) for k in range(longest)]
    return taps


def _triangle(t):
    return max(0.0, 1 - abs(t))


def _cubic(t):
    return float(_cubic_weight(np.float64(t), -0.5)) if abs(t) < 2 else 0.0


def _lanczos(t):
    return float(np.sinc(t) * np.sinc(t / 3)) if abs(t) < 3 else 0.0


LINEAR = [_blended("upsample_linear1d", "UpsampleLinear1DBackward0", 1, linear_taps),
          _blended("upsample_bilinear2d", "UpsampleBilinear2DBackward0", 2, linear_taps),
          _blended("upsample_trilinear3d", "UpsampleTrilinear3DBackward0", 3, linear_taps),
          _blended("upsample_bicubic2d", "UpsampleBicubic2DBackward0", 2, cubic_taps),
          _blended("_upsample_bilinear2d_aa", "UpsampleBilinear2DAaBackward0", 2, _antialiased(1.0, _triangle), True),
          _blended("_upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0", 2, _antialiased(2.0, _cubic), True),
          _blended("_upsample_lanczos2d_aa", "UpsampleLanczos2DAaBackward0", 2, _antialiased(3.0, _lanczos), True)]


# -- grids ------------------------------------------------------------------------------------------------------------

def _unnormalized(at, size, align_corners):
    return (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2


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


def _padded_place(at, size, padding_mode, align_corners):
    if padding_mode == 1:
        at = _kept_within(at, size)
    elif padding_mode == 2:
        at = _reflected(at, 0, 2 * (size - 1)) if align_corners else _reflected(at, -1, 2 * size - 1)
        at = _kept_within(at, size)
    return jnp.where(jnp.isfinite(at), at, -100.0)


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
    at = [_unnormalized(grid[..., n - 1 - d], spatial[d], align_corners) for d in range(n)]
    if mode == 2:
        return _sampled_cubic(image, at, padding_mode, align_corners)
    at = [_padded_place(a, size, padding_mode, align_corners) for a, size in zip(at, spatial, strict=True)]
    if mode == 1:
        return jnp.moveaxis(_fetch(image, [jnp.round(a) for a in at]), -1, 1)
    low = [lax.stop_gradient(jnp.floor(a)) for a in at]
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
    at = np.linspace(-1, 1, count)
    return jnp.asarray(at if align_corners else at * (count - 1) / count).astype(dtype)


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
