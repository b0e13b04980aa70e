"""What linear algebra checks before and after: square matrices, floating types, and exceptions for matrices that did not work.

Owns: these checks and their words. Whether a factorization worked depends on the data, so that `checked` looks at it, as PyTorch does.
May not know: operators.
"""
from ...base import dtypes
from ...base.errors import LinAlgError
from ...base.info import finfo
from ...base.return_types import return_type
from .numeric import not_implemented


def matrices(name, t, arg="A"):
    s = getattr(t, "_spec", t)
    if s.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {arg} must have at least 2 dimensions.")
    floating(name, s)
    return s


def floats(name, s):
    if s.dtype.category < 2:
        if name in _KERNELS_ALONE:
            raise not_implemented(_KERNELS_ALONE[name], s.dtype)
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {dtypes.scalar_name(s.dtype)}")


def floating(name, s):
    floats(name, s)
    if s.dtype.itemsize < 4:
        kernel = _KERNELS.get(name) or _KERNELS_ALONE.get(name)
        if kernel is not None:
            raise not_implemented(kernel, s.dtype)
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {dtypes.scalar_name(s.dtype)}")


def enough(name, s):
    """What PyTorch's LU factorizations say of too few dimensions."""
    if s.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(s.size)} instead")


# Functions that do not look for narrow types themselves, and the kernel that PyTorch then does not find.
_KERNELS = {
    **dict.fromkeys(("linalg.det", "linalg.solve"), "lu_cpu"), "linalg.qr": "geqrf_cpu", "linalg.svd": "linalg_svd_cpu",
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), "linalg_eig_out_cpu"), "linalg.cholesky": "cholesky_cpu",
    "torch.linalg.lu_solve": "linalg.lu_solve_cpu",
}
# Those that do not look for integers either.
_KERNELS_ALONE = {
    **dict.fromkeys(("linalg.lu", "torch.lu_factor"), "lu_cpu"), "linalg.eigh": "linalg_eigh_cpu", "cholesky": "cholesky_cpu",
    "linalg.solve_triangular": "triangular_solve_cpu", "triangular_solve": "triangular_solve_cpu", "cholesky_solve": "cholesky_solve_cpu",
    "cholesky_inverse": "cholesky_inverse_out_cpu", "orgqr": "orgqr_cpu", "ormqr": "ormqr_cpu",
}


def eps(dtype):
    """The distance from 1 to the next number of a type, or of its parts."""
    return finfo(dtype.to_real()).eps


def square(name, t, arg="A"):
    s = getattr(t, "_spec", t)
    if s.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {arg} must have at least 2 dimensions.")
    if s.size[-1] != s.size[-2]:
        raise RuntimeError(f"{name}: {arg} must be batches of square matrices, but they are {s.size[-2]} by {s.size[-1]} matrices")
    floating(name, s)


def checked(info, text, error=LinAlgError):
    """Raises for the first matrix whose ``info`` is not 0; ``text(info)`` says what is wrong with it. Of the meta device none is wrong."""
    from ...tensor.lifted.batching import whole
    info = whole(info)
    if info.is_meta:
        return
    numbers = info.detach().cpu().numpy().reshape(-1)
    bad = numbers.nonzero()[0]
    if len(bad):
        name, message = text(int(numbers[bad[0]]))
        where = f"(Batch element {bad[0]}): " if info._spec.ndim else ""
        raise error(f"{name}: {where}{message}")


def singular(name):
    """What `checked` says of a zero on a diagonal that is divided by."""
    return lambda k: (name, f"The diagonal element {k} is zero, the inversion could not be completed because the input matrix is singular.")


def named(name, fields, items):
    return return_type(name, fields)(tuple(items))
