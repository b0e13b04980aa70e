"""A function that asks: what it hands to whom, and the code that is put in front of its own.

Owns: `Entry`, PyTorch's account of one function, and `overridable`, which exchanges the function's code. Who answers, and whether, is in
`overriding`.

The rooms of the engine are PyTorch's C++: what they call goes past all this. ``nn`` and its like are written in the public interface and
are treated as a user's program.
"""
import functools
import inspect
import sys

from ...base import sites
from ...base.bounded import MANY, Bounded
from ...base.functions import as_it_is, template
from ..core import LAYOUTS, Tensor
from .overriding import ALL_OFF, ENTRIES, FILE, FUNCTIONS, MODES, ON, PLAIN, STATE, TITLES, ask, handle, join, overrides, spread
from .taking import ELSEWHERE, WITHOUT, signatures, takes

# -- a function that asks -----------------------------------------------------------------------------------------------


NOBODY = object()


class Entry:
    """An overridable function.

    ``public``: what the classes are given as ``func``. ``key``: its name among the signatures. ``title``: its name in the error that nobody
    answered. ``python``: PyTorch's is written in Python. Then ``first`` is how many of its arguments are handed on by position (None: those
    that are required), and ``unsaid`` those that are named only if they were given. ``relevant``: how many are asked (None: all).
    ``one_list``: what it takes as many arguments may come as one list, and is handed on as many.
    ``operator``: one of Python's operators, which leaves what nobody takes to the other operand. ``modes_only``: no argument overrides it.
    """

    def __init__(self, public, key, title, *, python=False, first=None, unsaid=(), relevant=None, operator=False, modes_only=False,
                 one_list=False):
        self.public, self.key, self.title, self.python, self.first, self.relevant = public, key, title, python, first, relevant
        self.operator, self.modes_only, self.method = operator, modes_only, key is not None and key.startswith("Tensor.")
        self.unsaid, self.one_list, self.original = unsaid, one_list, None
        TITLES.setdefault(public, title)
        self.counted, self.bound = {}, {}

    def answer(self, args, kwargs):
        """What the classes and modes make of a call, else, of a sparse tensor's, its layout; `NOBODY` where none is to be asked."""
        found = self._of_classes(args, kwargs, sys._getframe(1).f_back)
        if found is NOBODY and LAYOUTS:
            for one in spread((*args, *kwargs.values())):
                layout = LAYOUTS.get(one.__class__)
                if layout is not None:
                    return layout.answer(self, args, kwargs, NOBODY)
        return found

    def _of_classes(self, args, kwargs, caller):
        if STATE.off is ALL_OFF or is_engine(caller) or self.method and not (args and isinstance(args[0], Tensor)):
            return NOBODY
        asked = self._overriding(args, kwargs) if STATE.off is ON and not self.modes_only else []
        if not asked and not STATE.modes or not self.python and not self._bound(len(args) - self.method, _named(kwargs)):
            return NOBODY
        try:
            return self._ask_as_python(args, kwargs) if self.python else self._ask(asked, args, kwargs)
        except TypeError:
            if self.operator:
                return NotImplemented
            raise

    @functools.cached_property
    def _form(self):
        return inspect.signature(self.original)

    def _overriding(self, args, kwargs):
        """The arguments whose classes are asked."""
        asked = []
        for named in (enumerate(args[:self.relevant]), kwargs.items() if self.relevant is None else ()):
            for place, given in named:
                if isinstance(given, (list, tuple)) and not (overrides(given) and self._as_one(place, given)):
                    for one in given:
                        if overrides(one):
                            join(asked, one)
                elif overrides(given) and (self.python or not isinstance(given, Tensor) or self._counts(place)):
                    join(asked, given)
        return asked

    def _counts(self, place):
        """Whether a tensor in this place is one and no number: PyTorch asks no class where it wants a number."""
        found = self.counted.get(place)
        if found is None:
            found = self.counted[place] = self._is_tensor(place)
        return found

    def _is_tensor(self, place):
        known = signatures(self.key) if self.key is not None else None
        if known in (None, WITHOUT):
            return True
        if isinstance(place, int):
            place -= self.method
            if place < 0:
                return True
        kinds = [p for one in known for at, p in enumerate(one.parameters) if p.name == place or at == place and not p.keyword_only]
        return not kinds or any(p.number or p.kind not in ("Number", "int", "symint", "float", "bool") and not (p.kind == "ints" and p.one)
                                for p in kinds)

    def _as_one(self, place, given):
        """Whether a list whose own class overrides is asked in this place, and not what it holds: wherever PyTorch would not have taken it
        for the list of tensors or numbers that is wanted there."""
        if place == 1 and self.key in ("Tensor.__getitem__", "Tensor.__setitem__"):               # an index of several parts
            return not isinstance(given, tuple) and not any(
                one is None or one is ... or isinstance(one, (Tensor, list, tuple, slice, str)) for one in given)
        known = signatures(self.key) if self.key is not None else None
        if self.python or known in (None, WITHOUT):
            return True
        at = place - self.method if isinstance(place, int) else None
        lists = [(one, p) for one in known for n, p in enumerate(one.parameters)
                 if (p.name == place or n == at) and p.kind in ("Tensors", "ints", "floats", "numbers")]
        return not any(p.kind == "Tensors" or takes(p, given) and (at != 0 or one.positional > 1) for one, p in lists)

    def _bound(self, count, names):
        """Whether PyTorch would have bound so many arguments and these keywords; what it would not is refused, and nobody asked."""
        found = self.bound.get((count, names))
        if found is None:
            known = signatures(self.key) if self.key is not None else None
            found = self.bound[count, names] = known in (None, WITHOUT) or any(_binds(one, count, names) for one in known)
        return found

    def _ask(self, asked, args, kwargs):
        kinds = args[:1] if not asked and len(args) == 1 and self._without_arguments() else asked
        answer = ask(self.public, asked, tuple(map(type, kinds)), (args, kwargs) if kwargs else (args,))
        if answer is NotImplemented:
            raise TypeError(_nobody(self.title, asked))
        return answer

    def _without_arguments(self):
        """Of methods and properties that take nothing, modes are told the type of the tensor."""
        return self.method and (signatures(self.key) == WITHOUT or self.title.endswith("__") or self.title.endswith("_is_view"))

    def _ask_as_python(self, args, kwargs):
        """PyTorch's functions in Python name all arguments but the first ones, also those that were not given."""
        form = self._form
        try:
            bound = form.bind(*args, **kwargs)
        except TypeError:
            return NOBODY                                          # the function refuses it
        given = set(bound.arguments)
        bound.apply_defaults()
        args, kwargs = [], {}
        for at, (name, parameter) in enumerate(form.parameters.items()):
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                listed = self.one_list and len(value) == 1 and isinstance(value[0], (list, tuple)) and not overrides(value[0])
                args += value[0] if listed else value
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs.update(value)
            elif parameter.kind is not parameter.KEYWORD_ONLY and (
                    at < self.first if self.first is not None else parameter.default is parameter.empty or _required(parameter)):
                args.append(value)
            elif name not in self.unsaid or name in given:
                kwargs[name] = value
        relevant = list(spread(args if self.relevant is None else args[:self.relevant]))
        if self.relevant is None:
            relevant += [one for one in spread(kwargs.values()) if overrides(one)]
        return handle(self.public, relevant, tuple(args), kwargs)


