"""A call's arguments under the names of the function's parameters."""
import inspect
import typing

from ..overrides import get_testing_overrides, resolve_name

__all__ = ["ArgsKwargsPair", "normalize_function", "normalize_module"]


class ArgsKwargsPair(typing.NamedTuple):
    """Arguments by position and by name."""

    args: tuple
    kwargs: dict


def _bound(signature, args, kwargs, only_by_name):
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    found, named = [], {}
    for name, parameter in signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            found.extend(value)
        elif only_by_name or parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            found.append(value)
    return ArgsKwargsPair(tuple(found), named)


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False,
                       use_compilation_unit=False):
    """The arguments of a call of one of the library's functions, all defaults filled in; None where its parameters are not known.

    >>> import jtensor as torch
    >>> normalize_function(torch.add, (1, 2), {"alpha": 3}, normalize_to_only_use_kwargs=True).kwargs["alpha"]
    3
    """
    if resolve_name(target) is None and target not in get_testing_overrides():
        return None
    try:
        return _bound(inspect.signature(target), args, kwargs or {}, normalize_to_only_use_kwargs)
    except ValueError:
        return None


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """The same of a call of a submodule, by the parameters of its ``forward``."""
    module = root.get_submodule(target)
    return _bound(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)
