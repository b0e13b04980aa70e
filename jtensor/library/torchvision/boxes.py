"""Boxes: which of them to keep, how much turned ones overlap. Owns these two, which look at values and compute on the host, in NumPy."""
import numpy as np

import jtensor

from ...ops.families.numeric import not_implemented


def nms(dets, scores, iou_threshold):
    """The indices of boxes ``(x1, y1, x2, y2)`` by falling score, without those that overlap a better one by more than the threshold."""
    if dets.dim() != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {dets.dim()}D")
    if dets.size(1) != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {dets.size(1)}")
    if scores.dim() != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.dim()}D")
    if dets.size(0) != scores.size(0):
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0, got "
                           f"{dets.size(0)} and {scores.size(0)}")
    if dets.dtype != scores.dtype:
        raise RuntimeError("dets should have the same type as scores")
    if dets.device.type == "cpu" and dets.dtype not in (jtensor.float32, jtensor.float64):
        raise not_implemented("nms_kernel", dets.dtype)
    order = scores.detach().sort(descending=True, stable=True).indices.numpy(force=True)
    corners = _computed_in(dets.detach()).numpy(force=True)[order]
    kept, left = [], np.arange(len(order))
    areas = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        with np.errstate(all="ignore"):
            low, high = np.maximum(corners[best, :2], corners[left, :2]), np.minimum(corners[best, 2:], corners[left, 2:])
            sides = np.maximum(high - low, 0)
            inner = sides[:, 0] * sides[:, 1]
            left = left[~(inner / (areas[best] + areas[left] - inner) > iou_threshold)]
    return jtensor.from_numpy(order[np.array(kept, dtype=np.int64)]).to(dets.device)


def _computed_in(tensor):
    return tensor if tensor.dtype == jtensor.float64 else tensor.float()


def box_iou_rotated(boxes1, boxes2):
    """Intersection over union of every two boxes ``(cx, cy, w, h, degrees)``, of shape (N, M) and float32."""
    for boxes in (boxes1, boxes2):
        if boxes.dim() != 2 or boxes.size(1) != 5:
            raise RuntimeError(f"boxes should be of shape (N, 5), got {list(boxes.shape)}")
    first, second = (boxes.detach().double().numpy(force=True) for boxes in (boxes1, boxes2))
    with np.errstate(all="ignore"):
        shared = _intersections(first, second)
        areas = np.abs(first[:, 2] * first[:, 3])[:, None], np.abs(second[:, 2] * second[:, 3])[None]
        found = np.where(np.minimum(*np.broadcast_arrays(*areas)) < 1e-14, 0.0, shared / (areas[0] + areas[1] - shared))
    return jtensor.from_numpy(found.astype(np.float32)).to(boxes1.device)


def _corners(boxes):
    turn = np.deg2rad(boxes[:, 4])
    cos, sin = np.cos(turn) / 2, np.sin(turn) / 2
    across, along = np.stack([cos * boxes[:, 2], -sin * boxes[:, 2]], -1), np.stack([sin * boxes[:, 3], cos * boxes[:, 3]], -1)
    return np.stack([s * across + t * along for s, t in ((1, 1), (-1, 1), (-1, -1), (1, -1))], 1)


def _cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _intersections(first, second):
    """The area that every two boxes share: that of the polygon whose corners are where sides meet, and corners inside of the other box.

    It is convex, so that its corners lie in order by their angle as seen from their mean (Green's formula gives the area).
    """
    pairs = first.shape[0], second.shape[0]
    middle = first[:, None, :2] - second[None, :, :2]                                           # coordinates count from the second's middle
    p, q = _corners(first)[:, None] + middle[:, :, None], np.broadcast_to(_corners(second)[None], (*pairs, 4, 2))
    p_side, q_side = np.roll(p, -1, 2) - p, np.roll(q, -1, 2) - q
    facing = _cross(p_side[:, :, :, None], q_side[:, :, None])
    offset = q[:, :, None] - p[:, :, :, None]
    t = _cross(offset, q_side[:, :, None]) / facing
    u = _cross(offset, p_side[:, :, :, None]) / facing
    meets = (np.abs(facing) > 1e-14) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    where = p[:, :, :, None] + np.nan_to_num(t)[..., None] * p_side[:, :, :, None]
    points = np.concatenate([where.reshape(*pairs, 16, 2), p, q], 2)
    there = np.concatenate([meets.reshape(*pairs, 16), _inside(p, q, q_side), _inside(q, p, p_side)], 2)
    count = np.maximum(there.sum(2), 1)[..., None]
    points = np.where(there[..., None], points, 0.0)
    points = np.where(there[..., None], points - (points.sum(2) / count)[:, :, None], 0.0)
    angle = np.where(there, np.arctan2(points[..., 1], points[..., 0]), np.inf)
    ordered = np.take_along_axis(points, angle.argsort(2, kind="stable")[..., None], 2)
    last = np.arange(24) < count                                                                # what is not there repeats the first corner
    ordered = np.where(last[..., None], ordered, ordered[:, :, :1])
    return np.abs(_cross(ordered, np.roll(ordered, -1, 2)).sum(2)) / 2


def _inside(points, corners, sides):
    """Which of four points lie in a box: not outside of any of its sides."""
    turn = _cross(sides[:, :, None], points[:, :, :, None] - corners[:, :, None])
    slack = 1e-9 * (1 + np.abs(sides).max((2, 3)))[:, :, None, None] ** 2
    return (turn >= -slack).all(3) | (turn <= slack).all(3)
