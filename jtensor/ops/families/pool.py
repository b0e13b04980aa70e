"""Pooling over windows of one to three dimensions: maxima with their positions, means, and unpooling.

Owns: what is made of `windows`' elements, and its gradients. Windows that follow from the result's size are in `adaptive_pool`.
May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..operator import Tensor, op
from .numeric import NARROW, not_implemented, wrap_dim
from .windows import Windows, pooled_size, settings_of, taps_of

_MANY = 49              # windows of more elements than this are not written out


# -- settings ----------------------------------------------------------------------------------------------------------

def _check_lengths(name, n, kernel, stride, padding, dilation):
    """PyTorch's errors for settings that are not one number for each dimension; they differ in a word from kernel to kernel."""
    either = "" if name == "avg_pool3d" else "either "
    for what, given, lead in (("kernel_size", kernel, f"must {either}be "), ("stride", stride, f"must {either}be omitted, "),
                              ("padding", padding, f"must {either}be "), ("dilation", dilation, "must be either ")):
        if len(given) != n:
            raise RuntimeError(f"{name}: {what} {lead}a single int, or a tuple of {('two', 'three')[n - 2]} ints")


def _check_pool(name, n, kernel, stride, padding, dilation, input, ceil_mode):
    """PyTorch's order: the sizes of the result are worked out before anything is known to be greater than zero."""
    settings = zip(input.size[-n:], kernel, stride, padding, dilation, strict=True)
    out = [_windows_along(m, k, s, p, d, ceil_mode) for m, k, s, p, d in settings]
    if any(k <= 0 for k in kernel):
        raise RuntimeError(f"kernel size should be greater than zero, but got {_named(kernel, 'k')}")
    if any(s <= 0 for s in stride):
        raise RuntimeError(f"stride should be greater than zero, but got {_named(stride, 'd')}")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {_named(dilation, 'dilation')}")
    empty = any(m == 0 for m in input.size[-n - 1:])
    if n == 2 and (empty or input.ndim not in (3, 4)):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
                           f"got:{list(input.size)}")
    if empty:                                                # PyTorch names the length in place of the dimension
        raise RuntimeError(f"{_NAMES_OF_VOLUMES[name]}(): Expected input's non-batch dimensions to have positive length, but input has a "
                           f"shape of {list(input.size)} and non-batch dimension 0 has length zero!")
    if name == "avg_pool3d" and any(m < k for m, k in zip(input.size[-3:], kernel, strict=True)):
        raise RuntimeError(f"input image ({_named(input.size[-3:], '')}) smaller than kernel size ({_named(kernel, 'k')})")
    if any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):          # a dilation does not count any more
        named = dict(zip("THW"[3 - n:], zip(padding, kernel, strict=True), strict=True))
        found = ", ".join([f"pad{at} = {named[at][0]}" for at in "WH"] + [f"k{at} = {named[at][1]}" for at in "WH"]) if n == 2 else \
            " ".join([f"k{at}: {named[at][1]}" for at in "TWH"] + [f"pad{at}: {named[at][0]}" for at in "TWH"])
        raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {found}")
    if any(o < 1 for o in out):
        channels = input.size[-n - 1]
        given, made = (f"({channels}x{'x'.join(map(str, s))})" for s in (input.size[-n:], out))
        raise RuntimeError(f"Given input size: {given}. Calculated output size: {made}. Output size is too small")


_NAMES_OF_VOLUMES = {"max_pool3d": "max_pool3d_with_indices_out_cpu_template", "avg_pool3d": "avg_pool3d"}


def _windows_along(size, k, s, p, d, ceil_mode):
    if s == 0:
        raise RuntimeError("stride should not be zero")
    if p < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
    if p > int(((k - 1) * d + 1) / 2):                       # C's division
        raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}")
    return pooled_size(size, k, s, p, d, ceil_mode)


def _check_rank(n, input):
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")


def _named(values, letter):
    names = ("T", "H", "W")[-len(values):]
    return " ".join(f"{letter}{name}: {v}" for name, v in zip(names, values, strict=True))


# -- maxima -----------------------------------------------------------------------------------------------------------

def lowest(dtype):
    if dtype == jnp.bool_:
        return False
    return -jnp.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).min


def _maxima(x, windows):
    """(maxima, positions): the first of equal elements, the last NaN if there is one. Large windows go one dimension after the other, the
    last one first, which keeps that order and takes ``k + k`` instead of ``k * k`` comparisons."""
    if math.prod(windows.kernel) <= _MANY:
        return _maxima_of_all(x, windows)
    best, where, scale = x, None, 1
    lead = len(windows.lead)
    for d in reversed(range(windows.n)):
        best, where = _maxima_along(best, where, lead + d, scale, windows, d)
        scale *= windows.spatial[d]
    return best, where.astype(jnp.int64)


