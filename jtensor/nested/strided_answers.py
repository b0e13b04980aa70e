"""What is done to nested tensors of the layout strided: element by element, sums, products, layers. PyTorch has few operators for them.

Owns: their table, and `whole`, by which a function of parts gets one node. May not know: how the layer finds the table.
"""
import math

import jtensor

from ..autograd.gradmode_checks import LEAF
from ..base.errors import missing
from ..tensor.core import Tensor
from ..trace.tape import LOCAL
from .answering import PASS, Nested
from .graph import again, joined, recorded, wants
from .products import dropped
from .strided import flat, in_order, is_strided, refused, strided, wrapped

_UNARY = frozenset("""abs sgn logical_not relu gelu silu tanh neg negative isinf isnan isposinf isneginf sin cos sqrt""".split())
_SCALED = frozenset("add sub mul div true_divide subtract multiply divide".split())
_COMPARED = frozenset("eq gt ge".split())
_DUNDERS = {"__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
            "__div__": "div", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__eq__": "eq",
            "__gt__": "gt", "__ge__": "ge", "__neg__": "neg", "__abs__": "abs"}
_ATEN = {"__rsub__": "rsub.Scalar", "rsub": "rsub.Scalar", "__pow__": "pow.Tensor_Scalar", "pow": "pow.Tensor_Scalar",
         "__lt__": "lt.Scalar", "__ne__": "ne.Tensor", "log_softmax": "_log_softmax"}


def _other(name, entry, args, kwargs):
    """Functions that go element by element; PyTorch's error for others."""
    called = _DUNDERS.get(name, name).removeprefix("nn.functional.")
    inplace = called.endswith("_")
    base = called[:-1] if inplace else called
    if base in _UNARY or base in _SCALED or base in _COMPARED:
        return _by_element(base, inplace, entry.original, args, kwargs)
    if entry.key is None or entry.python:
        return PASS
    raise refused(_ATEN.get(name, name))


def _tidy(x):
    if x._edge is None and not x._geometry.contiguous:
        x._values, x._geometry = flat(x).detach(), in_order(x._geometry.sizes)


STRIDED = Nested(("strided_shapes",), _other, _tidy)
answers = STRIDED.answers


# -- element by element ------------------------------------------------------------------------------------------------


def _by_element(name, inplace, function, args, kwargs):
    args = list(args)
    places = [at for at, x in enumerate(args) if isinstance(x, Tensor)]
    x = args[places[0]]
    other = args[places[1]] if len(places) == 2 else None
    if other is not None and name in _COMPARED:
        raise RuntimeError(f"{name} does not support nested tensor as other value.")
    if other is not None and not (is_strided(x) and is_strided(other)):
        mine, given = [("nested" if t.is_nested else "non-nested") for t in (x, other)]
        plain = other if is_strided(x) else x
        if plain.is_nested:
            raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")
        if plain.dim() or not is_strided(x):
            raise RuntimeError(f"Expected both self and other to be nested, but got a {mine} self and {given} other")
    if is_strided(other):
        if x._geometry.sizes != other._geometry.sizes:
            raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
        if x._geometry != other._geometry:
            raise RuntimeError(f"{name} requires strides to match when given NestedTensors")
        args[places[1]] = joined(other)
    if inplace:
        values = args[places[0]] = _to_write(x, *([] if other is None else [other]))
        function(*args, **kwargs)
        return written(x, values)
    args[places[0]] = joined(x)
    values = function(*args, **kwargs)
    return again(values, strided(values, x._geometry))


def _to_write(x, *others):
    if LOCAL.grad_enabled and any(map(wants, (x, *others))):
        if x._origin is not None:
            raise missing("recorded writes to a nested tensor that lies on another one's memory", "x + 1 in place of x.add_(1)")
        if x.requires_grad and x._edge is None:
            raise RuntimeError(LEAF)
    if not x._geometry.contiguous:
        raise RuntimeError("NestedTensor must be contiguous to get buffer.")
    return joined(x)


def written(x, values):
    """A nested tensor whose `joined` values have been written to: it gets the history that they have got."""
    if values.requires_grad and values._edge is not None:
        made = again(values, strided(values, x._geometry))
        x._edge, x._requires_grad = made._edge, True
    return x


@answers("zero_")
def zero_(self):
    return fill_(self, 0)


@answers("fill_")
def fill_(self, value):
    values = _to_write(self)
    values.fill_(value)
    return written(self, values)


