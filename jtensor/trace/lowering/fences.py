"""Fences: what makes a fused tape give the bits that its operators give one by one.

Owns `mark`, which the tape's lowering puts on each operator's results, and `fenced`, through which every program goes before
it is compiled, the kernel of one operator as well as the program of a whole tape. Knows of nothing but JAX: no tape, no
operator, no Tensor.

A compiler that sees two operators at once rewrites arithmetic across them, contracts the product of one with the sum of the
other, and so on: results would depend on where the tape was cut. A *fence* is a bitcast to integers, the addition of a zero
that only the run knows, and the bitcast back: nothing can be concluded through it, it rounds nothing, and it costs about an
addition. Each rule below names what it stops.
"""
import math

import jax
import jax.numpy as jnp
import numpy as np

from ...base import compat
from . import aliases, boxes, layouts
from .barriers import (
    UNROLLED,
    axis_by_axis,
    by_library,
    fence,
    in_windows,
    is_row_by_row,
    is_wide,
    kept,
    opaque,
    pinned,
    spread,
    written_out,
)
from .facts import Facts
from .flat import flattened, is_floating, marker
from .kinds import (
    ADD,
    CONSTANT,
    CONVERT,
    DIV,
    ELEMENTWISE,
    ELEMENTWISE_MOVES,
    EXTREME,
    FOLDED,
    MATRIX_PRODUCTS,
    MOVES,
    MUL,
    OTHER,
    PLAIN,
    PRODUCT,
    SQRT,
    SUM,
    TRANSCENDENTAL,
    TURNED,
)

REWRITTEN = MUL | TRANSCENDENTAL | SQRT | DIV | CONVERT | OTHER
IDENTITIES = "operator_result", "barrier"
REPEATING = ELEMENTWISE | ELEMENTWISE_MOVES | {"broadcast_in_dim", "reshape", "transpose", "squeeze", "expand_dims", "slice"}
RESHAPING = {"reshape", "squeeze", "expand_dims", "transpose", "split"}
WRITES = {"dynamic_update_slice", "scatter-add", "scatter_add"}


def mark(x):
    """The result of an operator, while the function of a whole tape is traced. Identity on what is neither floating-point nor complex."""
    return marker.bind(x) if is_floating(x) else x


class Fenced:
    """What `fenced` gives: `program(zero, *inputs)` to be jitted, `count` of fences on results, `compiler_options` to compile it with.

    `jaxpr()`: the program traced. `boxes`: in which way it writes to large boxes, or None (`boxes`). `donated`: pairs (input, output) that
    can share a buffer (`aliases`).
    """
    __slots__ = ("program", "count", "compiler_options", "jaxpr", "boxes", "donated")

    def __init__(self, program, count, compiler_options, jaxpr, boxes, donated=()):
        self.program, self.count, self.compiler_options, self.jaxpr, self.boxes = program, count, compiler_options, jaxpr, boxes
        self.donated = donated


def fenced(function, avals):
    """The function of a tape or of a single operator with its fences in place.

    `function` takes arrays of the types `avals` and gives a pytree of arrays; floating-point results of the operators in it
    went through `mark`. `Fenced.program(zero, *inputs)` gives the same pytree; `zero` is a uint32 scalar 0 that the caller
    passes at run time.
    """
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*avals)
    made = of_graph(flattened(closed))
    tree, flat_program = jax.tree_util.tree_structure(shapes), made.program

    def program(zero, *inputs):
        return jax.tree_util.tree_unflatten(tree, flat_program(zero, *inputs))
    return Fenced(program, made.count, made.compiler_options, made.jaxpr, made.boxes)


def of_graph(graph, briefly=False, donated=()):
    """The same for a `Flat`: its program gives a list. ``briefly``: it is compiled in a hurry; ``donated``: pairs (input, output) which
    would best share a buffer."""
    graph = boxes.opened(layouts.channels_last(graph), briefly)
    if donated and graph.boxes is None:         # what boxes become is written in place as it is
        donated = aliases.arrange(graph, donated)
    rewriter = _Rewriter(graph)

    def program(zero, *inputs):
        return rewriter.run(zero, inputs)
    return Fenced(program, rewriter.count, compiler_options(graph), rewriter.jaxpr, graph.boxes, donated)


