"""Connectionist temporal classification: the probability of a labelling under all alignments with blanks.

Owns: the recursions over time, forward and back, in logarithms, and PyTorch's gradient. May not know: tensors as objects.
"""
import jax.numpy as jnp
from jax import lax

from ..loops import scan
from ..operator import Tensor, op
from ..quirks import Quirks
from .numeric import not_implemented


def _log_sum(*terms):
    """The logarithm of a sum of exponentials; minus infinity where all terms are."""
    top = terms[0]
    for x in terms[1:]:
        top = jnp.maximum(top, x)
    finite = jnp.where(jnp.isneginf(top), jnp.zeros_like(top), top)
    total = sum(jnp.exp(x - finite) for x in terms)
    return jnp.where(jnp.isneginf(top), top, jnp.log(jnp.where(total == 0, jnp.ones_like(total), total)) + finite)


def _shifted(x, by):
    """The states ``by`` places before (behind, for negative ones), minus infinity where there are none."""
    pad = jnp.full((x.shape[0], min(abs(by), x.shape[1])), -jnp.inf, x.dtype)         # without labels there is one state
    return jnp.concatenate([pad, x[:, :-by]], 1) if by > 0 else jnp.concatenate([x[:, -by:], pad], 1)


def _states(log_probs, targets, blank):
    """Blanks around and between the labels, ``(N, 2 S + 1)``; their log-probabilities; where a blank may be left out."""
    n, s = targets.shape
    labels = jnp.full((n, 2 * s + 1), blank, targets.dtype).at[:, 1::2].set(targets)
    emitted = jnp.take_along_axis(log_probs, labels[None].clip(0, log_probs.shape[2] - 1), 2)
    before = jnp.concatenate([jnp.full((n, 2), blank, labels.dtype), labels[:, :-2]], 1)[:, :2 * s + 1]
    return labels, emitted, (labels != blank) & (labels != before)


def _forward(emitted, skips, input_lengths):
    """Log-probabilities of all beginnings that end in a state, for every time; they stay as they are beyond the input's length."""
    state = lax.broadcasted_iota(jnp.int32, skips.shape, 1)
    nothing = jnp.full(skips.shape, -jnp.inf, emitted.dtype)

    def step(alpha, now):
        t, here = now
        skipped = jnp.where(skips, _shifted(alpha, 2), nothing)
        grown = jnp.where(t == 0, jnp.where(state < 2, here, nothing), here + _log_sum(alpha, _shifted(alpha, 1), skipped))
        alpha = jnp.where((t < input_lengths)[:, None], grown, alpha)
        return alpha, alpha
    return scan(step, nothing, (jnp.arange(emitted.shape[0]), emitted))


def _backward(emitted, skips, input_lengths, target_lengths):
    """Log-probabilities of all endings from a state on, for every time."""
    state = lax.broadcasted_iota(target_lengths.dtype, skips.shape, 1)
    last = (state == 2 * target_lengths[:, None]) | ((state == 2 * target_lengths[:, None] - 1) & (target_lengths > 0)[:, None])
    nothing = jnp.full(skips.shape, -jnp.inf, emitted.dtype)
    leaves = jnp.concatenate([skips[:, 2:], jnp.zeros((skips.shape[0], 2), bool)], 1)[:, :skips.shape[1]]

    def step(beta, now):
        t, here = now
        skipped = jnp.where(leaves, _shifted(beta, -2), nothing)
        grown = here + _log_sum(beta, _shifted(beta, -1), skipped)
        beta = jnp.where((t == input_lengths - 1)[:, None], jnp.where(last, here, nothing),
                         jnp.where((t < input_lengths - 1)[:, None], grown, nothing))
        return beta, beta
    return scan(step, nothing, (jnp.arange(emitted.shape[0]), emitted), reverse=True)[1]


def _loss(alpha, input_lengths, target_lengths):
    ends = 2 * target_lengths[:, None]
    whole = jnp.take_along_axis(alpha, ends, 1)[:, 0]
    label = jnp.where(target_lengths > 0, jnp.take_along_axis(alpha, jnp.maximum(ends - 1, 0), 1)[:, 0], -jnp.inf)
    empty = jnp.where(target_lengths == 0, jnp.zeros_like(whole), jnp.full_like(whole, -jnp.inf))
    return -jnp.where(input_lengths == 0, empty, _log_sum(whole, label))


def _gradient(grad, result, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    """The probabilities less the labels' share in them: the gradient of what `log_softmax` makes them from, as PyTorch answers it."""
    labels, emitted, skips = _states(log_probs, targets, blank)
    alphas, betas = _forward(emitted, skips, input_lengths)[1], _backward(emitted, skips, input_lengths, target_lengths)
    share = jnp.exp(alphas + betas - emitted + result[None, :, None])
    share = jnp.where(jnp.isneginf(emitted), jnp.zeros_like(share), share)
    t, n = log_probs.shape[:2]
    time, sample = (lax.broadcasted_iota(jnp.int32, share.shape, at) for at in (0, 1))
    shares = jnp.zeros_like(log_probs).at[time, sample, jnp.broadcast_to(labels[None], share.shape)].add(share, mode="drop")
    slope = (jnp.exp(log_probs) - shares) * grad[None, :, None]
    inside = (jnp.arange(t)[:, None] < input_lengths[None])[:, :, None]
    impossible = jnp.isposinf(result)[None, :, None]
    slope = jnp.where(impossible, jnp.full_like(slope, jnp.nan), slope)
    if zero_infinity:
        inside = inside & ~impossible
    return jnp.where(inside, slope, jnp.zeros_like(slope))


def _check(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    if log_probs.dtype.name not in ("float32", "float64"):
        raise not_implemented("ctc_loss_cpu", log_probs.dtype)


@op(name="_ctc_loss", backward="CtcLossBackward0", function=False, method=False, check=_check,
    nondiff=("targets", "input_lengths", "target_lengths"), grad={"log_probs": _gradient},
    quirks=Quirks(no_derivative="aten::_ctc_loss_backward"))
def ctc_loss_of_each(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank, zero_infinity):
    """Each sample's loss: log-probabilities ``(T, N, C)``, labels ``(N, S)``, lengths ``(N)``; infinite where no alignment fits."""
    _, emitted, skips = _states(log_probs, targets, blank)
    return _loss(_forward(emitted, skips, input_lengths)[0], input_lengths, target_lengths)
