"""Sparse tensors in coordinates beside PyTorch's: text, parts, errors, arithmetic, moves, products."""
import pytest

import jtensor

from .lines import check, listed

MADE = listed("""
    s
    u
    c
    l
    torch.sparse_coo_tensor(i, v.detach()), torch.sparse_coo_tensor((2, 3)), torch.sparse_coo_tensor(size=(2, 3))
    torch.sparse_coo_tensor([[0, 1], [2, 0]], [1, 2]), torch.sparse_coo_tensor([[0, 3]], [[1, 2.], [3, 4]])
    torch.sparse_coo_tensor([[0.5, 3], [2, 0]], [1, 2.], (3, 3), dtype=torch.float64, requires_grad=True)
    torch.sparse_coo_tensor(i, v, (2, 3, 1))
    torch.sparse_coo_tensor([[0, -1], [2, 0]], [1, 2.])
    torch.sparse_coo_tensor([[0, 3], [2, 0]], [1, 2.], (3, 3), check_invariants=True)
    torch.sparse_coo_tensor([[0, 0], [2, 0]], [1, 2.], (3, 3), check_invariants=True, is_coalesced=True)
    torch.sparse_coo_tensor([0, 3], [1, 2.], (4,))
    torch.sparse_coo_tensor([[0, 3]], [1, 2., 3], (4,))
    torch.sparse_coo_tensor([[0, 3]], [[1, 2.], [3, 4]], (4,))
    torch.sparse_coo_tensor([[0, 3]], [[1, 2.], [3, 4]], (4, 3))
    torch.sparse_coo_tensor(torch.zeros(0, 3, dtype=torch.long), torch.tensor([1., 2., 3.]), ()).coalesce()
    torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.long), torch.zeros(0, 2, 0), (2, 3, 2, 0))
    torch.sparse.FloatTensor(i, v.detach(), torch.Size([2, 3])), torch.sparse.FloatTensor(2, 3), torch.sparse.FloatTensor
    torch.zeros(2, 3, layout=torch.sparse_coo), torch.empty(2, layout=torch.sparse_coo)
    torch.ones(2, 3, layout=torch.sparse_coo)
    torch.sparse.spdiags(torch.arange(9).reshape(3, 3), torch.tensor([0, -1, 2]), (3, 3))
    torch.arange(3000.).to_sparse()
    d.to_sparse(), d.to_sparse(1), torch.zeros(2, 3).to_sparse(), torch.eye(2).to_sparse().half(), s.bool(), s.int()
    s.to_sparse(1)
    s.values()
    s.indices()
    s._values(), s._indices(), s._nnz(), s.sparse_dim(), s.dense_dim(), s.is_sparse, s.layout, s.is_coalesced(), s.size(), len(s), type(s)
    s.stride(), s.is_contiguous(), s.type(), s.requires_grad, u.is_leaf, s._version, s.numel(), s.element_size(), s.is_floating_point()
    s.nbytes
    s.storage().dtype
    s.untyped_storage()
    s.data_ptr()
    s.item()
    s.tolist()
    s.numpy()
    bool(s)
    s.contiguous()
    s.to_dense(torch.float64)
    s.to('cpu') is s, s.float() is s, s.coalesce() is s, c.coalesce() is c, s.to_sparse() is s, s.double(), isinstance(s, torch.Tensor)
    torch.empty_like(s, memory_format=torch.preserve_format)
    list(s), s.clone(), s.data, s.detach(), torch.zeros_like(s), s.new_zeros(2), s.new_tensor([1.])
    isinstance(s, torch.sparse.FloatTensor), isinstance(s, torch.sparse.DoubleTensor), torch.nn.Parameter(s)
    (lambda x: (torch.sparse_coo_tensor(torch.tensor([[0]]), x, (2,)), x.mul_(3)))(torch.ones(1))
""")
ARITHMETIC = listed("""
    u.neg(), abs(u), u.sqrt(), u.relu(), u * 2, u / 2, 2 * u, u ** 2, u // 2, -u, u.isnan(), u.sgn()
    u.square(), u.floor(), u.tanh(), u.asin().is_coalesced(), u.nan_to_num(), u.float_power(2)
    u + u, u - u, u * u, u + c, torch.add(u, c, alpha=3), c * s, s * c, c + s, c - s
    u * d, d * u, c * d, s * torch.ones(3), s * torch.tensor(2.)
    n = torch.tensor(2.).to_sparse(); s * n, n * s, n * n, s.int() * n, torch.eye(2).to_sparse(1) * n, s.clone().mul_(n).to_dense()
    n = torch.tensor(5.).to_sparse().requires_grad_(); r = l * n; r.sum().backward(); l.grad.to_dense(), n.grad.to_dense()
    d + u, torch.add(d, u, alpha=3), d - u
    s + 1
    s + d
    s / s
    2 / s
    s.exp()
    s == s
    s > 0
    s ** 0
    s.addcmul(s, s)
    torch.equal(s, s)
    s.mean()
    s.fill_(0)
    s.abs_()
    s.mul_(2), s, s._version
    s.add_(s), s.sub_(c.detach()), s.div_(2), s.neg_(), s._version
    s.add_(1)
    torch.ones(2, 3).add_(s), torch.ones(2, 3).sub_(s, alpha=2), torch.ones(2, 3).mul_(s)
    s.copy_(s * 2), s.zero_(), s
    s.copy_(torch.ones(2, 3))
    torch.ones(2, 3).copy_(s)
    s.sparse_resize_((4, 4), 2, 0), s.sparse_resize_and_clear_((5, 4), 2, 0), s.resize_as_(s)
    l.mul_(2)
    c.mul_(2), c, u.mul_(2).grad_fn
    u.sum(), u.sum(0), u.sum(0, keepdim=True), torch.sparse.sum(u), torch.sparse.sum(u, 0), torch.sparse.sum(u, (0, 1)), u.sum(dim=(0, 1))
    u.norm(), u.any(), torch.norm(s), u.sum(dtype=torch.float64)
    torch.sparse.softmax(u, 1)._values().mul(1e3).round(), torch.sparse.log_softmax(c, 1)._values().mul(1e2).round()
    torch.softmax(s, 1)
    torch.sparse.softmax(d.to_sparse(1), 1)
    (u * s).is_coalesced(), s * u, c * u, c.narrow_copy(0, 0, 1) * c.narrow_copy(0, 1, 1), c * torch.eye(2, 3).to_sparse()
    u.sum(0).sum((0, -1))
    torch.sparse.softmax(s.long(), 1)
    s.long().norm()
    F.dropout(s, 0.5), F.dropout(s, 0.5, False)
    F.dropout(s, 0.5, False), F.relu(s), F.relu(c.detach(), inplace=True)
    F.relu(s, inplace=True)
    torch.testing.assert_close(s, s * 1)
    torch.testing.assert_close(s, s * 2)
    torch.testing.assert_close(s, s.to_dense())
    torch.testing.assert_close(s, torch.cat([s, s])[0])
    torch.testing.assert_close(s.coalesce(), c.detach())
    torch.testing.assert_close({'a': d.to_sparse_csr()}, {'a': (d * 2).to_sparse_csr()})
    torch.testing.assert_close(s, s.to_dense(), check_layout=False)
    s.narrow_copy(-1, 0, 1)
    [x.is_coalesced() for x in (c.t(), c[0], c.unsqueeze(0), c * 2, c + c, c.index_select(0, torch.tensor([0, 1])), c.sum(0, keepdim=True))]
    torch.eye(1).to_sparse().t().is_coalesced(), (-torch.sparse_coo_tensor([[0]], [1.])).is_coalesced()
    s.to_sparse(2).half() + s, s.long() * 2.5, torch.isinf(s)
""")
MOVES = listed("""
    u.t(), c.T, u.transpose(0, 1), u.permute(1, 0), u.unsqueeze(0), u.unsqueeze(-1), u.mT, u.swapaxes(0, 1), u.movedim(0, 1)
    d.to_sparse(1).t()
    d.to_sparse(1).transpose(0, 1)
    torch.cat([u, u]), torch.cat([s, s], 1), torch.stack([s, s]), torch.vstack([u, u])
    torch.cat([u, d])
    torch.cat([d.to_sparse(1), d.to_sparse(1)], 1)
    u.index_select(1, torch.tensor([2, 0])), u.narrow_copy(1, 1, 2), u.select(1, 2), c.select(0, -1)
    d.to_sparse(1).select(1, 1), d.to_sparse(1).index_select(1, torch.tensor([1, 1])), d.to_sparse(1)[1]
    s.index_select(0, torch.tensor([4]))
    s.select(0, 5)
    s[0], s[0, 2], s[:, 1], s[None], s[..., 0], s.unbind(1)
    s[0:1]
    s[torch.tensor([0])]
    s.__setitem__(0, 1)
    s.reshape(3, 2)
    s.view(3, 2)
    s.expand(2, 2, 3)
    s.squeeze()
    d.sparse_mask(u), d.sparse_mask(c), u.sparse_mask(c), s.sparse_mask(c.detach())
    d.sparse_mask(torch.eye(2).to_sparse())
""")
EDGES = listed("""
    z = torch.sparse_coo_tensor((2, 3)); h = d.detach().to_sparse(1); z + h, h + z, h.add(z, alpha=3), z.add(h, alpha=3), z.double() + h
    z = torch.sparse_coo_tensor((2, 3)); z + s, s + z, s.clone().add_(z), z.clone().add_(s), z + z, z - s
    d.to_sparse(1) + s
    s + d.to_sparse(1)
    s.clone().floor_divide_(2.), u.detach().floor_divide_(2), s.clone().floor_divide_(torch.tensor(2.))
    s.permute(dims=(1, 0)), torch.permute(s, dims=(1, 0)), s.swapaxes(axis0=0, axis1=1)
    d.to_sparse(1).permute(1, 0)
    torch.cat([s, s[:1].to_dense().to_sparse()], 1)
    torch.cat([s, d.to_sparse(1)])
    torch.cat([s, s.unsqueeze(0)])
    torch.stack([s, s.t()])
    s.new(s._indices(), s._values()), s.new(s._indices(), s._values(), (4, 4)), s.new(s._indices(), s._values().int()), s.new(2, 3)
    s.new((2, 3))
    torch.sparse_coo_tensor([[100000], [99999]] * 2, [1.], (100001,) * 4)
    torch.sparse_coo_tensor((100000,) * 5)
    torch.sparse_coo_tensor(([0], [2]), 1., (3, 3)), torch.sparse_coo_tensor([[0]], torch.tensor(3.))
    torch.sparse_coo_tensor([[0, 1]], 2.)
    torch.sparse_coo_tensor([0], 1., (1,))
    x = torch.sparse_coo_tensor(torch.zeros(0, 1).long(), 12.3, []); x, x.coalesce(), x.to_dense()
    s.norm(keepdim=True)
    s.norm(dim=0, keepdim=True)
    s.norm(dtype=torch.double)
    s.norm(p=0, dtype=torch.double)
    s.norm("nuc")
    s.norm(dim=(0, 1)), s.norm(dim=()), s.norm(p=1)
    h = d.detach().to_sparse(1); h.sparse_resize_((3, 4), 1, 1); h.shape, h._values().flatten()[:6]
    torch.zeros_like(d, layout=torch.sparse_coo), torch.zeros_like(d, layout=torch.sparse_csr).layout
    torch.ones_like(d, layout=torch.sparse_coo)
    torch.empty_like(d, layout=torch.sparse_csr)
    d.new_zeros(2, 2, layout=torch.sparse_coo), d.new_empty(2, 2, layout=torch.sparse_csr).layout
""")
PRODUCTS = listed("""
    u @ e, torch.mm(u, e), torch.spmm(u, e), torch.sparse.mm(u, e), u.matmul(e), u @ e[:, 0], u.mv(e[:, 0])
    e @ u, torch.sparse.mm(e, u), torch.mm(s, e), torch.sparse.mm(s, torch.zeros(3, 0))
    u @ u.t(), torch.sparse.mm(u, s.t()), s @ s.t(), torch.mm(c, torch.zeros(3, 2).to_sparse())
    torch.addmm(torch.ones(2, 2), u, e, beta=2, alpha=3), torch.sparse.addmm(torch.ones(2, 2), s, e), torch.addmm(torch.ones(2), s, e)
    torch.hspmm(u, e), torch.smm(u, mat2=e), s.smm(e), torch.dsmm(s, e), torch.hsmm(s, e), s.resize_as_sparse_(s)
    torch.bmm(torch.stack([s, s]), torch.ones(2, 3, 1))
    F.linear(s, torch.ones(4, 3), torch.ones(4))
    torch.ones(2) @ s, torch.arange(8.).reshape(2, 2, 2) @ s, F.linear(torch.ones(3), s)
    F.linear(torch.arange(12.).reshape(2, 1, 2, 3), s, torch.ones(2))
    x = torch.ones(2, 2, 3).requires_grad_(); F.linear(x, u, torch.ones(2)).square().sum().backward(); x.grad, v.grad
    s @ torch.ones(2, 3, 1)
    s @ torch.ones(2, 2)
    torch.ones(3, 3) @ s
    torch.sparse.mm(torch.ones(3, 4), s)
    s @ s
    torch.mm(s, torch.ones(3))
    torch.mm(s, torch.ones(3, 2, dtype=torch.float64))
    torch.mv(s, torch.ones(2))
    z = torch.zeros(2, 2).to_sparse(); torch.sspaddmm(z, s, e.detach()), z.sspaddmm(s, e.detach()), torch.saddmm(z, s, e.detach(), alpha=2)
    z = torch.eye(2).to_sparse(); torch.sspaddmm(z, u.detach(), e.detach(), beta=2, alpha=3), torch.sspaddmm(z, s, e.detach(), beta=0)
    torch.sspaddmm(torch.eye(2).to_sparse(), torch.ones(2, 3), e)
    torch.sspaddmm(torch.eye(2).to_sparse(), s, s)
    torch.sspaddmm(torch.eye(2).to_sparse(), s, d)
    s.addmm(s, e)
    torch.einsum('ij,jk->ik', s, e)
""")
WRITTEN = listed("""
    x = s.clone(); x.t_(), x._version, x.is_coalesced()
    x = c.detach().clone(); x.transpose_(0, -1), x.is_coalesced()
    x = torch.stack([s, s]); x.swapaxes_(0, 2), x.swapdims_(0, 1).shape
    l.t_()
    torch.stack([s, s]).t_()
    x = l * 1; x.t_(); (x @ d.detach()).sum().backward(); l.grad
    torch.mm(s, e.detach(), out=torch.empty(0)), torch.addmm(torch.ones(2, 2), s, e.detach(), out=torch.empty(0))
    torch.bmm(torch.stack([s, s]), torch.ones(2, 3, 1), out=torch.empty(0)), torch.add(d.detach(), s, out=torch.empty(0))
    torch.add(s, c.detach(), out=torch.sparse_coo_tensor((0,)))
    s.long().add_(s)
    d.detach().long().add_(s)
    s.add_(s * 1j)
    s.double().add_(s), s.add_(s.double())
""")
REFUSED = listed("""
    torch.bmm(torch.stack([s, s]), torch.ones(2, 4, 1))
    torch.bmm(torch.stack([s, s]), torch.ones(3, 3, 1))
    torch.bmm(torch.ones(2, 2, 2), torch.stack([s, s]))
    s.index_select(0, torch.tensor(1))
    s.index_select(0, torch.tensor([[1]]))
    s.index_select(0, torch.tensor([1.]))
    s.index_select(0, torch.tensor([1], dtype=torch.int32))
    s[5]
    s[0, 7]
    s.narrow_copy(1, 2, 2)
    d.to_sparse(0)
    d.to_sparse(3)
    d.to_sparse(blocksize=(1, 1))
    s.to_sparse(blocksize=(1, 1))
    d.to_sparse_csr().to_sparse(1)
    s // torch.tensor(2.).to_sparse()
    s // s
    2 // s
    d // s
    s / torch.tensor(2.).to_sparse()
    s.double() @ e.detach().to_sparse()
    s.new(torch.ones(3))
    s.new(device="cuda")
    torch.sparse.spdiags(e, torch.tensor([[0]]), (3, 2, 3))
    torch.sparse.spdiags(torch.ones(2, 3, 3), torch.tensor([[0, 1]]), (3, 3))
    torch.sparse.spdiags(e, torch.tensor([[0, 1, 2]]), (3, 3))
    torch.sparse.spdiags(e, torch.tensor([0, 1]), (3, 3), torch.strided)
    torch.sparse.spdiags(e, torch.tensor([0, 1, 1]), (3, 3), torch.sparse_bsr)
    torch.sparse.spdiags(e, torch.tensor([0, 1, 1]).int(), (3, 3))
""")
TYPED = listed("""
    d.detach().long().mul_(s)
    s.long().mul_(d.detach())
    s.coalesce().long().mul_(s.coalesce())
    s.mul_(d.detach().double())
    s.mul_(s.double())
    s.bool() - s
    s.bool().sub_(s.bool())
    d.detach() - s.bool()
    torch.sin(s.coalesce(), out=s.long().coalesce())
    torch.mul(s, 2, out=s.double()); x = s.clone() * 1j; torch.conj_physical(x, out=x), x
    s.long().copy_(s * 1.5)
    torch.manual_seed(0); [f(s, layout=torch.strided) for f in (torch.randn_like, torch.rand_like, torch.ones_like)]
    torch.full_like(s, 2, layout=torch.strided, dtype=torch.int64), torch.randint_like(s, 5, layout=torch.strided, requires_grad=True)
    torch.full_like(s, 2)
    torch.randint_like(s, 2)
    torch.zeros(0, 3).to_sparse(1), torch.zeros(2, 0, 2).to_sparse(2)
""")
LAID_OUT = listed("""
    h = torch.eye(2).to_sparse(1); z = torch.sparse_coo_tensor((2, 2)); z * h, h * z, z.long() * h
    z = torch.sparse_coo_tensor((2, 2, 2, 2)); torch.empty_like(z, layout=torch.strided, memory_format=torch.channels_last).stride()
    torch.zeros_like(s, layout=torch.strided, requires_grad=True), torch.zeros_like(s, layout=torch.strided).stride()
    torch.mm(d.detach().t(), s).stride(), (torch.arange(8.).reshape(4, 2) @ s).stride()
    (l.to_dense(masked_grad=False) * d.detach()).sum().backward(); l.grad._indices(), l.grad._values()
    (l.to_dense(masked_grad=True) * d.detach()).sum().backward(); l.grad._indices(), l.grad._values()
    x = s.to_sparse_csr().requires_grad_(); (x.to_dense(masked_grad=False) * d.detach()).sum().backward(); x.grad
""")