def compiler_options(graph):
    """For `lowered.compile(compiler_options=...)`: roundings to narrow types stay, and each convolution is left to the fast library."""
    options = {"xla_allow_excess_precision": False}
    if any(e.name == "conv_general_dilated" for e in graph.equations):
        options["xla_cpu_experimental_ynn_fusion_type"] = "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"
    if graph.boxes == boxes.PADDED and compat.has_option(boxes.EMITTERS):
        options[boxes.EMITTERS] = True
    return options


# ------------------------------------------------------------------ where they stand

def place_fences(graph):
    """Decides for each equation which of its inputs and whether its result is fenced; how many results are."""
    facts, behind, count = Facts(graph), bytearray(len(graph.avals)), 0
    skewed, uniform, reshaped = (bytearray(len(graph.avals)) for _ in range(3))
    for at, e in enumerate(graph.equations):
        _carry(e, graph, facts.constant, skewed, uniform, reshaped)
        if e.name == "dynamic_update_slice" and type(e.inputs[0]) is int and reshaped[e.inputs[0]] and _reads_its_base(e, at, graph):
            e.fences = {0: opaque}
        if not e.floating:
            e.fenced = _may_wrap(e, facts)
            count += e.fenced
            continue
        result, kind = e.outputs[0], e.kind
        used = facts.used[result]
        if e.name == "operator_result":
            e.fenced = _crossing(facts.made[result], used)
            if uniform[result] and used & ~TURNED:
                e.fenced = opaque
        elif e.name == "barrier":
            e.fenced = True
        elif kind & MUL:
            e.fenced = bool(used & (ADD | SUM))
            # XLA makes a choice of a product with truth values, and then nothing times NaN, or times a negative number, is 0.0.
            e.fences = {at: fence for at, v in enumerate(e.inputs) if type(v) is int and facts.truth[v]} or None
        elif e.name in MATRIX_PRODUCTS:
            # XLA sums a product of matrices by summing a factor first: `(a @ b).sum(1)` becomes `a @ b.sum(1)`.
            e.fenced = bool(used & (TURNED | SUM) or used & ADD and _is_product(e, graph))
            e.fences = _factors(e, graph, facts, skewed)
        elif kind & TRANSCENDENTAL:
            e.fenced = bool(used & ~TURNED)
            e.fences = {at: fence for at, v in enumerate(e.inputs) if type(v) is not int or not behind[v]}
        elif kind & DIV:
            divisor = e.inputs[1]
            if type(divisor) is not int or facts.moved[divisor] or graph.avals[divisor].shape != e.avals[0].shape:
                e.fences = {1: opaque}
            elif facts.made[divisor] & REWRITTEN and not behind[divisor]:
                e.fences = {1: fence}
            dividend = e.inputs[0]
            if type(dividend) is int and facts.made[dividend] & DIV and not behind[dividend]:       # (a / b) / c is not a / (b * c)
                e.fences = (e.fences or {}) | {0: fence}
        elif kind & (SUM | PRODUCT):
            # What is added to the result of a scatter XLA adds to what it is scattered into.
            e.fenced = bool(used & (SUM | PRODUCT | (ADD if kind & PRODUCT or e.name in WRITES else 0)))
            if type(e.inputs[0]) is int and not is_written_out(e, graph):
                if facts.moved[e.inputs[0]]:
                    e.fences = {0: opaque}
                elif skewed[e.inputs[0]]:
                    e.fences = {0: fence}
        if e.name in WRITES and used & ADD and (type(e.inputs[0]) is not int or facts.constant[e.inputs[0]]):
            e.fenced = True         # into zeros, and added to something: XLA writes into that, where -0.0 then stays what it was
        through = e.name in MOVES and e.name != "neg" and all(
            type(v) is int and behind[v] for v in e.inputs if is_floating(graph.aval(v)))
        if through and e.fenced is not opaque:
            e.fenced = False
        count += bool(e.fenced)
        if e.fenced or through:
            for v in e.outputs:
                behind[v] = 1
                skewed[v] &= through
                uniform[v] &= e.fenced is not opaque
    return count


