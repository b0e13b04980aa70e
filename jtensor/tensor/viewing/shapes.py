"""View operators that show a tensor's elements under another shape or order: slices, transposes, reshapes, and their in-place forms.

Owns: PyTorch's arguments of these, and the inverse of each where its gradient is a view, too. Views of several pieces are in `pieces`,
of another type in `retyped`; how a view is made, in `views`.
"""

from ...autograd import engine
from ...autograd.gradmode_checks import counting_allowed
from ...autograd.graph import node_class
from ...base import devices, dtypes, sites
from ...ops.families.composing import NO_DIM, no_bools, no_none
from ...ops.families.create import contiguous_copy
from ...ops.registry import composite
from ...trace import spec as specs
from ...trace.tape import LOCAL
from ...views import rules
from ..core import Tensor, make_tensor
from ..values import read_at
from .views import _index, _indices, as_strided, geometry_of, view_of

# -- dimensions chosen, exchanged -------------------------------------------------------------------------------------


@composite()
def select(input, dim, index):
    """The slice at ``index`` along ``dim``, without that dimension; a view."""
    no_bools(dim)
    return view_of(input, rules.select, "SelectBackward0", dim, _index(index))


def slice_(self, dim, start, stop, step):
    return view_of(self, rules.slice_, "SliceBackward0", dim, start, stop, step)


@composite()
def narrow(input, dim, start, length):
    """``length`` elements from ``start`` along ``dim``; a view."""
    no_bools(dim, length)
    if start.__class__ is not int:
        if isinstance(start, Tensor) and (start._spec.ndim or start._spec.dtype.category != 1):
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = _index(start)
    return view_of(input, rules.narrow, "SliceBackward0", dim, start, length)


@composite(aliases=("swapaxes", "swapdims"))
def transpose(input, dim0, dim1):
    """Two dimensions swapped; a view."""
    no_bools(dim0, dim1)
    return view_of(input, rules.transpose, "TransposeBackward0", dim0, dim1, inverse=_transpose_back)


def transposed_result(input):
    """The first two dimensions swapped, of a result that nobody else has: PyTorch swaps it in place, which shows in the node's name."""
    return view_of(input, rules.transpose, "TransposeBackward1", 0, 1, inverse=_transpose_back)


def _transpose_back(grad, size, dim0, dim1):
    return transpose(grad, dim0, dim1)


@composite()
def t(input):
    """The transpose of a matrix (vectors stay as they are); a view."""
    return view_of(input, rules.t, "TBackward0", inverse=_t_back)


def _t_back(grad, size):
    return t(grad)


@composite(one_list=True)
def permute(input, *dims):
    """The dimensions in another order; a view."""
    return _permuted(input, rules.permute, _dims(dims))


def _permuted(self, rule, *args):
    return view_of(self, rule, "PermuteBackward0", *args, inverse=_PERMUTE_BACK[rule])


def _permute_back(rule):
    def inverse(grad, size, *args):
        n = len(size)
        moved = rule(tuple(range(n)), (1,) * n, 0, *args)[0]
        return permute(grad, *sorted(range(n), key=moved.__getitem__))
    return inverse


_PERMUTE_BACK = {rule: _permute_back(rule) for rule in (rules.permute, rules.movedim, rules.T)}


def _dims(dims):
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = dims[0]
    return _indices(dims)


@composite(aliases=("moveaxis",), asked=True)
def movedim(input, source, destination):
    """Dimensions moved to other places; a view."""
    given = [_indices(d) if isinstance(d, (tuple, list)) else _index(d) for d in (source, destination)]
    if not input._spec.ndim:
        rules.movedim((), (), 0, *given)
        return alias(input)
    return _permuted(input, rules.movedim, *given)


def transposed(self):
    return _permuted(self, rules.T)


def matrix_transposed(self):
    if self._spec.ndim < 2:
        rules.mT(tuple(self._spec.size), self._spec.stride, 0)         # a warning for a number, an error for a vector
        return self
    return transpose(self, -2, -1)


