"""Pooling to a given size: adaptive means and maxima, and maxima of windows that random samples choose.

Owns: where a window begins and ends that follows from the sizes. Positions are counted over the pixels of a channel. Windows of a size are
in `pool`. May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
import numpy as np

from ...base import dtypes
from ...trace.plan import is_particular
from ...views.rules import wrap_dim
from ..operator import Tensor, op
from ..quirks import Quirks
from .numeric import NARROW, not_implemented
from .pool import lowest, to_positions

# -- adaptive ---------------------------------------------------------------------------------------------------------

def _edges(size, out):
    """(begin, end) of the windows that divide ``size`` into ``out`` evenly."""
    at = np.arange(out)
    return (at * size) // out, -((-(at + 1) * size) // out)


def _check_adaptive(name, n):
    def check(self, output_size):
        mean = "avg" in name and all(o == 1 for o in output_size)                  # which PyTorch takes
        for dim in range(1, n + 1) if mean else ():
            wrap_dim(-dim, self.ndim)
        if self.ndim not in (n + 1, n + 2) and not mean:
            colon = ":" * ("max" in name)
            raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(self.size)}")
        if len(output_size) != n:
            raise RuntimeError(f"{name}{'(): internal error: output_size.size()' if 'max' in name else ': output_size'} must be {n}")
        first = self.ndim - n if name == "adaptive_avg_pool2d" else 1           # else PyTorch takes the first for the batch's, always
        empty = next((d for d in range(first, self.ndim) if not self.size[d]), None)
        if empty is not None:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                               f"{list(self.size)} with dimension {empty} being empty")
        if "max" in name and min(output_size) < 0:
            shape = [*self.size[:-n], *output_size]
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(output_size)}: {shape}")
        if any(o < 0 for o in output_size):
            raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received "
                               f"{{{', '.join(map(str, output_size))}}}")
        if mean:
            if self.dtype.category < 2:
                raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                                   f"Got: {dtypes.scalar_name(self.dtype)}")
        elif self.dtype.category != 2:
            raise not_implemented(name + "_cpu" * (n == 3), self.dtype)
    return check


def _adaptive_mean(x, output_size):
    """Along one dimension after the other: reshaped where windows are equal, else gathered. (A product with a matrix of shares would be NaN
    in every window of a row that has one NaN.)"""
    is_particular()
    dtype = x.dtype
    x = x.astype(jnp.float32) if dtype in NARROW else x
    n = len(output_size)
    for d, out in zip(range(x.ndim - n, x.ndim), output_size, strict=True):
        size = x.shape[d]
        if out == size:
            continue
        if out and size % out == 0:
            x = jnp.mean(x.reshape(*x.shape[:d], out, size // out, *x.shape[d + 1:]), d + 1)
            continue
        begin, end = _edges(size, out)
        counts = end - begin
        at = begin[:, None] + np.arange(counts.max(initial=0))
        beside = (1,) * (x.ndim - d - 1)
        windows = jnp.take(x, jnp.asarray(np.minimum(at, size - 1)), d, mode="clip")
        total = jnp.where(jnp.asarray(at < end[:, None]).reshape(*at.shape, *beside), windows, 0).sum(d + 1)
        x = total / jnp.asarray(counts).reshape(out, *beside).astype(x.dtype)
    return x.astype(dtype)


def _adaptive(name, n, backward):
    @op(name=f"adaptive_avg_pool{n}d", method=False, function=False, backward=backward, saves=("self",),
        check=_check_adaptive(f"adaptive_avg_pool{n}d", n), layout="suggested" if n == 2 else None)
    def adaptive_avg_pool(self: Tensor, output_size):
        """The means of windows that divide the last dimensions evenly."""
        return _adaptive_mean(self, output_size)
    return adaptive_avg_pool


adaptive_avg_pool2d = _adaptive("adaptive_avg_pool2d", 2, "AdaptiveAvgPool2DBackward0")
adaptive_avg_pool3d = _adaptive("adaptive_avg_pool3d", 3, "AdaptiveAvgPool3DBackward0")


def _adaptive_maxima(x, output_size):
    """(maxima, positions) of windows that divide the last dimensions evenly: gathered, then compared."""
    is_particular()
    n = len(output_size)
    lead, spatial = x.shape[:-n], x.shape[-n:]
    flat, valid = np.zeros((1,) * 2 * n, np.int64), np.ones((1,) * 2 * n, bool)
    for d, (size, out) in enumerate(zip(spatial, output_size, strict=True)):
        begin, end = _edges(size, out)
        longest = int((end - begin).max()) if out else 1
        at = begin[:, None] + np.arange(longest)
        shape = [1] * 2 * n
        shape[d], shape[n + d] = out, longest
        flat = flat * size + np.minimum(at, size - 1).reshape(shape)
        valid = valid & (at < end[:, None]).reshape(shape)
    candidates = math.prod(flat.shape[n:])
    flat, valid = (a.reshape(*output_size, candidates) for a in (flat, np.broadcast_to(valid, flat.shape)))
    return _best_of(x.reshape(*lead, math.prod(spatial)), flat, valid)


def _best_of(pixels, flat, valid):
    """The best of the elements at ``flat`` (last dimension: candidates) of every row of pixels."""
    values = pixels[..., jnp.asarray(flat.reshape(-1))].reshape(*pixels.shape[:-1], *flat.shape)
    values = jnp.where(jnp.asarray(valid), values, lowest(values.dtype))
    pick = jnp.argmax(values, -1, keepdims=True)
    out = jnp.take_along_axis(values, pick, -1, mode="promise_in_bounds")[..., 0]
    where = jnp.take_along_axis(jnp.broadcast_to(jnp.asarray(flat), values.shape), pick, -1, mode="promise_in_bounds")[..., 0]
    return out, where


def _adaptive_max(n):
    @op(name=f"adaptive_max_pool{n}d", method=False, function=False, backward=f"AdaptiveMaxPool{n}DBackward0", nondiff=(1,),
        layout="suggested" if n == 2 else None, check=_check_adaptive(f"adaptive_max_pool{n}d", n),
        grad={"self": lambda grads, self, result1: to_positions(grads[0], result1, self.shape, n)})
    def adaptive_max_pool(self: Tensor, output_size):
        """The maxima of windows that divide the last dimensions evenly, and their positions."""
        return _adaptive_maxima(self, output_size)
    return adaptive_max_pool


adaptive_max_pool2d, adaptive_max_pool3d = _adaptive_max(2), _adaptive_max(3)


# -- fractional -------------------------------------------------------------------------------------------------------

def _fractional_starts(sample, size, out, kernel):
    """Where windows begin: evenly spaced, shifted by a random part; the last one ends at the border."""
    if out <= 1:
        return jnp.full((*sample.shape, out), size - kernel, jnp.int64)
    alpha = (size - kernel) / (out - 1)
    at = jnp.arange(out - 1, dtype=sample.dtype)
    begin = ((at + sample[..., None]) * alpha).astype(jnp.int64) - (sample[..., None] * alpha).astype(jnp.int64)
    return jnp.concatenate([begin, jnp.full((*sample.shape, 1), size - kernel, jnp.int64)], -1)


def _check_fractional(n):
    name, where = f"fractional_max_pool{n}d", f"fractional_max_pool{n}d{'_out' if n == 3 else ''}()"

    def check(self, kernel_size, output_size, random_samples):
        for what, given in (("kernel_size", kernel_size), ("output_size", output_size)):
            if len(given) != n:
                raise RuntimeError(f"{name}: {what} must either be a single Int or tuple of {'three ' if n == 3 else ''}Ints")
        if self.ndim not in (n + 1, n + 2):
            raise RuntimeError(f"{where}: Expected {n + 1}D or {n + 2}D tensor, but got: {list(self.size)}")
        for d in range(self.ndim - n - 1, self.ndim):
            if not self.size[d]:
                raise RuntimeError(f"{where}: Expected input to have non-zero size for non-batch dimensions, but got{list(self.size)} with "
                                   f"dimension {d} being empty.")
        for side, m, k, out in zip(("time", "height", "width")[3 - n:], self.size[-n:], kernel_size, output_size, strict=True):
            if out + k - 1 > m - (n == 3):                         # PyTorch asks for one element more of a volume
                raise RuntimeError(f"{where}: pool {side} {k} too large relative to input {side} {m}")
        if min(output_size) < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(output_size)}: {[*self.size[:-n], *output_size]}")
        if random_samples.dtype is not self.dtype:
            raise RuntimeError("Expect _random_samples to have the same dtype as input")
        if random_samples.ndim != 3:
            raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {random_samples.ndim}")
        if random_samples.size[0] < (self.size[0] if self.ndim == n + 2 else 1):
            raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
        if random_samples.size[1] != self.size[-n - 1]:
            raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
        if random_samples.size[2] != n:
            raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {random_samples.size[2]}.")
        if not self.dtype.is_floating_point and (self.numel or self.dtype.is_complex):
            raise not_implemented(f"fractional_max_pool{n}d_out_frame", self.dtype)
    return check


def _fractional(n):
    @op(name=f"fractional_max_pool{n}d", method=False, function=False, backward=f"FractionalMaxPool{n}DBackward0",
        check=_check_fractional(n), nondiff=(1,), quirks=Quirks(never_needed=(f"fractional_max_pool{n}d", ("random_samples",))),
        grad={"self": lambda grads, self, result1: to_positions(grads[0], result1, self.shape, n)})
    def fractional_max_pool(self: Tensor, kernel_size, output_size, random_samples: Tensor):
        """The maxima of windows at places that random samples choose, and their positions."""
        lead = self.shape[:-n]
        samples = random_samples[:math.prod(lead[:-1])].reshape(*lead, n)      # there may be samples for a larger batch
        flat = jnp.zeros((*lead, *(1,) * 2 * n), jnp.int64)
        for d in range(n):
            # The last sample is that of the first dimension in three dimensions, of the width first in two: PyTorch's order.
            sample = samples[..., d if n == 3 else n - 1 - d]
            size = self.shape[len(lead) + d]
            start = _fractional_starts(sample, size, output_size[d], kernel_size[d])
            at = start[..., None] + jnp.arange(kernel_size[d])
            shape = [1] * 2 * n
            shape[d], shape[n + d] = output_size[d], kernel_size[d]
            flat = flat * size + at.reshape(*lead, *shape)
        flat = flat.reshape(*lead, *output_size, math.prod(kernel_size))
        rows = self.reshape(*lead, math.prod(self.shape[len(lead):]))
        chosen = flat.reshape(*lead, math.prod(flat.shape[len(lead):]))
        values = jnp.take_along_axis(rows, chosen, -1, mode="promise_in_bounds").reshape(flat.shape)
        pick = jnp.argmax(values, -1, keepdims=True)
        return tuple(jnp.take_along_axis(a, pick, -1, mode="promise_in_bounds")[..., 0] for a in (values, flat))
    return fractional_max_pool


fractional_max_pool2d, fractional_max_pool3d = _fractional(2), _fractional(3)
