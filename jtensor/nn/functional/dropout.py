"""Dropout in all its forms. Its noise is drawn and scaled on the host, so its numbers are the generator's."""
import math
import warnings

import jtensor

from ...base.errors import real_only
from ...base.naming import type_name
from ...tensor import raw
from ._given import Tensor, refuse, refuse_number

__all__ = ["dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_ALPHA = 1.7580993408473766  # minus SELU's value at minus infinity


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _feature_noise(input):
    """A tensor with one element a sample and channel, all other dimensions of size 1."""
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return input.new_empty((input.size(0), input.size(1)) + (1,) * (input.dim() - 2))


def _dropped(input, p, train, inplace, features=False, alpha=False):
    """The one implementation: ``features`` drops whole channels, ``alpha`` keeps mean and variance of SELU networks."""
    if train is not True and train is not False or p.__class__ is not float:
        _odd(p, train, ("feature_" if features else "") + ("alpha_" if alpha else "") + "dropout" + ("_" if inplace else ""))
    if p == 0 or not train or input.numel() == 0:
        return input
    if p != p:                                                        # what neither of the bounds has refused
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 1:
        nothing = jtensor.zeros((), dtype=input.dtype, device=input.device)
        return input.mul_(nothing) if inplace else input.mul(nothing)
    template, shift = _feature_noise(input) if features else input, None
    noise = jtensor.random.draws.dropout_noise(template, p)
    if alpha:
        noise = noise.ne(0).to(noise.dtype)
        a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
        shift = noise.add(-1).mul_(_ALPHA * a).add_(_ALPHA * a * p)
        noise.mul_(a)
    kept = input.mul_(noise) if inplace else input.mul(noise)
    return kept if shift is None else kept.add_(shift)


def _odd(p, train, kernel):
    """Refuses what PyTorch's kernel does not take for its two arguments."""
    refuse_number(kernel, "p", 2, p)
    if not isinstance(train, bool):
        raise TypeError(f"{kernel}(): argument 'train' (position 3) must be bool, not {type_name(type(train))}")


def dropout(input, p=0.5, training=True, inplace=False):
    """While training, zeroes each element with probability ``p`` and scales the others by ``1 / (1 - p)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.dropout(torch.ones(2), training=False)
    tensor([1., 1.])
    """
    _check(p)
    if not isinstance(input, Tensor):
        refuse("dropout", input=input)
    return _dropped(input, p, training, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout to SELU's negative saturation value, mean and variance kept."""
    _check(p)
    if not isinstance(input, Tensor):
        refuse("alpha_dropout" + "_" * bool(inplace), input=input)
    return _dropped(input, p, training, inplace, alpha=True)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """``alpha_dropout`` of whole channels."""
    _check(p)
    if not isinstance(input, Tensor):
        refuse("feature_alpha_dropout" + "_" * bool(inplace), input=input)
    return _dropped(input, p, training, inplace, features=True, alpha=True)


def _features_of(input, p, training, inplace, is_batched):
    if is_batched:
        return _dropped(input, p, training, inplace, features=True)
    input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _dropped(input, p, training, inplace, features=True)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of ``(N, C, L)`` or ``(C, L)``."""
    _check(p)
    dims = input.dim()
    if dims not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {dims}D input. Note that dropout1d exists to "
                           "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an "
                           "optional batch dimension (i.e. 2D or 3D inputs).")
    return _features_of(input, p, training, inplace, dims == 3)


def _warn_of_dims(name, dims, spatial, allowed):
    warnings.warn(f"{name}: Received a {dims}-D input to {name}, which is deprecated and will result in an error in a future "
                  "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
                  f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
                  f"dimension, and an optional batch dimension (i.e. {allowed} inputs).", stacklevel=3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of ``(N, C, H, W)``; three dimensions are taken as ``(N, C, L)``, with a warning."""
    _check(p)
    dims = input.dim()
    if dims not in (3, 4):
        _warn_of_dims("dropout2d", dims, 2, "3D or 4D")
    if dims == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
                      "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
                      "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
                      "the 1D channel-wise dropout behavior, please switch to using dropout1d instead.", stacklevel=2)
    return _dropped(input, p, training, inplace, features=True)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""
    _check(p)
    dims = input.dim()
    if dims not in (4, 5):
        _warn_of_dims("dropout3d", dims, 3, "4D or 5D")
    return _features_of(input, p, training, inplace, dims == 5)


def feature_dropout(input, p, train, inplace=False):
    """Dropout of whole channels of ``(N, C, *)``, without a look at the number of dimensions."""
    _check(p)
    return _dropped(input, p, train, inplace, features=True)


def native_dropout(input, p, train):
    """(``dropout``, the mask of what was kept). ``train`` None counts as true, though not for the gradient, as in PyTorch."""
    if input.numel() == 0:
        return input, jtensor.empty_like(input)
    drawn = train is None or bool(train)
    mask = jtensor.empty_like(input, dtype=jtensor.bool).bernoulli_(1 - p) if drawn else jtensor.ones_like(input, dtype=jtensor.bool)
    scale = 1.0 if not drawn else 0.0 if p == 1 else 1.0 / (1 - p)
    if input.is_complex() and input.requires_grad and jtensor.is_grad_enabled():             # after it has drawn, as in PyTorch
        raise real_only("native_dropout")
    if drawn and not input.is_floating_point() and not input.is_complex():
        return (input * mask).mul_(scale), mask
    return raw.native_dropout(input, mask, scale, scale if train else 1.0), mask
