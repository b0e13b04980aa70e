"""Profiles: regions as under PyTorch, operators and runs of the tape as they are, and nothing that is made up."""
import gzip
import json
import subprocess
import sys
import threading
import time
import warnings

import pytest

import jtensor
import jtensor._C._profiler
from jtensor.autograd import engine
from jtensor.ops.registry import REGISTRY
from jtensor.profiler import files
from jtensor.trace import executor
from jtensor.trace.report import REPORT
from jtensor.trace.tape import LOCAL
from jtensor.utils._python_dispatch import TorchDispatchMode

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
    q = p.profile(activities=a + [p.ProfilerActivity.CUDA]); q.__enter__(); q.__exit__(None, None, None); q.use_device, len(q.events())
    p.profile(use_cuda=False).activities
    p.profile(activities=a * 2)
    p.profile(activities=[3])
    p.profile(activities=[*a, 3])
    p.profile(activities=[{a[0]: ["x"]}]).activities
    p.profile().get_trace_id(), p.profile(activities=a).use_device
    p.profile(activities=a, custom_trace_id_callback=lambda: "mine").get_trace_id()
    q = torch.autograd.profiler.profile(); q.table(), q.function_events, str(q), q.total_average(), q.self_cpu_time_total
    q = torch.autograd.profiler.profile(); str(q), repr(q)
    q = torch.autograd.profiler.profile(); q.__enter__(); q.__exit__(None, None, None); q.__enter__()
    p.profile().export_stacks("x")
    inside(torch, p.profile(activities=a))
    str(p.DeviceType.CPU), repr(p.DeviceType.CUDA)
    sorted(p.__all__)
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


def inside(torch, profile):
    """What there is before the end: no events."""
    with profile as prof:
        torch.ones(2)
        return prof.events(), prof.key_averages()


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
        alike(CPU + line, ".profiler", regions=regions, ready=ready, header=header, inside=inside)


def test_a_fused_profile_computes_in_a_region_what_is_asked_for_there(tmp_path):
    x = jtensor.ones(20)
    y = x * 2                                                          # before: none of it
    with jtensor.profiler.profile(fused=True) as prof:
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
    spans = [e for e in written["traceEvents"] if e["ph"] == "X"]
    assert [e["name"] for e in spans] == [e.name for e in prof.events()] and written["told"] == "so"
    assert spans[1]["args"]["Operations"] == 1 and [path.name for path in tmp_path.iterdir()] == ["packed.json.gz"]


@pytest.mark.parametrize("fused", (False, True))
def test_a_profile_leaves_nothing_behind(fused):
    before, codes = executor._run, {function: function.__code__ for function in _told()}
    with pytest.raises(KeyError), jtensor.profiler.profile(fused=fused), jtensor.profiler.record_function("a"):
        assert fused or any(function.__code__ is not code for function, code in codes.items())
        raise KeyError
    assert executor._run is before and "flushed" not in vars(REPORT) and not LOCAL.eager
    assert all(function.__code__ is code for function, code in codes.items())
    assert (jtensor.ones(2) + 1).tolist() == [2, 2]


def _told():
    """Functions that a profile is told of."""
    return [jtensor.nn.functional.relu, REGISTRY.operators["mul"].record, REGISTRY.operators["add"].write, engine.run, jtensor.reshape]


class Counted(TorchDispatchMode):
    """Counts what it is asked."""

    def __init__(self):
        self.asked = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.asked.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("first", ("mode", "profile"))
def test_a_mode_below_autograd_may_come_and_go_before_or_after(first):
    codes = {function: function.__code__ for function in _told()}
    mode, prof, x = Counted(), jtensor.profiler.profile(), jtensor.ones(2)
    for one in (mode, prof) if first == "mode" else (prof, mode):
        one.__enter__()
    x.mul(2)
    for one in (mode, prof) if first == "mode" else (prof, mode):      # not the other way round
        one.__exit__(None, None, None)
        x.add(1)
    assert mode.asked == ["aten.mul.Tensor"] + ["aten.add.Tensor"] * (first == "profile")
    assert names(prof, "aten::mul", "aten::add") == ["aten::mul"] + ["aten::add"] * (first == "mode")
    assert all(function.__code__ is code for function, code in codes.items())


