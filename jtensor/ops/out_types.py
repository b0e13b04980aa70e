"""Which types of tensor an operator writes its result to as ``out=``, and what PyTorch says of the others.

Owns: the rule. What is computed element by element casts its result, never to a lower category; sums of elements go to any type; the rest
wants the result's own type, in words that differ from operator to operator. May not know: tensors.
"""
from ..base import dtypes
from ..base.dtypes import can_cast, cpp_name, scalar_name

CAST, ANY = "cast", "any"
SAME = "Expected out tensor to have dtype {want}, but got {got} instead"
_FOUND = "Found dtype {Got} but expected {Want}"
_OBJECT = "Expected object of scalar type {Want} but got scalar type {Got} for argument 'out'"
_SCALAR = "expected scalar_type {Want} but found {Got}"
_VECTOR = "addmv input tensors must have the same dtype, but got {Got}, {Want}, and {Want}"
_DOT = "result dtype {Got} does not match input dtype {Want}"
_EXTREME = "Expected the dtype for input and out to match, but got {Want} for input's dtype and {Got} for out's dtype."
_MEDIAN = ("Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type torch.{Got}Tensor does not equal "
           "torch.{Want}Tensor (while checking arguments for median)")
_SELECTED = "{name}(): self and result must have the same scalar type"
_CHAIN = "multi_dot(): expected out tensor to have dtype {want} but got {got}"
_DOTS = "tensordot: Expected the output tensor to have dtype {Want}, but got an output tensor with dtype {Got}"
_SEARCH = ("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 "
           "flag is True, but we got output tensor's dtype {Got} and out_int32 flag is {narrow}")
_JOINED = "torch.cat(): input types can't be cast to the desired output type {Got}"
_AVERAGED = "mean.dtype_out(): input types can't be cast to the desired output type {Got}"

_EXTREME_OF_ALL = ("Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got false.  "
                   "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")

# What does not follow from how the operator promotes: the ways above, or PyTorch's words.
_WAYS = {
    **dict.fromkeys("""mean_dim var_dims std_dims outer kron clamp_Tensor clamp_min_Tensor
                       clamp_max_Tensor""".split(), CAST),
    **dict.fromkeys("sum_all sum_dim nansum_dim prod_all prod_dim cumsum cumprod".split(), ANY),
    **dict.fromkeys("""clamp_Scalar clamp_min_Scalar clamp_max_Scalar round_decimals _conj_physical abs neg sign sgn floor ceil round_whole
                       trunc frac bitwise_not hardshrink softshrink softplus gelu""".split(), _FOUND),
    **dict.fromkeys(("signbit", "isposinf", "isneginf"), "{name} does not support non-boolean outputs."),
    **dict.fromkeys(("complex", "polar"), _OBJECT),
    **dict.fromkeys(("cummax", "cummin", "logcumsumexp"), _SCALAR),
    **dict.fromkeys(("mv", "addmv_vector"), _VECTOR),
    **dict.fromkeys(("dot", "vdot"), _DOT),
    **dict.fromkeys(("amax", "amin"), _EXTREME),
    **dict.fromkeys(("median_dim", "nanmedian_dim"), _MEDIAN),
    **dict.fromkeys(("index_select", "masked_select"), _SELECTED),
    **dict.fromkeys(("chain_matmul", "linalg_multi_dot"), _CHAIN),
    **dict.fromkeys(("tensordot", "inner"), _DOTS),
    **dict.fromkeys(("searchsorted", "bucketize"), _SEARCH),
    **dict.fromkeys(("cat", "stack"), _JOINED),
    **dict.fromkeys(("mean_all", "mean"), _AVERAGED), **dict.fromkeys(("max_all", "min_all"), _EXTREME_OF_ALL),
    **dict.fromkeys(("linalg_norm", "linalg_matrix_norm"), "{name} expected out tensor dtype {Want} but got: {Got}"),
    **dict.fromkeys(("log_sigmoid", "native_batch_norm"), "expected scalar type {Want} but found {Got}"),
    "addbmm": "self and mat2 must have the same dtype, but got {Got} and {Want}",
    "linalg_solve_triangular": "expected scalar type {Want} but found {Got}",
    "ormqr": "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{Want} and result has dtype {Got}",
    "renorm": SAME,
    "where_self": "Expected out type to be {Want} but got {Got}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {Want} and out.dtype = {Got}",
    "nan_to_num": "nan_to_num: dtype of out: {Got} should be same as input: {Want}",
    "histc": "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {want} and hist {got}",
    "heaviside": "heaviside is not yet implemented for {kind}.",
    "nonzero_static": "nonzero_static: Expected out tensor to have scalar type {Want} but got scalar type{Got}",
    "nonzero": "nonzero: Expected out tensor to have scalar type {Want} but got scalar type{Got}",
    "kthvalue": "output values must be of same type as input",
    "mode": "expected scalar type '{Want}' but got '{Got}' for values output",
    "linalg_vecdot": "linalg.vecdot: Expected out of dtype{Want} but found {Got}",
    "quantile_of": "quantile() out tensor must be same dtype as the input tensor",
    "frexp": "torch.frexp() expects {part} but got {got}",
}

