"""What nested tensors of both layouts do alike. May not know: how either lies in memory."""
from ..tensor.copying import INCOMPATIBLE
from ..tensor.core import Tensor

_SKIPPED = object()


class SharedParts:
    """``data`` of a class whose tensors are made of their ``_parts``, and how such tensors are formatted."""

    __slots__ = ()

    @property
    def data(self):
        return self._share()

    @data.setter
    def data(self, other):
        if type(other) is not type(self):
            raise RuntimeError(INCOMPATIBLE)
        for name in (*self._parts, "_spec"):
            setattr(self, name, getattr(other, name))

    def __str__(self):
        return repr(self)

    def __format__(self, specification):
        return object.__format__(self, specification)


def indexed(x, index, sliced, refusal):
    """``x[index]`` as one view for each dimension. ``sliced(x, dim, slice)``: what a slice is; ``refusal()``: the error of indices that are
    tensors, lists or truth values."""
    index = index if isinstance(index, tuple) else (index,)
    if any(isinstance(one, (Tensor, list, bool)) for one in index):
        raise refusal()
    if ... in index:
        at = index.index(...)
        skipped = x.dim() - sum(one is not None for one in index) + 1
        index = (*index[:at], *[_SKIPPED] * skipped, *index[at + 1:])
    dim = 0
    for one in index:
        if one is _SKIPPED:
            dim += 1
        elif one is None:
            x, dim = x.unsqueeze(dim), dim + 1
        elif isinstance(one, slice):
            x, dim = sliced(x, dim, one), dim + 1
        else:
            x = x.select(dim, int(one))
    return x
