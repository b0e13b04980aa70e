"""Sparse tensors in `gradcheck`: which elements are varied, tensors all of whose places have one, and ``torch.sparse.as_sparse_gradcheck``.

Owns: these. May not know: how gradients are checked.
"""
import math

import numpy as np

import jtensor

from .compressed import by_rows, is_compressed, twin
from .compressing import to_layout
from .graph import at_places
from .patterns import of_numbers
from .tensors import is_sparse, sparse


def varied(x):
    """(the values of a sparse tensor, on its memory; for each of them in order its place in the dense tensor, as one number)."""
    values, pattern = x._values().data, (x if is_sparse(x) else twin(x.detach()))._pattern
    tail = math.prod(x.shape[pattern.sparse_dim:])
    return values, (pattern.numbers()[:, None] * tail + np.arange(tail)).reshape(-1)


def densified(x):
    """A copy of a sparse tensor all of whose places have an element, those that had none zero; anything else is itself."""
    if not isinstance(x, jtensor.Tensor) or not (is_sparse(x) or is_compressed(x)):
        return x
    made = _full((x if is_sparse(x) else twin(x)).detach(), x)
    return made.requires_grad_(x.requires_grad)


def _full(coordinates, x):
    size = coordinates._pattern.size
    pattern = of_numbers(np.arange(math.prod(size)), size)
    made = sparse(pattern, at_places(coordinates, pattern), True)
    return made if is_sparse(x) else to_layout(made, x._layout, x.blocksize)


def as_sparse_gradcheck(gradcheck):
    """`torch.autograd.gradcheck`, or another function of its kind that knows dense tensors alone, for functions of sparse tensors too, and
    for those whose results are sparse.

    ``masked``, a keyword of the new function (False): whether only the elements that a sparse tensor has are varied. Otherwise all are.

    >>> import jtensor as torch
    >>> check = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     check(lambda x: x.to_sparse_csr(), torch.eye(2, dtype=torch.float64).to_sparse().requires_grad_())
    True
    """
    def gradcheck_with_sparse_support(func, inputs, **kwargs):
        """The same check; its sparse inputs are represented by their values, its sparse outputs made dense."""
        masked = kwargs.pop("masked", False)

        def represented(*args, **options):
            outputs = func(*_restored(args), **options)
            several = isinstance(outputs, (list, tuple))
            dense = tuple([_dense(one, masked) for one in (outputs if several else (outputs,))])
            return dense if several else dense[0]
        return gradcheck(represented, _represented(inputs, masked), **kwargs)
    return gradcheck_with_sparse_support


_MARK = "__STRIDED_REPRESENTATION__"                  # which precedes the parts of a sparse input, and its values


def _is_differentiable(x):
    return isinstance(x, jtensor.Tensor) and x.requires_grad and x.layout is not jtensor.strided


def _dense(x, masked):
    return x.to_dense(masked_grad=masked) if _is_differentiable(x) else x


def _represented(inputs, masked):
    given = []
    for x in inputs if isinstance(inputs, (list, tuple)) else (inputs,):
        if not _is_differentiable(x):
            given.append(x)
            continue
        parts, full = {"layout": x.layout, "shape": x.shape}, x.detach() if masked else densified(x.detach())
        if is_sparse(full):
            parts |= {"indices": full._indices(), "is_coalesced": full.is_coalesced()}
        elif by_rows(full._layout):
            parts |= {"compressed_indices": full.crow_indices(), "plain_indices": full.col_indices()}
        else:
            parts |= {"compressed_indices": full.ccol_indices(), "plain_indices": full.row_indices()}
        given += [_MARK, parts, full._values().requires_grad_()]
    return tuple(given)


def _restored(args):
    made, args = [], list(args)
    while args:
        one = args.pop(0)
        if isinstance(one, str) and one == _MARK:
            parts, values = args.pop(0), args.pop(0)
            if parts["layout"] is jtensor.sparse_coo:
                one = jtensor.sparse_coo_tensor(parts["indices"], values, parts["shape"], is_coalesced=parts["is_coalesced"])
            else:
                one = jtensor.sparse_compressed_tensor(parts["compressed_indices"], parts["plain_indices"], values, parts["shape"],
                                                       layout=parts["layout"])
        made.append(one)
    return tuple(made)
