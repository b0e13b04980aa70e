"""A tape that ends in a loop's rounds is run in two: what stands before them, and the rounds, which are the same tape whatever that was."""
import jax
import pytest

import jtensor as torch
from jtensor.trace import choosing, cuts, executor, programs
from jtensor.trace.cache import store
from jtensor.trace.lowering import lower


@pytest.fixture(autouse=True)
def a_new_tape(settled, monkeypatch):
    monkeypatch.setenv("JTENSOR_CACHE", "0")
    store.reset()
    executor.flush("test")
    executor.TRIE.forget()
    executor.LOCAL.segment = executor.Segment()
    lower._SHARED.clear()
    yield
    executor.flush("test")
    monkeypatch.undo()
    store.reset()


def loop(before, rounds=40):
    """``before`` operations, of whose results some live and some only the loop reads, then rounds with numbers of their own."""
    held, x = [], torch.linspace(0, 1, 12).reshape(3, 4)
    for i in range(before):
        x = x * (1.5 + i)
        if i % 2:
            held.append(x.max(1))                       # two results, of which the loop reads one
            x = x - held[-1].values[:, None]
    other = (x + 3).relu() if before else x
    y = torch.zeros(3, 4)
    for i in range(rounds):
        y[i % 3] = x[0] * (0.5 + i)
        y.mul_(0.9)
        x = x.sin() + y * other
    return x, y, held


def numbers(result):
    x, y, held = result
    return [x.tolist(), y.tolist(), [[v.tolist(), i.tolist()] for v, i in held]]


@pytest.mark.parametrize("before", [0, 1, 2, 5])
def test_numbers_are_those_of_operations_run_one_by_one(before):
    with torch.eager():
        wanted = numbers(loop(before))
    for _ in range(3):
        assert numbers(loop(before)) == wanted


def test_the_rounds_share_their_program(monkeypatch):
    made, program = [], lower.program

    def counted(nodes, *given, **how):
        found = program(nodes, *given, **how)
        made.append((len(nodes), found[1]))
        return found
    monkeypatch.setattr(lower, "program", counted)
    for before in (3, 1, 4):
        loop(before, 60)[0].tolist()
    size = max(n for n, _ in made)
    assert size >= 64 and [origin for n, origin in made if n == size and origin != "shared"] == ["compiled"], made


def test_a_failure_before_the_rounds_loses_nothing(monkeypatch):
    with torch.eager():
        wanted = numbers(loop(2))
    run, left = executor._run, [1]

    def failing(segment, asked):
        if left and len(segment.nodes) < 20:
            left.pop()
            raise jax.errors.JaxRuntimeError("INTERNAL: once")
        return run(segment, asked)
    monkeypatch.setattr(executor, "_run", failing)
    x = torch.linspace(0, 1, 12).reshape(3, 4) * 1.5
    held = [x, x + 1]
    with pytest.raises(jax.errors.JaxRuntimeError):
        for _ in range(40):
            x = x.sin() * 0.5 + held[1]
            held.append(x)
    assert not left
    y, again = torch.linspace(0, 1, 12).reshape(3, 4) * 1.5, []
    again = [y, y + 1]
    for _ in held[2:]:
        y = y.sin() * 0.5 + again[1]
        again.append(y)
    assert [t.tolist() for t in held] == [t.tolist() for t in again] and len(held) > 10
    assert numbers(loop(2)) == wanted


def test_a_tape_that_was_recorded_another_way_has_the_same_programs(monkeypatch):
    monkeypatch.setattr(choosing.tiers, "PROGRAM_COST", -1e9)           # a program at first sight, whatever other tests have done

    def tail(x):
        return (x * 2.5 + x).sin(), x.sum()
    x = torch.arange(6.0)
    executor.flush("test")
    first = tail(x)
    executor.flush("test")
    made = sum(torch.report().programs.values())
    y = x * 1.0                                         # stands before it, and is cut off
    second = tail(y)
    whole = executor.LOCAL.segment
    executor.LOCAL.segment = executor.Segment()
    rest = cuts.split(whole, 1)
    executor._run(whole, None)
    executor._run(rest, None)
    assert rest.state.programs is not None and sum(torch.report().programs.values()) == made
    assert [v.tolist() for v in first] == [v.tolist() for v in second]
    third = tail(x)[0]                                  # fewer results of the same program
    assert third.tolist() == first[0].tolist() and sum(torch.report().programs.values()) == made


def _filled(x):
    x[1:-1, 1:-1] = x[2:, 1:-1] * 0.5 + x[:-2, 1:-1] * 0.25
    x[:, -1] = 0.5


def _multiplied(x):
    x.mul_(0.75)
    x.add_(0.5)


@pytest.mark.parametrize("round_", [_filled, _multiplied])
def test_a_loop_in_place_is_cut_where_nothing_lives_but_its_array(round_, monkeypatch):
    wanted, execute = [], executor.execute

    def counted(segment, nodes, *given):
        if segment.state.cut:
            wanted.append(len(given[0]))
        return execute(segment, nodes, *given)
    monkeypatch.setattr(executor, "execute", counted)
    x = torch.linspace(0, 1, 42).reshape(6, 7).clone()
    for _ in range(300):                                # rounds of a few sums and products are cut from 256 nodes on
        round_(x)
    x.sum().item()
    assert len(wanted) > 2 and set(wanted) == {1}


def test_programs_of_a_tape_in_parts_are_made_side_by_side(monkeypatch):
    events, submit, compiled = [], programs.COMPILER.submit, choosing.compiled

    def submitted(job, priority=0, name="job"):
        events.append("begun")
        return submit(job, priority, name)

    def waited(*given):
        events.append("waited")
        return compiled(*given)
    monkeypatch.setattr(programs.COMPILER, "submit", submitted)
    monkeypatch.setattr(choosing, "compiled", waited)
    def steps(x):                                       # of a shape whose kernels no other test has made
        x = (x - 0.5).tanh() * x.exp()
        for i in range(40):
            x = x.cos() * 0.5 + x.sin() * (i + 1.5)
        return x
    x = torch.linspace(0, 1, 187).reshape(11, 17)
    executor.flush("test")
    del events[:]
    got = steps(x).tolist()
    assert events[:4] == ["begun", "begun", "waited", "waited"], events
    assert events.count("begun") == events.count("waited")
    with torch.eager():
        assert got == steps(x).tolist()
