"""In which words PyTorch refuses a function that has no kernel for sparse tensors: which kernel it misses, or what else it says.

Owns: these facts, by the functions' names, and the errors made of them. May not know: what functions do.
"""
from ..tensor.calling.overriding import spread
from ..tensor.core import Tensor

# The kernel that is missing, where its name is not the function's.
_COORDINATES = dict(pair.split("=") for pair in """
    __eq__=eq.Tensor __invert__=bitwise_not __ne__=ne.Tensor adaptive_avg_pool1d=_adaptive_avg_pool2d
    adaptive_max_pool1d=adaptive_max_pool2d allclose=eq.Tensor avg_pool1d=avg_pool2d
    binary_cross_entropy_with_logits=log_sigmoid_forward block_diag=as_strided bucketize=bucketize.Tensor cdist=_cdist_forward celu=elu
    celu_=elu_ chunk=as_strided clamp_=clamp_ complex=complex.out cosine_similarity=linalg_vector_norm cumulative_trapezoid=as_strided
    diag=diagonal_copy eq=eq.Tensor fill=fill_.Tensor fill_=fill_.Scalar fill_diagonal_=as_strided full_like=fill_.Scalar ge=ge.Scalar
    gradient=as_strided gt=gt.Scalar histogramdd=_histogramdd_bin_edges isfinite=ne.Scalar isin=isin.Tensor_Tensor le=le.Scalar
    lerp=lerp.Scalar linalg_cholesky=linalg_cholesky_ex linalg_det=_linalg_det linalg_diagonal=as_strided linalg_eigh=_linalg_eigh
    linalg_eigvals=linalg_eig linalg_eigvalsh=_linalg_eigh linalg_inv=linalg_inv_ex linalg_ldl_factor=linalg_ldl_factor_ex
    linalg_lstsq=linalg_lstsq.out linalg_lu_factor=linalg_lu_factor_ex linalg_matrix_norm=linalg_vector_norm linalg_multi_dot=view
    linalg_norm=linalg_vector_norm linalg_pinv=linalg_pinv.atol_rtol_tensor linalg_slogdet=_linalg_slogdet
    linalg_solve=_linalg_solve_ex linalg_solve_ex=_linalg_solve_ex linalg_svd=_linalg_svd linalg_svdvals=_linalg_svd
    log_softmax=_log_softmax logical_not=logical_not.out lt=lt.Scalar max_pool1d_with_indices=max_pool2d_with_indices
    max_pool2d=max_pool2d_with_indices max_pool3d=max_pool3d_with_indices mean=mean.dim narrow=as_strided ne=ne.Scalar
    normal=normal.Tensor_float nuclear_norm=_linalg_svd ones_like=fill_.Scalar polar=polar.out rand_like=uniform_
    randint_like=random_.from randn_like=normal_ searchsorted=searchsorted.Tensor select_copy=select_copy.int selu=elu selu_=elu_
    slice_copy=slice_copy.Tensor softmax=_softmax sort=sort.stable sparse_spsolve=_spsolve special_digamma=digamma special_erfc=erfc
    special_exp2=exp2 special_expit=sigmoid special_gammainc=igamma special_gammaincc=igammac special_gammaln=lgamma special_i0=i0
    special_log_softmax=_log_softmax special_logit=logit special_logsumexp=logsumexp.out special_multigammaln=arange.start_out
    special_psi=digamma special_round=round.decimals special_sinc=sinc special_softmax=_softmax special_xlogy=xlogy.Tensor
    split=as_strided split_copy=split_copy.Tensor squeeze=as_strided squeeze_copy=squeeze_copy.dim std=std.correction
    std_mean=std_mean.correction transpose_copy=transpose_copy.int unbind_copy=unbind_copy.int unique=_unique2
    var_mean=var_mean.correction view_as=view
""".split())
_COMPRESSED = dict(pair.split("=") for pair in """
    binary_cross_entropy_with_logits=log_sigmoid_forward bucketize=bucketize.Tensor cdist=_cdist_forward
    cosine_similarity=linalg_vector_norm.out einsum=ge.Scalar histogramdd=_histogramdd_bin_edges hsmm=hspmm isin=isin.Tensor_Tensor_out
    linalg_cholesky=empty_strided linalg_cholesky_ex=empty_strided linalg_eigh=empty_strided linalg_eigvals=linalg_eig
    linalg_eigvalsh=empty_strided linalg_inv=empty_strided linalg_inv_ex=empty_strided linalg_ldl_factor=empty_strided
    linalg_ldl_factor_ex=empty_strided linalg_lu=linalg_lu.out linalg_lu_factor=empty_strided linalg_lu_factor_ex=empty_strided
    linalg_multi_dot=view linalg_qr=empty_strided linalg_solve=empty_strided linalg_solve_ex=empty_strided linalg_svd=empty_strided
    linalg_svdvals=empty_strided max_pool3d=max_pool3d_with_indices normal=normal.Tensor_float nuclear_norm=as_strided
    rand_like=uniform_ randint_like=random_.from rrelu=rrelu_with_noise rrelu_=rrelu_with_noise_ searchsorted=searchsorted.Tensor
    special_log_softmax=_log_softmax.out special_logit=logit special_softmax=_softmax.out std_mean=std_mean.correction
    var_mean=var_mean.correction view_as_complex_copy=view_as_complex view_as_real_copy=view_as_real
""".split())
# Of compressed tensors, which an iteration over elements does not take, or which have no strides.
_UNSUPPORTED = frozenset("""
    elu gelu hardsigmoid leaky_relu mish silu softplus softshrink
    __eq__ __ge__ __gt__ __invert__ __isub__ __itruediv__ __le__ __lt__ __ne__ __pow__ __rsub__ __sub__ __truediv__ acos acosh addcdiv
    addcmul allclose arccos arccosh arctan2 atan2 bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
    celu clamp clamp_max clamp_min clip copysign cos cosh digamma div divide eq erfc exp exp2 float_power fmax fmin fmod gcd ge greater
    greater_equal gt hardshrink heaviside hypot i0 igamma igammac isclose isfinite kl_div lcm le lerp less less_equal lgamma log log10
    log2 logaddexp logaddexp2 lt margin_ranking_loss max maximum min minimum nanmean ne nextafter not_equal polygamma pow reciprocal
    remainder rsqrt rsub selu sigmoid sinc square sub subtract threshold true_divide xlogy
""".split())
_SPECIAL = frozenset("""
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx expit gammainc gammaincc gammaln i0e i1 i1e log_ndtr modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtri psi round scaled_modified_bessel_k0 scaled_modified_bessel_k1
    spherical_bessel_j0 xlog1py zeta
""".split())
_STRIDES = frozenset("""
    adaptive_avg_pool1d adaptive_max_pool1d alias_copy argsort atleast_3d avg_pool1d block_diag conv1d conv_transpose1d
    cumulative_trapezoid diag diag_embed diagonal diagonal_copy gradient hsplit kron linalg_diagonal linalg_vander
    max_pool1d_with_indices msort slice_copy sort split split_with_sizes split_with_sizes_copy squeeze squeeze_ squeeze_copy
    tensor_split unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ unsqueeze_copy vsplit
""".split())
_CONTIGUOUS = frozenset("""
    diagflat embedding_bag group_norm linalg_tensorsolve meshgrid norm_except_dim pdist ravel repeat_interleave
""".split())


