"""Tables of what is worked out again when it is missed. May not know: what is in them."""


class Bounded(dict):
    """A dict that is emptied when it would have more than ``limit`` entries, so that sizes which keep changing take no more memory.

    A look-up costs what a dict's does. `setdefault` and `update` do not count.

    >>> squares = Bounded(2)
    >>> for n in range(3):
    ...     squares[n] = n * n
    >>> squares
    {2: 4}
    """

    __slots__ = ("limit",)

    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def __setitem__(self, key, value):
        if len(self) >= self.limit and key not in self:
            self.clear()
        super().__setitem__(key, value)


MANY = 1 << 16
"""The usual limit of tables whose entries are a few numbers or geometries."""
