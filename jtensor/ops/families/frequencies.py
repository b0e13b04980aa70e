"""Which frequency an element of a transform stands for, and where it stands: `torch.fft`'s ``fftfreq``, ``fftshift`` and their kin.

Owns: these four functions, by ``fft_<name>``. May not know: transforms.
"""
from ...base import dtypes
from ..registry import composite
from .composing import put_out
from .numeric import wrap_dim


def _asked(name, n, dtype):
    if dtype is not None and dtype.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if n < 0:
        size = n if name == "fftfreq" else n // 2 + 1
        raise RuntimeError(f"Trying to create tensor with negative dimension {size}: [{size}]")


def _step(n, d):
    return 1.0 / (n * d) if n * d else float("inf")


@composite("fft_fftfreq", function=False, method=False)
def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of the elements of a transform of ``n`` samples, ``d`` apart.

    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    import jtensor
    dtype = out.dtype if dtype is None and out is not None else dtype
    _asked("fftfreq", n, dtype)
    positive = (n + 1) // 2
    device = out.device if device is None and out is not None else device
    numbers = jtensor.cat([jtensor.arange(0, positive, device=device), jtensor.arange(-(n // 2), 0, device=device)])
    numbers = numbers.to(dtype or dtypes.get_default_dtype())
    made = put_out("fft_fftfreq", numbers * _step(n, d), out)
    return made.requires_grad_() if requires_grad else made


@composite("fft_rfftfreq", function=False, method=False)
def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of the elements of ``rfft`` of ``n`` samples, ``d`` apart.

    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    import jtensor
    dtype = out.dtype if dtype is None and out is not None else dtype
    _asked("rfftfreq", n, dtype)
    device = out.device if device is None and out is not None else device
    numbers = jtensor.arange(0, n // 2 + 1, device=device).to(dtype or dtypes.get_default_dtype())
    made = put_out("fft_rfftfreq", numbers * _step(n, d), out)
    return made.requires_grad_() if requires_grad else made


def _shift_dims(input, dim):
    given = range(input._spec.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    return [wrap_dim(d, input._spec.ndim) for d in given]


@composite("fft_fftshift", function=False, method=False)
def fftshift(input, dim=None):
    """The zero frequency moved to the middle.

    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    dims = _shift_dims(input, dim)
    return input.roll([input._spec.size[d] // 2 for d in dims], dims)


@composite("fft_ifftshift", function=False, method=False)
def ifftshift(input, dim=None):
    """The inverse of ``fftshift``.

    >>> torch.fft.ifftshift(torch.tensor([-2., -1., 0., 1.]))
    tensor([ 0.,  1., -2., -1.])
    """
    dims = _shift_dims(input, dim)
    return input.roll([(input._spec.size[d] + 1) // 2 for d in dims], dims)
