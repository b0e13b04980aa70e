"""Operators that make tensors out of numbers, and copies: what the factory functions of `jtensor.tensor.creating.create` record.

They take ``dtype`` and ``device`` as statics and sizes as tuples; defaults and PyTorch's argument forms are settled before.
"""
import jax
import jax.numpy as jnp
import numpy as np

from ...base import geometry
from ...trace.plan import is_particular
from ..build import cast_to
from ..operator import RAW, Number, Tensor, op
from ..quirks import Quirks


@op(name="zeros_of", **RAW)
def zeros_of(size, dtype, device):
    return jnp.zeros(size, dtype.numpy)


@op(name="full_of", **RAW)
def full_of(size, value: Number, dtype, device):
    return jnp.broadcast_to(cast_to(value, dtype.numpy), size)


@op(name="arange_of", **RAW)
def arange_of(count, start: Number, step: Number, dtype, device):
    """PyTorch's loop makes the first number of a register, rounds it, and counts on from there; the last ones it makes one by one."""
    at = jax.lax.iota(jnp.int64, count)
    if dtype.category < 2:
        return cast_to(start.astype(jnp.int64) + at * step.astype(jnp.int64), dtype.numpy)
    whole = _once_rounded(start, step, at)
    if dtype.itemsize < 4:
        return cast_to(whole, dtype.numpy)
    is_particular()
    width = REGISTER // dtype.itemsize
    first = cast_to(_once_rounded(start, step, at - at % width), dtype.numpy)
    counted = _once_rounded(first, step, at % width)
    return cast_to(jnp.where(at < count - count % (2 * width), counted, whole), dtype.numpy)


REGISTER = 32               # bytes of the registers that PyTorch's loops use on x86-64, two a turn


def _once_rounded(start, step, at):
    """``start + step * at`` in float64 as a processor's fused step gives it; ``at``: integers below 2**26.

    The step is cut in two whose products are exact, and the error of the sum is carried over (Knuth, TAOCP 4.2.2).
    """
    start, step, at = start.astype(jnp.float64), step.astype(jnp.float64), at.astype(jnp.float64)
    bits = jax.lax.bitcast_convert_type(step, jnp.int64)
    high = jax.lax.bitcast_convert_type(bits >> 27 << 27, jnp.float64)
    product, rest = high * at, (step - high) * at
    total = start + product
    taken = total - start
    return total + (((start - (total - taken)) + (product - taken)) + rest)


def is_given(dtype):
    """Whether `linspace_of` is told the step, which is rounded once in that type; of complex and half numbers it works it out."""
    return dtype.category < 2 or dtype.category == 2 and dtype.itemsize >= 4


