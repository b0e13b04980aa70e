"""What the layers say of their attributes: the class annotations that programs read with `typing.get_type_hints`.

They stand here together, since many classes share theirs, and since nothing in the layers looks at them. Owns: the table, and `annotate`,
which puts it on the classes. May not know: what the attributes mean.
"""
# ruff: noqa: UP007
# The text of a union is part of what programs see.
from collections.abc import Callable, Sequence
from typing import Any, Literal, Optional, Union

from ...base.size import Size
from ...tensor.core import Tensor
from .. import common_types as types
from ..parameter import Parameter, UninitializedParameter
from .container import ModuleList
from .linear import Linear
from .linear_cross_entropy import LinearCrossEntropyOptions

_ints, _hooks, _flags = tuple[int, ...], dict[int, Callable], dict[int, bool]
_inplace, _dim, _margin, _ignored = {"inplace": bool}, {"dim": int | None}, {"margin": float}, {"ignore_index": int}
_lazy = {"weight": UninitializedParameter, "bias": UninitializedParameter}
_listed = {"_modules": "dict[str, Module]"}                   # read where the class is written, as a text


def _all(kind, names):
    """Several attributes of one kind."""
    return dict.fromkeys(names.split(), kind)


_MODULE = {
    "dump_patches": bool, "_version": int, "training": bool, "_parameters": dict[str, Parameter | None],
    "_buffers": dict[str, Tensor | None], "_non_persistent_buffers_set": set[str], "_backward_pre_hooks": _hooks,
    "_backward_hooks": _hooks, "_is_full_backward_hook": bool | None, "_forward_hooks": _hooks, "_forward_hooks_with_kwargs": _flags,
    "_forward_hooks_always_called": _flags, "_forward_pre_hooks": _hooks, "_forward_pre_hooks_with_kwargs": _flags,
    "_state_dict_hooks": _hooks, "_load_state_dict_pre_hooks": _hooks, "_state_dict_pre_hooks": _hooks,
    "_load_state_dict_post_hooks": _hooks, "_modules": dict[str, Optional["Module"]], "call_super_init": bool,  # noqa: F821
    "_compiled_call_impl": Callable | None, "forward": Callable[..., Any], "__call__": Callable[..., Any],
}
_CONV = {
    "bias": Tensor | None, "in_channels": int, "_reversed_padding_repeated_twice": list[int], "out_channels": int, "kernel_size": _ints,
    "stride": _ints, "padding": str | _ints, "dilation": _ints, "transposed": bool, "output_padding": _ints, "groups": int,
    "padding_mode": Literal["zeros", "reflect", "replicate", "circular"], "weight": Tensor,
}
_EMBEDDING = {
    "num_embeddings": int, "embedding_dim": int, "padding_idx": int | None, "max_norm": float | None, "norm_type": float,
    "scale_grad_by_freq": bool, "weight": Tensor,
}
_BAG = {name: kind for name, kind in _EMBEDDING.items() if name != "padding_idx"}

# -- by class -----------------------------------------------------------------------------------------------------------

