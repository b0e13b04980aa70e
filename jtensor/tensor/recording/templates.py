"""Source text of the functions that are written out at run time: what `recorders`, `writers`, `rehearsed` and `chains` say alike.

Such a function takes what it is given to nodes on the tape with no loop and no general rule, for its text follows from an operator's
signature, or from backwards that were watched. Owns: the letters, the sentences that several kinds of function use (how a number gets on
the tape, how a Value, a Storage and a Tensor are made), what is said of an operator's `Signature`, and the names that every text may use.
May not know: what else a function asks and does, and who takes the calls that are not ordinary (``general``).

The letters, each with its parameter's number: ``a`` the argument, ``d`` its default, ``k`` what it is (a part of the key in the trie),
``v`` its Value, ``p`` where that is on the tape, ``n`` whether it needs a gradient.
No more than three names are assigned at once: for four, Python makes a tuple.
"""
import textwrap
import weakref

from ...ops.operator import Number, OptTensor, Static, TensorOrNumber, Tensors
from ...storage.cell import Storage
from ...trace import tape
from ...trace.tape import LOCAL, TRIE, Value, slot
from ..calling.arguments import PLAIN, identity
from ..core import Tensor
from ..values import read

NAMES = {
    "LOCAL": LOCAL, "PLAIN": PLAIN, "Storage": Storage, "TRIE": TRIE, "Tensor": Tensor, "Value": Value, "identity": identity,
    "new_tensor": object.__new__, "read": read, "reference": weakref.ref,
    "slot": slot, "tape": tape,
}


class _At(dict):
    """{where a number lies among those of its kind: what a node says that takes it}."""

    def __init__(self, kind):
        self.kind = kind

    def __missing__(self, at):
        found = self[at] = ((self.kind, at),)
        return found


NAMES.update(floats_at=_At("f"), integers_at=_At("i"))


def indent(text, by=4):
    """A text further to the right."""
    return textwrap.indent(text, " " * by)


# -- arguments --------------------------------------------------------------------------------------------------------

OTHERWISE = """\
    else:
        return general({args})
"""
IS_NUMBER = "k{i} is float or k{i} is int and -0x8000000000000000 <= a{i} < 0x8000000000000000"
_STATIC = """\
    k{i} = a{i} if a{i}.__class__ in PLAIN else identity(a{i})
"""
_NUMBER = """\
    k{i} = a{i}.__class__
    if not (""" + IS_NUMBER + """):
        return general({args})
"""
_DEFAULTED_NUMBER = """\
    if a{i} is d{i}:
        k{i} = None
    else:
        k{i} = a{i}.__class__
        if not (""" + IS_NUMBER + """):
            return general({args})
"""
_PUT_NUMBER = """\
    if {given}:
        if k{i} is float:
            places += floats_at[len(segment.floats)]
            segment.floats.append(a{i})
            numbers += a{i},
        elif k{i} is int:
            places += integers_at[len(segment.integers)]
            segment.integers.append(a{i})
            numbers += a{i},
"""
FIND = """\
    state = segment.state.children.get(key)
    if state is None:
        state = missed(segment, key, operator, ({args},), {positions})
        if state is None:
            return general({args})
"""
_FITTING = """\
    if k{i} is float or k{i} is int:
        least, most = {held}
        if not least <= a{i} <= most:
            return general({args})
"""

# -- the tape, and what is made of it ---------------------------------------------------------------------------------

POSITION = "{v}.position if {v}.segment is segment else segment.slots.get(id({v})) or slot(segment, {v})"
_POSITIONS = {
    "": POSITION.replace("{v}", "v{i}"),
    "?": "None if v{i} is None else " + POSITION.replace("{v}", "v{i}"),
    "*": "tuple([" + POSITION.replace("{v}", "v") + " for v in v{i}])",
}
NEW = """\
    {name} = Value()
    {name}.array, {name}.segment, {name}.aval = None, segment, {aval}
"""
VALUE = NEW + """\
    {name}.position = {position}
"""
# A signal's handler that records as well can run after a call or an allocation: after all of them the tape grows by a node at once.
PUT = """\
    node = ({plan}, {positions}, {places}, reference({name}))
    {name}.position = count = segment.count
    segment.count, segment.state = count + 1, {state}
    segment.nodes.append(node)
"""
STORAGE = """\
    storage = Storage()
    storage.value, storage.spec, storage.layout = {value}, {spec}, {spec}
    storage.version = {version}
    storage.host = storage._address = storage.site = None
"""
TENSOR = """\
    {name} = new_tensor(Tensor)
    {name}._storage, {name}._spec, {name}._counter = {storage}, {spec}, {counter}
    {name}._offset = {offset}
    {name}._cached = {name}._info = {name}._auto = {name}._edge = None
    {name}._requires_grad = False
"""


