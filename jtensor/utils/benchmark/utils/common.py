"""What was measured, and its text. Owns: `TaskSpec`, `Measurement`, units. May not know: how time is taken."""
import collections
import contextlib
import dataclasses
import math
import textwrap

import numpy as np

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_SUSPECT, _GROSS = 0.1, 0.25                     # of the median: an interquartile range above which a measurement is doubted
_FINEST = 25e-9                                  # seconds; no measurement is trusted to less


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What is measured: a statement and what tells it from others."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self):
        """The label, or else the statement."""
        more = self.sub_label
        if self.label is not None or "\n" not in self.stmt:
            return (self.stmt if self.label is None else self.label) + (f": {more}" if more else "")
        return f"stmt:{f' ({more})' if more else ''}\n{textwrap.indent(self.stmt, '  ')}"

    @property
    def setup_str(self):
        """The setup, if there is one."""
        if self.setup in ("pass", "") or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self):
        """Title, description and setup, on lines of their own."""
        return "\n".join([f"{part}\n" if "\n" in part else part for part in (self.title, self.description or "", self.setup_str) if part])


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of a statement: ``raw_times`` in seconds, each for ``number_per_run`` runs.

    >>> Measurement(10, [1e-4], TaskSpec("x + 1", "pass"))
    <torch.utils.benchmark.utils.common.Measurement object at 0x...>
    x + 1
      10.00 us
      1 measurement, 10 runs , 1 thread
    """

    number_per_run: int
    raw_times: list
    task_spec: TaskSpec
    metadata: dict | None = None

    def __getattr__(self, name):
        if name != "task_spec" and hasattr(TaskSpec, name) or name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self):
        """Seconds a run."""
        return [t / self.number_per_run for t in self.raw_times]

    def _quantile(self, q):
        return float(np.quantile(np.asarray(self.times, np.float64), q)) if self.raw_times else math.nan

    @property
    def median(self):
        return self._quantile(0.5)

    @property
    def mean(self):
        return float(np.mean(np.asarray(self.times, np.float64))) if self.raw_times else math.nan

    @property
    def iqr(self):
        """The range that half of the times lie in, in seconds."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self):
        """How many figures of the median are worth telling: by the spread of the times in the middle, 1 to 4."""
        times, count = sorted(self.times), len(self.raw_times)
        middle = times[count // 4:math.ceil(3 * count / 4)]
        spread = max(1.645 * float(np.std(middle)) / math.sqrt(len(middle)), _FINEST)
        return min(max(math.floor(-math.log10(spread / self.median)), 1), 4)

    @property
    def has_warnings(self):
        return bool(self._warnings())

    def _warnings(self):
        for limit, said in ((_GROSS, "This suggests significant environmental influence."),
                            (_SUSPECT, "This could indicate system fluctuation.")):
            if not self.meets_confidence(limit):
                part = self.iqr / self.median * 100
                return f"  WARNING: Interquartile range is {part:.1f}% of the median measurement.\n           {said}\n"
        return ""

    def meets_confidence(self, threshold=_SUSPECT):
        """Whether the interquartile range is less than this part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self):
        return self.task_spec.title

    @property
    def env(self):
        return self.task_spec.env

    @property
    def as_row_name(self):
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self):
        count, threads = len(self.raw_times), self.task_spec.num_threads
        unit, scale = select_unit(self.median)
        lines = [f"{object.__repr__(self)}\n{self.task_spec.summarize()}"]
        lines.append(f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}")
        if count >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(f"  {count} measurement{'s' if count > 1 else ''}, {self.number_per_run} runs {'per measurement' if count > 1 else ''}"
                     f", {threads} thread{'s' if threads > 1 else ''}\n{self._warnings()}".rstrip())
        return "\n".join(lines)

    @staticmethod
    def merge(measurements):
        """Joins the times of what is the same task; a list of measurements, of one run each."""
        groups = collections.defaultdict(list)
        for one in measurements:
            groups[one.task_spec].append(one)
        return [Measurement(1, [t for one in group for t in one.times], task, None) for task, group in groups.items()]


Measurement.__module__ = TaskSpec.__module__ = "torch.utils.benchmark.utils.common"


def select_unit(t):
    """(name, seconds) of the unit that suits a time.

    >>> torch.utils.benchmark.select_unit(2e-5)
    ('us', 1e-06)
    """
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(math.log10(t) // 3) if t > 0 else None, "s")
    return unit, _SECONDS[unit]


def unit_to_english(u):
    """The unit in a word."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x, n):
    """A number rounded to so many significant figures.

    >>> torch.utils.benchmark.trim_sigfig(1234.5, 2)
    1200.0
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    magnitude = math.ceil(math.log10(abs(x)))
    scale = 10 ** (magnitude - n)
    return float(math.floor(x / scale + 0.5) * scale)


def ordered_unique(elements):
    """Each element once, where it stood first."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n):
    """Within it, `torch.get_num_threads()` is ``n``."""
    import jtensor
    before = jtensor.get_num_threads()
    try:
        _set(jtensor, n)
        yield
    finally:
        _set(jtensor, before)


def _set(torch, n):
    if n != torch.get_num_threads():
        torch.set_num_threads(n)
