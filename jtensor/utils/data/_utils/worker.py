"""What a worker of a DataLoader is to the numbers: random generators of its own (seeded with the loader's seed plus its number), a dataset
of its own, ``get_worker_info()``, and its turn.

Owns: these, and `Worker`, which keeps all of them within the calling process, for datasets of which nobody can tell (`fetch.is_table`). May
not know: processes (`process`).
"""
import copy
import random
from collections import deque

import numpy as np

import jtensor

_current = None


class WorkerInfo:
    """Who is working: ``id``, ``num_workers``, ``seed``, and the worker's copy of the ``dataset``."""

    def __init__(self, id, num_workers, seed, dataset):
        self.__dict__.update(id=id, num_workers=num_workers, seed=seed, dataset=dataset, rng=None, worker_method="multiprocessing")

    def __setattr__(self, name, value):
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def get_worker_info():
    """The worker that is at work, or None outside of one."""
    return _current


def _generate_state(base_seed, worker_id):
    """Four numbers of 32 bits, by which a library seeds a generator of a worker: NumPy's, of the worker's number and the seed."""
    return np.random.SeedSequence([worker_id, base_seed]).generate_state(4).tolist()


def _random_states():
    return random.getstate(), np.random.get_state(), jtensor.get_rng_state()


def _set_random_states(states):
    random.setstate(states[0])
    np.random.set_state(states[1])
    jtensor.set_rng_state(states[2])


class _Lines(str):
    """A text that shows its lines as they are where a KeyError, which shows what it holds by its repr, holds it."""

    def __repr__(self):
        return str(self)


def described(error, id):
    """What a worker's exception says elsewhere: its traceback."""
    import traceback
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return f"Caught {type(error).__name__} in DataLoader worker process {id}.\nOriginal {text}"


def again(kind, text):
    """The worker's exception as PyTorch hands it on: of the same type, with what it said."""
    try:
        return kind(_Lines(text) if kind is KeyError else text)
    except Exception:  # a constructor of another form
        return RuntimeError(text)


def begin(id, num_workers, base_seed, dataset, worker_init_fn, place):
    """Makes this process a worker: its random numbers, what `get_worker_info` answers, what the user wants done. ``place``: of a stream of
    pipes, which is seeded as in all workers and told which part of it is this one's."""
    global _current
    if place is not None:
        place.set_seed(dataset)
    _current = WorkerInfo(id, num_workers, base_seed + id, dataset)
    _start(_current, base_seed, worker_init_fn, place)


def _start(info, base_seed, worker_init_fn, place=None):
    random.seed(info.seed)
    jtensor.manual_seed(info.seed)
    words = [info.id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(words).generate_state(4))
    if place is not None:
        place.share(info.dataset, info.id, info.num_workers)
    if worker_init_fn is not None:
        worker_init_fn(info.id)


class Worker:
    """One worker within this process: ``fetch`` runs in its surroundings. ``ask`` and ``answer`` as those of `process.WorkerProcess`."""

    def __init__(self, id, loader, base_seed, make_fetcher):
        dataset = loader.dataset
        try:
            dataset = copy.copy(dataset)  # so that what a worker writes to its dataset's attributes stays its own
        except Exception:
            pass
        self.info = WorkerInfo(id, loader.num_workers, base_seed + id, dataset)
        self.make_fetcher, self.alive, self.states, self.asked = make_fetcher, True, None, deque()
        self._inside(_start, self.info, base_seed, loader.worker_init_fn)
        self.fetcher = self._inside(make_fetcher, dataset)

    def ask(self, index):
        """Puts an index down for `answer`."""
        self.asked.append(index)

    def answer(self):
        """The data of the index asked first; StopIteration where a stream has ended."""
        return self._inside(self.fetcher.fetch, self.asked.popleft())

    def restart(self):
        """Begins another pass with the same generators."""
        self.alive = True
        self.asked.clear()
        self.fetcher = self._inside(self.make_fetcher, self.info.dataset)

    def end(self):
        """Nothing: there is no process."""

    def _inside(self, function, *args):
        """Calls a function with this worker's generators and as this worker; the caller's generators are left as they were."""
        global _current
        outside, outer = _random_states(), _current
        if self.states is not None:
            _set_random_states(self.states)
        _current = self.info
        try:
            return function(*args)
        except StopIteration:
            raise
        except Exception as e:
            raise again(type(e), described(e, self.info.id)) from None
        finally:
            self.states = _random_states()
            _set_random_states(outside)
            _current = outer
