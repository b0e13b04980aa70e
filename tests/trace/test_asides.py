"""What Python runs in the midst of an operation: finalizers of what the garbage collector finds, handlers of signals."""
import gc
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import jtensor as torch
from jtensor.trace import asides, executor, tape
from jtensor.trace.tape import LOCAL, TRIE

pytestmark = pytest.mark.usefixtures("a_new_tape")

# -- the collector ----------------------------------------------------------------------------------------------------

# In a process of their own: the collector runs in whichever thread makes an object, so that a finalizer may come to one of the library's,
# which counts from then on as a thread that records.
BEGINNING = """
import gc, sys, time
import jtensor as torch
from jtensor.trace.tape import LOCAL

def collected(done):
    for _ in range(500):                                            # another thread may be in the midst of a collection
        gc.collect()
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("not collected")

def changed(x, rows):
    for i in range(400):
        garbage()
        x = (x + i).sin() * 0.5
        rows[i % 4] *= 0.5
        rows[1:3] += 0.25
    return x.tolist(), rows.tolist()

gc.set_threshold(7)
"""
COMPUTES = """
class Counts:
    def __init__(self, what):
        self.me, self.what = self, what

    def __del__(self):
        total.add_(self.what)

total, one = torch.zeros(3), torch.ones(3)
garbage = lambda: Counts({what})
made = changed(torch.zeros(2, 5), torch.ones(4, 4))
collected(lambda: total.tolist() == [400.0] * 3)
garbage = lambda: None
with torch.eager():
    assert made == changed(torch.zeros(2, 5), torch.ones(4, 4))
assert LOCAL.outside is None and LOCAL.segment is not LOCAL.aside
"""
LOOKS = """
class Looks:
    def __init__(self, of):
        self.me, self.of = self, of

    def __del__(self):
        seen.append(self.of.sum().item())

seen, x = [], torch.ones(4)
for _ in range(100):
    x = x * 2 - 1
    Looks(x)
collected(lambda: len(seen) == 100)
assert seen == [4.0] * 100 and x.tolist() == [1.0] * 4
"""


@pytest.mark.parametrize("program", [COMPUTES.replace("{what}", "one"), COMPUTES.replace("{what}", "torch.ones(3)"), LOOKS],
                         ids=["computes", "computes with what is pending", "looks"])