LAYERS = """
import jtensor
from jtensor.utils._python_dispatch import BaseTorchDispatchMode
x = jtensor.ones(2, 2)
with BaseTorchDispatchMode():
    x.mul(2)
codes = {function: function.__code__ for function in (jtensor.nn.functional.linear, jtensor.nn.functional.relu)}
assert not hasattr(jtensor.nn.functional.relu, "__signature__")
{0}
with jtensor.profiler.profile(record_shapes=True) as prof:
    {1}
    jtensor.nn.functional.relu(jtensor.nn.functional.linear(x, x))
rows = [(event.name, event.input_shapes) for event in prof.events() if event.name in ("aten::linear", "aten::relu", "aten::mm")]
assert rows == [("aten::linear", [[2, 2], [2, 2], []]), ("aten::mm", [[2, 2], [2, 2]]), ("aten::relu", [[2, 2]])], rows
for _ in range(2):
    for function in codes:
        while function is not None:
            assert "asks below" not in function.__code__.co_filename, function
            behind = BEHIND.get(function) or overriding.beneath(function)
            function = None if behind is function else behind
    with jtensor.profiler.profile() as prof:
        pass
"""


@pytest.mark.parametrize("within", (False, True))
def test_other_layers_may_be_put_above_before_or_meanwhile(within):
    layer = "Own = type('Own', (jtensor.Tensor,), {}); jtensor.ones(1).as_subclass(Own) + 1; jtensor.autocast('cpu').__enter__().__exit__()"
    source = "from jtensor.base.functions import BEHIND\nfrom jtensor.tensor.calling import overriding\n" + LAYERS
    for place, text in enumerate(("" if within else layer, layer if within else "pass")):
        source = source.replace(f"{{{place}}}", text)
    subprocess.run([sys.executable, "-c", source], check=True, timeout=100)


def names(prof, *wanted):
    return [event.name for event in prof.events() if event.name in wanted]


def test_numbers_are_the_same():
    def compute():
        jtensor.manual_seed(0)
        x = jtensor.rand(30, requires_grad=True)
        with jtensor.profiler.record_function("forward"):
            y = (x.exp() * 3).sin()
        y.sum().backward()
        return x.grad.tolist()
    plain = compute()
    for fused in (False, True):
        with jtensor.profiler.profile(fused=fused, record_shapes=True, profile_memory=True, with_flops=True, with_stack=True):
            assert compute() == plain


def test_a_file_for_each_trace(tmp_path):
    handler = jtensor.profiler.tensorboard_trace_handler(str(tmp_path), worker_name="w")
    with jtensor.profiler.profile(on_trace_ready=handler), jtensor.profiler.record_function("a"):
        pass
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("w.") and file.name.endswith(".pt.trace.json") and "traceEvents" in json.loads(file.read_text())


def test_a_trace_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    with jtensor.profiler.profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as prof:
        jtensor.ones(2, 3) @ jtensor.ones(3, 2)
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    whole = path.read_text()
    told = json.loads(whole)
    product, = [event["args"] for event in told["traceEvents"] if event["name"] == "aten::mm"]
    assert product["Input Dims"] == [[2, 3], [3, 2]] and product["Flops"] == 24 and product["Bytes"] == 16
    assert told["record_shapes"] == told["with_flops"] == 1 and told["trace_id"] == prof.get_trace_id()
    assert all(event["ph"] in "XM" for event in told["traceEvents"])
    monkeypatch.setattr(files, "_span", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        prof.export_chrome_trace(str(path))
    assert path.read_text() == whole and list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="nowhere/trace.json'"):
        prof.export_chrome_trace(str(tmp_path / "nowhere" / "trace.json"))


def test_stacks(tmp_path):
    def outer():
        return jtensor.nn.functional.relu(jtensor.ones(2))
    with jtensor.profiler.profile(with_stack=True) as prof:
        outer()
    relu, = [event for event in prof.key_averages(group_by_stack_n=2) if event.key == "aten::relu"]
    assert relu.stack[0].endswith("): outer") and relu.stack[1].endswith("): test_stacks") and len(relu.stack) == 2
    text = prof.key_averages(group_by_stack_n=2).table()
    assert "Source Location" in text and "Source Location" not in prof.key_averages().table()
    prof.export_stacks(str(tmp_path / "stacks"))
    assert any(line.partition(";outer")[0].endswith("test_stacks") or "test_stacks;" in line and "outer " in line
               for line in (tmp_path / "stacks").read_text().splitlines())
    w = jtensor.ones(2, requires_grad=True)
    with jtensor.profiler.profile(with_stack=True) as prof:
        (loss := w.exp().sum()).backward()
    assert loss.grad_fn is not None
    forwards, backwards = [next(event for event in prof.events() if event.name == name) for name in ("aten::exp", "ExpBackward0")]
    assert backwards.stack == forwards.stack != []
    with jtensor.profiler.profile() as prof:
        pass
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        prof.export_stacks("a")


