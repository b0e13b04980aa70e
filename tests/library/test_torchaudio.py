"""torchaudio's operators against every way that there is, counted out."""
import itertools
import math

import chex
import numpy as np
import pytest

import jtensor

jtensor.ops.load_library("/somewhere/torchaudio/lib/_torchaudio.abi3.so")
jtensor.ops.load_library("/somewhere/torchaudio/lib/libtorchaudio.abi3.so")
audio = jtensor.ops.torchaudio
RNG = np.random.default_rng(0)


def test_filters_with_feedback_write_where_they_read():
    signal, weights = RNG.standard_normal((2, 3, 9)), RNG.standard_normal((3, 3)) / 4
    output = jtensor.zeros(2, 3, 11, dtype=jtensor.float64)
    answer = audio._lfilter_core_loop(jtensor.tensor(signal), jtensor.tensor(weights), output)
    wanted = np.zeros((2, 3, 11))
    for b, c, i in np.ndindex(2, 3, 9):
        wanted[b, c, i + 2] = signal[b, c, i] - wanted[b, c, i:i + 3] @ weights[c]
    assert answer is output and output._version == 1
    chex.assert_trees_all_close(output.numpy(), wanted, atol=1e-12)


def test_overdrive_brings_its_state_forward():
    wave, bent = RNG.standard_normal((2, 2, 6))
    before, state, output = jtensor.zeros(2).double(), jtensor.zeros(2).double(), jtensor.zeros(2, 6).double()
    audio._overdrive_core_loop(jtensor.tensor(wave), jtensor.tensor(bent), before, state, output)
    level = np.zeros(2)
    for i in range(6):
        level = bent[:, i] - (bent[:, i - 1] if i else 0) + 0.995 * level
        chex.assert_trees_all_close(output[:, i].numpy(), wave[:, i] / 2 + 0.75 * level, atol=1e-12)
    chex.assert_trees_all_close(state.numpy(), level, atol=1e-12)
    chex.assert_trees_all_close(before.numpy(), bent[:, -1])


def test_forced_alignment_is_the_likeliest():
    likely = jtensor.tensor(RNG.standard_normal((1, 5, 4)).astype(np.float32)).log_softmax(-1)
    lengths = jtensor.tensor([5]), jtensor.tensor([2])
    for labels in ([1, 1], [2, 3]):
        path, scores = audio.forced_align(likely, jtensor.tensor([labels]), *lengths, 0)
        assert scores is likely or scores.equal(likely)

        def score(way):
            return sum(likely[0, i, label].item() for i, label in enumerate(way))
        ways = [way for way in itertools.product(range(4), repeat=5) if [key for key, _ in itertools.groupby(way) if key] == labels]
        assert path.dtype == jtensor.int64 and path[0].tolist() == list(max(ways, key=score))
    with pytest.raises(RuntimeError, match="length: 2, targets length: 2, and number of repeats: 1"):
        audio.forced_align(likely[:, :2], jtensor.tensor([[1, 1]]), jtensor.tensor([2]), jtensor.tensor([2]), 0)


def cost(likely, labels, blank):
    """Minus the logarithm of the sum over all moments at which the labels may come."""
    total = []
    for moments in itertools.combinations_with_replacement(range(len(likely)), len(labels)):
        found, score = 0, 0.0
        for t, step in enumerate(likely):
            while found < len(labels) and moments[found] == t:
                score, found = score + step[found, labels[found]], found + 1
            score += step[found, blank]
        total.append(score)
    return -np.logaddexp.reduce(total)


@pytest.mark.parametrize("fused", [True, False])
def test_transducer_loss_and_its_gradient(fused):
    logits = RNG.standard_normal((2, 3, 3, 4))
    likely = logits - np.log(np.exp(logits).sum(-1, keepdims=True)) if fused else logits
    labels, times, counts = [[1, 2], [3, 0]], [3, 2], [2, 1]

    def wanted(b, numbers):
        if fused:
            numbers = numbers - np.log(np.exp(numbers).sum(-1, keepdims=True))
        return cost(numbers[:times[b]], labels[b][:counts[b]], 0)
    given = [jtensor.tensor(part, dtype=jtensor.int32) for part in (labels, times, counts)]
    costs, gradient = audio.rnnt_loss_forward(jtensor.tensor(logits, dtype=jtensor.float32), *given, 0, -1.0, fused)
    for b in range(2):
        assert abs(costs[b].item() - wanted(b, logits[b])) < 1e-5
        for place in ((0, 0, 0), (1, 0, labels[b][0]), (2, 2, 1), (1, 1, 0)):
            step = np.zeros(logits.shape[1:])
            step[place] = 1e-4
            slope = (wanted(b, logits[b] + step) - wanted(b, logits[b] - step)) / 2e-4
            assert abs(gradient[(b, *place)].item() - slope) < 1e-4
    _, cut = audio.rnnt_loss_forward(jtensor.tensor(logits, dtype=jtensor.float32), *given, 0, 0.1, fused)
    assert cut.abs().max().item() == pytest.approx(0.1) and math.isclose(cut.min().item(), -0.1, rel_tol=1e-6)
    assert likely.shape == gradient.shape