def test_a_finalizer_in_the_midst_of_recording(program):
    done = subprocess.run([sys.executable, "-W", "error", "-c", BEGINNING + program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class BroughtBack:
    """What a finalizer puts back into the user's hands, of what the collector has given up for dead."""

    def __init__(self, found, *what):
        self.me, self.found, self.what = self, found, what

    def __del__(self):
        self.found.extend(self.what)


@pytest.mark.parametrize("repeated", [1, 12], ids=["new", "known"])
@pytest.mark.parametrize("read", [lambda x: x.tolist(), lambda x: (x + 1).tolist(), lambda x: x.numpy().tolist()],
                         ids=["read", "used", "shared"])
def test_what_a_finalizer_brings_back_is_whole(read, repeated):
    found, x = [], torch.arange(4.0)
    gc.disable()
    try:
        for at in range(repeated):
            BroughtBack(found, x * 2 + 1, x.sin())
            other = x + at
            if at == repeated - 1:
                gc.collect(1)
            assert other.tolist() == [0.0 + at, 1.0 + at, 2.0 + at, 3.0 + at]
    finally:
        gc.enable()
    assert len(found) == 2 * repeated
    with torch.eager():
        expected = [read(x * 2 + 1), read(x.sin())]
    assert [read(value) for value in found] == expected * repeated


def test_what_another_threads_finalizer_brings_back_while_this_one_computes():
    found, x, computed = [], torch.arange(4.0), threading.Event()

    class Waits(BroughtBack):
        def __del__(self):
            assert computed.wait(60)                                # until the tape, on which nothing names the value any more, has run
            self.found.extend(value.sum().item() for value in self.what)

    gc.disable()
    try:
        other = x + 1
        Waits(found, x * 2)
        thread = threading.Thread(target=gc.collect, args=(1,))
        thread.start()
        while asides.Local.collections == LOCAL.collections_met:
            pass
        other = other.tolist()
        computed.set()
        thread.join()
    finally:
        gc.enable()
    assert (other, found) == ([1.0, 2.0, 3.0, 4.0], [12.0])


def test_a_collection_gives_no_tape_to_a_thread_that_has_none():
    before, counted = tape.Local.threads, []
    thread = threading.Thread(target=lambda: (gc.collect(1), counted.append(tape.Local.threads)))
    thread.start()
    thread.join()
    assert counted == [before] and thread.ident not in tape.Local.idents


# -- handlers of signals ----------------------------------------------------------------------------------------------

# Python asks for signals where a function begins and behind calls of C, but for these, which it has instructions of its own for.
QUICK = {"append", "len", "isinstance", "type"}


def interrupted(run, at, handler):
    """Runs something, and the handler once in its midst: at the so-manieth place where a signal can be noticed inside of the library.

    Answers how many places there were. The collector rests: it would count as a place here and there, and an exception raised there
    is Python's to print.
    """
    places = 0

    def notice(frame, event, argument):
        nonlocal places
        if event == "call" or event == "c_return" and argument.__name__ not in QUICK:
            if asides.sites.within(frame.f_code.co_filename):
                places += 1
                if places == at:
                    sys.setprofile(None)
                    handler()
    gc.disable()
    sys.setprofile(notice)
    try:
        run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return places


class Training:
    """Some steps, after others that made the tape known; ``told``: all that can be seen of it."""

    def __init__(self):
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
        self.optimizer, self.x, self.rows = torch.optim.Adam(self.net.parameters(), 0.01), torch.randn(3, 4), torch.zeros(6, 4)
        self.losses, self.at = [], 0
        for _ in range(10):
            self.step()

    def step(self):
        self.optimizer.zero_grad()
        loss = self.net(self.x).pow(2).sum()
        loss.backward()
        self.optimizer.step()
        self.rows[1:3] += 0.5 * self.x[1]
        self.rows[self.at % 6].mul_(1.0 + self.at % 3)
        self.at += 1
        self.losses.append(loss.detach())

    def looks(self):
        return {name: p.clone().tolist() for name, p in self.net.state_dict().items()}

    def records(self):
        self.kept = (self.net(self.x) * 2.5).sum()

    def told(self):
        return torch.stack(self.losses).tolist(), self.looks(), self.rows.tolist()


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("what", ["looks", "records"])
def test_a_handler_in_the_midst_of_recording_changes_nothing(what, first):
    calm = Training()
    places = interrupted(calm.step, 0, None)
    expected = calm.told()
    assert places > 200
    reached = []
    for at in range(1 + 7 * first, places, 29):
        training = Training()
        reached.append(interrupted(training.step, at, getattr(training, what)) >= at)
        assert training.told() == expected, at
        if what == "records" and reached[-1]:
            assert abs(training.kept.item()) < 10
    assert sum(reached) > 5


class Stopped(Exception):
    """What a handler raises, as Python's own does at Ctrl-C."""


def stop():
    raise Stopped


def step_by_number(x, view):
    x[4] = 1.5


STEPS = (lambda x, view: x.add_(0.5), lambda x, view: view.mul_(2.0), step_by_number, lambda x, view: view.sub_(1))


@pytest.mark.parametrize("known", [True, False])
def test_a_handler_that_raises_in_the_midst_of_recording_spoils_nothing(known):
    """What was written to is as before the operation or as after it, and what comes next is right: also where the tape has been here
    before, and each time that it comes here again."""
    x = torch.zeros(6)
    states = [x.tolist()] + [(step(x, x[2:5]), x.tolist())[1] for step in STEPS]

    def stopped(at):
        x = torch.zeros(6)
        view = x[2:5]
        try:
            return interrupted(lambda: [step(x, view) for step in STEPS], at, stop)
        except Stopped:
            return None
        finally:
            after, other = (x * 2.5 + 1.25)[1:4], torch.full((3,), 0.75) * x[0]
            seen = x.tolist()
            assert seen in states and after.tolist() == [2.5 * number + 1.25 for number in seen[1:4]]
            assert other.tolist() == [0.75 * seen[0]] * 3

    def begin():
        if not known:
            TRIE.forget()
            tape.begin_anew()

    for _ in range(3):
        stopped(0)
    begin()
    for at in range(1, stopped(0)):
        begin()
        stopped(at)
        stopped(0)


def test_the_rooms_that_record_are_told_by_names_that_they_have():
    """Who is asked whether a frame may be interrupted knows files by their names: each is there, and whoever adds nodes is among them, or
    hands them to one that is."""
    package = Path(asides.__file__).parent.parent
    named = {name for name in asides._RECORD | asides._CALL_USERS if not name.startswith("<")}
    assert all((package / name).is_file() for name in named)
    adds = {path.relative_to(package).as_posix() for path in package.rglob("*.py")
            if re.search(r"^ +segment\.nodes\.append\(|^    nodes \+= piece", path.read_text(), re.MULTILINE)}
    texts = {"tensor/recording/templates.py", "tensor/replaying/rehearsed.py"}                 # what is written out has a name of its own
    assert adds >= texts and adds - texts <= named
    assert {"<jtensor recorder>", "<jtensor writer>", "<jtensor backward>", "<jtensor graph>"} <= asides._RECORD


def test_a_tape_that_was_recorded_in_two_orders_is_run_one_by_one():
    x = torch.ones(3)
    y = x * 2
    segment = LOCAL.segment
    segment.state = segment.state.parent                            # as an operation leaves it that another one came into
    z = y + 1
    assert segment.state.depth != len(segment.nodes)
    assert z.tolist() == [3.0] * 3 and y.tolist() == [2.0] * 3 and LOCAL.segment is not segment


def test_hooks_and_overrides_are_not_taken_for_handlers(monkeypatch):
    apart = []
    monkeypatch.setattr(executor, "_apart", lambda *of: apart.append(of))
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    y.register_hook(lambda g: g * g.sum().item())
    y.sum().backward()

    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            out = super().__torch_function__(func, types, args, kwargs or {})
            if isinstance(out, Loud):
                with torch._C.DisableTorchFunction():
                    assert out.sum().item() > 0
            return out
    assert (torch.ones(2).as_subclass(Loud) + 1).tolist() == [2.0, 2.0]

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert x.sum().item() == 3.0
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * (2 if g.sum().item() else 0)
    Doubled.apply(w).sum().backward()
    assert not apart
