"""Gradients through sparse tensors beside PyTorch's: into values, into sparse leaves, into dense operands; and what accumulates."""
import pytest

import jtensor
from jtensor.base.errors import MissingFeature

from .lines import check, listed

LINES = listed("""
    (u @ e).sum().backward(); v.grad, e.grad
    (l @ e).sum().backward(); l.grad, e.grad
    torch.sparse.mm(l, e).sum().backward(); l.grad, e.grad
    torch.sparse.mm(u, e).pow(2).sum().backward(); v.grad, e.grad
    torch.sparse.mm(k, e).sum().backward(); k.grad, e.grad
    (u @ e[:, 0]).sum().backward(); v.grad, e.grad
    torch.addmm(torch.ones(2, 2), u, e, beta=2, alpha=3).sum().backward(); v.grad, e.grad
    torch.sparse.addmm(d[:, :2], l, e, beta=2, alpha=3).sum().backward(); l.grad, e.grad, d.grad
    (e @ u).sum().backward(); v.grad, e.grad
    (e @ l).sum().backward(); l.grad, e.grad
    u.to_dense().pow(2).sum().backward(); v.grad
    l.to_dense().pow(2).sum().backward(); l.grad
    c.values().pow(2).sum().backward(); v.grad
    (u * 2).coalesce().values().pow(2).sum().backward(); v.grad
    torch.sparse.sum(u).backward(); v.grad
    torch.sparse.sum(l).backward(); l.grad
    torch.sparse.sum(l, 0).to_dense().sum().backward(); l.grad
    torch.sparse.sum(l * l).backward(); l.grad
    torch.sparse.sum(k + l).backward(); k.grad, l.grad
    torch.sparse.sum(k * d).backward(); k.grad, d.grad
    (d + l).pow(2).sum().backward(); l.grad, d.grad
    d.to_sparse().values().pow(2).sum().backward(); d.grad
    (d * 1).sparse_mask(c.detach()).values().pow(2).sum().backward(); d.grad
    torch.sparse.sum(k.neg()).backward(); k.grad
    torch.sparse.sum(k.t()).backward(); k.grad
    torch.sparse.softmax(k, 1).to_dense().pow(2).sum().backward(); k.grad._indices(), k.grad._values().mul(1e6).round()
    torch.sparse.softmax(c, 1).to_dense().pow(2).sum().backward(); v.grad.mul(1e3).round()
    torch.sparse.sum(l).backward(); torch.sparse.sum(l).backward(); l.grad
    l.sum().backward(); l.grad
    l.double().to_dense().sum().backward(); l.grad
    l.backward(l); l.grad
    torch.autograd.grad(torch.sparse.sum(u * u.detach()), v)
    torch.autograd.grad(((u @ e) ** 2).sum(), e, create_graph=True)[0].sum().backward(); v.grad, e.grad
    l.register_hook(lambda g: g * 2); torch.sparse.sum(l).backward(); l.grad
    x = u * 2; x.retain_grad(); x.to_dense().sum().backward(); x.grad, v.grad
    d.grad = l.detach(); d.grad
    l.grad = d.detach()
    l.data = u.detach() * 2; l
    w = torch.nn.Parameter(s); torch.sparse.sum(w * w).backward(); w.grad, isinstance(w, torch.nn.Parameter)
    (u.to_dense() * d).sum().backward(); x = v.mul_(1) if False else v.detach().mul_(2); u.detach().coalesce().values(), v
    (l @ e + l.to_dense() @ e).sum().backward(); l.grad
    (torch.sparse.mm(l, e) + l @ e).sum().backward(); l.grad
    x = e.clone(); y = u @ x; x.mul_(2); y.sum().backward()
    y = (u @ e).sum(); y.backward(); y.backward()
    x = u.clone().mul_(3); x.mul_(c.detach()).to_dense().sum().backward(); x.is_coalesced(), v.grad
    x = torch.ones(2, 2, requires_grad=True); torch.sparse.sum(x.to_sparse(1), 1).to_dense().pow(2).sum().backward(); x.grad
    d.sparse_mask(u).to_dense().sum().backward(); d.grad
    torch.hspmm(u, e).to_dense().sum().backward()
    torch.autograd.gradcheck(lambda w: F.embedding(i, w, sparse=True), torch.eye(3, 2, dtype=torch.float64).requires_grad_())
    torch.autograd.gradcheck(lambda w: F.embedding(i, w * 2), torch.eye(3, 2, dtype=torch.float64).requires_grad_())
""")
EMBEDDING = (
    "F, nn, optim = torch.nn.functional, torch.nn, torch.optim; w = torch.arange(8.).reshape(4, 2).requires_grad_(); "
    "i = torch.tensor([[1, 2], [1, 0]]); j = torch.tensor([1, 2, 1, 0]); o = torch.tensor([0, 2]); "
    "m = nn.Embedding.from_pretrained(torch.arange(8.).reshape(4, 2), freeze=False, sparse=True); "
    "g = lambda: m(torch.tensor([1, 1, 2])).pow(2).sum().backward(); ")
