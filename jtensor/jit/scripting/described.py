"""A module as a class of TorchScript: its parameters, buffers, attributes, constants and parts, each with its type.

Owns: which attributes of a Python module a program can have, of which types. May not know: how methods are compiled.
"""
import inspect
import typing

import jtensor

from ...base import sites
from ...base.errors import MissingFeature
from . import annotations, interfaces, kinds

_LEFT_OUT = frozenset("""_parameters _buffers _modules _non_persistent_buffers_set _backward_pre_hooks _backward_hooks _forward_hooks
    _forward_hooks_with_kwargs _forward_hooks_always_called _forward_pre_hooks _forward_pre_hooks_with_kwargs _state_dict_hooks
    _state_dict_pre_hooks _load_state_dict_pre_hooks _load_state_dict_post_hooks _compiled_call_impl _is_full_backward_hook training
    _version call_super_init dump_patches T_destination""".split())


_TWICE = "_reversed_padding_repeated_twice"                       # what convolutions pad with, which their programs ask for
_ASKED = frozenset(("_qkv_same_embed_dim",))                     # the same of attention


class Described:
    """``attributes``: {name: kind}, parameters and buffers among them; ``constants``: {name: value}; ``modules``: {name: kind};
    ``functions``: {name: function of Python}; ``failed``: {name: why it is none}; ``methods``: {name: compiled}; ``pre_hooks`` and
    ``hooks``: compiled, in their order; ``overloads``: {name: signatures} of methods that are compiled once for each."""

    sort = "module"

    def __init__(self, module):
        self.module, self.python, self.name = module, type(module), None
        self.parameters, self.buffers, self.attributes, self.constants, self.modules = [], [], {}, {}, {}
        self.functions, self.failed, self.methods = {}, {}, {}
        self.hooks, self.pre_hooks, self.overloads = [], [], {}

    @classmethod
    def of(cls, module, unit):
        """What a module is; its parts are looked up in the `Unit`."""
        self = cls(module)
        written = _written(module)
        for name, one in module._parameters.items():
            self.attributes[name] = kinds.NONE if one is None else kinds.TENSOR
            self.parameters += [name] * (one is not None)
        for name, one in module._buffers.items():
            self.attributes[name] = written.get(name, kinds.NONE) if one is None else kinds.TENSOR
            self.buffers += [name] * (one is not None)
        self.attributes["training"] = kinds.BOOL
        own = type(module).__dict__.get("__annotations__") or type(module) is jtensor.nn.Module
        self.attributes["_is_full_backward_hook"] = kinds.NONE if own or sites.is_own(
            type(module).__module__) else kinds.optional(kinds.BOOL)
        fixed = _constants(module, written)
        if hasattr(module, _TWICE) and isinstance(getattr(module, _TWICE), (list, tuple)):
            self.attributes[_TWICE] = kinds.listed(kinds.INT)
        for name, one in module.__dict__.items():
            if name not in fixed and name not in _LEFT_OUT and not name.startswith("__") and not _is_hidden(module, name):
                self._attribute(name, one, written, unit)
        for name in type(module).__dict__:                        # values of the class that its annotations tell
            if name in written and name not in self.attributes and name not in fixed and name not in module.__dict__:
                self._attribute(name, getattr(module, name), written, unit)
        for name in dir(type(module)):
            marked = unit.overloads(inspect.getattr_static(type(module), name, None))
            if marked:
                self.overloads[name] = marked
        for name, one in module._modules.items():
            if one is None:
                self.attributes[name] = kinds.NONE
            elif name in written and written[name].what is not None and written[name].what.sort == "interface":
                self.modules[name] = interfaces.part(one, name, written[name], unit)
            else:
                self.modules[name] = unit.kind_of(one)
        self.constants = {name: getattr(module, name) for name in fixed if hasattr(module, name) and name not in self.modules
                          and name not in self.attributes}
        return self

    def _attribute(self, name, value, written, unit):
        if inspect.isfunction(value) or inspect.isbuiltin(value):
            self.functions[name] = value
            return
        try:
            kind = written.get(name) or (value.type_kind if isinstance(value, jtensor.jit.Attribute) else annotations.of_value(value))
        except annotations.Unknown as problem:
            self.failed[name] = _why(value, problem)
            if callable(value):
                self.functions[name] = value
            return
        except AttributeError:
            kind = annotations.kind_of(value.type)
        try:
            if kind is not None:
                unit.classes.complete(kind)
        except MissingFeature as problem:
            self.failed[name], kind = problem, None
            return
        except Exception as problem:                              # PyTorch says no more of it, either
            self.failed[name] = _why(value, problem)
            return
        if kind is None:
            self.failed[name] = _why(value, "")
        else:
            self.attributes[name] = kind

    def key(self):
        """What modules that share a class have in common."""
        return (self.python, tuple(self.parameters), tuple(self.buffers), tuple(self.attributes.items()),
                tuple(self.modules.items()), tuple([(name, repr(value)) for name, value in self.constants.items()]),
                tuple([(name, id(one)) for name, one in self.functions.items()]),
                tuple(map(id, self.module._forward_hooks.values())), tuple(map(id, self.module._forward_pre_hooks.values())))

    def properties(self):
        """[(name, property)] of those that are compiled: all that a class of a user's has."""
        unused = getattr(self.module, "__jit_unused_properties__", ())
        return [(name, one) for base in self.python.__mro__ if not sites.is_own(base.__module__) for name, one in vars(base).items()
                if isinstance(one, property) and name not in unused and getattr(one.fget, "_torchscript_modifier", None) is None]

    def entries(self):
        """The methods that are compiled, whether or not any is called."""
        found = []
        forward = getattr(self.module, "forward", None)
        if "forward" not in self.overloads and forward is not None and not _is_absent(forward) and getattr(
                forward, "_torchscript_modifier", None) != "ignore":
            found.append("forward")
        for name in dir(self.python):
            one = inspect.getattr_static(self.python, name, None)
            if getattr(one, "_torchscript_modifier", None) == "export" and name not in found:
                found.append(name)
        return found


