"""The largest and the smallest: of two tensors, of a tensor, along a dimension.

Owns: maximum, minimum, fmax, fmin, max, min, amax, amin, aminmax, argmax, argmin. NaN wins, but for fmax and fmin.
May not know: tensors as objects.
"""
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import axes_of, kept_where, larger, not_implemented, restored, smaller, wrap_dim

# -- of two -----------------------------------------------------------------------------------------------------------

def _real_only(name):
    def check(self, other):
        for given in (self, other):
            if given.dtype.is_complex:
                raise RuntimeError(f"{name} not implemented for complex tensors.")
    return check


def _winner_gradient(grad, wins, ties):
    return jnp.where(ties, grad / 2, jnp.where(wins, grad, jnp.zeros_like(grad)))


@op("numeric", out=True, check=_real_only("maximum"),
    grad={"self": lambda grad, self, other: _winner_gradient(grad, ~(self < other), self == other),
          "other": lambda grad, self, other: _winner_gradient(grad, ~(self > other), self == other)}, double="MaskedFillBackward0!",
    quirks=Quirks(saved_first=True, met_first=True, writes=1))
def maximum(self: Tensor, other: Tensor):
    """The larger of two elements; NaN if one is NaN. The gradient of equal elements is shared.

    >>> torch.maximum(torch.tensor([1, 5]), torch.tensor([3, 2]))
    tensor([3, 5])
    """
    return larger(self, other)


@op("numeric", out=True, check=_real_only("minimum"),
    grad={"self": lambda grad, self, other: _winner_gradient(grad, ~(self > other), self == other),
          "other": lambda grad, self, other: _winner_gradient(grad, ~(self < other), self == other)}, double="MaskedFillBackward0!",
    quirks=Quirks(saved_first=True, met_first=True, writes=1))
def minimum(self: Tensor, other: Tensor):
    """The smaller of two elements; NaN if one is NaN. The gradient of equal elements is shared.

    >>> torch.minimum(torch.tensor([1, 5]), torch.tensor([3, 2]))
    tensor([1, 2])
    """
    return smaller(self, other)


@op("numeric", out=True, check=_real_only("fmax"),
    grad={"self": lambda grad, self, other: kept_where(grad, (self >= other) | (other != other)),
          "other": lambda grad, self, other: kept_where(grad, ~((self >= other) | (other != other)))}, double="MaskedFillBackward0!")
def fmax(self: Tensor, other: Tensor):
    """The larger of two elements; NaN only if both are NaN.

    >>> torch.fmax(torch.tensor([1., float("nan")]), torch.tensor([0., 2.]))
    tensor([1., 2.])
    """
    return jnp.where((self >= other) | (other != other), self, other)


@op("numeric", out=True, check=_real_only("fmin"),
    grad={"self": lambda grad, self, other: kept_where(grad, (self <= other) | (other != other)),
          "other": lambda grad, self, other: kept_where(grad, ~((self <= other) | (other != other)))}, double="MaskedFillBackward0!")
def fmin(self: Tensor, other: Tensor):
    """The smaller of two elements; NaN only if both are NaN.

    >>> torch.fmin(torch.tensor([1., float("nan")]), torch.tensor([0., 2.]))
    tensor([0., 2.])
    """
    return jnp.where((self <= other) | (other != other), self, other)


# -- of a tensor ------------------------------------------------------------------------------------------------------

def no_empty(name, self, axes, said=None):
    """PyTorch's ``IndexError`` for a reduction without identity over a dimension of size 0; ``said``: how the dimensions were written."""
    for axis, shown in zip(axes, axes if said is None else said):
        if self.ndim and self.size[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {shown} to have non-zero size.")


def _no_complex(kernel, self):
    if self.dtype.is_complex:
        raise not_implemented(kernel, self.dtype)


def _check_full(name):
    def check(self):
        if self.numel == 0:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                               "Specify the reduction dim with the 'dim' argument.")
        _no_complex(f"{name}_all", self)
    return check


def _check_along(name):
    def check(self, dim, keepdim):
        axis = wrap_dim(dim, self.ndim)
        no_empty(name, self, (axis,))
        if self.dtype.is_complex and name in ("max", "min"):
            raise RuntimeError(f"{name}(): does not support complex input")
        _no_complex(f"{name}_cpu", self)
    return check


def highest(x, axes, keepdims=False):
    """The maximum over axes."""
    return jnp.any(x, axis=axes, keepdims=keepdims) if x.dtype == jnp.bool_ else jnp.max(x, axis=axes, keepdims=keepdims)


