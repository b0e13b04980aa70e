"""Recording: nothing runs before somebody looks, what nobody holds is never computed, what recurs is known, numbers may vary."""
import contextlib
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import jtensor as torch
from jtensor.base import compat
from jtensor.trace import choosing, executor, tape, trie
from jtensor.trace.cache import store
from jtensor.trace.op_by_op import equations, kernels

pytestmark = pytest.mark.usefixtures("a_new_tape")

WAIT = 300          # seconds that nothing takes, however busy the machine is


@contextlib.contextmanager
def counted():
    """What the engine compiles and runs in the block: programs and kernels made, runs of known programs, flushes, nodes."""
    report, made = torch.report(), {}

    def state():
        return {"compiled": sum(report.programs.values()) + sum(report.kernels.values()), "hits": report.hits,
                "flushes": sum(report.flushes.values()), "nodes": report.nodes}
    before = state()
    yield made
    after = state()
    made.update({name: after[name] - before[name] for name in after})


def pending(tensor):
    value = tensor._storage.value
    return value.array is None and value.segment.__class__ is not np.ndarray


def test_recording_runs_nothing():
    x = torch.ones(3)
    with counted() as made:
        y = (x * 2 + 1).exp().sum()
        y2 = y.clone()
        y2 += 1
        assert pending(y) and pending(y2) and made == {}
    assert made["flushes"] == made["nodes"] == 0
    assert torch.report().flushes is not None and y.shape == () and pending(y)
    assert y2.item() == pytest.approx(3 * np.exp(3) + 1)
    assert not pending(y)                                  # it was alive, so it was computed with the rest


