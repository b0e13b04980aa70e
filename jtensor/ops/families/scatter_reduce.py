"""Reductions into places that an index names: sums, products, means, extremes; `scatter_reduce` along a dimension.

Owns: what is reduced, and its gradients, for any places: those of `scatter` here, slices in `select`. May not know: tensors as objects, but
in composites.
"""
import jax
import jax.numpy as jnp

from ...base import dtypes
from ...base.errors import missing
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import put_out
from .numeric import not_implemented
from .scatter import check_scatter, checked, cut, gather_at, one_of_each, padded, scatter_at

_HOW = {"sum": "add", "prod": "multiply", "mean": "add", "amax": "max", "amin": "min"}

# -- at any places ----------------------------------------------------------------------------------------------------

def identity_of(reduce, dtype):
    """What changes nothing in a reduction."""
    if reduce in ("sum", "mean"):
        return jnp.zeros((), dtype)
    if reduce == "prod":
        return jnp.ones((), dtype)
    lowest = reduce == "amax"
    if dtype == jnp.bool_:
        return jnp.asarray(not lowest)
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        return jnp.asarray(info.min if lowest else info.max, dtype)
    return jnp.asarray(-jnp.inf if lowest else jnp.inf, dtype)


def combine(self, places, src, reduce, include_self):
    """A reduction of ``src`` into ``self`` at places: a function ``places(x, source, how)`` says where."""
    base = self
    if not include_self:
        base = places(self, jnp.broadcast_to(identity_of(reduce, self.dtype), src.shape), "set")
    out = places(base, src, _HOW[reduce])
    if reduce != "mean":
        return out
    count = counts(self, places, src, include_self)
    if jnp.issubdtype(self.dtype, jnp.integer):
        return jnp.floor_divide(out, count.astype(out.dtype))
    return out / count.astype(out.dtype)


def counts(self, places, src, include_self):
    """How many elements each mean is taken of."""
    ones = jnp.ones(self.shape, jnp.float32)
    if not include_self:
        ones = places(ones, jnp.zeros(src.shape, jnp.float32), "set")
    n = places(ones, jnp.ones(src.shape, jnp.float32), "add")
    return jnp.where(n < 1, jnp.ones_like(n), n)


def reduce_gradients(grad, self, src, result, reduce, include_self, places, pick):
    """(gradient of self, gradient of the covered source) of a reduction at places; ``pick(x)`` reads at them."""
    zero = jnp.zeros((), grad.dtype)
    off = (lambda g: g) if include_self else (lambda g: places(g, jnp.zeros(src.shape, g.dtype), "set"))
    if reduce == "sum":
        return off(grad), pick(grad)
    if reduce == "mean":
        shared = grad / counts(self, places, src, include_self).astype(grad.dtype)
        return off(shared), pick(shared)
    if reduce == "prod":
        return _product_gradients(grad, self, src, include_self, places, pick, off)
    mine = self == result                           # counts as one of them even where it is left out, as in PyTorch
    theirs = src == pick(result)
    n = places(mine.astype(grad.dtype), theirs.astype(grad.dtype), "add")
    shared = grad / jnp.where(n == 0, jnp.ones_like(n), n)
    return off(jnp.where(mine, shared, zero)), jnp.where(theirs, pick(shared), zero)


def _once_more(places):
    """Products at their places, whose derivative is not there: what asks for it is a third one of the whole."""
    @jax.custom_jvp
    def products(base, src):
        return places(base, src, "multiply")

    @products.defjvp
    def refuse(factors, changes):
        raise missing('third derivatives of reductions by places with "prod"', "torch.prod of each place's elements")
    return products


