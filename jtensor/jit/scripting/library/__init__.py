"""Layers and functions of `nn` in TorchScript's language, where PyTorch has programs and not operators.

jtensor's own are written for Python: their text is none that TorchScript could read. What is here does the same in words that it has.
Owns: which function or method stands for which. May not know: how anything is compiled.
"""
import functools
import inspect

import jtensor

from ....base import sites
from .. import source
from . import attention, containers, functional, further, layers, losses, pooling, recurrent, transformers, unique


@functools.cache
def _functions():
    found = {}
    for room in (functional, losses, pooling, attention, transformers, further):
        for name, one in vars(room).items():
            if inspect.isfunction(one) and one.__module__ == room.__name__:
                space = jtensor if name in _OF_TORCH else jtensor.nn.functional
                if hasattr(space, name):
                    found.setdefault(id(getattr(space, name)), (one, name))
    return found


_OF_TORCH = frozenset(("norm",))
_ROOMS = tuple([room.__name__ for room in (functional, losses, pooling, unique, attention, transformers, further)])


WIDE = {"interpolate": ("size", "scale_factor")}
"""Arguments that are lists in a program, and in Python numbers, too."""


def function(found):
    """The program of one of PyTorch's functions; None for others."""
    if getattr(found, "__module__", None) in _ROOMS:
        return found
    return _functions().get(id(found), (None,))[0]


@functools.cache
def _chosen():
    def one(flag, at, where, without):
        return flag, at, where, without
    found = {id(jtensor.unique): one("return_inverse", 2,
                                     one("return_counts", 3, unique._return_inverse_and_counts, unique._return_inverse),
                                     one("return_counts", 3, unique._return_counts, unique._return_output)),
             id(jtensor.unique_consecutive): one("return_inverse", 1,
                                                 one("return_counts", 2, unique._consecutive_return_inverse_and_counts,
                                                     unique._consecutive_return_counts),                   # as PyTorch has it
                                                 one("return_counts", 2, unique._consecutive_return_counts,
                                                     unique._consecutive_return_output))}
    for d in (1, 2, 3):
        for name, at in ((f"max_pool{d}d", 6), (f"adaptive_max_pool{d}d", 2)):
            found[id(getattr(jtensor.nn.functional, name))] = one("return_indices", at, getattr(pooling, name + "_with_indices"),
                                                                  getattr(pooling, "_" + name))
    return found


def several(found):
    """The programs of a function that takes arguments of several types: the first is called that fits. None of others."""
    if found is not jtensor.norm:
        return None
    return functional.norm_by_name, functional.norm, functional.norm_by_name_of_one, functional.norm_of_one


def chosen(found):
    """(the name of a flag, its position, the function where it is set, the one where it is not), each of them a function or the same again,
    of a function that answers more or fewer tensors; None of others."""
    return _chosen().get(id(found))


def name_of(found):
    """Its qualified name in files."""
    name = found.__name__
    of_torch = name in _OF_TORCH or found.__module__ == unique.__name__
    return f"__torch__.torch.{'functional' if of_torch else 'nn.functional'}.{name}"


def method(python, name):
    """The `Source` of a method of one of PyTorch's layers; None for others, and where a class has a method of its own."""
    for one in python.__mro__:
        if not sites.is_own(one.__module__):
            if name in one.__dict__:
                return None
            continue
        for room in (layers, pooling, losses, containers, recurrent, attention, transformers, further):
            written = vars(room).get(one.__name__)
            if written is not None and inspect.isclass(written) and hasattr(written, name) and name in _methods(written):
                return source.read(getattr(written, name))
        if name in one.__dict__:
            return None
    return None


def _methods(written):
    return {name for one in written.__mro__[:-1] for name in one.__dict__}


def complete(described, unit, kind):
    """Adds what a class of layers has besides its methods: lengths of containers, weights of recurrent layers."""
    if issubclass(described.python, (jtensor.nn.Sequential, jtensor.nn.ModuleList, jtensor.nn.ModuleDict)):
        containers.complete(described, unit, kind)
    elif issubclass(described.python, jtensor.nn.RNNBase):
        recurrent.complete(described, unit, kind)
