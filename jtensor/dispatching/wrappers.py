"""Tensors of classes with ``__torch_dispatch__``, and among them wrappers: tensors of a size and type that hold no numbers themselves.

Owns: how they are made, what stands in the place of a wrapper's memory, `return_and_correct_aliasing`. May not know: who is asked when.
"""
from ..base import devices, dtypes, geometry
from ..base.below import STATE, Layer
from ..base.errors import missing
from ..storage import cell
from ..tensor.core import Tensor, make_tensor
from ..trace import spec as specs
from ..trace.tape import hosted
from . import doors, schemas
from .asking import ALIVE, CLASSES, HOLDERS


class _Disabled:
    """`Tensor.__torch_dispatch__`, as a subclass calls it: the operator on the tensors as they are. Like PyTorch's it is no method."""

    __name__ = __qualname__ = "_disabled_torch_dispatch_impl"

    def __call__(self, func, types, args=(), kwargs=None, /):
        before, STATE.kernel = STATE.kernel, True
        try:
            return func._definition(args, kwargs or {})
        finally:
            STATE.kernel = before

    def __repr__(self):
        return "<built-in function _disabled_torch_dispatch_impl>"


disabled = Tensor.__torch_dispatch__ = _Disabled()


def admit(cls, holds=True):
    """Says that there are tensors of a class: from here on it is asked below autograd. ``holds``: they have numbers themselves."""
    if holds and cls.__torch_dispatch__ is not disabled:
        HOLDERS.add(cls)
    if cls.__torch_dispatch__ is not disabled and cls not in CLASSES:
        if not CLASSES:
            doors.open_doors()
        CLASSES.add(cls)


class _Nothing:
    """In the place of a wrapper's memory: only autograd looks there, for what a node is made of."""

    wraps = True

    def __init__(self, layout):
        self.layout = layout

    def current(self, storage):
        """A value for what is recorded and then thrown away; any other look is refused."""
        if not STATE.kernel:
            raise missing(*_NUMBERS)
        import numpy as np
        return hosted(np.zeros(self.layout.size, self.layout.dtype.numpy), self.layout.aval)

    def put(self, storage, value, spec, offset):
        """What is written is nobody's."""

    def address(self):
        return 0

    def rebase(self, layout):
        self.layout = layout

    def __getattr__(self, name):
        raise missing(*_NUMBERS)


_NUMBERS = "numbers of a tensor whose class answers for it by __torch_dispatch__", "the tensors that it holds"


def wrapper(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False,
            requires_grad=False, dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False,
            _extra_dispatch_keys=None, storage_size=None):
    """`Tensor._make_wrapper_subclass`."""
    if not hasattr(cls, "__torch_dispatch__") or cls.__torch_dispatch__ is disabled:
        raise RuntimeError(f"{cls.__name__} must define __torch_dispatch__")
    if dispatch_sizes_strides_policy is not None or dispatch_device or dispatch_layout:
        raise missing("wrappers that answer for their size, device or layout themselves", "a wrapper that is told them when it is made")
    admit(cls, False)
    size = tuple(size)
    if strides is None and memory_format is not None:
        strides = geometry.strides_in_format(size, memory_format)
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    place = devices.place(devices.current() if device is None else devices.device(device))
    spec = specs.spec(size, None if strides is None else tuple(strides), kind, place)
    storage = cell.new(None, spec)
    storage.spec, storage.host = None, _Nothing(spec)
    made = make_tensor(storage, spec, storage_offset or 0, cls)
    ALIVE.add(made)
    if requires_grad:
        if not kind.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made.requires_grad_()
    return made


def return_and_correct_aliasing(func, args, kwargs, out):
    """What a wrapper's handler answers in the end: ``out``, with its memory that of the argument of which it is a view, or the argument
    itself where the operator writes to it."""
    schema = next(schema for schema in schemas.forms(func.__name__.partition(".")[0])
                  if (schema.overload_name or "default") == func.__name__.partition(".")[2])
    given = dict(zip([argument.name for argument in schema.arguments], args, strict=False)) | (kwargs or {})
    by_alias = {argument.type.alias.removesuffix("!"): given.get(argument.name) for argument in schema.arguments
                if argument.type.alias and not argument.type.is_list}
    outs = out if isinstance(out, (tuple, list)) else (out,)
    made = []
    for kind, one in zip(schema.returns * (len(outs) if len(schema.returns) == 1 else 1), outs, strict=False):
        of = by_alias.get(kind.alias.removesuffix("!")) if kind.alias else None
        if of is not None and kind.mutated:
            one = of
        elif isinstance(of, Tensor) and isinstance(one, Tensor) and type(one._storage.host) is _Nothing:
            one._storage, one._counter = of._storage, of._counter
        made.append(one)
    return type(out)(made) if isinstance(out, (tuple, list)) else made[0]


Layer.admit, Layer.wrapper, Layer.aliased = admit, wrapper, return_and_correct_aliasing
Layer.open, Layer.close = doors.open_doors, doors.close_doors
