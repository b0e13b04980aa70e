"""Operators as PyTorch's schemas call them, where the function that does the same is called otherwise or goes by another name.

A schema's reduction is a number, its sizes are one list, writing in place is an operator of its own. Owns: these functions. May not know:
who calls them (`torch.ops.aten`, programs of TorchScript).
"""
import functools
import math

import jtensor

from ..ops import raw

F = jtensor.nn.functional
_WORDS = ("none", "mean", "sum")


def _slice(self, dim=0, start=None, end=None, step=1):
    return self[(slice(None),) * (dim % self.dim()) + (slice(start, end, step),)]


def _index(self, indices):
    return self[tuple([slice(None) if index is None else index for index in indices])]


def _to_copy(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    return self.to(device=device or self.device, dtype=dtype or self.dtype, copy=True,
                   memory_format=memory_format or jtensor.preserve_format)


def _assert_tensor_metadata(a, size=None, stride=None, dtype=None, *, device=None, layout=None):
    # what an exported program was promised of a tensor; the first thing that differs is told of
    for what, wanted, found in (("sizes", size, list(a.shape)), ("strides", stride, list(a.stride())), ("dtype", dtype, a.dtype),
                                ("device", device, a.device), ("layout", layout, a.layout)):
        wanted = list(wanted) if isinstance(wanted, (list, tuple)) else wanted
        if wanted is not None and wanted != found:
            wanted, found = (_SCALARS.get(wanted, (wanted,))[0], _SCALARS.get(found, (found,))[-1]) if what == "dtype" else (wanted, found)
            raise RuntimeError(f"Tensor {what} mismatch! Expected: {wanted}, Got: {found}")


# What PyTorch calls dtypes there: as it wants them, and as it finds them.
_SCALARS = {jtensor.float32: ("Float", "float"), jtensor.float64: ("Double", "double"), jtensor.int64: ("Long", "long int"),
            jtensor.int32: ("Int", "int"), jtensor.bool: ("Bool", "bool"), jtensor.uint8: ("Byte", "unsigned char"),
            jtensor.float16: ("Half", "c10::Half"), jtensor.bfloat16: ("BFloat16", "c10::BFloat16")}


def _to(self, *args, layout=None, pin_memory=None, **kwargs):
    return self.to(*args, **kwargs)


def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *flags):
    dims = weight.dim() - 2
    if transposed:
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[dims - 1]
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (F.conv1d, F.conv2d, F.conv3d)[dims - 1](input, weight, bias, stride, padding, dilation, groups)


def _stft(input, n_fft, hop_length=None, win_length=None, window=None, *rest, **named):
    # one form is told whether to centre the frames, and how to pad; the other does not
    names = ("center", "pad_mode", "normalized", "onesided", "return_complex", "align_to_window")
    centred = len(rest) > 1 and isinstance(rest[1], str) or "center" in named
    given = dict(zip(names if centred else names[2:], rest, strict=False), **named)
    return jtensor.stft(input, n_fft, hop_length, win_length, window, **{"center": False} | given)


def _fractional(function):
    return lambda self, kernel_size, output_size, random_samples: function(
        self, kernel_size, output_size, return_indices=True, _random_samples=random_samples)


def _elu(self, alpha=1.0, scale=1.0, input_scale=1.0):
    return raw.elu(self, alpha, scale, input_scale)


# -- what PyTorch's layers of attention call where no gradient is asked for ---------------------------------------------

def _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None,
                                 need_weights=True, average_attn_weights=True, mask_type=None):
    padding = mask if mask_type == 1 else None
    if mask is not None and mask_type == 2:                       # of each batch and head
        mask = mask.expand(query.size(0), num_head, -1, -1).reshape(-1, *mask.shape[-2:])
    answer, weights = F.multi_head_attention_forward(
        *[x.transpose(0, 1) for x in (query, key, value)], embed_dim, num_head, qkv_weight, qkv_bias, None, None, False, 0.0, proj_weight,
        proj_bias, training=False, key_padding_mask=padding, need_weights=need_weights, attn_mask=mask if padding is None else None,
        average_attn_weights=average_attn_weights)
    return answer.transpose(0, 1), weights


def _transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
                                   norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2,
                                   ffn_bias_2, mask=None, mask_type=None):
    def attended(x):
        return _native_multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False,
                                            True, mask_type)[0]

    def fed(x):
        hidden = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(hidden) if use_gelu else F.relu(hidden), ffn_weight_2, ffn_bias_2)

    def first(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)
    if norm_first:
        src = src + attended(first(src))
        return src + fed(second(src))
    src = first(src + attended(src))
    return second(src + fed(src))


# -- losses: a reduction is a number ------------------------------------------------------------------------------------

def _loss(function, *names, count=2):
    """A loss of so many tensors whose further arguments have these names in order."""
    @functools.wraps(function)
    def loss(*args, **kwargs):
        named = dict(zip(names, args[count:]), **kwargs)
        named["reduction"] = _WORDS[named.get("reduction", 1)]
        return function(*args[:count], **named)
    return loss


