"""torchvision's operators against loops over pixels, written from their papers and torchvision's documentation."""
import itertools
import math
import struct
import zlib

import chex
import numpy as np
import pytest

import jtensor

jtensor.ops.load_library("/somewhere/torchvision/_C.so")
jtensor.ops.load_library("/somewhere/torchvision/image.so")
vision, image = jtensor.ops.torchvision, jtensor.ops.image
RNG = np.random.default_rng(0)
ROIS = np.array([[0, 1.2, 0.7, 6.3, 4.9], [1, -2.0, -1.5, 3.0, 9.0], [1, 4.0, 4.0, 4.1, 4.2], [0, 9.5, 1.0, 12.0, 3.0]], np.float32)


def bilinear(picture, y, x, border=-1.0):
    """The value between four pixels; those outside are the edge's (or 0, where ``border`` is None)."""
    height, width = picture.shape
    if border is None:
        total = 0.0
        for row, column in itertools.product((math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)):
            if 0 <= row < height and 0 <= column < width:
                total += picture[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
        return total
    if not (border <= y <= height and border <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    return bilinear(picture, y, x, None)


def aligned_region(picture, roi, scale, bins, ratio, shift, least):
    left, top, right, bottom = (float(edge) * scale - shift for edge in roi)
    wide, high = max(right - left, least), max(bottom - top, least)
    found = np.zeros(bins)
    for row, column in np.ndindex(bins):
        tall, broad = high / bins[0], wide / bins[1]
        ys, xs = ratio if ratio > 0 else math.ceil(tall), ratio if ratio > 0 else math.ceil(broad)
        values = [bilinear(picture, top + row * tall + (i + 0.5) * tall / ys, left + column * broad + (j + 0.5) * broad / xs)
                  for i in range(ys) for j in range(xs)]
        found[row, column] = sum(values) / max(len(values), 1)
    return found


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(ratio, aligned):
    x = RNG.standard_normal((2, 3, 7, 9)).astype(np.float32)
    found = vision.roi_align(jtensor.tensor(x), jtensor.tensor(ROIS), 0.9, 2, 3, ratio, aligned)
    wanted = [[aligned_region(x[int(roi[0]), c], roi[1:], 0.9, (2, 3), ratio, 0.5 * aligned, -np.inf if aligned else 1.0)
               for c in range(3)] for roi in ROIS]
    chex.assert_trees_all_close(found.numpy(), np.array(wanted, np.float32), atol=2e-5)


@pytest.mark.parametrize("ratio", [0, 2])
def test_ps_roi_align(ratio):
    x = RNG.standard_normal((2, 12, 7, 9)).astype(np.float32)
    found, channels = vision.ps_roi_align(jtensor.tensor(x), jtensor.tensor(ROIS), 1.0, 2, 3, ratio)
    for k, c, row, column in np.ndindex(4, 2, 2, 3):
        channel = (c * 2 + row) * 3 + column
        assert channels[k, c, row, column] == channel
        region = aligned_region(x[int(ROIS[k, 0]), channel], ROIS[k, 1:], 1.0, (2, 3), ratio, 0.5, -np.inf)
        assert abs(found[k, c, row, column].item() - region[row, column]) < 2e-5


def bins_of(start, end, bins, length, extra):
    """The pixels of each bin along an axis, as `roi_pool` counts them."""
    start, end = (math.floor(abs(edge) + 0.5) * (1 if edge >= 0 else -1) for edge in (start, end))
    size = max(end - start + extra, 1) / bins
    return [(min(max(math.floor(i * size) + start, 0), length), min(max(math.ceil((i + 1) * size) + start, 0), length))
            for i in range(bins)]


def test_roi_pool_and_its_gradient():
    x = RNG.standard_normal((2, 2, 7, 9)).astype(np.float32)
    given = jtensor.tensor(x, requires_grad=True)
    found, argmax = vision.roi_pool(given, jtensor.tensor(ROIS), 1.0, 2, 3)
    found.sum().backward()
    gradient = np.zeros_like(x)
    for k, c in np.ndindex(4, 2):
        picture = x[int(ROIS[k, 0]), c]
        rows, columns = bins_of(*ROIS[k, [2, 4]], 2, 7, 1), bins_of(*ROIS[k, [1, 3]], 3, 9, 1)
        for (i, (y0, y1)), (j, (x0, x1)) in itertools.product(enumerate(rows), enumerate(columns)):
            bin_ = picture[y0:y1, x0:x1]
            assert found[k, c, i, j].item() == (bin_.max() if bin_.size else 0)
            if bin_.size:
                best = np.unravel_index(bin_.argmax(), bin_.shape)
                assert argmax[k, c, i, j] == (best[0] + y0) * 9 + best[1] + x0
                gradient[int(ROIS[k, 0]), c, best[0] + y0, best[1] + x0] += 1
            else:
                assert argmax[k, c, i, j] == -1
    chex.assert_trees_all_close(given.grad.numpy(), gradient)
    alone = vision._roi_pool_backward(jtensor.ones_like(found), jtensor.tensor(ROIS), argmax, 1.0, 2, 3, 2, 2, 7, 9)
    chex.assert_trees_all_close(alone.numpy(), gradient)


def test_ps_roi_pool():
    x = RNG.standard_normal((2, 6, 7, 9)).astype(np.float32)
    found, _ = vision.ps_roi_pool(jtensor.tensor(x), jtensor.tensor(ROIS), 1.0, 2, 3)
    for k in range(4):
        rows, columns = bins_of(*ROIS[k, [2, 4]], 2, 6, 0), bins_of(*ROIS[k, [1, 3]], 3, 8, 0)
        for (i, (y0, y1)), (j, (x0, x1)) in itertools.product(enumerate(rows), enumerate(columns)):
            bin_ = x[int(ROIS[k, 0]), i * 3 + j, y0:y1, x0:x1]
            assert abs(found[k, 0, i, j].item() - (bin_.mean() if bin_.size else 0)) < 1e-5


@pytest.mark.parametrize("groups, offset_groups, masked", [(1, 1, True), (2, 2, False)])
def test_deform_conv2d_and_its_gradients(groups, offset_groups, masked):
    x, weight, bias = (RNG.standard_normal(shape) for shape in ((1, 4, 4, 6), (4, 4 // groups, 3, 2), (4,)))
    offset, mask = RNG.standard_normal((1, offset_groups * 12, 2, 5)) * 1.5, RNG.random((1, offset_groups * 6, 2, 5))
    stride, pad, dilation = (2, 1), (1, 0), (1, 1)
    wanted = np.zeros((1, 4, 2, 5)) + bias[:, None, None]
    for o, i, row, column, ky, kx in np.ndindex(4, 4 // groups, 2, 5, 3, 2):
        c, tap = o // (4 // groups) * (4 // groups) + i, ky * 2 + kx
        at = (c // (4 // offset_groups)) * 6 + tap
        y = row * stride[0] - pad[0] + ky * dilation[0] + offset[0, 2 * at, row, column]
        z = column * stride[1] - pad[1] + kx * dilation[1] + offset[0, 2 * at + 1, row, column]
        value = bilinear(x[0, c], y, z, None) * (mask[0, at, row, column] if masked else 1)
        wanted[0, o, row, column] += weight[o, i, ky, kx] * value
    given = [jtensor.tensor(part, requires_grad=True) for part in (x, weight, offset, mask, bias)]
    sizes = (*stride, *pad, *dilation, groups, offset_groups, masked)
    found = vision.deform_conv2d(*given, *sizes)
    chex.assert_trees_all_close(found.detach().numpy(), wanted, atol=1e-10)
    grad = jtensor.tensor(RNG.standard_normal(wanted.shape))
    alone = vision._deform_conv2d_backward(grad, *given, *sizes)
    for one, other in zip(given, alone, strict=True):
        at = tuple(n // 2 for n in one.shape)
        step = np.zeros(one.shape)
        step[at] = 1e-5
        moved = [[part.detach() + sign * jtensor.tensor(step) if part is one else part.detach() for part in given] for sign in (1, -1)]
        slope = ((vision.deform_conv2d(*moved[0], *sizes) - vision.deform_conv2d(*moved[1], *sizes)) * grad).sum().item() / 2e-5
        assert abs(other[at].item() - slope) < 1e-5


def test_nms_keeps_the_best_of_those_that_overlap():
    corners = RNG.random((40, 2)).astype(np.float32) * 10
    boxes = np.concatenate([corners, corners + RNG.random((40, 2)).astype(np.float32) * 6], 1)
    scores = (RNG.random(40) * 10).round().astype(np.float32)
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        low, high = np.maximum(boxes[kept, :2], boxes[i, :2]), np.minimum(boxes[kept, 2:], boxes[i, 2:])
        inner = np.clip(high - low, 0, None).prod(1)
        areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        if not (inner / (areas[kept] + areas[i] - inner) > 0.3).any():
            kept.append(i)
    assert vision.nms(jtensor.tensor(boxes), jtensor.tensor(scores), 0.3).tolist() == kept
    assert vision.nms(jtensor.zeros(0, 4), jtensor.zeros(0), 0.3).tolist() == []


@pytest.mark.parametrize("boxes, scores, text", [
    (jtensor.zeros(3), jtensor.zeros(3), "boxes should be a 2d tensor, got 1D"),
    (jtensor.zeros(3, 5), jtensor.zeros(3), "boxes should have 4 elements in dimension 1, got 5"),
    (jtensor.zeros(3, 4), jtensor.zeros(2), "boxes and scores should have same number of elements in dimension 0, got 3 and 2"),
    (jtensor.zeros(3, 4), jtensor.zeros(3).double(), "dets should have the same type as scores"),
])
def test_nms_refuses(boxes, scores, text):
    with pytest.raises(RuntimeError, match=text):
        vision.nms(boxes, scores, 0.5)


def test_rotated_boxes():
    square, turned, beside = [0, 0, 2, 2, 0], [0, 0, 2, 2, 45], [5, 0, 2, 2, 10]
    half = [0.5, 0, 1, 2, 180]
    found = vision.box_iou_rotated(jtensor.tensor([square, turned], dtype=jtensor.float32),
                                   jtensor.tensor([square, turned, beside, half], dtype=jtensor.float32))
    octagon = 8 * (math.sqrt(2) - 1)
    star = octagon / (8 - octagon)
    half_star = (octagon / 2) / (4 + 2 - octagon / 2)
    chex.assert_trees_all_close(found.numpy(), np.array([[1, star, 0, 0.5], [star, 1, 0, half_star]], np.float32), atol=1e-5)


def test_regions_in_autocast_are_what_the_library_says():
    library = jtensor.library.Library("torchvision", "IMPL")
    key = jtensor._C.DispatchKeySet(jtensor._C.DispatchKey.AutocastCPU)
    seen = []

    def in_single(dets, scores, threshold):
        seen.append(jtensor.is_autocast_enabled("cpu"))
        with jtensor._C._ExcludeDispatchKeyGuard(key):
            seen.append(jtensor.is_autocast_enabled("cpu"))
            return vision.nms(dets.float(), scores.float(), threshold)
    library.impl("nms", in_single, "AutocastCPU")
    try:
        with jtensor.autocast("cpu"):
            assert vision.nms(jtensor.zeros(2, 4).bfloat16(), jtensor.ones(2).bfloat16(), 0.5).tolist() == [0, 1]
        assert seen == [True, False]
    finally:
        jtensor.library.spaces.found("torchvision::nms").autocasts.clear()


def png(pixels):
    """A PNG file of (height, width, 3) bytes, by hand."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def test_pictures(tmp_path):
    pytest.importorskip("PIL")
    pixels = RNG.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    (tmp_path / "p.png").write_bytes(png(pixels))
    read = image.decode_image(image.read_file(str(tmp_path / "p.png")), 0)
    assert read.shape == (3, 4, 5) and read.stride() == (1, 15, 3)
    chex.assert_trees_all_equal(read.permute(1, 2, 0).numpy(), pixels)
    again = image.decode_png(image.encode_png(read, 6), 3)
    chex.assert_trees_all_equal(again.numpy(), read.numpy())
    grey = image.decode_png(image.read_file(str(tmp_path / "p.png")), 1)
    chex.assert_trees_all_equal(grey[0].numpy(), (pixels @ np.array([9794, 19234, 3740]) >> 15).astype(np.uint8))
    smooth = jtensor.arange(64, dtype=jtensor.uint8).reshape(1, 8, 8).expand(3, 8, 8)
    assert (image.decode_jpeg(image.encode_jpeg(smooth, 95), 1).int() - smooth[:1].int()).abs().max() < 6
    with pytest.raises(RuntimeError, match="No such file"):
        image.read_file(str(tmp_path / "none.png"))
    with pytest.raises(RuntimeError, match="Not a JPEG file: starts with 0x89 0x50"):
        image.decode_jpeg(image.read_file(str(tmp_path / "p.png")), 0)
    with pytest.raises(RuntimeError, match="Unsupported image file"):
        image.decode_image(jtensor.zeros(30, dtype=jtensor.uint8), 0)


def test_other_libraries_are_refused():
    with pytest.raises(OSError, match=r"Could not load this library: /x/libmine.so\. .*custom_op"):
        jtensor.ops.load_library("/x/libmine.so")
    assert "/somewhere/torchvision/_C.so" in jtensor.ops.loaded_libraries
