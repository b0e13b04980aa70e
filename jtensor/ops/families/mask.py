"""Masks: filling, selecting and scattering by a bool tensor, and the positions of what is not zero.

Owns: masked_fill, masked_select, masked_scatter, nonzero, argwhere. What has a data-dependent shape looks at the data.
May not know: tensors as objects, but in composites.
"""
import math

import jax.numpy as jnp
import numpy as np

from ...base import dtypes
from ..build import broadcast_inplace, broadcast_shapes, cast_to
from ..operator import RAW, Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import check_expand, held_number_fits, history_allows, memory_allows, number_fits, put_out, with_history

# -- filling ----------------------------------------------------------------------------------------------------------


def _check_fill(self, mask, value):
    broadcast_shapes([tuple(mask.size), tuple(self.size)])
    _check_fill_inplace(mask, mask, value)


def _check_fill_inplace(self, mask, value):
    dims = getattr(value, "ndim", 0)
    if dims:
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {dims} dimension(s).")
    if mask.dtype is not dtypes.bool:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {dtypes.cpp_name(mask.dtype)}")
    broadcast_shapes([tuple(self.size), tuple(mask.size)])


def _filled(self, mask, value):
    return jnp.where(mask, cast_to(jnp.asarray(value), self.dtype), self)


def _kept(grad, mask):
    return jnp.where(mask, jnp.zeros((), grad.dtype), grad)


_FILL = {"check": _check_fill, "check_inplace": _check_fill_inplace, "nondiff": ("mask",), **RAW}


@op(name="masked_fill.Scalar", backward="MaskedFillBackward0", grad={"self": _kept}, **_FILL, double="MaskedFillBackward0",
    quirks=Quirks(overlap_allowed=True, overlap_warns=("masked_fill_",)))
def masked_fill_Scalar(self: Tensor, mask: Tensor, value: Number):
    """``value`` where the mask is set."""
    return _filled(self, mask, value)


@op(name="masked_fill.Tensor", backward="MaskedFillBackward1", grad={
    "self": _kept, "value": lambda grad, mask: jnp.where(mask, grad, jnp.zeros((), grad.dtype))}, **_FILL,
    quirks=Quirks(keeps_complex=True, overlap_allowed=True, overlap_warns=("masked_fill_",)))
def masked_fill_Tensor(self: Tensor, mask: Tensor, value: Tensor):
    """A 0-d tensor's value where the mask is set."""
    return _filled(self, mask, value)


def _fill_form(value):
    return masked_fill_Scalar if isinstance(value, (bool, int, float, complex)) else masked_fill_Tensor


def _fitting(value, self):
    """The value, if the tensor can hold it; PyTorch looks at the number in a tensor, too, which is done here where it may matter."""
    if isinstance(value, (bool, int, float, complex)):
        return number_fits(value, self._spec.dtype)
    if isinstance(value, np.generic):
        return number_fits(value.item(), self._spec.dtype)
    if hasattr(value, "_spec"):
        if value._spec.ndim == 0:
            held_number_fits(value, self._spec.dtype)
            if self._spec.dtype is dtypes.bool and value._spec.dtype.is_complex:
                return value != 0
        if value._storage is self._storage:
            return value.clone()
    return value


