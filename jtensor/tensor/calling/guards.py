"""Public functions and methods that refuse arguments as PyTorch refuses them.

Owns: the functions written out for an operator's or a composite's parameters: they take whatever Python would not bind (too many arguments,
unknown keywords, NumPy's names for PyTorch's, missing ones), and when a call fails ask `refusals` whether PyTorch would have taken it at
all. A call that succeeds pays for two empty catch-alls. May not know: what the functions do.
"""
import functools
import inspect
import sys
import types

from ...base import sites
from ...base.naming import type_name
from ...ops.families.composing import NO_KEEPDIM
from ...ops.operator import REQUIRED
from ...trace.cache.codes import PUBLIC
from ..core import Tensor
from .arguments import of_method
from .entries import PASSING_ON
from .former import modern
from .overriding import Layer, is_overridable, once_more
from .refusals import refusal
from .taking import ALSO, ELSEWHERE, by_their_names, in_plain_words, plain_numbers, signatures, whole


class _Missing:
    """Stands for a required argument that was not given."""

    def __repr__(self):
        return "<required>"


MISSING = _Missing()


class Form:
    """The parameters of a function: ``positional`` and ``named`` as (name, default), ``rest`` and ``others`` for its own catch-alls."""

    __slots__ = ("positional", "named", "rest", "others", "name", "function", "body", "behind", "asked_first", "one_list", "bools")

    def __init__(self, positional, named, rest=None, others=None):
        self.positional, self.named, self.rest, self.others = positional, named, rest, others
        self.body, self.behind, self.asked_first, self.one_list, self.bools = None, None, False, False, ()

    def given(self, caller, values, rest, named, others):
        """The arguments of a call from a frame as the user wrote them, or may have: (positional, by keyword)."""
        code = caller.f_code
        layered = is_overridable(code)
        asking = caller.f_back if layered else caller
        if asking.f_code is under_our_names.__code__:
            return list(asking.f_locals["args"]), dict(asking.f_locals["written"])
        if layered or code in PASSING_ON:
            return list(caller.f_locals["args"]), dict(caller.f_locals["kwargs"])
        args, kwargs, in_order = [], {}, True
        count, keywords = sites.written(code, caller.f_lasti)
        count = 0 if count is None or rest else count - len(keywords) + self.name.startswith("Tensor.")    # before the dot one more
        for at, ((name, default), value) in enumerate(zip(self.positional, values, strict=True)):
            if not rest and (value is MISSING or value is default and name not in keywords and at >= count):
                in_order = False
            elif in_order and name not in keywords:
                args.append(value)
            else:
                kwargs[name] = value
        if self.name.startswith("Tensor.") and 1 < len(args) == count and args[-1] is self.positional[count - 1][1]:
            args.pop()                                       # ``Tensor.std(x, False)``: the tensor is among the arguments written
        kwargs.update({name: value for (name, default), value in zip(self.named, named, strict=True)
                       if value is not MISSING and (value is not default or name in keywords)})
        kwargs.update(others)
        return [*args, *rest], {**{name: kwargs[name] for name in keywords if name in kwargs}, **kwargs}

    def of_frame(self, frame, by_name=False):
        """`given`, or `by_name`, for the frame of a function that is `written`."""
        local = frame.f_locals
        values, named = ([local[name] for name, _ in part] for part in (self.positional, self.named))
        rest, others = local[self.rest or "_rest"], local[self.others or "_others"]
        return self.by_name(values, named, others) if by_name and not rest else self.given(frame.f_back, values, rest, named, others)

    def refusal(self, args, kwargs):
        """PyTorch's refusal of a call, or None; of the call behind it, where PyTorch has a function in Python."""
        if self.behind is None:
            method = self.name.startswith("Tensor.")
            if method and args and not isinstance(args[0], Tensor) and signatures(self.name) is not None:
                return TypeError(f"descriptor '{self.name[7:]}' for 'torch._C.TensorBase' objects doesn't apply to a "
                                 f"'{type_name(type(args[0]))}' object")
            return refusal(self.name, args[method:], kwargs)
        bound = dict(self.positional) | dict(zip([name for name, _ in self.positional], args)) | dict(self.named) | kwargs
        found = self.behind(**bound)
        return None if found is None else refusal(found[0], found[1:], {})

    def by_name(self, values, named, others):
        """The same call with all but the first argument by keyword, as it may have been written where that cannot be told."""
        pairs = [*zip(self.positional, values, strict=True), *zip(self.named, named, strict=True)]
        return values[:1], {name: value for (name, default), value in pairs[1:] if value is not MISSING and value is not default} | others