@op(name="linspace_of", **RAW)
def linspace_of(start: Number, end: Number, step: Number, steps, dtype, device):
    """From both ends towards the middle, so that both ends are exact. ``step``: where it `is_given`."""
    if not is_given(dtype):
        return cast_to(_evenly(start, end, steps, dtype), dtype.numpy)
    kind = jnp.int64 if dtype.category < 2 else dtype.numpy
    start, end = cast_to(start, kind), cast_to(end, kind)
    if steps == 1:
        return cast_to(jnp.broadcast_to(start, (1,)), dtype.numpy)
    at = jax.lax.iota(jnp.int64, steps)
    return cast_to(jnp.where(at < steps // 2, _once_rounded(start, step, at), _once_rounded(end, -step, steps - 1 - at)), dtype.numpy)


def evenly_on_the_host(start, end, steps, kind):
    """What `linspace_of` makes of two and more steps in float32 or float64, of NumPy's numbers."""
    start, end = kind(start), kind(end)
    step, at = np.longdouble((end - start) / kind(steps - 1)), np.arange(steps)
    return np.where(at < steps // 2, start + step * at, end - step * (steps - 1 - at)).astype(kind)


@op(name="logspace_of", **RAW)
def logspace_of(start: Number, end: Number, base: Number, steps, dtype, device):
    exponents = _evenly(start, end, steps, dtype)
    return cast_to(jnp.power(base.astype(exponents.dtype), exponents), dtype.numpy)


def _evenly(start, end, steps, dtype):
    """From both ends towards the middle, so that both ends are exact."""
    kind = dtype.numpy if dtype.category >= 2 and dtype.itemsize >= 4 else jnp.float64 if dtype.category < 2 else jnp.float32
    start, end = cast_to(start, kind), cast_to(end, kind)
    if dtype.category < 2:
        start, end = jnp.trunc(start), jnp.trunc(end)
    at = jax.lax.iota(jnp.int64, steps)
    step = (end - start) / jnp.asarray(max(steps - 1, 1), kind)
    return jnp.where(at < steps // 2, start + step * at.astype(kind), end - step * (steps - 1 - at).astype(kind)) if steps != 1 else \
        jnp.broadcast_to(start, (1,))


@op(name="eye_of", **RAW)
def eye_of(rows, columns, dtype, device):
    return cast_to(jax.lax.broadcasted_iota(jnp.int32, (rows, columns), 0) == jax.lax.broadcasted_iota(jnp.int32, (rows, columns), 1),
                   dtype.numpy)


# -- copies -----------------------------------------------------------------------------------------------------------


def _clone_layout(specs, outputs, statics):
    from ..layout import like
    size = tuple(specs[0].size)
    stride = geometry.strides_in_format(size, statics["memory_format"])
    return [like(size, specs[0].stride) if stride is None else stride]


@op(layout=_clone_layout, saves=(), moves=True, name="clone", double="=", quirks=Quirks(into_ordinary=True))
def clone(input: Tensor, *, memory_format=None):
    """A copy of the tensor in memory of its own, differentiable.

    >>> x = torch.tensor([1., 2.])
    >>> torch.clone(x) is x
    False
    """
    return input


@op(
    layout=lambda specs, outputs, statics: [None],
    saves=(),
    moves=True,
    name="contiguous_copy",
    backward="CloneBackward0",
    double="=",
    **RAW,
    quirks=Quirks(into_ordinary=True),
)
def contiguous_copy(self: Tensor):
    return self


def _cast_back(grad, node):
    """A gradient that has the type is handed on; that of a real tensor made complex is a view; other casts cast back."""
    wanted, given = node.plan.inputs[0].dtype, grad._spec.dtype
    return (grad,) if given is wanted or given.is_complex and not wanted.is_complex else None


@op(layout=_clone_layout, saves=(), name="_to_copy", backward="ToCopyBackward0", inverse=_cast_back, **RAW, double="ToCopyBackward0",
    quirks=Quirks(by_elements=True, into_ordinary=True, quiet_made=True))
def to_copy(self: Tensor, dtype, memory_format=None):
    return cast_to(self, dtype.numpy)


@op(layout="like", saves=(), inplace=True, overwrites="src", name="copy", backward="CopyBackwards", **RAW, double={"self": "-", "src": "="},
    quirks=Quirks(ends_in_view=True, quiet_written=True))
def copy(self: Tensor, src: Tensor):
    return jnp.broadcast_to(cast_to(src, self.dtype), self.shape)


@op(layout="like", saves=(), inplace=True, overwrites=True, name="fill", backward="FillBackward0", **RAW, double="-",
    quirks=Quirks(inplace_node="FillBackward2", overlap_allowed=True))
def fill(self: Tensor, value: Number):
    return jnp.broadcast_to(cast_to(value, self.dtype), self.shape)


@op(layout="like", saves=(), inplace=True, overwrites=True, name="fill_tensor", backward="FillBackward1", **RAW,
    double={"self": "-", "value": "SumBackward0"}, quirks=Quirks(keeps_complex=True, inplace_node="FillBackward3", anyhow=True))
def fill_tensor(self: Tensor, value: Tensor):
    return jnp.broadcast_to(cast_to(value, self.dtype), self.shape)


@op(layout="like", saves=(), inplace=True, overwrites=True, name="zero", backward="ZeroBackward0", **RAW, double="-",
    quirks=Quirks(overlap_allowed=True))
def zero(self: Tensor):
    return jnp.zeros_like(self)
