"""Which operators of TorchScript the functions of ``nn.functional`` are.

Most have an operator of the same name, whose arguments are found by their names; a reduction is a number there, ``inplace`` another
operator. Owns: that, and the functions that differ. What has no operator is made of functions that have, and these are recorded. May not
know: how an operator is recorded.
"""
import inspect

import jtensor

from ..tensor.calling import overriding
from ..tensor.core import Tensor
from . import schemas
from .operators import operator, outside

_NAMES = {
    "cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd", "logsigmoid": "log_sigmoid", "unfold": "im2col", "fold": "col2im",
    "affine_grid": "affine_grid_generator", "dropout1d": "feature_dropout", "dropout2d": "feature_dropout",
    "dropout3d": "feature_dropout",
}
_RENAMED = {"training": "train", "input": "self", "tensor": "self"}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_LEFT_OUT = frozenset(("inplace", "size_average", "reduce", "_stacklevel", "return_indices"))
_POOLS = {f"{kind}_pool{n}d": (kind, n) for kind in ("avg", "max", "adaptive_avg") for n in (1, 2, 3)}


def lower(trace, func, name, args, kwargs):
    """Calls a function of ``nn.functional`` or of ``nn.init`` and records what it is."""
    short = name.rpartition(".")[2]
    if not name.startswith("torch.nn.functional."):
        return outside(trace, func, args, kwargs)
    form = inspect.signature(overriding.beneath(func))
    try:
        given = form.bind(*args, **kwargs)
    except TypeError:
        return outside(trace, func, args, kwargs)
    given.apply_defaults()
    given = given.arguments
    if not _BUILT_IN & {short}:
        trace.named_by({id(value): key for key, value in reversed(given.items()) if isinstance(value, Tensor)})
    if short in _BROADCAST:
        _broadcast(trace, given)
    if short in _WITH_PLACES:
        return _adaptive_max(trace, short, given)
    called = _CALLS.get(short, _by_name)(short, given)
    if called is None:
        trace.named_by(None)
        return outside(trace, func, args, kwargs)
    operation, given_there = called
    operation = trace.forms.get(operation, operation)
    positional, named = given_there if isinstance(given_there, tuple) else (_ordered(operation, given_there), {})
    if positional is None or schemas.bound(operation, positional, named) is None:
        trace.named_by(None)
        return outside(trace, func, args, kwargs)
    return operator(trace, _unasked(func, args, kwargs), operation, (), {}, positional, named)


_BROADCAST = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def _broadcast(trace, given):
    """PyTorch's functions in Python broadcast their two tensors before anything else; where both have one size they stay what they are."""
    pair = given["input"], given["target"]
    made = list(pair) if pair[0].shape == pair[1].shape else list(overriding.beneath(jtensor.broadcast_tensors)(*pair))
    operator(trace, lambda: made, "broadcast_tensors", (), {}, (list(pair),))
    given["input"], given["target"] = made


_BUILT_IN = frozenset("""linear gelu hardshrink softplus softshrink logsigmoid prelu conv1d conv2d conv3d conv_transpose1d conv_transpose2d
                         conv_transpose3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d scaled_dot_product_attention one_hot
                         pixel_shuffle pixel_unshuffle channel_shuffle cosine_similarity pairwise_distance bilinear pdist celu_ elu_
                         hardtanh_ leaky_relu_ relu_ rrelu_ selu_ threshold_""".split())
"""Those that PyTorch does not write in Python: their caller has named the tensors."""


def _unasked(func, args, kwargs):
    """The call itself, whatever it is recorded as; traced sizes are numbers to it."""
    def plain(value):
        if isinstance(value, Tensor):
            return value.item() if value.dim() == 0 and not value.is_floating_point() and not value.requires_grad else value
        return type(value)([plain(one) for one in value]) if type(value) in (list, tuple) else value
    if func.__name__ not in _WITH_SIZES:
        return lambda: func(*args, **kwargs)
    return lambda: func(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})


