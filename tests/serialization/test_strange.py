"""Files that are not what `torch.load` wants: cut off, of another kind, pickles of something else; and types of old in files of weights."""
import io
import pickle
import re

import pytest

import jtensor

torch = pytest.importorskip("torch")


def _saved():
    file = io.BytesIO()
    torch.save(torch.ones(4), file)
    return file.getvalue()


SAVED = _saved()
STRANGE = {
    "text": b"abc", "a page": b"<html>", "json": b'{"a": 1}', "one byte of a zip file": b"P", "four bytes of one": b"PK\x03\x04",
    "the first bytes of one": SAVED[:100], "all but the last byte": SAVED[:-1], "no record": SAVED.replace(b"data.pkl", b"dota.pkl"),
    "a number": pickle.dumps(3, 2), "a dictionary": pickle.dumps({"a": 1}, 2), "a newer pickle": pickle.dumps({"a": 1}, 4),
    "a function": pickle.dumps([print], 2), "nothing on the stack": b"\x80\x02.", "a module that is blocked": b"cos\nsystem\n.",
}


def _error(library, content, weights_only):
    try:
        return library.load(io.BytesIO(content), weights_only=weights_only)
    except Exception as error:
        return type(error).__name__, re.sub(r"\s+", " ", str(error))


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE)
def test_strange_files_are_refused_in_pytorchs_words(content, weights_only):
    want = _error(torch, content, weights_only)
    assert isinstance(want, tuple) and _error(jtensor, content, weights_only) == want


def test_a_strange_file_that_may_name_anything_runs_nothing(monkeypatch):
    called = []
    monkeypatch.setattr("os.system", called.append)
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        jtensor.load(io.BytesIO(b"cos\nsystem\n(X\x02\x00\x00\x00lstR."), weights_only=False)
    assert not called


def test_what_is_no_place_is_called():
    for library in (torch, jtensor):
        file = io.BytesIO()
        library.save(library.ones(1), file)
        file.seek(0)
        with pytest.raises(TypeError, match="'int' object is not callable"):
            library.load(file, map_location=3)


@pytest.mark.parametrize("name", ["FloatTensor", "BoolTensor", "cuda.LongTensor", "sparse.FloatTensor"])
def test_types_of_old_are_weights(name):
    file = io.BytesIO()
    torch.save(eval(f"torch.{name}"), file)
    file.seek(0)
    assert jtensor.load(file) is eval(f"jtensor.{name}")