def test_an_error_within_an_operator_ends_its_event():
    with jtensor.profiler.profile() as prof:
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            jtensor.ones(2, 3) @ jtensor.ones(2, 3)
        jtensor.ones(2)
    assert [event.name for event in prof.events() if event.cpu_parent is None and event.name[0] == "a"] == [
        "aten::ones", "aten::ones", "aten::matmul", "aten::ones"]


def test_a_region_with_arguments_has_a_shape_for_them():
    for T in (jtensor, pytest.importorskip("torch")):
        with T.profiler.profile(record_shapes=True) as prof:
            with T.profiler.record_function("a"), T.profiler.record_function("b", "told"):
                pass
        assert [event.input_shapes for event in prof.events()] == [[], [[]]]


def test_other_threads_are_not_listened_to():
    def work():
        with jtensor.profiler.record_function("elsewhere"):
            jtensor.ones(2).exp()
    with jtensor.profiler.profile() as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(prof.events()) == 0


def test_what_an_operator_is_compiled_for_is_apart(afresh):
    def step():
        return (jtensor.ones(3, 7).exp() * 1.5).sum()
    with jtensor.profiler.profile() as prof:
        step()
    compiled = [event for event in prof.events() if event.name == "jtensor::compile"]
    assert compiled and {event.cpu_parent.name for event in compiled} <= {"aten::ones", "aten::exp", "aten::mul", "aten::sum"}
    plan = jtensor.profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
    with jtensor.profiler.profile(schedule=plan, profile_memory=True) as prof:
        for _ in range(2):
            jtensor.ones(3, 8).exp()
            prof.step()
        assert not LOCAL.eager                                         # the turn is over
    assert [event.name for event in prof.events()] == ["ProfilerStep*", "aten::ones", "aten::exp"]
    step, ones, exp = prof.events()
    assert step.trace_name == "ProfilerStep#1" and step.cpu_children == [ones, exp]
    assert (step.cpu_memory_usage, exp.cpu_memory_usage, step.self_cpu_memory_usage) == (192, 96, 0)


def test_a_step_of_an_optimizer_that_is_made_meanwhile():
    class Mine(jtensor.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)
    w = jtensor.ones(2, requires_grad=True)
    with jtensor.profiler.profile() as prof:
        optimizer = Mine([w], lr=0.1)
        w.sum().backward()
        optimizer.step()
    steps = [event for event in prof.events() if event.name == "Optimizer.step#Mine.step"]
    assert len(steps) == 1 and steps[0].is_user_annotation and [c.name for c in steps[0].cpu_children if c.name[0] == "a"] == ["aten::add_"]


def test_what_there_is_not():
    with jtensor.profiler.profile() as prof:
        pass
    profile, config = jtensor.profiler.profile, jtensor._C._profiler._ExperimentalConfig
    for refused in (lambda: prof.export_memory_timeline("a"), jtensor.autograd.profiler.emit_nvtx, jtensor.autograd.profiler.emit_itt,
                    lambda: prof.toggle_collection_dynamic(False, []), lambda: profile(execution_trace_observer=object()),
                    lambda: config(profile_all_threads=True)):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()
    with jtensor.autograd.profiler.profile() as one:
        with pytest.raises(RuntimeError, match="already enabled"):
            jtensor.profiler.profile().start()
    assert str(one) == ""


def test_bytes_on_a_device(gpu):
    x = jtensor.ones(4, 8, device=gpu)
    activities = [jtensor.profiler.ProfilerActivity.CPU, jtensor.profiler.ProfilerActivity.CUDA]
    assert set(activities) == jtensor.profiler.supported_activities()
    with jtensor.profiler.profile(activities=activities, profile_memory=True) as prof:
        x.exp()
        jtensor.ones(3)
    exp, ones = [event for event in prof.events() if event.cpu_parent is None]
    assert (exp.device_memory_usage, exp.cpu_memory_usage, ones.device_memory_usage, ones.cpu_memory_usage) == (128, 0, 0, 12)
    text = prof.key_averages().table(sort_by="self_cuda_time_total", row_limit=5)
    assert "CUDA Mem  Self CUDA Mem" in text and "CUDA total" not in text       # no times of the device by itself