_WITH_SIZES = frozenset("""layer_norm pad interpolate one_hot adaptive_avg_pool1d adaptive_avg_pool2d rms_norm fold affine_grid avg_pool1d
                           avg_pool2d max_pool1d max_pool2d""".split())
"""Functions that take sizes, which may be traced ones."""


def _ordered(operation, given):
    """The arguments of an operator in its order, found by their names; None where the names do not fit."""
    for schema in schemas.forms(operation):
        names = [argument.name for argument in schema.arguments]
        left = {key if key in names else _RENAMED.get(key, key): value for key, value in given.items()
                if value is not None or key in names or key in _RENAMED}
        if left.keys() <= set(names) and all(name in left or argument.has_default_value()
                                             for name, argument in zip(names, schema.arguments, strict=True)):
            if not any(argument.kwarg_only for argument in schema.arguments):
                return [left.get(name, argument.default_value) for name, argument in zip(names, schema.arguments, strict=True)]
    return None


def _by_name(short, given):
    """The operator of the same name, with the arguments of the same names."""
    operation = _NAMES.get(short, short)
    if given.get("size_average") is not None or given.get("reduce") is not None or given.get("return_indices"):
        return None
    left = {key: value for key, value in given.items() if key not in _LEFT_OUT}
    if "reduction" in left:
        if left["reduction"] not in _REDUCTIONS:
            return None
        left["reduction"] = _REDUCTIONS[left["reduction"]]
    if given.get("inplace"):
        operation += "_"
    return operation, left


# -- those that differ --------------------------------------------------------------------------------------------------


def _norm(short, given):
    left = dict(given)
    left["cudnn_enable" if short == "layer_norm" else "cudnn_enabled"] = True
    return short, left


