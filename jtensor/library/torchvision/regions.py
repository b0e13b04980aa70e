"""`torch.ops.torchvision`: non-maximum suppression, pooling of regions, deformable convolution.

Owns: the schemas, and what is checked before an operator runs; each is a function of the rooms beside this one, and has the gradients of
what it is made of.
"""
from ...base.errors import missing
from ..libraries import written_anew
from . import boxes, deformed, pooled

_POOLED = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_DEFORMED = ("Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
             "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask")


def _quantised(name):
    def refuse(*args):
        raise missing(f"quantised tensors (torchvision::{name})", f"the operator for floating point ones, torchvision::{name[1:]}")
    return refuse


written_anew("torchvision", {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": boxes.nms,
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor": boxes.box_iou_rotated,
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": _quantised("qnms"),
    f"roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio, bool aligned) -> Tensor": pooled.roi_align,
    f"_roi_align_backward(Tensor grad, Tensor rois, {_POOLED}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor":
        pooled.roi_align_backward,
    f"qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, int rois_zero_point, {_POOLED}, "
    "int sampling_ratio, bool aligned) -> Tensor": _quantised("qroi_align"),
    f"roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)": pooled.roi_pool,
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_POOLED}, {_SIZES}) -> Tensor": pooled.roi_pool_backward,
    f"ps_roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio) -> (Tensor, Tensor)": pooled.ps_roi_align,
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, int sampling_ratio, {_SIZES}) -> Tensor":
        pooled.ps_roi_align_backward,
    f"ps_roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)": pooled.ps_roi_pool,
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, {_SIZES}) -> Tensor": pooled.ps_roi_pool_backward,
    f"deform_conv2d({_DEFORMED}) -> Tensor": deformed.deform_conv2d,
    f"_deform_conv2d_backward(Tensor grad, {_DEFORMED}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)": deformed.deform_conv2d_backward,
    "_cuda_version() -> int": lambda: -1,
})
