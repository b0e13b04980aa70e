"""Matrix products and contractions: PyTorch's values, gradients, graph and words."""
import pytest

import jtensor as torch

from .twin import same


@pytest.mark.parametrize("text, shapes", [
    ("T.mm(a, b)", [(2, 3), (3, 4)]), ("T.bmm(a, b)", [(2, 2, 3), (2, 3, 2)]), ("T.mv(a, b)", [(2, 3), (3,)]),
    ("T.dot(a, b)", [(3,), (3,)]),
    ("a @ b", [(3,), (3, 2)]), ("a @ b", [(4, 2, 3), (3, 2)]), ("a @ b", [(4, 2, 3), (3,)]), ("a @ b", [(5, 1, 2, 3), (4, 3, 2)]),
    ("a @ b", [(2, 3), (4, 3, 2)]), ("T.addmm(a, b, c)", [(4,), (2, 3), (3, 4)]),
    ("T.addmm(a, b, c, beta=0.5, alpha=2)", [(2, 4), (2, 3), (3, 4)]), ("T.baddbmm(a, b, c)", [(1,), (2, 2, 3), (2, 3, 2)]),
    ("T.addbmm(a, b, c)", [(2, 2), (2, 2, 3), (2, 3, 2)]), ("T.addmv(a, b, c)", [(2,), (2, 3), (3,)]),
    ("T.addr(a, b, c)", [(2, 3), (2,), (3,)]), ("T.addr(a.t(), b, c)", [(3, 2), (2,), (3,)]), ("T.outer(a, b)", [(2,), (3,)]),
    ("F.linear(a, b, c)", [(2, 3), (4, 3), (4,)]),
    ("F.linear(a, b, c)", [(5, 2, 3), (4, 3), (4,)]), ("F.linear(a.transpose(0, 1), b, c)", [(5, 2, 3), (4, 3), (4,)]),
    ("T.einsum('ij,jk->ik', a, b)", [(2, 3), (3, 4)]), ("T.einsum('bhqd,bhkd->bhqk', a, b)", [(1, 2, 3, 4), (1, 2, 5, 4)]),
    ("T.einsum('...ij,jk', a, b)", [(2, 2, 3), (3, 2)]), ("T.einsum('ii->i', a)", [(3, 3)]),
    ("T.einsum('i,j,k->ijk', a, b, c)", [(2,), (3,), (2,)]), ("T.einsum('kj,ji->ik', a, b)", [(2, 4), (4, 3)]),
    ("T.einsum('nkj,nki->kij', a, b)", [(4, 2, 3), (4, 2, 5)]), ("T.einsum('bhqd,bhkd->bqhk', a, b)", [(1, 2, 3, 4), (1, 2, 5, 4)]),
    ("T.einsum('akl,bl->kab', a, b)", [(2, 3, 4), (5, 4)]),
    ("T.einsum('nk,nki,nkj->kij', a, b, c)", [(4, 2), (4, 2, 3), (4, 2, 5)]),
    ("T.tensordot(a.byte() + 1, b.byte(), ([0], [0]))", [(2, 3), (1, 3)]),
    ("T.tensordot(a, b, 2)", [(2, 3, 4), (3, 4, 5)]), ("T.tensordot(a, b, 2)", [(2, 3), (2, 3)]),
    ("T.inner(a, b)", [(3,), (3,)]), ("T.kron(a, b)", [(2, 2), (2, 3)]), ("T.cross(a, b, dim=1)", [(2, 3), (2, 3)]),
])
def test_products(text, shapes):
    same(text, *shapes, nodes="einsum('i," not in text)


@pytest.mark.parametrize("text, shapes", [
    ("T.mm(a, b)", [(2, 3), (4, 5)]), ("T.mm(a, b)", [(2,), (3, 5)]), ("T.mm(a, b.double())", [(2, 3), (3, 5)]),
    ("T.bmm(a, b)", [(2, 3, 4), (3, 4, 6)]),
    ("T.mv(a, b)", [(2, 3), (4,)]), ("T.dot(a, b)", [(2,), (3,)]), ("a @ b", [(3, 2, 3), (4, 3, 3)]),
    ("T.addmm(a, b, c)", [(5,), (2, 3), (3, 4)]),
    ("F.linear(a, b, c)", [(2, 3), (4, 5), (4,)]), ("T.addmm(a.double(), b, c)", [(4,), (2, 3), (3, 4)]),
    ("T.einsum('ij,jk->ik', a, b)", [(2, 3), (4, 4)]), ("T.einsum('ij,jkl->i', a, b)", [(2, 3), (3, 4)]),
    *((f"T.einsum('a{tail}', a)", [(2,)]) for tail in ("->..", "->.a", "...->......", "...->...a..", "..->a", "...b...->a")),
    ("T.linalg.lu_solve(T.eye(3), T.tensor([1, 2, 4], dtype=T.int32), a)", [(3, 1)]),
    ("T.linalg.lu_solve(T.eye(3), T.tensor([0, 2, 4], dtype=T.int32), a)", [(3, 1)]),
    ("T.tensordot(a, b, 1)", [(2, 3), (4, 4)]), ("T.mv(a, b.double())", [(2, 3), (3,)]),
])
def test_errors(text, shapes):
    same(text, *shapes)


def test_a_zero_beta_ignores_nan():
    same("T.addmm(T.full((2,), float('nan')), a, b, beta=0)", (2, 3), (3, 2))


def test_narrow_floats_accumulate_wide():
    same("T.mm(a.bfloat16(), b.bfloat16()).float()", (4, 256), (256, 4), tolerance=1e-2)


def test_the_order_of_a_long_einsum_can_be_set():
    switches, tiny, huge = torch.backends.opt_einsum, torch.tensor(1e-20), torch.tensor(1e30)
    with switches.flags(enabled=False):                             # from left to right nothing overflows, in pairs it does
        assert torch.einsum(",,,", tiny, torch.tensor(1e-10), huge, huge).item() == torch.tensor(1e30).item()
        assert torch.einsum("ij,jk,kl,lm->im", *[torch.ones(2, 2)] * 4).stride() == (2, 1)
        with pytest.raises(ValueError, match="setting a `strategy` to greedy will not be meaningful"):
            switches.set_flags(_strategy="greedy")
    assert torch.einsum("ij,jk,kl,lm->im", *[torch.ones(n, n + 1) for n in (2, 3, 4, 5)]).stride() == (1, 2)
    assert switches.set_flags(True, "optimal") == (True, "auto") and switches.set_flags(_strategy="auto") == (True, "optimal")
    with pytest.raises(ValueError, match="must be one of the following"):
        switches.set_flags(_strategy="quick")
