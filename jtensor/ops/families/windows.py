"""Windows over one to three dimensions of an array, as shifted, strided slices: how many there are, what each holds and where that lies.

XLA fuses slices into one loop; `reduce_window` and its gradient are slow on its CPU backend. Positions are counted over the pixels of a
channel. May not know: what is made of a window's elements, tensors as objects.
"""
import math

import jax.numpy as jnp
from jax import lax


def each(value, n):
    value = (value,) if isinstance(value, int) else tuple(value)
    return value * n if len(value) == 1 else value


def pooled_size(size, kernel, stride, padding, dilation, ceil_mode):
    """The number of windows along one dimension; with ``ceil_mode`` the last one may hang over, but begins inside."""
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    n = (span + (stride - 1 if ceil_mode else 0)) // stride + 1
    return n - 1 if ceil_mode and (n - 1) * stride >= size + padding else n


def settings_of(n, kernel_size, stride, padding, dilation=1):
    kernel = each(kernel_size, n)
    return kernel, each(stride, n) if stride not in (None, (), []) else kernel, each(padding, n), each(dilation, n)


def taps_of(kernel):
    places = [()]
    for k in kernel:
        places = [(*p, i) for p in places for i in range(k)]
    return places


class Windows:
    """The windows over the last ``n`` dimensions of an array of ``shape``."""

    def __init__(self, shape, kernel, stride, padding, dilation, ceil_mode):
        self.n, self.kernel, self.stride, self.padding, self.dilation = len(kernel), kernel, stride, padding, dilation
        self.lead, self.spatial = tuple(shape[:-self.n]), tuple(shape[-self.n:])
        self.out = tuple(pooled_size(m, *s, ceil_mode) for m, *s in zip(self.spatial, kernel, stride, padding, dilation, strict=True))

    def reach(self):
        """How far windows hang over behind the last element."""
        return [max(0, (o - 1) * s + (k - 1) * d + 1 - m - p) for o, s, k, d, m, p in zip(
            self.out, self.stride, self.kernel, self.dilation, self.spatial, self.padding, strict=True)]

    def padded(self, x, value):
        """The array with ``value`` around it so that every window is inside."""
        pads = [(0, 0)] * len(self.lead) + list(zip(self.padding, self.reach(), strict=True))
        return x if not any(map(any, pads)) else jnp.pad(x, pads, constant_values=value)

    def tap(self, padded, place):
        """Element ``place`` of every window."""
        begin = [t * d for t, d in zip(place, self.dilation, strict=True)]
        end = [b + (o - 1) * s + 1 for b, o, s in zip(begin, self.out, self.stride, strict=True)]
        zeros = (0,) * len(self.lead)
        return lax.slice(padded, (*zeros, *begin), (*self.lead, *end), (*(1,) * len(self.lead), *self.stride))

    def position(self, place):
        """(flat positions among a channel's pixels, which of them are inside or None where all are) of element ``place`` of every window.

        They are counted, not looked up: a loop over the windows need not load them.
        """
        flat, inside = jnp.zeros(self.out, jnp.int32), None
        for d in range(self.n):
            begin = place[d] * self.dilation[d] - self.padding[d]
            at = lax.broadcasted_iota(jnp.int32, self.out, d) * self.stride[d] + begin
            flat = flat * self.spatial[d] + at
            last = begin + (self.out[d] - 1) * self.stride[d]
            for outside, here in ((begin < 0, at >= 0), (last >= self.spatial[d], at < self.spatial[d])):
                if outside:
                    inside = here if inside is None else inside & here
        return flat, inside

    def tile(self):
        """Whether the windows lie side by side, each of them inside."""
        return self.kernel == self.stride and not any(self.padding) and not any(self.reach()) and all(
            d == 1 or k == 1 for d, k in zip(self.dilation, self.kernel, strict=True))

    def laid(self, values, where):
        """Values of windows that `tile` at their flat positions in zeros: each element asks whether it is meant. Nothing is scattered."""
        lead, narrow = len(self.lead), jnp.int32 if math.prod(self.spatial) < 2**31 else jnp.int64
        shape = self.lead + tuple([m for o, k in zip(self.out, self.kernel, strict=True) for m in (o, k)])
        places = (*range(lead), *range(lead, len(shape), 2))
        position = jnp.zeros(shape[lead:], narrow)
        for d in range(self.n):
            window, element = (lax.broadcasted_iota(narrow, position.shape, 2 * d + k) for k in (0, 1))
            position = position * self.spatial[d] + (window * self.kernel[d] + element)
        meant = lax.broadcast_in_dim(where.astype(narrow), shape, places) == position
        values = jnp.where(values == 0, jnp.zeros((), values.dtype), values)            # added to 0.0, -0.0 is 0.0
        laid = jnp.where(meant, lax.broadcast_in_dim(values, shape, places), jnp.zeros((), values.dtype))
        covered = tuple([o * k for o, k in zip(self.out, self.kernel, strict=True)])
        rest = [(0, 0)] * lead + [(0, m - c) for m, c in zip(self.spatial, covered, strict=True)]
        return jnp.pad(laid.reshape(self.lead + covered), rest)

    def spread(self, values, place):
        """What `tap` took put back: an array of the input's shape, zero elsewhere."""
        config = [(0, 0, 0)] * len(self.lead)
        for d in range(self.n):
            low = place[d] * self.dilation[d] - self.padding[d]
            length = (self.out[d] - 1) * self.stride[d] + 1
            config.append((low, self.spatial[d] - low - length, self.stride[d] - 1))
        return lax.pad(values, jnp.zeros((), values.dtype), config)
