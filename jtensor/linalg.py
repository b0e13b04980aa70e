"""`torch.linalg`: linear algebra by its short names. The functions are the operators' composites ``linalg_<name>``."""
from .base.errors import LinAlgError as _LinAlgError
from .base.naming import found_at as _found_at
from .tensor import raw as _raw
from .tensor.calling.guards import guarded as _guarded

_PREFIXED = (
    "cholesky", "cholesky_ex", "cond", "cross", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "householder_product", "inv",
    "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve",
    "matrix_norm", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd",
    "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm")
_SAME = ("det", "matmul", "matrix_exp", "matrix_power")              # the function of this name without a prefix

LinAlgError = _LinAlgError

for _name in _PREFIXED:
    globals()[_name] = getattr(_raw, "linalg_" + _name)
for _name in _SAME:
    globals()[_name] = _guarded(getattr(_raw, _name), "linalg_" + _name)
for _name in (*_PREFIXED, *_SAME):
    _found_at(__name__, _name, globals()[_name])

__all__ = sorted([*_PREFIXED, *_SAME, "LinAlgError"])