def _is_absent(forward):
    function = getattr(forward, "__func__", forward)
    return function is jtensor.nn.Module.forward or getattr(function, "__name__", "") == "_forward_unimplemented"


def _why(value, problem):
    if isinstance(value, (list, dict)) and not value:
        return ("This attribute exists on the Python module, but we failed to convert Python type: "
                f"'{type(value).__name__}' to a TorchScript type. {type(value).__name__.title()} trace inputs must have elements. Its type "
                "was inferred; try adding a type annotation for the attribute.")
    kind = type(value).__name__
    return (f"This attribute exists on the Python module, but we failed to convert Python type: '{kind}' to a TorchScript type. Only "
            "tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs or outputs of traced functions, but "
            f"instead got value of type {kind}.. Its type was inferred; try adding a type annotation for the attribute.")


def _is_hidden(module, name):
    return name in getattr(module, "__jit_ignored_attributes__", ()) or name in getattr(module, "__jit_unused_properties__", ()) or (
        sites.is_own(type(module).__module__) and name.startswith("_") and name not in _ASKED)


def _written(module):
    """{attribute: kind} of the annotations of the class; PyTorch does not look at those in ``__init__``."""
    found = {}
    cls = type(module)
    if sites.is_own(cls.__module__):
        return found
    space = vars(inspect.getmodule(cls)) if inspect.getmodule(cls) is not None else {}
    for name, one in (cls.__dict__.get("__annotations__") or {}).items():
        try:
            one = eval(one, space, vars(typing)) if isinstance(one, str) else one
            if not _is_final(one):
                found[name] = annotations.kind_of(one)
        except Exception:                                         # an annotation that is nobody's business here
            continue
    return found


def _is_final(one):
    return typing.get_origin(one) is typing.Final or one is typing.Final


def _constants(module, written):
    """The names of attributes that never change."""
    cls = type(module)
    names = dict.fromkeys(getattr(module, "__constants__", ()))
    for name, one in (cls.__dict__.get("__annotations__") or {}).items():
        if _is_final(one) or isinstance(one, str) and one.partition("[")[0].rpartition(".")[2] == "Final":
            names[name] = None
    return {name: None for name in names if name not in module._parameters and name not in module._buffers and name not in module._modules}

