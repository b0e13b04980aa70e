"""Indexing with tensors: `x[i, j]`, `x[mask]`, `x[i, j] = v`, and `index_put`.

Owns: the operators `index` and `index_put`, and what comes before them: masks made index tensors, bounds checked. Basic indexing
(views) is in `jtensor.tensor.indexing`. May not know: tensors as objects, but in composites.
"""
import jax
import jax.numpy as jnp
import numpy as np

from ...base import devices, dtypes, sites
from ...base.naming import type_name
from ...trace.tape import LOCAL
from .. import layout
from ..build import broadcast_shapes, cast_to
from ..operator import RAW, Number, Tensor, Tensors, op
from ..quirks import Quirks
from ..registry import composite
from .bounds import check_bounds, out_of_bounds
from .composing import held_number_fits, history_allows, memory_allows, number_fits, only_tensors
from .create import full_of

_MASKS = (dtypes.bool, dtypes.uint8)
BYTES = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."

# -- shapes -----------------------------------------------------------------------------------------------------------


def _adjacent(dims):
    return all(b == a + 1 for a, b in zip(dims, dims[1:], strict=False))


def broadcast_indices(shapes):
    """The shape that index tensors broadcast to, or PyTorch's ``IndexError``."""
    try:
        return tuple(broadcast_shapes(shapes))
    except RuntimeError:
        shown = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shown}") from None


def result_shape(size, shapes, dims):
    """The shape of ``x[...]``: the index's own dimensions where the indexed ones were, in front if those are not adjacent."""
    own = broadcast_indices(shapes)
    rest = [n for d, n in enumerate(size) if d not in dims]
    at = dims[0] if dims and _adjacent(dims) else 0
    return (*rest[:at], *own, *rest[at:])


def _check_index(self, indices, dims, masks=()):
    result_shape(tuple(self.size), [tuple(s.size) for s in indices], dims)


def _strides(specs, outputs, statics):
    """As TensorIterator sees it: the tensor with the index's dimensions repeated, the indices with all others repeated."""
    dims = statics["dims"]
    self, indices = specs[0], specs[1:1 + len(dims)]
    own = broadcast_indices([tuple(s.size) for s in indices])
    rest = [s for d, s in enumerate(self.stride) if d not in dims]
    at = dims[0] if _adjacent(dims) else 0
    shape = outputs[0].shape
    operands = [(shape, (*rest[:at], *(0,) * len(own), *rest[at:]))]
    for s in indices:
        stride = layout.broadcast_strides(tuple(s.size), s.stride, own)
        operands.append((shape, (*(0,) * at, *stride, *(0,) * (len(rest) - at))))
    return [layout.pointwise(shape, operands)]


# -- bodies -----------------------------------------------------------------------------------------------------------


def _place(x, indices, dims):
    """The tuple that ``x[...]`` takes; small index types keep address arithmetic in 32 bits."""
    small = all(n < 1 << 31 for n in x.shape)
    place = [slice(None)] * x.ndim
    for d, index in zip(dims, indices, strict=True):
        place[d] = index.astype(jnp.int32) if small else index.astype(jnp.int64)
    return tuple(place)


def read_at(x, indices, dims):
    """``x[...]`` of arrays; indices are in bounds, negative ones count from the end."""
    if len(dims) == 1 and x.shape[dims[0]]:
        return _rows(x, indices[0], dims[0])
    return x.at[_place(x, indices, dims)].get(mode="promise_in_bounds")


def _rows(x, index, dim):
    """`read_at` of one index: the same equations, which jax.numpy takes more than three times as long to come to."""
    small = all(n < 1 << 31 for n in x.shape)
    index = index.astype(jnp.int32 if small else jnp.int64)
    if index.dtype.kind == "i":
        index = jax.lax.select(index < 0, index + index.dtype.type(x.shape[dim]), index)
    numbers = jax.lax.GatherDimensionNumbers(offset_dims=(*range(dim), *range(dim + index.ndim, index.ndim + x.ndim - 1)),
                                             collapsed_slice_dims=(dim,), start_index_map=(dim,))
    sizes = tuple(1 if d == dim else n for d, n in enumerate(x.shape))
    return jax.lax.gather(x, jax.lax.expand_dims(index, (index.ndim,)), numbers, sizes, mode="promise_in_bounds")