def form_of(function):
    """The `Form` of a Python function, read from its code, or from the signature that one behind a door shows."""
    if "__signature__" in function.__dict__:
        return _form_shown(function.__signature__.parameters.values())
    code, defaults = function.__code__, function.__defaults__ or ()
    names, n, m = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    by_keyword, at = function.__kwdefaults__ or {}, n + m
    positional = list(zip(names[:n], (REQUIRED,) * (n - len(defaults)) + defaults, strict=True))
    rest = others = None
    if code.co_flags & 4:
        rest, at = names[at], at + 1
    if code.co_flags & 8:
        others = names[at]
    return Form(positional, [(name, by_keyword.get(name, REQUIRED)) for name in names[n:n + m]], rest, others)


def _form_shown(parameters):
    of = {kind: [(p.name, REQUIRED if p.default is p.empty else p.default) for p in parameters if p.kind == kind]
          for kind in {p.kind for p in parameters}}
    one = inspect.Parameter
    rest, others = (next(iter(of.get(kind, ())), (None,))[0] for kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD))
    return Form(of.get(one.POSITIONAL_ONLY, []) + of.get(one.POSITIONAL_OR_KEYWORD, []), of.get(one.KEYWORD_ONLY, []), rest, others)


def written(form, name, called, scope):
    """A function ``name`` of the form's parameters that ends in the expression ``called``, in which they are p0, p1, ... (by position), k0,
    k1, ... (by keyword), ``rest`` and ``others``; ``scope`` has what it names else."""
    given = form.positional + form.named
    last = max([at for at, (_, default) in enumerate(given) if default is REQUIRED], default=None)
    n, m = len(form.positional), len(form.named)
    out = next((f"k{at} is not None" for at, (parameter, _) in enumerate(form.named) if parameter == "out"), None)
    if form.others is not None and form.name.startswith("Tensor."):                  # of which none has an ``out``
        out = "'out' in others"
    code = _code(n, m, None if last is None else f"p{last}" if last < n else f"k{last - n}", form.rest is None, form.others is None, out,
                 called, form.asked_first, form.one_list, form.bools)
    names = [parameter for parameter, _ in given] + [form.rest or "_rest", form.others or "_others"]
    by_keyword = tuple([parameter for parameter, _ in form.named])
    places = tuple([f"k{at}" for at in range(m)])
    real = {places: by_keyword, **dict(zip(places, by_keyword, strict=True))}
    code = code.replace(co_name=name, co_qualname=name, co_varnames=(*names, *code.co_varnames[len(names):]),
                        co_consts=tuple([real.get(const, const) for const in code.co_consts]))
    scope.update(_m=MISSING, _odd=odd_call, _again=again, _form=form, _kinds=set(), _first=first_of_kind, _absent=NO_KEEPDIM,
                 __name__="jtensor")
    made = types.FunctionType(code, scope, name, tuple([MISSING if default is REQUIRED else default for _, default in form.positional]))
    made.__kwdefaults__ = {parameter: MISSING if default is REQUIRED else default for parameter, default in form.named}
    form.function = made
    return made


@functools.cache
def _code(n, m, last, own_rest, own_others, out, called, asked_first, one_list, bools):
    """The code of functions that have so many parameters and do alike, whatever their names are. A call with ``out`` is looked at
    first, and one whose arguments are of other classes than any before if ``asked_first``, or if one of the ``bools`` holds,
    which say that an argument is none."""
    positional, named = [f"p{at}" for at in range(n)], [f"k{at}" for at in range(m)]
    several = ["rest and (len(rest) > 1 or rest[0].__class__ is int)"] * one_list
    asked = " or ".join([f"{last} is _m"] * (last is not None) + ["rest"] * own_rest + several + ["others"] * own_others
                       + [out] * (out is not None))
    values = f"({''.join([p + ', ' for p in positional])}), rest, ({''.join([k + ', ' for k in named])}), others"
    odd = f"    if {asked}:\n        found = _odd(_form, {values})\n        if found is not _m:\n            return found\n"
    classes = f"({''.join([f'{p}.__class__, ' for p in (*positional, *named)])})"
    when = f"({' or '.join(bools)}) and " if bools and not asked_first else ""
    first = f"    if {when}{classes} not in _kinds:\n        _first(_form, _kinds, {classes})\n" if asked_first or bools else ""
    source = (f"def made({', '.join([*positional, '*rest', *named, '**others'])}):\n{odd if asked else ''}{first}"
              f"    try:\n        return {called}\n"
              f"    except Exception as error:\n        found = _again(error, _form, {values})\n        if found is not _m:\n"
              f"            return found\n        raise\n")
    scope = {}
    exec(PUBLIC.compiled(source, "<jtensor function>"), scope)
    return scope["made"].__code__


