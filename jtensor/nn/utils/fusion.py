"""Batch normalisation in evaluation, taken into the weights of the layer before it."""
import copy

import jtensor

from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused_weights(weight, bias, mean, variance, eps, scale, shift, shape):
    """The weight, seen in ``shape``, times the normalisation's factor; the bias, normalised."""
    bias = jtensor.zeros_like(mean) if bias is None else bias
    scale = jtensor.ones_like(mean) if scale is None else scale
    shift = jtensor.zeros_like(mean) if shift is None else shift
    factor = scale * jtensor.rsqrt(variance + eps)
    fused = (weight * factor.reshape(shape)).to(dtype=weight.dtype), ((bias - mean) * factor + shift).to(dtype=bias.dtype)
    return Parameter(fused[0], weight.requires_grad), Parameter(fused[1], bias.requires_grad)


def _fuse(layer, bn, fuse_weights, **options):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    running = bn.running_mean, bn.running_var, bn.eps
    fused.weight, fused.bias = fuse_weights(fused.weight, fused.bias, *running, bn.weight, bn.bias, **options)
    return fused


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of the convolution that does what it and the normalisation behind it do. AssertionError where one of them trains."""
    return _fuse(conv, bn, fuse_conv_bn_weights, transpose=transpose)


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """The fused weight and bias, as parameters; output channels are the second dimension of a transposed convolution's weight."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear, bn):
    """A copy of the linear layer that does what it and the normalisation behind it do; their numbers of features have to agree."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
                             f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    return _fuse(linear, bn, fuse_linear_bn_weights)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """The fused weight and bias, as parameters."""
    return _fused_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))
