"""What a public function does that is given a nested tensor: looked up by its name in the table of its layout.

Owns: `Nested`, whose table the rooms of operations fill with `answers`; what goes on as it is, because it asks for nothing but shape, type
and history, or is made of functions that are asked in their turn; the functions that go element by element, which are those of the values;
PyTorch's error for the rest. The layer of `tensor.calling.asking` calls it. May not know: what the operations do.
"""
import importlib
import sys

from ..tensor.core import Tensor
from ..trace.tape import LOCAL

# They ask a tensor for its shape, type, device and history alone, or the class of nested tensors has its own.
PLAIN = frozenset("""
    dim ndimension size stride numel nelement element_size is_floating_point is_complex is_signed get_device requires_grad_ values
    register_hook retain_grad backward register_post_accumulate_grad_hook is_inference __len__ __hash__ is_tensor detach_ __reduce_ex__
    __deepcopy__ __repr__ __format__ can_cast result_type is_distributed is_conj is_neg _is_view grad_dtype module_load storage_offset
    data_ptr _is_zerotensor offsets lengths""".split())
# Made of functions that are asked themselves.
COMPOSITE = frozenset("__rpow__ __rtruediv__ __rdiv__ broadcast_tensors".split())
_OPERATIONS = frozenset("T mT H mH real imag".split())           # properties that are none


class Nested:
    """What the rooms below ask for the tensors of a layout: they do not know the rooms here.

    ``table``: {name of a public function or method: what it does when one of its tensors is of the class}, which ``rooms`` fill once they
    are imported. ``other(name, entry, args, kwargs)``: what is done that is not in it; `PASS` where the function itself is to go on.
    ``tidy(x)``: makes the memory of a tensor without history contiguous.
    """

    def __init__(self, rooms, other, tidy):
        self.table, self.rooms, self.other, self.tidy = {}, rooms, other, tidy

    def answers(self, *names):
        """A decorator: the function is what public functions of these names do, and methods, when one of their tensors is of the class."""
        def put(function):
            self.table.update(dict.fromkeys(names, function))
            return function
        return put

    def answer(self, entry, args, kwargs, nobody):
        """What a function does for these arguments, one of which is of the class; ``nobody`` where it is to do what it did."""
        name = name_of(entry)
        if name is None:
            return nobody
        rooms, self.rooms = self.rooms, ()
        for room in rooms:
            importlib.import_module("." + room, __package__)
        function = self.table.get(name)
        if function is not None:
            found = function(*args, **kwargs)
        elif name in PLAIN or name in COMPOSITE:
            return nobody
        else:
            found = self.other(name, entry, args, kwargs)
        return nobody if found is PASS else found

    def first(self, grad):
        """What a leaf keeps of the first gradient that comes: the very tensor, or a copy of it if somebody else may hold it."""
        fresh = grad._auto is None and grad._edge is None and not grad._requires_grad and sys.getrefcount(grad) <= _FRESH
        kept = grad.detach() if fresh and not LOCAL.grad_enabled else grad.clone()
        if kept._edge is None:
            self.tidy(kept)
        return kept


_FRESH = 7                         # the engine's names for it, those of the functions on the way, getrefcount's argument
PASS = object()                    # what a function answers that the original is to answer


def name_of(entry):
    """The name of a function in the tables; None for properties that are no operations."""
    kind = entry.title.removeprefix("torch.") if entry.key is None else entry.title.rpartition(".")[2]
    name = (entry.key or kind).removeprefix("Tensor.")
    return None if kind in ("__get__", "__set__", "__delete__") and name not in _OPERATIONS else name


def unknown(name):
    """PyTorch's error for an operator that nested tensors of this layout do not have."""
    return NotImplementedError(f"aten.{ATEN.get(name, name + '.default')}")


ATEN = {"cumsum": "cumsum.default", "__getitem__": "index.Tensor", "std": "std.correction", "var": "var.correction", "norm":
        "norm.ScalarOpt_dim", "argsort": "sort.default", "__floordiv__": "floor_divide.default", "floor_divide": "floor_divide.default"}


def tensors_in(args):
    """The tensors among arguments."""
    return [x for x in args if isinstance(x, Tensor)]


def _other(name, entry, args, kwargs):
    from .pointwise import by_element
    return by_element(name, entry, args, kwargs)


def _tidy(x):
    x._values = x._values.contiguous()


JAGGED = Nested(("pointwise", "keeping", "shapes", "reducing", "products", "padding"), _other, _tidy)
answers = JAGGED.answers
