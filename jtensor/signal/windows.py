"""`torch.signal.windows`: windows of ``M`` points, symmetric unless said otherwise."""
import math

import jtensor


def _plain(name, M, dtype, layout, device, requires_grad):
    """The dtype, and a window of less than two elements, or None."""
    dtype = jtensor.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not jtensor.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (jtensor.float32, jtensor.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M == 0:
        return dtype, jtensor.empty(0, dtype=dtype, device=device, requires_grad=requires_grad)
    return dtype, None


def _finish(made, requires_grad):
    return made.requires_grad_() if requires_grad else made


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``sum_i (-1)^i a_i cos(2 pi i n / (M - 1))`` for the weights ``a``; ``M`` instead of ``M - 1`` where not ``sym``.

    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    dtype, made = _plain("general_cosine", M, dtype, layout, device, requires_grad)
    if made is not None:
        return made
    if M == 1:
        return jtensor.ones((1,), dtype=dtype, device=device, requires_grad=requires_grad)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    with jtensor.no_grad():
        step = 2 * math.pi / (M if not sym else M - 1)
        k = jtensor.linspace(0, (M - 1) * step, M, dtype=dtype, device=device)
        made = jtensor.zeros(M, dtype=dtype, device=device)
        for i, weight in enumerate(a):
            made = made + (weight if i % 2 == 0 else -weight) * jtensor.cos(i * k)
    return _finish(made, requires_grad)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``alpha - (1 - alpha) cos(2 pi n / (M - 1))``.

    >>> torch.signal.windows.general_hamming(4, alpha=0.5)
    tensor([0.0000, 0.7500, 0.7500, 0.0000])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The Hamming window, `general_hamming` with 0.54.

    >>> torch.signal.windows.hamming(4)
    tensor([0.0800, 0.7700, 0.7700, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The Hann window, `general_hamming` with 0.5.

    >>> torch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The Blackman window, `general_cosine` with 0.42, 0.5, 0.08.

    >>> torch.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The minimum 4-term Blackman-Harris window of Nuttall.

    >>> torch.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """A triangle: ``1 - |2 n / (M - 1) - 1|``.

    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _of_places("bartlett", M, sym, dtype, layout, device, requires_grad, -1, lambda n: 2 / n, lambda k: 1 - jtensor.abs(k))


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``sin(pi (n + 0.5) / M)``.

    >>> torch.signal.windows.cosine(4)
    tensor([0.3827, 0.9239, 0.9239, 0.3827])
    """
    dtype, made = _plain("cosine", M, dtype, layout, device, requires_grad)
    if made is not None:
        return made
    with jtensor.no_grad():
        step = math.pi / (M + 1 if not sym and M > 1 else M)
        made = jtensor.sin(jtensor.linspace(0.5 * step, (0.5 + M - 1) * step, M, dtype=dtype, device=device))
    return _finish(made, requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``exp(-|n - center| / tau)``; the center is the middle, and cannot be given where ``sym``.

    >>> torch.signal.windows.exponential(5)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """
    dtype, made = _plain("exponential", M, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if made is not None:
        return made
    center = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
    with jtensor.no_grad():
        k = jtensor.linspace(-center / tau, (-center + M - 1) / tau, M, dtype=dtype, device=device)
        made = jtensor.exp(-jtensor.abs(k))
    return _finish(made, requires_grad)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``exp(-((n - center) / std)^2 / 2)``.

    >>> torch.signal.windows.gaussian(5)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    dtype, made = _plain("gaussian", M, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if made is not None:
        return made
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    step = 1 / (std * math.sqrt(2))
    with jtensor.no_grad():
        k = jtensor.linspace(start * step, (start + (M - 1)) * step, M, dtype=dtype, device=device)
        made = jtensor.exp(-(k**2))
    return _finish(made, requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta)``.

    >>> torch.signal.windows.kaiser(5)
    tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01, 5.2773e-05])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _of_places(
        "kaiser",
        M,
        sym,
        dtype,
        layout,
        device,
        requires_grad,
        -beta,
        lambda n: 2.0 * beta / n,
        lambda k: jtensor.i0(jtensor.sqrt((beta * beta - k**2).clamp(min=0))) / jtensor.i0(k.new_tensor(float(beta))),
    )


def _of_places(name, M, sym, dtype, layout, device, requires_grad, start, step, function):
    """A function of places from ``start`` on, ``step(number of steps)`` apart."""
    dtype, made = _plain(name, M, dtype, layout, device, requires_grad)
    if made is not None:
        return made
    if M == 1:
        return jtensor.ones((1,), dtype=dtype, device=device, requires_grad=requires_grad)
    with jtensor.no_grad():
        by = step(M if not sym else M - 1)
        made = function(jtensor.linspace(start, start + (M - 1) * by, M, dtype=dtype, device=device))
    return _finish(made, requires_grad)


__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser",
           "nuttall"]
