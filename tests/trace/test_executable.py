"""Compiled programs: right values and types, whichever way JAX is entered; donation; threads."""
import signal
import subprocess
import sys
import textwrap
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jtensor.base import compat
from jtensor.base.compat import inside
from jtensor.trace.lowering.executable import compile_program
from jtensor.trace.programs import COMPILER

from .conftest import avals

pytestmark = pytest.mark.usefixtures("jax_stays_as_it_was")
WAIT = 300          # seconds that nothing takes, however busy the machine is


@pytest.fixture(params=["short", "public"])
def way(request, monkeypatch):
    monkeypatch.setattr(inside, "SHORT", request.param == "short" and inside.SHORT)
    return request.param


TYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def test_types_stay_what_they_are(way):
    arrays = [np.array([[0, 1, 200], [3, 1, 0]]).astype(jnp.dtype(name)) for name in TYPES]
    arrays[3][0, 0] = 2**62 + 1
    program = compile_program(lambda *a: [x.T for x in a], avals(*arrays))
    for given in (arrays, [compat.put(a) for a in arrays]):
        for before, after in zip(arrays, program.run(list(given)), strict=True):
            assert isinstance(after, jax.Array) and after.dtype == before.dtype
            np.testing.assert_array_equal(np.asarray(after), before.T)
    assert program.inputs == tuple((a.shape, a.dtype) for a in arrays)
    assert program.outputs == tuple((a.T.shape, a.dtype) for a in arrays)


def test_a_loaded_program_is_the_same(way):
    x = np.arange(6.0).reshape(2, 3)
    program = compile_program(lambda a, b: [jnp.sin(a) * b, b.sum()], avals(x, x), donate=(0,))
    loaded = compat.load(program.dump())
    assert (loaded.inputs, loaded.outputs, loaded.donated) == (program.inputs, program.outputs, program.donated)
    for one, other in zip(program.run([x, x]), loaded.run([x, x]), strict=True):
        assert one.dtype == other.dtype == np.float64
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_python_scalars_and_unused_and_strange_inputs(way):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    program = compile_program(lambda a, unused, s: (a * s, jnp.zeros((0, 2)), jnp.int64(7)),
                              [*avals(x.T, x), jax.ShapeDtypeStruct((), np.float32)])
    product, empty, seven = program.run([x.T, compat.put(x), 2.5])
    np.testing.assert_array_equal(product, x.T * 2.5)
    assert empty.shape == (0, 2) and seven.dtype == np.int64 and int(seven) == 7
    assert compile_program(lambda: [jnp.ones(2)], []).run([])[0].shape == (2,)
    assert compile_program(lambda a: [], avals(x)).run([x]) == []


def test_a_numpy_input_is_copied(way):
    big = np.zeros(1 << 16, np.float32)
    program = compile_program(lambda a: [a, a + 1], avals(big))
    same, more = program.run([big])
    big[:] = 5
    assert float(same.max()) == 0 and float(more.max()) == 1


def test_put_keeps_64_bits():
    values = np.random.default_rng(0).integers(2**40, 2**60, 3)
    for array in (values, values * 1.1, np.uint64(2**63), values * (1 + 1j)):
        assert compat.put(array).dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(compat.put(array)), array)


def test_refusals(way):
    x = jnp.ones(4)
    program = compile_program(lambda a, b: [a + b], avals(x, x))
    with pytest.raises((TypeError, ValueError, jax.errors.JaxRuntimeError)):
        program.run([x])
    with pytest.raises((TypeError, ValueError, jax.errors.JaxRuntimeError)):
        program.run([x, jnp.ones(3)])
    with pytest.raises(TypeError, match="concrete arrays"):
        jax.jit(lambda a: program.run([a, a]))(x)
    with pytest.raises(TypeError, match="incompatible shapes"):
        compile_program(lambda a, b: [a + b], avals(x, jnp.ones(3)))


def test_a_run_inside_a_trace_is_not_part_of_it(way):
    x = jnp.arange(3.0)
    program = compile_program(lambda a: [a * 2], avals(x))
    seen = []
    jax.make_jaxpr(lambda a: seen.append(program.run([x])[0]) or a)(1.0)
    assert not isinstance(seen[0], jax.core.Tracer) and float(seen[0][2]) == 4


