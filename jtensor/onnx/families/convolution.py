"""Convolutions. Owns: how they are written as ONNX."""
from ..table import aten, fixed


@aten("_convolution", "convolution")
def _convolution(graph, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    fixed(stride, padding, dilation, output_padding)
    settings = {"strides": stride, "pads": [*padding, *padding], "dilations": dilation, "group": groups}
    if weight.shape is not None and None not in weight.shape[2:]:
        settings["kernel_shape"] = list(weight.shape[2:])
    given = [input, weight] if bias is None else [input, weight, bias]
    if not transposed:
        return graph.op("Conv", *given, **settings)
    return graph.op("ConvTranspose", *given, **settings, **({"output_padding": output_padding} if any(output_padding) else {}))