_NLL = _loss(F.nll_loss, "weight", "reduction", "ignore_index")
_LOSSES = {
    "mse_loss": _loss(F.mse_loss, "reduction"), "l1_loss": _loss(F.l1_loss, "reduction"),
    "smooth_l1_loss": _loss(F.smooth_l1_loss, "reduction", "beta"), "huber_loss": _loss(F.huber_loss, "reduction", "delta"),
    "soft_margin_loss": _loss(F.soft_margin_loss, "reduction"), "nll_loss": _NLL, "nll_loss2d": _NLL, "nll_loss_nd": _NLL,
    "multilabel_margin_loss": _loss(F.multilabel_margin_loss, "reduction"),
    "multi_margin_loss": _loss(F.multi_margin_loss, "p", "margin", "weight", "reduction"),
    "binary_cross_entropy": _loss(F.binary_cross_entropy, "weight", "reduction"),
    "binary_cross_entropy_with_logits": _loss(F.binary_cross_entropy_with_logits, "weight", "pos_weight", "reduction"),
    "hinge_embedding_loss": _loss(F.hinge_embedding_loss, "margin", "reduction"), "kl_div": _loss(F.kl_div, "reduction"),
    "cosine_embedding_loss": _loss(F.cosine_embedding_loss, "margin", "reduction", count=3),
    "margin_ranking_loss": _loss(F.margin_ranking_loss, "margin", "reduction", count=3),
    "triplet_margin_loss": _loss(F.triplet_margin_loss, "margin", "p", "eps", "swap", "reduction", count=3),
    "poisson_nll_loss": _loss(F.poisson_nll_loss, "log_input", "full", "eps", "reduction"),
    "ctc_loss": _loss(F.ctc_loss, "blank", "reduction", "zero_infinity", count=4),
    "cross_entropy_loss": _loss(F.cross_entropy, "weight", "reduction", "ignore_index", "label_smoothing"),
}


# -- sizes of pictures --------------------------------------------------------------------------------------------------

def _resized(mode, dims):
    """``(input, output_size, [align_corners], scale of each dimension)``, or in place of the last all scales as a list, and no size."""
    takes_corners = mode not in ("nearest", "nearest-exact")

    def upsample(input, output_size, *rest):
        corners, scales = (rest[0], rest[1:]) if takes_corners else (None, rest)
        if len(scales) == 1 and isinstance(scales[0], (list, tuple)):
            scales = scales[0]
        given = None if not scales or None in scales else list(scales)
        if given is not None and len(given) != dims:
            raise RuntimeError(f"It is expected scale_factors has {dims} elements, but got {len(given)}")
        return F.interpolate(input, size=None if given else list(output_size), scale_factor=given, mode=mode, align_corners=corners)
    return upsample


_RESIZED = {f"upsample_{name}{dims}d": _resized(mode, dims) for name, mode, dims in (
    ("nearest", "nearest", 1), ("nearest", "nearest", 2), ("nearest", "nearest", 3), ("linear", "linear", 1),
    ("bilinear", "bilinear", 2), ("bicubic", "bicubic", 2), ("trilinear", "trilinear", 3))}
_RESIZED |= {f"_upsample_nearest_exact{dims}d": _resized("nearest-exact", dims) for dims in (1, 2, 3)}
_PADDED = {f"{name}_pad{dims}d": functools.partial(lambda mode, input, padding: F.pad(input, padding, mode), mode)
           for name, mode in (("reflection", "reflect"), ("replication", "replicate")) for dims in (1, 2, 3)}


# -- what PyTorch has below its public functions ------------------------------------------------------------------------

def _nll_forward(self, target, weight, reduction, ignore_index):
    loss = F.nll_loss(self, target, weight, reduction=_WORDS[reduction], ignore_index=ignore_index)
    counted = target != ignore_index
    total = counted.sum().to(self.dtype) if weight is None else (weight[target * counted] * counted).sum()
    return loss, total if reduction else self.new_zeros(())


def _log_sigmoid_forward(self):
    return F.logsigmoid(self), jtensor.exp(-self.abs())


