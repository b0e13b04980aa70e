"""Loops of any number of rounds, by kernels that serve many: the rounds are counted as they go, and rows that are not there are not read.

A recurrent layer over a sequence is a loop in one operation, whose kernel takes XLA a tenth of a second to compile and serves one length.
In a script whose sequences have any length that is most of the time. What a round computes does not depend on how many there are, so the
same loop goes until a number says, on arrays that have room for more rows. Owns: these kernels. May not know: what is done in a round,
tapes, for how long this is cheaper than a kernel for the length.
"""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import jaxpr_as_fun

from ...base import compat
from ..cache import store
from ..lowering.flat import Flat, flattened
from . import equations

LEAST = 16              # the fewest rows that there is room for


class Looped(equations.Shared):
    """A `scan` by the kernel of a longer one: ``run(list of ndarrays) -> list of ndarrays``. ``rounds``: how many there are; ``same`` and
    ``carried``: how many arguments are the same in each round, and go from one to the next; ``room``: for how many rows.

    >>> sums = jax.make_jaxpr(lambda x: lax.scan(lambda total, row: (total + row, total), jnp.zeros((), x.dtype), x))
    >>> graph = flattened(sums(np.zeros(3, np.float32)))
    >>> [x.tolist() for x in of(graph.equations[-1]).run([np.zeros((), np.float32), np.array([1, 2, 3], np.float32)])]
    [6.0, [0.0, 1.0, 3.0]]
    """

    __slots__ = ("rounds", "room", "reverse", "same", "carried")

    def __init__(self, e):
        params, graph, body = e.params, Flat(()), flattened(e.params["jaxpr"])
        self.rounds, self.reverse = params["length"], params["reverse"]
        self.same, self.carried = compat.parts_of_scan(params)
        self.room = max(LEAST, 1 << (self.rounds - 1).bit_length())
        graph.equations = [e]               # of the first of this name, which serves all
        row = sum([math.prod(aval.shape) for aval in body.avals])
        super().__init__(graph, f"looped {self.room} {self.reverse} {self.same} {self.carried} {equations.text(body)}", self.room * row)

    @property
    def _body(self):
        return self.graph.equations[0].params["jaxpr"]

    def compiled(self):
        types = self._body.in_avals
        first = self.same + self.carried
        rows = [jax.ShapeDtypeStruct((self.room, *a.shape), a.dtype) for a in types[first:]]
        return flattened(compat.trace(self._loop, [jax.ShapeDtypeStruct((), np.int64), *types[:first], *rows]))

    def _loop(self, rounds, *arrays):
        first, body = self.same + self.carried, jaxpr_as_fun(self._body)
        same, carried, rows = arrays[:self.same], arrays[self.same:first], arrays[first:]
        made = [jnp.zeros((self.room, *a.shape), a.dtype) for a in self._body.out_avals[self.carried:]]

        def one(state):
            done, carried, made = state
            at = rounds - 1 - done if self.reverse else done
            outs = body(*same, *carried, *[lax.dynamic_index_in_dim(x, at, 0, False) for x in rows])
            made = [lax.dynamic_update_index_in_dim(x, row, at, 0) for x, row in zip(made, outs[self.carried:], strict=True)]
            return done + 1, outs[:self.carried], made
        _, carried, made = lax.while_loop(lambda state: state[0] < rounds, one, (jnp.zeros_like(rounds), list(carried), made))
        return [*carried, *made]

    def run(self, arrays):
        first = self.same + self.carried
        made = self.done([np.asarray(self.rounds), *arrays[:first], *map(self._with_room, arrays[first:])])
        return [*[x.copy() for x in made[:self.carried]], *[x[:self.rounds].copy() for x in made[self.carried:]]]

    def _with_room(self, x):
        return x if self.rounds == self.room else compat.padded(x, (self.room, *x.shape[1:]))

    def __call__(self, *arrays):
        return self.run(arrays)


def _has_constants(equation):
    """Whether there are arrays in the jaxprs inside of an equation, which its text does not show."""
    for value in equation.params.values():
        for inner in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(inner, "eqns") and (getattr(inner, "consts", ()) or any(map(_has_constants, inner.eqns))):
                return True
    return False


def of(e):
    """The `Looped` of a `scan`; None if it has no name that lasts and says all of it, or more is done in a round than to compute."""
    if e.params["jaxpr"].effects or any(map(_has_constants, e.params["jaxpr"].eqns)):
        return None
    found = Looped(e)
    return None if store.fleeting(found.name) else found
