"""Factoring a memory so that a view becomes a box in it.

A storage's memory is a row of N cells.  Cut into a mixed-radix grid of *axes* (each a stretch ``[unit, unit * length)`` of
memory strides), most views are boxes: on every axis ``count`` cells from ``start`` on, every ``step``-th.
``u[1:-1, ::2]`` of 8x8 is the box (6 of 8 from 1) x (4 of 4) x (1 of 2).  This room finds the cuts; it does integer
arithmetic only and knows nothing of arrays.

The cuts follow from the layout, the view's size and stride, and not from its offset, whose mixed-radix digits are the
starts.  So every ``x[i]`` of one ``x`` is the same box at another place.
"""

from __future__ import annotations

from typing import NamedTuple


class Axis(NamedTuple):
    """One axis of the grid: memory stride, cells, and the part of them that the view has."""

    unit: int
    length: int
    count: int
    step: int

    @property
    def window(self) -> int:
        """Cells from the first that the view has to its last."""
        return (self.count - 1) * self.step + 1


def coalesce(dims: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ``(length, stride)`` pairs, slowest first, wherever one continues the next.

    >>> coalesce([(2, 12), (3, 4), (4, 1)]), coalesce([(2, 24), (3, 4)])
    ([(24, 1)], [(2, 24), (3, 4)])
    """
    joined: list[tuple[int, int]] = []
    for length, stride in dims:
        if joined and joined[-1][1] == length * stride:
            joined[-1] = (joined[-1][0] * length, stride)
        else:
            joined.append((length, stride))
    return joined


def _split_at(dims, units):
    """Split ``(length, stride)`` pairs (fastest first) at every layout unit inside them; None where one falls between cells."""
    pieces = []
    for length, stride in dims:
        for unit in units:
            if stride < unit <= stride * (length - 1):
                inner, rest = divmod(unit, stride)
                if rest or length % inner:
                    return None
                pieces.append((inner, stride))
                length, stride = length // inner, unit
        pieces.append((length, stride))
    return pieces


def _cut_one(unit: int, length: int, pieces) -> list[Axis] | None:
    """Cut one layout axis so that each of its pieces (fastest first) has an axis of its own."""
    end = unit * length
    if not pieces:
        return [Axis(unit, length, 1, 1)]
    axes = []
    for at, (count, stride) in enumerate(pieces):
        upper = pieces[at + 1][1] if at + 1 < len(pieces) else end
        if stride % unit or stride * (count - 1) >= upper:
            return None
        if stride > unit and upper % stride == 0:
            axes.append(Axis(unit, stride // unit, 1, 1))
            unit = stride
        if upper % unit:
            return None
        axes.append(Axis(unit, upper // unit, count, stride // unit))
        unit = upper
    return axes


def cut(layout, dims) -> list[list[Axis]] | None:
    """Axes for each layout dimension, or None if the view is no box in any refinement of that layout.

    ``layout`` and ``dims`` are ``(length, stride)`` pairs, ``dims`` slowest first; no layout length is 0.  The answer follows
    ``layout``; within one dimension the slowest axis comes first.

    >>> cut([(8, 8), (8, 1)], [(6, 8), (4, 2)])
    [[Axis(unit=8, length=8, count=6, step=1)], [Axis(unit=2, length=4, count=4, step=1), Axis(unit=1, length=2, count=1, step=1)]]
    """
    pieces = _split_at(reversed(dims), sorted(stride for length, stride in layout if length > 1))
    if pieces is None:
        return None
    groups = []
    for length, unit in layout:
        inside = [piece for piece in pieces if unit <= piece[1] < unit * length] if length > 1 else []
        axes = _cut_one(unit, length, inside)
        if axes is None:
            return None
        groups.append(axes[::-1])
    return groups
