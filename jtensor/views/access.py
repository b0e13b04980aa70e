"""From the geometry of a view to the program that reads and writes it.

``access(layout_size, layout_stride, size, stride, offset)`` answers with an `Access` and its *starts*.  The storage's array has
shape ``layout_size`` and its elements lie in memory densely with strides ``layout_stride``.  The access is one object for all
equal programs and says nothing about where the view begins as long as that may vary, so ``x[0]``, ``x[1]``, ... share it and
whatever is compiled from it; the starts are its run-time arguments.

    base --access.read(base, *starts)--> view            base, new --access.write(base, new, *starts)--> base

This stands on the hot path (``m[i]`` in a loop): a geometry seen before costs two dictionary look-ups, a new offset of it a few
``divmod``.  It knows nothing of tensors or storages.
"""

from __future__ import annotations

import math
from weakref import WeakValueDictionary

from ..base import geometry
from ..base.bounded import Bounded
from .factor import Axis, coalesce, cut
from .programs import Box, Finish, Gather, Nothing, differs, permutation
from .reinterpret import Reinterpret, reinterpretation

Ints = tuple[int, ...]

# A window that can be in this few places, and is this long, is `u[1:-1]` and its neighbours rather than a moving index: its
# start is part of the program, which lets writes become operations on the whole array (`trace.lowering.boxes`), and a stencil one loop.
_FEW_PLACES = 2
_LONG_WINDOW = 16
_SPREAD_STEP = 4

_MAX_RESOLVERS = 4096
_MAX_OFFSETS = 1024


class Access:
    """A program that reads and writes views; interned, hashable by identity, with a `key` that is equal between processes.

    ``read(base, *starts)`` gives an array of shape `size`; ``write(base, new, *starts)`` gives the base with the view's elements
    replaced.  Both are pure ``jax.lax`` code, to be traced; ``starts`` are 0-d integer arrays, `start_count` of them.

    >>> import numpy as np
    >>> row, starts = access((4, 3), (3, 1), (3,), (1,), 6)
    >>> starts, row is access((4, 3), (3, 1), (3,), (1,), 9)[0]
    ((2,), True)
    >>> row.read(np.arange(12).reshape(4, 3), *map(np.int64, starts)).tolist()
    [6, 7, 8]
    """

    __slots__ = ("key", "size", "program", "cast", "start_count", "is_plain", "__weakref__")

    def __init__(self, key, program, cast: Reinterpret | None):
        self.key = key
        self.program = program
        self.cast = cast
        self.size = program.size if isinstance(program, Nothing) else program.finish.size
        # A read of NumPy's arrays is done by NumPy, and makes an ndarray.
        self.is_plain = isinstance(program, Box) and cast is None
        if isinstance(program, Box):
            self.start_count = program.fixed.count(None)
        else:
            self.start_count = int(isinstance(program, Gather))

    def read(self, base, *starts):
        """The view's elements, an array of shape `size` (and of the view's dtype)."""
        if self.cast is None:
            return self.program.read(base, *starts)
        return self.cast.after(self.program.read(self.cast.before(base), *starts))

    def write(self, base, new, *starts):
        """The base with the view's elements replaced by ``new`` (of shape `size` and the view's dtype)."""
        if self.cast is None:
            return self.program.write(base, new, *starts)
        memory = self.program.write(self.cast.before(base), self.cast.after_back(new), *starts)
        return self.cast.before_back(memory, base)

    def write_changed(self, base, new, *starts):
        """`write` for a view some of whose elements are one cell: there the elements that are as they were give way to what is new."""
        changed = differs(new, self.read(base, *starts))
        if isinstance(self.program, Gather) and self.cast is None:
            return self.program.write(base, new, *starts, changed=changed)
        return self.write(base, self.program.finish.settled(new, changed), *starts)

    def __repr__(self):
        kind = type(self.program).__name__.lower()
        form = getattr(self.program, "form", "scatter")
        return f"<Access {kind}/{form} size={self.size} starts={self.start_count}>"

    def __reduce__(self):
        return _intern, (self.program, self.cast)


_interned: WeakValueDictionary = WeakValueDictionary()


