"""What a tensor of a subclass has beside its elements, for pickles, files and copies: attributes, slots, or what the class says."""
import copyreg

from .core import LAYOUTS, Tensor

_OWN = frozenset(Tensor.__slots__)


def is_wrapper(t):
    """Whether a tensor's class answers for it below autograd, so that what stands in the place of its memory holds no numbers."""
    return getattr(type(t._storage.host), "wraps", False)


def slots_of(t):
    """The slots of its class that are filled, a dictionary."""
    kind = type(t)
    if kind is Tensor or kind in LAYOUTS:
        return {}
    return {name: getattr(t, name) for name in copyreg._slotnames(kind) if name not in _OWN and hasattr(t, name)}


def state_of(t):
    """What the class's ``__getstate__`` answers; else the attributes, with the slots if there are any, as `object` has them."""
    said = getattr(type(t), "__getstate__", None)
    if said is not None and said is not getattr(object, "__getstate__", None):
        return said(t)
    attributes, slots = dict(t.__dict__), slots_of(t)
    return (attributes, slots) if slots else attributes


def set_state(t, state):
    """Gives a tensor what `state_of` has answered of another."""
    if hasattr(type(t), "__setstate__"):
        t.__setstate__(state)
        return
    if isinstance(state, tuple) and len(state) != 2:
        raise RuntimeError(f"Invalid serialized state: {state}")
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    t.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(t, name, value)
