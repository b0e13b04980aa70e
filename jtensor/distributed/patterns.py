"""What a group does together, as messages between its members: who sends what to whom, and in which order numbers are added up.

Owns: one function for each pattern, of one-dimensional ndarrays. May not know: tensors, sockets.

``member`` is the group as its member sees it: ``rank``, ``size``, ``send(other, array)`` and ``take(other, array)``, which fills the array,
in the order in which both ends call them. Sums go around in a ring, as in PyTorch's Gloo: every process has the same bits of them, and
those that Gloo has.
"""
import numpy as np

_SEGMENT = 1 << 20          # bytes at most of what Gloo sends at once, which decides where a ring's parts begin


def bounds(length, itemsize, size):
    """Where the part of each process begins in a ring, and where the last ends.

    >>> bounds(10, 4, 3)
    [0, 4, 8, 10]
    """
    total, halves = length * itemsize, 2 * size
    segment = -(-min(-(-total // halves), _SEGMENT // itemsize * itemsize) // itemsize) * itemsize
    segments = -(-max(-(-total // max(segment, 1)), halves) // size)
    return [min(part * segments * segment // itemsize, length) for part in range(size + 1)]


def _around(member, array, function):
    """Adds up around the ring: afterwards member ``rank`` has the sum of part ``rank``. Answers where the parts begin."""
    begins, rank, size = bounds(len(array), array.itemsize, member.size), member.rank, member.size
    part = lambda at: slice(begins[at % size], begins[at % size + 1])
    for step in range(1, size):
        member.send((rank - 1) % size, array[part(rank + step)])
        mine = array[part(rank + step + 1)]
        other = np.empty_like(mine)
        member.take((rank + 1) % size, other)
        mine[...] = function(mine, other)
    return begins


def all_reduce(member, array, function):
    """In ``array``: what ``function`` makes of the arrays of all members."""
    size, rank = member.size, member.rank
    if size == 1:
        return
    begins = _around(member, array, function)
    part = lambda at: slice(begins[at % size], begins[at % size + 1])
    for step in range(size - 1):
        member.send((rank - 1) % size, array[part(rank + step)])
        member.take((rank + 1) % size, array[part(rank + step + 1)])


def reduce(member, array, function, root):
    """The same, in the array of member ``root`` alone; the others' are no use afterwards."""
    if member.size == 1:
        return
    begins = _around(member, array, function)
    if member.rank != root:
        member.send(root, array[begins[member.rank]:begins[member.rank + 1]])
        return
    for other in range(member.size):
        if other != root:
            member.take(other, array[begins[other]:begins[other + 1]])


def broadcast(member, array, root):
    """In the array of each member: that of ``root``. Who has it hands it on, to twice as many each time."""
    size, at = member.size, (member.rank - root) % member.size
    reach = 1
    while reach < size:
        if at < reach and at + reach < size:
            member.send((member.rank + reach) % size, array)
        elif reach <= at < 2 * reach:
            member.take((member.rank - reach) % size, array)
        reach *= 2


def all_gather(member, array, into):
    """In ``into``, an array for each member: theirs."""
    all_to_all(member, [array] * member.size, into)


def gather(member, array, into, root):
    """The same at member ``root`` alone; the others have no ``into``."""
    if member.rank != root:
        member.send(root, array)
        return
    for other, place in enumerate(into):
        if other == root:
            place[...] = array
        else:
            member.take(other, place)


def scatter(member, array, parts, root):
    """In ``array``: the one of ``parts``, of which member ``root`` alone has some, that is for this member."""
    if member.rank != root:
        member.take(root, array)
        return
    for other, part in enumerate(parts):
        if other == root:
            array[...] = part
        else:
            member.send(other, part)


def all_to_all(member, parts, into):
    """Each member's part for each: ``parts`` to whom, ``into`` from whom."""
    size, rank = member.size, member.rank
    into[rank][...] = parts[rank]
    for step in range(1, size):
        member.send((rank + step) % size, parts[(rank + step) % size])
    for step in range(1, size):
        member.take((rank - step) % size, into[(rank - step) % size])


def barrier(member):
    """Comes back once every member has come: each tells one twice as far ahead every time."""
    nothing, reach = np.empty(0, np.uint8), 1
    while reach < member.size:
        member.send((member.rank + reach) % member.size, nothing)
        member.take((member.rank - reach) % member.size, nothing)
        reach *= 2