def guarded(function, name, method=False, behind=None, asked_first=False, one_list=False):
    """A composite as a public function of that name, or a method. With ``one_list``, its function wants in one argument what the method
    also takes number by number.

    ``behind(**arguments)`` is the call of PyTorch's own function in it, where it has one in Python. With ``asked_first``, and then too,
    classes of arguments that were not seen before are asked about before the call, and not only when it makes something new.
    """
    form = form_of(function)
    form.body, form.behind, form.asked_first, form.one_list = function, behind, asked_first or behind is not None, one_list
    if method:                                       # methods of PyTorch's have no ``out``
        form.named = [(n, d) for n, d in form.named if n != "out"]
    form.name = "Tensor." + name if method else name
    form.bools = tuple([f"{'' if default.__class__ is bool else f'{letter}{at} is not _absent and '}{letter}{at} is not False and "
                        f"{letter}{at} is not True" for letter, part in (("p", form.positional), ("k", form.named))
                        for at, (_, default) in enumerate(part) if default.__class__ is bool or default is NO_KEEPDIM])
    places = [f"p{at}" for at in range(len(form.positional))] + ["*rest"] * bool(form.rest)
    named = [f"k{at}=k{at}" for at in range(len(form.named))]
    scope = {"_function": function, **{f"_k{at}": default for at, (_, default) in enumerate(form.named)}}
    called = f"_function({', '.join(places + named + ['**others'] * bool(form.others))})"
    if named and form.rest and not form.others and REQUIRED not in scope.values():              # keywords beside `*rest` cost a dict
        alone = " and ".join([f"k{at} is _k{at}" for at in range(len(named))])
        called = f"_function({', '.join(places)}) if {alone} else {called}"
    made = written(form, name, called, scope)
    made.__doc__, made.__wrapped__ = function.__doc__, function
    return made


def renamed(function, name):
    """A public function under its second name, which its refusals call it by."""
    form, old = Form.__new__(Form), function.__globals__.get("_form")
    if old is None:
        return function
    form.positional, form.named, form.rest, form.others = old.positional, old.named, old.rest, old.others
    form.body, form.behind, form.asked_first, form.one_list, form.bools = old.body, old.behind, old.asked_first, old.one_list, old.bools
    form.name = "Tensor." + name if old.name.startswith("Tensor.") else name
    code = function.__code__.replace(co_name=name, co_qualname=name)
    form.function = made = types.FunctionType(code, {**function.__globals__, "_form": form}, name, function.__defaults__)
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    return made


def again(error, form, values, rest, named, others):
    """Raises PyTorch's refusal of a call that has failed, if it would have refused it; and words of methods count from after ``self``.

    The first call with an object whose class answers for it (`overriding`) has failed, too: what that answers, else `MISSING`. So has one
    with ``dtype=float``, an int of NumPy's, or a tensor for a number: it is made again with what these stand for.
    """
    args, kwargs = form.given(sys._getframe(2), values, rest, named, others)
    if Layer.put_in is not None and sites.by_user(3):
        answer = once_more(form.name, args, kwargs)
        if answer is not NotImplemented:
            return answer
    if getattr(error, "final", False):                                      # PyTorch's words already
        return MISSING
    if form.behind is not None and type(error) is ValueError and _raised_in(error, "nn/functional/"):        # before that call
        return MISSING
    method = form.name.startswith("Tensor.")
    refused = form.refusal(args, kwargs)
    if refused is not None and values and not rest:
        named_args, by_keyword = form.by_name(values, named, others)
        if form.refusal(named_args, by_keyword) is None:     # of ``f(**d)`` the code does not tell what was given by position
            args, kwargs, refused = list(named_args), by_keyword, None
    if refused is None and method and isinstance(error, TypeError) and hasattr(error, "text"):
        refused = of_method(error, form.name[7:])
    if refused is not None:
        raise refused from None
    given = [*zip([name for name, _ in form.positional], args), *enumerate(args[len(form.positional):]), *kwargs.items()]
    plain = [in_plain_words(name, value) for name, value in given]
    if form.behind is not None:                    # PyTorch's function in Python, which hands its lists on
        plain = [whole(value) if isinstance(value, (list, tuple)) else value for value in plain]
    if any(a is not b for a, (_, b) in zip(plain, given, strict=True)):
        return form.function(*plain[:len(args)], **dict(zip(kwargs, plain[len(args):], strict=True)))
    numbers = plain_numbers(form.name, args[method:], kwargs) if form.behind is None else None
    return MISSING if numbers is None else form.function(*args[:method], *numbers[0], **numbers[1])


def first_of_kind(form, kinds, classes):
    """Refuses a call whose arguments are of classes that were not seen before, if PyTorch does; remembers them if it does not."""
    frame = sys._getframe(1)
    refused = form.refusal(*form.of_frame(frame))
    if refused is not None and form.refusal(*form.of_frame(frame, by_name=True)) is not None:    # of ``f(**d)`` the code does not tell
        raise refused
    kinds.add(classes)


