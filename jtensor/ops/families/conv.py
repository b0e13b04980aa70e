"""Convolutions of one to three dimensions, plain and transposed, with groups.

Owns: `convolution`. XLA's CPU library wants the channels last; the transposes around it cancel between layers once a tape is one program.
Narrow floats accumulate in float32. May not know: tensors.
"""
import math

import jax
import jax.numpy as jnp
from jax import lax

from ...trace.plan import is_for_cpu
from ..layout import suggested
from ..loops import fori_loop
from ..operator import OptTensor, Tensor, op
from .conv_refusals import check_convolution, taken_by_onednn
from .numeric import NARROW, is_complex, precision, widened
from .patches import are_many, are_worth_it, by_elements, by_patches

_BODY = 2**15                                          # elements that a round of a loop over rows goes through, where rows are short
_TAPS = 49                                             # a depthwise kernel of at most so many elements is a sum of shifted products


# -- strides ----------------------------------------------------------------------------------------------------------


def _layout(specs, outputs, statics):
    """Channels last if the input or the weight suggest that; volumes only where oneDNN works them out, for PyTorch's own loops do not."""
    shape, (x, weight) = outputs[0].shape, specs[:2]
    if x.ndim == 5 and not taken_by_onednn(x, weight, statics):
        return [None]
    if x.ndim > 3:
        return [suggested(x.size, x.stride, shape) or suggested(weight.size, weight.stride, shape)]
    # PyTorch makes images of height 1 of what has one dimension, and packs the input before.
    (o, i, k), (*steps, step) = weight.size, weight.stride
    strides = suggested((o, i, 1, k), (*steps, k * step, step), (*shape[:2], 1, shape[2]))
    return [strides and (*strides[:2], strides[3])]


# -- bodies -----------------------------------------------------------------------------------------------------------


def _channels_last(x):
    return jnp.moveaxis(x, 1, -1)


def _correlate(x, w, stride, pads, spread, dilation, groups):
    """``lax.conv_general_dilated`` of ``(N, C, *)`` and ``(out, C / groups, *)``, computed with the channels last."""
    n = x.ndim - 2
    if n == 3 and is_for_cpu():
        return _by_planes(x, w, stride, pads, spread, dilation, groups)
    if groups == 1 and _is_product(w.shape[2:], stride, pads, spread):
        return _product(x, w)
    letters = "DHW"[3 - n:]
    spec = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    kernel = w.transpose(*range(2, n + 2), 1, 0)
    wide = jnp.float32 if x.dtype in NARROW and is_for_cpu() else None         # on a GPU it adds up in float32 in any case
    out = lax.conv_general_dilated(_channels_last(x), kernel, stride, pads, spread, dilation, spec, groups,
                                   precision=precision("conv"), preferred_element_type=wide)
    return jnp.moveaxis(out, -1, 1)


def _is_product(kernel, stride, pads, spread):
    """Whether each place is a product with a matrix and nothing else. XLA finds that out, but too late for the library it has for it."""
    return all(k == s == 1 and not any(p) for k, s, p in zip(kernel, stride, pads, strict=True)) and set(spread or [1]) == {1}


def _product(x, w):
    if are_many(x):
        return by_elements(x, w.reshape(w.shape[:2]))
    wide = jnp.float32 if x.dtype in NARROW else None
    out = lax.dot_general(_channels_last(x), w.reshape(w.shape[:2]).T, (((x.ndim - 1,), (0,)), ((), ())),
                          precision=precision("conv"), preferred_element_type=wide)
    return jnp.moveaxis(out, -1, 1)


def _by_planes(x, w, stride, pads, spread, dilation, groups):
    """The same of volumes: a sum over the kernel's planes of convolutions of pictures, for which XLA has quick code on a CPU."""
    apart = spread[0] if spread is not None else 1
    x = lax.pad(x, x.dtype.type(0), [(0, 0, 0), (0, 0, 0), (*pads[0], apart - 1), (0, 0, 0), (0, 0, 0)])
    count = (x.shape[2] - dilation[0] * (w.shape[2] - 1) - 1) // stride[0] + 1
    total = None
    for k in range(w.shape[2]):
        begin = k * dilation[0]
        planes = lax.slice_in_dim(x, begin, begin + (count - 1) * stride[0] + 1, stride[0], 2)
        planes = jnp.moveaxis(planes, 2, 1).reshape(-1, x.shape[1], *x.shape[3:])
        part = _correlate(planes, w[:, :, k], stride[1:], pads[1:], spread and spread[1:], dilation[1:], groups)
        total = part if total is None else total + part
    return jnp.moveaxis(total.reshape(x.shape[0], count, *total.shape[1:]), 1, 2)


