"""The flattened jaxpr: a traced function as one list of equations, its calls inlined, its dead equations left out.

Owns the walk from a jaxpr to that list. Knows of nothing but JAX: no tape, no operator, no Tensor. `fences.py` decides on this list
which values are to be fenced.
"""
import jax
import numpy as np
from jax import dtypes
from jax.extend import core
from jax.interpreters import mlir

from .formulations import COMPLEX, REAL, formulation
from .in_order import is_turned
from .kinds import EXTREMES, KINDS

# ------------------------------------------------------------------ the marker

marker = core.Primitive("operator_result")
"""Identity. Stands in a traced tape for the end of an operator, and never reaches XLA: `fenced` takes it out or turns it into a fence."""


@marker.def_impl
def _(x):
    return x


@marker.def_abstract_eval
def _(aval):
    return aval


mlir.register_lowering(marker, lambda context, x: [x])


CALLS = frozenset(("jit", "pjit", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "closed_call", "core_call", "remat",
                   "checkpoint", "remat2", "custom_vmap_call", "composite"))
_INNER = "jaxpr", "call_jaxpr", "fun_jaxpr", "call"
REFORMULATED = frozenset(REAL) | frozenset(COMPLEX)


class Constant:
    """A literal or a constant of a jaxpr among an equation's inputs; a variable is an int."""
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Equation:
    """One primitive applied. `inputs` holds ints (variables) and `Constant`s, `outputs` the ints it defines, `avals` their types."""
    __slots__ = ("primitive", "name", "params", "inputs", "outputs", "avals", "floating", "kind", "fences", "fenced", "kept", "after")

    def __init__(self, primitive, params, inputs, outputs, avals):
        self.primitive, self.name, self.params = primitive, primitive.name, params
        self.inputs, self.outputs, self.avals = inputs, outputs, avals
        self.floating = bool(avals) and is_floating(avals[0])
        self.kind = KINDS.get(self.name, 0)
        self.fences = None          # {position: fence} for its inputs, and
        self.fenced = False         # whether its result is: filled in by `fences`
        self.kept = False           # whether its result is put into memory before it is read: filled in by `boxes` and `layouts`
        self.after = ()             # variables that are made before its result is: filled in by `aliases`


def is_floating(aval):
    """Whether a type holds floating-point or complex numbers."""
    dtype = getattr(aval, "dtype", None)
    kind = getattr(dtype, "kind", None)
    return kind in "fc" or kind == "V" and dtypes.issubdtype(dtype, np.floating)


def called(equation):
    """The jaxpr that a call runs."""
    return next(equation.params[key] for key in _INNER if key in equation.params)


def _called(equation, inputs):
    """The jaxpr that a call runs, and its arguments."""
    params = equation.params
    if equation.primitive.name == "custom_linear_solve":    # arguments: the constants of matvec, vecmat, solve and transpose_solve, then b
        lengths = params["const_lengths"]
        start = lengths.matvec + lengths.vecmat
        return params["jaxprs"].solve, inputs[start:start + lengths.solve] + inputs[sum(lengths):]
    return called(equation), inputs


