"""The transforms of `torch.fft`, by ``fft_<name>``.

Owns: how the eighteen transforms use the four operators of `transforms`: sizes, padding and cutting, normalisation. May not know: how a
transform is computed.
"""
import math

from ...base import dtypes
from ..registry import composite
from .composing import put_out
from .numeric import axis_at, wrap_dim
from .transforms import c2c, c2r, r2c, r2c_whole

CONJUGATING = "aten::conj_physical"
NOT_REAL = " expects a real input tensor, but got"

# -- arguments --------------------------------------------------------------------------------------------------------

def _not_narrow(d):
    if d.is_floating_point and d.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {dtypes.scalar_name(d)}")


def _to_complex(t):
    d = t._spec.dtype
    _not_narrow(d)
    if d.is_complex:
        return t
    return t.to((d if d.is_floating_point else dtypes.get_default_dtype()).computed_complex())


def _to_real(text, t):
    d = t._spec.dtype
    if d.is_complex:
        raise RuntimeError(f"{text} {dtypes.scalar_name(d)}")
    _not_narrow(d)
    return t if d.is_floating_point else t.to(dtypes.get_default_dtype())


def _scale(norm, n, forward, name):
    if norm not in (None, "forward", "backward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") == forward else None


def _sized(t, dim, n):
    """Cut, or zeros put behind, to ``n`` elements."""
    have = t._spec.size[dim]
    if n == have:
        return t
    if n < have:
        return t.narrow(dim, 0, n)
    from .pad import constant_pad_nd
    return constant_pad_nd(t, (0, 0) * (t._spec.ndim - 1 - dim) + (0, n - have), 0)


def _one(name, t, n, dim):
    axis = axis_at(t._spec, dim)
    count = t._spec.size[axis] if n is None else n
    if count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")
    return axis, count


def _several(t, s, dim):
    """(dimensions, sizes) of an n-dimensional transform."""
    n = t._spec.ndim
    if dim is not None:
        dims = dim if isinstance(dim, (tuple, list)) else (dim.__index__(),)
        if not n and len(dims):
            raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
        dims = [wrap_dim(d, n) for d in dims]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    if s is not None:
        s = [m.__index__() for m in (s if isinstance(s, (tuple, list)) else (s,))]
        if dim is not None and len(dims) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(s) > n:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {n} dimensions.")
        if dim is None:
            dims = list(range(n - len(s), n))
        sizes = [t._spec.size[d] if m == -1 else m for d, m in zip(dims, s, strict=True)]
    else:
        dims = list(range(n)) if dim is None else dims
        sizes = [t._spec.size[d] for d in dims]
    for m in sizes:
        if m <= 0:
            raise RuntimeError(f"Invalid number of data points ({m}) specified")
    return dims, sizes


def _fit_all(t, dims, sizes):
    for d, m in zip(dims, sizes, strict=True):
        t = _sized(t, d, m)
    return t


def _written(name, kernel, made, out):
    """What is made, or ``out`` with it. ``name``: who refuses numbers of the other kind in PyTorch, ``kernel``: who refuses gradients."""
    if out is None:
        return made
    real, d = kernel == "_fft_c2r", out._spec.dtype
    if not (d.is_floating_point if real else d.is_complex):
        raise RuntimeError(f"{name} expects a {'floating point' if real else 'complex'} output tensor, but got {dtypes.scalar_name(d)}")
    if kernel is CONJUGATING and made._spec.dtype is not d:
        raise RuntimeError(f"Found dtype {dtypes.scalar_name(d)} but expected {dtypes.scalar_name(made._spec.dtype)}")
    if made._spec.size != out._spec.size and kernel is not CONJUGATING:        # it grows row-major, however the kernel's result lies
        made = made.contiguous()
    return put_out(kernel, made if made._spec.dtype is d else made.to(d), out)


# -- complex ----------------------------------------------------------------------------------------------------------

def _named(name):
    """Registers ``fft_<name>`` (not a public name itself)."""
    def declare(body):
        return composite("fft_" + name, function=False, method=False)(body)
    return declare


def _c2c_one(name, input, n, dim, norm, forward, out):
    axis, n = _one(name, input, n, dim)
    scale = _scale(norm, n, forward, name)
    if input._spec.dtype.is_complex:
        return _written(name, "_fft_c2c", c2c(_sized(input, axis, n), (axis,), forward, scale), out)
    made = r2c_whole(_sized(_to_real(name + NOT_REAL, input), axis, n), axis, scale)
    return _written(name, "_fft_r2c", made, out) if forward else _written(name, CONJUGATING, made.conj(), out)


