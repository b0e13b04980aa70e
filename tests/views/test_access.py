"""Reading and writing against NumPy's strides: ``as_strided`` on the flat memory is what a view is.

The programs are a handful of ``lax`` calls, so that the wide search runs them on a NumPy stand-in for ``lax``, thousands of views in
seconds; a selection runs on the real thing, many in one compiled program.
"""

import contextlib
import math
import pickle
import random
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from jtensor.base.geometry import contiguous_strides, extent
from jtensor.views import programs, rules
from jtensor.views.access import access, resolver

# ---------------------------------------------------------------------------------------------- lax, in NumPy


def _dynamic_slice(x, starts, sizes, allow_negative_indices):
    assert not allow_negative_indices
    for start, size, length in zip(starts, sizes, x.shape, strict=True):
        assert 0 <= start and start + size <= length, "out of bounds: lax would clamp"
    return x[tuple(slice(int(start), int(start) + size) for start, size in zip(starts, sizes))]


def _dynamic_update_slice(x, update, starts, allow_negative_indices):
    assert update.dtype == x.dtype
    _dynamic_slice(x, starts, update.shape, allow_negative_indices)
    x = x.copy()
    x[tuple(slice(int(start), int(start) + size) for start, size in zip(starts, update.shape))] = update
    return x


def _pad(x, value, margins):
    low, high, inside = zip(*margins, strict=True) if margins else ((), (), ())
    assert min(low, default=0) >= 0 and min(high, default=0) >= 0
    shape = [a + b + max(length + (length - 1) * c, 0) for a, b, c, length in zip(low, high, inside, x.shape)]
    out = np.full(shape, value, x.dtype)
    out[tuple(slice(a, length - b, c + 1) for a, b, c, length in zip(low, high, inside, shape))] = x
    return out


def _broadcast_in_dim(x, shape, dims):
    return np.broadcast_to(x.reshape([length if dim in dims else 1 for dim, length in enumerate(shape)]), shape)


def _iota(dtype, shape, axis):
    return np.broadcast_to(np.arange(shape[axis], dtype=dtype).reshape([-1 if dim == axis else 1 for dim in range(len(shape))]), shape)


def _scatter(x, index, updates, dims, unique_indices, mode):
    cells = index[..., 0].ravel()
    assert not unique_indices or len(set(cells.tolist())) == cells.size
    assert cells.size == 0 or 0 <= cells.min() and cells.max() < x.size
    x = x.copy()
    x[cells] = updates.ravel()
    return x


def _gather(x, index, dims, sizes, unique_indices, mode):
    assert not unique_indices or len(set(index.ravel().tolist())) == index.size
    assert index.size == 0 or 0 <= index.min() and index.max() < x.size
    return x[index[..., 0]]


NUMPY_LAX = SimpleNamespace(
    reshape=np.reshape, transpose=np.transpose, full=np.full, lt=np.less, ge=np.greater_equal, eq=np.equal, rem=np.remainder,
    add=np.add, mul=np.multiply, bitwise_and=np.bitwise_and, select=np.where, pad=_pad, broadcast_in_dim=_broadcast_in_dim,
    broadcasted_iota=_iota, dynamic_slice=_dynamic_slice, dynamic_update_slice=_dynamic_update_slice, gather=_gather, scatter=_scatter,
    slice=lambda x, first, limit, steps: x[tuple(slice(*each) for each in zip(first, limit, steps, strict=True))],
    broadcast=lambda x, shape: np.broadcast_to(x, shape), full_like=np.full_like,
    convert_element_type=lambda x, dtype: np.asarray(x).astype(dtype),
    ScatterDimensionNumbers=jax.lax.ScatterDimensionNumbers, GatherDimensionNumbers=jax.lax.GatherDimensionNumbers,
    GatherScatterMode=jax.lax.GatherScatterMode,
)  # fmt: skip


@contextlib.contextmanager
def in_numpy():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_lax", lambda: NUMPY_LAX)
        yield


# ------------------------------------------------------------------------------------------------ the reference


def strided(flat, size, stride, offset=0):
    if 0 in size:
        return np.zeros(size, flat.dtype)
    return as_strided(flat[offset:], size, [step * flat.itemsize for step in stride])


def layouts(draw):
    """A dense layout: row-major, or with its dimensions in another order in memory."""
    size = draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 17]), max_size=4))
    order = draw(st.one_of(st.just(list(range(len(size)))), st.permutations(range(len(size)))))
    stride, step = [0] * len(size), 1
    for dim in reversed(order):
        stride[dim] = step
        step *= size[dim]
    return tuple(size), tuple(stride)