def _named(kwargs):
    """The keywords of a call; NumPy's functions name an ``out`` that is None."""
    return tuple([name for name, value in kwargs.items() if name != "out" or value is not None])


def _binds(signature, count, names):
    known = {p.name for p in signature.parameters}
    names = {name if name in known else ELSEWHERE.get(name, name) for name in names}
    positional = [p for p in signature.parameters if not p.keyword_only]
    by_number = bool(positional) and positional[0].kind == "ints"                    # x.view(2, 3)
    return (count <= len(positional) or by_number) and names <= known and all(
        not p.required or p.name in names for p in [*positional[count:], *[p for p in signature.parameters if p.keyword_only]])


def _required(parameter):
    return repr(parameter.default) == "<required>"                 # as `guards` writes it


def _nobody(title, asked):
    mode = f"  - mode object {STATE.modes[-1]!r}\n" if STATE.modes else ""
    classes = "".join([f"  - tensor subclass {type(one)!r}\n" for one in asked])
    return (f"Multiple dispatch failed for '{title}'; all __torch_function__ handlers returned NotImplemented:\n\n{mode}{classes}\n"
            "For more information, try re-running with TORCH_LOGS=not_implemented")


# Rooms in the public interface; of this one, `default` calls what a user has called.
_PUBLIC_ROOMS = ("autograd/functional.py", "autograd/mode.py", "base/return_types.py", "nn/", "distributions/", "utils/", "func/",
                 "signal/", "overridable.py", "overrides.py", "tensor/calling/overriding.py")


class _OfEngine(Bounded):
    """{name of a file: whether it belongs to the engine}."""

    def __missing__(self, name):
        found = self[name] = sites.within(name) and not (sites.room(name) or "").startswith(_PUBLIC_ROOMS)
        return found


_of_engine = _OfEngine(MANY)


def is_engine(frame):
    """Whether a call comes from the engine's own rooms; None stands for the interpreter, which shows an uncaught error."""
    return frame is not None and _of_engine[frame.f_code.co_filename]


# -- another code for a function ----------------------------------------------------------------------------------------

_SOURCE = """\
def outer():
    {bound} = None
    def overridable(*args, **kwargs):
        original = "<original>"; plain = "<plain>"; modes = "<modes>"; answer = "<answer>"; nobody = "<nobody>"
        {named}
        if not modes:
            for one in args:
                if one.__class__ not in plain:
                    break
            else:
                if not kwargs:
                    return original(*args)
        found = answer(args, kwargs)
        return original(*args, **kwargs) if found is nobody else found
"""


def overridable(function, entry):
    """Has a function ask by an `Entry` before it does what it did; it stays the same object."""
    code = function.__code__
    ENTRIES[function] = entry
    FUNCTIONS.setdefault(entry.key, function)
    entry.original = original = as_it_is(function)
    put = {"<plain>": PLAIN, "<modes>": MODES, "<original>": original, "<answer>": entry.answer, "<nobody>": NOBODY}
    made = template(_SOURCE, len(code.co_freevars), FILE)
    constants = tuple([put.get(const, const) if isinstance(const, str) else const for const in made.co_consts])
    function.__code__ = made.replace(co_consts=constants, co_name=code.co_name, co_qualname=code.co_qualname)
    function.__defaults__ = None                           # libraries look at those of keywords; they mean nothing to such code
    function.__wrapped__ = original                       # so that `inspect.signature` shows what it showed
