"""Rules that pick, reorder, drop and add dimensions: ``select``, ``narrow``, slicing, ``permute``, ``squeeze``, ``diagonal``, ...

``swapaxes`` and ``swapdims`` are `transpose`, ``moveaxis`` is `movedim`.
"""

from __future__ import annotations

from ...base import sites

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints, int]

_MSG_T_DEPRECATED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a "
    "future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse "
    "the dimensions of a tensor."
)
_MSG_0D_IDENTITY = "{} is deprecated on 0-D tensors. This function is the identity in these cases."
_MSG_0D_CONJ = "{} is deprecated on 0-D tensors. Consider using x.conj()."


def wrap_dim(dim: int, rank: int, scalars_too: bool = True) -> int:
    """A dimension counted from the front; a 0-d tensor has dimension 0 (and -1) where ``scalars_too``.

    >>> wrap_dim(-1, 3), wrap_dim(-1, 0)
    (2, 0)
    >>> wrap_dim(5, 2)
    Traceback (most recent call last):
    IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)
    """
    n = rank or 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    if not rank and not scalars_too:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return dim % n


# ------------------------------------------------------------------------------------------------- picking a part

def select(size: Ints, stride: Ints, offset: int, dim: int, index: int) -> Geometry:
    """``x.select(dim, index)``, and ``x[index]``: one slot of a dimension, which is dropped.

    >>> select((3, 4), (4, 1), 0, 0, -1)
    ((4,), (1,), 8)
    """
    rank = len(size)
    if rank == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if not 0 <= dim < rank:
        dim = wrap_dim(dim, rank)
    length = size[dim]
    if not -length <= index < length:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(size)} at dimension {dim}")
    if index < 0:
        index += length
    return size[:dim] + size[dim + 1 :], stride[:dim] + stride[dim + 1 :], offset + index * stride[dim]


def narrow(size: Ints, stride: Ints, offset: int, dim: int, start: int, length: int) -> Geometry:
    """``x.narrow(dim, start, length)``: a run of slots.

    >>> narrow((3, 4), (4, 1), 0, 1, 1, 2)
    ((3, 2), (4, 1), 1)
    """
    rank = len(size)
    if rank == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = wrap_dim(dim, rank)
    have = size[dim]
    if not -have <= start <= have:
        raise IndexError(f"start out of range (expected to be in range of [{-have}, {have}], but got {start})")
    if start < 0:
        start += have
    if start + length > have:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({have}).")
    return (*size[:dim], length, *size[dim + 1 :]), stride, offset + start * stride[dim]