def add_at(x, indices, dims, values):
    """``x`` with ``values`` added, once for each time a place is named; narrow floats add up in float32."""
    if x.dtype == jnp.bool_:
        return x.at[_place(x, indices, dims)].max(values, mode="promise_in_bounds")
    if x.dtype in (jnp.float16, jnp.bfloat16):
        return add_at(x.astype(jnp.float32), indices, dims, values.astype(jnp.float32)).astype(x.dtype)
    return x.at[_place(x, indices, dims)].add(values, mode="promise_in_bounds")


def set_at(x, indices, dims, values):
    """``x`` with ``values`` in the places named."""
    return x.at[_place(x, indices, dims)].set(values, mode="promise_in_bounds")


def _masked():
    from ...tensor.replaying import masked
    return masked


def _has_masks(node):
    return node.plan.notes.where["masks"] != ()


def _index_gradient(grad, indices, dims, masks, shapes):
    return add_at(jnp.zeros(shapes[0], grad.dtype), indices, dims, grad)


@op(name="index.raw", backward="IndexBackward0", check=_check_index, layout=_strides, nondiff=("indices", "masks"),
    grad={"self": _index_gradient}, inverse=lambda grad, node: _masked().read_anew(grad, node) if _has_masks(node) else None, **RAW,
    double="IndexPutImplBackward0", quirks=Quirks(writes=1))
def index_raw(self: Tensor, indices: Tensors, dims, masks: Tensors = ()):
    """``self[..., i, j, ...]`` with the index tensors at ``dims``. ``masks``: what indices were made of, kept for the gradient's sake."""
    return read_at(self, indices, dims)


def _check_put(self, indices, values, dims, accumulate, masks=()):
    shape = result_shape(tuple(self.size), [tuple(s.size) for s in indices], dims)
    size = tuple(values.size)
    if len(size) > len(shape) or any(n not in (1, m) for n, m in zip(reversed(size), reversed(shape), strict=False)):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(size)} cannot be broadcast to indexing result of shape "
                           f"{list(shape)}")
    if self.dtype is not values.dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{dtypes.scalar_name(self.dtype)} for the destination and {dtypes.scalar_name(values.dtype)} for the source.")


def _put_self(grad, indices, dims, masks, accumulate):
    if accumulate:
        return grad
    return set_at(grad, indices, dims, jnp.zeros((), grad.dtype))


@op(name="index_put.raw", backward="IndexPutBackward0", check=_check_put, layout="like", nondiff=("indices", "masks"),
    grad={"self": _put_self, "values": lambda grad, indices, dims, masks: read_at(grad, indices, dims)},
    inverse=lambda grad, node: _masked().written_anew(grad, node) if _has_masks(node) else None, **RAW,
    quirks=Quirks(accumulates=True, overlap_allowed=True, overlap_warns=("index_put_",), apart=True))
def index_put_raw(self: Tensor, indices: Tensors, values: Tensor, dims, accumulate=False, masks: Tensors = ()):
    """``self`` with ``values`` written (or added) at the index tensors. ``masks``: as `index_raw` has them."""
    shape = result_shape(self.shape, [i.shape for i in indices], dims)
    return (add_at if accumulate else set_at)(self, indices, dims, jnp.broadcast_to(values, shape))


def _spread_mask(mask, shape, dim):
    return mask.reshape((1,) * dim + mask.shape + (1,) * (len(shape) - dim - mask.ndim)).astype(bool)


@op(name="index_put.mask", backward="IndexPutBackward0", layout="like", nondiff=("mask",), grad={
    "self": lambda grad, mask, dim: jnp.where(_spread_mask(mask, grad.shape, dim), jnp.zeros((), grad.dtype), grad),
    "values": lambda grad, mask, dim, shapes: _mask_values_gradient(grad, mask, dim, shapes[2])}, **RAW,
    quirks=Quirks(keeps_complex=True, overlap_allowed=True, overlap_warns=("index_put_",), apart=True, asked_before=True))
def index_put_mask(self: Tensor, mask: Tensor, values: Tensor, dim):
    """``self[mask] = values`` where the values do not differ from one chosen place to the next: a selection, without looking."""
    values = cast_to(values.reshape(()) if values.size == 1 else values, self.dtype)
    return jnp.where(_spread_mask(mask, self.shape, dim), values, self)


def _mask_values_gradient(grad, mask, dim, shape):
    chosen = jnp.where(_spread_mask(mask, grad.shape, dim), grad, jnp.zeros((), grad.dtype))
    if len(shape) <= grad.ndim - dim - mask.ndim:
        return chosen
    return chosen.sum().reshape(shape) if all(n == 1 for n in shape) else chosen.sum(tuple(range(dim + mask.ndim)))


