"""Convolutions as products of matrices, sample by sample, with the channels where PyTorch has them: nothing is turned around.

XLA's library for convolutions on a CPU goes through the channels of a place together. Where a kernel has a single element, or the input
few channels, as pictures have, a product of the kernel with all that it meets takes a third of the time. Owns: these two forms and the
question which convolutions they are good for. May not know: tensors.
"""
import itertools
import math

import jax.numpy as jnp
from jax import lax

from ...trace.plan import is_for_cpu, is_particular
from .numeric import NARROW

FEW = 4                             # channels of the input
SMALL = {3: 36, 4: 36, 5: 108}      # elements of a kernel with all of them, by the input's rank: for volumes there is nothing good
PLACES = 128            # fewer to a sample are not worth a product of their own
MOST = 1 << 24          # elements of all patches


def are_worth_it(x, w, stride, pads):
    """Whether a convolution of ``(N, C, *)`` and ``(out, C, *)``, without gaps in either, is quicker `by_patches`."""
    is_particular()
    size = math.prod(w.shape[1:])
    if x.shape[1] > FEW or not 1 < math.prod(w.shape[2:]) <= size <= SMALL.get(x.ndim, 0) or not is_for_cpu():
        return False
    places = math.prod((n + sum(pad) - k) // s + 1 for n, k, s, pad in zip(x.shape[2:], w.shape[2:], stride, pads, strict=True))
    return places >= PLACES and x.shape[0] * places * size <= MOST


def by_patches(x, w, stride, pads):
    """The convolution as the product of the kernel with what it meets at every place."""
    x = lax.pad(x, x.dtype.type(0), [(0, 0, 0), (0, 0, 0), *((*pad, 0) for pad in pads)])
    counts = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], w.shape[2:], stride, strict=True)]
    met = [lax.slice(x, (0, 0, *tap), (*x.shape[:2], *(t + (m - 1) * s + 1 for t, m, s in zip(tap, counts, stride, strict=True))),
                     (1, 1, *stride)) for tap in itertools.product(*map(range, w.shape[2:]))]
    return by_elements(lax.concatenate(met, 1), jnp.moveaxis(w, 1, -1).reshape(w.shape[0], -1))


def are_many(x):
    """Whether samples ``(N, C, *)`` have places enough for `by_elements`."""
    is_particular()
    return math.prod(x.shape[2:]) >= PLACES and is_for_cpu()


def by_elements(x, w):
    """``(out, C)`` times what stands at each place of ``(N, C, *)``."""
    samples = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))          # which may be none
    out = lax.dot_general(lax.broadcast(w, x.shape[:1]), samples, (((2,), (1,)), ((0,), (0,))), precision=lax.Precision.HIGHEST,
                          preferred_element_type=jnp.float32 if x.dtype in NARROW else None)
    return out.reshape(*out.shape[:2], *x.shape[2:])
