"""A worker of a DataLoader that is a process: it is sent indices, and sends what it has fetched for them, in the same order.

Owns: the process, its pipe, how it ends and what is said if it ends by itself. A batch's tensors go through one stretch of memory, whose
descriptor is sent; it is nobody's but the reader's then. May not know: samplers, the order of workers.
"""
import contextlib
import functools
import io
import os
import pickle
import queue
import signal
import threading
import warnings
from multiprocessing import connection, reduction

import numpy as np

import jtensor

from ....storage.shared import Region, new_file
from ....tensor.creating.from_data import from_host
from ....tensor.looking import host_copy
from ....tensor.memory.sending import refuse_history
from . import worker
from .fetch import FETCHERS

_BYTES = np.dtype(np.uint8)
_SMALL = 1 << 15            # bytes of tensors that go with the message itself
_ALIGNED = 64               # so that XLA takes the memory as it is
_PATIENCE = 5.0             # seconds after which a worker looks whether there is still somebody who asks, and after which one is ended


class WorkerProcess:
    """``ask(index)`` any number of times, then ``answer()`` as often; ``restart()`` begins another pass, ``end()`` ends it.

    ``kind``, ``options``: of the fetcher (`fetch.FETCHERS`). ``context``: of `multiprocessing`. ``place``: of a stream of pipes.
    """

    alive = True            # whether its stream goes on

    def __init__(self, id, context, loader, kind, options, base_seed, place=None):
        self._pipe, theirs = context.Pipe()
        begin = id, loader.num_workers, base_seed, loader.dataset, loader.worker_init_fn, place
        self._process = context.Process(target=_work, args=(theirs, begin, kind, options), daemon=True)
        try:
            self._process.start()
        except (TypeError, AttributeError, pickle.PicklingError):
            warnings.warn("Got pickle error when attempting to start a worker Process. This might be because the worker Process arguments "
                          "are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms to "
                          "'forkserver', which requires the worker Process arguments to be picklable. You can also try "
                          "multiprocessing.set_start_method('fork').", stacklevel=2)
            raise
        self._timeout, self._asked, self._owner = loader.timeout, 0, os.getpid()
        self._ends = [self._process.sentinel] if hasattr(self._process, "sentinel") else []      # a context of threads has none
        if self._ends:
            theirs.close()

    def ask(self, index):
        self._asked += 1
        self._send("fetch", index)

    def restart(self, place=None):
        """Another pass with the same process; answers that nobody has waited for are thrown away. ``place``: of a stream of pipes."""
        while self._asked:
            self._received()
        self.alive = True
        self._send("restart", place)

    def answer(self):
        """What was fetched for the index asked first; StopIteration where a stream has ended, or the exception that the worker raised."""
        found = self._received()
        if found.__class__ is _Ended:
            raise StopIteration
        if found.__class__ is _Raised:
            raise found.error()
        return found

    def end(self):
        """Ends the process, which is waited for. In a child of fork, which has a copy of this, nothing: it is its parent's."""
        if os.getpid() != self._owner:
            return
        try:
            self._pipe.send_bytes(pickle.dumps(("end", None)))
        except (OSError, ValueError):                       # it has ended, or has been told
            pass
        self._pipe.close()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()

    def _send(self, what, index=None):
        try:
            self._pipe.send_bytes(pickle.dumps((what, index)))
        except OSError:
            self._raise_of_end()

    def _received(self):
        ready = connection.wait([self._pipe, *self._ends], self._timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        try:
            if self._pipe not in ready and not self._pipe.poll():
                raise EOFError
            found = _unpacked(self._pipe)
        except (EOFError, OSError):
            self._raise_of_end()
        self._asked -= 1
        return found

    def _raise_of_end(self):
        self._process.join(_PATIENCE)
        code, pid = self._process.exitcode, self._process.pid
        how = (f"is killed by signal: {signal.strsignal(-code)}. " if code is not None and code < 0 else
               f"exited unexpectedly with exit code {code}. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give "
               "better error trace.")
        why = RuntimeError(f"DataLoader worker (pid {pid}) {how}")
        raise RuntimeError(f"DataLoader worker (pid(s) {pid}) exited unexpectedly") from why


class _Ended:
    """A stream has ended."""


class _Raised:
    """What an exception says in the process that it did not happen in."""

    def __init__(self, error, id):
        self.type, self.text = type(error), worker.described(error, id)

    def error(self):
        return worker.again(self.type, self.text)


# -- in the process ---------------------------------------------------------------------------------------------------

def _work(pipe, begin, kind, options):
    requests = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, requests, os.getppid()), daemon=True).start()
    id, dataset = begin[0], begin[3]
    answer = functools.partial(_answer, kind, id)
    try:
        begun = answer(worker.begin, *begin)                                # None, or what was raised
        what, index = "restart", None
        while what != "end":
            if what == "restart":
                if index is not None:
                    index.set_seed(dataset)
                fetcher = begun or answer(FETCHERS[kind], dataset, *options)
            else:
                _send(pipe, fetcher if fetcher.__class__ is _Raised else answer(fetcher.fetch, index), id)
            what, index = requests.get()
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):      # the loader's process says what there is to say
        pass


