"""An operation's equations at sizes it was never traced for, worked out from those at other sizes.

To trace an operation takes a millisecond, and where lengths change from step to step (sentences, episodes, a text that grows) nothing else
takes as long. Its equations at another size are the same ones with other numbers in them: the extents of arrays, a few parameters. Each of
these numbers is a constant, a size, a product of sizes or a size and something, and which of them, a few traced sizes tell.

This is an inference, and a careful one. An operation is named by its text (`named`); texts that differ in numbers alone, with equal ones
at the same places, are of one kind. A number below `LEAST` is no size, but part of the text: of few elements functions are often traced
in ways of their own. A prediction needs four values of every size that varies, equations that agree in all but numbers, and one answer
for each number from everything that explains what was traced. Since a function may go by remainders, it holds for sizes that leave no
other than those that were traced; what is rounded to a multiple, as windows are, is none of it, and a function that does so in Python
says it (`plan.is_particular`). And since it may ask whether its arrays are large, or longer than others, it holds within a *class*: sizes
in the same order, between the same powers of two, arrays of elements between the same powers of two; of each class one operation is
traced and compared in full before others are predicted. How equations are formulated is decided anew at every size (`Flat.apply`).
`tests/trace/test_sizes.py` compares what is predicted with what tracing gives, operator by operator, and `VERIFY` does so in everything
that runs.

Owns: that memory, the inference. May not know: operators, what equations are (`examples`).
"""
import functools
import itertools
import math
import re
from fractions import Fraction

from ...base import dtypes
from ...base.bounded import Bounded
from .. import spec
from ..cache import store
from .examples import LEAST, Example, Unknown
from .flat import flattened

KINDS = 2048            # operations that are remembered
ENOUGH = 4              # values of each size that varies
EXAMPLES = 24           # of one kind
GUESSES = 12            # of one kind
PATIENCE = 24           # examples of one kind without a guess
VERIFY = False          # traces what is predicted all the same, and compares

_KNOWN = Bounded(KINDS)  # {text without sizes: _Kind}
_SHAPE = re.compile(r"\w\[([\d, ]+)\]")
_NUMBER = re.compile(r"((?<![\w.])(?<!e[-+])\d+(?![\w.]))")
_SMALL = frozenset(map(str, range(LEAST)))


class _Kind:
    """What is known of operations whose texts differ in sizes alone: ``first``, (sizes, classes, jaxpr) of the first one that was traced,
    until there is another to compare it with; ``examples``; the ``guesses`` that they allow; how often one was ``tried`` for in vain;
    ``frames``: of each class, what an example of it had, and None if another one had another: there, more tells than the class."""

    __slots__ = ("first", "examples", "guesses", "tried", "frames")

    def __init__(self):
        self.first, self.examples, self.guesses, self.tried, self.frames = None, [], [], 0, {}


@functools.lru_cache(maxsize=1024)
def read(text):
    """The text without its sizes, and these, each once.

    >>> read("('mm', '(3, 20, 1e-12)')float32[20, 64]float32[64, 20]")
    ("('mm', '(3, <0>, 1e-12)')float32[<0>, <1>]float32[<1>, <0>]", (20, 64))
    """
    sizes, parts = {}, _NUMBER.split(text)
    parts[1::2] = [n if n in _SMALL else f"<{sizes.setdefault(int(n), len(sizes))}>" for n in parts[1::2]]
    return "".join(parts), tuple(sizes)


def class_of(text, sizes, results=()):
    """What functions ask of sizes: how they are ordered, and between which powers of two these and the elements of all arrays are, those
    that the text names and the results."""
    elements = [math.prod(map(int, shape.split(","))) for shape in _SHAPE.findall(text)]
    counts = [*sizes, *elements, *[math.prod(a.shape) for a in results]]
    return tuple(sorted(range(len(sizes)), key=sizes.__getitem__)), *[(n.bit_length(), (n - 1).bit_length()) for n in counts]


# -- the inference ----------------------------------------------------------------------------------------------------

