"""What torchaudio's compiled extension defines under `torch.ops`: recurrences along time, which are computed on the host, in NumPy.

Each looks at its arguments. Owns: these operators. May not know: how a call is made.
"""
import numpy as np

import jtensor

from .libraries import written_anew


def _lfilter_core_loop(input_signal_windows, a_coeff_flipped, padded_output_waveform):
    """Filters with feedback, in place: each sample of the output is the input's less the weighted samples of the output before it.

    (batch, channels, time), (channels, order), (batch, channels, time + order - 1), whose first samples are those before the beginning.
    """
    signal, weights, output = (part.detach().numpy(force=True) for part in
                               (input_signal_windows, a_coeff_flipped, padded_output_waveform))
    output, order = output.copy(), weights.shape[1]
    for i in range(signal.shape[2]):
        output[:, :, i + order - 1] = signal[:, :, i] - (output[:, :, i:i + order] * weights).sum(2)
    return _written(padded_output_waveform, output)


def _overdrive_core_loop(waveform, temp, last_in, last_out, output_waveform):
    """Takes away what does not change, and mixes with what was there; (channels, time) into ``output_waveform``, in place.

    ``last_in``, ``last_out``: (channels,), the state, which is brought forward.
    """
    waveform, temp, before, state = (part.detach().numpy(force=True) for part in (waveform, temp, last_in, last_out))
    output = np.empty_like(waveform)
    for i in range(waveform.shape[-1]):
        state = (temp[:, i] - before + 0.995 * state).astype(waveform.dtype)
        before = temp[:, i]
        output[:, i] = waveform[:, i] * 0.5 + state * 0.75
    return _written(last_in, before), _written(last_out, state), _written(output_waveform, output)


def _written(tensor, array):
    with jtensor.no_grad():
        return tensor.copy_(jtensor.from_numpy(np.ascontiguousarray(array)))


def forced_align(log_probs, targets, input_lengths, target_lengths, blank):
    """The likeliest way in which labels, each as long as need be and blanks between, make up a recording.

    (1, time, classes) and (1, labels) give the label of each moment, (1, time), and ``log_probs``. RuntimeError for larger batches, and
    where time is too short.

    Source: Graves et al., "Connectionist temporal classification", 2006, with the maximum in place of the sum.
    """
    _expect(log_probs.dim() == 3 and targets.dim() == 2, "log_probs should be 3-D and targets 2-D")
    _expect(log_probs.size(0) == 1 == targets.size(0), "The batch dimension for log_probs must be 1 at the current version.")
    length, count = int(input_lengths[0]), int(target_lengths[0])
    _expect(length == log_probs.size(1), "input length mismatch")
    _expect(count == targets.size(1), "target length mismatch")
    scores, labels = log_probs.detach()[0].numpy(force=True), targets.detach()[0].numpy(force=True)
    repeats = int((labels[1:] == labels[:-1]).sum())
    _expect(length >= count + repeats, f"targets length is too long for CTC. Found log_probs length: {length}, targets length: {count}, "
                                       f"and number of repeats: {repeats}")
    states = np.full(2 * count + 1, blank)
    states[1::2] = labels
    skips = np.zeros(len(states), bool)                              # whether the blank before a label may be left out
    skips[3::2] = labels[1:] != labels[:-1]
    best = np.full(len(states), -np.inf, scores.dtype)
    best[:2] = scores[0, states[:2]]
    came = np.zeros((length, len(states)), np.int8)
    for moment in range(1, length):
        stays, steps, leaps = best, np.r_[-np.inf, best[:-1]], np.where(skips, np.r_[-np.inf, -np.inf, best[:-2]], -np.inf)
        came[moment] = np.where((leaps > steps) & (leaps > stays), 2, np.where((steps > stays) & (steps > leaps), 1, 0))
        best = np.choose(came[moment], (stays, steps, leaps)).astype(scores.dtype) + scores[moment, states]
    state = len(states) - 1 - (len(states) > 1 and not best[-1] > best[-2])
    path = np.empty(length, labels.dtype)
    for moment in range(length - 1, -1, -1):
        path[moment] = states[state]
        state -= came[moment, state]
    return jtensor.from_numpy(path)[None].to(targets.device), log_probs


