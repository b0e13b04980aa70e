"""``torch.overrides``: classes and modes that answer for PyTorch's functions (``__torch_function__``).

How a function asks is in `tensor.calling.overriding`, which functions there are in `jtensor.overridable`. Here is what users call.
"""
import functools
import inspect

import jtensor

from ._ignored import functions as _ignored
from .base.errors import missing
from .tensor.calling import overriding
from .tensor.core import Tensor

__all__ = ["get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
           "resolve_name", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch",
           "redispatch_function"]

# -- asking -------------------------------------------------------------------------------------------------------------


def has_torch_function(relevant_args, /):
    """Whether an argument's class, or a mode, overrides what is called with these arguments.

    >>> import jtensor as torch
    >>> torch.overrides.has_torch_function((torch.ones(2), 3))
    False
    """
    if not hasattr(relevant_args, "__iter__"):
        raise TypeError("expected a sequence")
    found = overriding.any_overrides(relevant_args)
    if found:
        overriding.install()
    return found


def has_torch_function_unary(relevant_arg, /):
    """`has_torch_function` of one argument."""
    return has_torch_function((relevant_arg,))


def has_torch_function_variadic(*relevant_args):
    """`has_torch_function` of the arguments themselves."""
    return has_torch_function(relevant_args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What a function written in Python asks first: the answer of the modes and of the arguments' classes, in PyTorch's order.

    ``public_api``: the function that they are given; ``relevant_args``: the arguments that are asked; the others are the call's.
    ``TypeError`` where all of them answer NotImplemented.
    """
    return overriding.handle(public_api, relevant_args, args, kwargs)


def wrap_torch_function(dispatcher):
    """A decorator that has a function ask. ``dispatcher``: takes the function's arguments, answers those that are asked."""
    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)
        return wrapped
    return inner


def is_tensor_like(inp):
    """Whether something is a Tensor, or of a class with ``__torch_function__``.

    >>> import jtensor as torch
    >>> torch.overrides.is_tensor_like(torch.ones(2)), torch.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")

# -- modes --------------------------------------------------------------------------------------------------------------


class TorchFunctionMode:
    """Answers for every function that is called inside of its ``with``, whatever the arguments are.

    A subclass has ``__torch_function__(self, func, types, args=(), kwargs=None)``. While it is asked it is not in force itself, so that
    it may call ``func``.

    >>> import jtensor as torch
    >>> class Count(TorchFunctionMode):
    ...     calls = 0
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         self.calls += 1
    ...         return func(*args, **(kwargs or {}))
    >>> with Count() as count:
    ...     _ = torch.ones(2) + 1
    >>> count.calls
    2
    """

    inner = None

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, *exc):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """A new mode of the class, to be entered."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """The mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    overriding.install()
    overriding.STATE.modes.append(mode)
    overriding.MODES.append(mode)


def _pop_mode():
    overriding.MODES.pop()
    return overriding.STATE.modes.pop()


def _get_current_function_mode():
    modes = overriding.STATE.modes
    return modes[-1] if modes else None


def _get_current_function_mode_stack():
    return list(overriding.STATE.modes)


def _get_overloaded_args(relevant_args, get_type_fn=None):
    """Those of the arguments that are asked, in the order in which they are."""
    return overriding.asked_of(relevant_args)

# -- which functions there are ------------------------------------------------------------------------------------------


@functools.cache
def get_default_nowrap_functions():
    """The properties whose values a subclass answers as they are: ``grad``, ``_grad`` and ``_base``."""
    return set(overriding.nowrap())


@functools.cache
def _table():
    """{namespace: [names of its overridable functions]}."""
    overriding.install()

    def asks(space, name):
        member = inspect.getattr_static(space, name, None) if space is Tensor else getattr(space, name, None)
        function = member.fget if isinstance(member, property) else member
        entry = overriding.ENTRIES.get(function) if inspect.isfunction(function) else None
        return entry is not None and not entry.modes_only
    return {space: [name for name in dir(space) if asks(space, name)] for space in _spaces()}


