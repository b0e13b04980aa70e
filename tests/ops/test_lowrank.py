"""Approximate singular values: PyTorch's numbers by its seed, what they make of a matrix of low rank, and refusals."""
import pytest

import jtensor

from .twin import same

LOW = "(a @ b)"                    # 5 x 4, of rank 2


@pytest.mark.parametrize("text", [
    f"(T.manual_seed(3), T.svd_lowrank({LOW}, 2)[1])[1]", f"(T.manual_seed(3), T.svd_lowrank({LOW}.T, 2, 0)[1])[1]",
    f"(T.manual_seed(3), T.svd_lowrank({LOW}, 2, M=a[:, :1])[1])[1]", "(T.manual_seed(3), T.pca_lowrank(a)[1])[1]",
    f"(T.manual_seed(3), T.pca_lowrank({LOW}, 2, False, 0)[1])[1]", "T.pca_lowrank(a, 3)", "T.pca_lowrank(a, 2, niter=-1)",
    "T.lu(b[:, :2])", "T.lu(b[:, :2], get_infos=True)", "T.lu(b[:, :2].detach(), out=(T.empty(0), T.empty(0, dtype=T.int32)))",
    "T.lu(b, pivot=False)", "T.linalg.lu(b, pivot=False)", "T.linalg.lu_factor(b, pivot=False)", "T.linalg.lu_factor_ex(b, pivot=False)",
    "T.lu(a[0])", "T.lu(T.ones(2, 2).long())"])
@pytest.mark.filterwarnings("ignore")
def test_numbers_of_a_seed(text):
    same(text, (5, 2), (2, 4), tolerance=1e-4, nodes=False)


def test_a_matrix_of_low_rank_comes_back():
    left, right = jtensor.arange(10.0).view(2, 5, 1).sin(), jtensor.arange(8.0).view(2, 1, 4).cos()
    u, s, v = jtensor.svd_lowrank(left * right, 1)
    jtensor.testing.assert_close(u * s.unsqueeze(-2) @ v.mT, left * right)


@pytest.mark.parametrize("call", ["svd_lowrank(x, 2)", "pca_lowrank(x, 2)", "pca_lowrank(x, 2, center=False)", "svd_lowrank(x.mH, 2)"])
def test_a_sparse_matrix_has_what_the_dense_one_has(call):
    dense = jtensor.tensor([[2., 0., 1.], [0., 0., 3.], [0., 1., 0.], [4., 0., 0.]])
    answers = []
    for x in (dense, dense.to_sparse()):
        jtensor.manual_seed(0)
        answers.append(eval("jtensor." + call, {"jtensor": jtensor, "x": x}))
    jtensor.testing.assert_close(*answers)


def test_a_batch_of_sparse_samples_is_refused():
    with pytest.raises(ValueError, match="expected to be 2-dimensional"):
        jtensor.pca_lowrank(jtensor.ones(2, 2, 2).to_sparse())