# Linear algebra that writes to any type of the same category or a higher one: its own name and what it calls its results.
_SAFE = {
    **{name: (name, "result") for name in ("cholesky", "cholesky_inverse", "cholesky_solve")},
    **{"linalg_" + name: ("linalg." + name, "result") for name in ("cond", "pinv")},
    **{"linalg_" + name: (name, "result") for name in ("matrix_power", "tensorinv", "tensorsolve")},
    "linalg_matrix_power.product": ("matrix_power", "result"),                               # which then wants the very type
    "linalg_matrix_rank": ("torch.linalg.matrix_rank", "result"),
    "linalg_householder_product": ("torch.linalg.householder_product", "result"),
    "linalg_eig": ("torch.linalg.eig", "eigenvalues", "eigenvectors"), "linalg_eigvals": ("torch.linalg.eigvals", "eigenvalues"),
    "geqrf": ("torch.geqrf", "a", "tau"), "linalg_lstsq": ("torch.linalg.lstsq", "solution", "residuals", "rank", "singular_values"),
}


def refuse(name, promote, wanted, given, place=0):
    """Raises PyTorch's error where an operator that ``promote``s so does not write a ``wanted`` result to a ``given`` tensor.

    ``place``: which of its results it is.
    """
    if wanted is given:
        return
    labels = _SAFE.get(name)
    if labels is not None and can_cast(wanted, given):
        if name != "linalg_matrix_power.product":
            return
    elif labels is not None:
        label = labels[place + 1]
        raise RuntimeError(f"{labels[0]}: Expected {label} to be safely castable from {scalar_name(wanted)} dtype, but got {label} with "
                           f"dtype {scalar_name(given)}")
    way = _way(name, promote)
    if name == "nansum_dim" and given.category != 2 or name in ("cumsum", "cumprod") and given is dtypes.bool:
        kernel = "nansum_cpu" if name == "nansum_dim" else name + "_out_cpu"                # these compute in the type of ``out``
        raise NotImplementedError(f'"{kernel}" not implemented for \'{scalar_name(given)}\'')
    if way == ANY or given is dtypes.uint8 and name in ("all_dims", "any_dims"):
        return
    if way in (CAST, _JOINED, _AVERAGED, _EXTREME_OF_ALL):
        if not can_cast(wanted, given):
            raise (TypeError if way == _JOINED else RuntimeError)(way.format(Got=scalar_name(given)) if way != CAST else (
                f"result type {scalar_name(wanted)} can't be cast to the desired output type {scalar_name(given)}"))
        return
    part = "exponent to have int dtype" if wanted is dtypes.int32 else f"mantissa to have dtype {cpp_name(wanted)}"
    raise RuntimeError(way.format(name=name.replace("linalg_", "linalg."), want=cpp_name(wanted), got=cpp_name(given),
                                  Want=scalar_name(wanted), Got=scalar_name(given), narrow=wanted is dtypes.int32, part=part,
                                  kind="complex tensors" if given.is_complex else "tensors with different dtypes"))


def _way(name, promote):
    found = _WAYS.get(name)
    if found is not None:
        return found
    if name in ("all_dims", "any_dims"):
        return name[:3] + " only supports bool tensor for result, got: {Got}"
    return CAST if promote is not None or name.startswith("special_") else SAME