def slice_(
    size: Ints, stride: Ints, offset: int, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Geometry:
    """``x[start:end:step]`` on one dimension; bounds are clamped as Python's are, steps are positive.

    >>> slice_((10,), (1,), 0, 0, -5, None, 2)
    ((3,), (2,), 5)
    """
    rank = len(size)
    if rank == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if not 0 <= dim < rank:
        dim = wrap_dim(dim, rank)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    length = size[dim]
    if start is None:
        start = 0
    elif start < 0:
        start = start + length if start >= -length else 0
    elif start > length:
        start = length
    if end is None or end > length:
        end = length
    elif end < 0:
        end += length
    if end < start:
        end = start
    pace = stride[dim]
    return (
        (*size[:dim], (end - start + step - 1) // step, *size[dim + 1 :]),
        stride if step == 1 else (*stride[:dim], pace * step, *stride[dim + 1 :]),
        offset + start * pace,
    )


# ------------------------------------------------------------------------------------------------ reordering

def transpose(size: Ints, stride: Ints, offset: int, dim0: int, dim1: int) -> Geometry:
    """``x.transpose(dim0, dim1)``, ``swapaxes``, ``swapdims``.

    >>> transpose((2, 3), (3, 1), 0, 0, -1)
    ((3, 2), (1, 3), 0)
    """
    rank = len(size)
    dim0, dim1 = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    if dim0 == dim1:
        return size, stride, offset
    size, stride = list(size), list(stride)
    size[dim0], size[dim1] = size[dim1], size[dim0]
    stride[dim0], stride[dim1] = stride[dim1], stride[dim0]
    return tuple(size), tuple(stride), offset


def t(size: Ints, stride: Ints, offset: int) -> Geometry:
    """``x.t()``: the transpose of a matrix; fewer dimensions stay as they are."""
    if len(size) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(size)}D")
    return size[::-1], stride[::-1], offset


def T(size: Ints, stride: Ints, offset: int) -> Geometry:
    """``x.T``: all dimensions reversed.  Warns, as PyTorch does, for any number of them but 2."""
    if len(size) == 0:
        sites.warn_once(_MSG_0D_IDENTITY.format("Tensor.T"))
    elif len(size) != 2:
        sites.warn_once(_MSG_T_DEPRECATED)
    return size[::-1], stride[::-1], offset


def H(size: Ints, stride: Ints, offset: int) -> Geometry:
    """``x.H`` without its conjugation: the transpose of a matrix (warns for 0 dimensions)."""
    if len(size) == 0:
        sites.warn_once(_MSG_0D_CONJ.format("Tensor.H"))
    elif len(size) != 2:
        batches = " For batches of matrices, consider using tensor.mH" if len(size) > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {len(size)}-D tensor.{batches}")
    return size[::-1], stride[::-1], offset


def _matrices(name: str, size: Ints, stride: Ints, offset: int) -> Geometry:
    if len(size) == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(size, stride, offset, -2, -1) if size else (size, stride, offset)


def mT(size: Ints, stride: Ints, offset: int) -> Geometry:
    """``x.mT``: the last two dimensions swapped (warns for 0 dimensions)."""
    if len(size) == 0:
        sites.warn_once(_MSG_0D_IDENTITY.format("Tensor.mT"))
    return _matrices("mT", size, stride, offset)


def mH(size: Ints, stride: Ints, offset: int) -> Geometry:
    """``x.mH`` without its conjugation (warns for 0 dimensions)."""
    if len(size) == 0:
        sites.warn_once(_MSG_0D_CONJ.format("Tensor.mH"))
    return _matrices("mH", size, stride, offset)


def adjoint(size: Ints, stride: Ints, offset: int) -> Geometry:
    """``x.adjoint()`` without its conjugation (warns for 0 dimensions)."""
    if len(size) == 0:
        sites.warn_once(_MSG_0D_CONJ.format("adjoint()"))
    return _matrices("adjoint()", size, stride, offset)


def permute(size: Ints, stride: Ints, offset: int, dims: Ints) -> Geometry:
    """``x.permute(dims)``.

    >>> permute((2, 3, 4), (12, 4, 1), 0, (2, 0, -2))
    ((4, 2, 3), (1, 12, 4), 0)
    """
    rank = len(size)
    if len(dims) != rank:
        # PyTorch says sparse_coo here for every layout.
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(dims)}"
        )
    order = []
    for dim in dims:
        dim = wrap_dim(dim, rank)
        if dim in order:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        order.append(dim)
    return tuple([size[dim] for dim in order]), tuple([stride[dim] for dim in order]), offset


def movedim(size: Ints, stride: Ints, offset: int, source, destination) -> Geometry:
    """``x.movedim(source, destination)``, ``moveaxis``; both an int or both a sequence of ints.

    >>> movedim((2, 3, 4), (12, 4, 1), 0, 0, -1)
    ((3, 4, 2), (4, 1, 12), 0)
    """
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({source} dims) should contain the same number of dims as "
            f"destination ({destination} dims)"
        )
    rank = len(size)
    origin = [wrap_dim(dim, rank) for dim in source]
    goal = [wrap_dim(dim, rank) for dim in destination]
    if len(set(origin)) != len(origin):
        raise RuntimeError(f"movedim: repeated dim in `source` ({source})")
    if len(set(goal)) != len(goal):
        raise RuntimeError(f"movedim: repeated dim in `destination` ({destination})")
    if rank == 0:
        return size, stride, offset
    placed = dict(zip(goal, origin, strict=True))
    others = iter([dim for dim in range(rank) if dim not in origin])
    return permute(size, stride, offset, tuple(placed[dim] if dim in placed else next(others) for dim in range(rank)))


