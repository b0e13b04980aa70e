"""Initialisation of parameters, in place and outside of autograd.

The numbers come from the tensors' own ``uniform_`` and ``normal_``, in the order and with the constants that PyTorch has.
"""
import math
import warnings

import numpy as np

import jtensor

from ..tensor.core import Tensor as Tensor

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_", "xavier_uniform_",
    "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_", "uniform", "normal", "constant", "eye",
    "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse",
]

_GAINS = {"linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1, "conv_transpose3d": 1,
          "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    """The factor by which weights before a nonlinearity are scaled; ``param``: the slope of "leaky_relu".

    >>> import jtensor as torch
    >>> torch.nn.init.calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor):
    """The numbers of connections into and out of a unit: sizes 1 and 0 times those of the kernel."""
    shape = tuple(tensor.shape)
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *kernel = shape
    kernel = math.prod(kernel)
    return inputs * kernel, outputs * kernel


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


# ------------------------------------------------------------------------------------------------------ simple fillings

# What is done is apart from what is asked of it, as in PyTorch, whose names scripts take.

def _no_grad_uniform_(tensor, a, b, generator=None):
    with jtensor.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor, mean, std, generator=None):
    with jtensor.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor, val):
    with jtensor.no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor):
    with jtensor.no_grad():
        return tensor.zero_()


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Draws from the uniform distribution on [a, b).

    >>> import jtensor as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.uniform_(torch.empty(2), 1, 2)
    tensor([1.4963, 1.7682])
    """
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Draws from the normal distribution.

    >>> import jtensor as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.normal_(torch.empty(2), 1, 0.5)
    tensor([1.7705, 0.8533])
    """
    return _no_grad_normal_(tensor, mean, std, generator)


def constant_(tensor, val):
    """Fills with a number.

    >>> import jtensor as torch
    >>> torch.nn.init.constant_(torch.empty(2), 0.3)
    tensor([0.3000, 0.3000])
    """
    return _no_grad_fill_(tensor, val)


def ones_(tensor):
    """Fills with ones.

    >>> import jtensor as torch
    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor):
    """Fills with zeros.

    >>> import jtensor as torch
    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    return _no_grad_zero_(tensor)


def eye_(tensor):
    """Makes a matrix the identity (as far as it goes). ValueError for anything but two dimensions.

    >>> import jtensor as torch
    >>> torch.nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with jtensor.no_grad():
        return tensor.copy_(jtensor.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor, groups=1):
    """Makes a convolution's weight pass as many channels through as it can, within each of ``groups``.

    >>> import jtensor as torch
    >>> torch.nn.init.dirac_(torch.empty(2, 2, 3))[:, :, 1]
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs, *kernel = tensor.size()
    if outputs % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    middle, each = tuple(size // 2 for size in kernel), outputs // groups
    with jtensor.no_grad():
        tensor.zero_()
        for group in range(groups):
            for i in range(min(each, inputs)):
                tensor[(group * each + i, i, *middle)] = 1
    return tensor


# ------------------------------------------------------------------------------------------------------- scaled by fan

def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Glorot's uniform initialisation: the variance is ``gain² 2 / (fan_in + fan_out)``.

    >>> import jtensor as torch
    >>> bool((torch.nn.init.xavier_uniform_(torch.empty(4, 2)).abs() <= 1).all())
    True
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Glorot's normal initialisation.

    >>> import jtensor as torch
    >>> torch.nn.init.xavier_normal_(torch.empty(4, 2)).shape
    torch.Size([4, 2])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _is_empty(tensor):
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's uniform initialisation: the variance is ``gain² / fan``; ``a``: the slope of a leaky ReLU.

    >>> import jtensor as torch
    >>> bool((torch.nn.init.kaiming_uniform_(torch.empty(4, 6), nonlinearity="relu").abs() <= 1).all())
    True
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's normal initialisation.

    >>> import jtensor as torch
    >>> torch.nn.init.kaiming_normal_(torch.empty(4, 6), mode="fan_out").shape
    torch.Size([4, 6])
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


# ------------------------------------------------------------------------------------------------------------- the rest

def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Draws from the normal distribution cut off to [a, b]; looks at the values to see whether it has to draw again.

    >>> import jtensor as torch
    >>> bool((torch.nn.init.trunc_normal_(torch.empty(100), std=2.0, a=-1, b=1).abs() <= 1).all())
    True
    """
    return _no_grad_trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_trunc_normal_(tensor, mean, std, a, b, generator=None):
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
                      stacklevel=3)

    def below(x):
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    with jtensor.no_grad():
        if below(b) - below(a) > 0.3:
            return _redraw_outside(tensor, mean, std, a, b, generator)
        return _reject_uniform(tensor, mean, std, a, b, generator)


def _redraw_outside(tensor, mean, std, a, b, generator):
    """Normal numbers; wherever one lies outside, it is taken from another whole tensor of them."""
    low, high = (tensor.new_tensor(bound, device="cpu").item() for bound in (a, b))
    tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (tensor < low) | (tensor > high)
        if not outside.any():
            return tensor
        tensor.copy_(jtensor.where(outside, jtensor.empty_like(tensor).normal_(mean, std, generator=generator), tensor))


def _reject_uniform(tensor, mean, std, a, b, generator):
    """Uniform numbers, each kept with the probability that the density there has of its peak; the others drawn again."""
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    candidates, chances = jtensor.empty_like(tensor), jtensor.empty_like(tensor)
    pending = None
    while True:
        candidates.uniform_(a, b, generator=generator)
        tensor.copy_(candidates if pending is None else jtensor.where(pending, candidates, tensor))
        candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        rejected = chances.uniform_(generator=generator).log_().gt(candidates)
        pending = rejected if pending is None else jtensor.where(pending, rejected, pending)
        if not pending.any():
            return tensor


def _orthogonal_columns(drawn):
    """The Q of a matrix, each column's sign such that R's diagonal is positive, which makes it uniformly distributed.

    Computed on the host, where the numbers were drawn.
    """
    if drawn.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise RuntimeError(f"\"geqrf_cpu\" not implemented for '{'Half' if drawn.dtype.name == 'float16' else 'BFloat16'}'")
    q, r = np.linalg.qr(drawn)
    return np.ascontiguousarray(q * np.sign(np.diagonal(r)))


def orthogonal_(tensor, gain=1, generator=None):
    """Makes a matrix (all dimensions but the first taken as one) orthogonal in its rows or columns, times ``gain``.

    >>> import jtensor as torch
    >>> q = torch.nn.init.orthogonal_(torch.empty(2, 3))
    >>> (q @ q.t()).round().abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    with jtensor.no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        wide = rows < columns
        q = _orthogonal_columns((drawn.t() if wide else drawn).cpu().numpy())
        tensor.copy_(jtensor.from_numpy((q.T if wide else q).reshape(tuple(tensor.shape))))
        return tensor.mul_(gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, with the fraction ``sparsity`` of every column set to zero at places of the default generator's choice.

    >>> import jtensor as torch
    >>> (torch.nn.init.sparse_(torch.empty(4, 3), 0.5) == 0).sum(0)
    tensor([2, 2, 2])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.is_meta:
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with jtensor.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[jtensor.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function):
    new = function.__name__
    old = new[:-1]

    def deprecated(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    deprecated.__name__ = deprecated.__qualname__ = old
    deprecated.__doc__ = f"Deprecated name of ``{new}``."
    return deprecated


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
