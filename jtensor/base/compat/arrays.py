"""Arrays and devices: how NumPy's data becomes a `jax.Array` of its own type. May not know: programs."""
import functools
import math

import jax
import numpy as np

from . import forked
from .inside import core, short_way, x64, xla_client


@functools.lru_cache(maxsize=4096)
def aval_of(shape, dtype):
    return core.ShapedArray(shape, dtype)


@forked.of_backend
def sharding_of(device):
    return jax.sharding.SingleDeviceSharding(device)


@forked.of_backend
def default_device():
    """The device where programs run unless told otherwise: the first of JAX's default backend, which this starts."""
    return jax.local_devices()[0]


def cpu_apart(queue):
    """A CPU device of its own, whose programs wait for nobody else's: in a queue of theirs, or in the thread that calls them.

    None where only the public way is there, which knows no devices but those that JAX made itself.

    >>> cpu_apart(queue=False) in jax.devices("cpu")
    False
    """
    if not short_way():
        return None
    try:
        forked.clients.append(client := xla_client.make_cpu_client(asynchronous=queue, num_devices=1))
        return client.local_devices()[0]
    except (AttributeError, TypeError, RuntimeError):           # another jaxlib
        return None


_ALIGNED, _SMALL = 64, 1 << 12          # bytes: at whose multiples XLA takes an array as it is, and up to which a copy costs nothing


def empty(shape, dtype):
    """`numpy.empty` where XLA takes it as it is (`put`): elsewhere a large array is copied, which takes as long as filling it.

    >>> empty((1000, 3), np.dtype(float)).ctypes.data % 64
    0
    """
    count = math.prod(shape) * dtype.itemsize
    if count <= _SMALL:
        return np.empty(shape, dtype)
    memory = np.empty(count + _ALIGNED, np.uint8)
    begin = -memory.ctypes.data % _ALIGNED
    return memory[begin:begin + count].view(dtype).reshape(shape)


def copied(array):
    """A copy of an ndarray, in C order, as `empty` makes it.

    >>> copied(np.arange(6).reshape(2, 3).T).flags.c_contiguous
    True
    """
    made = empty(array.shape, array.dtype)
    made[...] = array
    return made


def padded(array, shape, fill=0):
    """An ndarray of a larger shape with the elements of ``array`` at its beginning and ``fill`` everywhere else.

    >>> padded(np.array([[1, 2]]), (2, 3), 7)
    array([[1, 2, 7],
           [7, 7, 7]])
    """
    made = np.full(shape, fill, array.dtype)
    made[tuple(map(slice, array.shape))] = array
    return made


