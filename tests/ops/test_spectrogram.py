"""Short-time transforms and powers of a vector: PyTorch's values, strides, gradients and refusals."""
import pytest

from .twin import same

SIGNAL, WINDOW = (2, 20), (8,)


@pytest.mark.parametrize("text, shapes", [
    ("T.stft(a, 8, window=b, return_complex=True)", [SIGNAL, WINDOW]), ("a[0].stft(8, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, 3, 6, b[:6], return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, window=b, center=False, onesided=False, normalized=True, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, window=b, pad_mode='constant', return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a + 1j, 8, window=b)", [SIGNAL, WINDOW]), ("T.stft(a, 8, window=b)", [SIGNAL, WINDOW]),
    ("T.stft(a, 50, window=b, return_complex=True)", [SIGNAL, WINDOW]), ("T.stft(a, 0, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, 0, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, win_length=9, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, window=b[1:], return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a[None], 8, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a.long(), 8, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a + 0j, 8, window=b, onesided=True)", [SIGNAL, WINDOW]),
    ("T.stft(a[:, :6], 8, window=b, center=False, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, window=b, align_to_window=True)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, window=b)", [SIGNAL, WINDOW]),
    ("T.stft(a, 8, window=b, return_complex=True).istft(8, window=b, length=17)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, 3, 6, b[:6].abs() + 1, return_complex=True), 8, 3, 6, b[:6].abs() + 1)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, onesided=False, normalized=True, return_complex=True), 8, window=b, normalized=True)",
     [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a + 1j, 8, window=b), 8, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=T.ones(8), center=False, return_complex=True), 8, window=T.ones(8), center=False)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, window=b * 0)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, window=b, return_complex=True)", [SIGNAL, WINDOW]),
    ("T.istft(a, 8)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 12, window=b)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, onesided=False, window=b)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, 9, window=b)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, 2, 9, window=b)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, window=b[1:])", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True)[None], 8, window=b, normalized=True, length=3)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True)[:, :0], 8, window=b)", [SIGNAL, WINDOW]),
    ("T.istft(T.stft(a, 8, window=b, return_complex=True), 8, window=b + 0j)", [SIGNAL, WINDOW]),
    ("T.vander(a.detach())", [(3,)]), ("T.vander(a.detach(), 5, True)", [(3,)]),
    ("T.vander(a.detach(), 0)", [(3,)]), ("T.vander(b, 4)", [(3,), [1, 2]]),
    ("T.vander(a.char() * 9, 4)", [[3, 2]]), ("T.vander(a.byte() * 0, 0)", [(3,)]), ("T.vander(a, -1)", [(3,)]), ("T.vander(a)", [(2, 3)]),
])
def test_results_and_refusals(text, shapes):
    same(text, *shapes, tolerance=1e-4)


def test_a_signal_that_is_too_short_is_filled():
    import jtensor
    window, signal = jtensor.ones(4), jtensor.arange(8.0)
    with pytest.warns(UserWarning, match="The length of signal is shorter than the length parameter") as said:
        found = jtensor.istft(signal.stft(4, window=window, return_complex=True), 4, window=window, length=12)
    assert said[0].filename == __file__ and found.round().tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 6, 5, 0, 0]