_OF = {
    "Module": _MODULE,
    **dict.fromkeys(("ModuleDict", "ModuleList", "Sequential"), _listed),
    # activations
    **dict.fromkeys(("CELU", "ELU"), {"alpha": float, "inplace": bool}),
    **dict.fromkeys(("Hardsigmoid", "Hardswish", "Mish", "ReLU", "SELU", "SiLU"), _inplace),
    **dict.fromkeys(("LogSoftmax", "Softmax", "Softmin"), _dim),
    **dict.fromkeys(("Hardshrink", "Softshrink"), {"lambd": float}),
    "GELU": {"approximate": str}, "GLU": {"dim": int}, "Hardtanh": {"min_val": float, "max_val": float, **_inplace},
    "LeakyReLU": {**_inplace, "negative_slope": float}, "MultiheadAttention": _all(Tensor | None, "bias_k bias_v"),
    "PReLU": {"num_parameters": int}, "RReLU": {"lower": float, "upper": float, **_inplace},
    "Softplus": _all(float, "beta threshold"), "Threshold": {"threshold": float, "value": float, **_inplace},
    # linear, convolutions, recurrent layers, tables
    "Linear": {"in_features": int, "out_features": int, "weight": Tensor}, "LazyLinear": _lazy,
    "Bilinear": {**_all(int, "in1_features in2_features out_features"), "weight": Tensor},
    "AdaptiveLogSoftmaxWithLoss": {"in_features": int, "n_classes": int, "cutoffs": list[int], "div_value": float, "head_bias": bool,
                                   "head": Linear, "tail": ModuleList},
    "_ConvNd": _CONV,
    "_LazyConvXdMixin": {"groups": int, "transposed": bool, "in_channels": int, "out_channels": int, "kernel_size": _ints, **_lazy},
    "LazyModuleMixin": {"cls_to_become": type[Any] | None},
    "RNNBase": {"mode": str, **_all(int, "input_size hidden_size num_layers"), "bias": bool, "batch_first": bool, "dropout": float,
                "bidirectional": bool, "proj_size": int},
    "RNNCell": {"nonlinearity": str},
    "RNNCellBase": {**_all(int, "input_size hidden_size"), "bias": bool, "weight_ih": Tensor, "weight_hh": Tensor},
    "Embedding": {**_EMBEDDING, "freeze": bool, "sparse": bool},
    "EmbeddingBag": {**_BAG, "mode": str, "sparse": bool, "include_last_offset": bool, "padding_idx": int | None},
    # normalisation, dropout
    "_NormBase": {"num_features": int, "eps": float, "momentum": float | None, "affine": bool, "track_running_stats": bool},
    "_LazyNormBase": _lazy, "_DropoutNd": {"p": float, **_inplace},
    **dict.fromkeys(("CrossMapLRN2d", "LocalResponseNorm"), {"size": int, **_all(float, "alpha beta k")}),
    "GroupNorm": {"num_groups": int, "num_channels": int, "eps": float, "affine": bool},
    "LayerNorm": {"normalized_shape": _ints, "eps": float, "elementwise_affine": bool},
    "RMSNorm": {"normalized_shape": _ints, "eps": float | None, "elementwise_affine": bool},
    # shapes
    "ChannelShuffle": {"groups": int}, "PixelShuffle": {"upscale_factor": int}, "PixelUnshuffle": {"downscale_factor": int},
    "Flatten": _all(int, "start_dim end_dim"), "Unflatten": {"dim": int, "unflattened_size": Size | list[int] | _ints},
    "Fold": _all(types._size_any_t, "output_size kernel_size dilation padding stride"),
    "Unfold": _all(types._size_any_t, "kernel_size dilation padding stride"),
    "Upsample": {"name": str, "size": Union[int, _ints, None], "scale_factor": Union[float, tuple[float, ...], None], "mode": str,
                 **_all(bool | None, "align_corners recompute_scale_factor")},
    # losses and distances
    "CosineSimilarity": {"dim": int, "eps": float}, "PairwiseDistance": {"norm": float, "eps": float, "keepdim": bool},
    "_Loss": {"reduction": str}, "NLLLoss": _ignored, "CrossEntropyLoss": {**_ignored, "label_smoothing": float},
    **dict.fromkeys(("CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss"), _margin),
    "CTCLoss": {"blank": int, "zero_infinity": bool}, "GaussianNLLLoss": {"full": bool, "eps": float},
    "MultiMarginLoss": {**_margin, "p": int}, "PoissonNLLLoss": {"log_input": bool, "full": bool, "eps": float},
    "TripletMarginLoss": {**_all(float, "margin p eps"), "swap": bool}, "TripletMarginWithDistanceLoss": {**_margin, "swap": bool},
    "LinearCrossEntropyLoss": {"num_classes": int, "out_features": _ints, "reduction": str, "ignore_index": int | None,
                               "label_smoothing": float, "options": LinearCrossEntropyOptions | None},
    # padding
    "_ConstantPadNd": {"value": float, "padding": Sequence[int]},
    **dict.fromkeys(("_CircularPadNd", "_ReflectionPadNd", "_ReplicationPadNd"), {"padding": Sequence[int]}),
    # pooling
    "_AdaptiveMaxPoolNd": {"return_indices": bool}, "_LPPoolNd": {"norm_type": float, "ceil_mode": bool},
    "_MaxPoolNd": {"return_indices": bool, "ceil_mode": bool},
}

# -- by class and number of dimensions ----------------------------------------------------------------------------------

_OPTIONAL = (types._size_1_t, types._size_2_opt_t, types._size_3_opt_t)
for _n, _size in enumerate((types._size_1_t, types._size_2_t, types._size_3_t), start=1):
    _OF |= dict.fromkeys([f"Adaptive{kind}Pool{_n}d" for kind in ("Avg", "Max")], {"output_size": _OPTIONAL[_n - 1]})
    _OF |= dict.fromkeys([f"{kind}Pad{_n}d" for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero")],
                         {"padding": tuple[(int,) * (2 * _n)]})
    _OF |= {f"AvgPool{_n}d": {**_all(_size, "kernel_size stride padding"), "ceil_mode": bool, "count_include_pad": bool},
            f"MaxPool{_n}d": _all(_size, "kernel_size stride padding dilation"),
            f"MaxUnpool{_n}d": _all(_size, "kernel_size stride padding"), f"LPPool{_n}d": _all(_size, "kernel_size stride")}
for _n, _size, _ratio in ((2, types._size_2_t, types._ratio_2_t), (3, types._size_3_t, types._ratio_3_t)):
    _OF[f"FractionalMaxPool{_n}d"] = {"kernel_size": _size, "return_indices": bool, "output_size": _size, "output_ratio": _ratio}


def annotate(classes):
    """Gives public classes, and the bases that they have in PyTorch too, annotations of their own."""
    for kind in {base for one in classes if isinstance(one, type) for base in one.__mro__}:
        if kind.__name__ in _OF:
            kind.__annotations__ = dict(_OF[kind.__name__])
