"""Values that stand for a batch of arrays: what `vmap` computes with.

Owns: `Batch`, a level whose values have one part, an array with the batch's dimension first; the plan of an operation for a batch, which is
`jax.vmap` of the operation's own function; how a value gets a batch's dimension and leaves it. May not know: tensors, operators.
"""
import textwrap

import jax
import jax.numpy as jnp

from ..base.bounded import MANY, Bounded
from . import plan as plans
from . import spec, tape
from .lifted import Level, Lifted, beneath, levels_of

_plans = Bounded(MANY)
CONTROL = ("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please "
           "file an issue at https://github.com/pytorch/pytorch/issues .")
ITEM = ("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to "
        "rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug "
        "report.")
NO_POINTER = "Cannot access data pointer of Tensor that doesn't have storage"
DYNAMIC = ("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}. Please file an "
           "issue at https://github.com/pytorch/pytorch/issues if you need this feature.")
INPLACE = ("vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
           "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try "
           "to use out-of-place operators instead of inplace arithmetic. If said operator is being called inside the PyTorch framework, "
           "please file a bug report instead.")
MASK = ("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean mask.")
MASKED = ("vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each batch this would "
          "return a differently shaped Tensor. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")
_CALLED = {"unique.raw": "_unique2", "unique_consecutive.raw": "unique_consecutive"}
_SEEN = {"mask_positions": MASK, "mask_places": MASKED, "item()": ITEM, "bool()": CONTROL, "tolist()": NO_POINTER, "numpy()": NO_POINTER}


class Batch(Level):
    """``size``: how many arrays; ``randomness``: what drawing numbers means inside."""

    extra = 1

    def __init__(self, size, randomness="error", depth=1, quiet=False):
        super().__init__(depth, quiet)
        self.size, self.randomness = size, randomness

    def kind(self):
        return type(self), self.size

    def record(self, plan, values, scalars):
        flags = tuple([v.position is tape.LIFTED and v.level is self for v in values])
        inner = [v.parts[0] if flag else v for v, flag in zip(values, flags, strict=True)]
        made = tape.record(batched_plan(plan, flags, self.size), inner, scalars)
        owed = any(v.owed for v, flag in zip(values, flags, strict=True) if flag)
        return [Lifted(self, (value,), aval, owed) for value, aval in zip(made, plan.outputs, strict=True)]

    def seen(self, value, reason):
        """Bounds are those of all arrays; nothing else can be seen, for there is no one answer."""
        if reason in ("index bounds", "value bounds"):
            return value.parts[0]
        raise RuntimeError(_SEEN.get(reason) or DYNAMIC.format(_CALLED.get(reason) or reason.removesuffix(".raw")))

    def text(self, part):
        return f"BatchedTensor(lvl={self.depth}, bdim=0, value=\n{textwrap.indent(part, '    ')}\n)"

    def left(self, value):
        """What has one gradient for all arrays gets the sum of theirs."""
        if beneath(value, self):
            return Lifted(value.level, tuple([self.left(part) for part in value.parts]), value.aval, value.owed)
        return tape.record(_summing(value.parts[0].aval), (value.parts[0],))[0] if self in levels_of(value) else value

    def entered(self, value):
        return spread(self, value, True)

    def admit(self):
        raise RuntimeError(INPLACE)

    def joined(self, value):
        return spread(self, value)


def batched_plan(plan, flags, size):
    """The plan of an operation for a batch: ``flags`` say which inputs have the batch's dimension, which comes first."""
    key = plan, flags, size
    found = _plans.get(key)
    if found is None:
        inputs = tuple([batched_aval(a, size) if flag else a for a, flag in zip(plan.inputs, flags, strict=True)])
        outputs = tuple([batched_aval(a, size) for a in plan.outputs])
        axes = (*[0 if flag else None for flag in flags], *[None] * len(plan.scalar_kinds))
        function = jax.vmap(plan.function, axes, 0, axis_size=size)
        found = _plans[key] = plans.Plan(("vmap", plan.key, plan.inputs, flags, size), function, inputs, outputs, plan.scalar_kinds,
                                         plan.moves)
    return found


def batched_aval(a, size):
    return spec.aval((size, *a.shape), a.dtype, a.device)


def _single(name, source, target, function, *extra):
    """A plan of one array that moves data or adds it up."""
    key = name, source, target, extra
    found = _plans.get(key)
    if found is None:
        found = _plans[key] = plans.Plan((name, source, *extra), lambda x: (function(x),), (source,), (target,), moves=name != "vmap sum")
    return found


def _summing(source):
    target = spec.aval(source.shape[1:], source.dtype, source.device)
    return _single("vmap sum", source, target, lambda x: x.sum(0, dtype=x.dtype))


def _turned(value, first, second):
    """A value with two dimensions exchanged."""
    shape = list(value.aval.shape)
    shape[first], shape[second] = shape[second], shape[first]
    target = spec.aval(tuple(shape), value.aval.dtype, value.aval.device)
    return tape.record(_single("vmap turn", value.aval, target, lambda x: jnp.swapaxes(x, first, second), first, second), (value,))[0]


def spread(level, value, owed=False):
    """One value for all arrays of a batch: a value of the level."""
    if beneath(value, level):
        return Lifted(value.level, tuple([spread(level, part, owed) for part in value.parts]), value.aval, value.owed)
    whole = batched_aval(value.aval, level.size)
    part = tape.record(_single("vmap spread", value.aval, whole, lambda x: jnp.broadcast_to(x[None], whole.shape), level.size), (value,))[0]
    return Lifted(level, (part,), value.aval, owed)


def taken_apart(level, value, owed=False):
    """The value of the level that an array with the batch's dimension first is."""
    aval = spec.aval(value.aval.shape[1:], value.aval.dtype, value.aval.device)
    if beneath(value, level):
        top = value.level
        parts = [_turned(part, 0, 1) if top.extra else part for part in value.parts]
        return Lifted(top, tuple([taken_apart(level, part, owed) for part in parts]), aval, value.owed)
    return Lifted(level, (value,), aval, owed)


def put_together(level, value):
    """The array with the batch's dimension first that a value of the level is; of any other value as many as the batch has."""
    whole = batched_aval(value.aval, level.size)
    if beneath(value, level):
        top = value.level
        parts = [put_together(level, part) for part in value.parts]
        parts = [_turned(part, 0, 1) if top.extra else part for part in parts]
        return Lifted(top, tuple(parts), whole, value.owed)
    if value.position is tape.LIFTED and value.level is level:
        return value.parts[0]
    return spread(level, value).parts[0]
