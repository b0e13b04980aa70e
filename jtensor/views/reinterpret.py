"""Reading the bytes of a storage as elements of another type.

``view(dtype)``, ``view_as_real``, ``.real`` and their kin look at one memory with another ruler.  A `Reinterpret` answers what the
memory looks like in the view's elements (size and stride of the layout) and how arrays go from one to the other:

    base --before--> memory --(read)--> cells --after--> view          and back, so that bytes a write does not touch stay as they are

Complex to its real parts and back is arithmetic that gradients go through; everything else is a bitcast, which has none, as in PyTorch.
Bytes are little-endian, as XLA's bitcasts are on every machine it runs on.  Knows nothing of tensors.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from ..base.geometry import contiguous_strides, is_contiguous

Ints = tuple[int, ...]

_UNSIGNED = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


@cache
def _dtype(name: str) -> np.dtype:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def _component(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float32) if dtype.itemsize == 8 else np.dtype(np.float64)


def _is_complex(dtype: np.dtype) -> bool:
    return dtype.kind == "c"


# ------------------------------------------------------------------------------------------ arrays as unsigned words

def _words(x):
    """Bits of ``x`` as unsigned integers; complex numbers get a last dimension of 2 (bitcasts refuse complex and bool)."""
    import jax.lax as lax
    import jax.numpy as jnp

    dtype = np.dtype(x.dtype)
    if dtype == np.bool_:
        return lax.convert_element_type(x, np.uint8)
    if _is_complex(dtype):
        return _words(jnp.stack([lax.real(x), lax.imag(x)], axis=-1))
    return x if dtype.kind == "u" else lax.bitcast_convert_type(x, _UNSIGNED[dtype.itemsize])


def _from_words(words, dtype: np.dtype):
    """The inverse of `_words`; as a bool every byte but 0 is true."""
    import jax.lax as lax

    if dtype == np.bool_:
        return lax.ne(words, np.uint8(0))
    if _is_complex(dtype):
        parts = _from_words(words, _component(dtype))
        return lax.complex(parts[..., 0], parts[..., 1])
    return words if dtype.kind == "u" else lax.bitcast_convert_type(words, dtype)


def _regroup(words, lead: Ints, itemsize: int):
    """Words of the same bits and another width: shape ``lead + (however many words make up the rest,)``."""
    import jax.lax as lax

    have = np.dtype(words.dtype).itemsize
    if have > itemsize:
        words = lax.bitcast_convert_type(words, _UNSIGNED[itemsize])
    elif have < itemsize:
        words = lax.reshape(words, (*lead, words.size // math.prod(lead) // (itemsize // have), itemsize // have))
        words = lax.bitcast_convert_type(words, _UNSIGNED[itemsize])
    return lax.reshape(words, (*lead, words.size // math.prod(lead)))


def recast(x, dtype: np.dtype):
    """Elements of ``x`` as elements of ``dtype``, which has the same itemsize."""
    if np.dtype(x.dtype) == dtype:
        return x
    words = _words(x)
    target = _component(dtype).itemsize if _is_complex(dtype) else dtype.itemsize
    if np.dtype(words.dtype).itemsize != target:
        if x.size == 0:
            import jax.lax as lax

            return lax.full(x.shape, 0, dtype)
        words = _regroup(words, x.shape, target)
        if not _is_complex(dtype):
            words = words[..., 0]
    return _from_words(words, dtype)


# --------------------------------------------------------------------------------------------------- the ruler

class Reinterpret(NamedTuple):
    """One memory as elements of ``source`` (the storage's) and of ``target`` (the view's); names of dtypes, to be hashable.

    ``kind``: "same" (one itemsize: the cells are converted after reading), "widen"/"narrow" (words regrouped before reading),
    "to_parts"/"from_parts" (complex and its component type).  ``size`` and ``stride`` are the memory's in elements of ``target``;
    ``flatten`` is the order in which the base must be laid out first, where ``flat``.
    """

    kind: str
    source: str
    target: str
    base_size: Ints
    flat: bool
    flatten: Ints | None
    size: Ints
    stride: Ints

    def before(self, base):
        """The memory: an array of shape `size`, of the target type or of words as wide."""
        import jax.lax as lax
        import jax.numpy as jnp

        if self.kind == "same":
            return base
        if math.prod(self.size) == 0:
            return lax.full(self.size, 0, self._memory_dtype())
        if self.flat:
            base = lax.reshape(base if self.flatten is None else lax.transpose(base, self.flatten), (base.size,))
            used = math.prod(self.size) * _dtype(self.target).itemsize // _dtype(self.source).itemsize
            if self.kind in ("widen", "from_parts") and used < base.size:
                base = base[:used]
        if self.kind == "to_parts":
            return jnp.stack([lax.real(base), lax.imag(base)], axis=-1)
        if self.kind == "from_parts":
            pairs = lax.reshape(base, (*self.size, 2))
            return lax.complex(pairs[..., 0], pairs[..., 1])
        words = _words(base)
        target = _dtype(self.target)
        if _is_complex(target):
            lead = self.size
            return _from_words(_regroup(words, lead, target.itemsize // 2), target)
        if self.kind == "narrow":
            return lax.reshape(_regroup(words, base.shape, target.itemsize), self.size)
        return _regroup(words, self.size, target.itemsize)[..., 0]

    def before_back(self, memory, base):
        """The base of which ``memory`` is what `before` would give; ``base`` lends the bytes that make no whole element."""
        import jax.lax as lax
        import jax.numpy as jnp

        if self.kind == "same":
            return memory
        if math.prod(self.size) == 0:
            return base
        source = _dtype(self.source)
        if self.kind == "to_parts":
            out = lax.complex(memory[..., 0], memory[..., 1])
        elif self.kind == "from_parts":
            out = jnp.stack([lax.real(memory), lax.imag(memory)], axis=-1)
        else:
            width = _component(source).itemsize if _is_complex(source) else source.itemsize
            words = _words(memory)
            words = _regroup(words, memory.shape[:-1] if self.kind == "narrow" else memory.shape, width)
            if _is_complex(source):
                words = lax.reshape(words, (words.size // 2, 2))
            out = _from_words(words, source)
        if not self.flat:
            return lax.reshape(out, self.base_size)
        order = tuple(range(base.ndim)) if self.flatten is None else self.flatten
        out = lax.reshape(out, (out.size,))
        if out.size < base.size:
            tail = lax.reshape(lax.transpose(base, order), (base.size,))[out.size :]
            out = lax.concatenate([out, tail], 0)
        out = lax.reshape(out, tuple(self.base_size[dim] for dim in order))
        return lax.transpose(out, tuple(order.index(dim) for dim in range(len(order))))

    def after(self, cells):
        """Cells of the memory as elements of the target type."""
        if self.kind == "same":
            return recast(cells, _dtype(self.target))
        target = _dtype(self.target)
        return cells if np.dtype(cells.dtype) == target else _from_words(cells, target)

    def after_back(self, new):
        """Elements of the target type as cells of the memory."""
        if self.kind == "same":
            return recast(new, _dtype(self.source))
        return new if self._memory_dtype() == _dtype(self.target) else _words(new)

    def _memory_dtype(self) -> np.dtype:
        target = _dtype(self.target)
        if self.kind == "same":
            return _dtype(self.source)
        if self.kind in ("to_parts", "from_parts") or _is_complex(target):
            return target
        return _UNSIGNED[target.itemsize]


def reinterpretation(layout_size: Ints, layout_stride: Ints, source, target) -> Reinterpret | None:
    """How a storage of dtype ``source`` reads as ``target``; None where the two are one type.

    ``source`` and ``target`` are NumPy dtypes (``ml_dtypes`` ones included).

    >>> import numpy as np
    >>> pairs = reinterpretation((3,), (1,), np.dtype("complex64"), np.dtype("float32"))
    >>> pairs.kind, pairs.size, pairs.stride
    ('to_parts', (3, 2), (2, 1))
    """
    source, target = np.dtype(source), np.dtype(target)
    if source == target:
        return None
    names = (source.name, target.name)
    wide, narrow = source.itemsize, target.itemsize
    if wide == narrow:
        return Reinterpret("same", *names, layout_size, False, None, layout_size, layout_stride)
    if wide > narrow:
        ratio = wide // narrow
        kind = "to_parts" if _is_complex(source) and target == _component(source) else "narrow"
        size = (*layout_size, ratio)
        return Reinterpret(kind, *names, layout_size, False, None, size, (*(step * ratio for step in layout_stride), 1))
    ratio = narrow // wide
    kind = "from_parts" if _is_complex(target) and source == _component(target) else "widen"
    if layout_size and is_contiguous(layout_size, layout_stride) and layout_size[-1] % ratio == 0:
        size = (*layout_size[:-1], layout_size[-1] // ratio)
        return Reinterpret(kind, *names, layout_size, False, None, size, contiguous_strides(size))
    order = tuple(sorted(range(len(layout_size)), key=lambda dim: (-layout_stride[dim], dim)))
    flatten = None if order == tuple(range(len(order))) else order
    size = (math.prod(layout_size) // ratio,)
    return Reinterpret(kind, *names, layout_size, True, flatten, size, (1,))
