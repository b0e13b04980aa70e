"""Rows of a picture between its pixels. Owns: the four neighbours of a place, and their weights.

A picture lies as rows, one for each pixel, of what the pixel's channels are: a gather of rows is what XLA does fast.
"""
import jtensor


def neighbours(place, size):
    """The lower and the upper pixel next to a place along one axis, and how near the upper one is. What lies outside goes to the edge."""
    place = place.clamp(min=0)
    low = place.floor().clamp(max=size - 1)
    place = jtensor.where(low >= size - 1, low, place)
    return low.long(), (low + 1).clamp(max=size - 1).long(), place - low


def between(rows, first, y, x, width):
    """The values at places that are given by `neighbours` along each axis: of shape ``(*places, channels)``.

    ``rows``: (pixels, channels); ``first``: the row at which the place's picture begins.
    """
    (top, bottom, dy), (left, right, dx) = y, x
    dy, dx = dy.unsqueeze(-1), dx.unsqueeze(-1)
    top, bottom = first + top * width, first + bottom * width
    return ((1 - dy) * (1 - dx) * rows[top + left] + (1 - dy) * dx * rows[top + right]
            + dy * (1 - dx) * rows[bottom + left] + dy * dx * rows[bottom + right])