@op(name="index_put.mask_number", backward="IndexPutBackward0", layout="like", nondiff=("mask",), grad={
    "self": lambda grad, mask, dim: jnp.where(_spread_mask(mask, grad.shape, dim), jnp.zeros((), grad.dtype), grad)}, **RAW,
    quirks=Quirks(overlap_allowed=True, overlap_warns=("index_put_", "masked_fill_"), apart=True, asked_before=True))
def index_put_mask_number(self: Tensor, mask: Tensor, value: Number, dim):
    """``self[mask] = number``."""
    return jnp.where(_spread_mask(mask, self.shape, dim), cast_to(jnp.asarray(value), self.dtype), self)


# -- before the operators ---------------------------------------------------------------------------------------------

@op(name="mask_positions", sync=True, nondiff=("self",), **RAW)
def mask_positions(self: Tensor):
    """The coordinates of what is not zero, an index for each dimension."""
    return tuple(np.nonzero(self))


def _mask_fits(self, mask, dim):
    size, shape = tuple(self._spec.size), tuple(mask._spec.size)
    for d, n in enumerate(shape):
        if size[dim + d] != n:
            raise IndexError(f"The shape of the mask {list(shape)} at index {d} does not match the shape of the indexed tensor "
                             f"{list(size)} at index {dim + d}")


def expanded(self, given):
    """Index tensors by dimension with masks taken apart: (tensors, dims). ``given`` are (dimension, tensor) pairs."""
    for _, index in given:
        if index._spec.dtype not in _TYPES:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    tensors, dims = [], []
    for dim, index in given:
        if index._spec.dtype in _MASKS:
            _mask_fits(self, index, dim)
            made = mask_positions(index)
            made[0].of_mask = True
            tensors.extend(made)
            dims.extend(range(dim, dim + len(made)))
        else:
            tensors.append(index)
            dims.append(dim)
    own = broadcast_indices([tuple(t._spec.size) for t in tensors])
    if 0 not in own and any(self._spec.size[d] == 0 for d in dims):
        raise IndexError("index is out of bounds for dimension with size 0")
    return tensors, tuple(dims)


_TYPES = (dtypes.int64, dtypes.int32, *_MASKS)


def _in_bounds(self, tensors, dims, given):
    if not self._spec.numel:                           # PyTorch asks at each element, and there are none
        return
    for at, (d, index) in enumerate(zip(dims, tensors, strict=True)):
        if any(index is t for _, t in given):          # else it is made from a mask
            size = self._spec.size[d]
            check_bounds(index, size, out_of_bounds(at, size), negative=True)


def _pairs(self, listed):
    """(dimension, tensor) of a list with an entry for each dimension of ``self``, those on the CPU sent to where that is."""
    return [(d, _beside(self, t)) for d, t in enumerate(listed) if t is not None]


def _beside(self, index):
    device, own = self._spec.device, index._spec.device
    if own is device or own is not devices.cpu and device is not devices.cpu:
        return index
    if own is not devices.cpu:
        if own is devices.meta:
            return index
        raise RuntimeError(f"indices should be either on {device} or on the same device as the indexed tensor ({device})")
    sent = index.to(device)
    if hasattr(index, "zero_dim"):
        sent.zero_dim = True
    return sent


def index_read(self, listed):
    """``self`` at index tensors, an entry (or None) for each of its dimensions."""
    given = _pairs(self, listed)
    tensors, dims = expanded(self, given)
    _in_bounds(self, tensors, dims, given)
    masks = _masks_to_save(given, self)
    out = index_raw(self, tensors, dims, masks)
    if masks:
        _masked().watch(out, masks)
    return out


def _masks_to_save(given, *asked):
    """The masks among indices, if there may be a gradient."""
    return [t for _, t in given if t._spec.dtype in _MASKS] if LOCAL.grad_enabled and any(t.requires_grad for t in asked) else ()


def index_write(self, listed, value, accumulate=False):
    """``self[...] = value`` at index tensors: broadcast, without leading dimensions of size 1."""
    if not isinstance(value, (bool, int, float, complex)):
        value = _without_leading_ones(value)
    return _put(self, listed, value, accumulate)


