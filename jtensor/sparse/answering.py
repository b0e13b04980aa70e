"""What a public function does that is given a sparse tensor: looked up by its name in the table of its layout.

Owns: `Layout`, whose table the rooms of operations fill with `answers`; what goes on as it is, because it asks for nothing but shape, type
and history, or is made of functions that are asked in their turn; PyTorch's error for the rest. The layer of `tensor.calling.asking`
calls it. May not know: what the operations do.
"""
from ..tensor.calling.answers import Answers, name_of
from ..tensor.calling.refusals import refusal
from .refusals import of_coordinates

# They ask a tensor for its shape, type, device and history alone.
_PLAIN = frozenset("""
    dim ndimension size numel nelement element_size is_floating_point is_complex is_signed is_same_size get_device requires_grad_
    register_hook retain_grad backward register_post_accumulate_grad_hook is_inference __len__ __hash__ is_tensor detach_ __reduce_ex__
    __deepcopy__ __repr__ __format__ can_cast result_type is_distributed is_conj is_neg _is_view grad_dtype module_load""".split())
# Made of functions that are asked themselves.
_COMPOSITE = frozenset("""
    svd_lowrank pca_lowrank atleast_1d atleast_2d atleast_3d new_tensor concat concatenate""".split())


class Layout(Answers):
    """What the rooms below ask for the tensors of a class: they do not know the rooms here. ``refusal(name, args)``: the error of what is
    not in the table."""

    def __init__(self, rooms, refusal):
        super().__init__(__package__, rooms, _tidy)
        self.refusal = refusal

    def through(self, node, grad, rules):
        """What a dense function's node makes of a sparse gradient."""
        from .passing import through
        return through(node, grad, rules)

    def answer(self, entry, args, kwargs, nobody):
        """What a function does for these arguments, one of which is of the class; ``nobody`` where it is to do what it did."""
        name = name_of(entry)
        if name is None:
            return nobody
        function = self.found(name)
        if function is not None:
            try:
                found = function(*args, **kwargs)
            except Exception:
                if (known := _ill_called(entry, args, kwargs)) is None:
                    raise
                found = known
            return nobody if found is PASS else found
        if name in _PLAIN or name in _COMPOSITE or entry.key is None:
            return nobody
        if (found := _ill_called(entry, args, kwargs)) is not None:
            return found
        raise self.refusal(name, args)


def _ill_called(entry, args, kwargs):
    """After a call has failed: raises PyTorch's error if it is one of a form that its parser does not take. Of an operator, which leaves
    the other operand to answer then, NotImplemented; None where the form is right."""
    if entry.operator:
        other = args[1:]
        unknown = refusal("Tensor.mul", other, kwargs) if entry.python and other else refusal(entry.key, other, kwargs)
        return None if unknown is None else NotImplemented
    error = refusal(entry.key, args[entry.method:], kwargs) if entry.key is not None else None
    if error is not None:
        raise error from None
    return None


def _tidy(x):
    x._elements = x._elements.contiguous()


PASS = object()                    # what a function of the table answers that the original is to answer


COORDINATES = Layout(("arithmetic", "complexes", "products", "moving", "reducing", "keeping", "resizing", "alike", "composed"),
                     of_coordinates)
answers = COORDINATES.answers