def _raised_in(error, folder):
    """Whether an error was raised by a line in a folder of this package."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    return (sites.room(at.tb_frame.f_code.co_filename) or "").startswith(folder)


# What NumPy asks ``all`` when it is given a tensor: np.all(t). PyTorch refuses it, as the other methods refuse their ``out``; chex's
# assertions need it.
ASKED_BY_NUMPY = {"axis": None, "out": None}


def under_our_names(function, args, kwargs, written):
    """A call whose keywords have other names here than PyTorch's: a refusal takes those that are ``written`` from this frame."""
    return function(*args, **kwargs)


# Written in Python there, where nobody knows NumPy's names for their parameters.
_WITHOUT_NUMPYS_NAMES = frozenset("norm split stft istft tensordot unique unique_consecutive cdist".split())


def _in_pythons_words(form, args, values):
    """What Python says of too many arguments, and of those that are missing."""
    most, least = len(form.positional), sum(default is REQUIRED for _, default in form.positional)
    if len(args) > most and not form.rest:
        raise TypeError(f"{form.name}() takes from {least} to {most} positional arguments but {len(args)} were given")
    lacking = [name for (name, default), value in zip(form.positional, values, strict=True) if default is REQUIRED and value is MISSING]
    if lacking:
        listed = " and ".join([f"'{name}'" for name in lacking])
        raise TypeError(f"{form.name}() missing {len(lacking)} required positional argument{'s' * (len(lacking) > 1)}: {listed}")


def _our_name(form, key, names, kwargs):
    """What a parameter is called here that PyTorch, or NumPy, calls otherwise."""
    shown = form.name.removeprefix("Tensor.")
    if key in ALSO.get(shown, ()):
        return ALSO[shown][key]
    numpys = ELSEWHERE.get(key)
    return numpys if numpys in names and numpys not in kwargs and shown not in _WITHOUT_NUMPYS_NAMES else key


def odd_call(form, values, rest, named, others):
    """A call that Python would not bind (under NumPy's names, or to be refused) or one with ``out``; `MISSING`: it is in order."""
    args, kwargs = form.given(sys._getframe(2), values, rest, named, others)
    if form.behind is not None:                              # bound by Python, there as here
        return form.body(*args, **kwargs)
    if others == ASKED_BY_NUMPY and form.name == "Tensor.all" and len(args) == 1:
        return form.function(*args)
    names = [name for name, _ in form.positional + form.named]
    ours = {}
    for key, value in kwargs.items():
        ours[_our_name(form, key, names[len(args):], kwargs) if key in others else key] = value
    if len(ours) == len(kwargs) and ours.keys() != kwargs.keys():
        return under_our_names(form.function, args, ours, kwargs)
    method = form.name.startswith("Tensor.")
    if rest and (today := modern(form.name, args, kwargs)):
        return form.function(*today[0], **today[1])
    refused = refusal(form.name, args[method:], kwargs)
    if refused is not None:
        if not rest and values:
            args, kwargs = form.by_name(values, named, others)
        if rest or not values or refusal(form.name, args[method:], kwargs) is not None:
            raise refused
    if rest and not form.rest and refused is None and (told := by_their_names(form.name, args[method:], kwargs)) is not None:
        return form.function(*args[:1], **told)              # x.squeeze(0, 1), x.subtract(2, 3): more by position than Python takes
    if form.rest and not rest and len(others) == 1 and isinstance(sizes := next(iter(others.values())), (tuple, list)):
        kwargs.pop(next(iter(others)))                       # x.view(size=(2, 3)): numbers that are mostly written one by one
        before = [kwargs.pop(name) for name, _ in form.positional[len(args):] if name in kwargs]
        return form.function(*args, *before, sizes, **kwargs)
    if not any(value is MISSING for value in (*values, *named)) and (form.rest or not rest) and (form.others or not others):
        return MISSING
    shown, positional = form.name.removeprefix("Tensor."), len(form.positional) - method
    if shown in _WITHOUT_NUMPYS_NAMES and not (others and method):
        _in_pythons_words(form, args, values)
    if rest and not form.rest:
        raise TypeError(f"{shown}() takes {positional} positional argument{'' if positional == 1 else 's'} but {len(args) - method} "
                        f"{'was' if len(args) - method == 1 else 'were'} given")
    unknown = [key for key in kwargs if key not in names]
    if unknown and shown in _WITHOUT_NUMPYS_NAMES:
        shown = form.name
    if unknown:
        raise TypeError(f"{shown}() got an unexpected keyword argument '{unknown[0]}'")
    lacking = [name for (name, default), value in zip(form.positional, values, strict=True) if default is REQUIRED and value is MISSING]
    raise TypeError(f"{shown}() missing {len(lacking)} required positional argument{'s' if len(lacking) == 1 else ''}: "
                    + ", ".join([f'"{name}"' for name in lacking]))
