"""Images resized: nearest, linear and cubic interpolation, with and without antialiasing.

Owns: the upsampling operators by PyTorch's names. Interpolation along one dimension is a sum of a few
picked slices with weights worked out beforehand; its gradient a product with the matrix of those weights. May not know: tensors.
"""
import functools

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ...trace.plan import is_particular
from ..operator import RAW, Tensor, op
from .numeric import NARROW, not_implemented

_PHASES = 8         # results apart at most that have the same distance from the input's places: it grows by up to so much

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


def _progression(places, size):
    """(first, step) of evenly spaced places, of which those beyond the border are at it; None where they are not spaced so."""
    middle = len(places) // 2
    step = int(places[middle] - places[middle - 1]) if len(places) > 1 else 1
    first = int(places[middle]) - step * middle
    return (first, step) if step > 0 and (np.clip(first + step * np.arange(len(places)), 0, size - 1) == places).all() else None


@functools.lru_cache(256)
def _phases(places, size):
    """How many results apart those lie whose places are evenly spaced (2 where the size doubles), and their progressions; None: too far.

    ``places``: for each tap, those of all results.
    """
    for apart in range(1, _PHASES + 1):
        if not len(places[0]) % apart:
            found = [[_progression(np.array(at[k::apart]), size) for at in places] for k in range(apart)]
            if all(p is not None for phase in found for p in phase):
                return found
    return None


def _strided(x, d, first, step, count):
    """The slices at evenly spaced places: XLA copies rows of them, where it would fetch what an index names one by one."""
    low, high = max(0, -first), max(0, first + step * (count - 1) - x.shape[d] + 1)
    if low or high:
        x = jnp.pad(x, [(low, high) if axis == d else (0, 0) for axis in range(x.ndim)], mode="edge")
    return lax.slice_in_dim(x, first + low, first + low + step * (count - 1) + 1, step, d)


def _blend(x, d, taps):
    """The sum over taps of the slices at their places, each times its weight (``None``: not weighted)."""
    def along(weights):
        return jnp.asarray(weights.reshape([-1 if axis == d else 1 for axis in range(x.ndim)])).astype(x.dtype)

    is_particular()
    count = len(taps[0][0])
    phases = _phases(tuple(tuple(at.tolist()) for at, _ in taps), x.shape[d]) if count else None
    if phases is None:
        terms = [[jnp.take(x, jnp.asarray(at), axis=d, mode="clip") for at, _ in taps]]
    else:
        terms = [[_strided(x, d, *progression, count // len(phases)) for progression in phase] for phase in phases]
    sums = []
    for k, phase in enumerate(terms):
        parts = [part if weights is None else part * along(weights[k::len(terms)]) for part, (_, weights) in zip(phase, taps, strict=True)]
        sums.append(functools.reduce(lax.add, parts))
    if len(sums) == 1:
        return sums[0]
    return jnp.stack(sums, d + 1).reshape(*x.shape[:d], count, *x.shape[d + 1:])


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
            x = _blend(x, d, [(nearest_places(x.shape[d], output_size[i], scales[i], exact), None)])
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