@_named("fft")
def fft(input, n=None, dim=-1, norm=None, *, out=None):
    """The transform along ``dim``, cut or filled with zeros to ``n``; ``norm``: "backward" (1), "ortho", "forward" (1 / n).

    >>> torch.fft.fft(torch.tensor([1., 0.]))
    tensor([1.+0.j, 1.+0.j])
    """
    return _c2c_one("fft", input, n, dim, norm, True, out)


@_named("ifft")
def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of ``fft``.

    >>> torch.fft.ifft(torch.tensor([6., 0., 0.])).real
    tensor([2., 2., 2.])
    """
    return _c2c_one("ifft", input, n, dim, norm, False, out)


def _c2c_all(name, input, s, dim, norm, forward, out):
    dims, sizes = _several(input, s, dim)
    t = _fit_all(_to_complex(input), dims, sizes)
    scale = _scale(norm, math.prod(sizes), forward, name)
    return _written("fftn", "_fft_c2c", c2c(t, tuple(dims), forward, scale) if dims else t, out)


@_named("fftn")
def fftn(input, s=None, dim=None, norm=None, *, out=None):
    """The transform along several dimensions (all of them without ``dim`` and ``s``).

    >>> torch.fft.fftn(torch.ones(2, 2)).real
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _c2c_all("fftn", input, s, dim, norm, True, out)


@_named("ifftn")
def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of ``fftn``.

    >>> torch.fft.ifftn(torch.fft.fftn(torch.eye(2))).real
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _c2c_all("ifftn", input, s, dim, norm, False, out)


@_named("fft2")
def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """``fftn`` along the last two dimensions.

    >>> torch.fft.fft2(torch.eye(2))
    tensor([[2.+0.j, 0.+0.j],
            [0.+0.j, 2.+0.j]])
    """
    return _c2c_all("fft2", input, s, dim, norm, True, out)


@_named("ifft2")
def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """The inverse of ``fft2``.

    >>> torch.fft.ifft2(torch.fft.fft2(torch.eye(2))).real
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _c2c_all("ifft2", input, s, dim, norm, False, out)


# -- real -------------------------------------------------------------------------------------------------------------

@_named("rfft")
def rfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The first half of the transform of real numbers: ``n // 2 + 1`` elements.

    >>> torch.fft.rfft(torch.tensor([1., 1., 1., 1.])).real
    tensor([4., 0., 0.])
    """
    axis, n = _one("rfft", input, n, dim)
    made = r2c(_sized(_to_real("rfft" + NOT_REAL, input), axis, n), (axis,), _scale(norm, n, True, "rfft"))
    return _written("rfft", "_fft_r2c", made, out)


def _last_of_half(t, axis, n):
    count = 2 * (t._spec.size[axis] - 1) if n is None else n
    if count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")
    return count


