"""Reductions of masked tensors: of what the mask lets through, by the functions of `torch.masked`; the mask of the result says where there
was anything.

Owns: these, with PyTorch's limits. May not know: who asks.
"""
import jtensor

from .. import functions
from .core import is_masked_tensor, not_there
from .creation import as_masked_tensor, masked_tensor

NAMES = "sum mean amin amax argmin argmax prod all norm var std".split()


def _reduction(name):
    return _all if name == "all" else getattr(functions, name)


def _all(data, dim=None, keepdim=False, mask=None):
    """Whether all elements hold, of those that the mask lets through."""
    data = data if mask is None else data.masked_fill(~mask, True)
    return data.all() if dim is None else jtensor.all(data, dim=dim, keepdim=keepdim)


def _of_all(name, x):
    """The reduction to one number; of a sparse tensor, of its elements."""
    function, data, sparse = _reduction(name), x.get_data(), x.is_sparse
    mask = x.get_mask().values() if sparse else x.get_mask()
    if name == "all":
        result = function(data, mask=mask)
    elif name in ("argmin", "argmax") and x.is_sparse_coo():
        at = function(data.values(), mask=mask).to(jtensor.int)
        steps = data.size().numel() / jtensor.tensor(data.size(), device=data.device).cumprod(0)
        result = jtensor.sum(data.indices().unbind(1)[at] * steps)
    elif sparse:
        result = function(masked_tensor(data.values(), mask))
    else:
        result = function(x, mask=mask)
    return as_masked_tensor(result, jtensor.any(mask))


def _any(mask, dim, keepdim):
    """Whether the mask lets anything through, along one dimension or several."""
    for one in [dim] if isinstance(dim, int) else sorted(dim, reverse=True):
        mask = jtensor.any(mask, dim=one, keepdim=keepdim)
    return mask


def _along(name, x, dim, keepdim=False, dtype=None):
    if x.is_sparse:
        not_there(f"The sparse version of {name}", "reductions")
        return NotImplemented
    if not is_masked_tensor(x):
        raise TypeError("Input to reduce_dim must be a MaskedTensor")
    mask = x.get_mask()
    if name == "all":
        result = _all(x.get_data(), dim=dim, keepdim=keepdim, mask=mask)
    else:
        result = _reduction(name)(x, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return as_masked_tensor(result, _any(mask, dim, keepdim))


def _reduce_dim_args(input, dim, keepdim=False, dtype=None):
    return input, dim, keepdim, dtype


def function(name, *args, **kwargs):
    """The public function or method of a name."""
    if len(args) == 1 and not kwargs:
        return _of_all(name, args[0])
    return _along(name, *_reduce_dim_args(*args, **kwargs))


def operator(func, *args, **kwargs):
    """The same as an operator."""
    if len(args) == 1 and not kwargs:
        return _of_all(func.__name__, args[0])
    return _along(func.__name__, *args, **kwargs)
