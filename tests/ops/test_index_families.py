"""Indexing with tensors, gathering, scattering, joining, sorting: PyTorch's values, gradients, strides and words."""
import numpy as np
import pytest

import jtensor

from .twin import same

I, J, M = [0, 2, 2], [1, 0, 1], [[True, False, True, False], [False, False, True, True], [True, True, False, False]]


@pytest.mark.parametrize("text, more", [
    ("a[b]", [I]), ("a[:, b]", [I]), ("a[b, c]", [I, J]), ("a[b, :, None]", [I]), ("a[-1, b]", [I]), ("a[b]", [M]),
    ("a[b]", [[True, False, True]]),
    ("a[[0, -1]]", []), ("a.t()[b]", [I]), ("a[b[:, None], c]", [I, J]), ("a.index_put((b,), c)", [I, (4,)]),
    ("a.index_put((b,), c, accumulate=True)", [I, (3, 4)]), ("a.index_put((b, c), T.tensor(7.))", [I, J]),
    ("T.index_select(a, 1, b)", [I]), ("T.index_add(a, 0, b, c, alpha=2)", [I, (3, 4)]), ("T.index_copy(a, 0, b, c)", [[1, 0], (2, 4)]),
    ("T.index_fill(a, 1, b, 5)", [[0, -1]]), ("T.gather(a, 1, b)", [[[0, 1], [2, 3]]]),
    ("T.scatter(a, 1, b, c)", [[[0, 1], [2, 3]], (2, 2)]),
    ("T.scatter(a, 0, b, 2.5)", [[[0, 1]]]), ("T.scatter_add(a, 0, b, c)", [[[0, 0, 0, 0], [0, 1, 2, 0]], (2, 4)]),
    ("T.scatter_reduce(a, 0, b, c, 'amax', include_self=False)", [[[0, 1, 0, 0], [0, 1, 2, 0]], (2, 4)]),
    ("T.scatter_reduce(a, 0, b, c, 'prod')", [[[0, 1, 0, 0], [0, 1, 2, 0]], (2, 4)]),
    ("T.scatter_reduce(a, 0, b, c, 'mean')", [[[0, 1, 0, 0], [0, 1, 2, 0]], (2, 4)]),
    ("T.take(a, b)", [[0, -1, 5]]), ("T.take_along_dim(a, b, 1)", [[[1], [0], [-1]]]), ("a.masked_fill(b, 3)", [M]),
    ("a.masked_fill(b, T.tensor(3., requires_grad=True))", [M]), ("T.masked_select(a, b)", [M]), ("a.masked_scatter(b, c)", [M, (8,)]),
    ("T.where(b, a, 0.)", [M]), ("T.cat((a, a * 2), 1)", []), ("T.stack((a, a * 2), 2)", []), ("T.vstack((a[0], a[1]))", []),
    ("T.block_diag(a, a[0])", []), ("T.roll(a, (1, 2), (0, 1))", []), ("T.flip(a.t(), (0,))", []), ("T.rot90(a)", []),
    ("a.repeat(2, 1, 2)", []),
    ("T.repeat_interleave(a, 2, 0)", []), ("T.repeat_interleave(a, b, 0)", [[1, 0, 2]]), ("T.tril(a, -1)", []), ("T.diag(a[0])", []),
    ("T.diag(a)", []),
    ("T.diag_embed(a, 1)", []), ("T.select_scatter(a, b, 0, 1)", [(4,)]), ("T.slice_scatter(a, b, 1, 0, 4, 2)", [(3, 2)]),
    ("T.select_scatter(a.t(), b, 0, 1)", [(3,)]), ("T.slice_scatter(a.t(), b, 1, 0, 3, 2)", [(4, 2)]),
    ("T.diagonal_scatter(a, b)", [(3,)]), ("T.sort(a, 1, descending=True)", []), ("T.topk(a, 2, 0)", []), ("T.kthvalue(a, 2, 1)", []),
    ("T.msort(a)", []),
])
def test_results(text, more):
    same(text, (3, 4), *more, nodes="nonzero" not in text)


@pytest.mark.parametrize("text, more", [
    ("a[b]", [[0, 5]]), ("a[:, b]", [[0, 5]]), ("a[b, c]", [[0], [9]]), ("a[b, c]", [[0, 1], [0, 1, 2]]), ("a[b]", [[True, False]]),
    ("T.index_select(a, 0, b)", [[-1]]), ("T.index_add(a, 0, b, c)", [[5], (1, 4)]), ("T.index_copy(a, 0, b, c)", [[-1], (1, 4)]),
    ("T.index_fill(a, 0, b, 1.)", [[-4]]), ("T.gather(a, 0, b)", [[[5, 0, 0, 0]]]), ("T.gather(a, 0, b)", [[0]]),
    ("T.gather(a, 1, b)", [[[1]] * 4]),
    ("T.scatter(a, 0, b, 1.)", [[[-1]]]), ("T.scatter_add(a, 0, b, c)", [[[0, 0]], (1, 1)]), ("T.take(a, b)", [[13]]),
    ("a.index_put((b,), c)", [[0], (5,)]),
    ("a.masked_fill(b, 1)", [[True]]), ("a.masked_scatter(b, c)", [M, (3,)]), ("T.cat((a, b))", [(2, 3)]), ("T.stack((a, b))", [(2, 3)]),
    ("T.cat(())", []), ("T.cat(a)", []), ("T.topk(a, 9)", []), ("T.kthvalue(a, 0)", []), ("T.roll(a, (1, 2))", []), ("T.tril(a[0])", []),
    ("a.repeat(2)", []), ("F.embedding(b, a)", [[0, 3]]), ("T.unique(a[:0], dim=1)", []), ("T.unique_consecutive(a[:0], dim=1)", []),
    ("T.unique(a[:0, :0], dim=1)", []), ("T.unique_consecutive(a[:0, :0], dim=0)", []),
])
def test_errors(text, more):
    same(text, (3, 4), *more)


