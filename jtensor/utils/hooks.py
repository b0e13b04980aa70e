"""Handles by which a registered hook can be taken away again.

This room owns the bookkeeping of hook dictionaries and nothing else: it knows neither
tensors nor modules, and imports the standard library only, so that autograd and nn can
both stand on it.
"""
import warnings
import weakref
from collections import OrderedDict

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


class RemovableHandle:
    """What every ``register_*_hook`` answers with: ``remove()`` takes the hook away.

    The handle holds the dictionaries weakly, so it never keeps a module or a tensor alive.
    Used as a context manager it removes the hook on leaving the block.

    >>> from collections import OrderedDict
    >>> hooks = OrderedDict()
    >>> handle = RemovableHandle(hooks)
    >>> hooks[handle.id] = print
    >>> handle.remove()
    >>> len(hooks)
    0
    """

    next_id: int = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        if extra_dict is None:
            extra_dict = ()
        elif isinstance(extra_dict, dict):
            extra_dict = (extra_dict,)
        self.extra_dict_ref = tuple(map(weakref.ref, extra_dict))

    def remove(self):
        """Removes the hook; a second call, or one after the owner has died, does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state):
        hooks, self.id, *rest = state
        # The owner may have died before pickling; an empty dictionary, dead at once, stands for it.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        extra = rest[0] if rest and rest[0] is not None else ()
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.remove()


def register(hooks, hook, prepend=False, flags=()):
    """Adds a hook to a dictionary, at the end or (``prepend``) before the others; answers its handle.

    ``flags``: (dictionary, whether the hook stands in it, too), ...
    """
    handle = RemovableHandle(hooks, extra_dict=[dictionary for dictionary, _ in flags])
    hooks[handle.id] = hook
    for dictionary, is_set in flags:
        if is_set:
            dictionary[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def unserializable_hook(f):
    """Marks a tensor hook as one that may be lost in pickling without a warning."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warns for every backward hook of ``tensor`` that pickling is going to drop."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning", stacklevel=2)