# -- signatures -------------------------------------------------------------------------------------------------------


def kinds_of(operator):
    """What a text depends on: the kind of each parameter, and what its default is ("": there is none)."""
    return tuple([(p.kind, "" if p.required else "None" if p.default is None else "given") for p in operator.parameters])


def fitted_of(operator):
    """The numbers of the parameters that a type must hold, each with whether it is their negative that it must."""
    return tuple([(i, operator.fits[p.name] == "negated") for i, p in enumerate(operator.parameters) if p.name in operator.fits])


def defaults_of(operator):
    """The names that stand for the defaults."""
    return {f"d{i}": p.default for i, p in enumerate(operator.parameters)}


class Signature:
    """What a text says of an operator's parameters.

    ``arrays``: number, kind and form of those that are tensors; "*" is a list of them, "?" one that may be absent. ``words``: the texts for
    all of them, by the names that templates use. The first ``known`` parameters have their ``k`` and ``p`` already, and are tensors.
    ``fitted``: what `fitted_of` says; a recorder knows that from the plan, a writer from the target.
    """

    def __init__(self, kinds, known=0, fitted=()):
        self.optional = {i for i, (_, default) in enumerate(kinds) if default == "None"}
        self.args = ", ".join([f"a{i}" for i in range(len(kinds))])
        self.arrays = [(i, kinds[i][0], "") for i in range(known)]
        described, placed, put, key = [], [], [], []
        for i, (kind, default) in list(enumerate(kinds))[known:]:
            if kind is Static:
                described.append(self.said(_STATIC, i))
            elif kind is Number:
                described.append(self.said(_DEFAULTED_NUMBER if default else _NUMBER, i))
                put.append(_PUT_NUMBER.format(i=i, given=f"k{i} is not None"))
            else:
                if kind is TensorOrNumber:
                    put.append(_PUT_NUMBER.format(i=i, given=f"v{i} is None"))
                form = "*" if kind is Tensors else "?" if kind in (OptTensor, TensorOrNumber) else ""
                self.arrays.append((i, kind, form))
                placed.append(f"    p{i} = {_POSITIONS[form].format(i=i)}\n")
                key.append(f", p{i}")
            key.append(f", k{i}")
        held = "bounds(k0.dtype, {})" if known else "state.plan.least, state.plan.most"
        self.words = {
            "fitting": "".join([_FITTING.format(i=i, args=self.args, held=held.format(negated)) for i, negated in fitted]),
            "args": self.args, "parameters": ", ".join([f"a{i}=d{i}" if default else f"a{i}" for i, (_, default) in enumerate(kinds)]),
            "described": "".join(described), "placed": "".join(placed), "key": "".join(key),
            "put": "".join(["    places = numbers = ()\n", *put] if put else ()),
            "places": "places" if put else "()", "numbers": "numbers" if put else "()",
            "positions": self._present("p"), "tensors": self._present("a"), "flags": self._present("n"),
            "which": "(" + "".join([f"{form.strip('?')}n{i}, " for i, _, form in self.arrays]) + "None)",
            "there": "(" + "".join([{"": "True, ", "?": f"v{i} is not None, ", "*": f"*[True] * len(n{i}), "}[form]
                                    for i, _, form in self.arrays]) + ")",
            "all": ", ".join([f"{form.strip('?')}a{i}" for i, _, form in self.arrays]),
            "any": " or ".join([f"any(n{i})" if form == "*" else f"n{i}" for i, _, form in self.arrays]),
        }

    def said(self, template, i):
        """A sentence of one parameter."""
        return template.format(i=i, args=self.args, or_none=f" or a{i} is None" if i in self.optional else "")

    def _present(self, letter):
        """The text of a tuple of all arrays' ``letter``, without those that are absent."""
        arrays = [(i, form) for i, _, form in self.arrays]
        optional = [i for i, form in arrays if form == "?"]
        if len(optional) > 2:
            listed = ", ".join([f"({letter}{i} if v{i} is not None else None)" if form == "?" else f"{form}{letter}{i}"
                                for i, form in arrays])
            return f"tuple([x for x in ({listed},) if x is not None])"

        def text(absent):
            return "(" + "".join([f"{form.strip('?')}{letter}{i}, " for i, form in arrays if i not in absent]) + ")"
        choices = text(())
        for absent in [(i,) for i in optional] + ([tuple(optional)] if len(optional) == 2 else []):
            choices = f"{text(absent)} if {' and '.join([f'v{i} is None' for i in absent])} else {choices}"
        return choices
