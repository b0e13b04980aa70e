"""`torch.ops`: the operators that users define, by the names of their libraries.

Owns: what ``torch.ops.mylib.name`` and its overloads answer, the table of all of them. May not know: how a call is made.
"""
import functools

from .. import ops
from ..base.errors import missing
from ..tensor.calling import overriding

DEFINED = {}                    # "mylib::name" or "mylib::name.overload" -> Definition


def asked(operator, args, kwargs):
    """What a mode, or a class of an argument, answers to a call of the operator; NotImplemented where none is to be asked."""
    relevant = list(overriding.spread((*args, *kwargs.values())))
    if not overriding.any_overrides(relevant):
        return NotImplemented
    overriding.install()
    return overriding.handle(operator, list(filter(overriding.overrides, relevant)), args, kwargs)


class OpOverload:
    """One form of an operator: ``torch.ops.mylib.name.default``."""

    __module__ = "torch._ops"

    def __init__(self, packet, definition):
        self._packet, self._definition = packet, definition
        self._overloadname = definition.schema.overload_name or "default"
        self.__name__ = f"{packet.__name__}.{self._overloadname}"

    def __call__(self, /, *args, **kwargs):
        answer = asked(self, args, kwargs)
        return self._definition(args, kwargs) if answer is NotImplemented else answer

    def __deepcopy__(self, memo):
        return self                             # an operator is one, whoever holds it: graphs are copied with those that they call

    @functools.cached_property
    def _schema(self):
        """What it takes and answers, as PyTorch's object."""
        from ..jit.schema_text import of_operator
        return of_operator(self)

    @property
    def is_view(self):
        """Whether its result shares memory with an argument that it does not write to."""
        return self._schema._is_view_op()

    tags = property(lambda self: self._definition.tags)
    overloadpacket = property(lambda self: self._packet)
    namespace = property(lambda self: self._definition.name.partition("::")[0])

    def name(self):
        """The operator's name, with its namespace."""
        overload = self._definition.schema.overload_name
        return self._definition.name + (f".{overload}" if overload else "")

    def __repr__(self):
        return f"<OpOverload(op='{self._packet._qualified_op_name.replace('::', '.')}', overload='{self._overloadname}')>"

    def __str__(self):
        return self._definition.shown


class OpOverloadPacket:
    """An operator with its forms as attributes: ``torch.ops.mylib.name``. A call goes to the first form that takes its arguments."""

    __module__ = "torch._ops"

    def __init__(self, qualified):
        self._qualified_op_name, self.__name__ = qualified, qualified.partition("::")[2]
        self._forms = {}

    def __getattr__(self, name):
        form = self.__dict__.get("_forms", {}).get(name)
        if form is None:
            shown = self.__dict__.get("_qualified_op_name", "").replace("::", ".")     # without it while it is being copied
            raise AttributeError(f"The underlying op of '{shown}' has no overload name '{name}'")
        return form

    def __deepcopy__(self, memo):
        return self

    def overloads(self):
        """The names of its forms."""
        return list(self._forms)

    def __call__(self, /, *args, **kwargs):
        answer = asked(self, args, kwargs)
        return self._called(args, kwargs) if answer is NotImplemented else answer

    def _called(self, args, kwargs):
        forms, reasons = list(self._forms.values()), []
        if len(forms) == 1:
            return forms[0](*args, **kwargs)
        for form in forms:
            try:
                form._definition.schema.bound(args, kwargs)
            except RuntimeError as error:
                reasons.append(str(error))
            else:
                return form(*args, **kwargs)
        raise RuntimeError("Overloaded torch operator invoked from Python failed to match any schema:\n" + "\n\n".join(reasons))

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")


class _OpNamespace:
    """The operators of one library: ``torch.ops.mylib``."""

    __module__ = "torch._ops"

    def __init__(self, name):
        self.__dict__.update(name=name, __name__=f"torch.ops.{name}")

    def __getattr__(self, name):
        raise AttributeError(f"'_OpNamespace' '{self.__dict__.get('name')}' object has no attribute '{name}'")

    def __repr__(self):
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"


def space_of(name):
    """What answers for a library's operators: PyTorch's own, those of one that is defined, or none yet."""
    found = ops.NAMESPACES.get(name)
    if found is None:
        from . import aten
        found = ops.NAMESPACES[name] = aten.Aten(name) if name == "aten" else _OpNamespace(name)
        if name == "profiler":
            from . import profiling  # noqa: F401 - it defines this library's operators
    return found


def put_in(definition):
    """Shows an operator under `torch.ops`; one of the same name gives way. Answers its overload."""
    namespace, _, name = definition.name.partition("::")
    overload = definition.schema.overload_name
    if namespace in vars(ops):
        raise missing(f"room for operators of a library called {namespace!r}", "another name")
    DEFINED[definition.name + (f".{overload}" if overload else "")] = definition
    space = space_of(namespace).__dict__
    packet = space.setdefault(name, OpOverloadPacket(definition.name))
    form = packet._forms[overload or "default"] = OpOverload(packet, definition)
    return form


def take_out(definition):
    """The opposite of `put_in`."""
    namespace, _, name = definition.name.partition("::")
    overload = definition.schema.overload_name
    DEFINED.pop(definition.name + (f".{overload}" if overload else ""), None)
    packet = ops.NAMESPACES[namespace].__dict__.get(name)
    if packet is not None:
        packet._forms.pop(overload or "default", None)
        if not packet._forms:
            del ops.NAMESPACES[namespace].__dict__[name]


_OF_PYTORCH = "kernels and rules of one's own for PyTorch's operators", "an operator of one's own (torch.library.custom_op)"


def found(name):
    """The `Definition` of an operator that is given by its name, as an overload, a packet or what `custom_op` answers."""
    if hasattr(name, "_opoverload"):
        name = name._opoverload
    if isinstance(name, OpOverloadPacket):
        name = name.default
    if isinstance(name, OpOverload):
        if name.namespace == "aten":
            raise missing(*_OF_PYTORCH)
        return name._definition
    if not isinstance(name, str):
        raise ValueError(f"expected an operator or its name, got {type(name)}")
    if "::" not in name:
        raise ValueError(f"Expected `{name}` to be of the form `namespace::name`")
    definition = DEFINED.get(name.removesuffix(".default"))
    if definition is None and name.startswith("aten::"):
        raise missing(*_OF_PYTORCH)
    if definition is None:
        raise RuntimeError(f"operator {name} does not exist")
    return definition