def test_donation(way):
    def fresh():
        return jnp.arange(1000.0), jnp.ones(1000), jnp.ones(7)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = compile_program(lambda a, b, c: [b * 2, c[:3]], avals(*fresh()), donate=(1, 2))
    assert program.donated == (1,)                              # no output has the shape of c
    for one in (program, compat.load(program.dump())):
        a, b, c = fresh()
        pointer = b.unsafe_buffer_pointer()
        doubled, _ = one.run([a, b, c])
        assert b.is_deleted() and not a.is_deleted() and not c.is_deleted()
        assert doubled.unsafe_buffer_pointer() == pointer and float(doubled[5]) == 2
        with pytest.raises((RuntimeError, ValueError), match="deleted|donated"):
            one.run([a, b, c])


def test_a_callback_runs_but_is_not_stored(way):
    x = np.arange(3, dtype=np.float32)
    program = compile_program(lambda a: [jax.pure_callback(lambda v: np.sort(v)[::-1], *avals(x), a)], avals(x))
    np.testing.assert_array_equal(program.run([x])[0], x[::-1])
    assert not program.portable
    with pytest.raises(ValueError, match="cannot be stored"):
        program.dump()


def test_a_device_of_ones_own(way):
    device = jax.local_devices()[-1]
    x = np.arange(3, dtype=np.int64)
    program = compile_program(lambda a: [a + 1], avals(x), device=device)
    for one in (program, compat.load(program.dump(), device)):
        answer, = one.run([x])
        assert answer.devices() == {device} and answer.dtype == np.int64


def test_options_reach_the_compiler(way):
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option"):
        compile_program(lambda a: [a + 1], avals(jnp.ones(2)), options={"xla_no_such_option": True})


# ---- threads ---------------------------------------------------------------------------------------------------------

def test_compiled_in_the_background():
    x = np.arange(3.0)
    threads = []

    def function(a):
        threads.append(threading.current_thread())
        return [a * 2]

    handle = COMPILER.submit(lambda: compile_program(function, avals(x)))
    np.testing.assert_array_equal(handle.result(WAIT, help=False).run([x])[0], x * 2)
    assert threads[0] is not threading.main_thread()
    handle = COMPILER.submit(lambda: compile_program(lambda a: [a + jnp.ones(5)], avals(np.ones(3))))
    with pytest.raises(TypeError, match="incompatible shapes"):
        handle.result(WAIT, help=False)


def test_many_threads_compile_at_once():
    x = np.arange(4.0)
    answers = {}

    def work(i):
        answers[i] = compile_program(lambda a: [a * i, a.astype(jnp.int64)], avals(x)).run([x])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        np.testing.assert_array_equal(answers[i][0], x * i)
        assert answers[i][0].dtype == np.float64 and answers[i][1].dtype == np.int64


LONG = """
import atexit, os, signal, sys, threading, time
import jax, jax.numpy as jnp, numpy as np
from jtensor.trace.lowering import executable
from jtensor.trace import programs

def long(shift):
    def function(a):
        for i in range(25):
            a = jnp.tanh(a @ a) * (i + shift) + jnp.sin(a)
        return [a]
    return function

small = [jax.ShapeDtypeStruct((16, 16), np.float32)]
executable.compile_program(lambda a: [a], small)

signal.signal(signal.SIGINT, signal.default_int_handler)        # a process begun in the background ignores it

def interrupt():
    time.sleep(0.4)
    os.kill(os.getpid(), signal.SIGINT)
"""


def _ends(script):
    return subprocess.run([sys.executable, "-c", LONG + textwrap.dedent(script)], capture_output=True, text=True, timeout=300)


def test_the_end_of_the_process_waits_for_the_compile_in_hand():
    answer = _ends("""
        begun = threading.Event()

        def first(a):
            begun.set()
            return long(0)(a)

        def at_the_end():
            in_hand, *queued = handles
            print(in_hand.failed(), in_hand.done(), any(type(h.failed()).__name__ == "CancelledError" for h in queued))

        atexit.register(at_the_end)             # registered before the worker's own, hence run after it
        handles = [programs.COMPILER.submit(lambda f=f: executable.compile_program(f, small)) for f in [first, *map(long, range(300))]]
        begun.wait()
    """)
    assert (answer.returncode, answer.stdout) == (0, "None True True\n"), answer.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals of POSIX")
def test_ctrl_c_during_a_compile_leaves_everything_usable():
    answer = _ends("""
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            for i in range(10_000):
                executable.compile_program(long(i), small)
        except KeyboardInterrupt:
            print("interrupted")
        print(executable.compile_program(lambda a: [a + 1], small).run([np.ones((16, 16), np.float32)])[0][0, 0])
    """)
    assert (answer.returncode, answer.stdout) == (0, "interrupted\n2.0\n"), answer.stderr
