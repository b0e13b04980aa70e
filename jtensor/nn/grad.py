"""`torch.nn.grad`: the gradients of convolutions as functions. Owns: nothing; they are what backward computes."""
import jtensor

from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(conv, size, at, other, grad_output, settings):
    """The gradient of a convolution by its first argument (``at`` 0) or its second, which is of this size."""
    wanted = jtensor.is_grad_enabled() and (other.requires_grad or grad_output.requires_grad)
    with jtensor.enable_grad():
        leaf = jtensor.zeros(size, dtype=other.dtype, device=other.device, requires_grad=True)
        out = conv(*((leaf, other) if at == 0 else (other, leaf)), None, *settings)
    return jtensor.autograd.grad(out, leaf, grad_output, create_graph=wanted)[0]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of `conv1d` by its input.

    >>> torch.nn.grad.conv1d_input((1, 1, 3), torch.tensor([[[1., 2.]]]), torch.ones(1, 1, 2))
    tensor([[[1., 3., 2.]]])
    """
    return _gradient(F.conv1d, input_size, 0, weight, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of `conv1d` by its weight."""
    return _gradient(F.conv1d, weight_size, 1, input, grad_output, (stride, padding, dilation, groups))


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of `conv2d` by its input."""
    return _gradient(F.conv2d, input_size, 0, weight, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of `conv2d` by its weight."""
    return _gradient(F.conv2d, weight_size, 1, input, grad_output, (stride, padding, dilation, groups))


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of `conv3d` by its input."""
    return _gradient(F.conv3d, input_size, 0, weight, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of `conv3d` by its weight."""
    return _gradient(F.conv3d, weight_size, 1, input, grad_output, (stride, padding, dilation, groups))
