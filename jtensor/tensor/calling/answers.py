"""What public functions do when one of their tensors is of a class that has no memory of its own: looked up by the function's name.

Owns: `Answers`, the table of such a class, which its rooms of operations fill. The classes, what goes on as it is, and the errors for what
is not in the table are in `jtensor.sparse` and `jtensor.nested`. May not know: what the operations do.
"""
import importlib
import sys

from ...trace.tape import LOCAL


class Answers:
    """``table``: {name of a public function or method: what it does when one of its tensors is of the class}, which ``rooms`` of a
    ``package`` fill once they are imported. ``tidy(x)``: makes the memory of a gradient that is kept contiguous."""

    through = None                 # (node, gradient, rules): what the backward of a dense function makes of such a gradient, if it can

    def __init__(self, package, rooms, tidy):
        self.table, self.package, self.rooms, self.tidy = {}, package, rooms, tidy

    def answers(self, *names):
        """A decorator: the function is what public functions of these names do, and methods, when one of their tensors is of the class."""
        def put(function):
            self.table.update(dict.fromkeys(names, function))
            return function
        return put

    def found(self, name):
        """What the function of a name does, None if it is not in the table."""
        for room in self.rooms:
            importlib.import_module("." + room, self.package)
        self.rooms = ()                                  # afterwards, so that another thread waits for the imports
        return self.table.get(name)

    def first(self, grad):
        """What a leaf keeps of the first gradient that comes: the very tensor, or a copy of it if somebody else may hold it."""
        fresh = grad._auto is None and grad._edge is None and not grad._requires_grad and sys.getrefcount(grad) <= _FRESH
        kept = grad.detach() if fresh and not LOCAL.grad_enabled else grad.clone()
        self.tidy(kept)
        return kept


_FRESH = 7                         # the engine's names for it, those of the functions on the way, getrefcount's argument
_OPERATIONS = frozenset("T mT H mH real imag".split())           # properties that are none


def name_of(entry):
    """The name of a function in the tables; None for properties that are no operations."""
    kind = entry.title.removeprefix("torch.") if entry.key is None else entry.title.rpartition(".")[2]
    name = (entry.key or kind).removeprefix("Tensor.")
    return None if kind in ("__get__", "__set__", "__delete__") and name not in _OPERATIONS else name