def _depthwise(x, w, stride, pads, dilation):
    """One kernel a channel: a sum over the kernel's elements, each times a shifted slice, which XLA fuses to one loop."""
    x = jnp.pad(x, [(0, 0), (0, 0), *pads])
    kernel = w.shape[2:]
    sizes = [(m - d * (k - 1) - 1) // s + 1 for m, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)]
    total = None
    for tap in _grid(kernel):
        begin = [t * d for t, d in zip(tap, dilation, strict=True)]
        end = [b + (m - 1) * s + 1 for b, m, s in zip(begin, sizes, stride, strict=True)]
        part = lax.slice(x, (0, 0, *begin), (*x.shape[:2], *end), (1, 1, *stride))
        term = part * w[(slice(None), 0, *tap)].reshape(1, -1, *(1,) * len(kernel))
        total = term if total is None else total + term
    return total


def _depthwise_input(grad, w, sizes, stride, padding, dilation):
    """Its gradient, of an input of these ``sizes``: the same of what arrives, spread out by the stride, with the kernel turned around."""
    pads = []
    for m, n, k, s, p, d in zip(sizes, grad.shape[2:], w.shape[2:], stride, padding, dilation, strict=True):
        reach = d * (k - 1)
        pads.append((reach - p, m + p - (n - 1) * s - 1, s - 1))
    spread = lax.pad(grad, grad.dtype.type(0), [(0, 0, 0), (0, 0, 0), *pads])
    return _depthwise(spread, jnp.flip(w, range(2, w.ndim)), (1,) * len(stride), [(0, 0)] * len(stride), dilation)


def _depthwise_kernel(grad, x, kernel, stride, padding, dilation):
    """Its gradient, of the kernel: rows of what arrives, each times the rows that it met, are added up before the sum along the row.

    A sum of its own for each of the kernel's elements is what differentiating makes of it: XLA compiles a loop for each of them, four
    seconds for 7 by 7, whose sums of products then run one by one. Here the rows are one loop, over a body that is vectorised.
    """
    x = jnp.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    (samples, channels, *rows, width), apart = grad.shape, dilation[-1]
    window = [d * (k - 1) + 1 for d, k in zip(dilation[:-1], kernel[:-1], strict=True)]
    row_size = channels * math.prod(kernel[:-1]) * width
    together = max(n for n in range(1, samples + 1) if not samples % n and (n == 1 or n * row_size <= _BODY))
    counts = [samples // together, *rows]

    def add(i, sums):
        place = []
        for n in reversed(counts):
            i, place = i // n, [i % n, *place]
        sample, *row = place
        zero = jnp.zeros_like(sample)
        arrived = lax.dynamic_slice(grad, (sample * together, zero, *row, zero), (together, channels, *(1 for _ in rows), width))
        begin = [r * s for r, s in zip(row, stride[:-1], strict=True)]
        met = lax.dynamic_slice(x, (sample * together, zero, *begin, zero), (together, channels, *window, x.shape[-1]))
        met = lax.slice(met, (0,) * met.ndim, met.shape, (1, 1, *dilation[:-1], 1))
        ends = [t * apart + (width - 1) * stride[-1] + 1 for t in range(kernel[-1])]
        parts = [lax.slice_in_dim(met, t * apart, end, stride[-1], -1) for t, end in enumerate(ends)]
        return tuple(total + arrived * part for total, part in zip(sums, parts, strict=True))

    none = jnp.zeros((together, channels, *kernel[:-1], width), grad.dtype)
    sums = fori_loop(0, math.prod(counts), add, (none,) * kernel[-1])
    return jnp.stack([s.sum((0, -1)) for s in sums], -1).reshape(channels, 1, *kernel)


def _grid(sizes):
    places = [()]
    for n in sizes:
        places = [(*p, i) for p in places for i in range(n)]
    return places


def _is_depthwise(kernel, groups):
    return groups > 1 and groups == kernel[0] and kernel[1] == 1 and math.prod(kernel[2:]) <= _TAPS


def _plain(x, w, stride, padding, dilation, groups, patches=True):
    pads = [(p, p) for p in padding]
    if patches and groups == 1 and set(dilation) == {1} and are_worth_it(x, w, stride, pads):
        return by_patches(x, w, stride, pads)
    if _is_depthwise(w.shape, groups):
        wide = (lambda v: v.astype(jnp.float32)) if x.dtype in NARROW else (lambda v: v)
        return _depthwise(wide(x), wide(w), stride, pads, dilation)
    return _correlate(x, w, stride, pads, None, dilation, groups)


def _transposed(x, w, stride, padding, dilation, output_padding, groups):
    n = x.ndim - 2
    kernel = w.shape[2:]
    w = w.reshape(groups, w.shape[0] // groups, w.shape[1], *kernel).swapaxes(1, 2)
    w = w.reshape(-1, *w.shape[2:])
    w = jnp.flip(w, tuple(range(2, n + 2)))
    pads = [(d * (k - 1) - p, d * (k - 1) - p + o) for k, d, p, o in zip(kernel, dilation, padding, output_padding, strict=True)]
    return _correlate(x, w, (1,) * n, pads, stride, dilation, groups)


def _of_parts(product, a, b):
    """A product that is linear in both, of complex arrays too, part by part."""
    if not is_complex(a):
        return product(a, b)
    return lax.complex(product(a.real, b.real) - product(a.imag, b.imag), product(a.real, b.imag) + product(a.imag, b.real))


def convolve(x, w, stride, padding, dilation, transposed, output_padding, groups, patches=True):
    """A convolution of arrays; complex ones part by part. ``patches``: it may be one `by_patches`."""
    if is_complex(x):
        return _of_parts(lambda a, b: convolve(a, b, stride, padding, dilation, transposed, output_padding, groups, patches), x, w)
    if transposed:
        return _transposed(x, w, stride, padding, dilation, output_padding, groups)
    return _plain(x, w, stride, padding, dilation, groups, patches)


def _transpose_of(function, shape, x):
    """The transpose of a function that is linear in an array of this shape, of ``x``."""
    return jax.linear_transpose(function, jax.ShapeDtypeStruct(shape, x.dtype))(x)[0]


def _input_gradient(grad, weight, shapes, stride, padding, dilation, transposed, output_padding, groups):
    if not shapes[0][1]:
        return jnp.zeros(shapes[0], widened(weight).dtype)
    weight, settings = jnp.conj(widened(weight)), (stride, padding, dilation, transposed, output_padding, groups, False)
    if not transposed and _is_depthwise(weight.shape, groups):
        return _of_parts(lambda g, w: _depthwise_input(g, w, shapes[0][2:], stride, padding, dilation), widened(grad), weight)
    return _transpose_of(lambda x: convolve(x, weight, *settings), shapes[0], widened(grad))


def _by_taps(grad, x, kernel, stride, padding, dilation):
    """The kernel's gradient, of each of its elements a product of what arrives with what that element met.

    For a result larger than the input (padding before a causal convolution makes one): XLA would take what arrives for the picture and the
    input for the kernel, in loops of its own, over which its compiler sits for seconds where the batch is large.
    """
    x = jnp.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    over = (0, *range(2, x.ndim))
    parts = []
    for tap in _grid(kernel):
        begin = [t * d for t, d in zip(tap, dilation, strict=True)]
        end = [b + (m - 1) * s + 1 for b, m, s in zip(begin, grad.shape[2:], stride, strict=True)]
        met = lax.slice(x, (0, 0, *begin), (*x.shape[:2], *end), (1, 1, *stride))
        parts.append(lax.dot_general(grad, met, ((over, over), ((), ())), precision=precision("conv")))
    return jnp.stack(parts, -1).reshape(*parts[0].shape, *kernel)


def _weight_gradient(grad, input, shapes, stride, padding, dilation, transposed, output_padding, groups):
    if not shapes[0][1]:
        return jnp.zeros(shapes[1], widened(input).dtype)
    grad, input = widened(grad), jnp.conj(widened(input))
    grows = math.prod(grad.shape[2:]) > math.prod(input.shape[2:])
    if not transposed and groups == 1 and grows and math.prod(shapes[1][2:]) <= _TAPS:
        return _of_parts(lambda g, x: _by_taps(g, x, shapes[1][2:], stride, padding, dilation), grad, input)
    if not transposed and grad.size and _is_depthwise(shapes[1], groups) and is_for_cpu():
        return _of_parts(lambda g, x: _depthwise_kernel(g, x, shapes[1][2:], stride, padding, dilation), grad, input)
    if not transposed:
        patches = shapes[1][0] >= math.prod(shapes[1][1:])          # else the sum over the samples takes longer than it saves
        settings = stride, padding, dilation, transposed, output_padding, groups, patches
        return _transpose_of(lambda w: convolve(input, w, *settings), shapes[1], grad)
    # Of the plain convolution that makes the input of the gradient: as the transpose of this one, XLA would go through all the zeros
    # that it puts between the elements of the input.
    pads = [(p, p - o) for p, o in zip(padding, output_padding, strict=True)]

    def of_real(grad, input):
        return _transpose_of(lambda w: _correlate(grad, w, stride, pads, None, dilation, groups), shapes[1], input)
    return _of_parts(of_real, grad, input)


def _bias_gradient(grad, shapes):
    if not grad.shape[1]:
        return jnp.zeros(shapes[2], grad.dtype)
    return grad.sum((0, *range(2, grad.ndim)))


@op(check=check_convolution, layout=_layout, method=False,
    grad={"input": _input_gradient, "weight": _weight_gradient, "bias": _bias_gradient})
def convolution(input: Tensor, weight: Tensor, bias: OptTensor, stride, padding, dilation, transposed, output_padding, groups):
    """Cross-correlation of ``(N, C, *)`` with ``(out, C / groups, *)``, or its transpose; what the convolution functions call."""
    if not input.shape[1]:                                     # of no channels PyTorch makes none, whatever the bias says
        sizes = [(m + 2 * p - d * (k - 1) - 1) // s + 1 for m, k, s, p, d in zip(
            input.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)]
        return jnp.zeros((input.shape[0], 0, *sizes), input.dtype)
    out = convolve(input, weight, stride, padding, dilation, transposed, output_padding, groups)
    if bias is not None:
        out = out + bias.reshape(1, -1, *(1,) * (out.ndim - 2)).astype(out.dtype)
    return out.astype(input.dtype)