def _convolution(short, given):
    turned, dims = "transpose" in short, int(short[-2])
    padding = given["padding"]

    def each(value):
        value = list(value) if isinstance(value, (list, tuple)) else [value]
        return value * dims if len(value) == 1 else value
    if padding == "same" and not turned:
        sums = [d * (k - 1) for d, k in zip(each(given["dilation"]), given["weight"].shape[2:], strict=True)]
        if any(one % 2 for one in sums):
            return None
        padding = [one // 2 for one in sums]                      # PyTorch has an operator for the word
    padding = [0] * dims if padding == "valid" else each(padding)
    if given["input"].dim() != dims + 2:
        return None
    more = each(given["output_padding"]) if turned else [0] * dims
    return "_convolution", ([given["input"], given["weight"], given["bias"], each(given["stride"]), padding, each(given["dilation"]),
                             turned, more, given["groups"], False, False, True, True], {})


_WITH_PLACES = frozenset(("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"))


def _adaptive_max(trace, short, given):
    """Whose operator answers the places of the maxima, too."""
    x, size, whole = given["input"], given["output_size"], overriding.beneath(getattr(jtensor.nn.functional, short))
    if isinstance(size, (list, tuple)):
        size = [there if one is None else one for one, there in zip(size, x.shape[-len(size):], strict=True)]
    made = operator(trace, lambda: whole(x, size, return_indices=True), short, (), {}, (x, size))
    return made if given["return_indices"] else made[0]


def _pool(short, given):
    kind, dims = _POOLS[short]
    if kind == "max":
        if given["return_indices"]:
            return None
        order = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
    elif kind == "avg":
        order = ("input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
        order = (*order, "divisor_override") if dims > 1 else order
    else:
        size = given["output_size"]
        if isinstance(size, (list, tuple)) and None in size:
            size = [there if one is None else one for one, there in zip(size, given["input"].shape[-dims:], strict=True)]
        return short, ([given["input"], size], {})
    positional = [given[name] for name in order]
    stride = positional[2]
    return short, ([*positional[:2], [] if stride is None else stride, *positional[3:]], {})


def _softmax(short, given):
    return None if given["dim"] is None else (short, ([given["input"], given["dim"], given["dtype"]], {}))


def _embedding(short, given):
    if given["max_norm"] is not None:
        return None
    padding, count = given["padding_idx"], given["weight"].shape[0]
    padding = -1 if padding is None else padding + count if padding < 0 else padding
    return short, ([given["weight"], given["input"], padding, given["scale_grad_by_freq"], given["sparse"]], {})


def _attention(short, given):
    named = {key: given[key] for key in ("scale", "enable_gqa") if key in given}
    return short, ([given[key] for key in ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")], named)


def _gelu(short, given):
    return short, ([given["input"]], {"approximate": given["approximate"]})


def _pad(short, given):
    return short, ([given["input"], list(given["pad"]), given["mode"], given["value"]], {})


def _rms_norm(short, given):
    return short, ([given["input"], list(given["normalized_shape"]), given["weight"], given["eps"]], {})


def _group_norm(short, given):
    return short, ([given[key] for key in ("input", "num_groups", "weight", "bias", "eps")] + [True], {})


def _instance_norm(short, given):
    return short, ([given[key] for key in ("input", "weight", "bias", "running_mean", "running_var", "use_input_stats", "momentum", "eps")]
                   + [True], {})


def _window(short, given):
    order = ("input", "kernel_size", "dilation", "padding", "stride")
    order = order if short == "unfold" else ("input", "output_size", *order[1:])
    return _NAMES[short], ([given[key] for key in order], {})


def _kl(short, given):
    return None if given["reduction"] not in ("sum", "none") else (
        short, ([given["input"], given["target"], _REDUCTIONS[given["reduction"]]], {"log_target": given["log_target"]}))


def _cross_entropy(short, given):
    if given["size_average"] is not None or given["reduce"] is not None:
        return None
    rest = [given["label_smoothing"]] if short == "cross_entropy" else []
    return _NAMES[short], ([given["input"], given["target"], given["weight"], _REDUCTIONS[given["reduction"]], given["ignore_index"],
                            *rest], {})


def _interpolate(short, given):
    """By a size or a factor, of three to five dimensions, as the operators for each of them take both."""
    x, mode = given["input"], given["mode"]
    dims = x.dim() - 2
    kinds = {("nearest", 1): "upsample_nearest1d", ("nearest", 2): "upsample_nearest2d", ("nearest", 3): "upsample_nearest3d",
             ("linear", 1): "upsample_linear1d", ("bilinear", 2): "upsample_bilinear2d", ("bicubic", 2): "upsample_bicubic2d",
             ("trilinear", 3): "upsample_trilinear3d"}
    operation = kinds.get((mode, dims))
    if operation is None or given["antialias"] or given["recompute_scale_factor"]:
        return None
    size, factor = given["size"], given["scale_factor"]
    size = size if size is None or isinstance(size, (list, tuple)) else [size] * dims
    factor = factor if factor is None else [float(one) for one in (factor if isinstance(factor, (list, tuple)) else [factor] * dims)]
    flag = [] if mode == "nearest" else [bool(given["align_corners"])]
    return operation, ([x, size, *flag, factor], {})


def _grid(short, given):
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return "grid_sampler", ([given["input"], given["grid"], modes.index(given["mode"]), paddings.index(given["padding_mode"]),
                             bool(given["align_corners"])], {})


def _affine(short, given):
    return _NAMES[short], ([given["theta"], given["size"], bool(given["align_corners"])], {})


def _none(short, given):
    return None


_CALLS = {
    "layer_norm": _norm, "batch_norm": _norm, "group_norm": _group_norm, "instance_norm": _instance_norm, "rms_norm": _rms_norm,
    **{f"conv{kind}{n}d": _convolution for kind in ("", "_transpose") for n in (1, 2, 3)}, **dict.fromkeys(_POOLS, _pool),
    "softmax": _softmax, "log_softmax": _softmax, "embedding": _embedding, "scaled_dot_product_attention": _attention, "gelu": _gelu,
    "pad": _pad, "unfold": _window, "fold": _window, "kl_div": _kl, "cross_entropy": _cross_entropy, "nll_loss": _cross_entropy,
    "interpolate": _interpolate, "grid_sample": _grid, "affine_grid": _affine, "normalize": _none, "multi_head_attention_forward": _none,
    "gumbel_softmax": _none, "softmin": _none,
}
