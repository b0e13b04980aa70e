"""An operation's equations at sizes it was never traced for, worked out from those at other sizes.

To trace an operation takes a millisecond, and where lengths change from step to step (sentences, episodes, a text that grows) nothing else
takes as long. Its equations at another size are the same ones with other numbers in them: the extents of arrays, a few parameters. Each of
these numbers is a constant, a size, a product of sizes or a size and something, and which of them, three traced sizes tell.

This is an inference, and it is made carefully. An operation is named by its text (`outputs` and `graph` say what that is); texts that differ
in numbers alone, with equal ones at the same places, are of one kind. A number below `LEAST` is no size, but part of the text: of few
elements functions are often traced in ways of their own. A prediction needs three values of every size that varies, equations that agree in
all but numbers, and one answer for each number from everything that explains what was traced. And since a function may ask whether its
arrays are large, or longer than others, it holds within a *class*: sizes in the same order, between the same powers of two, arrays of
elements between the same powers of two; of each class one operation is traced and compared in full before others are predicted.
`tests/trace/test_sizes.py` compares what is predicted with what tracing gives, operator by operator, and `VERIFY` does so in everything
that runs.

Owns: that memory, the inference. May not know: operators, plans.
"""
import itertools
import math
import re

import jax
import numpy as np
from jax.extend import core

from ..base import dtypes
from . import spec, store
from .flat import Constant, Equation, Flat, flattened
from .numpy_rules import Unknown

LEAST = 8               # the smallest number that is a size
KINDS = 2048            # operations that are remembered
EXAMPLES = 24           # of one kind
GUESSES = 12            # of one kind
PATIENCE = 24           # examples of one kind without a guess
VERIFY = False          # traces what is predicted all the same, and compares

_KNOWN = {}             # {text without sizes: _Kind}
_NUMBER = re.compile(r"(?<![\w.])(?<!e[-+])\d+(?![\w.])")


class _Kind:
    """What is known of operations whose texts differ in sizes alone: ``first``, (sizes, classes, jaxpr) of the first one that was traced,
    until there is another to compare it with; ``examples``; the ``guesses`` that they allow; how often one was ``tried`` for in vain."""

    __slots__ = ("first", "examples", "guesses", "tried")

    def __init__(self):
        self.first, self.examples, self.guesses, self.tried = None, [], [], 0


def _read(text):
    """The text without its sizes, and these, each once.

    >>> _read("('mm', '(3, 20, 1e-12)')float32[20, 64]float32[64, 20]")
    ("('mm', '(3, <0>, 1e-12)')float32[<0>, <1>]float32[<1>, <0>]", (20, 64))
    """
    sizes = {}

    def place(found):
        number = found.group()
        return number if len(number) == 1 and number < str(LEAST) else f"<{sizes.setdefault(int(number), len(sizes))}>"
    return _NUMBER.sub(place, text), tuple(sizes)


def _class(sizes, avals):
    """What functions ask of sizes: how they are ordered, and between which powers of two these and the numbers of elements are."""
    counts = [*sizes, *[math.prod(a.shape) for a in avals]]
    return tuple(sorted(range(len(sizes)), key=sizes.__getitem__)), *[(n.bit_length(), (n - 1).bit_length()) for n in counts]


# -- a graph as numbers and the rest ----------------------------------------------------------------------------------

def _parts(x, frame, numbers):
    """Appends the integers in a parameter to ``numbers``, and everything else to ``frame``."""
    kind = type(x)
    if kind is int:
        frame.append(int)
        numbers.append(x)
    elif isinstance(x, (tuple, list)):
        frame.append((kind, len(x)))
        for y in x:
            _parts(y, frame, numbers)
    elif isinstance(x, (core.Jaxpr, core.ClosedJaxpr)):
        if getattr(x, "consts", ()):
            raise Unknown
        frame.append((kind, str(x)))
    elif isinstance(x, (np.ndarray, jax.Array)):
        raise Unknown
    else:
        frame.append((kind, x))


def _with(x, numbers):
    """The parameter with other integers, which an iterator gives."""
    kind = type(x)
    if kind is int:
        return next(numbers)
    if isinstance(x, (tuple, list)):
        made = [_with(y, numbers) for y in x]
        return kind(*made) if hasattr(x, "_fields") else kind(made)
    return x


def _constant_parts(value, frame, numbers):
    """The same for a constant: a single whole number is a number, and an array has to be the same one everywhere."""
    array, kind = np.asarray(value), type(value)
    if array.ndim == 0 and kind in _REMADE and array.dtype.kind in "iuf" and abs(array) < 1 << 24 and array == int(array):
        frame.append((kind, array.dtype, bool(np.signbit(array))))
        numbers.append(int(array))
    else:
        frame.append((kind, array.dtype, array.shape, array.tobytes()))


def _remade(value, number):
    return np.array(number, value.dtype) if type(value) is np.ndarray else type(value)(number)


_REMADE = {int, float, np.ndarray} | {np.dtype(name).type for name in ("int32", "int64", "float32", "float64")}