@_named("irfft")
def irfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of ``rfft``: ``n`` real numbers, by default ``2 (m - 1)``.

    >>> torch.fft.irfft(torch.fft.rfft(torch.tensor([1., 2., 3.])), n=3)
    tensor([1., 2., 3.])
    """
    axis = axis_at(input._spec, dim)
    n = _last_of_half(input, axis, n)
    made = c2r(_sized(_to_complex(input), axis, n // 2 + 1), (axis,), n, _scale(norm, n, False, "irfft"))
    return _written("irfft", "_fft_c2r", made, out)


@_named("hfft")
def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The real transform of a Hermitian signal, given by its first half.

    >>> torch.fft.hfft(torch.tensor([4., 1.]), n=3)
    tensor([6., 3., 3.])
    """
    axis = axis_at(input._spec, dim)
    n = _last_of_half(input, axis, n)
    made = c2r(_sized(_to_complex(input), axis, n // 2 + 1).conj(), (axis,), n, _scale(norm, n, True, "hfft"))
    return _written("hfft", "_fft_c2r", made, out)


@_named("ihfft")
def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of ``hfft``: the first half of a Hermitian signal.

    >>> torch.fft.ihfft(torch.tensor([6., 3., 3.])).real
    tensor([4., 1.])
    """
    axis, n = _one("ihfft", input, n, dim)
    made = r2c(_sized(_to_real("ihfft" + NOT_REAL, input), axis, n), (axis,), _scale(norm, n, False, "ihfft")).conj()
    return _written("ihfft", CONJUGATING, made, out)


def _r2c_all(name, input, s, dim, norm, out):
    real = _to_real("rfftn expects a real-valued input tensor, but got", input)
    dims, sizes = _several(input, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    t = _fit_all(real, dims, sizes)
    made = r2c(t, tuple(dims), _scale(norm, math.prod(sizes), True, name))
    return _written("rfftn", "_fft_r2c", made, out)


@_named("rfftn")
def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    """``rfft`` along the last of several dimensions, ``fft`` along the others.

    >>> torch.fft.rfftn(torch.ones(3, 4)).shape
    torch.Size([3, 3])
    """
    return _r2c_all("rfftn", input, s, dim, norm, out)


@_named("rfft2")
def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """``rfftn`` along the last two dimensions.

    >>> torch.fft.rfft2(torch.ones(2, 4)).shape
    torch.Size([2, 3])
    """
    return _r2c_all("rfft2", input, s, dim, norm, out)


def _half_sizes(t, s, dim, name):
    """(dimensions, sizes of the result) where the last dimension of the input is a half."""
    given = None if s is None else [s] if isinstance(s, int) else list(s)
    dims, sizes = _several(t, given, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    if not given or given[-1] == -1:
        sizes[-1] = 2 * (t._spec.size[dims[-1]] - 1)
    if sizes[-1] < 1:
        raise RuntimeError(f"Invalid number of data points ({sizes[-1]}) specified")
    return dims, sizes


def _c2r_all(name, input, s, dim, norm, out):
    dims, sizes = _half_sizes(input, s, dim, name)
    t = _fit_all(_to_complex(input), dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    made = c2r(t, tuple(dims), sizes[-1], _scale(norm, math.prod(sizes), False, name))
    return _written("irfftn", "_fft_c2r", made, out)


@_named("irfftn")
def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of ``rfftn``.

    >>> torch.fft.irfftn(torch.fft.rfftn(torch.eye(2)))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _c2r_all("irfftn", input, s, dim, norm, out)


@_named("irfft2")
def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """The inverse of ``rfft2``.

    >>> torch.fft.irfft2(torch.fft.rfft2(torch.eye(2)))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _c2r_all("irfft2", input, s, dim, norm, out)


@_named("hfftn")
def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    """``fft`` along all but the last of several dimensions, then ``hfft``.

    >>> torch.fft.hfftn(torch.ones(2, 2), s=(2, 3)).shape
    torch.Size([2, 3])
    """
    dims, sizes = _half_sizes(input, s, dim, "hfftn")
    t = _fit_all(_to_complex(input), dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    if dims[:-1]:
        t = c2c(t, tuple(dims[:-1]), True)
    made = c2r(t.conj(), tuple(dims[-1:]), sizes[-1], _scale(norm, math.prod(sizes), True, "hfftn"))
    return _written("hfftn", "_fft_c2r", made, out)


@_named("hfft2")
def hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """``hfftn`` along the last two dimensions.

    >>> torch.fft.hfft2(torch.ones(2, 2), s=(2, 2))
    tensor([[4., 0.],
            [0., 0.]])
    """
    return hfftn(input, s, dim, norm, out=out)


@_named("ihfftn")
def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of ``hfftn``.

    >>> torch.fft.ihfftn(torch.ones(3, 4)).shape
    torch.Size([3, 3])
    """
    dims, sizes = _several(input, s, dim)
    if not dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    scale, several = _scale(norm, math.prod(sizes), False, "ihfftn"), len(dims) > 1
    t = _fit_all(_to_real("Only supports floating-point dtypes, but found:", input), dims, sizes)
    t = r2c(t, tuple(dims[-1:]), None if several else scale).conj()
    if several:
        t = c2c(t, tuple(dims[:-1]), False, scale)
    return _written("ihfftn", "_fft_c2c" if several else CONJUGATING, t, out)


@_named("ihfft2")
def ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """The inverse of ``hfft2``.

    >>> torch.fft.ihfft2(torch.ones(2, 2)).shape
    torch.Size([2, 2])
    """
    return ihfftn(input, s, dim, norm, out=out)
