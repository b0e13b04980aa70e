"""`torch.hann_window` and its kind: windows of PyTorch's top level, periodic unless said otherwise.

Each is computed by the same steps as PyTorch's, so that the last bits agree as far as those of the functions do.
"""
import math

import jtensor

from ..base import dtypes
from ..tensor.calling.guards import guarded


def _plain(name, window_length, dtype, layout, options):
    """The dtype, and a window of less than two elements, or None."""
    dtype = jtensor.get_default_dtype() if dtype is None else dtypes.OF_PYTHON.get(dtype, dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} expects floating point dtypes, got: TensorOptions(dtype={dtypes.cpp_name(dtype)}, device=cpu, "
                           "layout=Strided (default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))")
    if layout is not None and layout is not jtensor.strided:
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {layout}")
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    if window_length < 2:
        return dtype, jtensor.ones(window_length, dtype=dtype, **options)
    return dtype, None


def _window(window_length, periodic, dtype, options, steps):
    """``steps(arange, n)`` of a window of one more element, without it, where it is periodic."""
    n = window_length + bool(periodic)
    requires_grad = options.pop("requires_grad", False)
    with jtensor.no_grad():
        made = steps(jtensor.arange(n, dtype=dtype, **options), n)
        made = made[:window_length].clone() if periodic else made
    return made.requires_grad_() if requires_grad else made


def _options(device, pin_memory, requires_grad):
    return {"device": device, "pin_memory": pin_memory, "requires_grad": requires_grad}


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A triangle: ``1 - |2 n / (N - 1) - 1|``, of the default or the given floating-point dtype.

    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    options = _options(device, pin_memory, requires_grad)
    dtype, made = _plain("bartlett_window", window_length, dtype, layout, options)

    def steps(x, n):
        x = x * (2.0 / (n - 1))
        first = (n - 1) // 2 + 1
        return jtensor.cat([x[:first], x[first:] * -1 + 2])
    return made if made is not None else _window(window_length, periodic, dtype, options, steps)


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """``0.42 - 0.5 cos(2 pi n / (N - 1)) + 0.08 cos(4 pi n / (N - 1))``.

    >>> torch.blackman_window(3, periodic=False).abs() < 1e-6
    tensor([ True, False,  True])
    """
    options = _options(device, pin_memory, requires_grad)
    dtype, made = _plain("blackman_window", window_length, dtype, layout, options)

    def steps(x, n):
        x = x * (math.pi / (n - 1))
        return (x * 4).cos() * 0.08 - (x * 2).cos() * 0.5 + 0.42
    return made if made is not None else _window(window_length, periodic, dtype, options, steps)


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, pin_memory=False,
                   requires_grad=False):
    """``alpha - beta cos(2 pi n / (N - 1))``.

    >>> torch.hamming_window(3, periodic=False)
    tensor([0.0800, 1.0000, 0.0800])
    """
    options = _options(device, pin_memory, requires_grad)
    dtype, made = _plain("hamming_window", window_length, dtype, layout, options)
    return made if made is not None else _window(
        window_length, periodic, dtype, options, lambda x, n: (x * (math.pi * 2.0 / (n - 1))).cos() * -beta + alpha)


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """``0.5 (1 - cos(2 pi n / (N - 1)))``.

    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    options = _options(device, pin_memory, requires_grad)
    dtype, made = _plain("hann_window", window_length, dtype, layout, options)
    return made if made is not None else _window(
        window_length, periodic, dtype, options, lambda x, n: (x * (math.pi * 2.0 / (n - 1))).cos() * -0.5 + 0.5)


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """``I0(beta sqrt(1 - (2 n / (N - 1) - 1)^2)) / I0(beta)``.

    >>> torch.kaiser_window(3, periodic=False)[1]
    tensor(1.)
    """
    options = _options(device, pin_memory, requires_grad)
    dtype, made = _plain("kaiser_window", window_length, dtype, layout, options)

    def steps(x, n):
        half = (n - 1) / 2.0
        inside = ((1 - ((x - half) / half) ** 2).clamp(min=0)).sqrt() * beta
        return jtensor.i0(inside) / jtensor.i0(x.new_tensor(float(beta)))
    return made if made is not None else _window(window_length, periodic, dtype, options, steps)


for _name in ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"):
    globals()[_name] = guarded(globals()[_name], _name, asked_first=True)

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]
