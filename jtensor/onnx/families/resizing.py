"""Images of another size, and places in images. Owns: how such operators are written as ONNX."""
from ...base import dtypes
from ..table import Refused, aten, since
from ..writing import constant


def _upsample(name, mode):
    def write(graph, input, output_size=None, scale_factors=None, align_corners=False):
        settings = {"mode": mode, "coordinate_transformation_mode": "asymmetric" if mode == "nearest" else
                    "align_corners" if align_corners else "half_pixel"}
        if mode == "nearest":
            settings["nearest_mode"] = "floor"
        if mode == "cubic":
            settings["cubic_coeff_a"] = -0.75
        if output_size is not None:
            sizes = graph.vector([*graph.sizes(input)[:2], *output_size])
            return graph.op("Resize", input, None, None, sizes, **settings)
        if not scale_factors:
            raise Refused("without a size")
        scales = constant([1.0, 1.0, *scale_factors], dtypes.float32)
        return graph.op("Resize", input, None, scales, **settings)
    aten(name)(write)


for _name, _mode in (("nearest1d", "nearest"), ("nearest2d", "nearest"), ("nearest3d", "nearest"), ("linear1d", "linear"),
                     ("bilinear2d", "linear"), ("trilinear3d", "linear"), ("bicubic2d", "cubic")):
    _upsample("upsample_" + _name, _mode)


@aten("grid_sampler")
def _grid_sampler(graph, input, grid, interpolation_mode, padding_mode, align_corners):
    since(graph, 16)
    if input.rank != 4:
        since(graph, 20)
    modes = ("linear", "nearest", "cubic") if graph.opset >= 20 else ("bilinear", "nearest", "bicubic")
    return graph.op("GridSample", input, grid, mode=modes[interpolation_mode], padding_mode=("zeros", "border", "reflection")[padding_mode],
                    align_corners=int(align_corners))


@aten("affine_grid_generator")
def _affine_grid(graph, theta, size, align_corners):
    since(graph, 20)
    return graph.op("AffineGrid", theta, graph.vector(size), align_corners=int(align_corners))