@pytest.mark.parametrize("line", [*MADE, *ARITHMETIC, *MOVES, *EDGES, *PRODUCTS, *WRITTEN, *REFUSED, *TYPED, *LAID_OUT])
def test_line(line):
    check(line)


@pytest.mark.parametrize(("size", "said"), [((2, 2), r"dense dimensions \(from \[3\] to \[2\]\)"),
                                            ((1, 3), r"sparse dimensions \(from \[2\] to \[1\]\)")])
def test_sizes_do_not_shrink_over_elements(size, said):
    with pytest.raises(RuntimeError, match=f"^shrinking the size of {said} on a non-empty sparse tensor is not supported"):
        jtensor.eye(2, 3).to_sparse(1).sparse_resize_(size, 1, 1)


def test_the_warning_of_unchecked_tensors_comes_once():
    from jtensor.sparse.making import Checks
    Checks.wanted, Checks.warned = None, False
    with pytest.warns(UserWarning, match="Sparse invariant checks are implicitly disabled"):
        jtensor.sparse_coo_tensor([[0]], [1.])
    jtensor.sparse_coo_tensor([[0]], [1.])


def test_a_pattern_is_looked_at_once():
    """Steps that share an adjacency matrix run as if it were dense: nothing but the loss is looked at."""
    adjacency = jtensor.sparse_coo_tensor([[0, 1, 2, 0], [1, 0, 2, 2]], [1., 2., 3., 4.], (3, 3))
    weight = jtensor.ones(2, 2, requires_grad=True)

    def step():
        loss = (adjacency @ (jtensor.ones(3, 2) @ weight)).sum()
        loss.backward()
        return loss
    def looks():
        return sum(n for (why, _), n in jtensor.report().flushes.items() if why not in ("item()", "eager", "optimizer.step"))
    step().item()
    before = looks()
    losses = [step() for _ in range(3)]
    assert looks() == before
    assert losses[0].item() == 40.0