def _answer(kind, id, function, *args):
    """What a function answers, or what has to be sent if it raises."""
    try:
        return function(*args)
    except Exception as error:
        return _Ended() if kind and error.__class__ is StopIteration else _Raised(error, id)


def _listen(pipe, requests, parent):
    """Takes up requests at once, so that nobody waits in sending one; ends the process when that is asked, or its parent is gone."""
    try:
        while True:
            if pipe.poll(_PATIENCE):
                request = pickle.loads(pipe.recv_bytes())
                if request[0] == "end":
                    break
                requests.put(request)
            elif os.getppid() != parent:
                break
    except (EOFError, OSError):
        pass
    with contextlib.suppress(queue.Empty):                  # nobody waits for these
        while True:
            requests.get_nowait()
    requests.put(("end", None))


# -- batches ----------------------------------------------------------------------------------------------------------
# A message is a pickle in which tensors are numbers, the place, type and shape of each of them, and the bytes of all, which come with the
# message if they are few, else through memory without a name.

def _send(pipe, answer, id):
    arrays, out = [], io.BytesIO()
    try:
        _Packing(out, arrays).dump(answer)
    except Exception as error:
        arrays, out = [], io.BytesIO()
        pickle.dump(_Raised(error, id), out)
    where, size = [], 0
    for array in arrays:
        where.append((size, array.dtype, array.shape))
        size += -(-array.nbytes // _ALIGNED) * _ALIGNED
    region = Region(new_file(), _BYTES, size) if size > _SMALL and os.name == "posix" else None
    room = np.zeros(size, _BYTES) if region is None else region.elements
    for (at, _, _), array in zip(where, arrays, strict=True):
        room[at:at + array.nbytes] = array.reshape(-1).view(_BYTES)
    pipe.send_bytes(pickle.dumps((out.getvalue(), where, room.tobytes() if region is None else None, size)))
    if region is not None:
        reduction.send_handle(pipe, region.descriptor, os.getppid())


def _unpacked(pipe):
    body, where, inside, size = pickle.loads(pipe.recv_bytes())
    room = Region(reduction.recv_handle(pipe), _BYTES, size).elements if inside is None else np.frombuffer(inside, _BYTES).copy()
    arrays = [room[at:at + dtype.itemsize * int(np.prod(shape))].view(dtype).reshape(shape) for at, dtype, shape in where]
    return _Unpacking(io.BytesIO(body), arrays).load()


class _Packing(pickle.Pickler):
    """A pickler for which the plain tensors in what it is given are numbers of arrays."""

    def __init__(self, file, arrays):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.arrays, self.known, self.tensors = arrays, {}, []

    def persistent_id(self, thing):
        if isinstance(thing, jtensor.Tensor):
            refuse_history(thing)
        if type(thing) is not jtensor.Tensor or thing.requires_grad or thing.device.type != "cpu" or not thing.is_contiguous():
            return None
        found = self.known.get(id(thing))
        if found is None:
            found = self.known[id(thing)] = len(self.arrays)
            self.arrays.append(np.asarray(host_copy(thing, "pickle"), order="C"))
            self.tensors.append(thing)                      # so that none has another's id
        return found, thing.dtype


class _Unpacking(pickle.Unpickler):
    def __init__(self, file, arrays):
        super().__init__(file)
        self.arrays, self.made = arrays, {}

    def persistent_load(self, id):
        found = self.made.get(id[0])
        if found is None:
            found = self.made[id[0]] = from_host(self.arrays[id[0]], id[1], ours=True)
        return found
