"""What convolutions refuse: sizes, settings and types that do not fit, in the words of whoever computes them in PyTorch.

Owns: the check of `conv.convolution`, and what oneDNN would take. May not know: bodies.
"""
import math

from ...base import dtypes
from .numeric import legacy_type, not_implemented


def _check_signs(stride, padding, dilation, output_padding, transposed):
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in output_padding):
        raise RuntimeError("negative output_padding is not supported")
    if any(d <= 0 for d in dilation):
        if len(dilation) == 1:
            raise RuntimeError("dilation should be greater than zero" if dilation[0] else "non-positive dilation is not supported")
        shown = ", ".join([f"dilation_{name}: {d}" for name, d in zip(_SIDES[-len(dilation):], dilation)]) if transposed else list(dilation)
        raise RuntimeError(f"dilation should be greater than zero, but got {shown}")


def _check_kernel(input, weight, transposed, groups):
    """A kernel without elements: PyTorch refuses it where the convolution is worked out, in the words of who does."""
    kernel, n = list(weight.size[2:]), weight.ndim - 2
    if transposed and not weight.size[1]:
        raise RuntimeError(f"non-empty {'5D' if n == 3 else '2D or 4D'} weight tensor expected, but got: {list(weight.size)}")
    if all(kernel):
        return
    if groups > 1 or n == 1 and input.dtype is dtypes.float32 and input.size[0] > 1:
        raise RuntimeError(f"could not create a primitive descriptor for the {'de' * transposed}convolution forward propagation primitive. "
                           "Run workload with environment variable ONEDNN_VERBOSE=all to get additional diagnostic information.")
    if n == 3 and transposed:
        raise RuntimeError("non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) tensor expected "
                           f"for weight, but got: {list(weight.size)}")
    if n == 3:
        raise RuntimeError(f"kernel size should be greater than zero, but got: {' x '.join(map(str, kernel))} (TxHxW)")
    height, width = [1] * (2 - n) + kernel
    raise RuntimeError(f"kernel size should be greater than zero, but got kernel_height: {height} kernel_width: {width}")


_SIDES = ("depth", "height", "width")


def _check_settings(n, stride, padding, dilation, output_padding):
    for name, value in (("stride", stride), ("padding", padding), ("dilation", dilation), ("output_padding", output_padding)):
        if len(value) not in (1, n):
            raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, "
                               f"but got {name}={list(value)}")


def check_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    n = weight.ndim - 2
    if n <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    _check_settings(n, stride, padding, dilation, output_padding)
    if input.ndim != weight.ndim:
        raise RuntimeError(f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.size)}, but got "
                           f"{input.ndim}-dimensional input of size {list(input.size)} instead")
    _check_signs(stride, padding, dilation, output_padding, transposed)
    if bias is not None and bias.dtype is not input.dtype and not transposed:
        raise RuntimeError(f"Input type ({dtypes.cpp_name(input.dtype)}) and bias type ({dtypes.cpp_name(bias.dtype)}) should be the same")
    if weight.size[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
                           f"{list(weight.size)} instead")
    if weight.size[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
                           f"[{list(weight.size)}] instead")
    (_check_transposed if transposed else _check_plain)(input, weight, bias, padding, dilation, stride, output_padding, groups)
    if not all(input.size[2:]):
        shown = [*input.size[:2], *[1] * (n == 1), *input.size[2:]]           # one dimension is worked out as two
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shown}")
    same = input.dtype is weight.dtype
    if same:
        _check_kernel(input, weight, transposed, groups)
    if input.dtype.category < 2 and input.dtype is not dtypes.int64 and input.numel:
        _check_whole(input.dtype, weight.size[2:], stride, padding, dilation, transposed)
    if not same:
        _refuse_type("weight", input, weight, weight, groups)
    if bias is not None and bias.dtype is not input.dtype:
        _refuse_type("bias", input, weight, bias, groups)