def _carry(e, graph, constant, skewed, uniform, reshaped):
    """What becomes of three properties in an equation: whether its results are guessed to be laid out in another order of axes, whether all
    their elements are the same, and whether XLA could hold them in another shape.

    XLA takes a chain of operators on one repeated number apart, an operator in each run of its simplifier; after 50 runs it complains. And
    it sums up a repeated number by a product. What is known when compiled, such as ones, is repeated or as good as that.
    Into what is held in another shape it writes a slice in place while the same loop still reads from it, which gives wrong numbers.
    """
    variables = [v for v in e.inputs if type(v) is int]
    skew = e.name == "transpose" or any(skewed[v] for v in variables) and not (
        e.kind & (SUM | PRODUCT | EXTREME | OTHER) or e.name in MATRIX_PRODUCTS)
    numbers = [v for v in variables if not constant[v]]
    same = bool(numbers) and e.name in REPEATING and all(uniform[v] or _is_one(graph.avals[v]) for v in numbers)
    for v in e.outputs:
        skewed[v], uniform[v] = skew, same and not _is_one(graph.avals[v])
        reshaped[v] = e.name in RESHAPING or e.name in MATRIX_PRODUCTS or bool(e.kind & (SUM | PRODUCT | EXTREME)) or (
            e.name != "dynamic_update_slice" and any(reshaped[u] for u in variables))


def _may_wrap(e, facts):
    """Whether XLA takes an integer for not negative that may be: the least one's absolute value, and a square that does not fit.

    It would leave out what is only for negative numbers, as the corrections of `//` and `%`, a comparison with zero, another `abs`.
    """
    if e.name not in ("abs", "mul", "square", "integer_pow") or e.avals[0].dtype.kind != "i":
        return False
    return e.name != "mul" or facts.are_equal(*e.inputs)


def _reads_its_base(e, at, graph):
    """Whether what a slice is written with is computed from the same arrays as what it is written into."""
    base, update = {e.inputs[0]}, {e.inputs[1]}
    for maker in reversed(graph.equations[:at]):
        for found in (base, update):
            if not found.isdisjoint(maker.outputs):
                found.update(v for v in maker.inputs if type(v) is int and not _is_one(graph.avals[v]))
    return not base.isdisjoint(update)


def _is_one(aval):
    return math.prod(aval.shape) == 1


def _crossing(made, used):
    """Whether an operator's result, made by one kind of arithmetic and used by another, has to be fenced."""
    if made & CONSTANT or made & FOLDED and used & FOLDED:
        return used & ~(TURNED | PLAIN) != 0
    if made & FOLDED and made & used & MUL:     # (a * 0.5) * b is not a * (0.5 * b), which XLA makes of it where b is one number
        return True
    if made & CONVERT and used & SUM:           # sums of bfloat16 have an algorithm of their own
        return True
    return bool(made & REWRITTEN and used & REWRITTEN and (made | used) & ~(FOLDED | TURNED | PLAIN) != MUL)


def _factors(e, graph, facts, skewed):
    """Fences on what a product of matrices takes: on transposes, and if a factor is a vector on all that was moved or computed from one."""
    vector, found = _has_vector(e, graph), {}
    for at, v in enumerate(e.inputs[:2]):
        if type(v) is int and (facts.turned[v] or skewed[v] and vector):
            found[at] = pinned if vector else opaque
        elif type(v) is int and facts.moved[v] and vector:
            found[at] = opaque
    return found


def _is_product(e, graph):
    """Whether a matrix product sums over nothing, and so is a product."""
    if e.name != "dot_general":
        return False
    (contracted, _), _ = e.params["dimension_numbers"]
    shape = graph.aval(e.inputs[0]).shape
    return all(shape[axis] == 1 for axis in contracted)


def _has_vector(e, graph):
    """Whether a factor of a matrix product is a vector, and the order of its sums thus a matter of the other's layout."""
    if e.name != "dot_general":
        return True
    (left, right), (left_batch, right_batch) = e.params["dimension_numbers"]
    a, b = (graph.aval(v).shape for v in e.inputs)
    rows = [n for axis, n in enumerate(a) if axis not in left and axis not in left_batch]
    columns = [n for axis, n in enumerate(b) if axis not in right and axis not in right_batch]
    return math.prod(rows) == 1 or math.prod(columns) == 1


def is_written_out(e, graph):
    """Whether a sum or product is short enough to be written out, or a sum or extreme is best written out however long it is. One over
    several short axes of a large array, as over a picture, is left to XLA's library, if that has it: written out it would be a loop for
    every axis."""
    if e.name not in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
        return False
    aval = graph.aval(e.inputs[0])
    lengths = [aval.shape[axis] for axis in e.params["axes"]]
    if e.name != "reduce_prod" and 0 not in lengths and is_wide(aval.shape, aval.dtype, e.params["axes"]):
        return True
    return e.kind & (SUM | PRODUCT) and all(0 < n <= UNROLLED for n in lengths) and (
        math.prod(lengths) <= UNROLLED or not by_library(e.name, aval.shape, aval.dtype))


