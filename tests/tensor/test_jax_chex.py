"""Beside JAX: chex's assertions take tensors for arrays, values go over and come back, transformations say what they cannot do."""
import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jtensor as torch

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def t():
    return torch.arange(6.0).reshape(2, 3)


OTHERS = {"numpy": lambda: VALUES, "jax": lambda: jnp.asarray(VALUES), "tensor": lambda: torch.tensor(VALUES.tolist())}


@pytest.mark.parametrize("kind", OTHERS)
def test_chex_compares_tensors_with_arrays(t, kind):
    other = OTHERS[kind]()
    chex.assert_trees_all_close(t, other)
    chex.assert_trees_all_equal(t, other)
    chex.assert_trees_all_close({"a": [t, t * 2]}, {"a": [other, VALUES * 2]})
    chex.assert_equal_shape([t, other])
    chex.assert_trees_all_equal_shapes(t, other)
    for wrong in (other + 1, other * np.float32(1.001)):
        with pytest.raises(AssertionError):
            chex.assert_trees_all_close(t, wrong)
        with pytest.raises(AssertionError):
            chex.assert_trees_all_equal(t, wrong)


def test_chex_on_a_tensor(t):
    chex.assert_shape(t, (2, 3))
    chex.assert_rank(t, 2)
    chex.assert_axis_dimension(t, 1, 3)
    chex.assert_tree_all_finite(t)
    for wrong in (lambda: chex.assert_shape(t, (3, 2)), lambda: chex.assert_rank(t, 1), lambda: chex.assert_tree_all_finite(t / 0)):
        with pytest.raises(AssertionError):
            wrong()


def test_a_tensor_is_a_leaf(t):
    assert jax.tree.leaves({"a": t}) == [t] or jax.tree.leaves({"a": t})[0] is t


def test_values_go_over(t):
    view = t.t()[1:]
    array = view.jax()
    assert isinstance(array, jax.Array) and array.tolist() == [[1, 4], [2, 5]]
    t += 1                                                          # a later write does not show
    assert array.tolist() == [[1, 4], [2, 5]]
    assert jnp.asarray(t).tolist() == np.asarray(t).tolist() == (VALUES + 1).tolist()
    assert (jnp.asarray(VALUES) + t.jax()).tolist() == (2 * VALUES + 1).tolist()
    assert torch.arange(2).jax().dtype == np.int64 and torch.ones(1, dtype=torch.float64).jax().dtype == np.float64


def test_values_come_back():
    array = jnp.asarray(VALUES) * 2
    t = torch.from_jax(array)
    assert t.dtype == torch.float32 and t.stride() == (3, 1) and t.is_leaf
    t[0] = 0
    t.mul_(2)
    assert array.tolist() == (VALUES * 2).tolist() and t[0].tolist() == [0, 0, 0]
    x = torch.from_jax(array, requires_grad=True)
    x.sum().backward()
    assert x.grad.tolist() == [[1] * 3] * 2
    assert torch.from_jax(jnp.ones(2, jnp.bfloat16)).dtype == torch.bfloat16


def test_a_value_that_jax_has_is_not_changed_by_later_steps(t):
    arrays = []
    for _ in range(6):
        t.mul_(0.5).add_(1)
        arrays.append(t.jax())
    start = VALUES
    for array in arrays:
        start = start * np.float32(0.5) + np.float32(1)
        assert array.tolist() == start.tolist()


def test_transformations_over_tensors_are_refused(t):
    for transformed in (jax.jit(lambda x: x + 1), jax.grad(lambda x: (x * x).sum()), jax.vmap(lambda x: x * 2)):
        with pytest.raises(TypeError, match="Tensor"):
            transformed(t)
    with pytest.raises(TypeError):
        jnp.sin(t)


def test_tracers_are_refused(t):
    for body in (lambda x: t + x, lambda x: x + t, lambda x: torch.tensor(x), lambda x: (torch.from_jax(x) + 1).jax()):
        with pytest.raises((TypeError, NotImplementedError)):       # ours, or one of JAX about tracers
            jax.jit(body)(VALUES)
    assert (t + 1).tolist() == (VALUES + 1).tolist()


def test_jax_transforms_functions_of_values(t):
    w = jax.grad(lambda x: (x ** 2).sum())(t.jax())
    chex.assert_trees_all_close(torch.from_jax(w), 2 * VALUES)
    assert jax.jit(lambda x: x.sum())(t.jax()) == 15