class _Guess:
    """What examples with one frame say of others that have the sizes ``fixed`` in common with them ({place: size}), whose other sizes are a
    multiple of ``steps`` ({place: step}) away from theirs, stand in the same ``relations``, and have the same ``products``.

    ``explained``: for each number of the graph what may explain it, as a place in ``ways``; ``classes``: those whose examples came out as
    predicted; ``refuted``: those of which one did not.
    """

    __slots__ = ("example", "fixed", "steps", "relations", "products", "explained", "ways", "classes", "refuted", "extents", "plain")

    def __init__(self, examples, fixed, steps, relations, products, ways, explained):
        self.example, self.fixed, self.steps, self.relations, self.products = examples[-1], fixed, steps, relations, products
        self.ways, self.explained = ways, explained
        self.classes, self.refuted = set().union(*[x.classes for x in examples]), set()
        self.extents = self.example.extents()
        self.plain = all(self._is_named(ways[explained[at]]) for extent in self.extents for at in extent)

    def holds(self, sizes):
        known = self.example.sizes
        return all(sizes[at] == size for at, size in self.fixed.items()) and all(
            (sizes[at] - known[at]) % step == 0 for at, step in self.steps.items()) and all(
            sum((sizes[at] - known[at]) * weight for at, weight in relation) == 0 for relation in self.relations) and all(
            math.prod([sizes[at] for at in places]) == product for places, product in self.products)

    def _is_named(self, ways):
        """Whether what is explained is a size, or a number that stands in the text."""
        return any(len(places) == 1 and factor == 1 and not more or not places and (more < LEAST or more in self.fixed.values())
                   for factor, places, more in ways)

    def shapes(self, numbers):
        """The shape of each result."""
        return [tuple([numbers[at] for at in extent]) for extent in self.extents]

    def numbers(self, sizes):
        """The graph's numbers at other sizes; None where explanations differ."""
        made = []
        for ways in self.ways:
            number = None
            for factor, places, more in ways:
                values = [sizes[at] for at in places]
                given = more if not places else (sum(values) if factor is None else factor * math.prod(values)) + more
                if number is not None and given != number:
                    return None
                number = given
            made.append(number)
        return [made[at] for at in self.explained]

    def compare(self, new):
        """Takes in an example that has the fixed sizes: its classes are such as can be predicted, or never will be."""
        if self.example.frame == new.frame:
            if self.numbers(new.sizes) == new.numbers:
                self.classes |= new.classes
            else:
                self.refuted |= new.classes
            self.classes -= self.refuted


def _guess(examples, fixed):
    """The `_Guess` that these examples allow; None if they are too few, or do not explain each other."""
    columns = list(zip(*[x.sizes for x in examples], strict=True))
    varying = [at for at in range(len(columns)) if at not in fixed]
    if not varying or any(len(set(columns[at])) < ENOUGH for at in varying):
        return None
    known, explained = {}, []
    for history in zip(*[x.numbers for x in examples], strict=True):
        explained.append(known.setdefault(history, len(known)))
    ways = [_explanations(history, columns, varying) for history in known]
    steps = {at: math.gcd(*[size - columns[at][0] for size in columns[at]]) for at in varying}
    return _Guess(examples, fixed, steps, _relations(columns, varying), _products(columns, varying), ways, explained) if all(ways) else None


def _explanations(history, columns, varying):
    """What makes each number of the history of sizes: (factor, places, more) each, for ``factor * product of those at the places + more``,
    or (None, places, more) for their sum and more. Of those that are no products of several sizes one is enough: they agree wherever a
    guess holds (`_relations`)."""
    found, sums = [(0, (), history[0])] if len(set(history)) == 1 else [], []
    if not all(type(number) is int for number in history):
        return found
    for count in (1, 2, 3):
        for places in itertools.combinations_with_replacement(varying, count):
            values = [[columns[at][k] for at in places] for k in range(len(history))]
            way = _factor_of(history, list(map(math.prod, values)), count > 1)
            if way is not None and (count > 1 or not found):
                found.append((way[0], places, way[1]))
            if count > 1:
                more = {number - sum(given) for number, given in zip(history, values, strict=True)}
                if len(more) == 1:
                    sums.append((None, places, more.pop()))
    return found if any(len(places) < 2 for _, places, _ in found) else found + sums[:1]


