"""Products with nested tensors, and the layers of `nn` that are made of them: linear maps, embeddings, attention, dropout.

Owns: these entries of the table. Where a factor of each part is another one, the parts are filled up to the same length for the product.
"""
import jtensor

from ..base.errors import missing
from .answering import answers
from .graph import as_nested, followed, joined, recorded, viewed, wants
from .jagged import is_jagged
from .padding import filled_up, from_padded, padded, unpadded
from .pointwise import matches
from .shapes import contiguous_only

# -- matrices ----------------------------------------------------------------------------------------------------------


@answers("linear", "nn.functional.linear")
def linear(input, weight, bias=None):
    said = "linear_default(input: jt, weight: t, bias: t?)"
    contiguous_only(input, said)
    for name, given in (("weight", weight), ("bias", bias)):
        if is_jagged(given):
            raise ValueError(f"NestedTensor {said}: expected {name} to be a {'optional ' if name == 'bias' else ''}tensor")
    like = input._structure()

    def pull(grad):
        grad = joined(grad)
        flat = grad.reshape(-1, weight.shape[0])
        return (as_nested(grad.matmul(weight), *like) if wants(input) else None,
                flat.t().matmul(joined(input).reshape(-1, weight.shape[1])) if wants(weight) else None,
                flat.sum(0) if wants(bias) else None)
    with jtensor.no_grad():
        made = jtensor.nn.functional.linear(input._values, weight, bias)
    result = followed(made, input)
    return recorded("LinearBackward0", result, [input, weight, bias], pull, [x for x in (input, weight) if wants(input) or wants(weight)])


def _refused(a, b):
    shapes = [x._size if is_jagged(x) else tuple(x.shape) for x in (a, b)]
    return RuntimeError(f"matmul(): not supported between inputs of shapes {shapes[0]} and {b.shape}")


@answers("matmul", "__matmul__")
def matmul(input, other):
    return _product(input, other, "MatmulBackward0")


@answers("__rmatmul__")
def rmatmul(self, other):
    return _product(other, self, "MatmulBackward0")


@answers("bmm")
def bmm(input, mat2, out_dtype=None, *, out=None):
    if input.dim() != 3:
        raise ValueError("bmm(): input must be 3D")
    if mat2.dim() != 3:
        raise ValueError("bmm(): mat2 must be 3D")
    return _product(input, mat2, "BmmBackward0")


def _product(a, b, name):
    if is_jagged(a) and is_jagged(b):
        if a.dim() > 3 and b.dim() > 3 and matches(a, b._size):
            return followed(jtensor.matmul(joined(a), joined(b)), a, name=name)
        if a.dim() == b.dim() == 3 and a._ragged_idx == 2 and b._ragged_idx == 1 and a._size[2] == b._size[1]:
            return _by_parts(jtensor.matmul(_filled(a), _filled(b)), a, b, name)
        raise _refused(a, b)
    x, dense = (a, b) if is_jagged(a) else (b, a)
    first = x is a
    fits = x._ragged_idx < x.dim() - 1 if first else x._ragged_idx >= 2
    if dense.dim() >= 3 and x.dim() == dense.dim() and fits:
        pair = (_filled(x), dense.detach()) if first else (dense.detach(), _filled(x))
        return _by_parts(from_padded(jtensor.matmul(*pair), x), a, b, name)
    if dense.dim() == 2 and x.dim() > 2 and fits:
        return _by_one(x, dense, name) if first else followed(jtensor.matmul(dense, joined(x)), x, name=name)
    raise _refused(a, b)


def _by_one(x, dense, name):
    """The product with one matrix for all parts."""
    like, (rows, columns) = x._structure(), dense.shape

    def pull(grad):
        grad = joined(grad)
        return (as_nested(grad.matmul(dense.t()), *like) if wants(x) else None,
                joined(x).reshape(-1, rows).t().matmul(grad.reshape(-1, columns)) if wants(dense) else None)
    made = as_nested(jtensor.matmul(x._values, dense.detach()), *like)
    return recorded(name, made, [x, dense], pull, [one for one, other in ((x, dense), (dense, x)) if wants(other)])


def _filled(x):
    return filled_up(x.detach())


def _by_parts(made, a, b, name):
    """A product with its node, whose gradients are such products."""
    def pull(grad):
        return (jtensor.matmul(grad, b.transpose(-1, -2)) if wants(a) else None,
                jtensor.matmul(a.transpose(-1, -2), grad) if wants(b) else None)
    return recorded(name, made, [a, b], pull, [x for x, needed in ((a, wants(b)), (b, wants(a))) if needed])


@answers("einsum")
def einsum(*args):
    raise RuntimeError("NYI")