def _maxima_of_all(x, windows):
    padded, best, where = windows.padded(x, lowest(x.dtype)), None, None
    overhangs = any(windows.padding) or any(windows.reach())
    for place in taps_of(windows.kernel):
        value, (position, inside) = windows.tap(padded, place), windows.position(place)
        if best is None:
            first = position if inside is None else jnp.where(inside, position, -1)
            best, where = value, jnp.broadcast_to(first, value.shape)
            continue
        better = (value > best) | (value != value)
        best, moved = jnp.where(better, value, best), better
        # A window that has seen only padding takes the next element inside, whatever it is; its value is the lowest anyway.
        if inside is not None:
            moved = (better | (where < 0)) & inside
        elif overhangs:
            moved = better | (where < 0)
        where = jnp.where(moved, position, where)
    return best, where.astype(jnp.int64)


def _maxima_along(x, where, axis, scale, windows, d):
    """`_maxima` of windows along one dimension; ``where`` has the positions of the dimensions behind it, times ``scale`` go this one's."""
    size, out = windows.spatial[d], windows.out[d]
    stride, padding, dilation = windows.stride[d], windows.padding[d], windows.dilation[d]
    pads = [(0, 0)] * x.ndim
    pads[axis] = (padding, windows.reach()[d])
    padded = jnp.pad(x, pads, constant_values=lowest(x.dtype)) if any(pads[axis]) else x
    behind = None if where is None else jnp.pad(where, pads) if any(pads[axis]) else where
    shape = [1] * x.ndim
    shape[axis] = out

    def tap(a, t):
        return lax.slice_in_dim(a, t * dilation, t * dilation + (out - 1) * stride + 1, stride, axis)
    best = found = None
    for t in range(windows.kernel[d]):
        at = np.arange(out) * stride + t * dilation - padding
        inside = (at >= 0) & (at < size)
        value = tap(padded, t)
        position = jnp.asarray((at * scale).astype(np.int32).reshape(shape))
        position = position if behind is None else position + tap(behind, t)
        if not inside.all():
            position = jnp.where(jnp.asarray(inside.reshape(shape)), position, -1)
        if best is None:
            best, found = value, jnp.broadcast_to(position, value.shape)
            continue
        better = (value > best) | (value != value) | (found < 0)
        if not inside.all():
            better = better & jnp.asarray(inside.reshape(shape))
        best, found = jnp.where(better, value, best), jnp.where(better, position, found)
    return best, found


def _max_pool(x, n, kernel_size, stride, padding, dilation, ceil_mode):
    return _maxima(x, Windows(x.shape, *settings_of(n, kernel_size, stride, padding, dilation), ceil_mode))


def _max_gradient(n):
    def gradient(grads, self, result1, kernel_size, stride, padding, dilation, ceil_mode):
        windows = Windows(self.shape, *settings_of(n, kernel_size, stride, padding, dilation), ceil_mode)
        return windows.laid(grads[0], result1) if windows.tile() else to_positions(grads[0], result1, self.shape, n)
    return gradient


def to_positions(values, where, shape, n):
    """Values added at flat positions of the last ``n`` dimensions of zeros of ``shape``."""
    lead, pixels = shape[:-n], math.prod(shape[-n:])
    found = (math.prod(lead), math.prod(where.shape[-n:]))
    flat = jnp.zeros((found[0], pixels), values.dtype)
    row = lax.broadcasted_iota(jnp.int64, found, 0)
    return flat.at[row, where.reshape(found)].add(values.reshape(found), mode="promise_in_bounds").reshape(shape)


def _check_max(n):
    def check(self, kernel_size, stride, padding, dilation, ceil_mode):
        name, settings = f"max_pool{n}d", settings_of(n, kernel_size, stride, padding, dilation)
        _check_lengths(name, n, *settings)
        _check_rank(n, self)
        _check_pool(name, n, *settings, self, ceil_mode)
        if self.dtype.is_complex or self.dtype.category == 0:
            raise not_implemented(name, self.dtype)
    return check


@op(method=False, function=False, backward="MaxPool2DWithIndicesBackward0", nondiff=(1,), check=_check_max(2), layout="suggested",
    grad={"self": _max_gradient(2)})
def max_pool2d_with_indices(self: Tensor, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The maxima of the windows over the last two dimensions, and their positions."""
    return _max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode)


@op(method=False, function=False, backward="MaxPool3DWithIndicesBackward0", nondiff=(1,), check=_check_max(3), layout="suggested",
    grad={"self": _max_gradient(3)})
def max_pool3d_with_indices(self: Tensor, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The maxima of the windows over the last three dimensions, and their positions."""
    return _max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode)


# -- means ------------------------------------------------------------------------------------------------------------

def _divisors(windows, count_include_pad, divisor_override, dtype):
    """What each window's sum is divided by: a number, or an array of the output's spatial shape."""
    if divisor_override is not None:
        return divisor_override
    full = np.ones(windows.out)
    for d in range(windows.n):
        begin = np.arange(windows.out[d]) * windows.stride[d] - windows.padding[d]
        end = np.minimum(begin + windows.kernel[d], windows.spatial[d] + windows.padding[d])
        if not count_include_pad:
            begin, end = np.maximum(begin, 0), np.minimum(end, windows.spatial[d])
        shape = [1] * windows.n
        shape[d] = -1
        full = full * (end - begin).reshape(shape)
    return full.flat[0] if full.size and (full == full.flat[0]).all() else full