def refused(name, args, otherwise="SparseCsrCPU"):
    """PyTorch's error where it has no kernel; ``otherwise`` is whose it would be where no argument says so (but ``out``, say)."""
    found = {x.layout.name for x in spread(args) if isinstance(x, Tensor)}
    kind = "SparseCPU" if "sparse_coo" in found else "CPU" if found == {"strided"} else "SparseCsrCPU" if found else otherwise
    return NotImplementedError(f"Could not run 'aten::{name}' with arguments from the '{kind}' backend. This could be because the operator "
                               "doesn't exist for this backend; torch.Tensor.to_dense() makes a tensor that it takes.")


def of_coordinates(name, args):
    """The error of a function that has no kernel for tensors in coordinates."""
    return refused(_COORDINATES.get(name, name), args, "SparseCPU")


def of_compressed(name, args):
    """The error of a function that has no kernel for compressed tensors."""
    kind = next((x.layout.name for x in spread(args) if isinstance(x, Tensor) and x.layout.name[-3:] in _SHORT), "sparse_csr")
    plain = name if name.startswith("__") else name.removesuffix("_")
    if plain in _UNSUPPORTED or plain.startswith("special_") and plain[8:] in _SPECIAL | _UNSUPPORTED:
        return RuntimeError(f"unsupported tensor layout: Sparse{kind[-3:].title()}")
    if plain in _STRIDES:
        return without(kind, "strides")
    if plain in _CONTIGUOUS:
        return without(kind, "is_contiguous")
    return refused(_COMPRESSED.get(name, name), args)


_SHORT = frozenset(("csr", "csc", "bsr", "bsc"))


def without(kind, what):
    """What a layout of this name has not, which a function asks for."""
    return RuntimeError(f"Sparse {kind[-3:].upper()} tensors do not have {what}")
