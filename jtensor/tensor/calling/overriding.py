"""``__torch_function__``: how a public function asks the classes of its arguments, and the modes, before it does anything.

A process in which no class overrides and no mode was entered pays nothing for this: the functions are as they were written. The first
class, or mode, has `jtensor.overridable` give each public function another ``__code__`` (`asking`), which looks at the arguments and
then goes on with the old one. The function stays the same object, so that ``func is torch.add`` holds for whoever imported it before.

Owns: the state, who is asked, in which order, what is said when nobody answers, the default of Tensor's subclasses. May not know: how a
function is made to ask (`asking`), which functions there are (`jtensor.overridable`), and what they do.
"""
import functools
import sys
import threading
import types
import warnings

from ...base import sites
from ..core import LAYOUTS, Tensor

# -- what is on ---------------------------------------------------------------------------------------------------------

ON, NO_SUBCLASSES, ALL_OFF = range(3)


class _State(threading.local):
    """Of a thread: what is switched off, and the modes from the outermost to the innermost."""

    off = ON

    def __init__(self):
        self.modes = []


class _Modes(list):
    """A list among the constants of a code, which can be hashed."""

    __hash__ = object.__hash__


class _Kinds(set):
    """A set of that kind."""

    __hash__ = object.__hash__


STATE = _State()
MODES = _Modes()                         # the modes entered in any thread: where there is none, nobody looks for this thread's
# Types that override nothing, asked by class: those with which calls are made all the time.
PLAIN = _Kinds((Tensor, int, float, bool, complex, str, bytes, type(None), type(...), slice, dict, set))
ENTRIES = {}                             # {function: its Entry}
FUNCTIONS = {}                           # {key of an Entry: the function}


class switched:
    """Context manager: ``__torch_function__`` of subclasses, or all of it, is off in this thread."""

    __slots__ = ("to", "before")

    def __init__(self, to):
        self.to = to

    def __enter__(self):
        self.before, STATE.off = STATE.off, max(self.to, STATE.off)

    def __exit__(self, *exc):
        STATE.off = self.before


class _Disabled:
    """Like PyTorch's, which is written in C, it does not become a method of what it is looked up in."""

    __name__ = __qualname__ = "_disabled_torch_function_impl"

    def __call__(self, func, types, args=(), kwargs=None, /):
        with switched(NO_SUBCLASSES):
            return func(*args, **(kwargs or {}))

    def __repr__(self):
        return "<built-in function _disabled_torch_function_impl>"

    def __reduce__(self):
        return self.__name__


disabled = _disabled_torch_function_impl = _Disabled()
"""The ``__torch_function__`` of a class that overrides nothing, such as `nn.Parameter`: the function itself."""


class Layer:
    """The codes that ask, which are put in once, by what `namespace` has put here."""

    put_in = None


def install():
    """Has the public functions ask from here on."""
    put_in, Layer.put_in = Layer.put_in, None                 # once; and what it imports may ask for it again
    if put_in is not None:
        put_in()


# -- who is asked -------------------------------------------------------------------------------------------------------


def overrides(given):
    """Whether an argument's class is to be asked."""
    kind = type(given)
    if kind in PLAIN or kind in LAYOUTS:
        return False
    handler = getattr(given, "__torch_function__", None)
    if handler is disabled or handler is not None and _is_of_pytorch(kind):
        PLAIN.add(kind)
        return False
    return handler is not None and not isinstance(given, (type, types.ModuleType))


def _is_of_pytorch(kind):
    """Whether these are tensors of PyTorch itself, which is loaded beside: what they answer for a function is to call it again."""
    theirs = getattr(sys.modules.get("torch"), "Tensor", Tensor)
    return theirs is not Tensor and isinstance(theirs, type) and issubclass(kind, theirs)


def join(asked, given):
    """Adds an argument to those that are asked: one of each class, a subclass before its parents, else in order."""
    kind = type(given)
    for one in asked:
        if type(one) is kind:
            return
    at = next((at for at, one in enumerate(asked) if issubclass(kind, type(one))), len(asked))
    asked.insert(at, given)


def spread(given):
    """Arguments with what the lists among them hold, but for lists of a class that overrides."""
    for one in given:
        if isinstance(one, (list, tuple)) and not overrides(one):
            yield from one
        else:
            yield one


def asked_of(relevant):
    """The arguments that PyTorch's functions in Python ask: all with a ``__torch_function__``, plain tensors too."""
    asked = []
    if STATE.off is not ON:
        return asked
    for one in relevant:
        handler = getattr(type(one), "__torch_function__", None)
        if handler is not None and handler is not disabled and not _is_of_pytorch(type(one)):
            join(asked, one)
    return asked


def any_overrides(relevant):
    """Whether a call with these arguments would be overridden, by a class or by a mode."""
    if STATE.off is ALL_OFF:
        return False
    return bool(STATE.modes) or STATE.off is ON and any(overrides(one) for one in relevant)


def unforeseen(dunder, self, other):
    """What an operator answers for an operand that it does not know: NotImplemented, but for the first operand of all that overrides."""
    if Layer.put_in is None or not overrides(other):
        return NotImplemented
    install()
    return getattr(Tensor, dunder)(self, other)