class _Example:
    """A graph that was traced: its ``numbers`` in a row, and the ``frame``, all the rest; ``lots``: how many of them are the extents of all
    arrays, and of each equation in turn."""

    __slots__ = ("sizes", "classes", "frame", "numbers", "lots", "graph")

    def __init__(self, sizes, classes, graph):
        self.sizes, self.classes, self.frame, self.numbers, self.lots, self.graph = sizes, frozenset(classes), [], [], [], graph
        frame, numbers = self.frame, self.numbers
        if graph.effects or graph.boxes is not None:
            raise Unknown
        for aval in graph.avals:
            if type(aval) is not jax.core.ShapedArray or not isinstance(aval.dtype, np.dtype):
                raise Unknown
            frame.append((aval.dtype, aval.weak_type))
            _parts(aval.shape, frame, numbers)
        self.lots.append(len(numbers))
        for e in graph.equations:
            if e.avals != [graph.avals[v] for v in e.outputs]:
                raise Unknown
            before = len(numbers)
            frame.append((e.name, tuple(e.params), tuple(e.outputs)))
            for value in e.params.values():
                _parts(value, frame, numbers)
            for atom in e.inputs:
                if type(atom) is int:
                    frame.append(atom)
                else:
                    _constant_parts(atom.value, frame, numbers)
            self.lots.append(len(numbers) - before)
        frame.append(tuple(graph.outputs) if all(type(atom) is int for atom in graph.outputs) else _refuse())

    def at(self, numbers):
        """A graph of its own, with these numbers."""
        graph, rest = self.graph, iter(numbers)
        made = Flat([])
        made.avals = [jax.core.ShapedArray(_with(aval.shape, rest), aval.dtype, aval.weak_type) for aval in graph.avals]
        made.inputs, made.outputs = list(graph.inputs), list(graph.outputs)
        start = self.lots[0]
        for e, lot in zip(graph.equations, self.lots[1:], strict=True):
            params, inputs, own = e.params, list(e.inputs), numbers[start:start + lot]
            if own != self.numbers[start:start + lot]:
                rest = iter(own)
                params = {name: _with(value, rest) for name, value in params.items()}
                inputs = [Constant(_remade(atom.value, next(rest))) if type(atom) is Constant and _is_number(atom.value) else atom
                          for atom in inputs]
            made.equations.append(Equation(e.primitive, params, inputs, list(e.outputs), [made.avals[v] for v in e.outputs]))
            start += lot
        return made


def _refuse():
    raise Unknown


def _is_number(value):
    numbers = []
    _constant_parts(value, [], numbers)
    return bool(numbers)


# -- the inference ----------------------------------------------------------------------------------------------------

class _Guess:
    """What examples with one frame say of others that have the sizes ``fixed`` in common with them ({place: size}). ``explained``: for each
    number of the graph what may explain it, as a place in ``ways``; ``classes``: those whose examples came out as predicted."""

    __slots__ = ("example", "fixed", "explained", "ways", "classes", "refuted")

    def __init__(self, examples, fixed, ways, explained):
        self.example, self.fixed, self.ways, self.explained = examples[-1], fixed, ways, explained
        self.classes, self.refuted = set().union(*[x.classes for x in examples]), set()

    def holds(self, sizes):
        return all(sizes[at] == size for at, size in self.fixed.items())

    def numbers(self, sizes):
        """The graph's numbers at other sizes; None where explanations differ."""
        made = []
        for ways in self.ways:
            number = None
            for factor, places, more in ways:
                given = factor * math.prod([sizes[at] for at in places]) + more
                if number is not None and given != number:
                    return None
                number = given
            made.append(number)
        return [made[at] for at in self.explained]

    def compare(self, new):
        """Takes in an example that has the fixed sizes: its classes are such as can be predicted, or never will be."""
        if self.example.frame != new.frame:
            if self.classes & new.classes:
                self.refuted |= new.classes
        elif self.numbers(new.sizes) == new.numbers:
            self.classes |= new.classes
        else:
            self.refuted |= new.classes
        self.classes -= self.refuted


def _guess(examples, fixed):
    """The `_Guess` that these examples allow; None if they are too few, or do not explain each other."""
    columns = list(zip(*[x.sizes for x in examples], strict=True))
    varying = [at for at in range(len(columns)) if at not in fixed]
    if not varying or any(len(set(columns[at])) < 3 for at in varying):
        return None
    known, explained = {}, []
    for history in zip(*[x.numbers for x in examples], strict=True):
        explained.append(known.setdefault(history, len(known)))
    ways = [_explanations(history, columns, varying) for history in known]
    return _Guess(examples, fixed, ways, explained) if all(ways) else None


