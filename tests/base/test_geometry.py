"""Geometry against live PyTorch: the same questions about the same strides, sizes 0 and 1 included."""

import random
from types import SimpleNamespace

import pytest

from jtensor.autograd import gradmode_checks
from jtensor.base import geometry
from jtensor.ops import layout

torch = pytest.importorskip("torch")
CASES = 3000


def random_geometry(rng):
    """A size and strides: dense in some order, dense with a gap, or anything at all."""
    size = [rng.choice([1, 1, 2, 3, 2, 0 if rng.random() < 0.1 else 4]) for _ in range(rng.randint(0, 5))]
    order = list(range(len(size)))
    rng.shuffle(order)
    stride, step = [0] * len(size), 1
    for dim in order:
        stride[dim] = step
        step *= max(size[dim], 1) * (2 if rng.random() < 0.1 else 1)
    if len(size) == 4 and rng.random() < 0.2:
        stride = list(geometry.channels_last_strides(tuple(size)))
    for dim in order:
        if rng.random() < (0.3 if size[dim] == 1 else 0.06):
            stride[dim] = rng.randint(0, 5)
    return tuple(size), tuple(stride)


def strided(size, stride, offset=0, memory=None):
    memory = torch.zeros(20_000) if memory is None else memory
    return memory.as_strided(size, stride, offset)


def cases(seed):
    rng = random.Random(seed)
    return [random_geometry(rng) for _ in range(CASES)]


def test_memory_formats():
    for size, stride in cases(1):
        x = strided(size, stride)
        assert geometry.is_contiguous(size, stride) == x.is_contiguous(), (size, stride)
        assert geometry.is_non_overlapping_and_dense(size, stride) == torch.ops.aten.is_non_overlapping_and_dense(x), (size, stride)
        assert geometry.contiguous_strides(size) == torch.empty(size).stride()
        for rank, form, ours in [
            (4, torch.channels_last, geometry.is_channels_last),
            (5, torch.channels_last_3d, geometry.is_channels_last_3d),
        ]:
            if len(size) != rank:
                assert not ours(size, stride)
                continue
            assert ours(size, stride) == x.is_contiguous(memory_format=form), (size, stride)
            assert geometry.looks_channels_last(size, stride) == torch.ops.aten.is_strides_like_format(x, form), (size, stride)
            assert geometry.channels_last_strides(size) == torch.empty(size, memory_format=form).stride(), size


def test_strides_of_fresh_results():
    rng = random.Random(2)
    for size, stride in cases(3):
        x = strided(size, stride)
        assert geometry.infer_dense_strides(size, stride) == torch.empty_like(x).stride(), (size, stride)
        other_size, other_stride = random_geometry(rng)
        if rng.random() < 0.5:
            other_size = tuple(1 if rng.random() < 0.3 else length for length in size)
            other_stride = tuple(rng.sample(stride, len(stride)))
        y = strided(other_size, other_stride)
        try:
            z = torch.add(x, y)
        except RuntimeError:
            continue
        ours = layout.pointwise(tuple(z.shape), [(size, stride), (other_size, other_stride)])
        assert ours == z.stride(), (size, stride, other_size, other_stride)


def test_expand_strides():
    rng = random.Random(4)
    for size, stride in cases(5):
        goal = [length if length != 1 or rng.random() < 0.5 else rng.randint(0, 3) for length in size]
        goal = tuple([rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(0, 2))] + goal)
        try:
            theirs = strided(size, stride).expand(goal).stride()
        except RuntimeError:
            theirs = None
        assert geometry.expand_strides(size, stride, goal) == theirs, (size, stride, goal)


def test_internal_overlap_is_what_refuses_an_in_place_write():
    seen = set()
    for size, stride in cases(6):
        answer = geometry.has_internal_overlap(size, stride)
        seen.add(answer)
        refused = ""
        try:
            strided(size, stride).add_(1)
        except RuntimeError as error:
            refused = str(error)
        assert refused == (gradmode_checks.OVERLAP if answer == geometry.YES else ""), (size, stride)
    assert seen == {geometry.YES, geometry.NO, geometry.TOO_HARD}


def test_partial_overlap_is_what_refuses_an_operand():
    rng = random.Random(7)
    seen = set()
    for size, stride in cases(8):
        if geometry.has_internal_overlap(size, stride) == geometry.YES:
            continue
        a = SimpleNamespace(stride=stride, offset=rng.randint(0, 8))
        b = SimpleNamespace(stride=tuple(rng.sample(stride, len(stride))), offset=rng.choice([a.offset, 0, 2, 6]))
        answer = geometry.overlap_between(size, a.stride, a.offset, size, b.stride, b.offset)
        seen.add(answer)
        memory = torch.zeros(20_000)
        refused = ""
        try:
            strided(size, a.stride, a.offset, memory).add_(strided(size, b.stride, b.offset, memory))
        except RuntimeError as error:
            refused = str(error)
        assert refused == (gradmode_checks.PARTIAL if answer == geometry.PARTIAL else ""), (size, a, b)
    assert seen == {geometry.FULL, geometry.PARTIAL, geometry.NO, geometry.TOO_HARD}


def test_extent_is_the_storage_that_as_strided_asks_for():
    for size, stride in cases(9)[:500]:
        needed = geometry.extent(size, stride, 3)
        if 0 in size:
            assert needed == 0
            continue
        torch.zeros(needed).as_strided(size, stride, 3)
        with pytest.raises(RuntimeError, match="out of bounds for storage"):
            torch.zeros(needed - 1).as_strided(size, stride, 3)


def test_injective_means_no_cell_twice():
    proved = 0
    for size, stride in cases(10):
        if not geometry.is_injective(size, stride):
            continue
        proved += 1
        cells = torch.arange(20_000).as_strided(size, stride).flatten().tolist()
        assert len(set(cells)) == len(cells), (size, stride)
    assert proved > CASES // 2


def test_memory_order_sorts_strides():
    for size, stride in cases(11):
        if geometry.is_injective(size, stride) and 0 not in size:
            order = geometry.memory_order(size, stride)
            real = [stride[dim] for dim in order if size[dim] > 1]
            assert real == sorted(real, reverse=True), (size, stride)
