"""What a public function does that is given a nested tensor: looked up by its name in the table of its layout.

Owns: `Nested`, whose table the rooms of operations fill with `answers`; what goes on as it is, because it asks for nothing but shape, type
and history, or is made of functions that are asked in their turn; the functions that go element by element, which are those of the values;
PyTorch's error for the rest. The layer of `tensor.calling.asking` calls it. May not know: what the operations do.
"""
from ..tensor.calling.answers import Answers, name_of
from ..tensor.core import Tensor

# They ask a tensor for its shape, type, device and history alone, or the class of nested tensors has its own.
PLAIN = frozenset("""
    dim ndimension size stride numel nelement element_size is_floating_point is_complex is_signed get_device requires_grad_ values
    register_hook retain_grad backward register_post_accumulate_grad_hook is_inference __len__ __hash__ is_tensor detach_ __reduce_ex__
    __deepcopy__ __repr__ __format__ can_cast result_type is_distributed is_conj is_neg _is_view grad_dtype module_load storage_offset
    data_ptr _is_zerotensor offsets lengths""".split())
# Made of functions that are asked themselves.
COMPOSITE = frozenset("__rpow__ __rtruediv__ __rdiv__ broadcast_tensors".split())


class Nested(Answers):
    """What the rooms below ask for the tensors of a layout: they do not know the rooms here. ``other(name, entry, args, kwargs)``: what is
    done that is not in the table; `PASS` where the function itself is to go on."""

    def __init__(self, rooms, other, tidy):
        super().__init__(__package__, rooms, tidy)
        self.other = other

    def answer(self, entry, args, kwargs, nobody):
        """What a function does for these arguments, one of which is of the class; ``nobody`` where it is to do what it did."""
        name = name_of(entry)
        if name is None:
            return nobody
        function = self.found(name)
        if function is not None:
            found = function(*args, **kwargs)
        elif name in PLAIN or name in COMPOSITE:
            return nobody
        else:
            found = self.other(name, entry, args, kwargs)
        return nobody if found is PASS else found


PASS = object()                    # what a function answers that the original is to answer


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
    if x._edge is None:
        x._values = x._values.contiguous()


JAGGED = Nested(("pointwise", "keeping", "shapes", "reducing", "products", "padding"), _other, _tidy)
answers = JAGGED.answers
