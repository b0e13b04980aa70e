"""Keeping gradients within bounds."""
import types
import warnings

import jtensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _listed(tensors):
    return [tensors] if isinstance(tensors, jtensor.Tensor) else list(tensors)


def _check_foreach(foreach, tensors):
    """``foreach`` chooses between implementations, of which there is one here; PyTorch refuses it where it has no such kernel."""
    kinds = {t.device.type for t in tensors} - {"cpu", "cuda"} if foreach else ()
    for kind in kinds:
        raise RuntimeError(f"foreach=True was passed, but can't use the foreach API on {kind} tensors")


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors taken as one vector, as a tensor without dimensions."""
    tensors, norm_type = _listed(tensors), float(norm_type)
    if not tensors:
        return jtensor.tensor(0.0)
    _check_foreach(foreach, tensors)
    with jtensor.no_grad():
        device = tensors[0].device
        norms = [(jtensor.linalg.vector_norm if t.is_sparse else jtensor.norm)(t, norm_type).to(device) for t in tensors]
        total = jtensor.norm(jtensor.stack(norms), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
                           "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                           "`error_if_nonfinite=False`")
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Multiplies the gradients by ``max_norm / total_norm`` where that is below one."""
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    if not grads:
        return
    _check_foreach(foreach, grads)
    with jtensor.no_grad():
        # A factor of one multiplies as well: looking whether it is one would cost an observation.
        factor = jtensor.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in grads:
            grad.mul_(factor.to(grad.device))


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_          # which libraries ask for, too


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients together so that their norm is at most ``max_norm``; answers with the norm before that.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.zeros(2))
    >>> p.grad = torch.tensor([3., 4.])
    >>> torch.nn.utils.clip_grad_norm_([p], max_norm=10.)
    tensor(5.)
    """
    given = parameters
    parameters = _listed(given)
    if isinstance(given, types.GeneratorType) and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Deprecated name of ``clip_grad_norm_``."""
    warnings.warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning,
                  stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Cuts every element of the gradients off at ±``clip_value``."""
    clip_value = float(clip_value)
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    _check_foreach(foreach, grads)
    with jtensor.no_grad():
        for grad in grads:
            grad.clamp_(min=-clip_value, max=clip_value)