# -- embeddings, dropout -----------------------------------------------------------------------------------------------


@answers("embedding", "nn.functional.embedding")
def embedding(input, weight, *more, **kwargs):
    ids, table = (input, weight) if is_jagged(input) else (weight, input)
    contiguous_only(ids, "embedding_default(weight: t, indices: jt, padding_idx: any?, scale_grad_by_freq: any?, sparse: any?)", "indices")
    order = (ids._values, table) if ids is input else (table, ids._values)
    function = jtensor.nn.functional.embedding if ids is input else jtensor.embedding
    return followed(function(*order, *more, **kwargs), ids)


@answers("nn.functional.one_hot", "one_hot")
def one_hot(input, num_classes=-1):
    return followed(jtensor.nn.functional.one_hot(input._values, num_classes), input)


@answers("nn.functional.dropout", "dropout")
def dropout(input, p=0.5, training=True, inplace=False, train=None):
    training = training if train is None else train
    if inplace and training and p:
        raise NotImplementedError("aten.bernoulli_.float")
    return dropped(input, p, training)


def dropped(x, p, training):
    """Dropout of a nested tensor of either layout, which draws numbers for every share ``p``, and is a copy where it is not training."""
    made, mask = jtensor.native_dropout(x._values.detach(), p, training)
    factor = mask.to(made.dtype) * (1 / (1 - p) if p < 1 else 0.0) if training else jtensor.ones_like(made)
    like, fitted = x._again(), x._fitted

    def pull(grad):
        values = fitted(grad) * factor
        return (viewed(values, like(values)),)
    return recorded("NativeDropoutBackward0", like(made), [x], pull)


# -- attention ---------------------------------------------------------------------------------------------------------

_NO_BACKEND = "No viable backend for scaled_dot_product_attention was found."


@answers("nn.functional.scaled_dot_product_attention", "scaled_dot_product_attention")
def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    given = (query, key, value)
    _check(*given)
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
    if query._ragged_idx == 1 and all(x.dim() > 3 for x in given):
        made = jtensor.nn.functional.scaled_dot_product_attention(*map(joined, given), None, dropout_p, is_causal, scale=scale)
        return as_nested(made, query._offsets, query._lengths, 1, query._metadata_cache)
    if is_causal or any(x.dim() < 4 or not x.transpose(1, 2).is_contiguous() for x in given):
        raise RuntimeError(_NO_BACKEND)
    if dropout_p:
        raise missing("dropout in the attention of nested tensors", "dropout_p=0., or attention of x.unbind()")
    return _by_padding(*given, scale)


def _check(query, key, value):
    given, names = (query, key, value), ("query", "key", "value")

    def told(what, of):
        parts = [f"{name}.{what}: {of(x)}" for name, x in zip(names, given, strict=True)]
        return f"{parts[0]}, {parts[1]}, and {parts[2]} instead."
    if not all(map(is_jagged, given)):
        raise ValueError(f"Expected query, key, and value to be nested tensors, but got {told('is_nested', lambda x: x.is_nested)}")
    if len({x.dtype for x in given}) > 1:
        raise ValueError(f"Expected query, key, and value to have the same dtype, but got {told('dtype', lambda x: x.dtype)}")
    if len({x.device for x in given}) > 1:
        raise ValueError(f"Expected query, key, and value to have the same device type, but got {told('device', lambda x: x.device)}")
    if any(x.dim() < 3 for x in given):
        said = told("dim", lambda x: x.dim()).replace(", and value", " and value")
        raise ValueError(f"Expected query, key, and value to all be at least 3 dimensional, but got {said}")
    if len({x._ragged_idx for x in given}) > 1:
        a, b, c = [x._ragged_idx for x in given]
        raise ValueError(f"Expected query, key, and value to all be ragged on the same dimension, but got ragged dims {a}, {b}, and {c}, "
                         "respectively.")


def _by_padding(query, key, value, scale):
    """Attention of parts of different lengths, filled up; the scores of what was filled in are minus infinity."""
    counts = [max(x._all_lengths(), default=0) for x in (query, key, value)]
    whole = [padded(joined(x), x._offsets, 0, count, 2) for x, count in zip((query, key, value), counts, strict=True)]
    lengths = key._offsets.diff()
    there = jtensor.arange(counts[1], device=key.device) < lengths.reshape(-1, 1, 1, 1)
    made = jtensor.nn.functional.scaled_dot_product_attention(*whole, there, scale=scale)
    values = unpadded(made.transpose(1, 2), query._offsets, query._values.shape[1])
    return as_nested(values, query._offsets, query._lengths, 1, query._metadata_cache).transpose(1, 2)