@answers("copy_")
def copy_(self, src, non_blocking=False):
    if not is_strided(src):
        raise RuntimeError("get_nested_tensor_impl requires a NestedTensor.")
    if src._geometry.sizes != self._geometry.sizes:
        raise RuntimeError("copy_ only supports tensors that are the same size for Nested implementations")
    values = _to_write(self, src)
    values.copy_(self._fitted(src))
    return written(self, values)


@answers("masked_fill")
def masked_fill(self, mask, value):
    values = flat(self).masked_fill(flat(mask) if is_strided(mask) else mask, value)
    return again(values, strided(values, in_order(self._geometry.sizes)))


@answers("where")
def where(condition, input=None, other=None, *, out=None):
    raise RuntimeError("self must not be nested")


# -- functions of parts ------------------------------------------------------------------------------------------------


class Parts:
    """The elements of a nested tensor, a vector, and the sizes of its parts."""

    def __init__(self, vector, sizes):
        self.vector, self.sizes = vector, sizes

    def each(self):
        """The parts, views of the vector."""
        return [part.reshape(size) for part, size in zip(self.vector.split([math.prod(size) for size in self.sizes]), self.sizes,
                                                         strict=True)]

    def rows(self, length):
        """All parts as one matrix with rows of this length."""
        return self.vector.reshape(-1, length)


def of_parts(parts, sizes=None):
    """`Parts` of tensors."""
    return Parts(jtensor.cat([part.reshape(-1) for part in parts]), sizes or tuple(tuple(part.shape) for part in parts))


def whole(name, function, *inputs):
    """A function of `Parts` and dense tensors, which answers such, as one operation with one node.

    Its gradients are those of the operations that it is made of; second ones are refused.
    """
    inside, kept = [], LOCAL.grad_enabled and any(map(wants, inputs))
    for x in inputs:
        stand = flat(x.detach()) if is_strided(x) else x.detach() if isinstance(x, Tensor) else x
        inside.append(stand.detach().requires_grad_() if kept and wants(x) else stand)
    given = [Parts(stand, x._geometry.sizes) if is_strided(x) else stand for stand, x in zip(inside, inputs, strict=True)]
    made = function(*given)
    dense = made.vector if isinstance(made, Parts) else made
    result = strided(dense.detach(), in_order(made.sizes)) if isinstance(made, Parts) else dense.detach()

    def pull(grad):
        if LOCAL.grad_enabled:
            raise missing("second derivatives of this function of strided nested tensors", "layout=torch.jagged")
        wanted = [x for x, given in zip(inside, inputs, strict=True) if wants(given)]
        found = iter(jtensor.autograd.grad(dense, wanted, flat(grad) if is_strided(grad) else grad, retain_graph=True, allow_unused=True))
        answers = [next(found) if wants(x) else None for x in inputs]
        return [strided(g, in_order(x._geometry.sizes)) if g is not None and is_strided(x) else g
                for g, x in zip(answers, inputs, strict=True)]
    return recorded(name, result, inputs, pull) if kept else result


def _last(x, what):
    """The length of the last dimension, in which all parts agree."""
    found = x._length(x.ndim - 1)
    if found is None:
        raise RuntimeError(f"Expected all tensors in nested tensor to have the same trailing dimension, instead last dimension equals:  "
                           f"{x._geometry.sizes[0][-1]}")
    return found


# -- sums, softmax, norms ----------------------------------------------------------------------------------------------


@answers("sum")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    if dim is None:
        raise refused("sum")
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    if len(dims) != 1:
        raise RuntimeError("NestedTensor only allows reduction of a single dimension for now.")
    at = wrapped(dims[0], input.ndim)
    if at != input.ndim - 1:
        raise RuntimeError(f"NestedTensor can only be reduced across the last dimension for now got dimension {at} instead.")
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    return whole("SumBackwardAutogradNestedTensor1", lambda parts: of_parts([part.sum(-1, keepdim=True, dtype=dtype) for part in
                                                                             parts.each()]), input)


@answers("softmax")
def softmax(input, dim, dtype=None):
    at = wrapped(dim, input.ndim)
    if not at:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    return whole("SoftmaxBackward0", lambda parts: of_parts([part.softmax(at - 1, dtype=dtype) for part in parts.each()]), input)


