"""What PyTorch's functions in Python hand on to its own: the call in which an argument of a wrong type is refused there.

``max_pool2d(x, 2.0)`` of ``nn.functional`` binds anything, and passes it to a function that PyTorch's argument parser binds; so that is
what the refusal speaks of. Owns: `BEHIND`, {function: (its arguments) -> (the inner function's name in the signatures, its arguments)}.
They are asked about once for each combination of classes, which costs a call 0.2 µs; so functions that are called in every layer of a
model (``relu``, ``dropout``, ``layer_norm``, ``embedding``, ``cross_entropy``) are not among them: these go to an operator at once, which
refuses by itself. May not know: tensors, and what the functions do.
"""


def _pool(name):
    return lambda input, kernel_size, stride, padding, dilation, ceil_mode, **_: (
        name, input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def _adaptive(name):
    return lambda input, output_size, **_: (name, input, _chosen(input, output_size)) if hasattr(input, "shape") else None


def _chosen(input, output_size):
    """An output size with the input's where it is None, if they go together."""
    if not isinstance(output_size, (list, tuple)) or not output_size or len(output_size) >= len(input.shape):
        return output_size
    own = tuple(input.shape)[-len(output_size):]
    return [there if given is None else given for given, there in zip(output_size, own, strict=True)]


def _of_tensors(found, *first):
    """The call, if PyTorch comes so far: it looks at the shapes of ``first`` before."""
    return found if all(hasattr(given, "shape") for given in first) else None


def _pair(given):
    """``torch.nn.modules.utils._pair``."""
    return tuple(given) if hasattr(given, "__iter__") and not _is_number(given) else (given, given)


def _is_number(given):
    return hasattr(given, "ndim") and given.ndim == 0


def _are_numbers(given):
    return isinstance(given, (list, tuple)) and all(isinstance(one, (int, float)) for one in given)


_MEAN = 1                                   # the reduction, whose name is looked at in Python
BEHIND = {
    **{name: _pool(name) for name in ("max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices")},
    **{name: _pool("nn." + name) for name in ("max_pool2d_with_indices", "max_pool3d_with_indices")},
    **{f"adaptive_max_pool1d{tail}": _adaptive("adaptive_max_pool1d") for tail in ("", "_with_indices")},
    **{f"adaptive_max_pool{n}d{tail}": _adaptive(f"nn.adaptive_max_pool{n}d") for n in (2, 3) for tail in ("", "_with_indices")},
    **{f"adaptive_avg_pool{n}d": _adaptive(f"nn.adaptive_avg_pool{n}d") for n in (2, 3)},
    "fold": lambda input, output_size, kernel_size, dilation, padding, stride: (
        "nn.col2im", input, *[_pair(given) for given in (output_size, kernel_size, dilation, padding, stride)]),
    "unfold": lambda input, kernel_size, dilation, padding, stride: (
        "nn.im2col", input, *[_pair(given) for given in (kernel_size, dilation, padding, stride)]),
    "pad": lambda input, pad, mode, value: ("nn.pad", input, pad, mode, value),
    "batch_norm": lambda input, running_mean, running_var, weight, bias, training, momentum, eps: _of_tensors(
        ("batch_norm", input, weight, bias, running_mean, running_var, training, momentum, eps, True), input),
    "instance_norm": lambda input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps: _of_tensors(
        ("instance_norm", input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True), input),
    "group_norm": lambda input, num_groups, weight, bias, eps: _of_tensors(
        ("group_norm", input, num_groups, weight, bias, eps, True), input) if _are_numbers([num_groups]) else None,
    "rms_norm": lambda input, normalized_shape, weight, eps: ("rms_norm", input, normalized_shape, weight, eps),
    "grid_sample": lambda input, grid, mode, padding_mode, align_corners: (
        "nn.grid_sampler", input, grid, 0, 0, False if align_corners is None else align_corners),
    "affine_grid": lambda theta, size, align_corners: _of_tensors(
        ("affine_grid_generator", theta, size, False if align_corners is None else align_corners), theta) if _are_numbers(size) else None,
    "rrelu": lambda input, lower, upper, training, inplace: ("rrelu" + "_" * bool(inplace), input, lower, upper, training),
    "alpha_dropout": lambda input, p, training, inplace: ("alpha_dropout" + "_" * bool(inplace), input, p, training),
    "feature_alpha_dropout": lambda input, p, training, inplace: ("feature_alpha_dropout" + "_" * bool(inplace), input, p, training),
    "poisson_nll_loss": lambda input, target, log_input, full, eps, **_: (
        "poisson_nll_loss", input, target, log_input, full, eps, _MEAN),
    "hinge_embedding_loss": lambda input, target, margin, **_: ("hinge_embedding_loss", input, target, margin, _MEAN),
    "margin_ranking_loss": lambda input1, input2, target, margin, **_: _of_tensors(
        ("margin_ranking_loss", input1, input2, target, margin, _MEAN), input1, input2, target),
    "cosine_embedding_loss": lambda input1, input2, target, margin, **_: (
        "cosine_embedding_loss", input1, input2, target, margin, _MEAN),
    "triplet_margin_loss": lambda anchor, positive, negative, margin, p, eps, swap, **_: (
        "triplet_margin_loss", anchor, positive, negative, margin, p, eps, swap, _MEAN),
    "ctc_loss": lambda log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, **_: (
        "ctc_loss", log_probs, targets, input_lengths, target_lengths, blank, _MEAN, zero_infinity),
    "multilabel_margin_loss": lambda input, target, **_: ("nn.multilabel_margin_loss", input, target, _MEAN),
    "soft_margin_loss": lambda input, target, **_: ("nn.soft_margin_loss", input, target, _MEAN),
    "multi_margin_loss": lambda input, target, p, margin, weight, **_: _of_tensors(
        ("nn.multi_margin_loss", input, target, p, margin, weight, _MEAN), *[weight] * (weight is not None)
    ) if not hasattr(p, "ndim") and p in (1, 2) else None,
}
# Those of the inner functions that PyTorch does not show; the file of signatures has them as ``nn.name``.
INNER = tuple("""
    adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d col2im grid_sampler im2col max_pool2d_with_indices
    max_pool3d_with_indices multi_margin_loss multilabel_margin_loss soft_margin_loss pad""".split())
