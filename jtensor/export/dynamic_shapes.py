"""Sizes that may change: their names. Owns: `Dim` and what may be said with it; programs are made for fixed sizes.

May not know: programs.
"""
import enum

from ..base.absent import kind
from ..base.errors import missing

__all__ = ["AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims"]


class _Hint(enum.Enum):
    """What may be said of a size without a name for it."""

    AUTO = 1
    DYNAMIC = 2
    STATIC = 3

    def __repr__(self):
        return f"DimHint({self.name})"


class Dim:
    """The name of a size, with bounds. Programs of sizes that change are not made; `Dim.STATIC` says of one that it does not.

    >>> import jtensor as torch
    >>> torch.export.Dim("batch", max=8), torch.export.Dim.STATIC
    (Dim('batch', min=0, max=8), DimHint(STATIC))
    """

    AUTO, DYNAMIC, STATIC = _Hint.AUTO, _Hint.DYNAMIC, _Hint.STATIC

    def __init__(self, name, *, min=None, max=None):
        low = 0 if min is None else min
        if max is not None and max <= low:
            raise AssertionError(f"Cannot create Dim with inconsistent min={low}, max={max}")
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__, self.min, self.max = name, low, max

    def __repr__(self):
        bounds = ([f"min={self.min}"] if self.min is not None else []) + ([f"max={self.max}"] if self.max is not None else [])
        return f"Dim({', '.join([repr(self.__name__), *bounds])})"


def dims(*names, min=None, max=None):
    """Several `Dim`s.

    >>> import jtensor as torch
    >>> torch.export.dims("height", "width")
    (Dim('height', min=0), Dim('width', min=0))
    """
    return tuple([Dim(name, min=min, max=max) for name in names])


def refuse_dynamic(shapes):
    """Raises unless all sizes are said to be fixed: None, `Dim.STATIC` and numbers say so, in any nest."""
    if shapes is None or shapes is Dim.STATIC or type(shapes) is int:
        return
    if isinstance(shapes, dict):
        shapes = list(shapes.values())
    if not isinstance(shapes, (list, tuple)):
        raise missing(f"programs of sizes that change (torch.export with {shapes!r})",
                      "a program for each size: dynamic_shapes=None")
    for one in shapes:
        refuse_dynamic(one)


ShapesCollection = kind(__name__, "ShapesCollection", "programs of sizes that change", "a program for each size")
AdditionalInputs = kind(__name__, "AdditionalInputs", "programs of sizes that change", "a program for each size")
Constraint = kind(__name__, "Constraint", "programs of sizes that change", "a program for each size")