def test_numbers_made_on_the_host_are_sent_once_a_program_wants_them(monkeypatch):
    monkeypatch.setattr(choosing.tiers, "PROGRAM_COST", -1e9)

    def sent(x):
        return x._storage.value.array is not None
    made = torch.tensor([1.0, 2.0]), torch.rand(2, 3), torch.zeros(3).normal_(), torch.tensor(7)
    read = [x.tolist() for x in made]
    assert made[3].item() == 7 and str(made[0]) == "tensor([1., 2.])" and made[1][0, 1:].tolist() == read[1][0][1:]
    assert not any(sent(x) for x in made)
    sums = [x + x for x in made]
    assert [x.tolist() for x in sums] == [np.add(x, x).tolist() for x in read] and all(sent(x) for x in made)
    kept, again = [x._storage.value.array for x in made], [(x * 2).tolist() for x in made]
    assert all(x._storage.value.array is array for x, array in zip(made, kept, strict=True)) and again == [x.tolist() for x in sums]
    x, found = torch.tensor([3.0]), []
    threads = [threading.Thread(target=lambda: found.append((x + 1).tolist())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert found == [[4.0]] * 3 and (x + 1).tolist() == [4.0]
    x = torch.tensor([1.0, 2.0])
    array = x.numpy()
    array[0] = 5
    assert x.tolist() == [5.0, 2.0] and (x + 1).tolist() == [6.0, 3.0]


def test_metadata_is_known_without_running():
    x = torch.ones(4, 6)
    with counted() as made:
        y = (x.t() @ x)[1:, None].double()
        assert (tuple(y.shape), y.dtype, y.stride(), y.is_contiguous()) == ((5, 1, 6), torch.float64, (6, 6, 1), True)
        assert len(y) == 5
    assert made["flushes"] == 0
    with counted() as made:
        assert y.data_ptr()                                     # the numbers lie where it says
    assert made["flushes"] == 1


@pytest.mark.parametrize("whole", [False, True], ids=["op by op", "one program"])
def test_what_nobody_holds_is_not_computed(monkeypatch, whole):
    ran, kernel_of, build = [], kernels.kernel_of, compat.build
    monkeypatch.setattr(kernels, "kernel_of", lambda plan: ran.append(plan.operator.name) or kernel_of(plan))
    monkeypatch.setattr(compat, "build", lambda jaxpr, *given, **how: ran.append(str(jaxpr)) or build(jaxpr, *given, **how))
    monkeypatch.setattr(store, "load", lambda *given: None)             # of an earlier run's folder
    equations.KERNELS.clear()                                           # nor of this one
    monkeypatch.setattr(choosing.tiers, "PROGRAM_COST", -1e9 if whole else 1e9)
    monkeypatch.setattr(choosing, "WORTH_A_THREAD", 1 << 30)
    x = torch.ones(5 + whole)
    x.tolist()
    kept = (x + 1).exp()
    dead = torch.atan(x)
    dead = dead.tanh()
    del dead
    with torch.no_grad():
        (x * x).sum()
    assert kept.tolist() == pytest.approx([np.exp(2)] * len(x))
    assert any("exp" in said for said in ran) and not any("tan" in said for said in ran), ran


def test_the_second_run_is_a_hit():
    x = torch.rand(3, 3)

    def step(x):
        return ((x @ x).relu() - 0.25).sum().item()
    first = step(x)
    step(x)
    for _ in range(3):
        with counted() as made:
            assert step(x) == first
        assert (made["compiled"], made["hits"], made["flushes"]) == (0, 1, 1)


VARIED = {
    "a float": lambda x, i: x * (0.5 + i),
    "an int": lambda x, i: x + i,
    "alpha": lambda x, i: torch.add(x, x, alpha=i + 2),
    "an exponent": lambda x, i: x ** (1.1 + i / 7) + x ** (i + 5),
    "a fill value": lambda x, i: torch.full_like(x, i + 0.5) + x,
    "a bound": lambda x, i: x.clamp(min=0.1 * i),
    "a row": lambda x, i: x[i] + 1,
    "a column": lambda x, i: x[:, i] * 2,
    "a window": lambda x, i: x[i:i + 2].sum(),
    "a row written": lambda x, i: written(x, i),
}


def written(x, i):
    x = x.clone()
    x[i] = 7.0 + i
    x[i, i] += i
    return x


@pytest.mark.parametrize("name", VARIED)
def test_numbers_and_places_that_vary_do_not_recompile(name):
    step = VARIED[name]
    x = torch.arange(64.0).reshape(8, 8)
    answers = [step(x, i).tolist() for i in range(3)]          # with the tape so far, op by op, then one program
    with counted() as made:
        answers += [step(x, i).tolist() for i in range(3, 6)]
    assert made["compiled"] == 0
    assert len({str(a) for a in answers}) == 6                 # and yet the numbers have come through


def test_a_learning_rate_that_varies_does_not_recompile():
    w = torch.rand(4, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)

    def step(lr):
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        optimizer.step()
        return loss.item()
    losses = [step(0.1 / (k + 1)) for k in range(4)]
    with counted() as made:
        losses += [step(0.01 * k) for k in range(4)]
    assert made["compiled"] == 0 and losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("number", [-0.0, 0.0, float("inf"), 1e-46, 2.0**53 + 1])
def test_numbers_arrive_to_the_bit(number):
    x = torch.ones(2, dtype=torch.float64)
    for _ in range(3):
        assert str((x * number)[0].item()) == str(number)
    assert (torch.ones(2, dtype=torch.int64) * (2**53 + 1))[0].item() == 2**53 + 1


def test_loops_are_cut_where_their_rounds_end():
    x = torch.zeros(6)
    executor.flush("test")
    with counted() as made:
        for i in range(1000):
            x = torch.sin(x + i) * 0.5
            x[i % 6] = 1.0
    assert made["nodes"] > 1000 * 3                            # most of them have run although nobody has looked
    assert made["compiled"] < 20
    with counted() as made:
        for i in range(500):
            x = torch.sin(x + i) * 0.5
            x[i % 6] = 1.0
    assert made["compiled"] <= 2
    x.tolist()


def test_a_piece_of_a_loop_over_large_arrays_is_one_round(monkeypatch):
    from jtensor.trace import periods
    monkeypatch.setattr(periods, "WORTH_A_RUN", 2000)
    monkeypatch.setattr(periods, "LEAST", 8)
    lengths, run = [], executor._run
    monkeypatch.setattr(executor, "_run", lambda segment, asked: lengths.append(len(segment.nodes)) or run(segment, asked))

    def rounds(x, count):                                      # 17 nodes a round, and what lives within it
        for i in range(count):
            here = x[1:] * 0.5 + i
            x[1:] = here.sin() + x[:-1]
            x[0] = 1.0
            for _ in range(3):
                here = here + 1.25
                x = x + here[0]
        return x

    def begun(size):
        del lengths[:]
        return rounds(torch.linspace(0, 1, size), 20).tolist(), lengths[:]
    first, pieces = begun(500)
    assert pieces == [1] + [17] * 20
    few, pieces = begun(7)                                     # four rounds, the least that shows a loop, are not too many
    assert pieces == [1] + [68] * 5
    with counted() as made:
        again, pieces = begun(500)
    assert pieces == [1] + [17] * 20 and made["compiled"] <= 1
    with torch.eager():
        assert first == again == begun(500)[0] and few == begun(7)[0]


TWICE, MORE, LESS, NONE = lambda x: x * 2, lambda x: x + 0.5, lambda x: x - 1, torch.neg


@pytest.mark.parametrize("functions, piece", [
    ([TWICE], 64), ([TWICE, MORE], 64), ([TWICE, MORE, NONE], 63), ([TWICE, MORE, LESS, NONE], 64)])
def test_very_short_rounds_of_arithmetic_are_cut_later(monkeypatch, functions, piece):
    """Four rounds of one operation are no round of four operations; and up to 256 of them, nobody has to start another program."""
    lengths, run = [], executor._run
    monkeypatch.setattr(executor, "_run", lambda segment, asked: lengths.append(len(segment.nodes)) or run(segment, asked))

    def rounds(count, functions=functions):
        del lengths[:]
        x = torch.linspace(0, 1, 7, dtype=torch.float64)
        for at in range(count):
            x = functions[at % len(functions)](x)
        return x.tolist(), lengths[:]
    few = [rounds(180) for _ in range(2)]
    assert few[1][1] == ([181] if len(functions) < 4 else [1, 64, 64, 52])
    with counted() as made:
        many = [rounds(6 * piece) for _ in range(3)]
    assert all(cut == [1] + [piece] * 6 for _, cut in many) and made["compiled"] <= 2
    assert rounds(70, [torch.sin])[1][:2] == [1, 64]                   # a sine takes as long to compile as a dozen sums
    with torch.eager():
        assert few[0][0] == few[1][0] == rounds(180)[0] and many[0][0] == many[2][0] == rounds(6 * piece)[0]


def test_a_long_round_is_a_piece_by_itself(monkeypatch):
    """As of a network that is asked again and again, to draw a picture: three rounds show the loop."""
    lengths, run = [], executor._run
    monkeypatch.setattr(executor, "_run", lambda segment, asked: lengths.append(len(segment.nodes)) or run(segment, asked))

    layers = np.random.default_rng(0).choice([torch.sin, torch.cos, torch.tanh, torch.exp], 90)

    def rounds(x, count):                                      # 91 nodes a round
        for i in range(count):
            for layer in layers:
                x = layer(x)
            x = x - i
        return x

    def begun():
        del lengths[:]
        return rounds(torch.linspace(0, 1, 7), 8).tolist(), lengths[:]
    first, pieces = begun()
    assert pieces == [1] + [91] * 8
    with counted() as made:
        again, pieces = begun()
    assert pieces == [1] + [91] * 8 and made["compiled"] == 0
    with torch.eager():
        assert first == again == begun()[0]


def test_no_tape_is_longer_than_the_cap(monkeypatch):
    from jtensor.trace import periods
    monkeypatch.setattr(periods, "CAP", 100)
    x = torch.zeros(3)
    lengths = []
    for i in range(15):                                        # rounds of growing length: nothing recurs
        for _ in range(i):
            x = x + 1
        x = x * 1.0
        lengths.append(len(tape.LOCAL.segment.nodes))
    assert max(lengths) <= 100 and sorted(lengths) != lengths and x.tolist() == [105.0] * 3


def test_two_threads_with_tapes_of_their_own():
    shared = torch.arange(4.0) + 1                             # pending on this thread's tape
    answers, errors, barrier = {}, [], threading.Barrier(2)

    def work(k):
        try:
            barrier.wait(WAIT)
            x = shared * k                                     # reads a value of another thread's tape
            assert tape.LOCAL.segment is not main
            for _ in range(30):
                x = x + shared
            answers[k] = x                                     # passed on without having been looked at
        except BaseException as error:
            errors.append(error)
    main = tape.LOCAL.segment
    threads = [threading.Thread(target=work, args=(k,)) for k in (2, 3)]
    for t in threads:
        t.start()
    here = shared - 1
    for t in threads:
        t.join(WAIT)
    assert not errors
    assert (answers[2] + answers[3]).tolist() == [65.0, 130.0, 195.0, 260.0]     # their threads are gone
    assert here.tolist() == [0, 1, 2, 3] and shared.tolist() == [1, 2, 3, 4]


def test_a_thread_that_has_ended_has_no_tape():
    before = tape.Local.threads                             # whose tapes' inputs are nobody's to overwrite, and which cuts none at loops
    kept = threading.Thread(target=lambda: torch.ones(2) + 1)
    kept.start()
    kept.join()
    assert tape.Local.threads == before


def test_threads_that_write_to_tensors_of_their_own():
    def work(out, k):
        x = torch.zeros(5)
        for i in range(15):
            x[i % 5] += k
            if i % 8 == 0:
                x.sum().item()
        out[k] = x.tolist()
    out = {}
    threads = [threading.Thread(target=work, args=(out, k)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(WAIT)
    assert out == {k: [3.0 * k] * 5 for k in range(3)}


def _workout():
    torch.manual_seed(3)
    x = torch.rand(4, 4)
    w = torch.rand(4, 4, requires_grad=True)
    for i in range(3):
        loss = ((x @ w).sin() / (i + 1.5)).log1p().mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.3 * w.grad
            x[i] *= w[0]
    return [*w.flatten().tolist(), *w.grad.flatten().tolist(), *x.flatten().tolist()]


def test_eager_gives_the_same_bits():
    lazy = _workout()
    executor.flush("test")
    nodes = torch.report().nodes
    with torch.eager():
        y = torch.ones(2) + 1
        assert torch.report().nodes == nodes + 2 and y._storage.value.segment is not executor.LOCAL.segment
        assert _workout() == lazy
    assert pending(torch.ones(2) + 1)
    assert _workout() == lazy


def test_eager_of_the_whole_process():
    code = ("import jtensor as torch\n"
            "y = torch.ones(2) + 1\n"
            "print(torch.report().nodes, y.tolist(), torch.report().flushes.most_common(1)[0][0][0])")
    ran = subprocess.run([sys.executable, "-c", code], env={**os.environ, "JTENSOR_EAGER": "1"}, capture_output=True, text=True)
    assert ran.stdout.strip() == "2 [2.0, 2.0] eager", ran.stderr


def test_memory_is_flat_over_many_steps():
    w = torch.rand(8, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.01)

    def steps(count):
        for _ in range(count):
            optimizer.zero_grad()
            ((w - 1) ** 2).sum().backward()
            optimizer.step()
        executor.flush("test")
        gc.collect()
        return sum(type(o) in (tape.Value, tape.Segment, trie.State) for o in gc.get_objects()), tape.TRIE.size
    steps(20)
    before = steps(10)
    after = steps(60)
    assert after[0] <= before[0] + 2 and after[1] == before[1]


def test_the_report_names_the_line_of_the_user(monkeypatch):
    report = torch.report()
    monkeypatch.setattr(report, "_flushes", {})             # the text names the most frequent: tests before this one have theirs, too
    x = torch.ones(2) + 5
    x.tolist()
    (reason, (code, _)), = report.flushes
    assert (reason, code.co_name) == ("tolist()", "test_the_report_names_the_line_of_the_user")
    text = str(report)
    assert "test_tape.py" in text and "kernels:" in text


def test_the_report_keeps_what_it_shows(monkeypatch):
    """Cells of a notebook are new places each time they run: the rarer ones are put together."""
    from jtensor.trace import report as room
    report, x = room.Report(), torch.ones(2)
    monkeypatch.setattr(executor, "REPORT", report)
    monkeypatch.setattr(room, "_SITES", 8)
    spaces = [{"x": x} for _ in range(20)]
    kept = [compile("(x + 1).tolist()", f"<cell {n}>", "exec") for n in range(20)]
    for code, space in zip(kept, spaces, strict=True):
        exec(code, space)
    assert len(report._flushes) <= 9 and sum(report.flushes.values()) == 20 and report.flushes["tolist()", None] > 0
    for n in range(30):
        report.failed(ValueError(f"{n}"))
    assert [text for _, text in report.failures] == ["25", "26", "27", "28", "29"] and "op by op" in str(report)


def test_the_global_configuration_of_jax_stays_as_it_was():
    import jax
    import jax.numpy as jnp
    assert jax.config.jax_enable_x64 is False
    (torch.arange(5) * 2**40).sum().item()
    torch.ones(2, dtype=torch.float64).exp().tolist()
    assert jax.config.jax_enable_x64 is False
    assert jnp.arange(3).dtype == jnp.int32 and jnp.ones(2).dtype == jnp.float32 and jnp.asarray(np.ones(2)).dtype == jnp.float32
    assert torch.arange(3).jax().dtype == jnp.int64
