"""`torch.ops.aten`: PyTorch's own operators by the names of their schemas, as libraries refer to them (`torch.ops.aten.add.Tensor`).

Owns: which function stands for an operator, and the names of its forms (`overloads.txt`, made of PyTorch's schemas). Whichever form is
called, the function looks at its arguments. May not know: how a function is made.
"""
import functools
from pathlib import Path

import jtensor

from ..base.errors import missing
from .spaces import OpOverload, OpOverloadPacket, _OpNamespace


def _slice(self, dim=0, start=None, end=None, step=1):
    return self[(slice(None),) * (dim % self.dim()) + (slice(start, end, step),)]


def _index(self, indices):
    return self[tuple([slice(None) if index is None else index for index in indices])]


def _to_copy(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    return self.to(device=device or self.device, dtype=dtype or self.dtype, copy=True,
                   memory_format=memory_format or jtensor.preserve_format)


_WRITTEN_OUT = {"slice": _slice, "index": _index, "_to_copy": _to_copy, "alias": lambda self: self.view_as(self),
                "_pin_memory": lambda self, device=None: self.pin_memory(),
                "_conj": jtensor.conj, "_unsafe_view": jtensor.Tensor.view, "_sparse_addmm": jtensor.sparse.addmm,
                "_softmax": lambda self, dim, half_to_float: self.softmax(dim, jtensor.float32 if half_to_float else None),
                "_log_softmax": lambda self, dim, half_to_float: self.log_softmax(dim, jtensor.float32 if half_to_float else None),
                "sym_size": lambda self, dim=None: self.size(dim), "sym_stride": lambda self, dim=None: self.stride(dim),
                "sym_numel": lambda self: self.numel(), "sym_storage_offset": lambda self: self.storage_offset()}
"""Operators whose functions are called otherwise, or go by another name."""


def function_of(name):
    """The function that stands for an operator; None if there is none."""
    if name in _WRITTEN_OUT:
        return _WRITTEN_OUT[name]
    for home in (jtensor, jtensor.nn.functional, jtensor.Tensor):
        found = vars(home).get(name)
        if found is not None and callable(found) and not isinstance(found, type):
            return found
    return None


@functools.cache
def _overloads():
    lines = (Path(__file__).parent / "overloads.txt").read_text().splitlines()
    return {name: forms for name, *forms in map(str.split, lines)}


class _Schema:
    def __init__(self, overload_name):
        self.overload_name = overload_name


class _Builtin:
    """What an overload of PyTorch's own holds in place of a `Definition`."""

    def __init__(self, name, form, function):
        self.name, self.schema, self.function = f"aten::{name}", _Schema("" if form == "default" else form), function
        self.shown = f"aten.{name}.{form}"

    def __call__(self, args, kwargs):
        return self.function(*args, **kwargs)


class Overload(OpOverload):
    """One form of one of PyTorch's own operators."""

    @property
    def _schema(self):
        raise missing(f"the schema of {self._definition.name}", "torch.ops.aten's operators themselves; inspect.signature of the function")

    @property
    def tags(self):
        raise missing(f"the tags of {self._definition.name}", "the tags of operators of one's own")


class Packet(OpOverloadPacket):
    """One of PyTorch's own operators: called as its function is."""

    def __init__(self, name, function):
        super().__init__(f"aten::{name}")
        self._function = function
        for form in _overloads()[name]:
            self._forms[form] = Overload(self, _Builtin(name, form, function))

    def _called(self, args, kwargs):
        return self._function(*args, **kwargs)


class Aten(_OpNamespace):
    """The library of PyTorch's own operators. What is not there raises PyTorch's AttributeError."""

    def __getattr__(self, name):
        function = function_of(name) if name in _overloads() else None
        if function is None:
            return super().__getattr__(name)
        made = self.__dict__[name] = Packet(name, function)
        return made
