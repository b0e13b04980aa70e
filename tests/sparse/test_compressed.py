"""Sparse matrices by rows and columns beside PyTorch's: making, parts, other layouts, products, gradients, pickles."""
import warnings

import pytest

import jtensor

from .lines import check, listed

GIVEN = (
    "F = torch.nn.functional; a = torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3., 4., 5.], (2, 3)); "
    "d = torch.arange(6.).reshape(2, 3).requires_grad_(); e = torch.arange(6.).reshape(3, 2).requires_grad_(); "
    "v = torch.tensor([3., 4., 5.], requires_grad=True); x = d.detach(); "
    "u = torch.sparse_csr_tensor(torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2]), v, (2, 3)); l = a.clone().requires_grad_(); "
    "m = torch.tensor([[1., 2, 0, 0], [3, 4, 0, 0], [0, 0, 5, 6], [0, 0, 0, 8]]); ")
LINES = listed("""
    a, u, l, torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3., 4., 5.])
    torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], [4., 3., 5.], (2, 3))
    torch.sparse_bsr_tensor([0, 1, 2], [0, 1], [[[1., 2], [3, 4]], [[5, 6], [0, 8]]], (4, 4))
    torch.sparse_bsc_tensor([0, 1, 2], [0, 1], [[[1., 2], [3, 4]], [[5, 6], [0, 8]]])
    torch.sparse_compressed_tensor([0, 1, 3], [2, 0, 2], [3., 4., 5.], (2, 3), layout=torch.sparse_csr, requires_grad=True)
    torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3., 4.], (2, 3), check_invariants=True)
    torch.sparse_csr_tensor([0, 1], [2, 0, 2], [3., 4., 5.], (2, 3), check_invariants=True)
    torch.sparse_csr_tensor([0, 1, 3], [2, 2, 0], [3., 4., 5.], (2, 3), check_invariants=True)
    torch.sparse_csr_tensor([0, 1, 3], [2, 0, 5], [3., 4., 5.], (2, 3), check_invariants=True)
    torch.sparse_csr_tensor([1, 1, 3], [2, 0, 2], [3., 4., 5.], (2, 3), check_invariants=True)
    m.to_sparse_csr(), m.to_sparse_csc(), m.to_sparse_bsr((2, 2)), m.to_sparse_bsc((2, 2)), m.to_sparse(layout=torch.sparse_csc)
    m.to_sparse_coo().to_sparse_csr(), m.to_sparse_csr().to_sparse(), m.to_sparse_csr().to_sparse_csc(), m.to_sparse_csc().to_sparse()
    m.to_sparse_bsr((2, 2)).to_sparse_csr()
    m.to_sparse_bsr((2, 2)).to_dense(), m.to_sparse_csc().to_dense(), m.to_sparse_bsc((2, 2)).to_dense()
    m.to_sparse_bsr((3, 2))
    m.to_sparse_bsr(2), m.to_sparse().to_sparse_bsc([2, 4])
    m.to_sparse_bsr(3)
    m.to_sparse_bsc((2,))
    m[..., None].to_sparse_bsr((2, 2), 1), m[..., None].to_sparse_bsc((2, 2), 1).to_dense(), m[..., None].to_sparse_csc(dense_dim=1)
    torch.ones(3).to_sparse_csr()
    m.reshape(2, 2, 4).to_sparse_csr(dense_dim=1)
    a.crow_indices(), a.col_indices(), a.values(), a._nnz(), a.layout, a.is_sparse, a.is_sparse_csr, a.sparse_dim(), a.dense_dim(), a.nbytes
    a.ccol_indices()
    a.indices()
    a.coalesce()
    d.crow_indices()
    x.to_sparse().crow_indices()
    a.stride()
    a.numpy()
    a.untyped_storage()
    a @ e, torch.mm(a, e), a @ e[:, 0], torch.sparse.mm(a, e), torch.spmm(a, e), F.linear(torch.ones(1, 3), a), e.detach() @ a
    a @ torch.ones(2, 3)
    torch.ones(4, 3) @ a
    torch.sparse.mm(a, torch.ones(2, 1))
    torch.addmm(torch.ones(2, 2), a, torch.ones(2, 2))
    torch.mm(input=a, mat2=e.detach()), torch.mm(e.detach(), mat2=a), torch.mv(input=a, vec=e.detach()[:, 0])
    torch.addmm(torch.ones(2, 2), mat2=e.detach(), mat1=a), torch.matmul(a, other=e.detach()), F.linear(torch.ones(1, 3), weight=a)
    torch.ones(2) @ a, torch.arange(8.).reshape(2, 2, 2) @ a, F.linear(torch.ones(3), a)
    F.linear(torch.arange(12.).reshape(2, 2, 3), a, torch.ones(2))
    y = torch.arange(12.).reshape(2, 2, 3).requires_grad_(); F.linear(y, u).square().sum().backward(); y.grad, v.grad
    m.to_sparse_csc() @ m, m.to_sparse_bsr((2, 2)) @ m, a.t(), a.transpose(0, 1), m.to_sparse_bsc((2, 2)).t()
    torch.addmm(torch.ones(2, 2), a, e.detach(), beta=2, alpha=3), torch.sparse.addmm(torch.ones(2, 2), a, e.detach())
    torch.sparse.sampled_addmm(a, torch.ones(2, 4), torch.ones(4, 3), beta=2., alpha=3.)
    [torch.sparse.mm(a, e, way) for way in ("sum", "mean", "amax", "amin")]
    torch.sparse.mm(u, e, "mean").square().sum().backward(); v.grad, e.grad
    torch.sparse.mm(l, e, "amax").square().sum().backward(); l.grad, e.grad
    torch.sparse.mm(l, torch.zeros(3, 2).requires_grad_(), "amin").sum().backward(); l.grad
    z = torch.zeros(3, 2, requires_grad=True); torch.sparse.mm(a, z, "amax").sum().backward(); z.grad
    z = torch.zeros(3, 2, requires_grad=True); torch.sparse.mm(a, z, "amin").sum().backward(); z.grad
    torch.sparse.mm(a, torch.tensor([[1., float('nan')], [2., 3.], [float('nan'), 5.]]), "amax")
    torch.sparse.mm(torch.zeros(2, 3).to_sparse_csr(), e, "amax"), torch.sparse.mm(a.double(), e.detach().double(), "mean")
    torch.sparse.mm(a, e, "prod")
    torch.sparse.mm(a, e, "other")
    torch.sparse.mm(a.to_sparse(), e, "mean")
    torch.sparse.mm(x, e, "mean")
    torch.sparse.mm(a, a, "mean")
    torch.sparse.mm(a, d, "mean")
    torch.sparse.mm(a, e[:, 0], "mean")
    torch.sparse.mm(a, e.detach().double(), "mean")
    torch.sparse.mm(a.long(), e.detach().long(), "mean")
    a + a, a * 2, a * a, -a, a.abs(), a.sqrt(), 2 * a, a.relu(), a + x, x + a, x * a, a * x, torch.add(a, a, alpha=2), a.isnan()
    a / 2
    a - a
    a.exp()
    a == a
    a.sum(), a.sum(1, keepdim=True), a.sum(0, keepdim=True)
    a.sum(0)
    a[0], a[0, 2], a.select(0, 1), a.to(torch.float64), a.detach(), a.to('cpu') is a, a.to_sparse_csr() is a, a.half().dtype
    a.mul_(2), a.copy_(a * 2), a.values().mul_(3), a, a.zero_(), a.neg_()
    x.sparse_mask(a), a.sparse_mask(a), torch.zeros(2, 3, layout=torch.sparse_csr), torch.zeros_like(a), torch.ones_like(a)
    (a @ e).sum().backward(); e.grad
    (u @ e).sum().backward(); v.grad, e.grad
    (l @ e).sum().backward(); l.grad, e.grad
    u.to_dense().pow(2).sum().backward(); v.grad
    l.to_dense().pow(2).sum().backward(); l.grad
    l.values().pow(2).sum().backward(); l.grad
    u.values().pow(2).sum().backward(); v.grad
    d.to_sparse_csr().values().sum().backward(); d.grad
    (l * 2).to_dense().sum().backward(); l.grad
    import pickle; pickle.loads(pickle.dumps(a))
    import io; b = io.BytesIO(); torch.save([a, m.to_sparse_bsc((2, 2)), m.to_sparse()], b); b.seek(0); torch.load(b)
    a.clone().mul_(a), a.clone().mul_(d.detach()), a.long().mul_(a * 0.5)
    d.detach().mul_(a)
    a.long().mul_(torch.ones(2, 3))
    b = torch.neg(a); torch.sin(a, out=b), b; torch.mul(a, a, out=b), b; torch.add(a, a, out=b), b
    torch.sin(a, out=a.double()), torch.mul(a, a, out=d.detach().to_sparse_csr())
    torch.sin(a, out=a.long())
    torch.sin(a, out=d.detach().to_sparse_csr())
    a.long().copy_(a * 1.5)
    torch.manual_seed(0); torch.randn_like(a), torch.randn_like(a, dtype=torch.float64, requires_grad=True)
    torch.full_like(a, 2), torch.ones_like(a, requires_grad=True), torch.zeros_like(a, layout=torch.sparse_csc)
    torch.ones_like(a, layout=torch.strided)
    torch.zeros_like(a, layout=torch.strided)
""")


@pytest.mark.parametrize("line", LINES)
def test_line(line):
    check(line, GIVEN)


def test_the_warning_comes_once():
    from jtensor.sparse import compressed
    compressed.WARNED.clear()
    with pytest.warns(UserWarning, match="Sparse CSC tensor support is in beta state"):
        jtensor.eye(2).to_sparse_csc()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jtensor.eye(2).to_sparse_csr()


def test_products_with_what_is_no_tensor():
    a = jtensor.eye(2).to_sparse_csr()
    for call, text in ((lambda: jtensor.mm(a, 3), "mm(): argument 'mat2' (position 2) must be Tensor, not int"),
                       (lambda: jtensor.mv(a, None), "mv(): argument 'vec' (position 2) must be Tensor, not NoneType"),
                       (lambda: jtensor.addmm(1, a, a), "addmm(): argument 'input' (position 1) must be Tensor, not int")):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == text
