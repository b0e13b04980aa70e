"""Samplers' inner loops as XLA programs of the host: when one is made, where it is kept, and the proof that it may serve.

Owns `HostProgram`: compiled in the background once enough has been drawn to show that it will pay, kept on disk with the other programs,
and used only after it has given a sample of known answers bit for bit. Whoever asks goes on in NumPy until then; the numbers are the
same, so nobody can tell when the change came. Also the places where these run: XLA takes a device's programs one after the other, so
that on the device of everybody else a draw would wait for what a training step has begun. Knows the programs' cache and the compiler, no
distribution.
"""
import contextlib
import math
import threading

import jax
import numpy as np

from ..base import compat, devices
from ..base.background import Worker
from ..trace.cache import store
from ..trace.lowering import executable

_WORKER = Worker("random programs")
_OPTIONS = {
    "xla_cpu_multi_thread_eigen": False,        # one thread each: what they do is over before others have woken up
    # A loop becomes one piece of machine code, whatever it looks at; else a turn is a list of kernels, at some hundred nanoseconds each.
    "xla_backend_extra_options": (f"xla_cpu_small_while_loop_byte_threshold={1 << 30}",),
}


class HostProgram:
    """A program for the CPU that a sampler may use when it is there.

    ``function``: of flat arrays, to a list of arrays. ``inputs``: a (shape, dtype) for each. ``pays_after``: how many numbers must have
    been asked for before it is worth making. ``proof(run)``: whether its answers are right, asked once in each process. ``beside``:
    whether it runs in a thread of XLA's while the caller goes on; else in the caller's own, and its results are there when it answers.
    What it is given comes by `put` with the same ``beside``.

    >>> import numpy as np
    >>> double = HostProgram("example", lambda x: [x + x], [((2,), np.float64)], 10, lambda run: np.asarray(run([np.ones(2)])[0])[0] == 2)
    >>> double.after(3) is None
    True
    >>> np.asarray(double.now()([np.array([3.0, 4.0])])[0])
    array([6., 8.])
    """

    def __init__(self, name, function, inputs, pays_after, proof, beside=False):
        self.name, self._function, self._inputs, self._beside = "random " + name, function, inputs, beside
        self._pays_after, self._proof = pays_after, proof
        self._lock = threading.Lock()
        self._asked, self._handle, self._run, self._wrong, self._desks = 0, None, None, False, []

    def after(self, numbers):
        """The program's ``run``, or None: it is not worth it yet, not there yet, not right on this machine, or this is a forked child."""
        if compat.is_forked():              # whose own client has no such place, and would have to compile all anew
            return None
        if self._run is not None or self._wrong:
            return self._run
        with self._lock:
            self._asked += numbers
            if self._handle is None and self._asked >= self._pays_after:
                self._handle = _WORKER.submit(self._made, name=self.name)
            handle = self._handle
        if handle is None or not handle.done():
            return None
        return self._taken(handle)

    def now(self):
        """The program's ``run``, waited for if need be; None if it is not right on this machine."""
        with self._lock:
            if self._handle is None:
                self._handle = _WORKER.submit(self._made, name=self.name)
        return self._taken(self._handle)

    @contextlib.contextmanager
    def desk(self):
        """A `Desk` for the program's inputs, of one that does not run ``beside``; nobody else's meanwhile."""
        with self._lock:
            desk = self._desks.pop() if self._desks else None
        desk = desk or Desk(self._inputs)
        try:
            yield desk
        finally:
            self._desks[:] = [desk]         # one is kept

    def _taken(self, handle):
        try:
            run = handle.result().run
            right = bool(self._proof(run))
        except Exception:       # a compiler that cannot do it is a reason to stay with NumPy, not to fail
            right = False
        if right:
            self._run = run
        else:
            self._wrong = True
        return self._run

    def _made(self):
        device = _place(self._beside)
        found = store.load(self.name, device)
        if found is None:
            avals = [jax.ShapeDtypeStruct(*spec) for spec in self._inputs]
            found = executable.compile_program(self._function, avals, device=device, name=self.name, options=_OPTIONS)
            store.save(self.name, found, device)
        return found


class Desk:
    """NumPy arrays to write to, and what a program is given of them: they lie where XLA reads them, and are not copied for each run.

    Nobody may write to them while the program runs.
    """

    def __init__(self, inputs):
        self.arrays = [_aligned(shape, np.dtype(dtype)) for shape, dtype in inputs]
        self._given = [put(array) for array in self.arrays]
        self._shared = all(theirs.unsafe_buffer_pointer() == ours.ctypes.data for theirs, ours in zip(self._given, self.arrays))

    def given(self):
        """The arrays as a program takes them."""
        return self._given if self._shared else [put(array.copy()) for array in self.arrays]


def _aligned(shape, dtype):
    """Zeros that begin where XLA wants an array to begin."""
    count = math.prod(shape)
    room = np.zeros(count * dtype.itemsize + _ALIGNED, np.uint8)
    start = -room.ctypes.data % _ALIGNED
    return room[start : start + count * dtype.itemsize].view(dtype).reshape(shape)


_ALIGNED = 64       # bytes


# -- where they run ------------------------------------------------------------------------------------------------------------------


def put(array, beside=False):
    """The array for a host program, not copied where that can be: nobody may write to it any more."""
    return compat.put(array, _place(beside))


def _place(beside):
    return _PLACES.get(beside) or _new_place(beside)


_PLACES, _PLACES_LOCK = {}, threading.Lock()


def _new_place(beside):
    """A device with a queue of its own, or (``beside`` false) none at all; where JAX has no way to make one, the device of everybody."""
    with _PLACES_LOCK:
        if beside not in _PLACES:
            _PLACES[beside] = compat.cpu_apart(queue=beside) or devices.jax_device(devices.cpu)     # else a draw may have to wait
        return _PLACES[beside]