def _in_our_order(e, graph):
    """The function of (array, zero) that stands for a sum or product whose order would be a matter of how it is compiled, or None."""
    if e.name not in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
        return None
    axes, aval = tuple(e.params["axes"]), graph.aval(e.inputs[0])
    if is_written_out(e, graph):
        return written_out(e.name, axes, is_row_by_row(aval.shape, axes))
    return axis_by_axis(e.name, axes) if e.kind & (SUM | PRODUCT) and in_windows(e.name, aval.shape, aval.dtype, axes) else None


class _Rewriter:
    """The program with its fences, as a loop over the flat equations."""

    def __init__(self, graph):
        self.flat = graph
        self.count = place_fences(graph)

    def run(self, zero, inputs):
        """The results, where JAX traces this or computes."""
        return self._walk(zero, inputs, _bind, _call)

    def jaxpr(self):
        avals = [jax.ShapeDtypeStruct((), np.uint32), *(self.flat.avals[v] for v in self.flat.inputs)]
        if self.flat.effects or not compat.short_way():
            return compat.trace(lambda zero, *inputs: self.run(zero, inputs), avals)
        writer = compat.Writer(avals)
        return writer.done(self._walk(writer.zero, writer.inputs, writer.bind, writer.call))

    def _walk(self, zero, inputs, bind, call):
        graph = self.flat
        values = [None] * len(graph.avals)
        values[:len(inputs)] = inputs
        for e in graph.equations:
            arguments = [values[v] if type(v) is int else v.value for v in e.inputs]
            if e.name in IDENTITIES:
                results = arguments
            else:
                if e.fences:
                    for at, guard in e.fences.items():
                        if guard is opaque and e.kind & DIV and graph.aval(e.inputs[at]).shape != e.avals[0].shape:
                            guard = spread(e.avals[0].shape)
                        arguments[at] = call(guard, arguments[at], zero)
                summed = _in_our_order(e, graph) if e.floating and e.kind & (SUM | PRODUCT | EXTREME) else None
                if summed is not None:
                    results = [call(summed, arguments[0], zero)]
                else:
                    results = bind(e.primitive, *with_fences(e, arguments, zero), e.avals)
            if e.fenced:
                guard = opaque if e.fenced is opaque else fence
                results = [call(guard, results[0], zero), *results[1:]]
            if e.kept:
                results = [call(kept, results[0], zero)]
            if e.after:
                late = zero
                for v in e.after:
                    late = call(aliases.waiting, late, values[v])
                results = [call(fence, results[0], late), *results[1:]]
            for v, result in zip(e.outputs, results):
                values[v] = result
        return [values[v] if type(v) is int else v.value for v in graph.outputs]


def _bind(primitive, params, arguments, avals):
    results = primitive.bind(*arguments, **params)
    return results if primitive.multiple_results else [results]


def _call(function, *arguments):
    return function(*map(jnp.asarray, arguments))


# ------------------------------------------------------------------ equations with programs inside

def with_fences(e, arguments, zero):
    """(parameters, arguments) of an equation; the programs inside control flow get their fences, too."""
    params = e.params
    if e.name == "scan":
        params = compat.scan_of_one_more(params, _fenced_jaxpr(params["jaxpr"]))
        arguments = [zero, *arguments]
    elif e.name == "while":
        tests, count = params["cond_nconsts"], params["body_nconsts"]
        params = params | {"cond_jaxpr": _fenced_jaxpr(params["cond_jaxpr"]), "cond_nconsts": tests + 1,
                           "body_jaxpr": _fenced_jaxpr(params["body_jaxpr"]), "body_nconsts": count + 1}
        arguments = [zero, *arguments[:tests], zero, *arguments[tests:]]
    elif e.name == "cond":
        params = params | {"branches": tuple(map(_fenced_jaxpr, params["branches"]))}
        arguments = [arguments[0], zero, *arguments[1:]]
    return params, arguments


def _fenced_jaxpr(closed):
    return _Rewriter(flattened(closed)).jaxpr()
