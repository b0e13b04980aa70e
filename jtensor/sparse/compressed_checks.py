"""Whether the parts of a compressed matrix, or of a batch of them, go together, and the size that they suggest: PyTorch's errors, in its
order.

May not know: the tensors that are made of them.
"""
import numpy as np

from ..base.dtypes import scalar_name
from .compressed import by_rows, in_blocks
from .patterns import REASON, host_copy


def _names(layout):
    """How errors call the parts and directions: of the lines (rows of CSR) and across them."""
    rows = by_rows(layout)
    return ("crow_indices", "col_indices", "row", "col", "nrows", "ncols") if rows else (
        "ccol_indices", "row_indices", "column", "row", "ncols", "nrows")


def check_form(layout, begins, others, values, size):
    """RuntimeError for parts among which no batch can be told from the rest: the one thing that is refused unasked."""
    first, second, *_ = _names(layout)
    if begins.ndim < 1:
        raise RuntimeError(f"{first} must have dimensionality >= 1 but got {begins.ndim}")
    if begins.ndim != others.ndim:
        raise RuntimeError(f"{first} and {second} dimensionalities must be equal but got {begins.ndim} and {others.ndim}, respectively")
    batch, block = begins.ndim - 1, 2 if in_blocks(layout) else 0
    if values.ndim <= batch + block:
        raise RuntimeError(f"values must have dimensionality > sum of batch and block dimensionalities (={batch} + {block}) but got "
                           f"{values.ndim}")


def check(layout, begins, others, values, size):
    """RuntimeError for parts that do not go together, or do not fit the size."""
    check_form(layout, begins, others, values, size)
    batch, block = begins.ndim - 1, 2 if in_blocks(layout) else 0
    dense = values.ndim - batch - block - 1
    if len(size) != batch + 2 + dense:
        raise RuntimeError("tensor dimensionality must be sum of batch, base, and dense dimensionalities "
                           f"(={batch} + 2 + {dense}) but got {len(size)}")
    _check_shapes(layout, begins, others, values, size, batch, block)
    first, second, *_ = _names(layout)
    if begins.dtype is not others.dtype:
        raise RuntimeError(f"{first} and {second} must have the same dtype, bot got {scalar_name(begins.dtype)} and "
                           f"{scalar_name(others.dtype)}, respectively")
    if scalar_name(begins.dtype) not in ("Int", "Long"):
        raise RuntimeError(f"{first} and {second} dtype must be Int or Long, but got {scalar_name(begins.dtype)}")
    across = size[batch + (1 if by_rows(layout) else 0)]
    if block:
        across //= values.shape[batch + (2 if by_rows(layout) else 1)] or 1
    _check_numbers(layout, np.asarray(host_copy(begins, REASON)), np.asarray(host_copy(others, REASON)), across)


def _check_shapes(layout, begins, others, values, size, batch, block):
    first, second, line, *_ = _names(layout)
    shapes = [list(x.shape[:batch]) for x in (begins, others, values)]
    if any(shape != list(size[:batch]) for shape in shapes):
        raise RuntimeError(f"all batch dimensions of {first} (={shapes[0]}), {second} (={shapes[1]}), and values (={shapes[2]}) must be "
                           f"equal to tensor batch dimensions (={list(size[:batch])})")
    counts = list(size[batch:batch + 2])
    for at, length in enumerate(values.shape[batch + 1:batch + 1 + block]):
        if length and counts[at] % length:
            raise RuntimeError(f"tensor shape[{at}] (={counts[at]}) must be divisible with blocksize[{at}] (={length}) as defined by "
                               "values shape")
        counts[at] //= length or 1
    lines = counts[0 if by_rows(layout) else 1]
    if begins.shape[-1] != lines + 1:
        raise RuntimeError(f"{first}.shape[-1] must be equal to the number of {line}{' block' if block else ''}s + 1 (={lines + 1}), but "
                           f"got {begins.shape[-1]}")
    if others.shape[-1] != values.shape[batch]:
        raise RuntimeError(f"{second}.shape[-1] must be equal to nnz (={values.shape[batch]}) as defined by values.shape[{batch}], but got "
                           f"{others.shape[-1]}")


def _check_numbers(layout, begins, others, across):
    first, second, _, _, lines, wide = _names(layout)
    nnz = others.shape[-1]
    if (begins[..., 0] != 0).any():
        raise RuntimeError(f"`{first}[..., 0] == 0` is not satisfied.")
    if (begins[..., -1] != nnz).any():
        raise RuntimeError(f"`{first}[..., -1] == nnz` is not satisfied.")
    steps = np.diff(begins, axis=-1)
    if (steps < 0).any() or (steps > across).any():
        raise RuntimeError(f"`0 <= {first}[..., 1:] - {first}[..., :-1] <= {wide}` is not satisfied.")
    if others.size and (others.min() < 0 or others.max() >= across):
        raise RuntimeError(f"`0 <= {second} < {wide}` is not satisfied.")
    for step, other in zip(steps.reshape(-1, steps.shape[-1]), others.reshape(-1, nnz), strict=True) if others.size else ():
        of = np.repeat(np.arange(len(step)), step)
        if ((np.diff(other) <= 0) & (np.diff(of) == 0)).any():
            raise RuntimeError(f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., {lines} are sorted and distinct "
                               "along the last dimension values` is not satisfied.")


def inferred(layout, begins, others, values):
    """The size that the parts suggest."""
    check_form(layout, begins, others, values, None)
    batch, blocks = begins.ndim - 1, in_blocks(layout)
    lines, across = max(begins.shape[-1] - 1, 0), int(others.max()) + 1 if others.numel() else 0
    height, width = values.shape[batch + 1:batch + 3] if blocks else (1, 1)
    rows, columns = (lines, across) if by_rows(layout) else (across, lines)
    return (*begins.shape[:-1], rows * (height or 1), columns * (width or 1), *values.shape[batch + (3 if blocks else 1):])
