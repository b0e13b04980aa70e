"""Switches of a backend set together and put back, as ``with torch.backends.cudnn.flags(enabled=False)`` does.

Owns: the two functions that do so for a module's switches. May not know: what a switch means.
"""
from contextlib import contextmanager


def of(names, heed=lambda: None, /, **while_inside):
    """`set_flags` and `flags` of the module whose names are given.

    Args:
        names: the module's `globals()`.
        heed: called after each change.
        while_inside: its switches, in the order in which `set_flags` takes and answers them, with what they are inside `flags` unless
            the call says so.
    """
    def set_flags(*values, **named):
        """Set those switches that are given and not None; answers what all of them were."""
        if len(values) > len(while_inside):
            raise TypeError(f"set_flags() takes from 0 to {len(while_inside)} positional arguments but {len(values)} were given")
        wanted = dict(zip(while_inside, values, strict=False))
        for name, value in named.items():
            if name.removeprefix("_") not in while_inside or not name.startswith("_"):
                raise TypeError(f"set_flags() got an unexpected keyword argument '{name}'")
            wanted[name.removeprefix("_")] = value
        before = tuple([names[name] for name in while_inside])
        names.update((name, value) for name, value in wanted.items() if value is not None)
        heed()
        return before

    @contextmanager
    def flags(*values, **named):
        """A context in which the switches are as given, the rest as PyTorch has them there; afterwards they are as before."""
        if len(values) > len(while_inside) or not named.keys() <= while_inside.keys():
            raise TypeError(f"flags() takes {', '.join(while_inside)}")
        inside = {**while_inside, **dict(zip(while_inside, values, strict=False)), **named}
        before = {name: names[name] for name in while_inside}
        names.update(inside)
        heed()
        try:
            yield
        finally:
            names.update(before)
            heed()
    return set_flags, flags