EMBEDDINGS = listed("""
    F.embedding(i, w, sparse=True).pow(2).sum().backward(); w.grad
    F.embedding(i, w, sparse=True, padding_idx=1).pow(2).sum().backward(); w.grad
    F.embedding(i, w, sparse=True, scale_grad_by_freq=True).pow(2).sum().backward()
    [F.embedding(i, w, sparse=True).pow(2).sum().backward() for _ in range(2)]; w.grad
    (F.embedding(i, w, sparse=True) + F.embedding(i, w, sparse=True)).pow(2).sum().backward(); w.grad
    (F.embedding(i, w, sparse=True) + F.embedding(i, w)).pow(2).sum().backward(); w.grad
    F.embedding(i, w, sparse=True).pow(2).sum().backward(); F.embedding(i, w).sum().backward(); w.grad
    F.embedding(i, w).pow(2).sum().backward(); F.embedding(i, w, sparse=True).sum().backward(); w.grad
    F.embedding(i, w * 2, sparse=True).pow(2).sum().backward(); w.grad
    F.embedding(i, w, sparse=True), F.embedding_bag(j, w, o, sparse=True, mode='sum')
    F.embedding_bag(j, w, o, sparse=True, mode='sum').pow(2).sum().backward(); w.grad
    F.embedding_bag(j, w, o, sparse=True, mode='mean').pow(2).sum().backward(); w.grad
    F.embedding_bag(j, w, o, sparse=True, mode='sum', padding_idx=1).pow(2).sum().backward(); w.grad
    p = torch.ones(4, requires_grad=True); F.embedding_bag(j, w, o, sparse=True, mode='sum', per_sample_weights=p).sum().backward(); p.grad
    g(); optim.Adam(m.parameters()).step()
    g(); optim.AdamW(m.parameters()).step()
    g(); optim.RMSprop(m.parameters()).step()
    g(); optim.SGD(m.parameters(), lr=0.1, weight_decay=0.1).step()
    g(); optim.SGD(m.parameters(), lr=0.5, maximize=True).step(); m.weight
    g(); x = optim.SGD(m.parameters(), lr=0.5, momentum=0.5, nesterov=True); x.step(); g(); x.step(); x.state[m.weight], m.weight
    g(); x = optim.Adagrad(m.parameters(), lr=0.5); x.step(); g(); x.step(); x.state[m.weight], m.weight
    g(); optim.Adagrad(m.parameters(), weight_decay=1).step()
    g(); x = optim.SparseAdam(m.parameters(), lr=0.5); x.step(); g(); x.step(); x.state[m.weight], m.weight
    g(); x = optim.SparseAdam(m.parameters(), lr=0.5, maximize=True, betas=(0.5, 0.75)); x.step(); x, m.weight
    F.embedding(i, m.weight).sum().backward(); optim.SparseAdam(m.parameters()).step()
    optim.SparseAdam([torch.nn.Parameter(torch.eye(2).to_sparse())])
    optim.SparseAdam(m.parameters(), lr=0.)
    optim.SparseAdam(m.parameters(), betas=(0.5, 1.))
    g(); nn.utils.clip_grad_norm_(m.parameters(), 1.)
    g(); m.zero_grad(set_to_none=False); m.weight.grad
    g(); m.zero_grad(); m.weight.grad
    nn.Embedding(4, 2, sparse=True)
    w.gather(1, torch.tensor([[0, 1], [1, 1]]), sparse_grad=True).pow(2).sum().backward(); w.grad
    w.t().gather(0, torch.tensor([[0, 1], [1, 1]]), sparse_grad=True).pow(2).sum().backward(); w.grad
    [torch.autograd.grad(F.embedding(i, f(w), sparse=True).sum(), w) for f in (torch.square, lambda w: 1 / (w + 1), lambda w: -w / 3)]
    [torch.autograd.grad(F.embedding(i, f(w), sparse=True).sum(), w) for f in (torch.floor, torch.abs, lambda w: w ** 3 + w.mul(2).sin())]
    [torch.autograd.grad(F.embedding(i, f(w), sparse=True).sum(), w) for f in (lambda w: w.mean() * w, lambda w: 1 - w.expand(4, 2))]
    s = torch.ones(1, 2, requires_grad=True); F.embedding(i, torch.add(w * s, w, alpha=2), sparse=True).sum().backward(); w.grad, s.grad
    F.embedding(i, w.view(4, 2), sparse=True).sum().backward()
    F.embedding(i, w.t().contiguous().t(), sparse=True).sum().backward()
    F.embedding(i, w[0:4], sparse=True).sum().backward()
    w.gather(1, torch.tensor([[0, 2], [1, 1]]), sparse_grad=True)
""")


