"""Jaxprs: those of a function, and those that are written down without one. May not know: what becomes of them."""
import functools

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from .arrays import aval_of
from .inside import core, flattree, linear_util, partial_eval, short_way, source_info_util


def trace(function, avals):
    """The jaxpr of a flat function: arrays in, a list or tuple of arrays out. A jaxpr is answered as it is."""
    if hasattr(function, "eqns"):
        return function
    if not short_way():
        return jax.make_jaxpr(function)(*avals)
    # By way of `jit`, as `make_jaxpr` goes, it takes 0.2 ms more.
    flat = linear_util.wrap_init(function, debug_info=linear_util.DebugInfo("program", "program", None, None))
    # Since 0.12 some functions are primitives that only `jit` takes apart; here they are, too.
    jaxpr, _, constants = partial_eval.trace_to_jaxpr_dynamic(flat, [aval_of(a.shape, np.dtype(a.dtype)) for a in avals], lower=True)
    return ClosedJaxpr(jaxpr, constants)


def is_tracing():
    """Whether this thread may be in the midst of tracing a function, where JAX would take what is computed for a part of that."""
    return not short_way() or not core.trace_state_clean()


@functools.lru_cache(maxsize=1024)
def _traced(function, avals):
    return trace(lambda *arrays: [function(*arrays)], avals)


def number_like(value, number):
    """A literal's value that is another number of the same type; None for types of which that is not known.

    >>> number_like(np.float32(3), 5), number_like(3, 5)
    (np.float32(5.0), 5)
    """
    kind, known = type(value), hasattr(value, "aval")          # JAX's own scalars remember their types
    if isinstance(value, np.ndarray):
        made = np.array(number, value.dtype)
        return made if kind is np.ndarray else kind(made, value.aval) if known else None
    if isinstance(value, np.generic) or kind in (int, float):
        return kind(number)
    return kind(number, value.dtype) if isinstance(value, (int, float)) and known else None


def parts_of_scan(params):
    """How many of a `scan`'s arguments are the same in each round, and how many go from one to the next."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    constants, carried, _ = params["ft_in"].unpack()
    return len(constants), len(carried)


def scan_of_one_more(params, body):
    """The parameters of a `scan` whose body is another, which takes one constant more, the first."""
    if "num_consts" in params:
        return params | {"jaxpr": body, "num_consts": params["num_consts"] + 1}
    constants, carried, rows = params["ft_in"].unpack()
    return params | {"jaxpr": body, "ft_in": flattree.pack((flattree.nones(len(constants) + 1), carried, rows))}


class Writer:
    """A jaxpr written down equation by equation, where `trace` would work out anew what is known. For the short way alone.

    Values are what it answers, NumPy scalars and arrays; ``zero`` and ``inputs`` those to begin with. Call it under one scope (`x64`).
    """

    def __init__(self, avals):
        self._variables = [core.Var(aval_of(a.shape, np.dtype(a.dtype))) for a in avals]
        self.zero, *self.inputs = self._variables
        self._equations, self._constants, self._context = [], {}, core.current_jaxpr_eqn_context()
        self._source = source_info_util.new_source_info()

    def bind(self, primitive, params, arguments, avals):
        """A primitive's results, which have these types."""
        results = [core.Var(a) for a in avals]
        self._equations.append(core.new_jaxpr_eqn([self._atom(x) for x in arguments], results, primitive, params, core.no_effects,
                                                   self._source, self._context))
        return results

    def call(self, function, *arguments):
        """The result of a function of arrays, which is traced once for arguments of the same types."""
        atoms = [self._atom(x) for x in arguments]
        closed = _traced(function, tuple([aval_of(a.aval.shape, a.aval.dtype) for a in atoms]))
        names = dict(zip(closed.jaxpr.invars, atoms)) | dict(zip(closed.jaxpr.constvars, map(self._atom, closed.consts)))

        def read(atom):
            return atom if isinstance(atom, core.Literal) else names[atom]
        for e in closed.jaxpr.eqns:
            names.update(zip(e.outvars, self.bind(e.primitive, e.params, [read(v) for v in e.invars], [v.aval for v in e.outvars])))
        result, = closed.jaxpr.outvars
        return read(result)

    def done(self, outputs):
        """The jaxpr that gives these values."""
        outputs = [self._atom(x) for x in outputs]
        variables, values = [v for v, _ in self._constants.values()], [x for _, x in self._constants.values()]
        names = linear_util.DebugInfo("program", "program", None, None)
        return ClosedJaxpr(core.Jaxpr(variables, self._variables, outputs, self._equations, core.no_effects, names), values)

    def _atom(self, x):
        if isinstance(x, (core.Var, core.Literal)):
            return x
        aval = jax.typeof(x)
        if not aval.shape:
            return core.Literal(x, aval)
        return self._constants.setdefault(id(x), (core.Var(aval), x))[0]
