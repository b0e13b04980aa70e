"""Padding, and rearrangements of pixels: shuffles, windows as columns and back.

Owns: constant_pad_nd, reflection and replication padding, pixel_shuffle and its inverse, channel_shuffle, im2col, col2im. All linear.
May not know: tensors.
"""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from .. import layout
from ..build import cast_to
from ..operator import Number, Tensor, op
from ..quirks import Quirks
from .numeric import not_implemented, refuses, wrap_dim
from .windows import Windows, taps_of

# -- constant ---------------------------------------------------------------------------------------------------------


def _check_constant(self, pad, value):
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
                           f"{len(pad)} while the input has {self.ndim} dimensions.")
    for i in range(len(pad) // 2):                           # what is to be cut off is cut off first
        if self.size[self.ndim - 1 - i] + min(pad[2 * i], 0) + min(pad[2 * i + 1], 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    for i in range(len(pad) // 2):
        d = self.ndim - 1 - i
        new = self.size[d] + pad[2 * i] + pad[2 * i + 1]
        if new < 0:
            raise RuntimeError(f"The input size {self.size[d]}, plus negative padding {pad[2 * i]} and {pad[2 * i + 1]} resulted in a "
                               "negative output size, which is invalid. Check dimension "
                               f"{d} of your input.")


def _constant_layout(specs, outputs, statics):
    """What is only cut off is a copy of what remains."""
    (given,), shape = specs, outputs[0].shape
    return [layout.suggested(given.size, given.stride, shape) if max(statics["pad"], default=0) > 0 else layout.like(shape, given.stride)]


@op(method=False, saves=(), layout=_constant_layout, backward="ConstantPadNdBackward0", check=_check_constant, fits={"value": "own"},
    double="ConstantPadNdBackward0", quirks=Quirks(into_ordinary=True))
def constant_pad_nd(self: Tensor, pad, value: Number = 0):
    """``value`` put around the tensor: two numbers a dimension, the last dimension first; negative ones cut off.

    >>> torch.constant_pad_nd(torch.ones(2), (1, 1))
    tensor([0., 1., 1., 0.])
    """
    config = [(0, 0, 0)] * (self.ndim - len(pad) // 2) + [(pad[2 * i], pad[2 * i + 1], 0) for i in reversed(range(len(pad) // 2))]
    if self.dtype == jnp.bool_:
        return lax.pad(self.astype(jnp.uint8), cast_to(jnp.asarray(value), jnp.bool_).astype(jnp.uint8), config) != 0
    return lax.pad(self, cast_to(jnp.asarray(value), self.dtype), config)


# -- reflected and repeated borders -----------------------------------------------------------------------------------

def _positions(size, low, high, mode):
    at = np.arange(-low, size + high)
    if mode == "replicate":
        return np.clip(at, 0, size - 1)
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)


def _bordered(x, pad, mode):
    """One dimension after the other: borders are slices (reversed ones for a reflection) beside the middle."""
    for i in range(len(pad) // 2):
        d, low, high = x.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        at = _positions(x.shape[d], low, high, mode)
        middle = lax.slice_in_dim(x, max(0, -low), x.shape[d] - max(0, -high), axis=d)
        parts = [middle]
        if low > 0:
            parts.insert(0, jnp.take(x, jnp.asarray(at[:low]), axis=d, mode="clip"))
        if high > 0:
            parts.append(jnp.take(x, jnp.asarray(at[len(at) - high:]), axis=d, mode="clip"))
        x = jnp.concatenate(parts, d) if len(parts) > 1 else middle
    return x


def _check_border(kind, n):
    def check(self, padding):
        if len(padding) != 2 * n:
            raise RuntimeError(f"padding size is expected to be {2 * n}, but got: {len(padding)}")
        name = f"{kind}_pad{n}d"
        spatial = list(range(self.ndim - n, self.ndim))
        batchless = self.ndim == n + 1
        if self.ndim not in (n + 1, n + 2) or any(self.size[d] == 0 for d in range(0 if batchless else 1, self.ndim)):
            what = " or ".join((f"{n + 1}D", f"{n + 2}D"))
            raise RuntimeError(f"Expected {what} (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
                               f"but got: {list(self.size)}")
        for i, d in enumerate(reversed(spatial)):
            low, high = padding[2 * i], padding[2 * i + 1]
            if kind == "reflection" and (low >= self.size[d] or high >= self.size[d]):
                raise RuntimeError(f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: "
                                   f"padding ({low}, {high}) at dimension {d} of input {list(self.size)}")
        out = [self.size[d] + padding[2 * i] + padding[2 * i + 1] for i, d in enumerate(reversed(spatial))]
        if any(o < 1 for o in out):
            letters = ("W", "H", "D")
            given = ", ".join(f"{letters[i]}: {self.size[d]}" for i, d in enumerate(reversed(spatial)))
            made = ", ".join(f"{letters[i]}: {o}" for i, o in enumerate(out))
            raise RuntimeError(f"input ({given}) is too small. Calculated output {made}")
        if self.dtype is dtypes.bool:
            raise not_implemented(name, self.dtype)
    return check


def _border(kind, mode, n):
    name = f"{kind}_pad{n}d"
    backward = {"reflection": "ReflectionPad", "replication": "ReplicationPad"}[kind] + f"{n}DBackward0"

    @op(name=name, method=False, function=False, backward=backward, saves=(), layout="suggested" if n > 1 else None,
        check=_check_border(kind, n))
    def padded(self: Tensor, padding):
        """The last dimensions continued beyond their borders."""
        return _bordered(self, padding, mode)
    return padded


BORDERS = [_border(kind, mode, n) for kind, mode in (("reflection", "reflect"), ("replication", "replicate")) for n in (1, 2, 3)]


# -- shuffles ---------------------------------------------------------------------------------------------------------

def _check_shuffle(self, upscale_factor):
    if self.ndim < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)")
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if self.size[-3] % (upscale_factor * upscale_factor):
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
                           f"input.size(-3)={self.size[-3]} is not divisible by {upscale_factor * upscale_factor}")


@op(method=False, saves=(), layout="suggested", moves=True, check=_check_shuffle)
def pixel_shuffle(self: Tensor, upscale_factor):
    """``(*, C r r, H, W)`` to ``(*, C, H r, W r)``: channels become pixels.

    >>> torch.pixel_shuffle(torch.arange(4.).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    *lead, c, h, w = self.shape
    r, n = upscale_factor, len(lead)
    x = self.reshape(*lead, c // (r * r), r, r, h, w)
    return x.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


def _check_unshuffle(self, downscale_factor):
    if self.ndim < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)")
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for name, d in (("height", -2), ("width", -1)):
        if self.size[d] % downscale_factor:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={self.size[d]} is "
                               f"not divisible by {downscale_factor}")


@op(method=False, saves=(), layout="suggested", moves=True, check=_check_unshuffle)
def pixel_unshuffle(self: Tensor, downscale_factor):
    """``(*, C, H r, W r)`` to ``(*, C r r, H, W)``: the inverse of ``pixel_shuffle``.

    >>> torch.pixel_unshuffle(torch.zeros(1, 4, 4), 2).shape
    torch.Size([4, 2, 2])
    """
    if 0 in self.shape:                                   # as it is, says PyTorch
        return self
    *lead, c, h, w = self.shape
    r, n = downscale_factor, len(lead)
    x = self.reshape(*lead, c, h // r, r, w // r, r)
    return x.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


def _check_channels(self, groups):
    if self.ndim <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.size)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if self.size[1] % groups:
        raise RuntimeError("Number of channels must be divisible by groups. Got "
                           f"{self.size[1]} channels and {groups} groups.")


@op(method=False, saves=(), layout="suggested", moves=True, check=_check_channels)
def channel_shuffle(self: Tensor, groups):
    """The channels (dimension 1) of ``groups`` groups taken in turn.

    >>> torch.channel_shuffle(torch.arange(4.).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    n, c, *rest = self.shape
    return self.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).reshape(self.shape)


# -- windows as columns -----------------------------------------------------------------------------------------------

def _check_columns(self, kernel_size, dilation, padding, stride):
    _check_pairs(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    for name, values in (("kernel size", kernel_size), ("dilation", dilation), ("stride", stride)):
        if any(v <= 0 for v in values):
            raise RuntimeError(f"{name} should be greater than zero, but got {name.replace(' size', '')}_height: {values[0]} "
                               f"{name.replace(' size', '')}_width: {values[1]}")
    if any(v < 0 for v in padding):
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")
    for dim in 1, 2:                          # which PyTorch looks at first, whatever the input's rank
        wrap_dim(dim, self.ndim)
    if self.ndim not in (3, 4) or any(m == 0 for m in self.size[self.ndim - 3:]):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
                           f"got: {list(self.size)}")
    out = Windows(self.size, kernel_size, stride, padding, dilation, False).out
    if any(o < 1 for o in out):
        raise RuntimeError(f"Given input with spatial size ({self.size[-2]}, {self.size[-1]}), kernel_size={tuple(kernel_size)}, "
                           f"dilation={tuple(dilation)}, padding={tuple(padding)}, calculated shape of the array of sliding blocks as "
                           f"({out[0]}, {out[1]}), but its components must be at least one.")
    refuses("im2col_out_cpu", "integral")(self)


@op(method=False, function=False, saves=(), backward="Im2ColBackward0", check=_check_columns)
def im2col(self: Tensor, kernel_size, dilation, padding, stride):
    """The windows of ``(N, C, H, W)`` as columns: ``(N, C kh kw, windows)``."""
    windows = Windows(self.shape, kernel_size, stride, padding, dilation, False)
    padded = windows.padded(self, 0)
    taps = jnp.stack([windows.tap(padded, place) for place in taps_of(kernel_size)], self.ndim - 2)
    *lead, c = windows.lead
    return taps.reshape(*lead, c * len(taps_of(kernel_size)), math.prod(windows.out))


def _check_pairs(**settings):
    for name, values in settings.items():
        if len(values) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")


def _check_back(self, output_size, kernel_size, dilation, padding, stride):
    _check_pairs(output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    for name, values in (("kernel size", kernel_size), ("dilation", dilation), ("stride", stride)):
        if any(v <= 0 for v in values):
            raise RuntimeError(f"{name} should be greater than zero, but got {name.replace(' size', '')}_height: {values[0]} "
                               f"{name.replace(' size', '')}_width: {values[1]}")
    if self.ndim not in (2, 3):
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
                           f"but got: {list(self.size)}")
    taps = kernel_size[0] * kernel_size[1]
    rows, columns = self.size[-2:]
    if rows % taps:
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
                           f"{rows} and kernel_size=({kernel_size[0]}, {kernel_size[1]}).")
    out = Windows((1, *output_size), kernel_size, stride, padding, dilation, False).out
    given = (f"Given output_size=({output_size[0]}, {output_size[1]}), kernel_size=({kernel_size[0]}, {kernel_size[1]}), "
             f"dilation=({dilation[0]}, {dilation[1]}), padding=({padding[0]}, {padding[1]}), stride=({stride[0]}, {stride[1]}), ")
    if out[0] * out[1] != columns:
        raise RuntimeError(f"{given}expected size of input's dimension 2 to match the calculated number of sliding blocks {out[0]} * "
                           f"{out[1]} = {out[0] * out[1]}, but got input.size(2)={columns}.")
    if any(o < 1 for o in out):
        raise RuntimeError(f"{given}calculated shape of the array of sliding blocks as ({out[0]}, {out[1]}), which is too small "
                           "(non-positive)")
    refuses("col2im_out_cpu", "integral")(self)


@op(method=False, function=False, saves=(), backward="Col2ImBackward0", check=_check_back)
def col2im(self: Tensor, output_size, kernel_size, dilation, padding, stride):
    """Columns added up at the places that `im2col` takes them from: ``(N, C kh kw, windows)`` to ``(N, C, H, W)``."""
    taps = taps_of(kernel_size)
    lead = self.shape[:-2]
    channels = self.shape[-2] // len(taps)
    windows = Windows((*lead, channels, *output_size), kernel_size, stride, padding, dilation, False)
    parts = self.reshape(*lead, channels, len(taps), *windows.out)
    total = None
    for at, place in enumerate(taps):
        part = windows.spread(parts[(Ellipsis, at, slice(None), slice(None))], place)
        total = part if total is None else total + part
    return total
