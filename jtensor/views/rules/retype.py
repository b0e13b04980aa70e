"""Rules for one memory under another element type: ``view(dtype)``, ``view_as_real``, ``view_as_complex``, ``real``, ``imag``.

The new geometry counts elements of the new type.  Types are known here by itemsize and by the names PyTorch's messages use.
Lazily conjugated or negated tensors are refused by whoever knows of such a thing.
"""

from __future__ import annotations

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints, int]


def view_dtype(
    size: Ints, stride: Ints, offset: int, itemsize: int, new_itemsize: int, name: str = "self", new_name: str = "dtype"
) -> Geometry:
    """``x.view(dtype)``; the last dimension grows or shrinks with the itemsize.  ``name`` and ``new_name``: ``Float``, ``Short``.

    >>> view_dtype((2, 4), (4, 1), 4, 4, 2), view_dtype((2, 4), (4, 1), 4, 4, 8)
    (((2, 8), (8, 1), 8), ((2, 2), (2, 1), 2))
    """
    if itemsize == new_itemsize:
        return size, stride, offset
    change = f"to view {name} as {new_name} (different element sizes)"
    if not size:
        raise RuntimeError(f"self.dim() cannot be 0 {change}")
    if itemsize > new_itemsize:
        ratio = itemsize // new_itemsize
        if stride[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {change}, but got {stride[-1]}")
        return (*size[:-1], size[-1] * ratio), (*[pace * ratio for pace in stride[:-1]], 1), offset * ratio
    ratio = new_itemsize // itemsize
    if size[-1] % ratio:
        raise RuntimeError(f"self.size(-1) must be divisible by {ratio} {change}, but got {size[-1]}")
    if offset % ratio:
        raise RuntimeError(f"self.storage_offset() must be divisible by {ratio} {change}, but got {offset}")
    if stride[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {change}, but got {stride[-1]}")
    for dim, pace in enumerate(stride[:-1]):
        if pace % ratio:
            raise RuntimeError(f"self.stride({dim}) must be divisible by {ratio} {change}, but got {pace}")
    return (*size[:-1], size[-1] // ratio), (*[pace // ratio for pace in stride[:-1]], 1), offset // ratio


def view_as_real(size: Ints, stride: Ints, offset: int, is_complex: bool = True) -> Geometry:
    """``torch.view_as_real(x)``: a last dimension of (real, imaginary).

    >>> view_as_real((3,), (1,), 2)
    ((3, 2), (2, 1), 4)
    """
    if not is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return (*size, 2), (*[pace * 2 for pace in stride], 1), offset * 2


def view_as_complex(size: Ints, stride: Ints, offset: int, name: str = "Float") -> Geometry:
    """``torch.view_as_complex(x)``; ``name`` is the dtype's: ``Half``, ``Float`` and ``Double`` have complex partners.

    >>> view_as_complex((3, 2), (2, 1), 4)
    ((3,), (1,), 2)
    """
    if name not in ("Half", "Float", "Double"):
        raise RuntimeError(f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {name}")
    if not size:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if size[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if stride[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    # A dimension of size 1 may have any stride; it is halved all the same.
    if any(pace % 2 for length, pace in zip(size[:-1], stride[:-1], strict=True) if length != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return size[:-1], tuple([pace // 2 for pace in stride[:-1]]), offset // 2


def real(size: Ints, stride: Ints, offset: int, is_complex: bool = True) -> Geometry:
    """``x.real``; a real tensor is its own.

    >>> real((3,), (1,), 1)
    ((3,), (2,), 2)
    """
    if not is_complex:
        return size, stride, offset
    return size, tuple([pace * 2 for pace in stride]), offset * 2


def imag(size: Ints, stride: Ints, offset: int, is_complex: bool = True) -> Geometry:
    """``x.imag``.

    >>> imag((3,), (1,), 1)
    ((3,), (2,), 3)
    """
    if not is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return size, tuple([pace * 2 for pace in stride]), offset * 2 + 1