def _refuse_type(name, input, weight, other, groups):
    """Weight or bias (of a transposed one) of another type than the input, in the words of who would compute it."""
    text = f"Input type ({legacy_type(input.dtype)}) and {name} type ({legacy_type(other.dtype)}) should be the same"
    if input.dtype.is_complex:
        raise RuntimeError(text)
    flat = weight.ndim == 3                                        # one dimension is worked out as two
    large = input.dtype is dtypes.float32 and (groups > 1 or not flat and min(weight.size[-2:]) > 3 or input.size[0] > 1
                                               or math.prod(input.size[:4]) > 20480)
    if input.numel and (large or input.dtype in (dtypes.float16, dtypes.bfloat16)):
        raise RuntimeError(f"{text} or input should be a MKLDNN tensor and {name} is a dense tensor")
    if name == "bias" and weight.ndim < 5:
        raise RuntimeError(f"Input type ({dtypes.cpp_name(input.dtype)}) and bias type ({dtypes.cpp_name(other.dtype)}) should be the same")
    raise RuntimeError(f"expected scalar type {dtypes.scalar_name(input.dtype)} but found {dtypes.scalar_name(other.dtype)}")


def _check_whole(dtype, kernel, stride, padding, dilation, transposed):
    """Which kernels PyTorch has for integers: of int64 all, of the others the plain one, of bool none."""
    n = len(kernel)
    if transposed:
        raise not_implemented(f"slow_conv_transpose{max(n, 2)}d_out_cpu", dtype)
    if any(d > 1 for d in dilation):
        raise not_implemented("slow_conv_dilated<>", dtype)
    if dtype is dtypes.bool:
        columns = n == 3 and (any(k > 1 for k in kernel) or any(s > 1 for s in stride) or any(padding))
        raise not_implemented("compute_columns3d" if columns else f"slow_conv{max(n, 2)}d_cpu", dtype)


def _check_plain(input, weight, bias, padding, dilation, stride, output_padding, groups):
    channels = weight.size[1] * groups
    if input.size[1] != channels:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(weight.size)}, expected input{list(input.size)} to have "
                           f"{channels} channels, but got {input.size[1]} channels instead")
    _check_bias(weight, bias, weight.size[0])
    padded = [m + 2 * p for m, p in zip(input.size[2:], padding, strict=True)]
    kernel = [d * (k - 1) + 1 for k, d in zip(weight.size[2:], dilation, strict=True)]
    if any(k > m for k, m in zip(kernel, padded, strict=True)):
        raise RuntimeError(f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
                           f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size")


def _check_transposed(input, weight, bias, padding, dilation, stride, output_padding, groups):
    if input.size[1] != weight.size[0]:
        raise RuntimeError(f"Given transposed=1, weight of size {list(weight.size)}, expected input{list(input.size)} to have "
                           f"{weight.size[0]} channels, but got {input.size[1]} channels instead")
    _check_bias(weight, bias, weight.size[1] * groups, f"Given transposed=1, weight of size {list(weight.size)}, ")
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        flat = len(stride) == 1                                                   # one dimension is worked out as two
        text = " ".join(f"{what}_{name}: {v}" for what, values, none in (("output_padding", output_padding, 0), ("stride", stride, 1), (
            "dilation", dilation, 1)) for name, v in zip(_SIDES[-len(stride) - flat:], [*[none] * flat, *values], strict=True))
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {text}")
    out = [(m - 1) * s - 2 * p + d * (k - 1) + o + 1 for m, k, s, p, d, o in zip(
        input.size[2:], weight.size[2:], stride, padding, dilation, output_padding, strict=True)]
    if any(m < 1 for m in out) and all(input.size[2:]):
        given, made = (" x ".join(map(str, [*[1] * (len(out) == 1), *sizes])) for sizes in (input.size[2:], out))
        raise RuntimeError(f"Given input size per channel: ({given}). Calculated output size per channel: ({made}). Output size is too "
                           "small")


def _check_bias(weight, bias, channels, start=None):
    if bias is not None and (bias.ndim != 1 or bias.size[0] != channels):
        start = start or f"Given weight of size {list(weight.size)}, "
        raise RuntimeError(f"{start}expected bias to be 1-dimensional with {channels} elements, but got bias of size {list(bias.size)} "
                           "instead")


def taken_by_onednn(x, weight, settings):
    """Whether PyTorch hands a convolution of volumes to oneDNN: not in types it has no kernels for, nor a small one of a single sample."""
    if settings["transposed"] and any(o >= s for o, s in zip(settings["output_padding"], settings["stride"], strict=True)):
        return False
    if x.dtype.name not in ("float32", "complex64"):
        return x.dtype is dtypes.bfloat16
    return settings["groups"] > 1 or min(weight.size[-2:]) > 3 or x.size[0] > 1 or math.prod(x.size[:4]) > 20480
