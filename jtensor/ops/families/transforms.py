"""Discrete Fourier transforms as operators: complex to complex, real to complex, to half complex and back.

Owns: the transforms over any dimensions, unnormalised or times a number, and their gradients. May not know: how the functions of
`torch.fft` use them (`fourier`).
"""
import math

import jax.numpy as jnp
from jax import lax

from ..operator import RAW, Tensor, op


def _over(function, x, dims):
    """A transform of the last dimensions applied to ``dims``; XLA's takes three at a time."""
    last = range(x.ndim - len(dims), x.ndim)
    moved = jnp.moveaxis(x, dims, tuple(last))
    return jnp.moveaxis(function(moved), tuple(last), dims)


def _complex(x, dims, forward):
    """Complex transforms, unnormalised both ways."""
    for at in range(0, len(dims), 3):
        part = dims[at:at + 3]
        sizes = tuple(x.shape[d] for d in part)
        kind = lax.FftType.FFT if forward else lax.FftType.IFFT
        x = _over(lambda v, kind=kind, sizes=sizes: lax.fft(v, kind, sizes), x, part)
        if not forward:
            x = x * math.prod(sizes)
    return x


def _half(x, dims):
    """Of a real array: the last of ``dims`` halved, then the others."""
    n = x.shape[dims[-1]]
    x = _over(lambda v: lax.fft(v, lax.FftType.RFFT, (n,)), x, dims[-1:])
    return _complex(x, dims[:-1], True)


def _whole(x, dims, n):
    """Back to a real array with ``n`` elements along the last of ``dims``, unnormalised."""
    x = _complex(x, dims[:-1], False)
    return _over(lambda v: lax.fft(v, lax.FftType.IRFFT, (n,)), x, dims[-1:]) * n


# -- how results lie --------------------------------------------------------------------------------------------------

def _innermost(size, stride, dims):
    """Strides with ``dims`` innermost, in that order, around them the others as they lay in ``stride``."""
    others = sorted(_apart(len(size), dims), key=lambda d: -stride[d])
    made, step = [0] * len(size), 1
    for d in reversed([*others, *dims]):
        made[d], step = step, step * max(size[d], 1)
    return tuple(made)


def _apart(n, dims):
    """The dimensions that are not among ``dims``, in the order in which C++'s ``partition`` leaves them: it tells between equal strides."""
    order, first, last = list(range(n)), 0, n
    while True:
        while first < last and order[first] not in dims:
            first += 1
        last -= 1
        while first < last and order[last] in dims:
            last -= 1
        if first >= last:
            return order[:n - len(dims)]
        order[first], order[last] = order[last], order[first]
        first += 1


def _by_stride(stride, dims):
    return sorted(dims, key=lambda d: -stride[d])


def _after_complex(size, stride, dims):
    """After a complex transform, which PyTorch's library takes seven dimensions at a time, the innermost first."""
    while dims:
        dims = _by_stride(stride, dims)
        stride, dims = _innermost(size, stride, dims[-7:]), dims[:-7]
    return stride


def _lies_whole(specs, outputs, statics):
    dims = statics["dims"] if "dims" in statics else (statics["dim"],)
    return [_after_complex(outputs[0].shape, specs[0].stride, dims) if specs[0].numel else None]


def _lies_half(specs, outputs, statics):
    dims, stride = statics["dims"], specs[0].stride
    return [_innermost(outputs[0].shape, stride, [*_by_stride(stride, dims[:-1]), dims[-1]]) if specs[0].numel else None]


def _lies_back(specs, outputs, statics):
    self, dims = specs[0], statics["dims"]
    if not self.numel:
        return [None]
    return [_innermost(outputs[0].shape, _after_complex(tuple(self.size), self.stride, dims[:-1]), dims[-1:])]


# -- the operators ----------------------------------------------------------------------------------------------------

def _scaled(x, scale):
    """``x`` times a real number or None; part by part, so that a zero keeps its sign."""
    if scale is None:
        return x
    return lax.complex(x.real * scale, x.imag * scale) if x.dtype.kind == "c" else x * scale


@op(name="_fft_c2c", backward="FftC2CBackward0", layout=_lies_whole, grad={
    "self": lambda grad, dims, forward, scale: _scaled(_complex(grad, dims, not forward), scale)}, **RAW)
def c2c(self: Tensor, dims, forward, scale=None):
    """Complex to complex."""
    return _scaled(_complex(self, dims, forward), scale)


@op(name="_fft_r2c.whole", backward="FftR2CBackward0", layout=_lies_whole, grad={
    "self": lambda grad, dim, scale: _scaled(_complex(grad, (dim,), False).real, scale)}, double="SelectBackward0", **RAW)
def r2c_whole(self: Tensor, dim, scale=None):
    """Real to complex: the half that is computed, and its mirror image."""
    half, n = _scaled(_half(self, (dim,)), scale), self.shape[dim]
    mirror = jnp.flip(lax.slice_in_dim(half, 1, (n + 1) // 2, axis=dim), dim)
    return lax.concatenate([half, jnp.conj(mirror)], dim)


def _half_gradient(grad, dims, shapes, scale):
    """The full spectrum with zeros where the half was cut, transformed back: its real part."""
    n = shapes[0][dims[-1]]
    pads = [(0, 0)] * grad.ndim
    pads[dims[-1]] = (0, n - grad.shape[dims[-1]])
    return _scaled(_complex(jnp.pad(grad, pads), dims, False).real, scale)


@op(name="_fft_r2c", backward="FftR2CBackward0", layout=_lies_half, grad={"self": _half_gradient}, double="SelectBackward0", **RAW)
def r2c(self: Tensor, dims, scale=None):
    """Real to half complex."""
    return _scaled(_half(self, dims), scale)


def _whole_gradient(grad, dims, n, shapes, scale):
    """The half spectrum, counted twice where its other half stands for it too."""
    made = _half(grad, dims)
    count = made.shape[dims[-1]]
    twice = [1] * made.ndim
    twice[dims[-1]] = count
    factor = jnp.where((jnp.arange(count) > 0) & (jnp.arange(count) < n - count + 1), 2, 1).reshape(twice)
    return _scaled(made * factor.astype(made.real.dtype), scale)


@op(name="_fft_c2r", backward="FftC2RBackward0", layout=_lies_back, grad={"self": _whole_gradient}, **RAW)
def c2r(self: Tensor, dims, n, scale=None):
    """Half complex to real."""
    return _scaled(_whole(self, dims, n), scale)