@pytest.mark.parametrize("line", LINES)
def test_line(line):
    check(line)


@pytest.mark.parametrize("line", EMBEDDINGS)
def test_embedding(line):
    check(line, EMBEDDING)


def test_indices_that_are_written_to_afterwards():
    table, at = jtensor.nn.Embedding(4, 1, sparse=True), jtensor.tensor([2, 1])
    table(at).sum().backward()
    at[0] = 3
    assert table.weight.grad._indices().tolist() == [[2, 1]]


def test_a_table_of_empty_rows():
    table = jtensor.nn.Embedding(4, 0, sparse=True)
    table(jtensor.tensor([[0, 2]])).sum().backward()
    grad = table.weight.grad
    assert grad.is_sparse and grad.shape == (4, 0) and grad._nnz() == 0


def test_what_pytorch_has_no_formula_for_is_right():
    """Where PyTorch raises: gradients through functions of the values, pieces, a second backward."""
    x = jtensor.tensor([[0., 4.], [9., 0.]]).to_sparse().requires_grad_()
    jtensor.sparse.sum(x.sqrt()).backward()
    assert x.grad.values().tolist() == [0.25, 1 / 6] or x.grad.values().allclose(jtensor.tensor([0.25, 1 / 6]))
    x.grad = None
    (jtensor.cat([x, x]).index_select(0, jtensor.tensor([1, 3])).to_dense() * 3).sum().backward()
    assert x.grad.to_dense().tolist() == [[0., 0.], [6., 0.]]
    v = jtensor.tensor([2., 3.], requires_grad=True)
    u = jtensor.sparse_coo_tensor([[0, 0], [1, 1]], v, (2, 2), check_invariants=False)
    first, = jtensor.autograd.grad((u.to_dense() ** 3).sum(), v, create_graph=True)
    assert first.tolist() == [75., 75.]
    first.sum().backward()
    assert v.grad.tolist() == [60., 60.]


DIFFERENTIABLE = [
    lambda x: x.sqrt(),
    lambda x: jtensor.sparse.softmax(x, 0),
    lambda x: jtensor.sparse.mm(x, x.t()),
    lambda x: jtensor.cat([x, x * x]).index_select(0, jtensor.tensor([3, 0, 3])).narrow_copy(1, 1, 2),
    lambda x: jtensor.sparse.sum(x, 1) * 2,
    lambda x: x[0].unsqueeze(1),
    lambda x: x.to_sparse_csr().t(),
    lambda x: x.norm() * x,
]