def _flash_attention(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    made = F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    scores = query @ key.transpose(-2, -1) * (query.size(-1) ** -0.5 if scale is None else scale)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype is jtensor.bool else scores + attn_mask
    if is_causal:
        scores = scores.masked_fill(jtensor.ones(scores.shape[-2:], dtype=jtensor.bool).triu(1), -math.inf)
    return made, scores.logsumexp(-1)


def _in_place(function):
    return lambda self, *args: function(self, *args, inplace=True)


def _piece_backward(piece):
    """The gradient of a view that is a piece of a tensor of these sizes: zeros but there."""
    def function(grad_output, input_sizes, *args):
        whole = grad_output.new_zeros(input_sizes)
        piece(whole, *args).copy_(grad_output)
        return whole
    return function


def _unfold_backward(grad_in, input_sizes, dim, size, step):
    whole = grad_in.new_zeros(input_sizes)
    at = jtensor.arange(whole.numel(), device=whole.device).view(input_sizes).unfold(dim, size, step)
    whole.view(-1).index_add_(0, at.reshape(-1), grad_in.reshape(-1))
    return whole


def _logit_backward(grad_output, self, eps=None):
    low, outside = (0.0, math.nan) if eps is None else (eps, 0.0)
    return jtensor.where((self >= low) & (self <= 1.0 - low), grad_output / (self * (1.0 - self)), outside)


WRITTEN_OUT = {
    "select_backward": _piece_backward(jtensor.Tensor.select), "diagonal_backward": _piece_backward(jtensor.Tensor.diagonal),
    "slice_backward": _piece_backward(_slice), "unfold_backward": _unfold_backward, "logit_backward": _logit_backward,
    **{f"_{name}": functools.partial(lambda name, self, *args, **kwargs: getattr(self, name)(*args, **kwargs), name)
       for name in ("to_sparse", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc")},
    "_to_dense": lambda self, dtype=None, masked_grad=None: self.to_dense(dtype),
    "_log_softmax_backward_data": lambda grad_output, output, dim, input_dtype: (
        grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype),
    "sigmoid_backward": lambda grad_output, output: grad_output * (1 - output).conj() * output.conj(),
    "tanh_backward": lambda grad_output, output: grad_output * (1 - output * output).conj(),
    "slice": _slice, "index": _index, "_to_copy": _to_copy, "_assert_tensor_metadata": _assert_tensor_metadata,
    "to": _to, **{name: functools.partial(lambda function, tensors: function(*tensors), getattr(jtensor, name))
                  for name in ("block_diag", "cartesian_prod", "broadcast_tensors")},
    "copy": lambda self, src, non_blocking=False: src.to(self.device, self.dtype).expand(self.shape).clone(), "zero": jtensor.zeros_like,
    "lift_fresh_copy": lambda self: self.clone(), "alias": lambda self: self.view_as(self),
    "_pin_memory": lambda self, device=None: self.pin_memory(),
    "_conj": jtensor.conj, "_unsafe_view": jtensor.Tensor.view, "_sparse_addmm": jtensor.sparse.addmm,
    "_softmax": lambda self, dim, half_to_float: self.softmax(dim, jtensor.float32 if half_to_float else None),
    "_log_softmax": lambda self, dim, half_to_float: self.log_softmax(dim, jtensor.float32 if half_to_float else None),
    "sym_size": lambda self, dim=None: self.size(dim), "sym_stride": lambda self, dim=None: self.stride(dim),
    "sym_numel": lambda self: self.numel(), "sym_storage_offset": lambda self: self.storage_offset(),
    **{f"adaptive_max_pool{dims}d": functools.partial(getattr(F, f"adaptive_max_pool{dims}d"), return_indices=True) for dims in (1, 2, 3)},
    **{f"fractional_max_pool{dims}d": _fractional(getattr(F, f"fractional_max_pool{dims}d")) for dims in (2, 3)},
    "_native_multi_head_attention": _native_multi_head_attention, "_transformer_encoder_layer_fwd": _transformer_encoder_layer_fwd,
    "stft": _stft, "_convolution": _convolution, "elu": _elu, "log_sigmoid": F.logsigmoid,
    "tensordot": lambda self, other, dims_self, dims_other: jtensor.tensordot(self, other, (dims_self, dims_other)),
    "einsum": lambda equation, tensors, *, path=None: jtensor.einsum(equation, *tensors),
    "unfold": jtensor.Tensor.unfold,
    "im2col": F.unfold, "col2im": F.fold,
    "numpy_T": lambda self: self.T, "mT": lambda self: self.mT, "mH": lambda self: self.mH, "matrix_H": lambda self: self.H,
    "rrelu": lambda self, lower=1 / 8, upper=1 / 3, training=False, generator=None: F.rrelu(self, lower, upper, training),
    **{f"{name}_": _in_place(getattr(F, name)) for name in ("silu", "mish", "hardswish", "hardsigmoid", "relu6")},
    "_local_scalar_dense": jtensor.Tensor.item, "lift_fresh": lambda self: self, "nll_loss_forward": _nll_forward,
    "nll_loss2d_forward": _nll_forward, "log_sigmoid_forward": _log_sigmoid_forward,
    "_safe_softmax": lambda self, dim, dtype=None: raw._safe_softmax(self, dim, dtype),
    "_prelu_kernel": lambda self, weight: raw._prelu_kernel(self, weight),
    **{f"_adaptive_avg_pool{dims}d": getattr(F, f"adaptive_avg_pool{dims}d") for dims in (2, 3)},
    "_scaled_dot_product_flash_attention_for_cpu": _flash_attention,
    **_LOSSES, **_RESIZED, **_PADDED}
