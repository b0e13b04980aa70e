"""What is told of a GPU, by what JAX tells: a GPU of a test's own, since none need be there."""
import time

import pytest

import jtensor
from jtensor.base import devices


class Gpu:
    device_kind, compute_capability, core_count = "NVIDIA Test", "9.0", 132
    told = {"bytes_in_use": 10, "peak_bytes_in_use": 30, "bytes_limit": 100, "num_allocs": 4, "pool_bytes": 50, "peak_pool_bytes": 60}

    def memory_stats(self):
        return self.told


@pytest.fixture
def waited(monkeypatch):
    """Makes two such GPUs; a list of the waits for them."""
    found = []
    monkeypatch.setattr(devices, "accelerators", lambda: (Gpu(), Gpu()))
    monkeypatch.setattr(devices, "wait", found.append)
    return found


def test_memory(waited):
    cuda = jtensor.cuda
    assert (cuda.memory_allocated(), cuda.max_memory_allocated("cuda:1")) == (10, 30)
    assert (cuda.memory_reserved(0), cuda.max_memory_reserved()) == (50, 60)
    assert cuda.mem_get_info() == jtensor.accelerator.get_memory_info() == (90, 100)
    assert cuda.memory_stats()["reserved_bytes.all.peak"] == 60
    assert cuda.memory_stats_as_nested_dict()["allocated_bytes"] == {"all": {"current": 10, "peak": 30}}
    assert "allocated_bytes.all.peak" in cuda.memory_summary() and "num_ooms" not in cuda.memory_stats()
    for refused in (cuda.reset_peak_memory_stats, cuda.reset_accumulated_memory_stats, cuda.memory_snapshot,
                    lambda: cuda.set_per_process_memory_fraction(0.5), lambda: cuda.caching_allocator_enable(False)):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()


def test_properties(waited):
    found = jtensor.cuda.get_device_properties("cuda:1")
    assert repr(found) == ("_CudaDeviceProperties(name='NVIDIA Test', major=9, minor=0, total_memory=0MB, multi_processor_count=132)")
    assert jtensor.cuda.get_device_name() == "NVIDIA Test" and jtensor.cuda.get_device_capability() == (9, 0)
    assert jtensor.cuda.is_tf32_supported()
    with pytest.raises(AttributeError, match="'warp_size' of a GPU"):
        found.warp_size


def test_events_tell_the_time_of_the_work_between(waited):
    start, end = jtensor.cuda.Event(enable_timing=True), jtensor.cuda.Event(enable_timing=True)
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    time.sleep(0.02)
    end.record()
    assert 20 <= start.elapsed_time(end) < 2000 and len(waited) == 2
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(jtensor.cuda.Event())


def test_streams(waited):
    cuda = jtensor.cuda
    one, other = cuda.Stream(), cuda.Stream(device=1)
    assert cuda.current_stream() == cuda.default_stream() != one
    with cuda.stream(one):
        assert cuda.current_stream() is one and cuda.current_stream(1) == cuda.default_stream(1)
        one.wait_stream(other)
        one.wait_event(other.record_event())
    assert cuda.current_stream() == cuda.default_stream()
    with one:
        assert jtensor.accelerator.current_stream() is one
    assert one.query() and one.priority == 0 and other.device == jtensor.device("cuda:1")
    assert waited == [1, 0]


def test_graphs_are_refused(waited):
    for refused in (jtensor.cuda.CUDAGraph, lambda: jtensor.cuda.graph(None), jtensor.cuda.graph_pool_handle, jtensor.cuda.MemPool):
        with pytest.raises(NotImplementedError, match="jtensor does not have"):
            refused()
    assert not jtensor.cuda.is_current_stream_capturing()
    with pytest.raises(NotImplementedError, match="another current GPU"):
        jtensor.cuda.set_device(1)


def test_synchronize_waits(waited):
    jtensor.cuda.synchronize()
    jtensor.accelerator.synchronize(1)
    assert waited == [None, 1]


def test_a_wait_is_for_what_was_asked_before(monkeypatch):
    """A program of JAX's runs behind all others of its device: who waits for it has waited for them."""
    import jax
    waited, cpu = [], jax.devices("cpu")[0]
    monkeypatch.setattr(devices, "accelerators", lambda: (cpu,))
    monkeypatch.setattr(jax, "block_until_ready", lambda answer: waited.append(answer.devices()))
    devices.wait(0)
    assert waited == [{cpu}]
