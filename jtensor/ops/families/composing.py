"""What composites of several operators share: results put into ``out=``, scaled terms, sizes a tensor may be expanded to, views by name.

Owns: helpers that touch tensors only through their public methods or, where PyTorch's graph asks for a node of a certain name, through
`jtensor.tensor.viewing.views`, imported when called. May not know: any operator.
"""
import functools

import jax.numpy as jnp
import numpy as np

from ...base import dtypes
from ...base.naming import type_name
from ...base.return_types import as_many, written_type
from ...trace.tape import LOCAL
from ...views.rules import expand
from ..fitting import number_fits
from .numeric import cast


def is_number(x):
    """Whether an argument is a number of Python's or NumPy's."""
    return isinstance(x, (int, float, complex, np.generic))


def is_one(number):
    """Whether a `Number` was left at its default 1."""
    return type(number) is int and number == 1


def times(x, number):
    """``x * number`` in the type of ``x``; a number left at 1 costs nothing."""
    return x if is_one(number) else x * cast(number, x.dtype)


def conj_times(x, number):
    """``x * conj(number)``."""
    return x if is_one(number) else x * jnp.conj(cast(number, x.dtype))


def check_expand(self, target):
    """PyTorch's error where a tensor (a Spec) cannot be expanded to ``target``."""
    expand(tuple(self.size), self.stride, 0, tuple(target), dtypes.scalar_name(self.dtype))


@functools.cache
def _above():
    """The rooms of tensors that are used here; an import at every call would cost as much as recording an operator."""
    from ...tensor.recording import inplace
    from ...tensor.viewing import shapes, views
    return inplace, shapes, views


def history_allows(self, *others):
    """Asks whether autograd lets a tensor be written to, which PyTorch does before it checks arguments."""
    _above()[0].history_allows(self, *others)


def with_history(made, source):
    """``made``, fresh, as other values of ``source``: a gradient of it goes where one of ``source`` goes."""
    if LOCAL.grad_enabled and source.requires_grad:
        made._edge, made._requires_grad = _above()[0].edge_of(source), True
    return made


def memory_allows(self, *others, internal=False):
    """Asks that no operand of a write by index shares memory with the tensor; ``internal``: nor elements of it with one another."""
    inplace = _above()[0]
    if internal:
        inplace.checks.no_internal_overlap(self)
    inplace.memory_allows(self, *others)


def held_number_fits(value, dtype):
    """Looks at the number in a 0-d tensor that becomes one of this type, where that type might not hold it; PyTorch always looks."""
    own = value._spec.dtype
    if own is dtype or dtype.category == 0 or dtype.category > 1 and not own.is_complex:
        return
    if own.category < 2 and (own.category == 0 or np.can_cast(own.numpy, dtype.numpy)):
        return
    if own.category < 3 or not dtype.is_complex:
        number_fits(value.item(), dtype)


def view_named(tensor, rule, name, *args):
    """A view made by a geometry rule, whose node has a given name."""
    return _above()[2].view_of(tensor, rule, name, *args)


def unsafe_view(tensor, size):
    """A fresh result under another shape, which PyTorch does not count as a view."""
    return _above()[1].unsafe_view(tensor, tuple(size))


def share_memory(a, b):
    """Whether the intervals of one storage that two tensors lie in meet."""
    if a._storage is not b._storage or not a._spec.numel or not b._spec.numel:
        return False
    ends = [(t._offset, t._offset + sum((n - 1) * s for n, s in zip(t._spec.size, t._spec.stride, strict=True))) for t in (a, b)]
    return ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]


class _Named:
    """Stands for an operator where an ``out=`` check wants a name."""

    promote = None

    def __init__(self, name):
        self.name = name


def no_bools(*numbers):
    """Refuses truth values where PyTorch wants ints. `refusals` has its words for the public function."""
    for n in numbers:
        if n is True or n is False:
            raise TypeError("an int is wanted, not bool")


class _NotGiven:
    """Stands for an argument that was not given, where its default, written out, is refused or means something else."""

    def __repr__(self):
        return "<not given>"


NO_DIM, NO_KEEPDIM, NO_DECIMALS = _NotGiven(), _NotGiven(), _NotGiven()


def no_none(dim):
    """Refuses a ``dim`` that is None. `refusals` has PyTorch's words for the public function."""
    if dim is None:
        raise TypeError("dim must be int")


def no_keepdim(keepdim):
    """Refuses ``keepdim``, False too, of a call that names no dimension. `refusals` has PyTorch's words for the public function."""
    if keepdim is not NO_KEEPDIM:
        raise TypeError("keepdim goes with dim")


def no_out():
    """Refuses ``out`` of a call that names no dimension, likewise."""
    raise TypeError("out goes with dim")


def only_bools(function, **given):
    """Refuses what is no truth value, in the words of PyTorch's ``function``."""
    for name, value in given.items():
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{function}(): argument '{name}' must be bool, not {type_name(type(value))}")


def only_tensors(items, argument=0):
    """Refuses a list that holds something else than tensors, as PyTorch does when it unpacks an ``argument``."""
    for k, t in enumerate(items):
        if not hasattr(t, "_spec"):
            raise TypeError(f"expected Tensor as element {k} in argument {argument}, but got {type_name(type(t))}")


def no_history(name, *tensors):
    """Refuses ``out=`` of a function where one of its tensors needs a gradient."""
    if LOCAL.grad_enabled:
        from ...autograd.gradmode_checks import no_out_history
        no_out_history(name, *tensors)


def put_out(name, result, out, apart=(), kernel=None, copied=False, asked_first=False, recorded=False, fold=None):
    """A composite's result written to ``out`` (a tensor, or a tuple of them), which is answered; it may not share memory with ``apart``.

    ``kernel``: who complains of a type to write to, where that is not the composite. ``copied``: PyTorch computes elsewhere and
    copies, so that memory which has to grow lies row by row, however the result does. ``asked_first``: it asks about elements in one place
    before it resizes, as operators that go element by element do. ``recorded``: PyTorch copies to ``out`` as users would, with a history.
    ``fold``: what stays in places that elements of ``out`` share (`Quirks.out_fold`).
    """
    if out is None:
        return result
    from ...autograd import gradmode_checks as checks
    from ...tensor.dispatch import write_out
    results, outs = (result, out) if isinstance(result, tuple) else ((result,), (out,))
    as_many(results, outs)
    if not recorded:
        no_history(name, *results, *outs)
    for place, (made, target) in enumerate(zip(results, outs, strict=True)):
        if fold is None and (target._spec.size == made._spec.size or asked_first):         # else it is given other memory first
            checks.no_internal_overlap(target)
        if any(share_memory(target, t) for t in apart):
            raise RuntimeError(checks.PARTIAL)
        checks.out_fits(_Named(kernel or name), made, target, place=place)
    for made, target in zip(results, outs, strict=True):
        write_out(made.contiguous() if copied else made, target, recorded=recorded, fold=fold)
    return written_type(type(result))(outs) if isinstance(result, tuple) else out