def _put(self, listed, value, accumulate, inplace=True):
    """Writes to ``self``; asked in PyTorch's order are history, overlap, indices, the shape and the type of the value, bounds."""
    given = _pairs(self, listed)
    number = isinstance(value, (bool, int, float, complex))
    filled = not accumulate and len(given) == 1 and _is_mask(given[0][1]) and (number or value._spec.numel == 1)
    if filled and not number and value._storage is self._storage:
        value = value.clone()                                          # PyTorch fills with the number, so that the two may overlap
    others = () if number else (value,)
    if inplace:
        history_allows(self, *others)
    if len(listed) > self._spec.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._spec.ndim} (got {len(listed)})")
    if inplace:
        memory_allows(self, *others, *() if filled else (i for _, i in given))
    if len(given) == 1 and not accumulate:
        written = _write_mask(self, *given[0], value, number, filled, inplace)
        if written is not None:
            return written
    if number:
        value = _number_as(self, value)
    tensors, dims = expanded(self, given)
    _check_put(self._spec, [t._spec for t in tensors], value._spec, dims, accumulate)
    _in_bounds(self, tensors, dims, given)
    masks = _masks_to_save(given, self, value)
    out = _form(index_put_raw, inplace)(self, tensors, value, dims, bool(accumulate), masks)
    if masks:
        _masked().watch(out, masks)
    return out


def _form(operator, inplace):
    return operator.inplace_form if inplace else operator


def _is_mask(index):
    """Whether an index tensor is a mask; a 0-d mask is an index to PyTorch."""
    return index._spec.dtype in _MASKS and not hasattr(index, "zero_dim")


def _write_mask(self, dim, mask, value, number, filled, inplace):
    """What a write through one mask leaves, without looking at it, or None where the values do not let it. ``filled``: as a number."""
    if mask._spec.dtype not in _MASKS:
        return None
    if number:
        _mask_fits(self, mask, dim)
        return _form(index_put_mask_number, inplace)(self, mask, number_fits(value, self._spec.dtype, alone=True), dim)
    if not value._spec.ndim and value._spec.device is devices.cpu:
        value = value.to(self._spec.device)
    own, target = value._spec, self._spec
    if filled:
        _mask_fits(self, mask, dim)
        held_number_fits(value, target.dtype)
        if own.dtype.is_complex and not target.dtype.is_complex:
            value = value != 0 if target.dtype is dtypes.bool else value.real
    elif own.dtype is not target.dtype or not _same_everywhere(tuple(own.size), target.size[dim + mask._spec.ndim:]):
        return None
    if own.device is not target.device:
        return None
    _mask_fits(self, mask, dim)
    return _form(index_put_mask, inplace)(self, mask, value, dim)


def _same_everywhere(size, after):
    """Whether a value of ``size`` is the same at all chosen places, each of the shape ``after``."""
    return len(size) <= len(after) and all(n in (1, m) for n, m in zip(reversed(size), reversed(after), strict=False))


def _without_leading_ones(value):
    size = tuple(value._spec.size)
    lead = 0
    while lead < len(size) and size[lead] == 1:
        lead += 1
    return value.view(size[lead:]) if lead else value


def _number_as(self, value):
    return full_of.record((), number_fits(value, self._spec.dtype, alone=True), self._spec.dtype, self._spec.device)


# -- index_put --------------------------------------------------------------------------------------------------------

def _listed(indices, values, name):
    """The tuple that `index_put` takes (a mask is one entry for several dimensions) as an entry for each dimension."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}")
    if not hasattr(values, "_spec"):
        raise TypeError(f"{name}(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if not all(hasattr(index, "_spec") for index in indices):
        only_tensors(indices, int(name == "index_put"))
    listed = []
    for at, index in enumerate(indices):
        if not hasattr(index, "_spec"):                    # nor None: PyTorch takes none here, only behind `x[...] = y`
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {type_name(type(index))}")
        listed.append(index)
        if index._spec.dtype in _MASKS:
            listed.extend([None] * (index._spec.ndim - 1))
            if index._spec.dtype is dtypes.uint8:
                sites.warn(BYTES)
    return listed


@composite(asked=True)
def index_put(input, indices, values, accumulate=False):
    """A copy of the tensor with ``values`` written to (``accumulate``: added at) the places ``indices`` name.

    >>> torch.index_put(torch.zeros(3), (torch.tensor([0, 2]),), torch.tensor([1., 2.]))
    tensor([1., 0., 2.])
    """
    return _put(input, _listed(indices, values, "index_put"), values, accumulate, False)


@composite()
def index_put_(input, indices, values, accumulate=False):
    """``index_put``, written back into the tensor."""
    return _put(input, _listed(indices, values, "index_put_"), values, accumulate)
