"""The text of a profile, and its sums: the same as PyTorch's, character by character, given the same events."""
import random
import warnings

import pytest

import jtensor.autograd.profiler_util
from jtensor.profiler import events as own

from ..parity.lines import listed as listed_lines


def made(util, seed, **more):
    """Events at random, which lie in each other; the same for the same seed."""
    rng, found, clock = random.Random(seed), [], [0.0]

    def add(depth, name=None):
        begin = clock[0] = clock[0] + rng.choice((0.25, 3.125, 1500.5))
        name = name or rng.choice(("aten::add", "aten::mm", "a region whose name is too long for a column that is narrow", "x"))
        at = len(found)
        found.append(None)
        count = rng.randrange(3) if depth < 3 else 0
        for _ in range(count):
            add(depth + 1, name if count == 1 and rng.random() < 0.4 else None)
        clock[0] += rng.choice((0.5, 7.75, 2e3, 3e6))
        fields = {"stack": [f"file.py({n}): {'f' * rng.randrange(90)}" for n in range(rng.randrange(3))],
                  "input_shapes": rng.choice(([], [[2, 3], []], [[n, n + 1, 100000] for n in range(9)])),
                  "cpu_memory_usage": rng.choice((0, 12, -2048, 3 << 20, 5 << 31)), "flops": rng.choice((0, 24, 3500, 7 * 10 ** 10)),
                  "overload_name": rng.choice(("", "Tensor")), "thread": 1, "scope": rng.choice((0, 1, 7)), "sequence_nr": 4,
                  "fwd_thread": 1}
        found[at] = util.FunctionEvent(id=at, name=name, start_us=begin, end_us=clock[0], trace_name=name, **{**fields, **more})
    for _ in range(8):
        add(0)
    return found


def listed(util, seed, options, **more):
    events = util.EventList(made(util, seed, **more), **options)
    events._build_tree()
    return events


def both(seed, options=None, **more):
    """PyTorch's events and ours."""
    pytest.importorskip("torch")
    from torch.autograd import profiler_util as util
    return [listed(one, seed, options or {}, **more) for one in (util, own)]


TABLES = [{}, {"sort_by": "cpu_time_total", "row_limit": 3}, {"sort_by": "self_cpu_time_total", "row_limit": -1}, {"row_limit": 0},
          {"sort_by": "count", "time_unit": "ms"}, {"time_unit": "s"}, {"time_unit": "us", "header": "what is told first"},
          {"top_level_events_only": True, "row_limit": 2, "header": "told"}, {"max_name_column_width": 20, "max_shapes_column_width": 9},
          {"max_name_column_width": None, "max_shapes_column_width": None, "max_src_column_width": None}, {"max_src_column_width": 12},
          {"sort_by": "cpu_memory_usage"}, {"sort_by": "self_cuda_time_total"}]
LISTS = [{}, {"profile_memory": True}, {"with_flops": True}, {"profile_memory": True, "with_flops": True, "use_device": "cuda"}]


@pytest.mark.parametrize("options", LISTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_tables_of_events(seed, options):
    theirs, ours = both(seed, options)
    for table in TABLES:
        assert ours.table(**table) == theirs.table(**table), table


@pytest.mark.parametrize("options", LISTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_tables_of_sums(seed, options):
    theirs, ours = both(seed, options)
    for grouped in ((), (True,), (False, 2), (True, 1, True)):
        their, our = theirs.key_averages(*grouped), ours.key_averages(*grouped)
        assert [(one.key, one.count, one.input_shapes, one.stack) for one in our] == [
            (one.key, one.count, one.input_shapes, one.stack) for one in their]
        for table in TABLES:
            assert our.table(**table) == their.table(**table), (grouped, table)
        assert str(our) == str(their)


@pytest.mark.parametrize("more", ({"stack": [], "input_shapes": [], "overload_name": ""}, {"node_id": 3}, {"is_async": True}), ids=str)
def test_fewer_columns(more):
    theirs, ours = both(5, {"with_flops": True}, **more)
    assert ours.table() == theirs.table() and ours.key_averages().table() == theirs.key_averages().table()


def test_what_lies_in_what():
    for seed in range(6):
        theirs, ours = both(seed)
        assert [(one.id, one.name, one.cpu_parent and one.cpu_parent.id, [child.id for child in one.cpu_children]) for one in ours] == [
            (one.id, one.name, one.cpu_parent and one.cpu_parent.id, [child.id for child in one.cpu_children]) for one in theirs]
        assert ours.self_cpu_time_total == theirs.self_cpu_time_total
        assert [repr(one) for one in ours] == [repr(one) for one in theirs]
        assert [repr(one) for one in ours.key_averages()] == [repr(one) for one in theirs.key_averages()]
        assert repr(ours.total_average()) == repr(theirs.total_average())


def test_files_of_lists(tmp_path):
    import json
    theirs, ours = both(1)
    for name, events in (("theirs", theirs), ("ours", ours)):
        events.export_chrome_trace(str(tmp_path / f"{name}.json"))
        events.export_stacks(str(tmp_path / f"{name}.stacks"), "self_cpu_time_total")
    assert json.loads((tmp_path / "ours.json").read_text()) == json.loads((tmp_path / "theirs.json").read_text())
    assert (tmp_path / "ours.stacks").read_text() == (tmp_path / "theirs.stacks").read_text()


LINES = listed_lines(r"""
    util.EventList([]).table()
    util.EventList([]).key_averages()
    util.EventList([]).total_average()
    util.EventList([]).export_stacks("a", "foo")
    util.FunctionEventAvg().cpu_time
    util.FunctionEvent(0, "a", 1, 0, 1).cuda_time_total
    util.FunctionEvent(0, "a", 1, 0, 1).self_cuda_memory_usage
    util.FunctionEventAvg().cuda_time
    util.FunctionEventAvg().add(3)
    util.EventList(made(util, 1)).table(sort_by="foo")
    util.FunctionEvent(0, "a", 1, 0, 1, device_type=util.DeviceType.CUDA, use_device="cuda").device_time_total
    util.FunctionEvent(0, "a", 1, 0, 1, device_type=util.DeviceType.CUDA).self_cpu_time_total
""")


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    pytest.importorskip("torch")
    from torch.autograd import profiler_util as util
    told = []
    for one in (util, jtensor.autograd.profiler_util):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                answer = repr(eval(line, {"util": one, "made": made}))
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
        told.append((answer, [(w.category, str(w.message)) for w in seen]))
    assert told[1] == told[0]


def test_devices_have_pytorchs_numbers():
    torch = pytest.importorskip("torch")
    assert {name: one.value for name, one in own.DeviceType.__members__.items()} == {
        name: one.value for name, one in torch.profiler.DeviceType.__members__.items()}
