"""What is loaded ahead: all that an equal process used, before anybody asks; a wrong guess changes nothing."""
import json
import subprocess
import sys

import jtensor as torch
from jtensor.base import compat
from jtensor.trace import executor
from jtensor.trace.cache import ahead, first_product, store

SCRIPT = """
import json
import jtensor as torch
from jtensor.trace.cache import ahead, first_product, store
store.sources = lambda: b"not edited meanwhile"
loaded, rehearsed, load, rehearse = [], [], store.load_named, ahead._rehearse
def load_named(name):
    loaded.append(name)
    return load(name)
def _rehearse(name, handle):
    rehearsed.append(handle.result().slow_to_begin)
    store.coming.setdefault(name, handle)               # as if nobody had been quicker
    rehearse(name, handle)
store.load_named, ahead._rehearse = load_named, _rehearse
x, w = torch.tensor([[1.0, 2.0]] * 40), torch.ones(300, 2, requires_grad=True)
for step in range(2):
    (x @ w.t()).exp().sum().backward()
    print(w.grad[0, 0].item())
print((x + 1).cumsum(0).tolist()[1])
ahead._LOADER.flush(), ahead._REHEARSER.flush()
first_product._begun[0].result(help=False)
ahead.AHEAD.keep(wait=True)
store.flush()
known = sorted({name for names in ahead.AHEAD.table.used.values() for name in names.decode().split()})
print(json.dumps([loaded, store.used, rehearsed, known]))
"""


def test_a_second_process_loads_what_the_first_used(cache):
    first, second = [subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout.splitlines()
                     for _ in range(2)]
    assert first[:-1] == second[:-1]
    ((product,), used, *_, known), (loaded, again, rehearsed, _) = json.loads(first[-1]), json.loads(second[-1])
    assert len(used) > 1 and sorted(loaded) == sorted([product, *used]) and sorted(used) == sorted(again)
    assert product not in used                          # it says nothing about a script
    assert ahead.PRODUCTS in rehearsed
    assert set(known) <= {ahead.PRODUCTS, *used} and ahead.PRODUCTS in known


def test_what_is_not_there_any_more_or_nobody_wants_is_let_go(cache):
    x = torch.arange(5.0)
    before = dict(store.coming)
    store.coming.clear()
    ahead.begin(["gone.xla", "too.xla"])
    ahead.begin(["gone.xla"])
    assert list(store.coming) == ["gone.xla"] and store.coming["gone.xla"].result() is None
    assert (x * 3 + 1).tolist() == [1.0, 4.0, 7.0, 10.0, 13.0]
    store.coming.clear()
    store.coming.update(before)


def test_the_entry_is_written_when_it_says_something_else(cache, monkeypatch):
    monkeypatch.setattr(first_product, "_begun", [])
    made = ahead.Ahead()
    for k in range(8):
        made.after(b"operation %d" % k)
    assert len(made.passed) == 3 and made.table.known == {}
    made.keep(wait=True)
    assert made.table.on_disk() == {}                   # nothing was used
    store.used.extend(["a", "b"])
    made.keep(wait=True)
    again = ahead.Ahead()
    again.after(b"operation 0")
    again.after(b"operation 1")
    assert again.table.known == {at: b"a b" for at, _ in made.passed} and again.passed == [(made.passed[0][0], 2)]
    first_product._begun.append(None)
    made.keep(wait=True)
    assert list(again.table.on_disk().values()) == [f"{ahead.PRODUCTS} a b".encode()] * 3


def test_the_first_product_is_multiplied_once_and_kept(cache, monkeypatch):
    begun, builds, build = [], [], compat.build

    def counted(*args, **kwargs):
        builds.append(kwargs["name"])
        return build(*args, **kwargs)
    monkeypatch.setattr(compat, "build", counted)
    for _ in range(2):                                  # two processes
        monkeypatch.setattr(first_product, "_begun", begun := [])
        assert not first_product.has_begun()
        ahead.begin([])
        assert not begun                                # of a script that multiplies nothing
        for _ in range(2):
            ahead.begin([ahead.PRODUCTS])
        assert len(begun) == 1 and first_product.has_begun()
        begun[0].result()
    assert builds == ["first_product"]
    monkeypatch.setattr(store, "folder", lambda: None)  # nothing would be kept
    monkeypatch.setattr(first_product, "_begun", begun := [])
    first_product.begin()
    begun[0].result()
    assert builds == ["first_product"]


def test_who_compiles_or_loads_a_product_has_the_first_one_multiplied(cache, afresh, monkeypatch):
    from jtensor.trace.lowering import lower
    for way in ("compiled", "loaded"):
        monkeypatch.setattr(first_product, "_begun", begun := [])
        lower._SHARED.clear()
        executor.TRIE.forget()
        x = torch.ones(3, 7)
        x.add(1).cumsum(0).tolist()
        assert not begun, way
        for _ in range(3):
            assert (x @ torch.ones(7, 5)).exp().sum().item() > 0
        assert len(begun) == 1, way
        begun[0].result()
        store.flush()
