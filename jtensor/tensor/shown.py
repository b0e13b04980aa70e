"""What an operator's node shows of itself: `next_functions` as PyTorch has them, ``_saved_self``, ``_raw_saved_result``, input metadata.

Worked out when it is asked for, from the declaration and the plan; the engine does without it. May not know: how a backward runs.
"""
import weakref

from ..autograd import anomaly
from ..autograd import saved as saving
from ..autograd.graph import SECOND_TIME, Node, OperatorNode
from ..ops import saves
from ..ops.build import Wrapped
from ..ops.operator import Number, Operator, OptTensor, Static, TensorOrNumber, Tensors
from ..ops.operator import Tensor as TensorKind
from ..ops.registry import REGISTRY
from . import custom, history, quick
from .core import make_tensor
from .creating.from_data import tensor
from .recording import inplace, writers
from .replaying import replay
from .values import read, read_at, wrap
from .viewing import views

_places = weakref.WeakKeyDictionary()


def places_shown(node):
    """For each of PyTorch's `next_functions` the position among the node's edges, or None."""
    plan = node.plan
    operator = plan.operator
    if not isinstance(operator, Operator):
        return range(len(node.edges))
    if operator.backward == "NotImplemented":                      # PyTorch makes these for whatever needs a gradient, by hand
        return [at for at, edge in enumerate(node.edges) if edge is not None]
    found = _places.get(plan)
    if found is None:
        found = _places[plan] = _places_of(operator, plan)
    return found


def _places_of(operator, plan):
    found = []
    where = plan.notes.where
    for parameter in operator.parameters:
        kind = parameter.kind
        if kind is Number and operator.backward == "IndexPutBackward0":                # PyTorch makes a number that is written a tensor
            found.append(None)
        if kind is Static or kind is Number or parameter.name in operator.nondiff:
            continue
        at = where.get(parameter.name)
        if kind is Tensors:
            found.extend(at)
        elif at is not None and at >= 0:
            found.append(at)
        elif kind is OptTensor and (operator.grad is None or parameter.name in operator.grad):
            found.append(None)
        elif kind is TensorOrNumber and not operator.name.endswith("_Scalar"):      # an overload for numbers has no edge for them
            found.append(None)
    return tuple(found)


# -- what is saved ----------------------------------------------------------------------------------------------------


FREED = ("Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call "
         ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
         "need to access saved variables after calling backward.")


class SavedTensor:
    """One saved tensor of a node; hooks may still be given to it."""

    __module__ = "torch._C._autograd"

    def __init__(self, node, at, code):
        self._node, self._at, self._code = node, at, code

    def _entry(self):
        return None if self._node.saved is None or self._at is None else self._node.saved[self._at]

    def _packed(self):
        entry = self._entry()
        return entry if isinstance(entry, saving.Packed) else None

    @property
    def data(self):
        """What is kept: of hooks what the first has answered, else the tensor (of a result without its history)."""
        packed = self._packed()
        if packed is not None:
            return packed.packed
        if self._entry() is None:
            return None
        found = _saved(self._node, self._at, self._code)
        return found._detached() if self._code < 0 else found

    @property
    def unpack_hook(self):
        """The second of its hooks, or None."""
        packed = self._packed()
        return None if packed is None else packed.undo

    def unpack(self):
        """The tensor, as a backward gets it."""
        return None if self._at is None else _saved(self._node, self._at, self._code)

    def register_hooks(self, pack_hook=None, unpack_hook=None):
        """Hands the saved tensor to ``pack_hook``, and what that answers to ``unpack_hook`` when it is used."""
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): incompatible function arguments. The following argument types are supported:\n"
                            "    two functions, of what is saved and of what the first has answered")
        if self._at is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if self._node.saved is None:
            raise RuntimeError(FREED)
        if self._packed() is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
                               "is allowed at a time.")
        entries = list(self._node.saved)
        entries[self._at] = saving.packed_by(pack_hook, unpack_hook, _saved(self._node, self._at, self._code)._detached())
        self._node.saved = entries


def attribute(node, name):
    """``node._saved_<name>`` and ``node._raw_saved_<name>``."""
    raw = name.startswith("_raw_saved_")
    if (raw or name.startswith("_saved_")) and isinstance(node.plan.operator, Operator):
        asked = name[len("_raw_saved_" if raw else "_saved_"):]
        operator = node.plan.operator
        if asked in _names(operator):
            if _is_static(operator, asked) and not raw:
                return _static(node, asked)
            return _entry(node, asked, raw)
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


def listed(node):
    """`dir(node)`: with the names of what it has saved."""
    operator = node.plan.operator
    names = _names(operator) & {*operator.by_name, "result"} if isinstance(operator, Operator) else ()
    own = Node.__dir__(node)
    return sorted({*own, *[lead + name for name in names for lead in ("_saved_", "_raw_saved_")
                           if lead == "_saved_" or not _is_static(operator, name)]})