def _explanations(history, columns, varying):
    """All (factor, places, more) by which ``factor * product of the sizes at places + more`` is each number of the history."""
    if len(set(history)) == 1:
        return [(0, (), history[0])]
    found = []
    for count in (1, 2, 3):
        for places in itertools.combinations_with_replacement(varying, count):
            products = [math.prod(values) for values in zip(*[columns[at] for at in places], strict=True)]
            one, other = next(((0, k) for k, p in enumerate(products) if p != products[0]), (0, 0))
            if one == other:
                continue
            factor, remainder = divmod(history[other] - history[one], products[other] - products[one])
            more = history[one] - factor * products[one]
            if not remainder and factor and (count == 1 or not more) and all(
                    factor * p + more == number for p, number in zip(products, history, strict=True)):
                found.append((factor, places, more))
    return found


def _predicted(kind, sizes, classes):
    """(an example, the numbers to put in it for these sizes); (None, None) if there is no telling."""
    for guess in kind.guesses:
        if guess.holds(sizes) and guess.classes.issuperset(classes):
            numbers = guess.numbers(sizes)
            if numbers is not None:
                return guess.example, numbers
    return None, None


def _learn(kind, sizes, classes, jaxpr):
    """Takes in what was traced."""
    if kind.tried > PATIENCE:
        return
    if kind.first is None and not kind.examples:
        kind.first = sizes, classes, jaxpr
        return
    try:
        if kind.first is not None:
            first, kind.first = kind.first, None
            kind.examples.append(_Example(first[0], first[1], flattened(first[2])))
        new = _Example(sizes, classes, flattened(jaxpr))
    except Unknown:
        kind.tried, kind.examples, kind.guesses = PATIENCE + 1, [], []
        return
    for guess in kind.guesses:
        if guess.holds(sizes):
            guess.compare(new)
    kind.examples = [*kind.examples, new][-EXAMPLES:]
    kind.guesses = _guesses(kind, new)[:GUESSES]
    kind.tried = 0 if kind.guesses else kind.tried + 1


def _guesses(kind, new):
    """The guesses after one more example, the newest first: one for each choice of sizes that it has in common with another example."""
    alike = [x for x in kind.examples if x.frame == new.frame]
    made, found = [], kind.guesses
    for fixed in {frozenset((at, size) for at, size in enumerate(x.sizes) if new.sizes[at] == size) for x in alike if x is not new}:
        fixed = dict(fixed)
        guess = _guess([x for x in alike if all(x.sizes[at] == size for at, size in fixed.items())], fixed)
        if guess is None:
            continue
        for other in found:
            if other.fixed == fixed:
                if other.example.frame == new.frame:
                    guess.classes |= other.classes
                    guess.refuted |= other.refuted
                else:                                       # of one class there are both: more tells than the class
                    both = guess.classes & other.classes
                    guess.refuted |= both
                    other.refuted |= both
                    other.classes -= both
        guess.classes -= guess.refuted
        found = [other for other in found if other.fixed != fixed or other.example.frame != new.frame]
        made.append(guess)
    return [*made, *found]


# -- what is asked ----------------------------------------------------------------------------------------------------

def named(key, inputs, kinds):
    """The text of an operation: all that its equations depend on."""
    return f"{key!r}{inputs!r}{kinds}{dtypes.get_default_dtype()}"


def outputs(text, inputs, device, infer):
    """The avals of an operation's results: predicted, or what ``infer()`` says."""
    name, sizes = _read(text)
    kind = _KNOWN.get(name)
    example, numbers = (None, None) if kind is None else _predicted(kind, sizes, (("in", _class(sizes, inputs)),))
    if example is None:
        return infer()
    made, avals = [], example.graph.avals
    starts = [0, *itertools.accumulate(len(aval.shape) for aval in avals)]
    for v in example.graph.outputs:
        made.append(spec.aval(tuple(numbers[starts[v]:starts[v + 1]]), dtypes._BY_NUMPY[avals[v].dtype], device))
    if VERIFY:
        _compare(tuple(made), infer(), text)
    return tuple(made)


def graph(text, inputs, results, trace):
    """An operation's equations: predicted, or those of ``trace()``, a jaxpr."""
    if not inputs or store.fleeting(text):
        return flattened(trace())
    name, sizes = _read(text)
    kind = _KNOWN.get(name)
    if kind is None:
        if len(_KNOWN) >= KINDS:
            _KNOWN.clear()
        kind = _KNOWN[name] = _Kind()
    if kind.first is not None and kind.first[0] == sizes:
        return flattened(kind.first[2])
    classes = ("in", _class(sizes, inputs)), ("all", _class(sizes, (*inputs, *results)))
    example, numbers = _predicted(kind, sizes, classes)
    if example is None:
        jaxpr = trace()
        _learn(kind, sizes, classes, jaxpr)
        return flattened(jaxpr)
    made = example.at(numbers)
    if VERIFY:
        true, ours = [_Example(sizes, classes, x) for x in (flattened(trace()), made)]
        _compare((ours.frame, ours.numbers), (true.frame, true.numbers), text)
    return made


def _compare(predicted, true, text):
    if predicted != true:
        raise AssertionError(f"predicted {predicted}, but tracing gives {true}: {text}")
