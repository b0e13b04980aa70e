"""From a stretch of tape to one pure function, and on to an executable.

The function takes the scalars as one vector (`scalars`) and the external inputs in their order; what is not needed for the wanted
values is left out. Every operator's floating-point results carry a mark, so that `fences` can keep the boundaries between operators
where a compiler would otherwise compute across them. May not know: how tapes are recorded or when they are run.
"""
import functools
import weakref

import jax
import numpy as np

from ...base import compat, devices
from .. import scalars
from ..cache import first_product, store
from ..cache.ahead import PRODUCTS
from ..cache.shapes import REMEMBERED
from ..plan import made_for, scalar_struct
from . import boxes, fences
from .executable import PIECES, compile_program, possible
from .flat import Flat, flattened


def needed(nodes, wanted, given=()):
    """Which nodes the wanted values depend on, where those at the positions ``given`` are there already: a list of booleans."""
    owner, starts, position = {}, [], 0
    for at, node in enumerate(nodes):
        starts.append(position)
        for _ in node[0].outputs:
            owner[position] = at
            position += 1
    marked, given = [False] * len(nodes), frozenset(given)
    for p in wanted:
        if p not in given:
            marked[owner[p]] = True
    for at in range(len(nodes) - 1, -1, -1):
        if marked[at]:
            for p in nodes[at][1]:
                if p >= 0 and p not in given:
                    marked[owner[p]] = True
    return marked


def alone(nodes, wanted, given=()):
    """The part of a tape that the wanted values need beside those at the positions ``given``, as a tape of its own: nodes, the values'
    positions on it, and where what it takes is on the whole tape: positions of values, and ``~n`` for input number n.

    Two tapes that begin alike have it in common.
    """
    place, taken, made, position, count = {}, {p: ~at for at, p in enumerate(given)}, [], 0, 0
    for (plan, positions, numbers, outs), live in zip(nodes, needed(nodes, wanted, given), strict=True):
        outputs = len(plan.outputs)
        if live:
            here = [taken[p] if p in taken else place[p] if p >= 0 else taken.setdefault(p, ~len(taken)) for p in positions]
            made.append((plan, tuple(here), numbers, outs))
            place.update((position + at, count + at) for at in range(outputs))
            count += outputs
        position += outputs
    return made, tuple([place[p] for p in wanted]), tuple(taken)


def grown(nodes, wanted):
    """{input: position} of the wanted values that an input has become by operations on it as their first operand, as in place.

    Where an input's buffer is free, such a value takes it without a copy.
    """
    owner = [(node, k) for node in nodes for k in range(len(node[0].outputs))]
    found = {}
    for wanted_here in wanted:
        p = wanted_here
        while p >= 0:
            (plan, positions, _, _), k = owner[p]
            if not positions or plan.inputs[0] != plan.outputs[k]:
                break
            p = positions[0]
        else:
            found[~p] = wanted_here
    return found


def graph_of(nodes, wanted, inputs, counts):
    """The tape as equations: of the numbers (where there are any) and the inputs; of each operation the jaxpr that it was planned with."""
    vector = [jax.core.ShapedArray((scalars.words(counts),), np.dtype(np.int64))] if counts else []
    graph = Flat([*vector, *(jax.core.ShapedArray(a.struct.shape, a.struct.dtype) for a in inputs)])
    takes, number = graph.inputs[len(vector):], numbers_of(graph, counts)
    results = []
    for (plan, positions, numbers, _), live in zip(nodes, needed(nodes, wanted), strict=True):
        outs = [None] * len(plan.outputs)
        if live:
            operands = [results[p] if p >= 0 else takes[~p] for p in positions]
            operands += [number(kind, at) for kind, at in numbers]
            outs = graph.call(plan.jaxpr(), operands)
            outs = outs if plan.moves else [graph.mark(x) for x in outs]
        results += outs
    return graph.finish([results[p] for p in wanted])


def numbers_of(graph, counts):
    """``(kind, at)`` to the atom of one of a tape's numbers, which are the graph's first input where there are any."""
    vectors = dict(zip((kind for kind, _ in counts), graph.call(_unpacked(counts), graph.inputs[:1]), strict=True)) if counts else {}

    def number(kind, at):
        found = graph.element(vectors["i" if kind == "b" else kind], at)
        return graph.call(_truth(), [found])[0] if kind == "b" else found
    return number


@functools.lru_cache(maxsize=256)
def _unpacked(counts):
    return compat.trace(lambda vector: list(scalars.unpack(vector, counts).values()),
                        [jax.ShapeDtypeStruct((scalars.words(counts),), "int64")])


@functools.cache
def _truth():
    return compat.trace(lambda number: [number != 0], [scalar_struct("i")])


def key_of(nodes, wanted, inputs, counts, donate):
    """The structural identity of a program, the same in every process: a text that the disk cache hashes."""
    numbers, parts = {}, []
    for plan, positions, taken, _ in nodes:
        number = numbers.get(plan)
        if number is None:
            number = numbers[plan] = len(numbers)
            parts.append(f"P{number}={plan.key!r}{plan.inputs!r}{plan.outputs!r}{plan.scalar_kinds}")
        parts.append(f"{number}{positions}{tuple(taken)}" if taken else f"{number}{positions}")
    return "\n".join([*parts, f"in {inputs!r} {counts}", f"out {wanted} donate {donate}"])


