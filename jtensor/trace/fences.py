"""Fences: what makes a fused tape give the bits that its operators give one by one.

Owns `mark`, which the tape's lowering puts on each operator's results, and `fenced`, through which every program goes before
it is compiled, the kernel of one operator as well as the program of a whole tape. Knows of nothing but JAX: no tape, no
operator, no Tensor.

A compiler that sees two operators at once rewrites arithmetic across them, contracts the product of one with the sum of the
other, and so on: results would depend on where the tape was cut. A *fence* is a bitcast to integers, the addition of a zero
that only the run knows, and the bitcast back: nothing can be concluded through it, it rounds nothing, and it costs about an
addition. Each rule below names what it stops.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jtensor.trace import flat
from jtensor.trace.flat import (
    ADD,
    CONSTANT,
    CONVERT,
    DIV,
    KINDS,
    MOVES,
    MUL,
    OTHER,
    REDUCTION,
    SQRT,
    SUM,
    TRANSCENDENTAL,
    Flat,
    is_floating,
)

REWRITTEN = MUL | TRANSCENDENTAL | SQRT | DIV | CONVERT | OTHER | CONSTANT
UNROLLED = 32
_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def mark(x):
    """The result of an operator, while the function of a whole tape is traced. Identity on what is neither floating-point nor complex."""
    return flat.marker.bind(x) if is_floating(x) else x


class Fenced:
    """What `fenced` gives: `program(zero, *inputs)` to be jitted, `count` of fences on results, `compiler_options` to compile it with."""
    __slots__ = ("program", "count", "compiler_options")

    def __init__(self, program, count, compiler_options):
        self.program, self.count, self.compiler_options = program, count, compiler_options


def fenced(function, avals):
    """The function of a tape or of a single operator with its fences in place.

    `function` takes arrays of the types `avals` and gives a pytree of arrays; floating-point results of the operators in it
    went through `mark`. `Fenced.program(zero, *inputs)` gives the same pytree; `zero` is a uint32 scalar 0 that the caller
    passes at run time.
    """
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*avals)
    rewriter = _Rewriter(Flat(closed))
    tree = jax.tree_util.tree_structure(shapes)

    def program(zero, *inputs):
        return jax.tree_util.tree_unflatten(tree, rewriter.run(zero, inputs))
    return Fenced(program, len(rewriter.kept), compiler_options(rewriter.flat))


def compiler_options(graph):
    """For `lowered.compile(compiler_options=...)`: roundings to narrow types stay, and each convolution is left to the fast library."""
    options = {"xla_allow_excess_precision": False}
    if any(e.name == "conv_general_dilated" for e in graph.equations):
        options["xla_cpu_experimental_ynn_fusion_type"] = "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"
    return options


# ------------------------------------------------------------------ the fence

def fence(x, zero):
    """`x`, and nothing else that the compiler could tell."""
    if jnp.iscomplexobj(x):
        return lax.complex(fence(lax.real(x), zero), fence(lax.imag(x), zero))
    bits = _BITS.get(x.dtype.itemsize)
    if bits is None:
        return x                        # eight-bit floats are only stored and converted
    return lax.bitcast_convert_type(lax.bitcast_convert_type(x, bits) + zero.astype(bits), x.dtype)


def fence_divisor(x, zero):
    """`x`, of which nothing can be told that would be the same for all elements."""
    if jnp.iscomplexobj(x):
        return lax.complex(fence_divisor(lax.real(x), zero), fence_divisor(lax.imag(x), zero))
    bits = _BITS[x.dtype.itemsize]
    zeros = lax.reshape(lax.iota(bits, x.size), x.shape) & zero.astype(bits)
    return lax.bitcast_convert_type(lax.bitcast_convert_type(x, bits) + zeros, x.dtype)


def sum_by_additions(x, axes):
    """A short sum, in an order that no compiler chooses."""
    for axis in sorted(axes, reverse=True):
        x = jnp.moveaxis(x, axis, 0)
        while len(x) > 1:
            half = len(x) // 2
            pairs = x[:half] + x[half:2 * half]
            x = pairs if len(x) % 2 == 0 else jnp.concatenate([pairs[:1] + x[-1:], pairs[1:]])
        x = x[0]
    return x


# ------------------------------------------------------------------ analysis

def _arithmetic_before(graph):
    """variable -> kinds of the arithmetic whose result it is, looking back through moves."""
    before = [0] * len(graph.avals)
    for e in graph.equations:
        if e.name in MOVES:
            kinds = 0
            for v in e.inputs:
                if type(v) is int:
                    kinds |= before[v]
        else:
            kinds = KINDS.get(e.name, 0)
        for v in e.outputs:
            before[v] = kinds
    return before


def _arithmetic_after(graph):
    """variable -> kinds of the arithmetic that uses it, looking on through moves."""
    after = [0] * len(graph.avals)
    for e in reversed(graph.equations):
        if e.name in MOVES:
            kinds = 0
            for v in e.outputs:
                kinds |= after[v]
        else:
            kinds = KINDS.get(e.name, 0)
        for v in e.inputs:
            if type(v) is int:
                after[v] |= kinds
    return after


class _Rewriter:
    """The program with its fences, as a loop over the flat equations."""

    def __init__(self, graph):
        self.flat = graph
        before, after = _arithmetic_before(graph), _arithmetic_after(graph)
        self.kept = kept = set()
        for at, e in enumerate(graph.equations):
            if not e.floating:
                continue
            uses = after[e.outputs[0]]
            if e.name == "operator_result":
                made = before[e.outputs[0]]
                crossing = made & REWRITTEN and uses & REWRITTEN and (made | uses) != MUL
            else:
                crossing = KINDS.get(e.name, 0) & (MUL | TRANSCENDENTAL) and uses & (ADD | SUM | REDUCTION)
            if crossing:
                kept.add(at)

    def run(self, zero, inputs):
        graph, kept = self.flat, self.kept
        values, behind = [None] * len(graph.avals), set()
        values[:len(inputs)] = inputs
        for at, e in enumerate(graph.equations):
            arguments = [values[v] if type(v) is int else v.value for v in e.inputs]
            moved = False
            if e.name in MOVES and e.floating and e.name != "neg":
                moved = all(type(v) is int and v in behind for v in e.inputs if is_floating(graph.aval(v)))
            if e.floating:
                results = self._floating(e, arguments, behind, zero)
            else:
                results = bind(e, arguments, zero)
            if at in kept and not moved:
                results = [fence(results[0], zero)]
            if e.floating and (at in kept or moved):
                behind.update(e.outputs)
            for v, result in zip(e.outputs, results):
                values[v] = result
        return [values[v] if type(v) is int else v.value for v in graph.outputs]

    @staticmethod
    def _floating(e, arguments, behind, zero):
        name = e.name
        if name == "operator_result":
            return arguments
        kind = KINDS.get(name)
        if kind == TRANSCENDENTAL:
            arguments = [x if type(v) is int and v in behind else fence(jnp.asarray(x), zero) for x, v in zip(arguments, e.inputs)]
        elif kind == DIV:
            arguments[1] = fence_divisor(jnp.broadcast_to(arguments[1], e.avals[0].shape), zero)
        elif name == "reduce_sum" and all(0 < np.shape(arguments[0])[a] <= UNROLLED for a in e.params["axes"]):
            return [sum_by_additions(jnp.asarray(arguments[0]), e.params["axes"])]
        return bind(e, arguments, zero)


# ------------------------------------------------------------------ equations with programs inside

def bind(e, arguments, zero):
    """The results of an equation; the programs inside control flow get their fences, too."""
    params = e.params
    if e.name == "scan":
        count = params["num_consts"]
        params = params | {"jaxpr": _fenced_jaxpr(params["jaxpr"]), "num_consts": count + 1}
        arguments = [zero, *arguments]
    elif e.name == "while":
        tests, count = params["cond_nconsts"], params["body_nconsts"]
        params = params | {"cond_jaxpr": _fenced_jaxpr(params["cond_jaxpr"]), "cond_nconsts": tests + 1,
                           "body_jaxpr": _fenced_jaxpr(params["body_jaxpr"]), "body_nconsts": count + 1}
        arguments = [zero, *arguments[:tests], zero, *arguments[tests:]]
    elif e.name == "cond":
        params = params | {"branches": tuple(map(_fenced_jaxpr, params["branches"]))}
        arguments = [arguments[0], zero, *arguments[1:]]
    results = e.primitive.bind(*arguments, **params)
    return results if e.primitive.multiple_results else [results]


def _fenced_jaxpr(closed):
    rewriter = _Rewriter(Flat(closed))
    zero = jax.ShapeDtypeStruct((), np.uint32)
    return jax.make_jaxpr(lambda zero, *inputs: rewriter.run(zero, inputs))(zero, *closed.in_avals)
