"""What tests of the tape and its programs share: a cache folder of their own."""
import pytest

from jtensor.trace import store


@pytest.fixture
def cache(settled, tmp_path, monkeypatch):
    """An empty folder for programs, in which nothing that earlier tests began is saved."""
    monkeypatch.setenv("JTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JTENSOR_CACHE", raising=False)
    store.reset()
    yield tmp_path / "cache"
    monkeypatch.undo()
    store.reset()
