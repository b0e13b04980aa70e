"""One memory under two element types, against NumPy's view of the same bytes; reads and writes of all cases in one program."""

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from jtensor.base.geometry import contiguous_strides
from jtensor.views.access import access
from jtensor.views.reinterpret import reinterpretation

TYPES = [np.dtype(name) for name in ("bool", "uint8", "float32", "int64", "float64", "complex64", "complex128")]
TYPES += [np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e5m2)]
# Row-major with a last dimension that divides, one that does not, and a transposed storage.
LAYOUTS = [((2, 8), (8, 1)), ((7,), (1,)), ((3, 2), (1, 3)), ((), ())]


def cases():
    """Every pair of types, the layouts in turn; every second element from the second on, or the whole where that is short."""
    turn = itertools.cycle(LAYOUTS)
    for source, target in itertools.permutations(TYPES, 2):
        layout, layout_stride = next(turn)
        count = int(np.prod(layout)) * source.itemsize // target.itemsize
        if count > 3:
            yield source, target, layout, layout_stride, (count // 2 - 1,), (2,), 1
        else:
            yield source, target, layout, layout_stride, (count,), (1,), 0


def bytes_of(rng, dtype, count):
    return rng.integers(0, 2 if dtype == np.bool_ else 120, count * dtype.itemsize, np.uint8)


def laid_out(memory, dtype, size, stride):
    return np.ndarray(size, dtype, memory, 0, [step * dtype.itemsize for step in stride])


def test_reads_and_writes_are_numpys():
    rng = np.random.default_rng(0)
    rows, inputs = [], []
    for source, target, layout, layout_stride, size, stride, offset in cases():
        found, starts = access(layout, layout_stride, size, stride, offset, source, target)
        memory = bytes_of(rng, source, int(np.prod(layout)))
        base = laid_out(memory, source, layout, layout_stride)
        new = bytes_of(rng, target, size[0])
        rows.append((found, memory, new, source, target, layout, layout_stride, slice(offset, offset + size[0] * stride[0], stride[0])))
        inputs.append((base.copy(), new.view(target), [np.int64(start) for start in starts]))

    def everything(inputs):
        pairs = zip([row[0] for row in rows], inputs, strict=True)
        return [(found.read(base, *starts), found.write(base, new, *starts)) for found, (base, new, starts) in pairs]

    with jax.enable_x64(True):
        answers = jax.device_get(jax.jit(everything)(inputs))
    for (_, memory, new, source, target, layout, layout_stride, part), (read, write) in zip(rows, answers, strict=True):
        what = (source, target, layout)
        whole = memory[: memory.size // target.itemsize * target.itemsize]
        seen = whole != 0 if target == np.bool_ else whole.view(target)
        assert read.dtype == target and read.tobytes() == np.ascontiguousarray(seen[part]).tobytes(), what
        # Written byte by byte; a storage of bools keeps bools.
        (whole if target == np.bool_ else whole.view(target))[part] = new if target == np.bool_ else new.view(target)
        after = (memory != 0).astype(np.uint8) if source == np.bool_ else memory
        expected = laid_out(after, source, layout, layout_stride)
        assert write.dtype == source and write.shape == layout and write.tobytes() == expected.tobytes(), what


def test_a_write_through_a_bool_view_leaves_other_bytes_alone():
    found, starts = access((4,), (1,), (2,), (1,), 1, np.dtype(np.uint8), np.dtype(np.bool_))
    after = found.write(jnp.array([7, 7, 7, 7], jnp.uint8), jnp.array([True, False]), *map(np.int32, starts))
    assert after.tolist() == [7, 1, 0, 7]


@pytest.mark.parametrize("part, parts_of", [(0, np.real), (1, np.imag)])
def test_gradients_go_through_the_parts_of_complex_numbers(part, parts_of):
    found, starts = access((2, 3), (3, 1), (2, 3), (6, 2), part, np.dtype(np.complex64), np.dtype(np.float32))
    base = (np.arange(6) + 1j * np.arange(6, 12)).astype(np.complex64).reshape(2, 3)
    starts = [np.int32(start) for start in starts]
    read, back = jax.vjp(lambda base: found.read(base, *starts), base)
    assert np.array_equal(read, parts_of(base))
    # JAX's cotangent of a complex number z = x + iy is (d/dx - i d/dy).
    assert np.array_equal(back(jnp.ones((2, 3), np.float32))[0], np.full((2, 3), (1, -1j)[part], np.complex64))
    write, back = jax.vjp(lambda new: found.write(base, new, *starts), jnp.full((2, 3), 9.0, np.float32))
    assert np.array_equal(parts_of(write), np.full((2, 3), 9)) and not np.array_equal(write, base)
    assert np.array_equal(back(jnp.full((2, 3), 2 - 3j, np.complex64))[0], np.full((2, 3), (2, 3)[part], np.float32))


def test_complex_parts_keep_the_storages_shape():
    """So that ``z.real`` of a matrix is a slice of its last dimension, not of a flattened copy."""
    cast = reinterpretation((4, 6), (6, 1), np.dtype(np.complex128), np.dtype(np.float64))
    assert (cast.kind, cast.size, cast.stride) == ("to_parts", (4, 6, 2), (12, 2, 1))
    cast = reinterpretation((4, 6), contiguous_strides((4, 6)), np.dtype(np.float32), np.dtype(np.complex64))
    assert (cast.kind, cast.size, cast.stride) == ("from_parts", (4, 3), (3, 1))
    assert reinterpretation((4,), (1,), np.dtype(np.int32), np.dtype(np.int32)) is None