@composite()
def masked_fill(input, mask, value):
    """``value`` (a number or a 0-d tensor) where the bool ``mask`` is set, ``input`` elsewhere; the two are broadcast.

    >>> torch.masked_fill(torch.tensor([1., 2.]), torch.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    try:
        value = _fitting(value, input)
    except RuntimeError:                                   # the number is looked at last
        _check_fill(input._spec, mask._spec, value)
        raise
    return _fill_form(value)(input, mask, value)


@composite(function=False)
def masked_fill_(self, mask, value):
    """``masked_fill``, written back into the tensor."""
    try:
        value = _fitting(value, self)
    except RuntimeError:                                   # the number is looked at last
        history_allows(self)
        _check_fill_inplace(self._spec, mask._spec, value)
        broadcast_inplace(self._spec, mask._spec)
        raise
    return _fill_form(value).inplace_form(self, mask, value)


# -- positions --------------------------------------------------------------------------------------------------------

@op(name="nonzero.raw", sync=True, nondiff=("self",), layout=lambda specs, outputs, statics: [(1, outputs[0].shape[0])], **RAW)
def nonzero_raw(self: Tensor):
    """The coordinates of what is not zero, a row for each."""
    return np.stack(np.nonzero(self)).T if self.ndim else np.zeros((int(self != 0), 0), np.int64)


@composite(asked=True)
def nonzero(input, *, out=None, as_tuple=False):
    """The coordinates of the elements that are not zero: a row for each, or with ``as_tuple`` a vector for each dimension.

    >>> torch.nonzero(torch.tensor([1, 0, 2]))
    tensor([[0],
            [2]])
    """
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        if not input._spec.ndim:
            return nonzero(input.unsqueeze(0)).unbind(1)
        return nonzero_raw(input).unbind(1)
    return put_out("nonzero", nonzero_raw(input), out, asked_first=True)


def _check_size(input, size, fill_value):
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")


@op(out=True, nondiff=("input",), check=_check_size)
def nonzero_static(input: Tensor, *, size, fill_value=-1):
    """The coordinates of the first ``size`` elements that are not zero, a row for each; rows without one are of ``fill_value``.

    Since the shape does not depend on the values, nothing is looked at.

    >>> torch.nonzero_static(torch.tensor([1, 0, 2]), size=3)
    tensor([[ 0],
            [ 2],
            [-1]])
    """
    if not input.size or not input.ndim:
        return jnp.full((size, input.ndim), fill_value, jnp.int64)
    return jnp.stack(jnp.nonzero(input, size=size, fill_value=fill_value), -1).astype(jnp.int64)


@composite()
def argwhere(input):
    """``torch.nonzero`` without a choice of form.

    >>> torch.argwhere(torch.tensor([0, 5]))
    tensor([[1]])
    """
    return nonzero_raw(input)


# -- selecting and scattering -----------------------------------------------------------------------------------------

@op(name="mask_places", sync=True, nondiff=("mask",), **RAW)
def mask_places(mask: Tensor, shape):
    """Flat positions, in an array of ``shape``, of what a mask broadcast to it selects."""
    return np.flatnonzero(np.broadcast_to(mask, shape)).astype(np.int64)


def _order(mask, shape):
    """For each element of an array of ``shape`` how many a mask broadcast to it selects before it, flat."""
    chosen = jnp.broadcast_to(mask, shape).reshape(-1)
    return chosen, jnp.cumsum(chosen) - chosen


def _select_gradient(grad, self, mask, shape):
    chosen, order = _order(mask, shape)
    if not grad.size:
        return jnp.zeros(shape, grad.dtype)
    return jnp.where(chosen, grad.at[order].get(mode="clip"), jnp.zeros((), grad.dtype)).reshape(shape)


@op(name="masked_select.raw", backward="MaskedSelectBackward0", nondiff=("places", "mask"), grad={"self": _select_gradient}, **RAW,
    double="MaskedScatterBackward0!", quirks=Quirks(like_input=True, writes=1))
def masked_select_raw(self: Tensor, mask: Tensor, places: Tensor, shape):
    """The elements at flat positions of ``self`` broadcast to ``shape``."""
    return jnp.broadcast_to(self, shape).reshape(-1).at[places].get(mode="promise_in_bounds")


@composite()
def masked_select(input, mask, *, out=None):
    """The elements where the bool ``mask`` is set, in one dimension; the two are broadcast. Looks at the mask.

    >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
    tensor([1, 3])
    """
    if mask._spec.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes([tuple(mask._spec.size), tuple(input._spec.size)])
    return put_out("masked_select", masked_select_raw(input, mask, mask_places(mask, shape), shape), out, (input, mask), asked_first=True)


def _scatter_source(grad, mask, shapes):
    chosen, order = _order(mask, grad.shape)
    count = math.prod(shapes[-1])
    taken = jnp.zeros((count,), grad.dtype).at[jnp.where(chosen, order, count)].set(grad.reshape(-1), mode="drop")
    return taken.reshape(shapes[-1])


@op(name="masked_scatter.raw", backward="MaskedScatterBackward0", nondiff=("places", "mask"),
    grad={"self": _kept, "source": _scatter_source}, double={"self": "MaskedFillBackward0"}, **RAW, quirks=Quirks(anyhow=True))
def masked_scatter_raw(self: Tensor, mask: Tensor, places: Tensor, source: Tensor):
    """The first elements of ``source`` at flat positions of ``self``, which are those that the mask selects."""
    taken = source.reshape(-1)[:places.shape[0]]
    return self.reshape(-1).at[places].set(taken, mode="promise_in_bounds").reshape(self.shape)


@op(name="masked_scatter.batch", backward="MaskedScatterBackward0", nondiff=("mask",),
    grad={"self": _kept, "source": _scatter_source}, double={"self": "MaskedFillBackward0"}, **RAW, quirks=Quirks(anyhow=True))
def masked_scatter_batch(self: Tensor, mask: Tensor, source: Tensor):
    """The same without a look at the mask, which selects as many elements of ``source`` as there are, or fewer."""
    chosen, order = _order(mask, self.shape)
    return jnp.where(chosen, source.reshape(-1).at[order].get(mode="clip"), self.reshape(-1)).reshape(self.shape) if source.size else self


def _scatter_places(self, mask, source, inplace):
    if self._spec.dtype is not source._spec.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{dtypes.scalar_name(self._spec.dtype)} and {dtypes.scalar_name(source._spec.dtype)}")
    size = shape = tuple(self._spec.size)
    if inplace:
        check_expand(mask._spec, size)
    else:
        shape = broadcast_shapes([tuple(mask._spec.size), size])
        self = self if shape == size else self.expand(shape)
    if mask._spec.dtype is not dtypes.bool:
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{dtypes.scalar_name(mask._spec.dtype)}")
    from ...tensor.lifted.batching import is_batch, whole
    if is_batch(mask):
        places, most = None, whole(mask.expand(shape).count_nonzero()).max().item()
    else:
        places = mask_places(mask, shape)
        most = places._spec.numel
    if most > source._spec.numel:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return self, places


@composite()
def masked_scatter(input, mask, source):
    """The elements of ``source``, in order, where the bool ``mask`` is set; ``input`` elsewhere.

    >>> torch.masked_scatter(torch.zeros(3), torch.tensor([True, False, True]), torch.tensor([1., 2.]))
    tensor([1., 0., 2.])
    """
    self, places = _scatter_places(input, mask, source, False)
    return masked_scatter_batch(self, mask, source) if places is None else masked_scatter_raw(self, mask, places, source)


def _as_it_comes(self, places, source):
    """``source`` with the elements that are taken one after the other from memory that is written to on the way, and its history."""
    if not source._spec.contiguous or source._spec.dtype is not self._storage.layout.dtype or not places._spec.numel:
        return source                                              # what is not contiguous is copied before
    memory = np.arange(self._storage.layout.numel)
    into = np.lib.stride_tricks.as_strided(memory[self._offset:], self._spec.size, [8 * s for s in self._spec.stride], writeable=False)
    into, taken = into.reshape(-1), list(range(source._offset, source._offset + source._spec.numel))
    at = {}
    for k, place in enumerate(places.tolist()):
        taken[k] = at.get(taken[k], taken[k])
        at[int(into[place])] = taken[k]
    whole = self._detached().as_strided((self._storage.layout.numel,), (1,), 0)
    return with_history(whole[taken].reshape(source.shape), source)


@composite(function=False)
def masked_scatter_(self, mask, source):
    """``masked_scatter``, written back into the tensor."""
    history_allows(self, source)
    memory_allows(self, internal=True)
    self, places = _scatter_places(self, mask, source, True)
    if places is None:
        return masked_scatter_batch.inplace_form(self, mask, source)
    if source._storage is self._storage:
        source = _as_it_comes(self, places, source)
    return masked_scatter_raw.inplace_form(self, mask, places, source)
