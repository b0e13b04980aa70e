"""Sums, extremes and their like of nested tensors, softmax and norms.

Owns: these entries of the table, and what is told of the dimensions that are reduced. A reduction of the ragged dimension is one of the
tensor that is filled up with what changes nothing.
"""
import jtensor

from ..tensor.core import Tensor
from .answering import answers
from .graph import as_nested, collapsed, followed, joined, recorded
from .jagged import _wrapped
from .lengths import NestedInt
from .padding import padded, to_padded_tensor, unpadded

# -- which dimensions --------------------------------------------------------------------------------------------------


def _extreme(dtype, highest):
    if dtype.is_floating_point:
        return jtensor.finfo(dtype).max if highest else jtensor.finfo(dtype).min
    if dtype is jtensor.bool:
        return highest
    return jtensor.iinfo(dtype).max if highest else jtensor.iinfo(dtype).min


def _inner_dims(x, dims):
    """(the dimensions of the values, without repetition; whether the batch, the ragged one and others are among them)."""
    dims = [_wrapped(dim, x.dim()) for dim in dims]
    ragged = x._ragged_idx
    return (tuple(dict.fromkeys(ragged - 1 if dim == 0 else dim - 1 for dim in dims)), 0 in dims, ragged in dims,
            any(dim not in (0, ragged) for dim in dims))


def _filled(x, fill):
    """A nested tensor as a dense one, for a reduction of the ragged dimension."""
    return to_padded_tensor(x, fill)


def _each(made, function):
    return type(made)([function(one) for one in made]) if isinstance(made, tuple) else function(made)