def test_writes_through_indices():
    for text in ("x[b] = 1.", "x[b, 1] = x[0, 0] * 2", "x[x > 0] = 0.", "x[x > 0] = x[0]", "x[b] += 1", "x[:, b] = a[:, :3]"):
        same(f"(lambda x: (exec({text!r}, dict(x=x, a=a, b=b)), x)[1])(a * 1)", (3, 4), I, nodes=False)


def test_a_bad_index_changes_nothing():
    import jtensor as T
    x = T.zeros(3)
    with pytest.raises(IndexError):
        x[T.tensor([0, 7])] = 1.
    with pytest.raises(RuntimeError):
        x.scatter_(0, T.tensor([5]), 1.)
    assert x.tolist() == [0, 0, 0] and x._version == 0


def test_order_of_special_values():
    values = "T.tensor([2., float('nan'), -0., 0., float('inf'), -1., float('-inf'), 0.])"
    for text in ("T.sort(%s)", "T.sort(%s, descending=True, stable=True)", "T.argsort(%s.bfloat16(), stable=True)", "T.sort(%s.double())",
                 "T.searchsorted(T.sort(%s).values, T.tensor([0., 1., float('nan')]), right=True)"):
        same(text % values, grad=False)


SEARCHES = [(rows, n, dtype, right) for rows in (1, 2) for n in (1, 2, 5, 8) for dtype in ("float32", "int64", "float16")
            for right in (False, True)]


@pytest.mark.parametrize("case", SEARCHES, ids=str)
def test_searches_are_pytorchs_in_rows_of_no_order_too(case):
    """NaN lies below what it is compared with, and a value that is NaN goes to the end; rows need not ascend."""
    torch = pytest.importorskip("torch")
    rows, n, dtype, right = case
    draw = np.random.default_rng(SEARCHES.index(case))
    given = [draw.integers(0, 6, (rows, k)).astype(dtype) for k in (n, 7)]
    if "float" in dtype:
        for one in given:
            one[draw.random(one.shape) < 0.2] = np.nan
    ours, theirs = ([library.searchsorted(*[library.from_numpy(one) for one in pair], right=right).tolist()
                     for pair in (given, (given[0][0], given[1]))] for library in (jtensor, torch))
    assert ours == theirs


def test_hashes():
    numbers = "T.arange(24.).view(2, 3, 4)"
    for text in (f"T.hash_tensor({numbers})", f"T.hash_tensor({numbers}, (0, 2), keepdim=True)", f"{numbers}.half().hash_tensor(-1)",
                 f"{numbers}.hash_tensor()",
                 "T.hash_tensor(T.tensor([-1, 5], dtype=T.int8))", "T.hash_tensor(T.tensor([True, True, True]))",
                 "T.hash_tensor(T.tensor(2.), 0, keepdim=True)", "T.hash_tensor(T.ones(0))", "T.hash_tensor(T.ones(0, 3), 0)",
                 "T.hash_tensor(T.ones(0, 3), 1)", "T.hash_tensor(T.ones(2), mode=1)", "T.hash_tensor(T.tensor([1j]))",
                 "T.hash_tensor(T.ones(2, 3), out=T.empty(0))", "T.hash_tensor(T.ones(2, 3), (0, 0))"):
        same(text, grad=False)


def test_what_looks_at_the_data():
    for text in ("T.nonzero(T.tensor([[0, 1], [2, 0]]), as_tuple=True)", "T.nonzero(T.ones(2), as_tuple=True, out=T.ones(0, 1).long())",
    "T.unique(T.tensor([3, 1, 3]), return_inverse=True, return_counts=True)",
                 "T.unique_consecutive(T.tensor([1, 1, 2, 1]), return_counts=True)",
                 "T.unique_consecutive(T.zeros(0, 2), dim=0, return_inverse=True, return_counts=True)",
                 "T.unique_consecutive(T.zeros(1, 2), dim=0, return_inverse=True, return_counts=True)",
                 "T.bincount(T.tensor([0, 2, 2]), minlength=5)",
                 "T.histc(T.tensor([1., 2., 1.]), 4, 0, 3)", "T.bucketize(T.tensor([0, 3]), T.tensor([1, 3, 5]))"):
        same(text, grad=False)


@pytest.mark.parametrize("text", [
    "T.nonzero_static(a > 0, size=3)", "a.nonzero_static(size=30, fill_value=7)", "T.nonzero_static(a, size=-1)",
    "T.nonzero_static(a[:0], size=2)", "T.nonzero_static(a[0, 0], size=2)", "T.nonzero_static(a, size=1.5)"])
def test_as_many_positions_as_are_asked_for(text):
    same(text, (3, 4), grad=False)


def test_indices_within_bounds_by_origin_are_not_looked_at(monkeypatch):
    import jtensor as T
    from jtensor.ops.families import bounds
    monkeypatch.setattr(bounds, "numbers_of", lambda value: pytest.fail("looked at"))
    x, batch = T.zeros(4, 5), T.tensor([[1, 2, 3], [0, 1, 2]])
    x[batch[:, :-1]], x[T.arange(4), x.argmax(1)], x.gather(1, x.topk(2).indices), x[x.sort(0).indices[0]]
    T.nn.functional.embedding(T.stack([batch[0], batch[1]]), x)
    monkeypatch.undo()
    for outside in (T.arange(5), T.arange(4) + 1, x.argmax() + 4):
        with pytest.raises(IndexError):
            x[outside.reshape(-1)]
