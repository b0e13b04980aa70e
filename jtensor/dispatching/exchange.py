"""Another code for functions of the engine while somebody wants it, and their own again after that.

Two may want it: who is asked below autograd (`doors`), and a profiler, which is told of each call (`jtensor.profiler.watching`). Both may
come and go in any order, so that one place keeps a function's own code and says which one it has now. Owns: that. May not know: what is
asked or told, which functions these are.
"""
import inspect
import threading
import types

from ..base.functions import BEHIND, OWN, as_it_is, template
from ..tensor.calling import overriding

ASKS, TELLS = "asks", "tells"
FILE = "<jtensor asks below>"
_SOURCE = """\
def outer():
    {bound} = None
    def asks(*args, **kwargs):
        entry = "<entry>"
        {named}
        return entry(*args, **kwargs)
"""
_LOCK = threading.RLock()
_OPEN = {ASKS: 0, TELLS: 0}              # how many want each
_ROWS = {}                               # {function, without what may be put above it: its `Row`}


class Row:
    """One function: ``own``, a copy with its own code; ``entries``: {who wants another code: what is called in its place}; ``codes``: the
    codes that call these; ``exchanged``: the functions that were given one of them."""

    __slots__ = ("function", "own", "code", "signature", "entries", "codes", "exchanged")

    def __init__(self, function):
        self.function, self.own, self.code, self.entries, self.codes = function, as_it_is(function), function.__code__, {}, {}
        self.signature, self.exchanged = inspect.signature(self.own), set()

    def beneath(self, *args, **kwargs):
        """Calls what a profiler has found: who is asked, where somebody wants that, else the function itself."""
        entry = self.entries.get(ASKS) if _OPEN[ASKS] else None
        return self.own(*args, **kwargs) if entry is None else entry(*args, **kwargs)

    def _code(self, who):
        found = self.codes.get(who)
        if found is None:
            made = template(_SOURCE, len(self.code.co_freevars), FILE)
            constants = tuple([self.entries[who] if const == "<entry>" else const for const in made.co_consts])
            found = self.codes[who] = made.replace(co_consts=constants, co_name=self.code.co_name, co_qualname=self.code.co_qualname)
        return found

    def settle(self):
        """Gives the function the code that is wanted now."""
        who = next((one for one in (TELLS, ASKS) if _OPEN[one] and one in self.entries), None)
        function, own = innermost(self.function), self.own          # another layer may have been put above it since
        if who is not None:
            OWN[function], function.__signature__ = own, self.signature
            self.exchanged.add(function)
            function.__code__ = self._code(who)                     # first, so that it is whole whoever calls it meanwhile
            if own.__defaults__ or own.__kwdefaults__:
                function.__defaults__ = function.__kwdefaults__ = None
        elif self.exchanged:
            for one in self.exchanged:
                OWN.pop(one, None)
            self.exchanged.clear()
            function.__dict__.pop("__signature__", None)
            function.__dict__.update(own.__dict__)
            if own.__defaults__ or own.__kwdefaults__:
                function.__defaults__, function.__kwdefaults__ = own.__defaults__, own.__kwdefaults__
            function.__code__ = own.__code__


def innermost(function):
    """The function that does the work: before it others may ask, or cast (`amp.casting`), which autograd's operators come after."""
    while True:
        behind = BEHIND.get(function) or overriding.beneath(function)
        if behind is function:
            return function
        function = behind


def enter(who, function, entry):
    """Says what is called in a function's place while ``who`` wants it: ``entry(row)``. The first that says so for a function counts."""
    if isinstance(function, types.FunctionType):
        with _LOCK:
            row = _row(function)
            if who not in row.entries:
                row.entries[who] = entry(row)
                if _OPEN[who]:
                    row.settle()


def _row(function):
    """The row of a function, which was made when it was the innermost, and may have got a layer above it since."""
    while function not in _ROWS:
        behind = BEHIND.get(function) or overriding.beneath(function)
        if behind is function:
            _ROWS[function] = Row(function)
        function = behind
    return _ROWS[function]


def open_for(who):
    """From here on the functions have the code that ``who`` wants."""
    with _LOCK:
        _OPEN[who] += 1
        if _OPEN[who] == 1:
            _settle(who)


def close_for(who):
    """They have not any longer, if nobody else wants the same."""
    with _LOCK:
        _OPEN[who] -= 1
        if not _OPEN[who]:
            _settle(who)


def _settle(who):
    for row in list(_ROWS.values()):
        if who in row.entries:
            row.settle()
