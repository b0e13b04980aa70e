"""Measurements side by side: a table with a column for each description and a row for each sub-label. Owns: `Compare` and its layout."""
import itertools
import math

from ....base.errors import missing
from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english


class Compare:
    """A table of measurements: one for each label; rows by threads and sub-label, columns by description.

    >>> bench = torch.utils.benchmark
    >>> bench.Compare([bench.Measurement(1, [1e-4], bench.TaskSpec("x", "pass", label="sum", description="ours"))]).print()
    [----- sum -----]
             |   ours
    1 threads: ------
          x  |  100.0
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results):
        self._results, self._trim = [], False
        self.extend_results(results)

    def extend_results(self, results):
        """Adds measurements; ``ValueError`` for anything else."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Shows no more figures than the measurements bear."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Is heard: tables have no colours here, and say the same without."""

    def highlight_warnings(self):
        """Refuses: tables mark no measurements here."""
        raise missing("marked measurements", "Measurement.has_warnings, and the text of each")

    def print(self):
        """Prints the table."""
        print(str(self))

    def __str__(self):
        merged = Measurement.merge(self._results)
        groups = {}
        for one in merged:
            groups.setdefault(one.task_spec.label or one.task_spec.stmt, []).append(one)
        return "\n".join([_table(title, group, self._trim) for title, group in groups.items()])


def _table(title, results, trim):
    columns = ordered_unique([one.task_spec.description for one in results])
    rows = ordered_unique([(one.task_spec.env, one.task_spec.num_threads, one.as_row_name) for one in results])
    unit, scale = select_unit(min(one.median for one in results))
    figures = {}
    for column in columns:
        mine = [one for one in results if one.task_spec.description == column]
        places = max([_places(one, scale, trim) for one in mine])
        for one in mine:
            shown = trim_sigfig(one.median / scale, one.significant_figures) if trim else one.median / scale
            figures[(one.task_spec.env, one.task_spec.num_threads, one.as_row_name), column] = f"{shown:.{places}f}"
    named = [name for _, _, name in rows]
    width = 6 + max(map(len, named))
    lengths = [max([len(text) for (_, at), text in figures.items() if at == column]) for column in columns]
    widths = [max([len(column or ""), *(len(figures.get((row, column), "")) for row in rows)]) for column in columns]
    total = width + sum(2 + 3 + w for w in widths)
    lines = [f"[{f' {title} '.center(total - 2, '-')}]",
             " " * width + "".join(f"  |  {(column or '').center(w)}" for column, w in zip(columns, widths))]
    for threads, group in itertools.groupby(rows, lambda row: row[1]):
        lines.append(f"{threads} threads: ".ljust(total, "-"))
        lines += [f"      {row[2]}".ljust(width) + "".join(f"  |  {figures.get((row, column), '').rjust(n).center(w)}"
                                                            for column, n, w in zip(columns, lengths, widths)) for row in group]
    return "\n".join([*lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])


def _places(one, scale, trim):
    """How many places after the point show the figures that a measurement bears."""
    return max(0, one.significant_figures - math.ceil(math.log10(one.median / scale))) if trim else 1
