"""Rows of a few elements, which compilers take out of their loops: a number's bits are those that it has anywhere else."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jtensor.trace.lowering import fences
from jtensor.trace.lowering.executable import compile_program


def avals(*arrays):
    return [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]


@pytest.mark.parametrize("row, dtype", [(3, "float32"), (5, "float32"), (8, "float32"), (9, "float32"), (17, "float32"), (3, "float64"),
                                        (8, "float64"), (5, "bfloat16"), (17, "bfloat16")])
def test_bits_of_a_number_do_not_depend_on_the_rows_that_it_stands_in(row, dtype):
    zero, numbers = np.zeros((), np.uint32), np.abs(np.random.default_rng(row).normal(size=100 * row)) / 5
    tried = [jnp.exp, jnp.log, jax.lax.rsqrt, jax.lax.logistic, jnp.tanh, jnp.sinh, jnp.exp2, jnp.log1p]

    def functions(x, summed):
        made = [fences.mark(f(x)) for f in tried]
        return made + ([fences.mark(sum(made).sum(-1))] if summed else [])
    with jax.enable_x64(True):
        x = jnp.asarray(numbers, dtype)
        for summed in (False, True):
            found = []
            for given in (x, x.reshape(100, row)):
                fenced = fences.fenced(lambda x, summed=summed: functions(x, summed), avals(given))
                program = compile_program(fenced.program, avals(zero, given), options=fenced.compiler_options)
                found.append([np.asarray(made).tobytes() for made in program.run([zero, given])[:len(tried)]])
            assert found[0] == found[1]


@pytest.mark.parametrize("row", [3, 6, 8])
@pytest.mark.parametrize("function", [jnp.log1p, jnp.log, jnp.arctanh, jnp.arcsinh], ids=lambda f: f.__name__)
def test_what_is_also_summed_along_its_rows_has_the_same_bits(row, function):
    zero, numbers = np.zeros((), np.uint32), np.random.default_rng(row).uniform(0, 0.99, (2000, row)).astype(np.float32)
    found = []
    with jax.enable_x64(True):
        for summed in (False, True):
            def both(x, summed=summed):
                y = fences.mark(function(x))
                return [y, fences.mark(y.sum(-1))] if summed else [y]
            fenced = fences.fenced(both, avals(numbers))
            program = compile_program(fenced.program, avals(zero, numbers), options=fenced.compiler_options)
            found.append(np.asarray(program.run([zero, numbers])[0]).tobytes())
    assert found[0] == found[1]