def lowest(x, axes, keepdims=False):
    """The minimum over axes."""
    return jnp.all(x, axis=axes, keepdims=keepdims) if x.dtype == jnp.bool_ else jnp.min(x, axis=axes, keepdims=keepdims)


def share_evenly(grad, self, result):
    """The gradient of a full extremum: equal parts for all elements that have its value (NaNs for a NaN)."""
    chosen = jnp.where(result != result, self != self, self == result)
    return jnp.where(chosen, grad / chosen.sum().astype(grad.dtype), jnp.zeros_like(grad))


def to_selected(grad, indices, shape, dim, keepdim):
    """The gradient of a selection along a dimension: all of it to the selected element."""
    if not shape:
        return grad
    axis = dim % len(shape)
    if not keepdim:
        grad, indices = jnp.expand_dims(grad, axis), jnp.expand_dims(indices, axis)
    places = lax.broadcasted_iota(indices.dtype, tuple(shape), axis)
    return jnp.where(places == indices, grad, jnp.zeros((), grad.dtype))


def _selection(grads, result1, shapes, dim, keepdim):
    return to_selected(grads[0], result1, shapes[0], dim, keepdim)


def _first_place(x, best, axis, keepdims):
    """The first place of an extremum along an axis, NaN before all: two plain reductions, several times faster than one over pairs."""
    extremum = best(x, axis, True)
    places = lax.broadcasted_iota(jnp.int32, x.shape, axis)
    hit = (x == extremum) | (x != x)
    return jnp.min(jnp.where(hit, places, x.shape[axis]), axis=axis, keepdims=keepdims).astype(jnp.int64)


def _along(x, dim, keepdim, best):
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = dim % x.ndim
    return best(x, axis, keepdim), _first_place(x, best, axis, keepdim)


_PAIR = {"nondiff": (1,), "outputs": ("values", "indices"), "out": True, "grad": {"self": _selection}, **RAW}


@op(None, name="max_all", backward="MaxBackward1", check=_check_full("max"), grad={"self": share_evenly}, out=True, **RAW,
    double="MaskedFillBackward1!", quirks=Quirks(writes=1))
def max_all(self: Tensor):
    """The largest element."""
    return highest(self, None)


@op(None, name="min_all", backward="MinBackward1", check=_check_full("min"), grad={"self": share_evenly}, out=True, **RAW,
    double="MaskedFillBackward1!", quirks=Quirks(writes=1))
def min_all(self: Tensor):
    """The smallest element."""
    return lowest(self, None)


@op(None, name="max_dim", backward="MaxBackward0", check=_check_along("max"), **_PAIR, double="ScatterBackward0",
    quirks=Quirks(writes=2, out_apart=True))
def max_dim(self: Tensor, dim, keepdim=False):
    """(values, indices) of the largest along a dimension."""
    return _along(self, dim, keepdim, highest)


@op(None, name="min_dim", backward="MinBackward0", check=_check_along("min"), **_PAIR, double="ScatterBackward0",
    quirks=Quirks(writes=2, out_apart=True))
def min_dim(self: Tensor, dim, keepdim=False):
    """(values, indices) of the smallest along a dimension."""
    return _along(self, dim, keepdim, lowest)


def _extremum(input, args, kwargs, full, along, binary):
    """The three forms of `max` and `min`, told apart by their arguments."""
    out = kwargs.pop("out", None)
    for numpys, ours in (("axis", "dim"), ("keepdims", "keepdim")):
        if numpys in kwargs and ours not in kwargs and (ours != "dim" or not args):       # else refused, under that name
            kwargs[ours] = kwargs.pop(numpys)
    more = {} if out is None else {"out": out}
    if not args and not kwargs:
        return full(input, **more)
    other = args[0] if args else kwargs.get("other")
    if hasattr(other, "dtype") and hasattr(other, "_spec"):
        if len(args) + len(kwargs) > 1:
            raise TypeError("another tensor and more")              # PyTorch's words: `refusals`
        return binary(input, other, **more)
    return along(input, *args, **kwargs, **more)


@composite()
def max(input, *args, **kwargs):
    """``max()``: the largest element. ``max(dim, keepdim=False)``: (values, indices) along a dimension. ``max(other)``: `maximum`.

    >>> torch.max(torch.tensor([[1., 5.], [7., 2.]]), 1).values
    tensor([5., 7.])
    """
    return _extremum(input, args, kwargs, max_all, max_dim, maximum)


@composite()
def min(input, *args, **kwargs):
    """``min()``: the smallest element. ``min(dim, keepdim=False)``: (values, indices) along a dimension. ``min(other)``: `minimum`.

    >>> torch.min(torch.tensor([[1., 5.], [7., 2.]]))
    tensor(1.)
    """
    return _extremum(input, args, kwargs, min_all, min_dim, minimum)