def put(array, device=None):
    """A `jax.Array` of a NumPy array's elements and type (64-bit types stay), 2.5 us.

    The NumPy array may be shared rather than copied: the caller must not write to it any more.

    >>> put(np.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    if not short_way():
        with x64():
            return jax.device_put(array, device)
    target = default_device() if device is None else forked.places.get(device, device)
    if array.itemsize < 8:
        return xla_client.batched_device_put(aval_of(array.shape, array.dtype), sharding_of(target), [array], [target], device is not None)
    before = jax.enable_x64.swap_local(True)         # else the elements would be cut to 32 bits; `with x64()` is the same in Python
    try:
        return xla_client.batched_device_put(aval_of(array.shape, array.dtype), sharding_of(target), [array], [target], device is not None)
    finally:
        jax.enable_x64.set_local(before)


def filled(shape, number, dtype, device):
    """A `jax.Array` full of a number, made on the device by a program of JAX's own, one for each shape.

    >>> filled((2,), -0.0, np.dtype(np.float64), default_device())
    Array([-0., -0.], dtype=float64)
    """
    with x64():
        return jax.numpy.full(shape, number, dtype, device=device)


def sent(array, device):
    """A copy of a `jax.Array` or an ndarray on a device, its 64-bit elements whole. An ndarray must not be written to any more (`put`).

    >>> sent(np.arange(3), default_device())
    Array([0, 1, 2], dtype=int64)
    """
    if isinstance(array, np.ndarray):
        return put(array, device)
    with x64():                                      # else they would be cut to 32 bits
        return jax.device_put(own(array), device)


def own(array):
    """The array, or in a child of fork one of this process in its place: a program waits for ever for what was the parent's.

    >>> own(put(np.arange(3)))
    Array([0, 1, 2], dtype=int64)
    """
    return forked.taken_over([array], None, put)[0]


def looked_at(array):
    """A `jax.Array`'s elements as an ndarray, for a moment: nothing stays with the array, so that its buffer can be given away later.

    >>> looked_at(put(np.arange(3)))
    array([0, 1, 2])
    """
    try:
        return np.asarray(memoryview(array))
    except BufferError:                     # a type that Python's buffers do not have
        return np.array(array)


def is_seen(array):
    """Whether JAX keeps an ndarray that lies over the memory of an array, which then must not be written over.

    >>> is_seen(put(np.arange(3)))
    False
    """
    return getattr(array, "_npy_value", None) is not None and next(iter(array.devices())).platform == "cpu"


def another(array):
    """A copy of an array where it lies; `array.copy()` would compile a program.

    >>> another(put(np.arange(3)))
    Array([0, 1, 2], dtype=int64)
    """
    device = next(iter(array.devices()))
    if device.platform == "cpu":
        return put(copied(np.asarray(array)), device)
    with x64():
        return jax.device_put(array, device, may_alias=False)


def fetched(array, later=None):
    """The elements of an array on an accelerator as an ndarray that is not to be written to.

    XLA's own way to the host takes 0.2 ms however small the array is. A program whose result lies in memory of the host that the device
    writes to takes less than half of that. Such are made for shapes that are looked at again and again, by ``later(job)``: it takes a
    tenth of a second, as long as hundreds of looks, so nobody is to wait for it.
    """
    known = getattr(array, "_npy_value", None)
    if known is None and forked.is_forked():
        forked.refuse_theirs(array)
    if known is None and array.nbytes <= LITTLE:
        kind = array.shape, array.dtype, array.sharding
        carrier = _carriers.get(kind)
        if carrier is not None:
            with x64():
                known = np.asarray(carrier(array))
            if hasattr(array, "_npy_value"):
                array._npy_value = known            # where JAX itself keeps what it has fetched
        elif later is not None:
            _count_look(kind, later)
    return np.asarray(array) if known is None else known


LITTLE = 1 << 16
"""Bytes up to which what is fetched takes no longer than fetching nothing."""
_AGAIN = 16                             # looks at arrays of one kind, of which the last has the program made
_KINDS, _looks, _carriers = 4096, {}, {}


def _count_look(kind, later):
    if len(_looks) > _KINDS:
        _looks.clear()
        _carriers.clear()
    _looks[kind] = looks = _looks.get(kind, 0) + 1
    if looks == _AGAIN:
        later(functools.partial(_make_carrier, *kind))


def _make_carrier(shape, dtype, sharding):
    device, = sharding.device_set
    if all(memory.kind != _PINNED for memory in device.addressable_memories()):
        return
    pinned = jax.sharding.SingleDeviceSharding(device, memory_kind=_PINNED)
    with x64():
        traced = jax.jit(jax.lax.optimization_barrier, out_shardings=pinned).lower(jax.ShapeDtypeStruct(shape, dtype, sharding=sharding))
        _carriers[shape, dtype, sharding] = traced.compile()


_PINNED = "pinned_host"


def admitted(arrays, specs, device, committed):
    """What a program was given, made what it can be called with: NumPy arrays and Python scalars are copied to the device."""
    target = device if committed else None
    for array in arrays:
        if isinstance(array, jax.core.Tracer):
            raise TypeError("a compiled program needs concrete arrays; a JAX tracer runs the operation's own function")
    return [array if isinstance(array, jax.Array) else put(np.array(array, dtype, order="C").reshape(shape), target)
            for array, (shape, dtype) in zip(arrays, specs, strict=True)]


def is_out_of_memory(error):
    """Whether an exception of a program's run says that the device has no room.

    >>> is_out_of_memory(ValueError("no"))
    False
    """
    return isinstance(error, jax.errors.JaxRuntimeError) and str(error).startswith(("RESOURCE_EXHAUSTED", "Out of memory"))
