"""Profiles: regions as under PyTorch, runs of the tape as they are, and nothing that is made up."""
import gzip
import json
import time
import warnings

import pytest

import jtensor
from jtensor.trace import executor
from jtensor.trace.report import REPORT

from ..parity.lines import alike, listed

CPU = "a = [p.ProfilerActivity.CPU]; "
LINES = listed(r'''
    s = p.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1); [s(i).name for i in range(14)]
    s = p.schedule(wait=1, warmup=1, active=2); [s(i).name for i in range(10)]
    s = p.schedule(wait=2, warmup=0, active=1, skip_first=1, skip_first_wait=1); [s(i).name for i in range(10)]
    p.schedule(wait=-1, warmup=0, active=1)
    p.schedule(wait=0, warmup=0, active=0)
    p.schedule(wait=0, warmup=1, active=1)(-1)
    list(p.ProfilerAction), p.supported_activities(), str(p.ProfilerActivity.CPU)
    p.profile(activities=[])
    p.profile(activities=["cpu"])
    p.profile(activities=a).key_averages()
    p.profile(activities=a).events()
    p.profile(activities=a).export_chrome_trace("/nowhere")
    p.profile(activities=a).stop()
    with_ = p.record_function("a").__enter__(); with_.__exit__(None, None, None)
    p.record_function("a")(lambda x: x + 1)(2)
    regions(torch, p.profile(activities=a))
    regions(torch, p.profile(activities=a, schedule=p.schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=ready))
    regions(torch, p.profile(activities=a, schedule=p.schedule(wait=0, warmup=1, active=1), on_trace_ready=ready, acc_events=True))
    regions(torch, torch.autograd.profiler.profile())
    torch.autograd.profiler.profile(enabled=False).__enter__()
    header(torch, p.profile(activities=a), "cpu_time_total")
    header(torch, p.profile(activities=a), "foo")
    torch.autograd.profiler.record_function is p.record_function
''')


def ready(prof):
    READY.append(prof.step_num)


READY = []


def regions(torch, profile):
    """The names of the regions, how often each, and when the handler was called."""
    READY.clear()
    with profile as prof:
        for _ in range(5):
            with torch.profiler.record_function("outer"):
                with torch.profiler.record_function("inner"):
                    torch.ones(3) + 1
            if hasattr(prof, "step"):
                prof.step()
    mine = ("outer", "inner", "ProfilerStep*")
    return [(event.key, event.count) for event in prof.key_averages() if event.key in mine], READY


def header(torch, profile, by):
    """The lines of a table that no machine changes."""
    with profile as prof, torch.profiler.record_function("a region whose name is not short, so that no other has a longer one"):
        pass
    lines = prof.key_averages().table(sort_by=by, row_limit=1, header="told").splitlines()
    return lines[:5], lines[-2], lines[-1].split(":")[0]


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(CPU + line, ".profiler", regions=regions, ready=ready, header=header)


def test_what_is_asked_for_in_a_region_is_computed_in_it(tmp_path):
    x = jtensor.ones(20)
    y = x * 2                                                          # before: none of it
    with jtensor.profiler.profile() as prof:
        with jtensor.profiler.record_function("sleep"):
            time.sleep(0.03)
            z = y.exp()
        total = z.sum()
        total.item()
    sleep, run, read = prof.events()
    assert [e.name for e in (sleep, run, read)] == ["sleep", "jtensor::run (end of a region)", "jtensor::run (item())"]
    assert run.cpu_parent is sleep and sleep.cpu_children == [run] and read.cpu_parent is None
    assert sleep.cpu_time_total >= 30e3 and sleep.self_cpu_time_total == sleep.cpu_time_total - run.cpu_time_total
    assert run.operations == 1
    prof.add_metadata("told", "so")
    prof.export_chrome_trace(tmp_path / "packed.json.gz")
    with gzip.open(tmp_path / "packed.json.gz") as file:
        written = json.load(file)
    assert [e["name"] for e in written["traceEvents"]] == [e.name for e in prof.events()] and written["told"] == "so"
    assert [path.name for path in tmp_path.iterdir()] == ["packed.json.gz"]


def test_a_profile_leaves_nothing_behind():
    before = executor._run
    with pytest.raises(KeyError), jtensor.profiler.profile(), jtensor.profiler.record_function("a"):
        raise KeyError
    assert executor._run is before and "flushed" not in vars(REPORT)
    assert (jtensor.ones(2) + 1).tolist() == [2, 2]


def test_numbers_are_the_same():
    def compute():
        jtensor.manual_seed(0)
        x = jtensor.rand(30, requires_grad=True)
        with jtensor.profiler.record_function("forward"):
            y = (x.exp() * 3).sin()
        y.sum().backward()
        return x.grad.tolist()
    plain = compute()
    with jtensor.profiler.profile():
        assert compute() == plain


def test_a_file_for_each_trace(tmp_path):
    handler = jtensor.profiler.tensorboard_trace_handler(str(tmp_path), worker_name="w")
    with jtensor.profiler.profile(on_trace_ready=handler), jtensor.profiler.record_function("a"):
        pass
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("w.") and file.name.endswith(".pt.trace.json") and "traceEvents" in json.loads(file.read_text())


def test_what_there_is_not():
    with pytest.warns(UserWarning, match="does not have with_stack; what works: jtensor.report"):
        prof = jtensor.profiler.profile(with_stack=True)
    with prof:
        pass
    assert str(prof.key_averages(group_by_stack_n=2)) == str(prof.key_averages())              # stacks were warned of
    for refused in (lambda: prof.export_stacks("a"), lambda: prof.export_memory_timeline("a"), jtensor.autograd.profiler.emit_nvtx):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()
    with jtensor.autograd.profiler.profile() as one:
        with pytest.raises(RuntimeError, match="already enabled"):
            jtensor.profiler.profile().start()
    assert str(one) == ""