def adjoint_property(self, name):
    if name == "H" and self._spec.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self._spec.ndim}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if self._spec.ndim > 2 else ""))
    if self._spec.ndim == 0:
        sites.warn_once(f"Tensor.{name} is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj() if self._spec.dtype.is_complex else self
    if self._spec.ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {self._spec.ndim}-D tensor.")
    flipped = transpose(self, -2, -1)
    return flipped.conj() if self._spec.dtype.is_complex else flipped


@composite()
def adjoint(input):
    """The conjugate transpose of the last two dimensions; a view."""
    if input._spec.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not input._spec.ndim:
        sites.warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return input.conj()
    return adjoint_property(input, "adjoint()")


@composite()
def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions as the last one; a view."""
    no_bools(offset, dim1, dim2)
    return view_of(input, rules.diagonal, "DiagonalBackward0", offset, dim1, dim2)


@composite(function=False)
def unfold(self, dimension, size, step):
    """All slices of ``size`` along a dimension, ``step`` apart, as a last dimension; a view."""
    no_bools(dimension, size, step)
    return view_of(self, rules.unfold, "UnfoldBackward0", dimension, size, step)

# -- shapes -----------------------------------------------------------------------------------------------------------


@composite(function=False)
def view(self, *shape, dtype=None):
    """The same memory under another shape (or dtype); raises where strides do not allow it."""
    if dtype is not None or len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return view_dtype(self, dtype or shape[0])
    return view_of(self, rules.view, "ViewBackward0", _dims(shape), inverse=_back)


@composite(function=False)
def view_as(self, other):
    """The same memory under the other's shape."""
    return view(self, tuple(other._spec.size))


def view_dtype(self, dtype):
    """The same bytes read as another type; no differentiable view, in PyTorch: like `detach`, it shares memory and version only."""
    spec = self._spec
    if spec.conj or spec.neg:
        raise RuntimeError("torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype."
                           if spec.conj else
                           "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.")
    size, stride, offset = geometry_of(self)
    if dtype is not spec.dtype:
        itemsize = dtype.numpy.itemsize                                       # refuses a type that is a name alone
        try:
            size, stride, offset = rules.view_dtype(size, stride, offset, spec.dtype.itemsize, itemsize)
        except RuntimeError as error:
            named = f"{dtypes.scalar_name(spec.dtype)} as {dtypes.scalar_name(dtype)}"
            raise RuntimeError(str(error).replace("self as dtype", named)) from None
    if dtype is not spec.dtype and self._storage.dtype is dtypes.bool:
        _as_bytes(self._storage)
    out = make_tensor(self._storage, specs.spec(size, stride, dtype, spec.device), offset)
    out._counter = self._counter
    return out


def _as_bytes(storage):
    """Memory of booleans that is looked at as another type becomes bytes: written through that, they may be others than 0 and 1."""
    layout = storage.layout
    if layout.device is not devices.meta:
        plain = specs.spec(layout.size, layout.stride, dtypes.uint8, layout.device)
        value = None if storage.host is not None else read_at(storage, plain, 0)
        storage.rebase(plain, value)


def _back(grad, size, *args):
    """The inverse of a change of shape."""
    return reshape(grad, size)


@composite(one_list=True)
def reshape(input, *shape):
    """The tensor under another shape: a view where strides allow it, else a copy."""
    shape = _dims(shape if shape else ((),))
    if input._spec.contiguous:
        return view_of(input, rules.view, "ViewBackward0", shape, inverse=_back)
    size, stride, _ = geometry_of(input)
    wanted = rules.infer_size(shape, input._spec.numel)
    if rules.compute_view_strides(size, stride, wanted) is None:
        from ...ops.families.create import contiguous_copy
        return unsafe_view(contiguous_copy.record(input), wanted)
    return view_of(input, rules.view, "ReshapeAliasBackward0", wanted, inverse=_back)


def unsafe_view(self, size):
    """A reshaped fresh copy: shares the copy's storage, but PyTorch does not call it a view."""
    out = view_of(self, rules.view, "UnsafeViewBackward0", size, inverse=_back)
    out._info = None
    return out


@composite(function=False)
def reshape_as(self, other):
    """The tensor under the other's shape."""
    return reshape(self, tuple(other._spec.size))


@composite()
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions ``start_dim`` to ``end_dim`` made one; a view where strides allow it."""
    notes, key = input._spec.notes, ("flat", start_dim, end_dim)
    wanted = notes.get(key)
    if wanted is None or start_dim.__class__ is not int or end_dim.__class__ is not int:
        start_dim, end_dim = _index(start_dim), _index(end_dim)
        wanted = notes[key] = rules.flatten(*geometry_of(input), start_dim, end_dim)[0]
    return input if wanted == tuple(input._spec.size) else reshape(input, wanted)


@composite(asked=True)
def unflatten(input, dim, sizes):
    """One dimension split into several; a view."""
    if dim is True or dim is False:
        raise TypeError("unflatten(): argument 'dim' (position 1) must be int, not bool")
    return view_of(input, rules.unflatten, "ViewBackward0", dim, tuple(sizes) if isinstance(sizes, (tuple, list)) else sizes,
                   inverse=_back)


@composite()
def ravel(input):
    """The tensor in one dimension."""
    return reshape(contiguous(input), (-1,))


@composite(function=False)
def contiguous(self, *, memory_format="contiguous_format"):
    """The tensor itself if it is contiguous, else a contiguous copy."""
    if memory_format is None:
        raise TypeError("a memory format is wanted, not None")
    if memory_format != "contiguous_format" and "channels_last" in str(memory_format):
        return self if self.is_contiguous(memory_format=memory_format) else self.clone(memory_format=memory_format)
    if self._spec.contiguous:
        return self
    if memory_format != "contiguous_format" and "preserve" in str(memory_format):
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return contiguous_copy.record(self)


@composite()
def squeeze(input, dim=NO_DIM):
    """Without its dimensions of size 1 (or those named); a view."""
    if dim is NO_DIM:
        return view_of(input, rules.squeeze, "SqueezeBackward0", inverse=_squeeze_back)
    no_none(dim)
    if isinstance(dim, (tuple, list)):
        return view_of(input, rules.squeeze, "SqueezeBackward2", tuple(dim), inverse=_squeeze_back)
    return view_of(input, rules.squeeze, "SqueezeBackward1", _index(dim), inverse=_squeeze_back)


def _squeeze_back(grad, size, dims=None):
    """One `unsqueeze` after the other, as in PyTorch: strides and history show it."""
    rank = len(size)
    named = range(rank) if dims is None else sorted(rules.wrap_dim(dim, rank) for dim in (dims if isinstance(dims, tuple) else (dims,)))
    for dim in named:
        if rank and size[dim] == 1:
            grad = unsqueeze(grad, dim)
    return grad


@composite()
def unsqueeze(input, dim):
    """With a dimension of size 1 put in at ``dim``; a view."""
    return view_of(input, rules.unsqueeze, "UnsqueezeBackward0", _index(dim), inverse=_unsqueeze_back)


def _unsqueeze_back(grad, size, dim):
    return squeeze(grad, dim)


@composite(function=False)
def expand(self, *size, implicit=False):
    """Dimensions of size 1 repeated without copying; a view whose elements share memory."""
    return view_of(self, rules.expand, "ExpandBackward0", _dims(size), dtypes.scalar_name(self._spec.dtype), inverse=_expand_back)


def _expand_back(grad, size, *args):
    return grad.sum_to_size(size)


@composite(function=False)
def expand_as(self, other):
    """Expanded to the other's size."""
    return expand(self, tuple(other._spec.size))


@composite()
def broadcast_to(input, size, *more):
    """Expanded to ``size``, given as a sequence or number by number."""
    return expand(input, size, *more)


@composite(function=False, method=False)
def alias(self):
    """Another tensor on the same memory, with history; a view."""
    return view_of(self, _same, "AliasBackward0", inverse=_alias_back)


def _alias_back(grad, size):
    return grad


def _same(size, stride, offset):
    return size, stride, offset

# -- in place ---------------------------------------------------------------------------------------------------------


def become(self, made):
    """``self`` takes the geometry and the history of a view of itself (`t_`, `squeeze_`, `unsqueeze_`, ...)."""
    edge = made._edge
    if edge is None and self.requires_grad:
        engine.RESHAPED[0] = True
    self._spec, self._offset, self._cached = made._spec, made._offset, None
    self._counter.version += 1
    counting_allowed(self)
    if edge is not None:
        node = edge[0]
        node.__class__ = node_class(INPLACE_NAMES.get(node.name(), node.name()), type(node).__base__)
        self._edge, self._requires_grad = edge, True
        if self._info is not None:
            self._info.version = self._counter.version
    return self


INPLACE_NAMES = {"TBackward0": "TBackward1", "TransposeBackward0": "TransposeBackward1", "UnsqueezeBackward0": "UnsqueezeBackward1",
                 "SqueezeBackward0": "SqueezeBackward3", "SqueezeBackward1": "SqueezeBackward4", "SqueezeBackward2": "SqueezeBackward5",
                 "AsStridedBackward0": "AsStridedBackward1"}


def _inplace(function, name):
    def method(self, *args, **kwargs):
        from ...autograd import gradmode_checks as checks
        if LOCAL.grad_enabled and self.requires_grad:
            checks.before_inplace(self, True)
        if function is t and self._spec.ndim > 2:
            raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._spec.ndim}D")
        if function is squeeze and len(args) > 1:
            args = (args,)
        return become(self, function(self, *args, **kwargs))
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}`, changing this tensor's own geometry."
    composite(name, function=False)(method)


for _function, _name in ((t, "t_"), (transpose, "transpose_"), (squeeze, "squeeze_"), (unsqueeze, "unsqueeze_"), (transpose, "swapaxes_"),
                         (transpose, "swapdims_"), (as_strided, "as_strided_")):
    _inplace(_function, _name)
