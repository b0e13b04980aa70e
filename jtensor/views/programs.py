"""Reading and writing a view as pure functions of the storage's array.

Two forms.  A `Box` is a window in a factored memory: reshape, slice, transpose; written by a slice update or a select.
A `Gather` computes the index of every element from the strides, and serves whatever is no box: diagonals, ``unfold``, odd
``as_strided``.  Both are plain data (tuples of integers) with two methods made of ``jax.lax`` calls; they are differentiable,
have static shapes, and take their starts as run-time integers.  NumPy's arrays a `Box` reads without JAX (`on_host`).

This room knows arrays and tuples; who asks, and why, it does not.  Inside, arrays are always in bounds by construction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..base.geometry import contiguous_strides
from . import on_host

Ints = tuple[int, ...]


def _lax():
    # Imported late: the planning half of this package must not pay for (or start) JAX.
    import jax.lax as lax

    return lax


def _lax_of(x):
    # An ndarray, which a tape that runs op by op has, is read without JAX.
    return on_host if type(x) is np.ndarray else _lax()


def _reshape(x, shape: Ints):
    return x if x.shape == shape else _lax_of(x).reshape(x, shape)


def _transpose(x, order: Ints | None):
    return x if order is None else _lax_of(x).transpose(x, order)


def _inverse(order: Ints | None) -> Ints | None:
    if order is None:
        return None
    back = [0] * len(order)
    for at, dim in enumerate(order):
        back[dim] = at
    return tuple(back)


def permutation(order) -> Ints | None:
    """The permutation, or None for one that changes nothing."""
    order = tuple(order)
    return None if order == tuple(range(len(order))) else order


class Finish(NamedTuple):
    """From the cells of a view, as they were taken, to the view's own shape; and back.

    ``taken`` --transpose `order`--> memory order --reshape `memory`--> the view's real dimensions, slowest first
    --transpose `logical`--> in the view's order --broadcast into dimensions `kept`--> `size`.
    """

    taken: Ints
    order: Ints | None
    memory: Ints
    logical: Ints | None
    kept: Ints
    size: Ints

    def shape(self, x):
        x = _transpose(_reshape(_transpose(x, self.order), self.memory), self.logical)
        lengths = x.shape
        if len(lengths) == len(self.size):
            return x
        if all(self.size[dim] == 1 for dim in range(len(self.size)) if dim not in self.kept):
            return _lax_of(x).reshape(x, self.size)
        return _lax_of(x).broadcast_in_dim(x, self.size, self.kept)

    def unshape(self, new):
        lax = _lax()
        if len(self.kept) != len(self.size):
            # An expanded dimension is one row of cells: of the rows written to it the last one stays.
            index = tuple(slice(None) if dim in self.kept else -1 for dim in range(len(self.size)))
            if any(self.size[dim] != 1 for dim in range(len(self.size)) if dim not in self.kept):
                new = new[index]
            else:
                new = lax.reshape(new, tuple(self.size[dim] for dim in self.kept))
        new = _transpose(new, _inverse(self.logical))
        order = self.order
        in_memory = self.taken if order is None else tuple(self.taken[dim] for dim in order)
        return _transpose(_reshape(new, in_memory), _inverse(order))


    def settled(self, new, changed):
        """``new`` with the last changed row of an expanded dimension in all of its rows."""
        import jax.numpy as jnp

        dims = tuple(dim for dim in range(len(self.size)) if dim not in self.kept)
        if not dims:
            return new
        back = tuple(range(-len(dims), 0))
        rows, marks = (jnp.moveaxis(x, dims, back) for x in (new, changed))
        rows, marks = (x.reshape(*x.shape[:x.ndim - len(dims)], -1) for x in (rows, marks))
        last = rows.shape[-1] - 1 - jnp.argmax(marks[..., ::-1], -1, keepdims=True)
        chosen = jnp.take_along_axis(rows, last, -1)
        chosen = chosen.reshape(*chosen.shape[:-1], *(1 for _ in dims))
        return jnp.broadcast_to(jnp.moveaxis(chosen, back, dims), self.size)


def differs(a, b):
    """Where the bits of two arrays are not the same."""
    import jax.numpy as jnp

    if jnp.iscomplexobj(a):
        return differs(a.real, b.real) | differs(a.imag, b.imag)
    if jnp.issubdtype(a.dtype, jnp.floating):
        a, b = (_lax().bitcast_convert_type(x, f"uint{8 * x.dtype.itemsize}") for x in (a, b))
    return a != b


class Nothing(NamedTuple):
    """A view without elements."""

    size: Ints

    def read(self, base):
        return _lax().full(self.size, 0, base.dtype)

    def write(self, base, new):
        return base


class Box(NamedTuple):
    """A window in a factored memory.

    ``flatten`` is None where the factors refine the base array's own dimensions; else the permutation that brings the base to
    memory order, to be flattened first.  Per factor: its length, how many cells are taken, every which one, and from where
    (None: the next run-time start).
    """

    base_size: Ints
    flatten: Ints | None
    lengths: Ints
    counts: Ints
    steps: Ints
    fixed: tuple[int | None, ...]
    finish: Finish
    form: str

    def read(self, base, *starts):
        lax = _lax_of(base)
        grid = self._open(base)
        if any(start is None for start in self.fixed):
            grid = lax.dynamic_slice(grid, self._starts(starts), self._windows(), allow_negative_indices=False)
            first: Ints = (0,) * len(self.lengths)
        else:
            first = self.fixed
        limit = tuple(at + window for at, window in zip(first, self._windows(), strict=True))
        if grid.shape != self.counts:
            grid = lax.slice(grid, first, limit, self.steps)
        return self.finish.shape(grid)

    def write(self, base, new, *starts):
        lax = _lax()
        cells = self.finish.unshape(new)
        form = self.form
        if form == "all":
            return self._close(cells)
        grid = self._open(base)
        if form == "select":
            grid = self._select(grid, cells)
        elif form == "spread":
            grid = self._spread(grid, cells, starts)
        elif form == "scatter":
            grid = self._scatter(grid, cells, starts)
        else:
            grid = lax.dynamic_update_slice(grid, cells, self._starts(starts), allow_negative_indices=False)
        return self._close(grid)

    # How the box lies in the base ----------------------------------------------------------------------------------

    def _open(self, base):
        return _reshape(_transpose(base, self.flatten), self.lengths)

    def _close(self, grid):
        if self.flatten is None:
            return _reshape(grid, self.base_size)
        grid = _reshape(grid, tuple(self.base_size[dim] for dim in self.flatten))
        return _transpose(grid, _inverse(self.flatten))

    def _windows(self) -> Ints:
        return tuple((count - 1) * step + 1 for count, step in zip(self.counts, self.steps, strict=True))

    def _starts(self, starts):
        runtime = iter(starts)
        # All of one type, as dynamic_slice wants them; a fixed start is a constant.
        dtype = starts[0].dtype if starts else np.int64
        return [next(runtime) if at is None else np.asarray(at, dtype) for at in self.fixed]

    # Forms of writing ------------------------------------------------------------------------------------------------

    def _select(self, grid, cells):
        """One pass over the whole memory: fuses with what made ``cells`` even where that reads the memory too (a stencil)."""
        lax = _lax()
        margins = [
            (start, length - start - window, step - 1)
            for start, length, window, step in zip(self.fixed, self.lengths, self._windows(), self.steps, strict=True)
        ]
        placed = lax.pad(cells, np.zeros((), cells.dtype), margins)
        inside = None
        for axis, (start, length, window, step) in enumerate(
            zip(self.fixed, self.lengths, self._windows(), self.steps, strict=True)
        ):
            if window == length and step == 1:
                continue
            at = lax.broadcasted_iota(np.int32, self.lengths, axis)
            here = lax.bitwise_and(lax.ge(at, np.int32(start)), lax.lt(at, np.int32(start + window)))
            if step > 1:
                here = lax.bitwise_and(here, lax.eq(lax.rem(at, np.int32(step)), np.int32(start % step)))
            inside = here if inside is None else lax.bitwise_and(inside, here)
        return lax.select(inside, placed, grid)

    def _spread(self, grid, cells, starts):
        """Every ``step``-th cell of a window: the new ones padded apart, chosen over the old ones."""
        lax = _lax()
        where = self._starts(starts)
        windows = self._windows()
        old = lax.dynamic_slice(grid, where, windows, allow_negative_indices=False)
        placed = lax.pad(cells, np.zeros((), cells.dtype), [(0, 0, step - 1) for step in self.steps])
        axis = next(axis for axis, step in enumerate(self.steps) if step > 1)
        at = lax.broadcasted_iota(np.int32, windows, axis)
        chosen = lax.eq(lax.rem(at, np.int32(self.steps[axis])), np.int32(0))
        return lax.dynamic_update_slice(grid, lax.select(chosen, placed, old), where, allow_negative_indices=False)

    def _scatter(self, grid, cells, starts):
        """Cell by cell: for few cells far apart."""
        strides = contiguous_strides(self.lengths)
        where = self._starts(starts)
        first = sum((at * np.asarray(stride, at.dtype) for at, stride in zip(where, strides, strict=True)), np.zeros((), where[0].dtype))
        apart = tuple(step * stride for step, stride in zip(self.steps, strides, strict=True))
        flat = _reshape(grid, (math.prod(self.lengths),))
        return _reshape(_put(flat, _index(first, self.counts, apart, flat.shape[0]), cells, distinct=True), self.lengths)


def _index(start, counts: Ints, strides: Ints, cells: int):
    """Flat indices ``start + sum(i * stride)``, shape ``counts + (1,)``."""
    lax = _lax()
    # int32 wherever the memory allows it: index arithmetic is most of the work.
    dtype = np.int32 if cells < 2**31 else np.int64
    index = lax.broadcast(lax.convert_element_type(start, dtype), counts)
    for axis, stride in enumerate(strides):
        at = lax.broadcasted_iota(dtype, counts, axis)
        index = lax.add(index, lax.mul(at, lax.full_like(at, stride)))
    return lax.reshape(index, (*counts, 1))


def _put(flat, index, cells, distinct: bool, inside: bool = True):
    lax = _lax()
    mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS if inside else lax.GatherScatterMode.FILL_OR_DROP
    dims = lax.ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    return lax.scatter(flat, index, cells, dims, unique_indices=distinct, mode=mode)


class Gather(NamedTuple):
    """The universal form: element ``i`` of the view is cell ``start + sum(i * stride)`` of the memory.

    ``distinct`` promises that no two elements are one cell; without it the order in which a write meets a cell twice is open.
    """

    base_size: Ints
    flatten: Ints | None
    counts: Ints
    strides: Ints
    distinct: bool
    finish: Finish

    def read(self, base, start):
        lax = _lax()
        flat = self._open(base)
        dims = lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
        index = _index(start, self.counts, self.strides, flat.shape[0])
        mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
        return self.finish.shape(lax.gather(flat, index, dims, (1,), unique_indices=self.distinct, mode=mode))

    def write(self, base, new, start, changed=None):
        """``changed`` marks the elements to be written, where not all are."""
        lax = _lax()
        flat = self._open(base)
        index = _index(start, self.counts, self.strides, flat.shape[0])
        if changed is not None:
            new = self.finish.settled(new, changed)
            changed = self.finish.unshape(self.finish.settled(changed, changed))[..., None]
            index = lax.select(changed, index, lax.full_like(index, flat.shape[0]))
        flat = _put(flat, index, self.finish.unshape(new), self.distinct, changed is None)
        if self.flatten is None:
            return _reshape(flat, self.base_size)
        flat = lax.reshape(flat, tuple(self.base_size[dim] for dim in self.flatten))
        return _transpose(flat, _inverse(self.flatten))

    def _open(self, base):
        return _reshape(_transpose(base, self.flatten), (math.prod(self.base_size),))