# --------------------------------------------------------------------------------------- dropping and adding

def squeeze(size: Ints, stride: Ints, offset: int, dim: int | Ints | None = None) -> Geometry:
    """``x.squeeze()``, ``squeeze(dim)``, ``squeeze(dims)``: dimensions of size 1 are dropped, others stay.

    >>> squeeze((1, 3, 1), (3, 1, 1), 0), squeeze((1, 3, 1), (3, 1, 1), 0, -1)
    (((3,), (1,), 0), ((1, 3), (3, 1), 0))
    """
    rank = len(size)
    if dim is None:
        drop = set(range(rank))
    elif isinstance(dim, int):
        drop = {wrap_dim(dim, rank)}
    else:
        drop = set()
        for each in dim:
            each = wrap_dim(each, rank)
            if each in drop:
                raise RuntimeError(f"dim {each} appears multiple times in the list of dims")
            drop.add(each)
    keep = [at for at in range(rank) if at not in drop or size[at] != 1]
    return tuple([size[at] for at in keep]), tuple([stride[at] for at in keep]), offset


def unsqueeze(size: Ints, stride: Ints, offset: int, dim: int) -> Geometry:
    """``x.unsqueeze(dim)``, ``x[None]``.

    >>> unsqueeze((2, 3), (3, 1), 0, 0), unsqueeze((2, 3), (3, 1), 0, -1)
    (((1, 2, 3), (6, 3, 1), 0), ((2, 3, 1), (3, 1, 1), 0))
    """
    dim = wrap_dim(dim, len(size) + 1)
    pace = size[dim] * stride[dim] if dim < len(size) else 1
    return (*size[:dim], 1, *size[dim:]), (*stride[:dim], pace, *stride[dim:]), offset


# --------------------------------------------------------------------------------------- diagonals and windows

def diagonal(size: Ints, stride: Ints, start: int, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Geometry:
    """``x.diagonal(offset, dim1, dim2)``; ``start`` is the view's own storage offset.

    >>> diagonal((3, 4), (4, 1), 0), diagonal((3, 4), (4, 1), 0, -1)
    (((3,), (5,), 0), ((2,), (5,), 4))
    """
    rank = len(size)
    one, two = wrap_dim(dim1, rank), wrap_dim(dim2, rank)
    if one == two:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if offset >= 0:
        length = max(min(size[one], size[two] - offset), 0)
        skipped = offset * stride[two]
    else:
        length = max(min(size[one] + offset, size[two]), 0)
        skipped = -offset * stride[one]
    rest = [dim for dim in range(rank) if dim != one and dim != two]
    return (
        (*[size[dim] for dim in rest], length),
        (*[stride[dim] for dim in rest], stride[one] + stride[two]),
        start + skipped if length else start,
    )


def unfold(size: Ints, stride: Ints, offset: int, dim: int, length: int, step: int) -> Geometry:
    """``x.unfold(dim, length, step)``: windows of ``length`` every ``step``; overlapping ones share cells.

    >>> unfold((7,), (1,), 0, 0, 3, 2)
    ((3, 3), (2, 1), 0)
    """
    rank = len(size)
    dim = wrap_dim(dim, rank)
    have = size[dim] if rank else 1
    if length < 0:
        raise RuntimeError(f"size is {length} but must be >= 0")
    if length > have:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {have} but size is {length}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if rank == 0:
        return (length,), (1,), offset
    windows = (have - length) // step + 1
    return (
        (*size[:dim], windows, *size[dim + 1 :], length),
        (*stride[:dim], step * stride[dim], *stride[dim + 1 :], stride[dim]),
        offset,
    )
