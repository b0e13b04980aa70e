"""Several matrix products in one call, of groups of rows, columns or terms whose sizes a tensor tells.

Owns: `grouped_mm`. The sizes are looked at, as PyTorch looks at them on a CPU. May not know: how a product is computed.
"""
import jtensor

from ...base import dtypes

__all__ = ["grouped_mm"]

_TYPES = (dtypes.float32, dtypes.bfloat16, dtypes.float16)


def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """The product of each group of ``mat_a`` with its one of ``mat_b``: what layers of several experts are made of.

    ``offs`` ``(groups,)`` of int32: where each group ends in the dimension that is divided. ``(rows, k) @ (groups, k, n)``: rows are, the
    result is ``(rows, n)``; ``(groups, m, k) @ (k, columns)``: columns are, ``(m, columns)``; ``(m, terms) @ (terms, n)``: terms are,
    ``(groups, m, n)``; ``(groups, m, k) @ (groups, k, n)`` without ``offs``: none. What comes after the last group is zeros. float32,
    bfloat16 or float16; RuntimeError for other types and sizes that do not fit.

    >>> import jtensor as torch
    >>> experts = torch.stack([torch.eye(2), 10 * torch.eye(2)])
    >>> torch.nn.functional.grouped_mm(torch.ones(3, 2), experts, offs=torch.tensor([1, 3], dtype=torch.int32))
    tensor([[ 1.,  1.],
            [10., 10.],
            [10., 10.]])
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return jtensor.bmm(mat_a, mat_b)
    ends = [0, *offs.tolist()]
    parts = list(zip(ends, ends[1:], strict=False))
    if mat_a.ndim == mat_b.ndim == 2:
        return jtensor.stack([mat_a[:, begin:end] @ mat_b[begin:end] for begin, end in parts])
    if mat_a.ndim == 2:
        made = [mat_a[begin:end] @ mat_b[at] for at, (begin, end) in enumerate(parts) if end > begin]
        made.append(mat_a.new_zeros(max(mat_a.shape[0] - ends[-1], 0), mat_b.shape[2]))
        return jtensor.cat(made)
    made = [mat_a[at] @ mat_b[:, begin:end] for at, (begin, end) in enumerate(parts) if end > begin]
    made.append(mat_a.new_zeros(mat_a.shape[1], max(mat_b.shape[1] - ends[-1], 0)))
    return jtensor.cat(made, 1)


def _check(mat_a, mat_b, offs, bias, out_dtype):
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if matrix.dtype not in _TYPES:
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {dtypes.scalar_name(matrix.dtype)}")
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if matrix.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    divided = mat_a.ndim == 2 or mat_b.ndim == 2
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if not divided and mat_a.shape[0] != mat_b.shape[0]:
        raise RuntimeError("batched dimension has to match")
    if divided != (offs is not None):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is not None:
        if offs.ndim != 1:
            raise RuntimeError("offs has to be 1D")
        if offs.dtype is not dtypes.int32:
            raise RuntimeError("Offsets have to be int32")
        groups = next((m.shape[0] for m in (mat_a, mat_b) if m.ndim == 3), offs.shape[0])
        if groups != offs.shape[0]:
            raise RuntimeError("matrix batch sizes have to match")
        if offs.numel() and offs[-1] > (mat_b.shape[1] if mat_a.ndim == 3 else mat_a.shape[mat_b.ndim == 2]):
            raise RuntimeError("the last group ends behind the matrix")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and out_dtype is not mat_a.dtype:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
