"""`gradcheck` and `gradgradcheck` of sparse inputs, and ``torch.sparse.as_sparse_gradcheck``, beside PyTorch's."""
import pytest

from .lines import check, listed

GIVEN = (
    "G, GG = torch.autograd.gradcheck, torch.autograd.gradgradcheck; S = torch.sparse.as_sparse_gradcheck(G); "
    "d = torch.tensor([[0., 1, 0, 2], [3, 0, 4, 0]], dtype=torch.float64); e = torch.arange(8., dtype=torch.float64).reshape(4, 2); "
    "o = d.to_sparse().requires_grad_(); r = d.to_sparse_csr().requires_grad_(); b = d.to_sparse_bsr((1, 2)).requires_grad_(); "
    "h = d.to_sparse(1).requires_grad_(); f = e.clone().requires_grad_(); "
    "u = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], torch.tensor([1., 2, 3]).double(), (2, 3)).requires_grad_(); ")
LINES = listed("""
    [G(lambda x: x.to_dense(masked_grad=m), (x,), masked=m) for x in (o, r, b, h) for m in (True, False)], G(lambda x: x.sum(), r)
    G(lambda x: x.to_dense(masked_grad=True), (o,), masked=False)
    G(lambda x: x.to_dense(masked_grad=True), (b,), masked=False)
    G(lambda x: x.values(), (r,), masked=True), G(lambda x: (x * 2).to_dense(masked_grad=False), (r,)), G(lambda x: x @ e, (o,))
    G(lambda x: x.to_dense(), (u,), masked=True), G(lambda x: x.coalesce().values(), (u,), masked=True), G(lambda x: x @ e, (r,))
    G(lambda x, w: torch.sparse.mm(x, w), (o, f), masked=True, fast_mode=True), G(lambda x: x.to_sparse().to_dense(), (f,))
    G(lambda x: torch.sparse.mm(x, e), (o,))
    G(lambda x: x.to_dense() * x.to_dense().detach(), (r,), masked=True)
    G(lambda x: x.to_dense() * x.to_dense().detach(), (r,), masked=True, raise_exception=False)
    G(lambda n, w: w * w.detach(), (3, f))
    G(lambda x: x, (r,))
    G(lambda x: x.to_dense(), (o.detach(),))
    [GG(lambda x: x.to_dense(masked_grad=m), (x,), masked=m) for x in (o, r) for m in (True, False)]
    [S(f, (x,), masked=m) for x in (o, r, b) for m in (True, False) for f in (lambda x: x, lambda x: x.to_sparse_coo(), lambda x: x * 2)]
    S(lambda x: (x, x.transpose(0, 1)), [r]), S(lambda x: x.to_sparse_csc(), o), S(lambda w: w.to_sparse(), f), S.__name__
    S(lambda x, w: torch.sparse.mm(x, w), (o, f), masked=True), S(lambda x: x.to_dense(), (h,)), S(lambda x: x.abs(), (r,))
    S(lambda x: x.to_dense().detach() * x, (o,))
""")


@pytest.mark.parametrize("line", LINES)
def test_line(line):
    check(line, GIVEN)
