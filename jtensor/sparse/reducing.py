"""Sums, norms and the softmax of sparse tensors.

Owns: these entries of the table and ``torch.sparse.sum``, ``softmax`` and ``log_softmax``. What reduces values alone is computed of
`elements_of` a coalesced tensor, which gradients follow by themselves.
"""
import numpy as np

import jtensor

from ..base.dtypes import scalar_name
from ..ops.families.select import index_reduce_raw
from ..tensor.creating.from_data import from_host
from .answering import answers
from .graph import assembled, at_places, coalesced, elements_of, merged_elements, recorded
from .moving import _dim
from .passing import summed_to
from .patterns import Pattern, added_at
from .refusals import refused
from .tensors import is_sparse, sparse


@answers("sum")
def total(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The sum over dimensions, sparse if a sparse dimension is left; over all of them a number."""
    if dtype is not None and dtype is not input.dtype:
        input = input.to(dtype)
    elif dtype is None and not input.dtype.is_floating_point and not input.dtype.is_complex:
        input = input.to(jtensor.int64)
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        made = _sum_of_all(input)
        return recorded("SumBackward0", made, [input], lambda g: (g.expand(input.shape),))
    return _over(input, dim, keepdim, "SumBackward1")


def _sum_of_all(x):
    return x._elements.sum()


def _over(x, dim, keepdim, name):
    dims = sorted([_dim(x, d) for d in ((dim,) if isinstance(dim, int) else dim)])
    if twice := [d for d, after in zip(dims, dims[1:], strict=False) if d == after]:
        raise RuntimeError(f"dim {twice[0]} appears multiple times in the list of dims")
    pattern, count = x._pattern, x._pattern.sparse_dim
    lost, dense = [d for d in dims if d < count], [d - count + 1 for d in dims if d >= count]
    values = x._elements
    if dense:
        values = values.sum(dense, keepdim and len(lost) == count)
    if len(lost) == count:
        made = values.sum(0)
        made = made.reshape([1] * count + list(made.shape)) if keepdim else made
    else:
        host = pattern.host()
        left = [d for d in range(count) if d not in lost]
        short = Pattern(from_host(np.ascontiguousarray(host[left])), [pattern.size[d] for d in left])
        made = sparse(short, values, False)
        made = coalesced(made if lost else sparse(pattern, values, x._coalesced))
        for d in dims if keepdim else ():
            made = made.unsqueeze(d)                     # sparse next to the sparse ones, whichever it was

    def pull(grad):
        merged = pattern.merged()
        if not is_sparse(grad):
            for d in () if keepdim else dims:
                grad = grad.unsqueeze(d)
            return (assembled(merged, at_places(grad.expand(x.shape), merged), True),)
        for d in reversed(dims) if keepdim else ():
            grad = grad.select(d, 0)
        rows = from_host(np.array([d for d in range(count) if d not in lost], np.int64))
        values = at_places(grad, Pattern(merged.indices.index_select(0, rows), [pattern.size[d] for d in rows.tolist()]))
        for d in dense:
            values = values.unsqueeze(d)
        return (assembled(merged, values.expand(merged.nnz, *x.shape[count:]).contiguous(), True),)
    return recorded(name, made, [x], pull)


@answers("sum_to_size")
def sum_to_size(self, *size):
    return summed_to(self, size[0] if len(size) == 1 and not isinstance(size[0], int) else size)


@answers("sparse_sum")
def sparse_sum(input, dim=None, dtype=None):
    """The sum of a sparse tensor over dimensions, or over all; its gradient is sparse, at the tensor's places.

    ``dim``: an integer or several; the result is sparse if a sparse dimension is left.

    >>> import jtensor as torch
    >>> torch.sparse.sum(torch.tensor([[0., 2.], [3., 4.]]).to_sparse())
    tensor(9.)
    """
    if dtype is not None:
        input = input.to(dtype)
    if dim is None:
        return input.coalesce().values().sum()
    if not is_sparse(input):
        raise refused("_indices", (input,))
    return _over(input, dim, False, "SparseSumBackward0")


@answers("norm", "native_norm", "frobenius_norm")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of all elements."""
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if dtype is not None and p == "fro":
        raise ValueError("dtype argument is not supported in frobenius norm")
    if dims and {d % input.ndim for d in dims} != set(range(input.ndim)):
        raise RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions "
                           "of the input")
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    if p == "nuc":
        raise refused("_linalg_svd", (input,))
    if dtype is not None:
        raise RuntimeError("norm_sparse currently does not support 'dtype' argument")
    if not input.dtype.is_floating_point and not input.dtype.is_complex:
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {scalar_name(input.dtype)} instead.")
    made = elements_of(coalesced(input)).norm(2 if p in ("fro", None) else p)
    return recorded("NormBackward1", made.detach(), [made], lambda g: (g,))