def _intern(program, cast: Reinterpret | None) -> Access:
    key = (type(program).__name__, *program, None if cast is None else tuple(cast))
    found = _interned.get(key)
    if found is None:
        found = _interned.setdefault(key, Access(key, program, cast))
    return found


# ------------------------------------------------------------------------------------------------------ resolving

class _Cut:
    """One way to cut the memory for a view; it serves where the digits of the offset leave room for the windows."""

    __slots__ = ("resolver", "flatten", "axes", "walk", "start_order", "made")

    def __init__(self, resolver: Resolver, flatten: Ints | None, axes: list[Axis]):
        self.resolver = resolver
        self.flatten = flatten
        self.axes = axes
        # The digits of an offset, slowest axis first: which axis, its unit, how far a window can move, whether it may vary.
        walk = [(at, axis.unit, axis.length - axis.window, _is_fixed(axis)) for at, axis in enumerate(axes) if axis.length > 1]
        self.walk = sorted(walk, key=lambda row: -row[1])
        # A program wants its starts in the order of its own dimensions, which is another one where the layout is permuted.
        varying = [at for at, *_, is_fixed in self.walk if not is_fixed]
        self.start_order = permutation(sorted(range(len(varying)), key=varying.__getitem__))
        self.made: dict[Ints, Access] = {}

    def at(self, offset: int) -> tuple[Access, Ints] | None:
        starts, fixed = [], []
        for _, unit, spare, is_fixed in self.walk:
            digit, offset = divmod(offset, unit)
            if digit > spare:
                return None
            (fixed if is_fixed else starts).append(digit)
        where = tuple(fixed)
        access = self.made.get(where)
        if access is None:
            access = self.made[where] = self._make(where)
        if self.start_order is not None:
            starts = [starts[at] for at in self.start_order]
        return access, tuple(starts)

    def _make(self, where: Ints) -> Access:
        fixed: list[int | None] = [0] * len(self.axes)
        given = iter(where)
        for at, _, _, is_fixed in self.walk:
            fixed[at] = next(given) if is_fixed else None
        resolver = self.resolver
        order = permutation(sorted(range(len(self.axes)), key=lambda at: (-self.axes[at].unit, at)))
        lengths, counts, steps = ([getattr(axis, name) for axis in self.axes] for name in ("length", "count", "step"))
        finish = resolver.finish(tuple(counts), order)
        form = _form(lengths, counts, steps, fixed)
        box = Box(resolver.layout_size, self.flatten, tuple(lengths), tuple(counts), tuple(steps), tuple(fixed), finish, form)
        return _intern(box, resolver.cast)


def _is_fixed(axis: Axis) -> bool:
    spare = axis.length - axis.window
    return spare == 0 or (spare <= _FEW_PLACES and axis.window >= _LONG_WINDOW)


def _form(lengths, counts, steps, fixed) -> str:
    """How a box is written, by measurement (256x256, donated): see `programs` for the forms."""
    if counts == lengths:
        return "all"
    stepped = [step for step in steps if step > 1]
    if not stepped:
        return "update"
    if len(stepped) > 1 or stepped[0] > _SPREAD_STEP:
        return "scatter"
    return "spread" if None in fixed else "select"


