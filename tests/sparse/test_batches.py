"""Batches of compressed matrices beside PyTorch's: making and checks, other layouts, pieces, values, what has no kernel, pickles; and
gradients, most of which PyTorch has no kernel for."""
import pytest

import jtensor

from .lines import check, listed

GIVEN = (
    "B = torch.tensor([[[1., 0, 2], [0, 3, 0]], [[0, 4, 5], [6, 0, 0]]]); i = [[0, 2, 3], [0, 2, 3]]; j = [[0, 2, 1], [1, 2, 0]]; "
    "w = [[1., 2, 3], [4, 5, 6]]; c = torch.sparse_csr_tensor(i, j, w, (2, 2, 3)); k = B.to_sparse_csc(); "
    "M = torch.arange(1, 33.).reshape(2, 4, 4); b = M.to_sparse_bsr((2, 2)); "
    "h = torch.arange(1, 25.).reshape(2, 2, 3, 2).to_sparse_csr(dense_dim=1); "
    "g = torch.ones(2, 3, 2, 1).to_sparse_csr(); ")
LINES = listed("""
    c, torch.sparse_csr_tensor(i, j, w), torch.sparse_csc_tensor(i, j, w), torch.sparse_csr_tensor([i], [j], [w]).shape
    torch.sparse_bsr_tensor([[0, 1], [0, 1]], [[1], [0]], torch.ones(2, 1, 2, 2)), b._nnz(), b.values().shape
    torch.sparse_csr_tensor(i, j, w, (2, 2, 3), check_invariants=True, dtype=torch.int32, requires_grad=False)
    torch.sparse_csr_tensor(i, j[0], w, (2, 2, 3), check_invariants=True)
    torch.sparse_csr_tensor(i, j, w[0])
    torch.sparse_csr_tensor(torch.tensor(0), torch.tensor([0, 2, 1]), torch.ones(3), (2, 3), check_invariants=True)
    torch.sparse_csr_tensor(i, j, w, (2, 3), check_invariants=True)
    torch.sparse_csr_tensor(i, j, w, (3, 2, 3), check_invariants=True)
    torch.sparse_csr_tensor(i, j, w, (2, 3, 3), check_invariants=True)
    torch.sparse_csr_tensor(i, j, [[1., 2], [4, 5]], (2, 2, 3), check_invariants=True)
    torch.sparse_csr_tensor(i, j[:1], w, (2, 2, 3), check_invariants=True)
    torch.sparse_csr_tensor([[0, 2, 3], [0, 1, 3]], j, w, (2, 2, 3), check_invariants=True)
    torch.sparse_csr_tensor([[0, 2, 3], [1, 2, 3]], j, w, (2, 2, 3), check_invariants=True)
    torch.sparse_csc_tensor([[0, 2, 3], [0, 2, 2]], j, w, (2, 3, 2), check_invariants=True)
    torch.sparse_csc_tensor([[0, 2, 3], [0, 2, 3]], [[0, 2, 1], [1, 3, 0]], w, (2, 3, 2), check_invariants=True)
    torch.sparse_csr_tensor(torch.tensor(i).int(), j, w, (2, 2, 3), check_invariants=True)
    torch.sparse_csr_tensor(torch.tensor(i).float(), torch.tensor(j).float(), w, (2, 2, 3), check_invariants=True)
    torch.sparse_bsr_tensor([0, 1], [0], torch.ones(1, 2, 2), (3, 2), check_invariants=True)
    torch.sparse_bsr_tensor([0, 1], [0], torch.ones(1, 2), (2, 2), check_invariants=True)
    torch.sparse_bsc_tensor([0, 1], [0], torch.ones(1, 2, 2), (2, 4), check_invariants=True)
    torch.sparse_bsr_tensor([0, 1], [1], torch.ones(1, 2, 2), (2, 2), check_invariants=True)
    torch.sparse_compressed_tensor(i, j, w, (2, 2, 3))
    torch.sparse_compressed_tensor(i, j, w, (2, 2, 3), layout=torch.sparse_coo)
    B.to_sparse_csr(), k, M.to_sparse_bsc((2, 2)), h, torch.ones(2, 2, 2, 2).to_sparse_bsr((2, 1), dense_dim=1)
    torch.tensor([[[1., 0]], [[1, 2]]]).to_sparse_csr()
    torch.ones(0, 2, 2).to_sparse_csc()
    c.to_dense(), k.to_dense(), b.to_dense(), h.to_dense(), c.to_sparse(), c.to_sparse().is_coalesced(), k.to_sparse(), b.to_sparse()
    c.to_sparse_csc(), k.to_sparse_csr(), c.to_sparse(layout=torch.sparse_csc), b.to_sparse_bsc((2, 2)), c.to_sparse(2).sparse_dim()
    c.to_sparse_bsr((2, 1))
    b.to_sparse_csr()
    M.to_sparse().to_sparse_csr()
    c.to_sparse(3)
    c.crow_indices(), c.col_indices(), c.values(), c._nnz(), c.sparse_dim(), c.dense_dim(), h.dense_dim(), len(c), c.numel()
    c[0], c[-1], c[1, 0], c[0, 1, 2], c[0, :, 1], c[0, ..., 0], c[0][1], h[0], h[0, 0], h[..., 1], h[0, 0, 0, 1], b[1]
    c[torch.tensor(0)]
    list(c), c.unbind(), h.unbind(3)[1], torch.select_copy(b[0], 0, 1), torch.select_copy(c, 0, 1), c.select(0, 1)
    x = c.clone(); x[0].values().mul_(10); x
    c.select(1, 1)
    c.select(0, 7)
    c[2]
    c[0, 0, 0, 0]
    b[0].select(0, 1)
    c[0:1]
    c[None]
    c[[0]]
    c.transpose(1, 2), c.mT, b.transpose(-1, -2), g.transpose(0, 1), c.transpose(1, 1), c.mH, c[0].t(), c.swapaxes(1, 2).layout
    c.transpose(0, 1)
    h.transpose(1, 2)
    c.t()
    c.H
    c[0].T
    c[0].t_()
    c.abs(), c * 2, c * torch.tensor(2.), -c, c + c, h + h, b + b, k + k, c.add(c, alpha=3), c + B, B + c, c.sum(), c * 2j
    c.relu(), b.sin()
    x = c.clone(); x.mul_(2), x.neg_(), x.abs_(), x.copy_(c), x.zero_(), b.clone().zero_()
    c * c
    c * B
    c + k
    c - c
    c.sum(1)
    c @ torch.ones(2, 3, 2)
    torch.matmul(c, torch.ones(3, 2))
    torch.sparse.mm(c, torch.ones(3, 2))
    torch.mv(c, torch.ones(3))
    F = torch.nn.functional; F.linear(torch.ones(1, 3), c)
    torch.sparse.sampled_addmm(c, torch.ones(2, 2, 4), torch.ones(2, 4, 3), beta=2.)
    torch.sparse.sampled_addmm(c, torch.ones(2, 4), torch.ones(4, 3))
    torch.zeros(2, 2, 3, layout=torch.sparse_csr), torch.zeros_like(c), torch.zeros_like(b), torch.ones_like(c), c.new_zeros(2, 2, 3)
    torch.zeros(3, layout=torch.sparse_csr)
    torch.zeros(2, 4, 4, layout=torch.sparse_bsr)
    c[0].clone().resize_(3, 3), c[0].clone().resize_(1, 4), c[0].clone().resize_(2, 3)
    c[0].clone().resize_(2, 2)
    B.sparse_mask(c), c.sparse_mask(c), c.to(torch.float64), c.clone(), c.detach(), torch.full_like(c, 3), c.half().dtype
    c.copy_(k)
    c.copy_(B)
    c[0].clone().copy_(c)
    torch.cat([c, c])
    import pickle; pickle.loads(pickle.dumps(c)), pickle.loads(pickle.dumps(b)).shape
    import io; y = io.BytesIO(); torch.save([c, b], y); y.seek(0); torch.load(y)
    x = c.clone().requires_grad_(); (x.values() ** 2).sum().backward(); x.grad
    x = c.clone().requires_grad_(); (x * 2).values().sum().backward(); x.grad
    x = B.clone().requires_grad_(); x.to_sparse_csr().values().pow(2).sum().backward(); x.grad
    x = M.clone().requires_grad_(); x.to_sparse_bsr((2, 2)).values().pow(2).sum().backward(); x.grad
    x = c.clone().requires_grad_(); (B + x).pow(2).sum().backward(); x.grad
    z = torch.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1., 0, 3], (2, 3)); z.to_sparse_bsr((1, 1)), z.to_sparse_csc()
    z = [torch.tensor(n).int() for n in ([0, 2, 3], [0, 2, 1])]; torch.sparse_csr_tensor(*z, [1., 0, 3]).to_sparse_csc().row_indices().dtype
""")


@pytest.mark.parametrize("line", LINES)
def test_line(line):
    check(line, GIVEN)


def test_gradients_that_pytorch_has_no_kernel_for():
    dense = jtensor.tensor([[[1., 0, 2], [0, 3, 0]], [[0, 4, 5], [6, 0, 0]]], dtype=jtensor.float64)
    batch = dense.to_sparse_csr().requires_grad_()
    functions = [lambda x: x.to_dense(), lambda x: x.to_sparse().to_dense(), lambda x: x.mT.to_dense(), lambda x: x[1].to_dense(),
                 lambda x: x.to_sparse_csc().to_dense(), lambda x: (x + x).to_dense(), lambda x: x.sin().to_dense()]
    assert jtensor.autograd.gradcheck(lambda x: [f(x) for f in functions], (batch,), masked=True)
    blocks = dense.to_sparse_bsr((2, 1)).requires_grad_()
    (blocks.to_sparse_bsc((2, 1)).to_dense() ** 2).sum().backward()
    assert blocks.grad.layout is jtensor.sparse_bsr and jtensor.equal(blocks.grad.to_dense(), 2 * dense)