def _others_at(places, pick, base, src):
    """(for each element of ``base``, for each of ``src``) the product of all others that come to its place.

    Of others of which one is 0 it is 0, but not its slope by that one: that is the product of the rest.
    """
    zero = jnp.zeros((), base.dtype)

    def by_zeros(left, none, one):
        return tuple([jnp.where(n == 0, a, jnp.where(n == 1, b, zero)) for n, a, b in zip(left, none, one, strict=True)])

    def looked_at(base, src):
        filled = [jnp.where(x == 0, jnp.ones_like(x), x) for x in (base, src)]
        zeros = places((base == 0).astype(base.dtype), (src == 0).astype(src.dtype), "add")
        left = zeros - (base == 0).astype(base.dtype), pick(zeros) - (src == 0).astype(src.dtype)
        whole = _once_more(places)(*filled)
        return filled, left, tuple([jnp.where(x == 0, w, w / f)
                                    for x, w, f in zip((base, src), (whole, pick(whole)), filled, strict=True)])

    @jax.custom_jvp
    def others(base, src):
        _, left, products = looked_at(base, src)
        return by_zeros(left, products, (zero, zero))

    @others.defjvp
    def slope(factors, changes):
        filled, left, products = looked_at(*factors)
        shares = [jnp.where(x == 0, zero, c / f) for x, c, f in zip(factors, changes, filled, strict=True)]
        vanished = [jnp.where(x == 0, c, zero) for x, c in zip(factors, changes, strict=True)]
        sums = [(s - own, z - gone) for s, z, own, gone in zip(*[(t, pick(t)) for t in (places(*shares, "add"), places(*vanished, "add"))],
                                                               shares, vanished, strict=True)]
        return by_zeros(left, products, (zero, zero)), by_zeros(
            left, [p * s for p, (s, _) in zip(products, sums, strict=True)], [p * z for p, (_, z) in zip(products, sums, strict=True)])
    return others(base, src)


def _product_gradients(grad, self, src, include_self, places, pick, off):
    """The product of all others."""
    base = self if include_self else places(self, jnp.ones(src.shape, self.dtype), "set")
    of_base, of_src = _others_at(places, pick, base, src)
    return off(grad * of_base), pick(grad) * of_src


# -- along a dimension ------------------------------------------------------------------------------------------------

def _check_scatter_reduce(self, dim, index, src, reduce, include_self, rows=False):
    if reduce not in _HOW:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    check_scatter(self, dim, index, src)
    if self.dtype.is_complex and reduce in ("amax", "amin") or self.dtype is dtypes.bool and reduce == "mean":
        raise not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", self.dtype)


def _along(dim, index, rows):
    return (lambda x, source, how: scatter_at(x, dim, index, source, how, rows)), (lambda x: gather_at(x, dim, index, rows))


def _reduce_self(grad, self, dim, index, src, result, reduce, include_self, rows):
    places, pick = _along(dim, index, rows)
    return reduce_gradients(grad, self, cut(src, index, rows), result, reduce, include_self, places, pick)[0]


def _reduce_src(grad, self, dim, index, src, result, reduce, include_self, rows):
    places, pick = _along(dim, index, rows)
    return padded(reduce_gradients(grad, self, cut(src, index, rows), result, reduce, include_self, places, pick)[1], src.shape)


@op(name="scatter_reduce.raw", backward="ScatterReduceBackward0", check=_check_scatter_reduce, nondiff=("index",),
    grad={"self": _reduce_self, "src": _reduce_src}, **RAW, quirks=Quirks(real_only="scatter_reduce", apart=True))
def scatter_reduce_raw(self: Tensor, dim, index: Tensor, src: Tensor, reduce, include_self=True, rows=False):
    """The source's elements reduced into what is along ``dim``, or whole slices (`one_of_each`)."""
    return combine(self, _along(dim, index, rows)[0], cut(src, index, rows), reduce, include_self)


_OLDER = {"max": "amax", "min": "amin"}             # not documented any more, and taken


@composite()
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None):
    """A copy of the tensor with ``src`` reduced ("sum", "prod", "mean", "amax", "amin") at the places of the index along ``dim``.

    ``include_self``: whether the tensor's own elements take part.

    >>> torch.scatter_reduce(torch.zeros(2), 0, torch.tensor([0, 0, 1]), torch.tensor([1., 5., 2.]), "amax")
    tensor([5., 2.])
    """
    reduce = _OLDER.get(reduce, reduce)
    checked(scatter_reduce_raw, input, dim, index, src, reduce, include_self)
    index, rows = one_of_each(input, dim, index, src)
    return put_out("scatter_reduce", scatter_reduce_raw(input, dim, index, src, reduce, include_self, rows), out, asked_first=True)


@composite(function=False)
def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """``scatter_reduce``, written back into the tensor."""
    reduce = _OLDER.get(reduce, reduce)
    checked(scatter_reduce_raw, self, dim, index, src, reduce, include_self, inplace=True)
    index, rows = one_of_each(self, dim, index, src)
    return scatter_reduce_raw.inplace_form(self, dim, index, src, reduce, include_self, rows)