def test_gradients_are_those_of_differences():
    """Of a tensor two of whose elements are on one place."""
    v = jtensor.tensor([1.5, 0.5, 2.0], dtype=jtensor.float64, requires_grad=True)

    def functions(v):
        x = jtensor.sparse_coo_tensor([[0, 1, 0], [1, 0, 1]], v, (2, 3), check_invariants=False)
        return jtensor.cat([function(x).to_dense().reshape(-1) for function in DIFFERENTIABLE])
    assert jtensor.autograd.gradcheck(functions, (v,), check_undefined_grad=False)


def test_the_gradient_of_a_gradient_is_that_of_differences():
    v, w = (jtensor.tensor(n, dtype=jtensor.float64, requires_grad=True) for n in ([1.5, 0.5], [[1., 2.], [3., 4.]]))

    def function(v, w):
        x = jtensor.sparse_coo_tensor([[0, 1], [1, 0]], v, (2, 2), check_invariants=False)
        return jtensor.sparse.mm(x * x, w)
    assert jtensor.autograd.gradgradcheck(function, (v, w))


def test_a_sparse_gradient_through_other_functions():
    """Where PyTorch has a kernel for its formula the lines above say so; here it goes through whatever goes element by element."""
    i, w = jtensor.tensor([1, 1, 2]), jtensor.arange(1., 9).reshape(4, 2).requires_grad_()

    def gradient(function, sparse):
        return jtensor.autograd.grad((jtensor.nn.functional.embedding(i, function(w), sparse=sparse) ** 2).sum(), w)[0]
    scale = jtensor.ones(2, requires_grad=True)
    for function in (jtensor.tanh, lambda w: w.sqrt() / w, lambda w: jtensor.relu(w - 3), lambda w: w * scale):
        found = gradient(function, True)
        assert found.is_sparse and found._nnz() == 3 and jtensor.allclose(found.to_dense(), gradient(function, False))
    with pytest.raises(MissingFeature, match="a sparse gradient through MmBackward0"):
        gradient(lambda w: w @ jtensor.ones(2, 2), True)
    for _ in range(10):                                                           # a backward that keeps coming
        found = gradient(lambda w: (w * 2).exp(), True)
    assert found.is_sparse


def test_looking_changes_no_number():
    def trained(look):
        v = (jtensor.arange(6.) / 7 - 0.3).requires_grad_()
        w = (jtensor.arange(9.).reshape(3, 3) / 11 - 0.2).requires_grad_()
        for _ in range(2):
            x = jtensor.sparse_coo_tensor([[0, 1, 2, 0, 1, 2], [1, 1, 0, 2, 2, 2]], v, (3, 3), check_invariants=False)
            p = jtensor.sparse.softmax(x, 1)
            look(x), look(p)
            loss = (jtensor.sparse.mm(x, w) ** 2).sum() + jtensor.sparse.sum(p * p) + jtensor.sparse.mm(x.t(), w).abs().sum()
            look(loss)
            of_v, of_w = jtensor.autograd.grad(loss, [v, w])
            with jtensor.no_grad():
                v -= 0.1 * of_v
                w -= 0.1 * of_w
        return [*v.tolist(), *w.flatten().tolist()]
    assert trained(lambda x: None) == trained(str)


def test_a_gradient_that_somebody_has_is_not_the_leafs():
    leaf = jtensor.eye(2).to_sparse().requires_grad_()
    grad = (jtensor.eye(2) * 3).to_sparse()
    leaf.backward(grad)
    leaf.grad.mul_(2)
    assert grad.values().tolist() == [3., 3.] and leaf.grad._values().tolist() == [6., 6.]
    seen = []
    leaf.grad = None
    leaf.register_hook(seen.append)
    jtensor.sparse.sum(leaf).backward()
    leaf.grad.mul_(2)
    assert seen[0].values().tolist() == [1., 1.]