def _avg_pool(x, n, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    windows = Windows(x.shape, *settings_of(n, kernel_size, stride, padding), ceil_mode)
    wide = x.astype(jnp.float32) if x.dtype in NARROW else x
    divisor = jnp.asarray(_divisors(windows, count_include_pad, divisor_override, wide.dtype)).astype(wide.dtype)
    total = _sums(wide, windows)
    if jnp.issubdtype(wide.dtype, jnp.integer):
        return jnp.trunc(total / divisor).astype(x.dtype)
    return (total / divisor).astype(x.dtype)


def _sums(x, windows):
    if math.prod(windows.kernel) <= 2 * _MANY:
        padded, total = windows.padded(x, 0), None
        for place in taps_of(windows.kernel):
            part = windows.tap(padded, place)
            total = part if total is None else total + part
        return total
    ones = (1,) * len(windows.lead)
    pads = [(0, 0)] * len(ones) + list(zip(windows.padding, windows.reach(), strict=True))
    out = lax.reduce_window(x, np.zeros((), x.dtype), lax.add, (*ones, *windows.kernel), (*ones, *windows.stride), pads)
    return lax.slice(out, (0,) * out.ndim, (*windows.lead, *windows.out))


def _check_avg(n):
    def check(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        kernel, stride, padding, dilation = settings_of(n, kernel_size, stride, padding)
        _check_lengths(f"avg_pool{n}d", n, kernel, stride, padding, dilation)
        if n == 3:
            _check_rank(3, self)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        if n == 2:
            wrap_dim(-3, self.ndim)                          # the number of channels
        _check_pool(f"avg_pool{n}d", n, kernel, stride, padding, dilation, self, ceil_mode)
        if self.dtype.category != 2 and self.dtype is not dtypes.int64 or n == 3 and self.dtype.itemsize == 2:
            raise not_implemented(f"avg_pool{n}d_out_frame" if n == 3 else "avg_pool2d", self.dtype)
    return check


@op(method=False, function=False, out=True, backward="AvgPool2DBackward0", saves=("self",), check=_check_avg(2), layout="suggested")
def avg_pool2d(self: Tensor, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The means of the windows over the last two dimensions."""
    return _avg_pool(self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@op(method=False, function=False, out=True, backward="AvgPool3DBackward0", saves=("self",), check=_check_avg(3))
def avg_pool3d(self: Tensor, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The means of the windows over the last three dimensions."""
    return _avg_pool(self, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


# -- unpooling --------------------------------------------------------------------------------------------------------

def _unpooled(x, where, output_size):
    n = len(output_size)
    lead = x.shape[:-n]
    found = (math.prod(lead), math.prod(x.shape[-n:]))
    row = lax.broadcasted_iota(jnp.int64, found, 0)
    flat = jnp.zeros((found[0], math.prod(output_size)), x.dtype).at[row, where.reshape(found)].set(x.reshape(found), mode="drop")
    return flat.reshape(*lead, *output_size)


def _back_from(grad, indices, n):
    rows = math.prod(grad.shape[:-n])
    pixels = grad.reshape(rows, math.prod(grad.shape[-n:]))
    taken = jnp.take_along_axis(pixels, indices.reshape(rows, math.prod(indices.shape[-n:])), 1, mode="clip")
    return taken.reshape(indices.shape)


def _check_unpool(self, indices, output_size, *_):
    if indices.dtype is not dtypes.int64:
        found = f" but got: {dtypes.scalar_name(indices.dtype)}" if len(output_size) == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{found}")
    n = len(output_size)
    if self.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor with {self.ndim} "
                           "dimensions.")
    if tuple(indices.size) != tuple(self.size):
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(self.size)}) but got indices tensor "
                           f"with shape: {list(indices.size)}")
    if self.dtype.category != 2:
        raise not_implemented(f"max_unpool{len(output_size)}d", self.dtype)


@op(method=False, function=False, backward="MaxUnpool2DBackward0", nondiff=("indices",), layout="suggested", check=_check_unpool,
    grad={"self": lambda grad, indices: _back_from(grad, indices, 2)})
def max_unpool2d(self: Tensor, indices: Tensor, output_size):
    """Elements at their positions of zeros of ``output_size``."""
    return _unpooled(self, indices, output_size)


@op(method=False, function=False, backward="MaxUnpool3DBackward0", nondiff=("indices",), check=_check_unpool,
    grad={"self": lambda grad, indices: _back_from(grad, indices, 3)})
def max_unpool3d(self: Tensor, indices: Tensor, output_size, stride, padding):
    """Elements at their positions of zeros of ``output_size``."""
    return _unpooled(self, indices, output_size)