def _factor_of(history, products, alone):
    """(factor, more) by which each number is ``factor * product + more``, ``more`` being 0 if it has to stand ``alone``; or None."""
    other = next((k for k, p in enumerate(products) if p != products[0]), None)
    if other is None:
        factor, more = (history[0] // products[0], 0) if alone else (0, 0)
    else:
        factor = (history[other] - history[0]) // (products[other] - products[0])
        more = history[0] - factor * products[0]
    if not factor or alone and more or any(factor * p + more != number for p, number in zip(products, history, strict=True)):
        return None
    return factor, more


def _relations(columns, varying):
    """What all examples' sizes have in common: vectors of (place, weight) whose weighted sums are 0 for the difference of any two.

    Three texts that are filled up to one length say nothing of another length: so a guess holds where these sums are 0, too. Whatever is a
    sum of sizes is the same there for all who explain the examples.
    """
    rows = [[Fraction(columns[at][k] - columns[at][0]) for at in varying] for k in range(1, len(columns[0]))]
    pivots = []
    for column in range(len(varying)):
        pivot = next((row for row in rows[len(pivots):] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        pivot = [x / pivot[column] for x in pivot]
        rows = [[x - row[column] * y for x, y in zip(row, pivot, strict=True)] for row in rows]
        rows.insert(len(pivots), pivot)
        pivots.append(column)
    found = []
    for free in range(len(varying)):
        if free not in pivots:
            found.append([(varying[free], Fraction(1)), *[(varying[at], -rows[k][free]) for k, at in enumerate(pivots) if rows[k][free]]])
    return found


def _products(columns, varying):
    """(places, product) of sizes whose product all examples have in common, as of batches of as many words: they say nothing of others."""
    found = []
    for count in (2, 3):
        for places in itertools.combinations_with_replacement(varying, count):
            products = {math.prod(values) for values in zip(*[columns[at] for at in places], strict=True)}
            if len(products) == 1:
                found.append((places, products.pop()))
    return found


def _predicted(kind, sizes, classes):
    """(a guess, its numbers for these sizes); (None, None) if there is no telling."""
    if any(kind.frames.get(one) is None for one in classes):
        return None, None
    for guess in kind.guesses:
        if guess.holds(sizes) and guess.classes.issuperset(classes):
            numbers = guess.numbers(sizes)
            if numbers is not None:
                return guess, numbers
    return None, None


def _learn(kind, sizes, classes, traced):
    """Takes in what was traced."""
    if kind.tried > PATIENCE:
        return
    if kind.first is None and not kind.examples:
        kind.first = sizes, classes, traced
        return
    try:
        if (first := kind.first) is not None:
            kind.first = None
            kind.examples.append(Example(*first))
            kind.frames = dict.fromkeys(first[1], kind.examples[0].frame)
        new = Example(sizes, classes, traced)
    except Unknown:
        kind.tried, kind.examples, kind.guesses = PATIENCE + 1, [], []
        return
    for one in classes:
        if kind.frames.setdefault(one, new.frame) != new.frame:
            kind.frames[one] = None
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
        before = [other for other in found if other.fixed == fixed and other.example.frame == new.frame]
        found = [other for other in found if other not in before]       # if there is no guess any more, it was a wrong one
        if guess is not None:
            guess.refuted = guess.refuted.union(*[other.refuted for other in before])
            guess.classes = guess.classes.union(*[other.classes for other in before]) - guess.refuted
            made.append(guess)
    return [*made, *found]


# -- what is asked ----------------------------------------------------------------------------------------------------

def named(key, inputs, kinds):
    """The text of an operation: all that its equations depend on."""
    return f"{key!r}{inputs!r}{kinds}{dtypes.get_default_dtype()}"


def outputs(text, device, infer):
    """The avals of an operation's results: predicted, if each of their extents is a size that the text names, or what ``infer()`` says."""
    name, sizes = read(text)
    kind = _KNOWN.get(name)
    guess, numbers = (None, None) if kind is None else _predicted(kind, sizes, (("in", class_of(text, sizes)),))
    if guess is None or not guess.plain:
        return infer()
    made = tuple([spec.aval(shape, dtypes._BY_NUMPY[guess.example.avals[v].dtype], device)
                  for shape, v in zip(guess.shapes(numbers), guess.example.outputs, strict=True)])
    if VERIFY:
        try:
            true = infer()
        except Exception as refused:            # whatever a function raises that does not take these sizes
            true = refused
        _compare(made, true, text)
    return made


def graph(text, results, trace):
    """An operation's equations: predicted, or those of ``trace()``, a jaxpr. ``results``: the avals of its results."""
    if store.fleeting(text):
        return flattened(trace())
    name, sizes = read(text)
    if not sizes:
        return flattened(trace())
    kind = _KNOWN.get(name)
    if kind is None:
        kind = _KNOWN[name] = _Kind()
    if (first := kind.first) is not None and first[0] == sizes:
        return flattened(first[2])
    classes = ("in", class_of(text, sizes)), ("all", class_of(text, sizes, results))
    guess, numbers = _predicted(kind, sizes, classes)
    if guess is None or guess.shapes(numbers) != [a.shape for a in results]:
        traced = trace()
        _learn(kind, sizes, classes, traced)
        return flattened(traced)
    if VERIFY:
        try:
            traced = Example(sizes, classes, trace())
            true = traced.frame, traced.numbers
        except Unknown as refused:
            true = refused
        _compare((guess.example.frame, numbers), true, text)
    return guess.example.at(numbers)


def _compare(predicted, true, text):
    if predicted != true:
        raise AssertionError(f"predicted {predicted}, but tracing gives {true}: {text}")
