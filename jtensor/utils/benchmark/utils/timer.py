"""Taking the time of a statement. Owns: `Timer`, and the clock, which first has everything done that was asked for.

Operations are recorded, and only what somebody holds is ever computed. So a statement that is one expression hands its result to the timer,
which has it computed at each run; what other statements leave is computed at the end of a block of runs.
"""
import ast
import enum
import textwrap
import timeit
import warnings

import numpy as np

from ....base import devices
from ....base.errors import missing
from ....trace import executor
from .common import Measurement, TaskSpec

_RESULT = "_benchmark_result"


def timer():
    """Seconds of a clock, after everything has been computed that was asked for."""
    executor.flush("benchmark")
    devices.settle()
    return timeit.default_timer()


def _computed(result):
    """Has a statement's result computed."""
    executor.flush("benchmark")


class Language(enum.Enum):
    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a Python statement: ``stmt`` after ``setup``, with the names in ``globals``.

    ``label``, ``sub_label``, ``description``, ``env``: what tells the measurement from others; ``num_threads`` is what XLA was started
    with, whatever is given (with a warning if that is another number than 1). C++ is refused with `NotImplementedError`.

    >>> found = torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(3)}).timeit(10)
    >>> found.number_per_run, found.median > 0
    (10, True)
    """

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None, description=None,
                 env=None, num_threads=1, language=Language.PYTHON):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise missing("benchmarks of C++", "a statement of Python")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        stmt, setup = (textwrap.dedent(text).strip() if "\n" in text else text for text in (stmt, setup))
        import jtensor
        threads = jtensor.get_num_threads()                            # as many as XLA has been started with, or will be
        if num_threads not in (1, threads):
            warnings.warn(f"XLA works with {threads} threads from its start on, and so does this Timer, which was asked for {num_threads}",
                          UserWarning, stacklevel=2)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, threads)
        self._globals = {"torch": jtensor, **(globals or {}), _RESULT: _computed}
        self._timer = timeit.Timer(_handing_over(stmt), setup, timer, self._globals)

    def _timeit(self, number):
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number=1000000):
        """One measurement of ``number`` runs."""
        self._timeit(max(int(number // 100), 2))                       # the first runs compile
        return Measurement(number, [self._timeit(number)], self._task_spec)

    def _block_of(self, seconds):
        """How many runs take so long that the clock does not tell; ``seconds``: how long a block should be at least."""
        number = 1
        self._timeit(2)
        overhead = float(np.median([_EMPTY.timeit(0) for _ in range(5)]))
        while True:
            took = self._timeit(number)
            if overhead / took <= 1e-4 and took >= seconds / 1000 or took > seconds:
                return number
            number *= 10

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Measurements of as many runs as the clock needs, for ``min_run_time`` seconds together; ``callback(runs, seconds)`` sees each."""
        number, times, total = self._block_of(min_run_time), [], 0.0
        while total < min_run_time or not times:
            times.append(self._timeit(number))
            total += times[-1]
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Measurements until the interquartile range is below ``threshold`` of the median, or ``max_run_time`` seconds have gone."""
        number, times, total = self._block_of(0.05), [], 0.0
        found = Measurement(number, times, self._task_spec)
        while total < max_run_time:
            times.append(self._timeit(number))
            total += times[-1]
            if callback is not None:
                callback(number, times[-1])
            if len(times) > 3 and total >= min_run_time and found.meets_confidence(threshold):
                break
        return found

    autorange = blocked_autorange

    def collect_callgrind(self, *args, **kwargs):
        """Refuses: instructions are not counted."""
        raise missing("counts of instructions (Callgrind)", "timeit, blocked_autorange and adaptive_autorange")


def _handing_over(stmt):
    """A statement that is one expression, as one that hands its result over; any other as it is."""
    try:
        body = ast.parse(stmt).body
    except SyntaxError:                             # timeit will say so
        return stmt
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        return stmt
    return f"{_RESULT}((\n{stmt}\n))"


_EMPTY = timeit.Timer("pass", timer=timer)