def once_more(key, args, kwargs):
    """A call that has failed, of a function that did not ask as yet; NotImplemented where none of its arguments overrides."""
    if Layer.put_in is None or not any(overrides(one) for one in spread((*args, *kwargs.values()))):
        return NotImplemented
    install()
    return FUNCTIONS[key](*args, **kwargs) if key in FUNCTIONS else NotImplemented


# -- asking -------------------------------------------------------------------------------------------------------------


class innermost:
    """Context manager: the innermost of these modes is out while it is asked, and is what the context gives."""

    __slots__ = ("modes", "mode")

    def __init__(self, modes):
        self.modes = modes

    def __enter__(self):
        self.mode = self.modes.pop()
        return self.mode

    def __exit__(self, *exc):
        self.modes.append(self.mode)


def handler_of(one, python):
    """What a tensor's class answers by; warns where it is a method of the tensor, which PyTorch's C++ and its Python say differently."""
    handler = one.__torch_function__
    if getattr(handler, "__self__", None) is one:
        if python:
            warnings.warn(f"Defining your `__torch_function__ {_PLAIN}", DeprecationWarning, stacklevel=3)
        else:
            sites.warn_once(f"Defining your `__torch_function__` {_PLAIN}")
    return handler


_PLAIN = "as a plain method is deprecated and will be an error in future, please define it as a classmethod."


def ask(public, asked, kinds, given, python=False):
    """What the innermost mode or the first of the classes answers that does not answer NotImplemented; else NotImplemented."""
    if STATE.modes:
        with innermost(STATE.modes) as mode:
            handler = mode.__torch_function__
            if getattr(handler, "__self__", None) is type(mode):
                raise RuntimeError("Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain "
                                   "method")
            answer = handler(public, kinds, *given)
        if answer is not NotImplemented:
            return answer
    for one in asked:
        answer = handler_of(one, python)(public, kinds, *given)
        if answer is not NotImplemented:
            return answer
    return NotImplemented


TITLES = {}                              # {function: its name in the errors that nobody answered}


def handle(public, relevant, args, kwargs):
    """PyTorch's `handle_torch_function`, by which its functions in Python ask. ``TypeError`` where nobody answers."""
    asked = asked_of(relevant)
    answer = ask(public, asked, tuple(map(type, asked)), (args, kwargs), python=True)
    if answer is NotImplemented:
        mode = f" nor in mode {STATE.modes[-1]}" if STATE.modes else ""
        title = TITLES.get(public) or f"{public.__module__}.{public.__name__}"
        raise TypeError(f"no implementation found for '{title}' on types that implement __torch_function__: "
                        f"{[type(one) for one in asked]}{mode}")
    return answer


def default(cls, func, types, args=(), kwargs=None):
    """`Tensor.__torch_function__`: the function as it is, and of the results that are tensors ones of the class ``cls``.

    ``TypeError`` of a function of PyTorch itself, which asks again when it is called.
    """
    if func not in ENTRIES and "torch" in sys.modules and _is_pytorchs(func):
        raise TypeError(f"{getattr(func, '__name__', func)}(): a function of PyTorch does not take tensors of jtensor; "
                        "torch.from_numpy(t.numpy()) and torch.from_dlpack(t) take them over")
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with switched(NO_SUBCLASSES):
        made = func(*args, **(kwargs or {}))
        return made if func in nowrap() else converted(made, cls)


def _is_pytorchs(func):
    """Whether a function is of PyTorch itself, which is loaded beside."""
    if getattr(sys.modules["torch"], "Tensor", Tensor) is Tensor:                   # it is this library
        return False
    kind = type(func)
    if kind.__module__.partition(".")[0] == "torch":        # an operator: classes here say that they are PyTorch's, too
        return getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    if kind is types.FunctionType:
        home = func.__globals__.get("__name__")
    else:
        home = getattr(func, "__objclass__", None) or getattr(getattr(func, "__self__", None), "__objclass__", func)
        home = getattr(home, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] == "torch"


def converted(made, cls):
    """A result with its tensors as ones of a subclass."""
    if cls is Tensor:
        return made
    if isinstance(made, Tensor) and not isinstance(made, cls):
        return made.as_subclass(cls)
    if isinstance(made, (tuple, list)):
        return type(made)([converted(one, cls) for one in made])
    return made


@functools.cache
def nowrap():
    """The properties that subclasses answer as they are."""
    return {Tensor._base.__get__, Tensor.grad.__get__, Tensor._grad.__get__}


def beneath(function):
    """What a function does once nobody has been asked: itself where it does not ask."""
    return ENTRIES[function].original if function in ENTRIES else function


# The file of the codes that ask. Python's warnings pass over frames of a file with these two words in its name: they name the line that has
# called the function.
FILE = "<jtensor override, importlib _bootstrap>"


def is_overridable(code):
    """Whether a frame's code is what `overridable` puts in front of a function: ``args`` and ``kwargs`` are the call's."""
    return code.co_filename == FILE