def _is_static(operator, name):
    return name in operator.by_name and operator.parameters[operator.by_name[name]].kind in (Static, Number)


def _names(operator):
    """All names that the gradient of an operator may ask for."""
    if operator.grad is not None:
        return {name for formula in operator.grad.values() if formula is not None for name in formula[1]} - _OWN
    saves = operator.saves
    if saves is None:
        return {p.name for p in operator.parameters if p.kind in (TensorKind, TensorOrNumber, OptTensor)}
    return {name for names in saves.values() for name in names} if isinstance(saves, dict) else set(saves)


def _static(node, name):
    value = node.plan.notes.template[node.plan.operator.by_name[name]]
    where = node.plan.notes.where.get(name)
    if where is not None:
        value = node.scalars[~where]
    if type(value) is int and not isinstance(node.plan.notes.template[node.plan.operator.by_name[name]], Wrapped):
        value %= 1 << 64                                       # PyTorch shows whole numbers without a sign
    return (value,) if name == "dim" and type(value) is int and node.name() in _OF_SEVERAL else value


_OF_SEVERAL = frozenset("""SumBackward1 MeanBackward1 NansumBackward0 StdBackward0 VarBackward0 StdMeanBackward0 VarMeanBackward0
                           LogsumexpBackward0 AmaxBackward0 AminBackward0 NormBackward1 NormBackward2""".split())
"""Nodes whose ``_saved_dim`` is a tuple in PyTorch, however many dimensions there are."""
_OWN = frozenset(("flips", "rows"))
"""What only this library's gradients ask for."""


def _entry(node, name, raw):
    if node.saved is None and not raw:
        raise RuntimeError(SECOND_TIME)
    codes = saves.codes(node.plan, node.needs)
    code = ~0 if name == "result" else node.plan.notes.where.get(name)
    if type(code) is int and code < 0 and name != "result" and not raw:
        return tensor(node.scalars[~code]) if name == "other" else node.scalars[~code]
    if code is None or type(code) is tuple or code not in codes:
        return SavedTensor(node, None, None) if raw else None
    at = codes.index(code)
    return SavedTensor(node, at, code) if raw else _saved(node, at, code)


def _saved(node, at, code):
    """A saved entry as a tensor with its history, its version checked."""
    if node.saved is None:
        raise RuntimeError(SECOND_TIME)
    entry, edge = node.saved[at], (node, ~code) if code < 0 else node.edges[code]
    if isinstance(entry, saving.Packed):
        found = entry.unpack()
        return found if edge is None else history.led_by(found._detached(), edge)
    value = saving.value(entry, node, code, read, read_at)
    if type(entry) is tuple and len(entry) == 2:
        return entry[0]
    if type(entry) is tuple:
        made = make_tensor(entry[0], entry[1], entry[2])
        made._counter = entry[3]
    else:
        made = wrap(value, (node.plan.specs[~code] if code < 0 else node.plan.notes.specs[code]))
    return made if edge is None else history.led_by(made, edge)


# -- metadata ---------------------------------------------------------------------------------------------------------


class _InputMetadata:
    """Shape, dtype and device of what a node's output is, and so of the gradient it takes."""

    __module__ = "torch._C._autograd"

    def __init__(self, spec):
        self.shape, self.dtype, self.device = list(spec.size), spec.dtype, spec.device
        self.is_nested_tensor = self.is_cpp_nested_tensor = False


def snapshot(tensor):
    """The value that a tensor has now."""
    return read(tensor), tensor._spec


def restore(packed):
    return wrap(*packed)


class _Shown:
    """What a node shows under one name, if its operator saves that. A `__getattr__` would make every look at a node ten times as dear."""

    def __init__(self, name):
        self.name = name

    def __get__(self, node, cls=None):
        return self if node is None else attribute(node, self.name)


def install():
    """Gives operators' nodes all names that any operator's gradient may ask for."""
    for operator in REGISTRY.operators.values():
        for name in _names(operator):
            for lead in ("_saved_", "_raw_saved_"):
                if not hasattr(OperatorNode, lead + name):
                    setattr(OperatorNode, lead + name, _Shown(lead + name))


OperatorNode.places_shown, OperatorNode.__dir__ = places_shown, listed
OperatorNode._input_metadata = property(lambda node: tuple(_InputMetadata(s) for s in node.plan.specs))
custom.FunctionNode._input_metadata = property(lambda node: tuple(None if s is None else _InputMetadata(s) for s in node.made))
for _room in (history, replay, inplace, quick, writers, views):
    anomaly.numbers_nodes(_room)
del _room
__all__ = ["SavedTensor", "restore", "snapshot"]