def lead(counts):
    """How many arguments an executable takes before the tape's inputs: the zero, and the numbers where there are any."""
    return 2 if counts else 1


def program(nodes, wanted, inputs, counts, donate, efforts=("all",), stored=False):
    """The executable ``run([zero, numbers, *inputs])`` of a tape; from disk if it is there.

    ``inputs`` are the avals of the external inputs; ``counts`` (kind, how many) of the numbers (`scalars`); ``donate``: (an input, the
    position of the wanted value that may have its buffer) each; ``efforts``: XLA's (`executable.options_of`), of which it gets the first
    that would not tell in the bits (`HURRIED` ones, or a single other); a program on disk that got more is taken. (One in `PIECES` is on
    none.) ``stored``: only one that is there. Answers (executable, where it came from: "shared" with another tape, "disk" or "compiled",
    number of fences, the effort it got), or None.
    """
    buffers = [(d + lead(counts) - 1, wanted.index(p)) for d, p in donate if p in wanted]                # the zero is not the graph's
    return of_graph(lambda: graph_of(nodes, wanted, inputs, counts), key_of(nodes, wanted, inputs, counts, donate),
                    nodes[-1][0].outputs[0].device, efforts, stored, buffers)


def of_graph(graph, text, place, efforts=("all",), stored=False, buffers=()):
    """The same of equations. ``graph``: what gives them, as a `Flat`; ``text``: names them in every process; ``place``: where they run;
    ``buffers``: (an input, a result that may have its buffer) each."""
    device = _unless_default(place)
    in_pieces = efforts == (PIECES,)
    for got in efforts if in_pieces else dict.fromkeys(("all", *efforts[::-1])):
        key = _key_for(got, text)
        found = _SHARED.get((key, device))
        if found is not None:
            return found, "shared", 0, got
        found = None if in_pieces else loaded(key, device)
        if found is not None:
            _SHARED[key, device] = found
            return found, "disk", 0, got
    if stored:
        return None
    with jax.enable_x64(True), made_for(place.type):
        fenced = fences.of_graph(graph(), efforts[0] in HURRIED, buffers)
        jaxpr = fenced.jaxpr()
        effort = how = PIECES if in_pieces else possible(efforts, jaxpr, device)
        if fenced.boxes == boxes.MASKED and not in_pieces:            # it gets no better
            effort, how = "all", "swift"
        donated = [(at + 1, to) for at, to in fenced.donated]
        made = compile_program(jaxpr, [], donate=donated, options=fenced.compiler_options, effort=how, device=device)
    key = _key_for(effort, text)
    if not store.fleeting(key):
        _SHARED[key, device] = made
    if not in_pieces:
        store.save(key, made, device)
    REMEMBERED.keep()
    return made, "compiled", fenced.count, effort


def loaded(key, device):
    """The executable on disk, or None."""
    found = store.load(key, device)
    if found is not None and found.slow_to_begin == PRODUCTS and device is None:
        first_product.begin()               # too late to gain by it, but the script's next start will know
    return found


def _key_for(effort, text):
    return text if effort == "all" else f"{text}\neffort {effort}"


_SHARED = weakref.WeakValueDictionary()         # (key, device): the executables that are in use


def kernel(plan):
    """The executable ``run([zero, *arrays, *scalars])`` of one operation, and where it comes from."""
    key = f"kernel {plan.key!r} {plan.inputs!r} {plan.outputs!r} {plan.scalar_kinds}"
    return kernel_of(lambda: flattened(plan.jaxpr()), key, plan.elements(), plan.outputs[0].device)


def kernel_of(graph, key, elements, place=devices.cpu):
    """The same of equations. ``graph``: what gives them, as a `Flat`; ``key``: names them in every process; ``place``: where they run."""
    device = _unless_default(place)
    found = loaded(key, device)
    if found is not None:
        return found, "disk"
    with jax.enable_x64(True), made_for(place.type):
        fenced = fences.of_graph(graph())
        jaxpr = fenced.jaxpr()
        effort = "kernel" if elements > SMALL else "brief" if elements > TINY else possible(HURRIED, jaxpr, device)
        made = compile_program(jaxpr, [], options=fenced.compiler_options, device=device, effort=effort)
    store.save(key, made, device)
    REMEMBERED.keep()
    return made, "compiled"


SMALL, TINY = 1 << 13, 1 << 10      # elements over which loops take less time than calling a kernel, compiled briefly or roughly
HURRIED = "rough", "brief"            # efforts, the least first


def jax_device_of(plan):
    """Where a plan runs; None for JAX's default device, so that results stay uncommitted."""
    return _unless_default(plan.outputs[0].device)


def _unless_default(device):
    found = devices.jax_device(device)
    return None if found == compat.default_device() else found

