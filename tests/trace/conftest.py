"""What tests of the tape and its programs share: a tape and a cache folder of their own."""
import jax
import pytest

from jtensor.trace import executor
from jtensor.trace.cache import store


def avals(*arrays):
    """What JAX traces in the place of these arrays."""
    return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]


@pytest.fixture
def a_new_tape(settled):
    """Nothing is pending before a test, nor after it."""
    executor.flush("test")
    yield
    executor.flush("test")


@pytest.fixture
def jax_stays_as_it_was(settled):
    """JAX's configuration is after a test what it was before."""
    before = dict(jax.config.values)
    yield
    assert dict(jax.config.values) == before


@pytest.fixture
def cache(settled, tmp_path, monkeypatch):
    """An empty folder for programs, in which nothing that earlier tests began is saved."""
    monkeypatch.setenv("JTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JTENSOR_CACHE", raising=False)
    store.reset()
    yield tmp_path / "cache"
    monkeypatch.undo()
    store.reset()