def test_a_product_inside_of_vmap():
    s = jtensor.sparse_coo_tensor([[0, 1, 1], [2, 2, 0]], [3., -4., 5.], (2, 3))
    assert jtensor.vmap(lambda y: jtensor.sparse.mm(s, y))(jtensor.ones(2, 3, 1)).tolist() == [[[3.], [1.]], [[3.], [1.]]]


def test_sums_of_duplicates_are_added_in_their_order():
    import torch
    values = [1e8, 1.0, -1e8, 1.0, 3.0, -0.0]
    both = [library.sparse_coo_tensor([[1, 1, 1, 1, 0, 2]], values, (3,)).coalesce().values().tolist() for library in (torch, jtensor)]
    assert str(both[0]) == str(both[1])


@pytest.mark.filterwarnings("ignore:Sparse")
def test_modes_see_how_sparse_tensors_are_made():
    def told(T):
        seen = []

        class Watch(T.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return func(*args, **(kwargs or {}))
        with Watch():
            T.sparse_coo_tensor([[0]], [1.], (2,))
            T.sparse_csr_tensor([0, 1], [0], [1.])
            T.segment_reduce(T.ones(2), "sum", lengths=T.tensor([2]))
        return seen
    found = told(jtensor)
    assert found == ["sparse_coo_tensor", "sparse_csr_tensor", "ones", "tensor", "segment_reduce"]
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.overrides")
    assert found == told(torch)


def test_a_refusal_names_the_layout_of_out():
    with pytest.raises(NotImplementedError, match="'SparseCPU'"):
        jtensor.ones(3, out=jtensor.eye(3).to_sparse())
    with pytest.raises(NotImplementedError, match="'SparseCsrCPU'"):
        jtensor.ones(3, out=jtensor.eye(3).to_sparse_csr())