class Resolver:
    """All views of one layout with one size and stride: `at(offset)` gives the `Access` and its starts."""

    __slots__ = ("layout_size", "layout_stride", "size", "stride", "cast", "last_offset", "memory", "logical", "kept", "cuts",
                 "known", "_universal")

    def __init__(self, layout_size: Ints, layout_stride: Ints, size: Ints, stride: Ints, cast: Reinterpret | None):
        self.layout_size, self.layout_stride = layout_size, layout_stride
        self.size, self.stride = size, stride
        self.cast = cast
        self.known: dict[int, tuple[Access, Ints]] = Bounded(_MAX_OFFSETS)
        self._universal: Access | None = None
        self.last_offset = math.prod(layout_size) - geometry.extent(size, stride)
        # The view's real dimensions: those of size 1 and the expanded ones are put back by the broadcast at the end.
        self.kept = tuple(dim for dim in range(len(size)) if size[dim] != 1 and stride[dim] != 0)
        slowest_first = sorted(range(len(self.kept)), key=lambda at: (-stride[self.kept[at]], at))
        self.memory = tuple(size[self.kept[at]] for at in slowest_first)
        self.logical = permutation(slowest_first.index(at) for at in range(len(self.kept)))
        self.cuts: list[_Cut] = [] if 0 in size else self._cut([(size[self.kept[at]], stride[self.kept[at]]) for at in slowest_first])

    def _cut(self, dims) -> list[_Cut]:
        dims = coalesce(dims)
        found = []
        groups = cut(list(zip(self.layout_size, self.layout_stride, strict=True)), dims)
        if groups is not None:
            found.append(_Cut(self, None, [axis for group in groups for axis in group]))
        real = [length for length in self.layout_size if length != 1]
        groups = cut([(math.prod(real), 1)], dims) if len(real) > 1 else None
        if groups is not None:
            found.append(_Cut(self, self._flatten(), groups[0]))
        return found

    def _flatten(self) -> Ints | None:
        if geometry.is_contiguous(self.layout_size, self.layout_stride):
            return None
        return permutation(sorted(range(len(self.layout_size)), key=lambda dim: (-self.layout_stride[dim], dim)))

    def finish(self, taken: Ints, order: Ints | None) -> Finish:
        return Finish(taken, order, self.memory, self.logical, self.kept, self.size)

    def at(self, offset: int) -> tuple[Access, Ints]:
        """The access and its starts for a view that begins at ``offset``; ValueError if it would leave the memory."""
        known = self.known.get(offset)
        if known is None:
            known = self.known[offset] = self._find(offset)
        return known

    def _find(self, offset: int) -> tuple[Access, Ints]:
        if 0 in self.size:
            return _intern(Nothing(self.size), self.cast), ()
        if not 0 <= offset <= self.last_offset:
            raise ValueError(
                f"a view of size {self.size}, stride {self.stride} and offset {offset} leaves a memory of "
                f"{math.prod(self.layout_size)} elements"
            )
        for way in self.cuts:
            found = way.at(offset)
            if found is not None:
                return found
        if self._universal is None:
            strides = tuple(sorted((self.stride[dim] for dim in self.kept), reverse=True))
            distinct = geometry.is_injective(self.memory, strides)
            gather = Gather(self.layout_size, self._flatten(), self.memory, strides, distinct, self.finish(self.memory, None))
            self._universal = _intern(gather, self.cast)
        return self._universal, (offset,)


_resolvers: dict[tuple, Resolver] = Bounded(_MAX_RESOLVERS)


def resolver(layout_size: Ints, layout_stride: Ints, size: Ints, stride: Ints, base_dtype=None, view_dtype=None) -> Resolver:
    """The `Resolver` of a geometry without its offset; worth keeping where one geometry is read at many offsets."""
    key = (layout_size, layout_stride, size, stride, base_dtype, view_dtype)
    found = _resolvers.get(key)
    if found is None:
        cast = None
        if base_dtype is not None and view_dtype is not None:
            cast = reinterpretation(layout_size, layout_stride, base_dtype, view_dtype)
        if cast is not None:
            layout_size, layout_stride = cast.size, cast.stride
        # Whoever comes first: a program's key shows these numbers, and a `Size` has another text than the tuple that it equals.
        found = _resolvers[key] = Resolver(tuple(layout_size), tuple(layout_stride), tuple(size), tuple(stride), cast)
    return found


def access(
    layout_size: Ints, layout_stride: Ints, size: Ints, stride: Ints, offset: int, base_dtype=None, view_dtype=None
) -> tuple[Access, Ints]:
    """The program for a view and the starts to run it with.

    ``size``, ``stride`` and ``offset`` count elements of the view's dtype, ``layout_size`` and ``layout_stride`` those of the storage's.
    The dtypes (NumPy's) need only be given where they differ.  Raises ValueError for a view that leaves the memory.

    >>> access((4, 4), (4, 1), (2, 2), (4, 1), 5)[1]
    (1, 1)
    """
    # Written out rather than through `resolver`: this is the hot path.
    found = _resolvers.get((layout_size, layout_stride, size, stride, base_dtype, view_dtype))
    if found is None:
        found = resolver(layout_size, layout_stride, size, stride, base_dtype, view_dtype)
    return found.known.get(offset) or found.at(offset)
