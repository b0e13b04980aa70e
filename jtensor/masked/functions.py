"""`torch.masked`: reductions and normalisations of the elements that a mask lets through. Where it is False, the element is not there."""
import jtensor

from .filling import counted, dims_of, filled, highest, lowest, summed_dtype
from .sparse import reduced, refuse, with_mask

_INF = float("inf")

# -- sums and products ------------------------------------------------------------------------------------------------


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of the elements that ``mask`` (which broadcasts to the input) lets through; of none it is 0.

    >>> torch.masked.sum(torch.tensor([[1., 2.], [3., 4.]]), 1, mask=torch.tensor([True, False]))
    tensor([1., 3.])
    """
    dtype, dims = summed_dtype(input, dtype), dims_of(input, dim)
    found = filled(input, mask, 0)
    if found.layout is not jtensor.strided:
        return reduced("sum", found, dims, keepdim, dtype)
    return found.sum(dims, keepdim=bool(keepdim), dtype=dtype) if input.ndim else found.to(dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of the elements that the mask lets through; of none it is 1."""
    dtype = summed_dtype(input, dtype)
    found = filled(input, mask, 1)
    if found.layout is not jtensor.strided:
        with_mask("prod", found, mask)
        return reduced("prod", found, dims_of(input, dim), keepdim, dtype)
    found = found.to(dtype)
    for one in reversed(dims_of(input, dim)):
        found = found.prod(one, keepdim=bool(keepdim))
    return found


def cumsum(input, dim, *, dtype=None, mask=None):
    """The sums so far of the elements that the mask lets through."""
    refuse("cumsum", input)
    return filled(input, mask, 0).cumsum(dims_of(input, dim)[0], dtype=dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The products so far of the elements that the mask lets through."""
    refuse("cumprod", input)
    return filled(input, mask, 1).cumprod(dims_of(input, dim)[0], dtype=dtype or input.dtype)


# -- extremes ---------------------------------------------------------------------------------------------------------


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest of the elements that the mask lets through; of none, the lowest number that the dtype has.

    >>> torch.masked.amax(torch.tensor([1., 5., 3.]), mask=torch.tensor([True, False, True]))
    tensor(3.)
    """
    found, dims = filled(input, mask, lowest("amax", input, mask)), dims_of(input, dim)
    if found.layout is not jtensor.strided:
        with_mask("amax" if found.layout is jtensor.sparse_coo else "amax", found, mask)
        return reduced("amax", found, dims, keepdim, dtype or input.dtype)
    return found.amax(dims, keepdim=bool(keepdim)).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest of the elements that the mask lets through; of none, the highest number that the dtype has."""
    found, dims = filled(input, mask, highest("amin", input, mask)), dims_of(input, dim)
    if found.layout is not jtensor.strided:
        with_mask("amax" if found.layout is jtensor.sparse_coo else "amin", found, mask)
        return reduced("amin", found, dims, keepdim, dtype or input.dtype)
    return found.amin(dims, keepdim=bool(keepdim)).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the largest element is that the mask lets through, as a number of the input's dtype unless ``dtype`` is another."""
    refuse("argmax", input)
    return jtensor.argmax(filled(input, mask, lowest("argmax", input, mask)), dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the smallest element is that the mask lets through, as a number of the input's dtype unless ``dtype`` is another."""
    refuse("argmin", input)
    return jtensor.argmin(filled(input, mask, highest("argmin", input, mask)), dim, bool(keepdim)).to(dtype or input.dtype)


# -- statistics -------------------------------------------------------------------------------------------------------


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of the elements that the mask lets through; of none it is NaN. ``ValueError`` for integers without ``dtype``.

    >>> torch.masked.mean(torch.tensor([1., 5., 3.]), mask=torch.tensor([True, False, True]))
    tensor(2.)
    """
    if dtype is None and not (input.is_floating_point() or input.is_complex()):
        raise ValueError("mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
                         f"{input.dtype}")
    dtype, dims = dtype or input.dtype, dims_of(input, dim)
    if input.layout is jtensor.sparse_csr:
        with_mask("mean", input, mask)
        return reduced("mean", filled(input, mask, 0), dims, keepdim, dtype)
    refuse("mean", input, "strided or sparse_csr")
    return sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask) / counted(input, dims, mask, keepdim).to(dtype)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median of the elements that the mask lets through, of two the lower; NaN of none, or ``ValueError`` for integers."""
    refuse("median", input)
    dims = dims_of(input, dim)
    numbers = input if input.is_floating_point() else input.to(jtensor.get_default_dtype())
    found = filled(numbers, mask, float("nan")).nanmedian(dims[0], bool(keepdim)).values
    if numbers is not input and bool(found.isnan().any()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(dtype or input.dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of the elements that the mask lets through: squared distances from their mean by their number less ``correction``
    (1 unless ``unbiased`` is False)."""
    refuse("std/var", input)
    if correction is not None and unbiased is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    if dtype is None:
        dtype = input.dtype if input.is_floating_point() or input.is_complex() else jtensor.float32
    computed = dtype if dtype.is_floating_point or dtype.is_complex else jtensor.float32
    dims, input = dims_of(input, dim), input.to(computed)
    apart = input - mean(input, dims, keepdim=True, mask=mask)
    total = sum(apart * apart.conj() if apart.is_complex() else apart * apart, dims, keepdim=keepdim, mask=mask)
    return (total / (counted(input, dims, mask, keepdim) - correction).clamp_min(0).to(computed)).to(dtype)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The root of the variance of the elements that the mask lets through."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


# -- norms and exponentials -------------------------------------------------------------------------------------------


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of the elements that the mask lets through."""
    refuse("norm", input)
    ord = 2.0 if ord is None else ord
    nothing = _INF if ord < 0 else 0
    return jtensor.linalg.vector_norm(filled(input, mask, nothing), ord, dims_of(input, dim), bool(keepdim), dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The elements that the mask lets through by their norm, which is taken for ``eps`` at least; the others are 0."""
    refuse("normalize", input)
    dtype = dtype or input.dtype
    return filled(input, mask, 0) / norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask).clamp_min(eps)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of the exponentials of the elements that the mask lets through."""
    refuse("logsumexp", input)
    return filled(input, mask, lowest("logsumexp", input, mask)).logsumexp(dims_of(input, dim), keepdim=keepdim).to(dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """The logarithm of the sum of two exponentials; one that its mask does not let through adds nothing."""
    if input.layout is not jtensor.strided or other.layout is not jtensor.strided:
        raise ValueError(f"masked logaddexp expects strided tensors (got {input.layout} tensor for input, {other.layout} for other)")
    both = filled(input, input_mask, -_INF), filled(other, other_mask, -_INF)
    return jtensor.logaddexp(*both).to(dtype or input.dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    """The softmax over the elements that the mask lets through; the others get 0.

    >>> torch.masked.softmax(torch.tensor([1., 5., 1.]), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    refuse("softmax", input)
    numbers = filled(input, mask, lowest("softmax", input, mask))
    return jtensor.nn.functional.softmax(numbers, dims_of(input, dim)[0], dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of `softmax`; -inf where the mask lets nothing through."""
    refuse("log_softmax", input)
    numbers = filled(input, mask, lowest("log_softmax", input, mask))
    return jtensor.nn.functional.log_softmax(numbers, dims_of(input, dim)[0], dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """The softmax of the negative elements that the mask lets through; the others get 0."""
    refuse("softmin", input)
    numbers = filled(input, mask, highest("softmin", input, mask))
    return jtensor.nn.functional.softmin(numbers, dims_of(input, dim)[0], dtype=dtype or input.dtype)
