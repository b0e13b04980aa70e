"""Walking a tree of modules: names, parameters, buffers, and looking one of them up by its dotted name.

The functions here are methods of Module; they read its three dictionaries and change nothing, ``set_submodule`` excepted.
"""
from ..parameter import Parameter


def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
    """(dotted name, member) for what ``get_members_fn(module)`` gives, over this module and those below."""
    seen = set()
    modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
    for path, module in modules:
        for name, member in get_members_fn(module):
            if member is None or member in seen:
                continue
            if remove_duplicate:
                seen.add(member)
            yield (f"{path}.{name}" if path else name), member


def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
    """(name, parameter) of this module and, with ``recurse``, of all below; a shared one comes once.

    >>> import jtensor as torch
    >>> [name for name, p in torch.nn.Linear(2, 3).named_parameters()]
    ['weight', 'bias']
    """
    yield from self._named_members(lambda module: module._parameters.items(), prefix=prefix, recurse=recurse,
                                   remove_duplicate=remove_duplicate)


def parameters(self, recurse=True):
    """The parameters of this module and of all below, as an optimizer takes them."""
    for _, param in self.named_parameters(recurse=recurse):
        yield param


def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
    """(name, buffer) of this module and of all below."""
    yield from self._named_members(lambda module: module._buffers.items(), prefix=prefix, recurse=recurse,
                                   remove_duplicate=remove_duplicate)


def buffers(self, recurse=True):
    """The buffers of this module and of all below."""
    for _, buffer in self.named_buffers(recurse=recurse):
        yield buffer


def named_children(self):
    """(name, module) of the modules directly below; one that stands there twice comes once."""
    seen = set()
    for name, module in self._modules.items():
        if module is not None and module not in seen:
            seen.add(module)
            yield name, module


def children(self):
    """The modules directly below."""
    for _, module in self.named_children():
        yield module


def named_modules(self, memo=None, prefix="", remove_duplicate=True):
    """(dotted name, module) for this module, whose name is empty, and all below."""
    memo = set() if memo is None else memo
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    yield prefix, self
    for name, module in self._modules.items():
        if module is not None:
            yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)


def modules(self, remove_duplicate=True):
    """This module and all below."""
    for _, module in self.named_modules(remove_duplicate=remove_duplicate):
        yield module


def _attribute(owner, name):
    if not hasattr(owner, name):
        raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
    return getattr(owner, name)


def get_submodule(self, target):
    """The module of that dotted name, e.g. ``"encoder.0.linear"``; AttributeError where there is none."""
    from .module import Module
    found = self
    for name in target.split(".") if target else ():
        found = _attribute(found, name)
        if not isinstance(found, Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
    return found


def set_submodule(self, target, module, strict=False):
    """Puts a module at that dotted name; with ``strict`` there has to be one already."""
    from .module import Module
    if target == "":
        raise ValueError("Cannot set the submodule without a target name!")
    if not isinstance(module, Module):
        raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
    path, _, name = target.rpartition(".")
    parent = self.get_submodule(path)
    if strict:
        _attribute(parent, name)
    if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
        raise AttributeError(f"`{name}` is not an nn.Module")
    setattr(parent, name, module)


def get_parameter(self, target):
    """The parameter of that dotted name."""
    path, _, name = target.rpartition(".")
    found = _attribute(self.get_submodule(path), name)
    if not isinstance(found, Parameter):
        raise AttributeError(f"`{name}` is not an nn.Parameter")
    return found


def get_buffer(self, target):
    """The buffer of that dotted name."""
    path, _, name = target.rpartition(".")
    owner = self.get_submodule(path)
    found = _attribute(owner, name)
    if name not in owner._buffers:
        raise AttributeError(f"`{name}` is not a buffer")
    return found