def _check_over(name):
    def check(self, dim, keepdim):
        axes = axes_of(dim, self.ndim)
        if dim in (None, ()):
            if self.numel == 0:
                raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                                   "Specify the reduction dim with the 'dim' argument.")
        else:
            no_empty(name, self, axes, (dim,) if isinstance(dim, int) else dim)
        _no_complex("max_values_cpu" if name == "amax" else "min_values_cpu", self)
    return check


def by_count(grad, self, result, dim, keepdim):
    """The gradient of an extremum over dims: equal parts for the elements that have its value."""
    axes = axes_of(dim, self.ndim)
    grad, result = restored(grad, axes, keepdim), restored(result, axes, keepdim)
    chosen = result == self
    return chosen.astype(grad.dtype) * grad / chosen.sum(axes, keepdims=True).astype(grad.dtype)


@op(None, out=True, check=_check_over("amax"), grad=by_count, double="MulBackward0!", quirks=Quirks(by_elements=True, out_fold="amax"))
def amax(self: Tensor, dim=(), keepdim=False):
    """The largest over the dimensions ``dim``; equal largest elements share the gradient.

    >>> torch.amax(torch.tensor([[1., 5.], [7., 2.]]), 0)
    tensor([7., 5.])
    """
    return highest(self, axes_of(dim, self.ndim), keepdim)


@op(None, out=True, check=_check_over("amin"), grad=by_count, double="MulBackward0!", quirks=Quirks(by_elements=True, out_fold="amin"))
def amin(self: Tensor, dim=(), keepdim=False):
    """The smallest over the dimensions ``dim``; equal smallest elements share the gradient.

    >>> torch.amin(torch.tensor([[1., 5.], [7., 2.]]), 0)
    tensor([1., 2.])
    """
    return lowest(self, axes_of(dim, self.ndim), keepdim)


def _check_aminmax(self, dim, keepdim):
    if dim is None:
        if self.numel == 0:
            raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
        return _no_complex("aminmax_cpu", self)
    axis = wrap_dim(dim, self.ndim)
    if self.ndim and self.size[axis] == 0:
        raise IndexError(f"aminmax: Expected reduction dim {axis} to have non-zero size.")
    _no_complex("aminmax_cpu", self)


@op(None, out=True, outputs=("min", "max"), check=_check_aminmax,
    grad={"self": lambda grads, self, result0, result1, dim, keepdim: by_count(grads[0], self, result0, dim, keepdim)
          + by_count(grads[1], self, result1, dim, keepdim)}, double="MulBackward0!", quirks=Quirks(by_elements=True))
def aminmax(self: Tensor, *, dim=None, keepdim=False):
    """``(min, max)`` of all elements or along ``dim``.

    >>> torch.aminmax(torch.tensor([3, 1, 2])).max
    tensor(3)
    """
    axes = axes_of(dim, self.ndim)
    return lowest(self, axes, keepdim), highest(self, axes, keepdim)


def _check_arg(name):
    def check(self, dim, keepdim):
        if dim is None:
            if self.numel == 0:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        else:
            no_empty(name, self, (wrap_dim(dim, self.ndim),))
        if self.dtype.is_complex or self.dtype is dtypes.bool:
            raise RuntimeError(f"{name}(): does not support {'complex' if self.dtype.is_complex else 'bool'} input")
    return check


def _place(x, dim, keepdim, best):
    if x.ndim == 0:
        return jnp.zeros((), jnp.int64)
    if dim is None:
        found = _first_place(x.reshape(-1), best, 0, False)
        return found.reshape((1,) * x.ndim) if keepdim else found
    return _first_place(x, best, dim % x.ndim, keepdim)


@op(None, out=True, nondiff=("self", 0), check=_check_arg("argmax"))
def argmax(self: Tensor, dim=None, keepdim=False):
    """Where the largest element is: its index along ``dim``, or in the flattened tensor. The first of equals.

    >>> torch.argmax(torch.tensor([[1., 5.], [7., 2.]]), 1)
    tensor([1, 0])
    """
    return _place(self, dim, keepdim, highest)


@op(None, out=True, nondiff=("self", 0), check=_check_arg("argmin"))
def argmin(self: Tensor, dim=None, keepdim=False):
    """Where the smallest element is: its index along ``dim``, or in the flattened tensor. The first of equals.

    >>> torch.argmin(torch.tensor([[1., 5.], [7., 2.]]), 1)
    tensor([0, 1])
    """
    return _place(self, dim, keepdim, lowest)