def _spaces():
    return (jtensor, jtensor.nn.functional, jtensor.nn.init, Tensor, jtensor.linalg, jtensor.fft, jtensor.special)


def _members(space, name):
    """A function by its name in a namespace; of a property what gets, sets and deletes it."""
    member = inspect.getattr_static(space, name) if space is Tensor else getattr(space, name)
    return [member.__get__, member.__set__, member.__delete__] if isinstance(member, property) else [member]


def get_overridable_functions():
    """{namespace: its functions that ask ``__torch_function__``}, the properties by their ``__get__``."""
    return {space: [_members(space, name)[0] for name in names] for space, names in _table().items()}


def get_testing_overrides():
    """{function: another one with its parameters, as jtensor has them, that answers -1}."""
    made = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            made[function] = _dummy(function)
    return made


def _dummy(function):
    def answer(*args, **kwargs):
        signature.bind(*args, **kwargs)
        return -1
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):                                # what gets a property
        signature = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)])
    answer.__signature__ = signature
    return answer


def get_ignored_functions():
    """The functions for which no class may answer, as a set: ``torch.zeros``, ``torch.is_tensor``, ``Tensor.new``.

    >>> import jtensor as torch
    >>> torch.zeros in torch.overrides.get_ignored_functions(), torch.add in torch.overrides.get_ignored_functions()
    (True, False)
    """
    return _ignored()


def enable_reentrant_dispatch():
    """Not there: a handler is never asked for what it calls itself."""
    raise missing("handlers that are asked for their own calls (enable_reentrant_dispatch)",
                  "a second mode (torch.utils._python_dispatch.TorchDispatchMode) around the first")


def redispatch_function(*args, **kwargs):
    """Not there."""
    raise missing("redispatch_function", "func(*args, **kwargs) with torch._C.DisableTorchFunctionSubclass()")


@functools.cache
def _names():
    """{function: its full name}."""
    words = {jtensor: "torch", Tensor: "torch.Tensor"}
    names = {}
    for space, listed in _table().items():
        lead = words.get(space) or space.__name__.replace("jtensor", "torch", 1)
        for name in sorted(listed, key=lambda name: name[:2] == "__"):           # `neg` before `__neg__`, which is the same
            members = _members(space, name)
            for member, tail in zip(members, (".__get__", ".__set__", ".__delete__") if len(members) > 1 else ("",)):
                if space is jtensor.nn.functional and name not in vars(jtensor):       # of two names this is PyTorch's
                    names[member] = f"{lead}.{name}"
                else:
                    names.setdefault(member, f"{lead}.{name}{tail}")
    for name in jtensor.functional.__all__:
        names[getattr(jtensor, name)] = f"torch.functional.{name}"
    return names


def resolve_name(f):
    """The full name of a function that ``__torch_function__`` is given, or None.

    >>> import jtensor as torch
    >>> resolve_name(torch.Tensor.add), resolve_name(torch.Tensor.shape.__get__), resolve_name(print)
    ('torch.Tensor.add', 'torch.Tensor.shape.__get__', None)
    >>> resolve_name(torch.nn.init.uniform_)
    'torch.nn.init.uniform_'
    """
    if isinstance(f, (jtensor._ops.OpOverload, jtensor._ops.OpOverloadPacket)):     # what a handler of `__torch_dispatch__` is given
        return str(f)
    try:
        found = _names().get(f)
    except TypeError:
        return None
    if found is None:                                              # of the namespace, and no tensor is asked about it
        name = getattr(f, "__name__", "_")
        if name[0] != "_" and name != "set_grad_enabled" and getattr(jtensor, name, None) is f:
            return f"torch.{name}"
    return found


def is_tensor_method_or_property(func, /):
    """Whether a function is a method of Tensor, or what gets, sets or deletes one of its properties."""
    name = resolve_name(func) or ""
    return name.startswith("torch.Tensor.") or getattr(func, "__name__", None) == "__get__"
