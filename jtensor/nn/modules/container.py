"""Modules that hold modules: Sequential, ModuleList, ModuleDict. (Those that hold parameters: ``parameter_container``.)"""
import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain

from .module import Module, _addindent
from .parameter_container import ParameterDict, ParameterList

__all__ = ["Container", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]


def _position(module, idx):
    """A non-negative index from any integer-like one; IndexError out of range."""
    idx = operator.index(idx)
    if not -len(module) <= idx < len(module):
        raise IndexError(f"index {idx} is out of range")
    return idx % len(module)


def _renumber(module):
    module._modules = OrderedDict((str(i), m) for i, m in enumerate(module._modules.values()))


def _shift_in(module, index, new):
    """Makes room at ``index`` by moving the later ones up."""
    for i in range(len(module._modules), index, -1):
        module._modules[str(i)] = module._modules[str(i - 1)]
    module._modules[str(index)] = new


class Container(Module):
    """Deprecated base of old containers; keyword arguments become submodules."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Listed(Module):
    """Modules by their numbers."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Takes the module at ``key`` out and answers with it."""
        found = self[key]
        del self[key]
        return found


class Sequential(_Listed):
    """Calls its modules one after the other, each with the answer of the one before.

    >>> import jtensor as torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def _name_at(self, idx):
        return list(self._modules)[_position(self, idx)]

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._name_at(idx)]

    def __setitem__(self, idx, module):
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx):
        for name in list(self._modules)[idx] if isinstance(idx, slice) else [self._name_at(idx)]:
            delattr(self, name)
        _renumber(self)

    def _check_other(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")

    def __add__(self, other):
        self._check_other(other)
        return Sequential(*self, *other)

    def __iadd__(self, other):
        self._check_other(other)
        for i, module in enumerate(list(other), len(self)):
            self.add_module(str(i), module)
        return self

    def _check_factor(self, factor):
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {type(self)}")

    def __mul__(self, other):
        self._check_factor(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other):
        self._check_factor(other)
        for i, module in enumerate(list(self) * (other - 1), len(self)):
            self.add_module(str(i), module)
        return self

    def extend(self, sequential):
        """Adds several modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def insert(self, index, module):
        """Adds a module before the one at ``index``."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        _shift_in(self, index + n if index < 0 else index, module)
        return self


class ModuleList(_Listed):
    """A list whose entries are registered as submodules; it is not called itself.

    >>> import jtensor as torch
    >>> layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[str(_position(self, idx))]

    def __setitem__(self, idx, module):
        setattr(self, str(_position(self, idx)), module)

    def __delitem__(self, idx):
        for i in range(len(self))[idx] if isinstance(idx, slice) else [_position(self, idx)]:
            delattr(self, str(i))
        _renumber(self)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        combined = ModuleList()
        for i, module in enumerate(chain(self, other)):
            combined.add_module(str(i), module)
        return combined

    def __repr__(self):
        """Neighbours that print alike are shown once, as ``(0-3): 4 x Linear(...)``."""
        blocks = []  # [first, last, text]
        for i, text in enumerate(repr(module) for module in self):
            if blocks and blocks[-1][2] == text:
                blocks[-1][1] = i
            else:
                blocks.append([i, i, text])
        if not blocks:
            return self._get_name() + "()"
        lines = [_addindent(f"({i}): {text}" if i == j else f"({i}-{j}): {j - i + 1} x {text}", 2) for i, j, text in blocks]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def insert(self, index, module):
        """Adds a module before the one at ``index``."""
        _shift_in(self, index, module)

    def extend(self, modules):
        """Adds several modules at the end. TypeError where they are no iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self


class ModuleDict(Module):
    """A dictionary whose values are registered as submodules; it is not called itself.

    >>> import jtensor as torch
    >>> heads = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 3), "b": torch.nn.ReLU()})
    >>> heads["a"]
    Linear(in_features=2, out_features=3, bias=True)
    >>> list(heads)
    ['a', 'b']
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Removes all."""
        self._modules.clear()

    def pop(self, key):
        """Takes the module of that key out and answers with it."""
        found = self[key]
        del self[key]
        return found

    def keys(self):
        """The keys."""
        return self._modules.keys()

    def items(self):
        """(key, module) pairs."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Takes in the pairs of a mapping or of an iterable of pairs."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleDict.update should be called with an iterable of key/value pairs, but got "
                            + type(modules).__name__)
        if isinstance(modules, (ModuleDict, Mapping)):
            modules = modules.items()
        for i, pair in enumerate(modules):
            if not isinstance(pair, Iterable):
                raise TypeError(f"ModuleDict update sequence element #{i} should be Iterable; is{type(pair).__name__}")
            if len(pair) != 2:
                raise ValueError(f"ModuleDict update sequence element #{i} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]
