"""Short-time Fourier transforms and their inverse, made of windows of a signal and `fourier`'s operators.

Owns: `stft` and `istft`: their frames, their windows, their refusals. May not know: how a spectrum is computed.
"""

import jax.numpy as jnp
import numpy as np

from ...base import dtypes, sites
from ...base.sites import warn_once
from ..operator import RAW, Tensor, op
from ..registry import composite


def _described(t):
    kind = {"float32": "Float", "float64": "Double"}.get(t.dtype.name) or dtypes.scalar_name(t._spec.dtype)
    return f"torch.{kind}Tensor"


def _refused(input, n_fft, hop, width, window, normalized, onesided, return_complex, align_to_window, reason):
    window = "None" if window is None else f"{_described(window)}{{{list(window.shape)}}}"
    onesided, align = ("None" if flag is None else int(flag) for flag in (onesided, align_to_window))
    return RuntimeError(f"stft({_described(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={width}, "
                        f"window={window}, normalized={int(normalized)}, onesided={onesided}, return_complex={int(return_complex)}, "
                        f"align_to_window={align}) : {reason}")


def _reason(input, n_fft, hop, width, window):
    """What is wrong with the arguments, or None."""
    if not (input.is_floating_point() or input.is_complex()):
        return "expected a tensor of floating point or complex values"
    if input.dim() not in (1, 2):
        return "expected a 1D or 2D tensor"
    if not 0 < n_fft <= input.size(-1):
        return f"expected 0 < n_fft < {input.size(-1)}, but got n_fft={n_fft}"
    if hop <= 0:
        return f"expected hop_length > 0, but got hop_length={hop}"
    if not 0 < width <= n_fft:
        return f"expected 0 < win_length <= n_fft, but got win_length={width}"
    if window is not None and (window.dim() != 1 or window.size(0) != width):
        return f"expected a 1D window tensor of size equal to win_length={width}, but got window with size {list(window.shape)}"
    return None


@composite()
def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
         return_complex=None, align_to_window=None):
    """The Fourier transforms of windows of a signal ``(*, T)``, ``hop_length`` (by default a quarter window) apart: ``(*, F, windows)``.

    ``center``: the signal is padded, so that window ``t`` is centred at ``t * hop_length``. Of real signals the first ``n_fft // 2 + 1``
    frequencies are given unless ``onesided=False``. Real signals need ``return_complex``; False gives pairs of real numbers.

    >>> torch.stft(torch.ones(8), 4, window=torch.ones(4), return_complex=True).abs()[:, 0]
    tensor([4., 0., 0.])
    """
    import jtensor
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center and input.dim() in (1, 2, 3):
        pad, lead = int(n_fft // 2), (1,) * (3 - input.dim())
        padded = jtensor.nn.functional.pad(input.view(*lead, *input.shape), [pad, pad], pad_mode)
        input = padded.view(padded.shape[-input.dim():])
    if window is None:
        warn_once("A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. "
                   "Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage."
                   "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`.")
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if return_complex is None:
        if not (input.is_complex() or window is not None and window.is_complex()):
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that "
                               "return_complex=True in a future PyTorch release.")
        return_complex = True
    reason = _reason(input, n_fft, hop, width, window)
    if reason is not None:
        raise _refused(input, n_fft, hop, width, window, normalized, onesided, return_complex, align_to_window, reason)
    if not return_complex:
        warn_once("stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all "
                   "inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex "
                   "output to recover the old return format.")
    return _transformed(input, n_fft, hop, width, window, normalized, onesided, return_complex)


def _widened(window, width, n_fft, dtype, device):
    """A window with zeros on both sides, as wide as a frame; of ones where there is none."""
    import jtensor
    if window is None:
        window = jtensor.ones(width, dtype=dtype, device=device)
    left = (n_fft - width) // 2
    return jtensor.nn.functional.pad(window, [left, n_fft - width - left]) if width < n_fft else window


def _transformed(input, n_fft, hop, width, window, normalized, onesided, return_complex):
    import jtensor
    window = _widened(window, width, n_fft, input.dtype, input.device)
    alone = input.dim() == 1
    frames = (input.unsqueeze(0) if alone else input).unfold(-1, n_fft, hop) * window
    onesided = not frames.is_complex() if onesided is None else onesided
    if onesided and frames.is_complex():
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    norm = "ortho" if normalized else None
    found = (jtensor.fft.rfft(frames, norm=norm) if onesided else jtensor.fft.fft(frames, norm=norm)).transpose_(1, 2)
    found = found.squeeze_(0) if alone else found
    return found if return_complex else jtensor.view_as_real(found)