def _expect(holds, text):
    if not holds:
        raise RuntimeError(text)


def rnnt_loss_forward(logits, targets, logit_lengths, target_lengths, blank, clamp, fused_log_softmax):
    """How unlikely a transducer finds labels, summed over all ways in which they could be spread over time; and the gradient for logits.

    (batch, time, labels + 1, classes) and (batch, labels) give costs, (batch,), and a gradient like ``logits``, cut off at ``clamp`` (0 or
    less: not at all).

    Source: Graves, "Sequence transduction with recurrent neural networks", https://arxiv.org/abs/1211.3711.
    """
    with jtensor.no_grad():
        likely = (logits.float().log_softmax(-1) if fused_log_softmax else logits.float()).numpy(force=True)
    labels, gradient = targets.detach().numpy(force=True), np.zeros(likely.shape, np.float32)
    costs = np.zeros(len(likely), np.float32)
    for b, (moments, count) in enumerate(zip(logit_lengths.tolist(), target_lengths.tolist(), strict=True)):
        told = likely[b, :moments, :count + 1]
        rows, columns = np.arange(moments)[:, None], np.arange(count)
        blanks, emits = told[:, :, blank], told[rows, columns, labels[b, :count]]
        ahead, behind = _forwards(blanks, emits), _backwards(blanks, emits)
        total = behind[0, 0]
        costs[b] = -total
        found = gradient[b, :moments, :count + 1]
        if fused_log_softmax:
            found += np.exp(told + (ahead + behind - total)[:, :, None])
        following = np.vstack([behind[1:], np.full((1, count + 1), -np.inf, np.float32)])
        following[-1, -1] = 0.0                                      # the last blank ends it
        found[:, :, blank] -= np.exp(ahead + blanks + following - total)
        found[rows, columns, labels[b, :count]] -= np.exp(ahead[:, :-1] + emits + behind[:, 1:] - total)
    if clamp > 0:
        gradient = gradient.clip(-clamp, clamp)
    return tuple(jtensor.from_numpy(part).to(logits.device, logits.dtype) for part in (costs, gradient))


def _forwards(blanks, emits):
    """The logarithms of the likelihoods to come to each moment with each number of labels."""
    found = np.full(blanks.shape, -np.inf, np.float32)
    found[0, 0] = 0.0
    for t, u in np.ndindex(blanks.shape):
        if t:
            found[t, u] = np.logaddexp(found[t, u], found[t - 1, u] + blanks[t - 1, u])
        if u:
            found[t, u] = np.logaddexp(found[t, u], found[t, u - 1] + emits[t, u - 1])
    return found


def _backwards(blanks, emits):
    """The logarithms of the likelihoods to go on from each moment and number of labels to the end."""
    found = np.full(blanks.shape, -np.inf, np.float32)
    moments, counts = blanks.shape
    found[-1, -1] = blanks[-1, -1]
    for t in range(moments - 1, -1, -1):
        for u in range(counts - 1, -1, -1):
            if t + 1 < moments:
                found[t, u] = np.logaddexp(found[t, u], found[t + 1, u] + blanks[t, u])
            if u + 1 < counts:
                found[t, u] = np.logaddexp(found[t, u], found[t, u + 1] + emits[t, u])
    return found


written_anew("_torchaudio", {"is_align_available() -> bool": lambda: True, "cuda_version() -> int?": lambda: None})
written_anew("torchaudio", {
    "_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, Tensor(a!) padded_output_waveform) -> Tensor(a!)":
        _lfilter_core_loop,
    "_overdrive_core_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, Tensor(c!) output_waveform) -> "
    "(Tensor(a!), Tensor(b!), Tensor(c!))": _overdrive_core_loop,
    "forced_align(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank) -> (Tensor, Tensor)":
        forced_align,
    "rnnt_loss_forward(Tensor logits, Tensor targets, Tensor logit_lengths, Tensor target_lengths, int blank, float clamp, "
    "bool fused_log_softmax) -> (Tensor, Tensor)": rnnt_loss_forward,
})
