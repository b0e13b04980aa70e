"""Classes that call themselves PyTorch's in every text.

Owns: `TorchNamed`, the metaclass of `Size`, `dtype`, `return_types.max`, ..., and `type_name`, the name of a class inside an error text.
May not know: tensors.

CPython's own messages ("'torch.Size' object has no attribute 'x'") print the name a class was created with, while `__name__` of a class
of PyTorch is the short one. So the class is created under the long name, and the metaclass answers `__name__` with the short one.
"""
import copyreg
import importlib
import sys
from types import FunctionType

_created_name = type.__dict__["__name__"].__get__
_HEAP_TYPE = 1 << 9                        # CPython: the class was made by a class statement, its stored name has no module


class TorchNamed(type):
    """Makes a class that nobody can derive from and that texts name ``module.name``.

    ``found_by`` is ``(function, arguments)`` that answers with the class: it is pickled that way, since a module of PyTorch's
    name need not exist where the pickle is read.
    """

    def __new__(meta, name, bases, namespace, *, module=None, found_by=None):
        for base in bases:
            if isinstance(base, TorchNamed):
                raise TypeError(f"type '{_created_name(base)}' is not an acceptable base type")
        namespace.update(__module__=module, __qualname__=name)
        cls = super().__new__(meta, f"{module}.{name}", bases, namespace)
        type.__setattr__(cls, "_found_by", found_by)
        return cls

    def __init__(cls, name, bases, namespace, **_):
        super().__init__(name, bases, namespace)

    @property
    def __name__(cls):
        return cls.__qualname__


def found_at(module, path, function):
    """Has a function that was made at run time say where it is found: it is pickled by that."""
    if type(function) is FunctionType:
        function.__module__, function.__qualname__ = module, path


def attribute_of(module, name):
    """The class ``name`` of one of jtensor's modules: how a pickled class is found again."""
    return getattr(importlib.import_module(module), name)


copyreg.pickle(TorchNamed, lambda cls: cls._found_by)


def type_name(cls):
    """The name CPython's error texts use for a class: ``str``, ``numpy.ndarray``, ``torch.Size``; ``PyTorch's Tensor`` for a class of the
    real PyTorch, which may be there under its own name, lest a text says that a Tensor was wanted and a Tensor given.

    >>> from fractions import Fraction
    >>> type_name(int), type_name(Fraction)
    ('int', 'Fraction')
    """
    if cls is TorchNamed:
        return "type"
    name = _created_name(cls)
    if not cls.__flags__ & _HEAP_TYPE and cls.__module__ != "builtins":
        name = f"{cls.__module__}.{name}"
    return f"PyTorch's {name}" if _of_pytorch(cls) else name


def _of_pytorch(cls):
    there = sys.modules.get("torch")
    if there is None or there is sys.modules.get(__name__.partition(".")[0]):
        return False
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls and cls.__module__.partition(".")[0] == "torch"
