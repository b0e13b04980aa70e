"""The factors of symmetric matrices: LAPACK's pivots, PyTorch's layout, and solutions that are solutions."""
import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_factors_and_solutions_are_pytorchs(dtype, hermitian):
    random, blocks = np.random.RandomState(3), 0
    for n in (1, 2, 3, 5, 8) * 2:
        a = random.randn(n, n) + 1j * random.randn(n, n) if dtype == np.complex128 else random.randn(n, n)
        a *= random.rand(n, n) < 0.7                                   # zeros on the diagonal make blocks of 2 by 2
        lower = np.tril(a)
        a = (lower + (lower.conj() if hermitian else lower).T).astype(dtype)
        if np.linalg.matrix_rank(a) < n:                                # whether the last pivot is 0 then, is a matter of the processor
            continue
        theirs = torch.linalg.ldl_factor_ex(torch.from_numpy(a), hermitian=hermitian)
        ours = jtensor.linalg.ldl_factor_ex(jtensor.tensor(a), hermitian=hermitian)
        assert ours.pivots.tolist() == theirs.pivots.tolist() and ours.info.item() == theirs.info.item()
        assert np.allclose(ours.LD.numpy(), theirs.LD.numpy()) and ours.LD.stride() == theirs.LD.stride()
        blocks += sum(p < 0 for p in ours.pivots.tolist())
        if theirs.info.item() == 0:
            b = random.randn(n, 2).astype(dtype)
            x = jtensor.linalg.ldl_solve(ours.LD, ours.pivots, jtensor.tensor(b), hermitian=hermitian)
            assert np.allclose(a @ x.numpy(), b) and x.stride() == (1, n)
    assert blocks


def test_batches():
    a = jtensor.tensor([[[4.0, 2.0], [2.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]]])
    LD, pivots = jtensor.linalg.ldl_factor(a)
    assert pivots.tolist() == [[1, 2], [-2, -2]]
    assert (a @ jtensor.linalg.ldl_solve(LD, pivots, jtensor.ones(2, 2, 1))).tolist() == jtensor.ones(2, 2, 1).tolist()
    assert jtensor.linalg.ldl_solve(LD[0], pivots[0], jtensor.ones(5, 2, 1)).shape == (5, 2, 1)
    assert jtensor.linalg.ldl_factor_ex(jtensor.ones(0, 3, 3)).LD.shape == (0, 3, 3)


@pytest.mark.parametrize("call", [
    "L.ldl_factor(T.ones(3))", "L.ldl_factor(T.ones(2, 3))", "L.ldl_factor(T.ones(2, 2).int())", "L.ldl_factor(T.ones(2, 2).half())",
    "L.ldl_solve(T.eye(3), T.arange(1, 4), T.ones(2, 2))", "L.ldl_solve(T.eye(3), T.ones(3), T.ones(3, 2))",
    "L.ldl_solve(T.eye(3), T.arange(1, 3), T.ones(3, 2))", "L.ldl_solve(T.eye(3), T.arange(1, 4), T.ones(3, 2).double())",
    "L.ldl_factor(T.ones(2, 2), hermitian=1)", "L.ldl_factor(T.ones(1, 1, requires_grad=True)).LD.sum().backward()"])
def test_refusals(call):
    said = []
    for T in (torch, jtensor):
        with pytest.raises(Exception) as error:
            eval(call, {"T": T, "L": T.linalg})
        said.append((type(error.value).__name__, str(error.value)))
    assert said[1] == said[0]


def test_a_singular_matrix():
    assert jtensor.linalg.ldl_factor_ex(jtensor.zeros(2, 2)).info.item() == torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info.item() == 1
    with pytest.raises(RuntimeError, match="torch.linalg.ldl_factor: Unknown error code: 1"):
        jtensor.linalg.ldl_factor(jtensor.zeros(2, 2))
