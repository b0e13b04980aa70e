"""Interned descriptions: `Aval` of an array (shape, dtype, device), `Spec` of a tensor (with strides and flags).

Equal descriptions are the same object, so a key made of their identities says all that type promotion, broadcasting
and shape inference depend on, and comparing two costs nothing. May not know: tensors, tapes.
"""
import math

from ..base import devices, dtypes
from ..base.geometry import contiguous_strides, is_contiguous, is_non_overlapping_and_dense
from ..base.size import Size


class Aval:
    """What is known of an array before it is computed: ``shape`` (tuple), ``dtype``, ``device``."""

    __slots__ = ("shape", "dtype", "device", "_struct")
    _known = {}

    def __repr__(self):
        return f"{self.dtype.name}{list(self.shape)}" + ("" if self.device is devices.cpu else f"@{self.device}")

    @property
    def struct(self):
        """The `jax.ShapeDtypeStruct` of it."""
        if self._struct is None:
            import jax
            self._struct = jax.ShapeDtypeStruct(self.shape, self.dtype.numpy)
        return self._struct

    def __reduce__(self):
        return aval, (self.shape, self.dtype, self.device)


def aval(shape, dtype, device=devices.cpu):
    """The `Aval` of this shape, dtype and device."""
    key = (shape, dtype, device)
    found = Aval._known.get(key)
    if found is None:
        found = Aval.__new__(Aval)
        found.shape, found.dtype, found.device, found._struct = tuple(map(int, shape)), dtype, device, None
        found = Aval._known.setdefault(key, found)
    return found


class Spec:
    """How a tensor lies over its storage: ``size``, ``stride`` (elements), ``dtype``, ``device``, ``conj``, ``neg``.

    ``aval`` is that of the tensor's logical value, ``contiguous`` and ``numel`` are worked out once. The storage offset is
    not part of it, so that `x[0]` and `x[1]` share a Spec.
    """

    __slots__ = ("size", "stride", "dtype", "device", "conj", "neg", "aval", "numel", "ndim", "contiguous", "dense", "notes")
    _known = {}

    def __repr__(self):
        return f"Spec({self.aval!r}, stride={list(self.stride)})"


def spec(size, stride, dtype, device=devices.cpu, conj=False, neg=False):
    """The `Spec` of this geometry; ``stride=None`` is contiguous."""
    key = (size, stride, dtype, device, conj, neg)
    found = Spec._known.get(key)
    if found is None:
        plain = tuple(map(int, size))
        dense = contiguous_strides(plain)
        if stride is None or tuple(stride) == dense:
            full = (plain, dense, dtype, device, conj, neg)
            found = Spec._known.get(full)
            if found is None:
                found = Spec._known.setdefault(full, _make(plain, dense, *full[2:]))
            Spec._known[key] = found
        else:
            found = Spec._known.setdefault(key, _make(plain, tuple(map(int, stride)), *key[2:]))
    return found


def _check_addressable(size, count):
    """PyTorch's errors for sizes of which there can be no memory of so many bytes: XLA would end the process."""
    if not count and math.prod([n or 1 for n in size[1:]]) >> 63:
        raise RuntimeError("Stride calculation overflowed")
    if count >> 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)}")


def _make(size, stride, dtype, device, conj, neg):
    self = Spec.__new__(Spec)
    self.size, self.stride, self.dtype, self.device, self.conj, self.neg = Size(size), stride, dtype, device, conj, neg
    self.aval = aval(size, dtype, device)
    self.ndim, self.numel = len(size), 1
    for n in size:
        self.numel *= n
    self.contiguous = is_contiguous(size, stride)
    if self.contiguous:
        _check_addressable(size, self.numel * dtype.itemsize)
    self.dense = self.contiguous or is_non_overlapping_and_dense(size, stride)
    self.notes = {}                      # what other rooms work out once for a Spec
    return self


def within(layout, elements):
    """The `Spec` of a tensor that PyTorch lets lie at the start of a memory of that many elements (``notes["memory"]``).

    The rest of that memory is what a formula has left there, and is not kept here: only its size is told (`Storage.nbytes`).
    """
    key = (layout, elements)
    found = Spec._known.get(key)
    if found is None:
        found = _make(tuple(layout.size), layout.stride, layout.dtype, layout.device, layout.conj, layout.neg)
        found.notes["memory"] = elements
        found = Spec._known.setdefault(key, found)
    return found


def of_aval(a):
    """The contiguous `Spec` of an `Aval`."""
    return spec(a.shape, None, a.dtype, a.device)


__all__ = ["Aval", "Spec", "aval", "dtypes", "of_aval", "spec", "within"]