def reduced(function, name, fill, x, dim, keepdim=False, node=None, **more):
    """A reduction ``function(dense, dim=, keepdim=)`` of a nested tensor: dense if the ragged dimension is among those that go."""
    listed = isinstance(dim, (tuple, list))
    if dim is None or listed and not dim:
        if keepdim:
            more = {**more, "keepdim": True}
        made = function(joined(x), **({"dim": dim} if listed or keepdim else {}), **more)
        return _each(made, lambda one: collapsed(one, node).unsqueeze(x._ragged_idx) if keepdim else collapsed(one, node))
    dims, batch, ragged, others = _inner_dims(x, dim if listed else [dim])
    if ragged and x._lengths is not None:
        raise RuntimeError(f"{name}(): reducing across the ragged dimension is not supported for non-contiguous nested tensors with holes")
    if ragged and not batch:
        if others:
            raise RuntimeError(f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors")
        return function(_filled(x, fill), dim=(x._ragged_idx,) if listed else x._ragged_idx, keepdim=keepdim, **more)
    if batch and not ragged:
        raise RuntimeError(f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for nested tensors")
    made = function(joined(x), dim=dims if listed else dims[0], keepdim=keepdim, **more)
    if ragged:
        return _each(made, lambda one: collapsed(one, node).unsqueeze(0) if keepdim else collapsed(one, node))
    at = x._ragged_idx - (0 if keepdim else len([dim for dim in dims if dim < x._ragged_idx - 1]))
    known = {}
    return _each(made, lambda one: followed(one, x, at, known, node))


def _dims(dim):
    return dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)


# -- sums --------------------------------------------------------------------------------------------------------------


@answers("sum")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    more = {} if dtype is None else {"dtype": dtype}
    if dim is None and not keepdim:
        return collapsed(joined(input).sum(**more), "SumBackwardAutogradNestedTensor0")
    made = reduced(jtensor.sum, "sum", 0, _alone(input, dim), _dims(dim), keepdim, "SumBackwardAutogradNestedTensor1", **more)
    return made if made.is_nested or not _is_ragged_alone(input, dim) else _of_parts(made, input, keepdim)


def _is_ragged_alone(x, dim):
    dims = _dims(dim)
    return bool(dims) and [_wrapped(one, x.dim()) for one in dims] == [x._ragged_idx]


def _alone(x, dim):
    """The same without history where the sum gets a node of its own."""
    return x.detach() if _is_ragged_alone(x, dim) else x


def _of_parts(made, x, keepdim):
    """The sum of each part with its node: its gradient is that of every element of the part."""
    like, ragged, total, dtype = x._structure(), x._ragged_idx, x._values.shape[x._ragged_idx - 1], x.dtype
    longest = max(x._all_lengths(), default=0)

    def pull(grad):
        grad = (grad if keepdim else grad.unsqueeze(ragged)).to(dtype)
        wide = [longest if at == ragged else length for at, length in enumerate(grad.shape)]
        return (as_nested(unpadded(grad.expand(wide), like[0], total, ragged), *like),)
    return recorded("SumBackwardAutogradNestedTensor1", made, [x], pull)


@answers("mean")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    more = {} if dtype is None else {"dtype": dtype}
    if dim is None and not keepdim:
        return collapsed(joined(input).mean(**more), "MeanBackwardAutogradNestedTensor0")
    dims = _dims(dim)
    if dims:
        _, batch, ragged, others = _inner_dims(input, dims)
        if ragged and not batch:
            if others:
                raise AssertionError("Cannot reduce on both ragged and non-batch dimensions without also reducing on batch")
            made = reduced(jtensor.sum, "mean", 0, input, dims, True, **more)
            lengths = input._offsets.diff() if input._lengths is None else input._lengths
            made = made / lengths.reshape(-1, *[1] * (made.dim() - 1))
            return made if keepdim else made.squeeze(input._ragged_idx)
    return reduced(jtensor.mean, "mean", 0, input, dims, keepdim, **more)


@answers("prod")
def prod(input, dim=None, keepdim=False, *, dtype=None):
    more = {} if dtype is None else {"dtype": dtype}
    if dim is None:
        return collapsed(joined(input).prod(**more))
    return reduced(jtensor.prod, "prod", 1, input, dim, keepdim, **more)


# -- extremes ----------------------------------------------------------------------------------------------------------


def _extremes(name, highest):
    @answers(name)
    def extreme(input, dim=None, keepdim=False, *, out=None):
        function = getattr(jtensor, name)
        if isinstance(dim, Tensor):
            return (jtensor.maximum if name == "max" else jtensor.minimum)(input, dim)
        if dim is None:
            return collapsed(function(joined(input)))
        return reduced(function, name, _extreme(input.dtype, highest), input, dim, keepdim)


def _only_extreme(name, highest, default):
    @answers(name)
    def extreme(input, dim=default, keepdim=False, *, out=None):
        return reduced(getattr(jtensor, name), name, _extreme(input.dtype, highest), input, dim, keepdim)


_extremes("max", False)
_extremes("min", True)
_only_extreme("amax", False, ())
_only_extreme("amin", True, ())
_only_extreme("argmax", False, None)
_only_extreme("argmin", True, None)


def _truths(name, fill):
    @answers(name)
    def truth(input, dim=None, keepdim=False, *, out=None):
        function = getattr(jtensor, name)
        return function(input._values) if dim is None and not keepdim else reduced(function, name, fill, input, _dims(dim), keepdim)


_truths("any", False)
_truths("all", True)


# -- softmax -----------------------------------------------------------------------------------------------------------


@answers("softmax")
def softmax(input, dim, dtype=None):
    dims, batch, ragged, _ = _inner_dims(input, (dim,))
    if batch:
        raise RuntimeError("softmax(): not supported when reducing across the batch dimension for NestedTensor")
    if ragged and input._ragged_idx > 1:
        raise RuntimeError("softmax(): not supported when reducing along the ragged dimension for ragged_idx > 1 for NestedTensor")
    if ragged and input._lengths is not None:
        raise RuntimeError("softmax(): not supported where lengths is not None if reducing across the ragged dimension for NestedTensor")
    more = {} if dtype is None else {"dtype": dtype}
    values = joined(input)
    if not ragged:
        return followed(values.softmax(dims[0], **more), input)
    longest, total = input._get_max_seqlen(), values.shape[0]
    made = padded(values.reshape(total, -1), input._offsets, float("-inf"), longest).softmax(1, **more)
    return followed(unpadded(made, input._offsets, total).reshape(values.shape), input)


@answers("log_softmax")
def log_softmax(input, dim, dtype=None):
    dims, batch, ragged, _ = _inner_dims(input, (dim,))
    if batch:
        raise RuntimeError("log_softmax(): not supported when reducing across the batch dimension for NestedTensor")
    if ragged:
        raise RuntimeError("log_softmax(): not supported when reducing along the ragged dimension for NestedTensor")
    return followed(joined(input).log_softmax(dims[0], **({} if dtype is None else {"dtype": dtype})), input)


# -- norms -------------------------------------------------------------------------------------------------------------


@answers("layer_norm", "nn.functional.layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    if input.dim() <= 2:
        raise RuntimeError("layer_norm(): not supported for NestedTensor objects with 2 or fewer dimensions")
    shape = tuple(normalized_shape)
    if len(shape) == input.dim():
        raise RuntimeError("layer_norm(): not supported when normalizing over the batch dimension for NestedTensor")
    if any(isinstance(one, NestedInt) for one in shape):
        if input._lengths is not None:
            raise RuntimeError("layer_norm(): not supported where lengths is not None if operating on the ragged dimension for "
                               "NestedTensor")
        return _layer_norm_of_parts(input, eps)
    return followed(jtensor.layer_norm(joined(input), shape, weight, bias, eps), input)


def _layer_norm_of_parts(x, eps):
    """Each part normalised as a whole; PyTorch ignores weight and bias there."""
    values, offsets, longest = joined(x), x._offsets, x._get_max_seqlen()
    total = values.shape[0]
    flat = values.flatten(x._ragged_idx)
    whole = padded(flat, offsets, 0, longest)
    there = padded(values.new_ones((total, 1)), offsets, 0, longest).expand(whole.shape)
    count = offsets.diff().reshape(-1, 1, 1) * whole.shape[2]
    mean = whole.sum((1, 2), keepdim=True) / count
    moved = (whole - mean) * there
    spread = (moved.square().sum((1, 2), keepdim=True) / count + eps).sqrt()
    return followed(unpadded(moved / spread, offsets, total).reshape(values.shape), x)


@answers("rms_norm", "nn.functional.rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    if len(normalized_shape) > input.dim() - input._ragged_idx - 1:
        raise ValueError("rms_norm(): Normalization over the ragged dim not supported for nested tensors")
    return followed(jtensor.nn.functional.rms_norm(joined(input), tuple(normalized_shape), weight, eps), input)
