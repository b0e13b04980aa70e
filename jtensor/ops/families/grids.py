"""Tensors laid out against one another: broadcast_tensors, meshgrid, products and combinations of vectors.

Owns: composites whose tensors come as a list or one by one. May not know: any operator but `stack`.
"""
import itertools

import numpy as np

from ...base import sites
from ...base.naming import type_name
from ..build import broadcast_shapes
from ..registry import composite
from .composing import only_tensors
from .join import stack


def _listed(tensors):
    """The tensors of a call that were given one by one or as one list."""
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors


@composite(method=False)
def broadcast_tensors(*tensors):
    """The tensors expanded to the shape they broadcast to; views.

    >>> a, b = torch.broadcast_tensors(torch.zeros(2, 1), torch.ones(3))
    >>> b
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    only_tensors(tensors)
    shape = broadcast_shapes([tuple(t._spec.size) for t in tensors])
    return tuple([t if tuple(t._spec.size) == shape else t.expand(shape) for t in tensors])


@composite(method=False)
def meshgrid(*tensors, indexing=None):
    """Grids of coordinates: each vector expanded along the dimensions of the others; views.

    ``indexing``: "ij", or "xy" with the first two dimensions swapped. It should be given: its absence warns.

    >>> x, y = torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")
    >>> x
    tensor([[1, 1],
            [2, 2]])
    """
    tensors = _listed(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    only_tensors(tensors)
    if indexing is None:
        sites.warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    for t in tensors:
        for same in ("dtype", "device"):
            if getattr(t._spec, same) != getattr(tensors[0]._spec, same):
                raise RuntimeError(f"meshgrid expects all tensors to have the same {same}")
    if not isinstance(indexing, str):
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {type_name(type(indexing))}")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in tensors:
        if t._spec.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                               f"{_as_streamed(t)}")
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    shape = tuple(t._spec.numel for t in tensors)
    grids = []
    for at, t in enumerate(tensors):
        grids.append(t.view(*(-1 if d == at else 1 for d in range(len(shape)))).expand(shape))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _as_streamed(t):
    """The first line of a tensor's text as PyTorch's C++ writes it into a message."""
    while t._spec.ndim > 1 and t._spec.numel:
        t = t[0]
    numbers = t.tolist()
    whole = all(v == int(v) for v in numbers)
    texts = [str(int(v)) if whole else f"{v:.4f}" for v in numbers]
    width = max(map(len, texts), default=0)
    return " ".join([" " + text.rjust(width) for text in texts])


@composite(method=False)
def cartesian_prod(*tensors):
    """All tuples of elements of the vectors, as rows.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    only_tensors(tensors)
    for t in tensors:
        if t._spec.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._spec.size)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.flatten() for g in meshgrid(*tensors, indexing="ij")], dim=1)


@composite(method=False, asked=True)
def combinations(input, r=2, with_replacement=False):
    """All choices of ``r`` elements of a vector, as rows; with or without taking an element again.

    >>> torch.combinations(torch.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if input._spec.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._spec.size)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    from ...tensor.creating.from_data import from_host
    if r == 0:
        return input.new_empty((0,))
    n = input._spec.numel
    if r == 2:
        rows = np.stack(np.triu_indices(n, 0 if with_replacement else 1), 1)
    else:
        choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
        rows = np.fromiter(itertools.chain.from_iterable(choose(range(n), r)), np.int64).reshape(-1, r)
    return stack([input[from_host(column, device=input.device)] for column in rows.T], 1)