class Flat:
    """Jaxprs as one list of live equations. `avals` is indexed by variable; the first variables are the inputs.

    To be put together by `call`, `mark` and `element`, which take and answer atoms (variables and `Constant`s), until `finish`.
    """

    def __init__(self, avals):
        self.avals = list(avals)
        self.inputs = list(range(len(self.avals)))
        self.equations, self.outputs = [], None
        self.effects = False                # whether an equation does more than compute
        self.boxes = None                   # in which way writes to boxes became operations on whole arrays (`boxes`)

    def call(self, closed, inputs):
        """The results of a jaxpr."""
        return self._inline(closed.jaxpr, closed.consts, inputs)

    def mark(self, atom):
        """The result of an operator; what is neither floating-point nor complex is answered as it is."""
        aval = self.aval(atom)
        return self._equation(marker, {}, [atom], aval) if is_floating(aval) else atom

    def element(self, vector, at):
        """An element of a vector."""
        (length,), dtype = self.aval(vector).shape, self.aval(vector).dtype
        params = {"start_indices": (at,), "limit_indices": (at + 1,), "strides": None}
        part = vector if length == 1 else self._equation(jax.lax.slice_p, params, [vector], jax.core.ShapedArray((1,), dtype))
        return self._equation(jax.lax.squeeze_p, {"dimensions": (0,)}, [part], jax.core.ShapedArray((), dtype))

    def _equation(self, primitive, params, inputs, aval):
        self.avals.append(aval)
        made = len(self.avals) - 1
        self.equations.append(Equation(primitive, params, inputs, [made], [aval]))
        return made

    def finish(self, outputs):
        """Says what is wanted, and leaves out the rest."""
        self.outputs = outputs
        self._drop_dead()
        self._turn_products()
        return self

    def _inline(self, jaxpr, constants, arguments, formulated=None):
        names = dict(zip(jaxpr.invars, arguments))
        names.update(zip(jaxpr.constvars, [c if type(c) in (int, Constant) else Constant(c) for c in constants]))
        literal = core.Literal

        def read(atoms):
            return [Constant(a.val) if isinstance(a, literal) else names[a] for a in atoms]

        for equation in jaxpr.eqns:
            inputs = read(equation.invars)
            name = equation.primitive.name
            if name in CALLS or name == "custom_linear_solve":
                inner, inputs = _called(equation, inputs)
                outputs = self._inline(getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), inputs, formulated)
            else:
                self.effects |= bool(equation.effects)
                outputs = self.apply(equation.primitive, equation.params, inputs, [a.aval for a in equation.invars],
                                     [v.aval for v in equation.outvars], formulated)
            names.update(zip(equation.outvars, outputs))
        return read(jaxpr.outvars)

    def apply(self, primitive, params, inputs, types, results, formulated=None):
        """The results of a primitive that is no call; ``types``, ``results``: the avals of its inputs and of these. ``formulated``: the
        primitive whose formulation this is part of."""
        name = primitive.name
        if name in REFORMULATED and name != formulated:
            formula = formulation(name, params, types)
            if formula is not None:
                return self._inline(formula.jaxpr, formula.consts, inputs, name)
        if name in EXTREMES and all(types[0].shape[axis] == 1 for axis in params["axes"]):
            # of one number each, which is that number: XLA sees through it as through any other move
            return [self._equation(jax.lax.squeeze_p, {"dimensions": tuple(params["axes"])}, inputs, results[0])]
        avals = self.avals
        outputs = list(range(len(avals), len(avals) + len(results)))
        avals.extend(results)
        self.equations.append(Equation(primitive, params, inputs, outputs, results))
        return outputs

    def _drop_dead(self):
        live = bytearray(len(self.avals))
        for v in self.outputs:
            if type(v) is int:
                live[v] = 1
        kept = []
        for equation in reversed(self.equations):
            if any(live[v] for v in equation.outputs) or not equation.outputs:
                kept.append(equation)
                for v in equation.inputs:
                    if type(v) is int:
                        live[v] = 1
        kept.reverse()
        self.equations = kept

    def _turn_products(self):
        """A product of matrices that is only transposed becomes the product of the transposed: gradients are full of them.

        XLA would do the same, but behind a fence, which keeps transposes of other operators away, it cannot. One that was formulated with
        a factor turned (`in_order`) stays so.
        """
        uses, makers, turned = [0] * len(self.avals), {}, set()
        for v in self.outputs:
            if type(v) is int:
                uses[v] += 1
        for e in self.equations:
            for v in e.inputs:
                if type(v) is int:
                    uses[v] += 1
        kept = []
        for e in self.equations:
            if e.name == "dot_general" and not (e.inputs[0] in turned and is_turned(e.params, self.aval(e.inputs[0]))):
                makers[e.outputs[0]] = e
            if e.name == "transpose":
                turned.update(e.outputs)
            product = makers.get(e.inputs[0]) if e.name == "transpose" and type(e.inputs[0]) is int else None
            if product is None or uses[e.inputs[0]] > 1 or not _turn(product, e, self):
                kept.append(e)
        self.equations = kept

    def aval(self, atom):
        """The type of an equation's input."""
        return self.avals[atom] if type(atom) is int else jax.typeof(atom.value)


def flattened(closed):
    """A jaxpr as a `Flat`."""
    graph = Flat(closed.in_avals)
    return graph.finish(graph.call(closed, graph.inputs))


def _turn(product, transpose, graph):
    """Makes `product` give what `transpose` makes of it by exchanging its factors; False if that is another permutation."""
    (left, right), (left_batch, right_batch) = product.params["dimension_numbers"]
    batch = len(left_batch)
    rows = len(graph.aval(product.inputs[0]).shape) - len(left) - batch
    rank = len(transpose.params["permutation"])
    if transpose.params["permutation"] != (*range(batch), *range(batch + rows, rank), *range(batch, batch + rows)):
        return False
    precision = product.params.get("precision")
    product.params = product.params | {"dimension_numbers": ((right, left), (right_batch, left_batch)),
                                       "precision": precision[::-1] if isinstance(precision, tuple) else precision}
    product.inputs, product.outputs, product.avals = product.inputs[::-1], transpose.outputs, transpose.avals
    return True
