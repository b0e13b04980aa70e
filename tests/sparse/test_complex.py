"""Complex sparse tensors beside PyTorch's: conjugates, parts, and gradients, which are products with conjugates."""
import pytest

from .lines import check, listed

GIVEN = (
    "i = torch.tensor([[0, 1, 1, 0], [2, 0, 0, 1]]); v = torch.tensor([1 + 2j, -2 - 1j, 3 + 0.5j, 4 - 3j]); "
    "x = torch.sparse_coo_tensor(i, v, (2, 3)); c = x.coalesce().requires_grad_(); "
    "y = torch.eye(2, 3).mul(2 - 1j).to_sparse().requires_grad_(); r = torch.eye(2, 3).to_sparse().requires_grad_(); "
    "d = torch.arange(6.).mul(1 - 2j).add(1j).reshape(2, 3).requires_grad_(); "
    "e = torch.arange(6.).mul(1 + 1j).sub(2j).reshape(3, 2).requires_grad_(); "
    "n = torch.tensor(2 + 1j).requires_grad_(); m = torch.tensor(3.).requires_grad_(); "
    "b = torch.sparse_coo_tensor([[0, 1], [1, 0], [2, 1]], [1j, 2 + 1j], (2, 2, 3)).requires_grad_(); "
    "f = torch.ones(2, 3, 1).mul(1 + 2j).requires_grad_(); ")
LINES = listed("""
    x.conj(), x.conj().is_conj(), torch.conj(x).is_coalesced()
    x.conj_physical(), torch.resolve_conj(x)
    x.H, x.mH, x.adjoint()
    x.real, x.imag, torch.real(x), torch.imag(x)
    torch.view_as_real(x)
    r.real, r.conj() is r
    r.imag
    k = x.to_sparse_csr(); k.conj(), k.conj_physical(), k.H, k.mH, k.angle()
    c.conj().to_dense().sum().abs().backward(); c.grad.to_dense()
    (c * (1 + 3j)).to_dense().sum().abs().backward(); c.grad.to_dense()
    (c / (1 + 3j)).to_dense().sum().abs().backward(); c.grad.to_dense()
    (c * n).to_dense().sum().abs().backward(); c.grad.to_dense(), n.grad
    (c / n).to_dense().sum().abs().backward(); c.grad.to_dense(), n.grad
    (c * m).to_dense().sum().abs().backward(); m.grad
    (r * n).to_dense().sum().abs().backward(); r.grad.to_dense(), n.grad
    (c * y).to_dense().sum().abs().backward(); c.grad.to_dense(), y.grad.to_dense()
    (c * d).to_dense().sum().abs().backward(); c.grad.to_dense(), d.grad
    (r * d).to_dense().sum().abs().backward(); r.grad.to_dense(), d.grad
    torch.add(c, y, alpha=2j).to_dense().sum().abs().backward(); c.grad.to_dense(), y.grad.to_dense()
    torch.sub(d, c, alpha=1 + 1j).sum().abs().backward(); d.grad, c.grad.to_dense()
    (d + r).sum().abs().backward(); r.grad.to_dense()
    torch.mm(c, e).sum().abs().backward(); c.grad, e.grad
    torch.mm(d, x.t().coalesce().requires_grad_()).sum().abs().backward(); d.grad
    torch.sparse.mm(c, e).sum().abs().backward(); c.grad.to_dense(), e.grad
    torch.mv(c, e[:, 0]).sum().abs().backward(); c.grad, e.grad
    torch.addmm(torch.ones(2, 2) * 1j, c, e, beta=2, alpha=1j).sum().abs().backward(); c.grad, e.grad
    torch.sparse.addmm(n.expand(2, 2), c, e, beta=2, alpha=3).sum().abs().backward(); c.grad.to_dense(), e.grad, n.grad
    torch.bmm(b, f).sum().abs().backward(); b.grad, f.grad
""")


@pytest.mark.parametrize("line", LINES)
def test_complex(line):
    check(line, GIVEN)