@answers("any")
def any_of(input, dim=None, keepdim=False, *, out=None):
    """Whether a kept element is true."""
    if dim is not None:
        raise refused("any.dim", (input,))
    return merged_elements(input).any()


@answers("nn.functional.dropout", *(f"nn.functional.dropout{n}d" for n in (1, 2, 3)))
def dropout(input, p=0.5, training=True, inplace=False):
    """There is none, but of nothing."""
    if training and p:
        raise refused("bernoulli_.float", (input,))
    return input


@answers("dist")
def dist(input, other, p=2):
    return norm(input - other, p)


# -- softmax -----------------------------------------------------------------------------------------------------------


@answers("sparse_softmax")
def softmax(input, dim, *, dtype=None):
    """The softmax along a dimension, of the elements that are kept: those that are not count as minus infinity.

    >>> import jtensor as torch
    >>> torch.sparse.softmax(torch.tensor([[0., 2.], [2., 2.]]).to_sparse(), 1).to_dense()
    tensor([[0.0000, 1.0000],
            [0.5000, 0.5000]])
    """
    return _softmax(input, dim, dtype, False)


@answers("sparse_log_softmax")
def log_softmax(input, dim, *, dtype=None):
    """The logarithm of `softmax`.

    >>> import jtensor as torch
    >>> torch.sparse.log_softmax(torch.tensor([[2., 2.]]).to_sparse(), 1).values()
    tensor([-0.6931, -0.6931])
    """
    return _softmax(input, dim, dtype, True)


def _softmax(x, dim, dtype, logarithm):
    if not is_sparse(x):
        raise refused("_sparse_log_softmax" if logarithm else "_sparse_softmax", (x,))
    if dtype is not None:
        x = x.to(dtype)
    if not x.dtype.is_floating_point:
        raise NotImplementedError(f"\"{'log_softmax' if logarithm else 'softmax'}\" not implemented for '{scalar_name(x.dtype)}'")
    dim, x = _dim(x, dim), coalesced(x)
    count, name = x._pattern.sparse_dim, f"Sparse{'Log' if logarithm else ''}SoftmaxBackward0"
    values = elements_of(x)
    if dim >= count:
        function = jtensor.log_softmax if logarithm else jtensor.softmax
        return assembled(x._pattern, function(values, dim - count + 1), True, name)
    host = x._pattern.host()
    others = np.zeros(host.shape[1], np.int64)
    for d in range(count):
        if d != dim:
            others = others * x._pattern.size[d] + host[d]
    groups, inverse = np.unique(others, return_inverse=True)
    group = from_host(inverse.astype(np.int64))
    tail = tuple(values.shape[1:])
    low = jtensor.full((len(groups), *tail), float("-inf"), dtype=values.dtype)
    most = index_reduce_raw(low, 0, group, values.detach(), "amax", True)
    shifted = values - most.index_select(0, group)
    exponentials = shifted.exp()
    sums = added_at(jtensor.zeros((len(groups), *tail), dtype=values.dtype), group, exponentials)
    if logarithm:
        made = shifted - sums.log().index_select(0, group)
    else:
        made = exponentials / sums.index_select(0, group)
    return assembled(x._pattern, made, True, name)
