"""Which functions compute in which type in a region of `autocast`, by device type. Owns: the tables. May not know: tensors.

The names are those of the operators and composites of the registry, and of the functions of `torch.nn.functional`; what is not named takes
its arguments as they come, and so does what it is made of, unless that is named. PyTorch's tables are those of its dispatcher
(https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference): its kernels for the key "AutocastCPU" or "AutocastCUDA".

LOWER     in the region's type: what is worth it, products above all.
FLOAT     in float32: what needs the range.
WIDEST    in the widest type among the arguments: what does not take different ones.
ASKED     in float32 where it is not told a ``dtype``.
REFUSED   is not to be had in the region, since a range that fits cannot be chosen; and what is to be used instead.
"""
LOWER, FLOAT, WIDEST, ASKED, REFUSED = "lower", "float", "widest", "asked", "refused"

_PRODUCTS = """linear matmul mm bmm addmm baddbmm addbmm linalg_vecdot prelu scaled_dot_product_attention conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d conv_transpose3d"""
_LOSSES = """mse_loss l1_loss smooth_l1_loss huber_loss nll_loss nll_loss2d soft_margin_loss multi_margin_loss multilabel_margin_loss
    kl_div poisson_nll_loss cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss
    binary_cross_entropy_with_logits"""

_NAMES = {
    "cpu": {
        LOWER: _PRODUCTS + " lstm",
        FLOAT: _LOSSES + """ cross_entropy binary_cross_entropy ctc_loss
            avg_pool3d adaptive_avg_pool3d max_pool3d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
            max_unpool2d max_unpool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d
            grid_sample grid_sampler_2d grid_sampler_3d polar view_as_complex prod trace cdist quantile nanquantile stft
            cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr pinverse qr svd triangular_solve
            linalg_cholesky linalg_cholesky_ex linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
            linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve linalg_svd
            linalg_svdvals linalg_tensorinv linalg_tensorsolve
            fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft
            fft_ihfft""",
        WIDEST: "cat stack index_copy",
    },
    "cuda": {
        LOWER: _PRODUCTS + """ convolution mv addmv addr einsum chain_matmul linalg_multi_dot lstm_cell gru_cell rnn_tanh_cell
            rnn_relu_cell lstm gru rnn_tanh rnn_relu""",
        FLOAT: _LOSSES + """ acos asin cosh sinh tan erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt pow softplus layer_norm rms_norm
            group_norm cosine_similarity pdist cdist dist renorm logsumexp interpolate""",
        ASKED: "prod sum softmax log_softmax cumprod cumsum norm linalg_vector_norm linalg_matrix_norm",
        WIDEST: "addcdiv addcmul atan2 bilinear cross dot vdot grid_sample index_put tensordot scatter_add",
        REFUSED: "binary_cross_entropy",
    },
}
RULES = {device: {name: rule for rule, names in rules.items() for name in names.split()} for device, rules in _NAMES.items()}
NAMES = frozenset(name for rules in RULES.values() for name in rules)

REFUSAL = ("torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\nMany models use a sigmoid layer right "
           "before the binary cross entropy layer.\nIn this case, combine the two layers using "
           "torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and "
           "BCEWithLogits are\nsafe to autocast.")
