"""Numbers that go up with a size: which row of numbers is ``slope * size + start`` at some sizes, and what it is at others.

Owns: that arithmetic. May not know: what the numbers are.
"""


def lines(sizes, rows):
    """(slope, start) of each column of ``rows``, one row for each of the ``sizes``; of one that does not change (0, what it is). None if a
    column is neither.

    >>> lines([10, 12, 20], [(3, 10, 21), (3, 12, 25), (3, 20, 41)])
    [(0, 3), (1, 0), (2, 1)]
    >>> lines([1, 2, 3], [(1,), (4,), (9,)]) is None
    True
    """
    found = []
    for values in zip(*rows, strict=True):
        line = _line(sizes, values)
        if line is None:
            return None
        found.append(line)
    return found


def _line(sizes, values):
    first = values[0]
    if all(value == first for value in values):
        return 0, first
    if not all(type(value) is int for value in values):
        return None
    other = next(k for k, value in enumerate(values) if value != first)
    slope, rest = divmod(values[other] - first, sizes[other] - sizes[0])
    start = first - slope * sizes[0]
    if rest or any(slope * size + start != value for size, value in zip(sizes, values, strict=True)):
        return None
    return slope, start


def at(lines, size):
    """The numbers at a size.

    >>> at([(0, 3), (1, 0), (2, 1)], 100)
    [3, 100, 201]
    """
    return [slope * size + start if slope else start for slope, start in lines]


def common(rows):
    """A column by which all others can be told, as (its values, the `lines` of all); None if there is none.

    >>> common([(3, 20, 10), (3, 24, 12), (3, 40, 20)])
    ((10, 12, 20), [(0, 3), (2, 0), (1, 0)])
    """
    for sizes in dict.fromkeys(zip(*rows, strict=True)):
        if len(set(sizes)) == len(sizes):
            found = lines(sizes, rows)
            if found is not None:
                return sizes, found
    return None
