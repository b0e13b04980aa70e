"""Small helpers for settings that may be one number or one number a dimension."""
import collections.abc

import jtensor

from ..parameter import Parameter

__all__ = ["consume_prefix_in_state_dict_if_present"]


def typename(obj):
    """The dotted name of an object's type as PyTorch's error texts have it."""
    if isinstance(obj, jtensor.Tensor):
        return obj.type()
    module = getattr(obj, "__module__", None)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__name__
    if module in (None, "builtins"):
        return name
    return f"torch{module[len('jtensor'):]}.{name}" if module.partition(".")[0] == "jtensor" else f"{module}.{name}"


def add_parameter(module, name, wanted, size, **factory):
    """Gives a module a Parameter of uninitialised values, as an attribute that it is assigned (a class may have its own way of that), or
    registers that it has none of this name."""
    if wanted:
        setattr(module, name, Parameter(jtensor.empty(size, **factory)))
    else:
        module.register_parameter(name, None)


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if isinstance(x, collections.abc.Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    """Every entry n times, the last entry first: how ``pad`` wants a padding of n sides for each dimension."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """An output size whose None entries mean "as the input"."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [v if v is not None else d for v, d in zip(out_size, defaults[-len(out_size):])]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes a prefix such as ``"module."`` off all keys that have it, in place, metadata included."""
    for key in list(state_dict.keys()):
        if key.startswith(prefix):
            state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata) if metadata is not None else ():
        # Keys there have no trailing dot: 'module' is the wrapped model itself, '' the wrapper, which stays.
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix):]] = metadata.pop(key)


def settings(module, *names):
    """``"a=1, b=2"`` for the named attributes: what most layers show of themselves."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)