# -- the inverse ------------------------------------------------------------------------------------------------------

@op(name="unfold_backward", backward="UnfoldBackwardBackward0", saves=(), **RAW)
def overlapped(grad_in: Tensor, length, hop):
    """Windows ``(*, windows, width)`` added where they lie in a signal of ``length``, ``hop`` apart."""
    windows, width = grad_in.shape[-2:]
    places = np.arange(windows)[:, None] * hop + np.arange(width)
    return jnp.zeros((*grad_in.shape[:-2], length), grad_in.dtype).at[..., places].add(grad_in, mode="promise_in_bounds")


def _why_not(input, n_fft, hop, width, window, onesided):
    """What is wrong with the arguments of an inverse, or None."""
    frequencies, dims = input.size(-2) if input.dim() > 1 else 0, input.dim() + 1
    if not input.numel():
        return "input tensor cannot be empty."
    if dims not in (3, 4):
        return f"expected a tensor with 3 or 4 dimensions, but got {dims}"
    wanted = "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft"
    if onesided and frequencies != n_fft // 2 + 1:
        return f"{wanted} / 2 + 1 when onesided=True, but got {frequencies}"
    if not onesided and frequencies != n_fft:
        return f"{wanted} when onesided=False, but got {frequencies}"
    if not 0 < hop <= width:
        return "expected 0 < hop_length <= win_length"
    if not 0 < width <= n_fft:
        return "expected 0 < win_length <= n_fft"
    if window is not None and (window.dim() != 1 or window.size(0) != width):
        return "Invalid window shape. window has to be 1D and length of `win_length`"
    return None


@composite(asked=True)
def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
          return_complex=False):
    """The signal ``(*, T)`` whose `stft` is ``(*, F, windows)``: windows transformed back, added, and divided by the windows' squares.

    The arguments are those that `stft` had; ``length`` cuts the signal, or fills it with zeros. RuntimeError where the windows leave a
    place of the signal out.

    >>> spectrum = torch.stft(torch.arange(8.), 4, window=torch.ones(4), return_complex=True)
    >>> torch.istft(spectrum, 4, window=torch.ones(4)).round()
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if window is None:
        warn_once("A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to make "
                   "the inversion lossless.To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, "
                   "device=<device>)`.")
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    one = input.dim() > 1 and input.size(-2) != n_fft if onesided is None else onesided

    def refused(reason):
        shown = "None" if window is None else f"{_described(window)}{{{list(window.shape)}}}"
        side, cut = ("None" if given is None else int(given) for given in (onesided, length))
        return RuntimeError(f"istft(CPU{dtypes.scalar_name(input._spec.dtype)}Type{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, "
                            f"win_length={width}, window={shown}, center={int(center)}, normalized={int(normalized)}, onesided={side}, "
                            f"length={cut}, return_complex={int(return_complex)}) {reason}")
    reason = _why_not(input, n_fft, hop, width, window, one)
    if reason is not None:
        raise refused(": " + reason)
    return _restored(input, n_fft, hop, width, window, center, normalized, one, length, return_complex, refused)


def _restored(input, n_fft, hop, width, window, center, normalized, onesided, length, return_complex, refused):
    import jtensor
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    window = _widened(window, width, n_fft, input.dtype.to_real(), input.device)
    alone = input.dim() == 2
    parts = jtensor.view_as_real(input.resolve_conj())
    frames = jtensor.view_as_complex((parts.unsqueeze(0) if alone else parts).transpose(1, 2))
    norm = "ortho" if normalized else None
    if return_complex:
        frames = jtensor.fft.ifft(frames, norm=norm)
    else:
        frames = jtensor.fft.irfft(frames if onesided else frames[..., :n_fft // 2 + 1], n_fft, norm=norm)
    whole = n_fft + hop * (frames.size(1) - 1)
    signal = overlapped(frames * window.view(1, 1, n_fft), whole, hop)
    envelope = overlapped(window.pow(2).expand(1, frames.size(1), n_fft), whole, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - start
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    if bool(envelope.abs().min() < 1e-11):
        raise refused("window overlap add min: 1\n[ CPUBoolType{} ]")
    signal = signal / envelope
    signal = signal.squeeze(0) if alone else signal
    if end <= whole:
        return signal
    sites.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please check "
               "your center and hop_length settings.")
    return jtensor.nn.functional.pad(signal, [0, end - whole])
