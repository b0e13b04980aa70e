"""Functions that PyTorch has in ``torch`` itself and that are made here: the same as in ``nn.functional``, under the operators' own
signatures (a reduction is a number there, and none if not said; dropout's ``train`` has to be said).

``NAMES`` says which; the package's namespace looks them up when they are first asked for.
"""
from types import FunctionType as _FunctionType

from ...tensor import raw
from ...tensor.calling.guards import guarded as _guarded
from .. import functional as F
from . import recurrent
from .cross_entropy import check_logits as _check_logits
from .dropout import feature_dropout as _feature_dropout
from .dropout import native_dropout as _native_dropout
from .ranking import margin_ranking as _margin_ranking

_WORDS = ("none", "mean", "sum")


def _word(reduction):
    return _WORDS[reduction]


# ------------------------------------------------------------------------------------------------------------- dropout

def _share(p):
    """A probability that PyTorch's operators take; its functions in Python call another one a ValueError."""
    if p.__class__ is float and not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return p


def dropout(input, p, train):
    """Zeroes each element with probability ``p`` and scales the others by ``1 / (1 - p)``, where ``train``."""
    return F.dropout(input, _share(p), train)


def dropout_(input, p, train):
    """``dropout`` in place."""
    return F.dropout(input, _share(p), train, inplace=True)


def alpha_dropout(input, p, train):
    """Dropout to SELU's negative saturation value."""
    return F.alpha_dropout(input, _share(p), train)


def alpha_dropout_(input, p, train):
    """``alpha_dropout`` in place."""
    return F.alpha_dropout(input, _share(p), train, inplace=True)


def feature_dropout(input, p, train):
    """Dropout of whole channels."""
    return _feature_dropout(input, _share(p), train)


def feature_dropout_(input, p, train):
    """``feature_dropout`` in place."""
    return _feature_dropout(input, _share(p), train, inplace=True)


def feature_alpha_dropout(input, p, train):
    """``alpha_dropout`` of whole channels."""
    return F.feature_alpha_dropout(input, _share(p), train)


def feature_alpha_dropout_(input, p, train):
    """``feature_alpha_dropout`` in place."""
    return F.feature_alpha_dropout(input, _share(p), train, inplace=True)


def native_dropout(input, p, train):
    """``dropout`` and the mask of what was kept."""
    return _native_dropout(input, p, train)


# -------------------------------------------------------------------------------------------------------------- losses

def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """Binary cross entropy of the sigmoid of scores."""
    _check_logits(input, target)
    return raw.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input, target, reduction=0, *, log_target=False):
    """``target (log target - input)``."""
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nn.functional's about the mean
        return F.kl_div(input, target, reduction=_word(reduction), log_target=log_target)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Minus the log-likelihood of counts under Poisson rates."""
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_word(reduction))


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_word(reduction))


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_word(reduction))


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """``max(0, -target (input1 - input2) + margin)``."""
    return _margin_ranking(input1, input2, target, margin, reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``."""
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_word(reduction))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    """Connectionist temporal classification."""
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _word(reduction), zero_infinity)


# --------------------------------------------------------------------------------------------------------------- layers

def rms_norm(input, normalized_shape, weight=None, eps=None):
    """The input over its root mean square, times ``weight``."""
    return F.rms_norm(input, normalized_shape, weight, eps)


def adaptive_max_pool1d(input, output_size):
    """The maxima of windows that divide the length evenly, and their positions."""
    return F.adaptive_max_pool1d_with_indices(input, output_size)


def _step(stride):
    """A stride that was not given is an empty list for PyTorch's operators, and None for its functions in Python; 0 is neither."""
    return None if isinstance(stride, (tuple, list)) and not stride else stride


def max_pool1d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The largest element of every window of ``(N, C, L)``."""
    return F.max_pool1d(input, kernel_size, _step(stride), padding, dilation, ceil_mode)


def max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The maxima and their positions."""
    return F.max_pool1d_with_indices(input, kernel_size, _step(stride), padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The largest element of every window of ``(N, C, H, W)``."""
    return F.max_pool2d(input, kernel_size, _step(stride), padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The largest element of every window of ``(N, C, D, H, W)``."""
    return F.max_pool3d(input, kernel_size, _step(stride), padding, dilation, ceil_mode)


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of a softmax's input, of that of its output and the output itself, in the input's type."""
    moved = grad_output * output
    return (moved - output * moved.sum(dim, keepdim=True)).to(input_dtype)


# Functions of nn.functional that are bound as PyTorch binds them in both places.
_SAME = ("adaptive_avg_pool1d", "avg_pool1d", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
         "conv_transpose3d", "cosine_similarity", "native_channel_shuffle", "pairwise_distance")
for _name in _SAME:
    globals()[_name] = getattr(F, _name)
for _name in recurrent.__all__:
    globals()[_name] = getattr(recurrent, _name)

NAMES = frozenset(name for name, value in globals().items() if isinstance(value, _FunctionType) and not name.startswith("_"))
for _name in NAMES.difference(_SAME):
    globals()[_name] = _guarded(globals()[_name], _name, asked_first=True)
