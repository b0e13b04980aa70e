"""How a tape's Python numbers reach its program: one vector of 64-bit words, whatever their kinds.

A vector for each kind would be as many copies to the device at each run. Owns: packing the numbers, taking them apart again inside
the program; single ones for kernels, and the zero that every program takes. May not know: tapes, programs.

>>> import numpy as np
>>> pack([0.5], [3], [])
array([4602678819172646912,                   3])
"""
from array import array
from operator import attrgetter

import jax
import numpy as np

from ..base import compat
from ..base.bounded import Bounded

WORDS = {"f": 1, "c": 2, "i": 1}
TYPES = {"f": np.float64, "c": np.complex128, "i": np.int64}


def counts(floats, integers, complexes):
    """((kind, how many), ...) of the kinds that there are, in the order in which they are packed."""
    return tuple([(kind, len(numbers)) for kind, numbers in (("f", floats), ("c", complexes), ("i", integers)) if numbers])


def words(counted):
    """How many words numbers take."""
    return sum(WORDS[kind] * n for kind, n in counted)


def text(floats, integers, complexes):
    """Bytes that are equal for equal numbers, told by their bits; cheaper than `pack`. Of tapes with the same `counts`.

    >>> text([0.0], [3], []) == text([-0.0], [3], [])
    False
    """
    given = array("d", floats).tobytes() + array("q", integers).tobytes()
    return given + np.array(complexes, np.complex128).tobytes() if complexes else given


def pack(floats, integers, complexes):
    """The numbers as one int64 vector."""
    parts = [np.array(numbers, TYPES[kind]).view(np.int64)
             for kind, numbers in (("f", floats), ("c", complexes), ("i", integers)) if numbers]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def unpack(vector, counted):
    """{kind: array} of a packed vector, traceable. Under real 64-bit types."""
    found, at = {}, 0
    for kind, n in counted:
        part = vector[at:at + WORDS[kind] * n]
        at += WORDS[kind] * n
        if kind == "f":
            part = jax.lax.bitcast_convert_type(part, np.float64)
        elif kind == "c":
            pairs = jax.lax.bitcast_convert_type(part, np.float64).reshape(n, 2)
            part = jax.lax.complex(pairs[:, 0], pairs[:, 1])
        found[kind] = part
    return found


# -- one at a time ----------------------------------------------------------------------------------------------------

SINGLE = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128}
OF_KIND = {kind: attrgetter(name) for kind, name in (("f", "floats"), ("i", "integers"), ("b", "integers"), ("c", "complexes"))}
"""Kind: what gives a segment's numbers of that kind."""
_numbers = Bounded(4096)


def taken(which, segment):
    """[(kind, number)] of the (kind, index) that a node takes of its segment's numbers."""
    return [(kind, OF_KIND[kind](segment)[at]) for kind, at in which]


def number(kind, value, device):
    """A scalar as an array on the device; numbers seen before are kept (those with a zero by their text, so that -0.0 is not 0.0)."""
    named = repr(value) if kind == "c" or kind == "f" and not value else value
    found = _numbers.get((kind, named, device))
    if found is None:
        exact = value if named is value else (float if kind == "f" else complex)(named)       # what the text says (`base.denormals`)
        found = _numbers[kind, named, device] = compat.put(np.array(exact, SINGLE[kind]), device)
    return found


@compat.of_backend
def zero(device):
    """The run-time zero that the fences add: one array on each device for the life of the process."""
    return compat.put(np.zeros((), np.uint32), device)
