"""What stands in another's place for a while: attributes of classes, names of modules, functions that write down their calls.

Owns: putting it there and back. May not know: what a trace is.
"""
import functools

from ..utils import _pytree as pytree
from .proxy import Proxy


def replace(patches, owner, name, value):
    """Sets an attribute of a class until ``patches``, an `ExitStack`, ends."""
    own, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    patches.callback(lambda: setattr(owner, name, before) if own else delattr(owner, name))


def put(patches, space, name, value):
    """The same of a name in a module's dictionary."""
    own, before = name in space, space.get(name)
    space[name] = value

    def back():
        if own:
            space[name] = before
        else:
            del space[name]
    patches.callback(back)


def first_proxy(args, kwargs):
    found = []
    pytree.tree_map(lambda leaf: found.append(leaf) if isinstance(leaf, Proxy) else None, (args, kwargs))
    return found[0] if found else None


def wrapped(original):
    """A function whose calls become nodes where an argument is a proxy."""
    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        proxy = first_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", original, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made
    return wrapped


def wrapped_method(cls, name):
    original = getattr(cls, name)

    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        proxy = first_proxy(args, kwargs)
        return original(*args, **kwargs) if proxy is None else proxy.tracer.create_proxy("call_method", name, args, kwargs)
    return wrapped
