"""Rooms that scripts import by name: processes, older rooms of functions, what computes here."""
import os
import signal
import subprocess
import sys
import warnings

import pytest

import jtensor

multiprocessing = jtensor.multiprocessing


def send(index, queue, seen):
    queue.put((index, jtensor.full((2,), float(index))))
    queue.put((index, jtensor.ones(1)))
    seen.wait()


def fail(index):
    if index:
        raise ValueError("on purpose")


def refuse_to_end(index, deaf):
    if index:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        deaf.set()
        signal.pause()
    deaf.wait()
    os._exit(5)


@pytest.mark.slow
def test_processes_are_spawned_and_send_tensors():
    context = multiprocessing.get_context("spawn")
    queue, seen = context.SimpleQueue(), context.Event()
    processes = multiprocessing.spawn(send, (queue, seen), nprocs=1, join=False)
    index, sent = queue.get()
    assert index == 0 and sent.tolist() == [0, 0] and sent.is_shared()
    seen.set()
    while not processes.join():
        pass
    with pytest.raises(FileNotFoundError):              # as in PyTorch: who has ended hands on no memory
        queue.get()
    with pytest.raises(multiprocessing.ProcessRaisedException, match="(?s)Process 1 terminated with.*on purpose") as error:
        multiprocessing.spawn(fail, nprocs=2)
    assert error.value.error_index == 1 and error.value.error_pid > 0


def test_who_spawns_is_not_kept_waiting():
    room = sys.modules["jtensor.multiprocessing.spawn"]
    assert callable(multiprocessing.spawn) and room.ProcessException.__module__ == room.__name__
    deaf = multiprocessing.get_context("fork").Event()
    made = multiprocessing.start_processes(refuse_to_end, (deaf,), nprocs=2, join=False, start_method="fork")
    with pytest.raises(multiprocessing.ProcessExitedException, match="process 0 terminated with exit code 5"):
        made.join(grace_period=0.1)
    assert made.processes[1].exitcode == -signal.SIGKILL and not any(map(os.path.exists, made.error_files))
    assert multiprocessing.start_processes(fail, nprocs=0) is None
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        multiprocessing.spawn(fail, nprocs=0, start_method="fork")


def test_strategies():
    assert multiprocessing.get_sharing_strategy() in multiprocessing.get_all_sharing_strategies()
    with pytest.raises(AssertionError, match="invalid sharing strategy 'x'"):
        multiprocessing.set_sharing_strategy("x")


def test_every_name_of_python_is_there():
    import multiprocessing as python
    assert set(python.__all__) <= set(dir(multiprocessing))


def test_older_rooms():
    torch = pytest.importorskip("torch")
    import torch.functional as theirs
    assert set(jtensor.functional.__all__) == set(theirs.__all__)
    assert jtensor.functional.einsum is jtensor.einsum
    assert type(jtensor.max(jtensor.ones(2, 2), 0)) is jtensor.return_types.max
    assert "JAX" in jtensor.__config__.show() and "threads" in jtensor.__config__.parallel_info()
    layer = jtensor.nn.Linear(2, 1)
    given = {"weight": jtensor.ones(1, 2), "bias": jtensor.zeros(1)}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert jtensor.nn.utils.stateless.functional_call(layer, given, jtensor.ones(2)).tolist() == [2]
    assert seen[0].filename == __file__
    with jtensor._dynamo.config.patch(suppress_errors=False):       # gives back what was before
        jtensor._dynamo.config.suppress_errors = True
    jtensor._dynamo.reset()
    assert jtensor._dynamo.disable(layer) is layer is jtensor._dynamo.optimize("inductor")(layer)._orig_mod
    assert torch.__config__.show()


def test_what_is_told_to_the_compiler_is_taken():
    compiler = jtensor.compiler
    assert compiler.reset() is None is compiler.cudagraph_mark_step_begin() and compiler.is_exporting() is False
    assert compiler.allow_in_graph(len) is len is compiler.assume_constant_result(len)
    compiler.set_stance("eager_on_recompile")
    with compiler.set_stance("force_eager"):
        assert compiler.set_stance("default")(len) is len


@pytest.mark.parametrize("name", ["_functorch", "_higher_order_ops", "_lobpcg", "_subclasses", "_tensor_str", "_vmap_internals"])
def test_private_rooms_are_attributes_without_an_import(name):
    torch = pytest.importorskip("torch")
    code = f"import jtensor; assert jtensor.{name}.__name__ == 'jtensor.{name}'"
    assert hasattr(torch, name) and subprocess.run([sys.executable, "-c", code]).returncode == 0