@answers("layer_norm", "nn.functional.layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    if weight is None or bias is None:
        raise ValueError("NestedTensor layer_norm requires weight and bias")
    shape, sizes = tuple(normalized_shape), input._geometry.sizes
    for at, length in enumerate(shape):
        given = input._length(input.ndim - len(shape) + at)
        if given is None:
            raise RuntimeError("normalized_shape extends into irregular dimensions for the nested tensor")
        if given != length:
            raise RuntimeError(f"The shape at dimension {at}of normalized_shape doesn't match the input")
    return whole("NativeLayerNormBackward0", lambda parts, w, b: Parts(jtensor.layer_norm(parts.vector.reshape(-1, *shape), shape, w, b,
                                                                                          eps).reshape(-1), sizes), input, weight, bias)


# -- products ----------------------------------------------------------------------------------------------------------


@answers("linear", "nn.functional.linear")
def linear(input, weight, bias=None):
    if input.ndim != 3 or weight.dim() != 2:
        raise RuntimeError("Linear requires nested_tensor.dim == 3 and dense_matrix.dim == 2. Nested tensor dim: "
                           f"{input.ndim}. Dense tensor dim: {weight.dim()}")
    last = _last(input, "linear")
    if last != weight.shape[1]:
        raise RuntimeError("Shape mismatch for NestedTensor Linear: Expected input's (a nested tensor) 'last_dim' to equal "
                           f"'weight.size(1), but got: last_dim = {last}, and weight.size(1) = {weight.shape[1]}")
    sizes = tuple((*size[:-1], weight.shape[0]) for size in input._geometry.sizes)
    return whole("LinearBackward0", lambda parts, w, b: Parts(jtensor.nn.functional.linear(parts.rows(last), w, b).reshape(-1), sizes),
                 input, weight, bias)


@answers("matmul", "__matmul__")
def matmul(input, other):
    if not (is_strided(input) and is_strided(other)):
        mine, given = [("nested" if t.is_nested else "non-nested") for t in (input, other)]
        raise RuntimeError(f"Expected both to be nested, but got a {mine} self and {given} other")
    for a, b in zip(input._geometry.sizes, other._geometry.sizes, strict=True):
        if a[-1] != b[-2]:
            lengths = [[str(size[at]) for size in x._geometry.sizes] for x, at in ((input, -1), (other, -2))]
            shown = [" {}\n[ torch.LongTensor{{{}}} ]".format("\n ".join(one), len(one)) for one in lengths]
            raise RuntimeError(f"matmul: Nested tensors cannot be matrix multiplied, last dimension of self has sizes{shown[0]}second last "
                               f"dimension of mat2 has sizes{shown[1]}")
    return whole("MatmulBackward0", _products, input, other)


def _products(a, b):
    pair = [x.each() if isinstance(x, Parts) else x.unbind() for x in (a, b)]
    return of_parts([x.matmul(y) for x, y in zip(*pair, strict=True)])


@answers("bmm")
def bmm(input, mat2, out_dtype=None, *, out=None):
    pair = [x._geometry.sizes if is_strided(x) else (tuple(x.shape[1:]),) * x.shape[0] for x in (input, mat2)]
    for at, (a, b) in enumerate(zip(*pair, strict=True)):
        if a[-1] != b[-2]:
            raise RuntimeError(f"{at}-th nested matrices in batch cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    return whole("BmmBackward0", _products, input, mat2)


# -- layers ------------------------------------------------------------------------------------------------------------


@answers("nn.functional.dropout", "dropout")
def dropout(input, p=0.5, training=True, inplace=False, train=None):
    if inplace:
        raise missing("dropout of nested tensors in place", "the same without inplace=True")
    return dropped(input, p, training if train is None else train)


@answers("embedding", "nn.functional.embedding")
def embedding(input, weight, *more, **kwargs):
    ids, table = (input, weight) if is_strided(input) else (weight, input)
    sizes = tuple((*size, table.shape[1]) for size in ids._geometry.sizes)
    function = jtensor.nn.functional.embedding
    numbers = flat(ids)
    return whole("EmbeddingBackward0", lambda t: Parts(function(numbers, t, *more, **kwargs).reshape(-1), sizes), table)


@answers("nn.functional.scaled_dot_product_attention", "scaled_dot_product_attention")
def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    given = (query, key, value)
    if not all(map(is_strided, given)) or attn_mask is not None or dropout_p:
        raise missing("attention of nested tensors with masks, dropout or dense tensors", "attention of x.unbind()")
    if not all(x._geometry.contiguous for x in given):
        raise RuntimeError("scaled_dot_product_attention: If inputs are nested tensors they must be contiguous")
    if is_causal:
        raise RuntimeError("scaled_dot_product_attention: Nested tensors for query / key are not supported when is_causal=True")

    def function(q, k, v):
        parts = zip(q.each(), k.each(), v.each(), strict=True)
        return of_parts([jtensor.nn.functional.scaled_dot_product_attention(*[x[None] for x in part], scale=scale)[0] for part in parts])
    return whole("MatmulBackward0", function, *given)

