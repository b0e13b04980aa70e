"""Functions that are written out: their code comes from the disk the second time, and what is not code is not run."""
import pytest

from jtensor.trace.cache import codes, store


def answer(memory, text, name="<test>"):
    scope = {}
    exec(memory.compiled(text, name), scope)
    return scope["f"](4)


def test_a_second_process_compiles_nothing(cache, monkeypatch):
    texts = {f"def f(x):\n    return x * {k}\n": 4 * k for k in range(5)}
    first, second = codes.Codes("tests"), codes.Codes("tests")
    assert [answer(first, text) for text in texts] == list(texts.values())
    first.keep(wait=True)
    monkeypatch.setattr(codes, "compile", lambda *args: pytest.fail("compiled"), raising=False)
    assert [answer(second, text) for text in texts] == list(texts.values()) and not second.new
    monkeypatch.setattr(codes, "compile", compile)
    assert answer(second, "def f(x):\n    return x + 1\n") == 5
    assert second.compiled(next(iter(texts)), "<elsewhere>").co_filename == "<elsewhere>"
    second.kept = 2                                     # the last that was used stays
    second.keep(wait=True)
    assert list(codes.Codes("tests").on_disk()) == list(second.used)[-2:]


def test_without_a_folder_nothing_is_remembered(cache, monkeypatch):
    monkeypatch.setenv("JTENSOR_CACHE", "0")
    store.reset()
    memory = codes.Codes("tests")
    assert answer(memory, "def f(x):\n    return -x\n") == -4 and not memory.used
