"""The loss of connectionist temporal classification: its arguments, PyTorch's refusals, its reductions."""
import math

import jtensor

from ...tensor import raw
from .. import _reduction

__all__ = ["ctc_loss"]


def _lengths(given, name):
    if not isinstance(given, jtensor.Tensor):
        return list(given)
    if given.is_floating_point() or given.is_complex():
        raise RuntimeError(f"{name} must be integral")
    return given.reshape(-1).tolist()


def _check_ctc(log_probs, targets, input_lengths, target_lengths, blank):
    where = " (while checking arguments for ctc_loss_allocate_outputs)"
    steps, batch, classes = log_probs.shape
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for lengths, name in ((input_lengths, "input_lengths"), (target_lengths, "target_lengths")):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    for lengths, name in ((target_lengths, "target_lengths"), (input_lengths, "input_lengths")):
        if lengths is input_lengths:
            _check_labels(targets, target_lengths, batch, where)
        for n in lengths:
            if n < 0:
                raise RuntimeError(f"Expected {name} to have value at least 0, but got value {n}{where}")
            if lengths is input_lengths and n > steps:
                raise RuntimeError(f"Expected {name} to have value at most {steps}, but got value {n}{where}")


def _check_labels(targets, target_lengths, batch, where):
    wanted, found = (sum(target_lengths) if targets.dim() == 1 else batch), targets.size(0)
    if found != wanted:
        raise RuntimeError(f"Expected tensor to have size {wanted} at dimension 0, but got size {found} for argument #2 'targets'{where}")
    most = max(target_lengths, default=0)
    if targets.dim() > 1 and targets.size(1) < most:
        raise RuntimeError(f"Expected tensor to have size at least {most} at dimension 1, but got size {targets.size(1)} for argument #2 "
                           f"'targets'{where}")


def _side_by_side(targets, lengths):
    """Joined labels as rows, one a sample."""
    rows, start = [], 0
    for n in lengths:
        rows.append([min(start + at, max(targets.numel() - 1, 0)) for at in range(max(lengths))])
        start += n
    return targets[jtensor.tensor(rows, dtype=jtensor.int64)] if targets.numel() else targets.new_zeros(len(lengths), 0)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Connectionist temporal classification: log-probabilities ``(T, N, C)``, targets ``(N, S)`` or joined, and their lengths.

    The mean is taken of each sample's loss over its target's length.
    """
    code = _reduction.get_enum(reduction)
    is_batched = log_probs.dim() == 3
    if not is_batched:
        log_probs = log_probs.unsqueeze(1)
        if targets.dim() == 1:
            targets = targets.unsqueeze(0)
    input_lengths, target_lengths = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    _check_ctc(log_probs, targets, input_lengths, target_lengths, blank)
    if targets.dim() == 1:
        targets = _side_by_side(targets, target_lengths)
    device = log_probs.device
    loss = raw._ctc_loss(log_probs, targets.to(device, jtensor.int64), jtensor.tensor(input_lengths, device=device),
                            jtensor.tensor(target_lengths, device=device), blank, bool(zero_infinity))
    if zero_infinity:
        loss = jtensor.where(loss == math.inf, jtensor.zeros_like(loss), loss)
    if code == 1:
        lengths = jtensor.tensor([max(1, n) for n in target_lengths], dtype=loss.dtype, device=loss.device)
        return (loss / lengths).mean()
    if code == 2:
        return loss.sum()
    return loss if is_batched else loss.squeeze(0)
