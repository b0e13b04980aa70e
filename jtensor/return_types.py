"""`torch.return_types`: the named tuples of operators with several results, by their names.

Owns: which names there are before an operator of theirs was called. The classes are made in `base`.
"""
from .base.return_types import _made, return_type

_FIELDS = {
    "values indices": "cummax cummin kthvalue max median min mode nanmedian sort topk",
    "min max": "aminmax", "mantissa exponent": "frexp", "a tau": "geqrf", "hist bin_edges": "histogram histogramdd",
    "eigenvalues eigenvectors": "linalg_eig linalg_eigh", "U S Vh": "linalg_svd", "U S V": "svd", "Q R": "linalg_qr qr",
    "LU pivots": "linalg_lu_factor", "LU pivots info": "linalg_lu_factor_ex", "P L U": "linalg_lu lu_unpack",
    "L info": "linalg_cholesky_ex", "inverse info": "linalg_inv_ex", "result info": "linalg_solve_ex",
    "LD pivots": "linalg_ldl_factor", "LD pivots info": "linalg_ldl_factor_ex", "solution residuals rank singular_values": "linalg_lstsq",
    "sign logabsdet": "linalg_slogdet slogdet", "solution cloned_coefficient": "triangular_solve",
}
_NAMES = {name: tuple(fields.split()) for fields, names in _FIELDS.items() for name in names.split()}
_NAMES |= {name + "_out": fields for name, fields in _NAMES.items() if name != "histogramdd"}

__all__ = sorted([*_NAMES, "all_return_types"])


def __getattr__(name):
    if name == "all_return_types":
        return [__getattr__(one) for one in sorted(_NAMES)]
    if name in _made:
        return _made[name]
    if name in _NAMES:
        return return_type(name, _NAMES[name])
    raise AttributeError(f"module 'jtensor.return_types' has no attribute '{name}'")


def __dir__():
    return __all__            # and not what operators of our own have made in this process