def a_view(draw, size, stride):
    """Up to five view operators after one another."""
    here = size, stride, 0
    for _ in range(draw(st.integers(0, 5))):
        rank = len(here[0])
        dim = draw(st.integers(0, max(rank - 1, 0)))
        length = here[0][dim] if rank else 1
        name = draw(st.sampled_from(["select", "slice_", "slice_", "permute", "reshape", "unsqueeze", "diagonal", "unfold", "expand"]))
        start = draw(st.integers(0, max(length - 1, 0)))
        if name == "select":
            args = (dim, start)
        elif name == "slice_":
            args = (dim, start, draw(st.integers(start, length)), draw(st.integers(1, 4)))
        elif name == "permute":
            args = (tuple(draw(st.permutations(range(rank)))),)
        elif name == "reshape":
            count = math.prod(here[0])
            factor = draw(st.sampled_from([f for f in range(1, count + 1) if count % f == 0] or [1]))
            args = ((factor, count // factor) if draw(st.booleans()) else (-1,),)
        elif name == "unsqueeze":
            args = (dim,)
        elif name == "diagonal":
            args = (draw(st.integers(-1, 2)), 0, 1)
        elif name == "unfold":
            args = (dim, draw(st.integers(1, max(min(length, 3), 1))), draw(st.integers(1, 2)))
        else:
            args = ((draw(st.integers(1, 3)), *here[0]),)
        try:
            after = getattr(rules, name)(*here, *args)
        except (RuntimeError, IndexError):
            continue
        here = after if after[1] is not None else here
    return here


@st.composite
def layouts_and_views(draw):
    size, stride = layouts(draw)
    return size, stride, *a_view(draw, size, stride)


def logical(flat, size, stride):
    """The storage's array: its elements in the layout's order."""
    return strided(flat, size, stride).copy()


def check_read_and_write(layout_size, layout_stride, size, stride, offset):
    found, starts = access(layout_size, layout_stride, size, stride, offset)
    starts = [np.int64(start) for start in starts]
    assert found.size == size and found.start_count == len(starts)
    flat = np.arange(math.prod(layout_size), dtype=np.float32)
    base = logical(flat, layout_size, layout_stride)

    got = found.read(base, *starts)
    assert got.shape == size and np.array_equal(got, strided(flat, size, stride, offset))

    cells = strided(np.arange(flat.size), size, stride, offset)
    one_each = tuple(slice(0, 1) if step == 0 else slice(None) for step in stride)
    if len(np.unique(cells)) != cells[one_each].size:
        return found  # overlapping windows: which write stays is open
    new = -1 - np.arange(cells.size, dtype=np.float32).reshape(size)
    after = flat.copy()
    view = strided(after, size, stride, offset)
    if cells.size:
        last = tuple(slice(-1, None) if step == 0 else slice(None) for step in stride)
        view[...] = new[last]
    wrote = found.write(base, new, *starts)
    assert wrote.shape == base.shape and wrote.dtype == base.dtype
    assert np.array_equal(wrote, logical(after, layout_size, layout_stride))
    return found


@settings(max_examples=700, deadline=None, derandomize=True, database=None)
@given(layouts_and_views())
def test_views_read_and_write_like_numpys(case):
    with in_numpy():
        check_read_and_write(*case)


def test_any_strides_at_all():
    rng = random.Random(1)
    kinds = set()
    for _ in range(1500):
        rank = rng.randint(0, 4)
        size, stride = tuple(rng.randint(1, 4) for _ in range(rank)), tuple(rng.randint(0, 9) for _ in range(rank))
        offset = rng.randint(0, 5)
        layout = rng.choice([(120,), (10, 12), (12, 10), (2, 60), (5, 4, 3, 2), (121,)])
        if extent(size, stride, offset) <= 120:
            with in_numpy():
                found = check_read_and_write(layout, contiguous_strides(layout), size, stride, offset)
            kinds.add(getattr(found.program, "form", type(found.program).__name__))
    assert kinds >= {"Gather", "update", "spread", "scatter"}


# -------------------------------------------------------------------------------------------- what is shared


def test_one_program_for_every_index():
    size, stride = (256, 256), (256, 1)
    rows = [access(size, stride, (256,), (1,), 256 * i) for i in range(256)]
    assert len({row for row, _ in rows}) == 1 and [starts for _, starts in rows] == [(i,) for i in range(256)]
    windows = [access(size, stride, (3, 256), (256, 1), 256 * i) for i in range(254)]
    assert len({window for window, _ in windows}) == 1
    elements = [access(size, stride, (), (), 256 * i + i) for i in range(256)]
    assert len({element for element, _ in elements}) == 1 and elements[7][1] == (7, 7)


def test_dimensions_that_are_whole_have_no_start():
    whole, starts = access((4, 6), (6, 1), (6, 4), (1, 6), 0)
    assert starts == () and whole.program.form == "all"
    assert access((4, 6), (6, 1), (4, 2), (6, 1), 3)[1] == (3,)


def test_equal_programs_are_one_object():
    # The same rows, asked for with different strides in a dimension of size 1.
    assert access((4, 6), (6, 1), (1, 6), (6, 1), 6)[0] is access((4, 6), (6, 1), (1, 6), (99, 1), 6)[0]
    found = access((4, 6), (6, 1), (2, 3), (6, 1), 6)[0]
    assert pickle.loads(pickle.dumps(found)) is found
    assert resolver((4, 6), (6, 1), (2, 3), (6, 1)).at(6)[0] is found
    assert hash(found) == hash(found) and found != access((4, 6), (6, 1), (2, 2), (6, 1), 6)[0]


@pytest.mark.parametrize("size, stride, offset", [((4,), (1,), 21), ((2, 4), (21, 1), 0), ((1,), (1,), -1), ((), (), 24)])
def test_a_view_that_leaves_the_memory_is_refused(size, stride, offset):
    with pytest.raises(ValueError, match="leaves a memory of 24 elements"):
        access((4, 6), (6, 1), size, stride, offset)


# ---------------------------------------------------------------------------------------------- the real thing

ROWS = [
    ((6, 8), "select", (0, 2)), ((6, 8), "select", (1, 5)), ((6, 8), "slice_", (0, 1, 5, 2)), ((6, 8), "slice_", (1, 1, 8, 3)),
    ((6, 8), "diagonal", (1,)), ((5, 5), "diagonal", ()), ((6, 8), "permute", ((1, 0),)), ((6, 8), "unfold", (0, 3, 1)),
    ((6, 8), "reshape", ((4, 12),)), ((7,), "slice_", (0, 1, 6, 2)), ((20, 20), "slice_", (0, 1, 19, 1)), ((6, 1), "expand", ((6, 4),)),
    ((20,), "slice_", (0, 0, 20, 3)), ((40,), "slice_", (0, 3, 40, 7)), ((2, 3, 4), "slice_", (1, 2, 2, 1)), ((3,), "unfold", (0, 2, 1)),
]  # fmt: skip


def real_cases():
    for layout, name, args in ROWS:
        stride = contiguous_strides(layout)
        yield layout, stride, *getattr(rules, name)(layout, stride, 0, *args)
        turned = layout[::-1]  # the same view, of a storage whose array is the transpose
        yield turned, stride[::-1], *getattr(rules, name)(layout, stride, 0, *args)


def test_values_and_gradients_in_one_compiled_program():
    """Read, write and both vjps of every form, traced as the library traces them: 64-bit starts, all in one program."""
    rng = np.random.default_rng(0)
    rows = [(case, *access(*case)) for case in real_cases()]
    inputs = []
    for (layout, _, size, _, _), _, starts in rows:
        arrays = [rng.standard_normal(shape).astype(np.float32) for shape in (layout, size, size, layout)]
        inputs.append((*arrays, [np.int64(start) for start in starts]))

    def everything(inputs):
        answers = []
        for (_, found, _), (base, new, of_read, of_write, starts) in zip(rows, inputs, strict=True):
            read, read_back = jax.vjp(lambda base, found=found, starts=starts: found.read(base, *starts), base)
            write, write_back = jax.vjp(lambda base, new, found=found, starts=starts: found.write(base, new, *starts), base, new)
            answers.append((read, read_back(of_read)[0], write, *write_back(of_write)))
        return answers

    with jax.enable_x64(True):
        answers = jax.device_get(jax.jit(everything)(inputs))
    for ((layout, layout_stride, size, stride, offset), _, _), given_, answer in zip(rows, inputs, answers, strict=True):
        base, new, of_read, of_write, _ = given_
        read, of_base, write, of_base_again, of_new = answer
        where = as_strided(np.arange(base.size), layout, [8 * step for step in layout_stride])
        flat = np.empty(base.size, np.float32)
        flat[where] = base
        cells = strided(np.arange(flat.size), size, stride, offset)
        assert np.array_equal(read, flat[cells])
        summed = np.zeros_like(flat)
        np.add.at(summed, cells, of_read)
        assert np.allclose(of_base, summed[where], atol=1e-6)
        if 0 in stride or len(np.unique(cells)) != cells.size:
            continue  # covered by the read; which write stays is open
        after = flat.copy()
        after[cells] = new
        assert np.array_equal(write, after[where])
        flat[where] = of_write
        assert np.array_equal(of_new, flat[cells])
        flat[cells] = 0
        assert np.array_equal(of_base_again, flat[where])


def test_reading_and_writing_where_everything_is_empty():
    found, starts = access((0, 3), (3, 1), (3, 0), (1, 3), 0)
    with jax.enable_x64(True):
        base = jnp.zeros((0, 3), jnp.bfloat16)
        assert found.read(base, *starts).shape == (3, 0) and found.read(base).dtype == jnp.bfloat16
        assert found.write(base, jnp.zeros((3, 0), jnp.bfloat16)).shape == (0, 3)
