"""Measurements and their text as PyTorch writes them; a timer that measures what is computed."""
import importlib

import pytest

import jtensor
from jtensor.trace.report import REPORT

from ..parity.lines import alike, listed


def made(name):
    """A function that makes measurements of a library."""
    bench = importlib.import_module(f"{name}.utils.benchmark")

    def measurement(times, number=10, stmt="x + 1", setup="pass", **told):
        return bench.Measurement(number, times, bench.TaskSpec(stmt, setup, **told))
    return measurement


MADE = "m = made(torch.__name__); "
LINES = listed(r'''
    m([1e-4])
    m([1e-5, 1.1e-5])
    m([1e-3, 1.1e-3, 1.2e-3, 1.05e-3, 1.02e-3], label="L", sub_label="S", description="D", num_threads=4)
    m([2.0, 3.0, 10.0, 1, 1, 2], stmt="a\nb", setup="import c\nd", env="E")
    m([5e-3, 9e-3, 3e-3, 1e-2, 2e-3], setup="import a", sub_label="q")
    m([1e-9])
    [m([0.5] * 20).significant_figures, m([1e-5]).significant_figures, m([1e-3, 2e-3, 3e-3]).significant_figures, m([1e-3]).has_warnings]
    m([1.0]).title, m([1.0], label="a").as_row_name, m([1.0], sub_label="a").as_row_name, m([1.0]).env, m([1.0]).stmt, m([1.0]).num_threads
    p.Measurement.merge([m([1e-4], description="a"), m([2e-4], description="a"), m([1.], description="b")])
    p.select_unit(1e-5), p.unit_to_english("us"), p.trim_sigfig(1234.5, 2), p.ordered_unique([1, 2, 1])
    str(p.Compare([m([1e-4] * 4, label="L", sub_label="1", description="a"), m([2e-4] * 4, label="L", sub_label="1", description="b")]))
    p.Timer(stmt=3)
    p.Timer(stmt="x", language="foo")
    p.Timer(stmt="raise ValueError('a')").timeit(1)
    p.Compare([3])
''')


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    pytest.importorskip("torch")
    alike(MADE + line, ".utils.benchmark", made=made)


@pytest.mark.parametrize("trimmed", [False, True])
def test_tables(trimmed):
    pytest.importorskip("torch")
    texts = []
    for name in ("torch", "jtensor"):
        measurement, told = made(name), {"label": "Batched dot"}
        table = importlib.import_module(f"{name}.utils.benchmark").Compare([
            measurement([1.234e-4] * 4, sub_label="[1, 1]", description="mul/sum", **told),
            measurement([2.3456e-2] * 4, sub_label="[1, 1]", description="bmm", **told),
            measurement([1.5e-4, 1.6e-4, 1.7e-4, 1.2e-4], sub_label="[1024, 10000]", description="mul/sum", **told),
            measurement([1e-1] * 4, sub_label="[1024, 10000]", description="bmm", num_threads=16, **told)])
        if trimmed:
            table.trim_significant_figures()
        texts.append(str(table))
    assert texts[0] == texts[1]


def test_an_expression_is_computed_at_each_run():
    x = jtensor.ones(50)
    timer = jtensor.utils.benchmark.Timer("x.exp() + 1", globals={"x": x})
    before = REPORT.nodes
    found = timer.timeit(20)
    assert found.number_per_run == 20 and len(found.times) == 1 and 0 < found.median < 1
    assert REPORT.nodes - before >= 2 * 22                         # two runs to begin with


def test_ranges_of_runs():
    timer = jtensor.utils.benchmark.Timer("y = x + 1", setup="x = torch.ones(3)")
    seen = []
    found = timer.blocked_autorange(min_run_time=0.01, callback=lambda number, took: seen.append(number))
    assert len(seen) == len(found.times) and set(seen) == {found.number_per_run}
    assert timer.adaptive_autorange(max_run_time=0.1).times
    with pytest.raises(NotImplementedError, match="Callgrind"):
        timer.collect_callgrind()
    with pytest.raises(NotImplementedError, match="C\\+\\+"):
        jtensor.utils.benchmark.Timer("x", language="c++")
