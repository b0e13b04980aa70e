"""Functions that PyTorch makes of others, older names, and calls of a wrong form, of sparse tensors of all layouts."""
import pytest

from .lines import check, listed

GIVEN = (
    "F = torch.nn.functional; m = torch.tensor([[1., 0, -2, 0], [0, 0, 3, 4], [0, 0, 0, 0], [5, 0, 0, 6.5]]); o = m.to_sparse(); "
    "r = m.to_sparse_csr(); k = m.to_sparse_csc(); b = m.to_sparse_bsr((2, 2)); d = torch.arange(16.).reshape(4, 4); "
    "h = torch.sparse_coo_tensor([[0, 1]], [[1., 2], [3, 4]], (4, 2)).coalesce(); ")
LINES = listed("""
    torch.matrix_power(o, 3), r.matrix_power(2), torch.linalg.matmul(o, d), torch.linalg.matmul(d, r), o.__rmatmul__(d)
    torch.matrix_power(o, -1)
    torch.linalg.vecdot(o, o), torch.linalg.vecdot(o, d, dim=0), torch.linalg.multi_dot([o, d])
    torch.broadcast_tensors(o, torch.ones(4, 1)), torch.ldexp(o, d), torch.ldexp(r, d), torch.trapezoid(o), torch.trapz(o, dim=0)
    torch.pairwise_distance(d, o), torch.dist(d, o), d.expand_as(o), d.view_as(r), d.reshape_as(o), o.storage_offset()
    torch.column_stack([o, o]), torch.dstack([o, o]), torch.dstack([h, h]), torch.view_as_complex(h), torch.special.erf(o)
    r.absolute(), r.arcsin(), k.fix(), b.negative(), r.positive() is r, torch.as_tensor(r) is r, d.new_tensor(r), F.relu(r)
    r.clone().fill_(3), torch.fill(r, 2)
    torch.addmm(r, r, r, beta=2, alpha=3), r.clone().addmm_(r, r), torch.addmm(d, r, r), torch.addmm(k, k, k).layout, torch.mm(k, k).layout
    torch.addmm(r, r, d)
    torch.mm(o, r)
    torch.mm(b, b)
    torch.addmm(d, o, o)
    h @ torch.ones(2, 3)
    h @ o
    o.mul_(2).is_coalesced(), h.sum(1, keepdim=True), h.sum((0, 1), keepdim=True)
    r * torch.ones(4)
    r.new_tensor([1.])
    o.float(2)
    r.crow_indices(2)
    torch.mm(o, 3)
    3 @ r
    o @ 'a'
    o.abs(2)
    float(o)
    o.any(0)
    k.unsqueeze(0)
    k.cos()
    k.div_(2)
    torch.cat([k, k])
    torch.special.erfc(k)
    F.silu(k)
    F.silu(o)
    torch.std_mean(o)
    torch.linalg.inv(o)
""")


@pytest.mark.parametrize("line", LINES)
def test_line(line):
    check(line, GIVEN)
