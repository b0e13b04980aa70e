"""Functions that are seldom called, against live PyTorch: histograms of points, Householder reflections, permuted memory, norms, and
what calls at the edge of functions answer."""
import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")


def plain(T, x):
    if isinstance(x, T.Tensor):
        return [str(x.dtype).split(".")[1], list(x.shape), list(x.stride()), x.detach().tolist()]
    return [plain(T, y) for y in x] if isinstance(x, (tuple, list)) else x


def asked(T, text):
    x = T.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
    a = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    names = {"T": T, "x": x, "E": T.tensor([0.0, 1.0, 2.0]), "a": a, "c": T.complex(a, a.flip(0)), "b": T.stack([a, a * a])}
    try:
        return plain(T, eval(text, names))
    except Exception as error:
        return [type(error).__name__, str(error).replace("jtensor", "torch").split("\n")[0]]


def agree(ours, theirs, where):
    if isinstance(theirs, list) and len(theirs) == 4 and isinstance(theirs[1], list) and isinstance(theirs[0], str):
        assert ours[:3] == theirs[:3], where
        np.testing.assert_allclose(np.array(ours[3]), np.array(theirs[3]), 2e-5, 2e-5, err_msg=where)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for mine, other in zip(ours, theirs):
            agree(mine, other, where)
    else:
        assert ours == theirs, where


HISTOGRAMS = ["T.histogramdd(x, [3, 3])", "T.histogramdd(x, 2)", "T.histogramdd(x, [E, E])", "T.histogramdd(x, (E, E[:2]), density=True)",
              "T.histogramdd(x.double(), 3, range=[0., 1., 0., 2.], density=True)", "T.histogramdd(x, 2, weight=T.arange(4.))",
              "T.histogramdd(x.view(2, 2, 2), [1, 2], weight=T.ones(2, 2))", "T.histogramdd(T.zeros(0, 2), 2)", "T.histogramdd(x * 0, 2)",
              "T.histogramdd(T.zeros(0, 2), 2, density=True)", "T.histogram(T.zeros(0), 2, density=True)",
              "T.histogram(T.tensor([0., .9, 1.]), 10).hist.tolist()", "T.histogram(T.tensor([0., .9, 1.]), 10).bin_edges.tolist()",
              "str(T.histogramdd(x, 2))", "T.histogramdd(x.int(), [3, 3])", "T.histogramdd(x, [3])", "T.histogramdd(x[0], [3])",
              "T.histogramdd(x, [3, 3], weight=T.ones(3))", "T.histogramdd(x, [3, 3], weight=T.ones(4).double())",
              "T.histogramdd(x, [3, 3], range=[0., 1.])", "T.histogramdd(x, [3, 0])", "T.histogramdd(x, [E])",
              "T.histogramdd(x, [E, E.double()])", "T.histogramdd(x, [E, E[None]])", "T.histogramdd(x, [3, 3], range=[0., 1., 3., 1.])",
              "T.histogramdd(x * float('nan'), [3, 3])", "str(T.histogram(x, 2, out=(T.empty(0), T.empty(0))))"]
REFLECTIONS = ["T.geqrf(a)", "T.geqrf(a.T)", "T.geqrf(b)", "T.geqrf(c)", "T.geqrf(a.double())", "T.geqrf(a[0])", "T.geqrf(a.int())",
               "str(T.geqrf(a))", "T.geqrf(a, out=(T.empty(0), T.empty(0)))", "T.ormqr(*T.geqrf(a), a)",
               "T.ormqr(*T.geqrf(a), a, transpose=True)",
               "T.ormqr(*T.geqrf(a), a.T, left=False)", "T.ormqr(*T.geqrf(a), a.T, left=False, transpose=True)", "T.ormqr(*T.geqrf(c), c)",
               "T.ormqr(*T.geqrf(c), c, transpose=True)", "T.ormqr(*T.geqrf(c), c.T, False)", "T.ormqr(*T.geqrf(b), b, True, True)",
               "T.ormqr(a, T.ones(3), a)", "T.ormqr(a, T.ones(2), x)", "T.ormqr(a, T.ones(2), x, left=False)",
               "T.ormqr(a[0], T.ones(2), a)",
               "T.ormqr(a, T.ones(2), a[0])", "T.ormqr(a, T.ones(2).double(), a)", "T.ormqr(b, T.ones(2), a)",
               "T.ormqr(a, T.ones(2), a.double())",
               "T.geqrf(a.requires_grad_()).a.sum().backward()", "T.geqrf(a.requires_grad_()).tau.grad_fn.name()"]
OTHERS = ["T.empty_permuted((2, 3), (1, 0)).stride()", "T.empty_permuted((2, 0, 3), (2, 0, 1)).stride()", "T.empty_permuted((), ()).shape",
          "T.empty_permuted((2, 3), (0, 1), dtype=T.int64).dtype is T.int64", "T.empty_permuted((2, 3), (1, 1))",
          "T.empty_permuted((2, 3), (1,))",
          "T.empty_permuted((2, 3), (1, 5))", "T.empty_permuted((2, 3), (1, -2))", "T.norm_except_dim(a)", "T.norm_except_dim(a, 2, 1)",
          "T.norm_except_dim(a, 1, -1)", "T.norm_except_dim(b, 1, 1)", "T.norm_except_dim(b, 2, -2)", "T.norm_except_dim(a, 2, 5)"]


EDGES = ["T.trapezoid(T.tensor([100, 200, 255, 1, 3], dtype=T.uint8))", "T.trapezoid(T.tensor([100, 120, 127], dtype=T.int8), dx=2)",
         "T.trapezoid(a, x[0])", "T.trapezoid(a[0], a[:1])", "T.trapezoid(a, dx=0.5, dim=0)", "T.cumulative_trapezoid(a, dim=0, dx=2)",
         "T.cumulative_trapezoid(a, x[0] * 2)", "T.cumulative_trapezoid(a > 1)",
         "T.cumulative_trapezoid(a.requires_grad_()).grad_fn.name()",
         "T.diff(a, n=0, prepend=a)", "T.diff(a, n=5)", "T.diff(a, prepend=a, out=T.empty(0))",
         "T.unravel_index(T.tensor([1, 3], dtype=T.int16), (2, 4))", "T.unravel_index(T.tensor([[1], [7]], dtype=T.uint8), (2, 2, 2))",
         "T.unravel_index(T.tensor(3), 4)", "T.igamma(1 / (x * 0), T.tensor([0., 3.]))", "T.igammac(1 / (x * 0), T.tensor([0., 3.]))",
         "T.igamma(T.tensor([0., 0., -0., 1e-3, float('nan')]), T.tensor([1e-3, 0., 9., 0., 0.]))",
         "T.igammac(T.tensor([0., 0., -0., 1e-3, float('nan')]), T.tensor([1e-3, 0., 9., 0., 0.]))",
         "T.igamma(1 / (x * 0), 1 / (x * 0))", "T.igammac(T.tensor([float('inf')] * 4), T.tensor([-1., float('nan'), float('inf'), 0.]))",
         *(f"T.{f}(T.zeros(0, dtype=T.{d}))" for f in ("median", "nanmedian") for d in ("int32", "int64", "uint8", "float64")),
         "T.nanquantile(a, 1.5)", "T.nanquantile(a[:0], 0.5)", "T.quantile(a.half(), x)", "T.quantile(a.half(), 0.5, interpolation='?')",
         "T.round(T.tensor([1.23456e20]), decimals=40)", "T.round(T.tensor([1.5]), decimals=400)",
         "T.nn.functional.adaptive_avg_pool1d(a.T, 2)", "T.tensor(2.).__rdiv__(T.tensor([3, 4]))", "T.mean(a, 0, out=T.empty(0).double())"]


@pytest.mark.parametrize("texts", [HISTOGRAMS, REFLECTIONS, OTHERS, EDGES], ids=["histograms", "reflections", "others", "edges"])
def test_as_pytorch(texts):
    for text in texts:
        agree(asked(jtensor, text), asked(torch, text), text)


@pytest.mark.parametrize("text", [
    "x.unique()", "x.unique(dim=0, return_counts=True)[0]", "x.unique_consecutive()", "T.histogramdd(x, [3, 3])[0]",
    "T.histogramdd(x, [3, 3])[1][0]", "T.histogramdd(x.detach(), [x[0], x[1]])[0]", "T.histogramdd(x.detach(), [3, 3], weight=x[:, 0])[0]",
    "T.histogram(x, 3)[0]", "T.histogram(x, 3)[1]", "T.bincount(T.tensor([0, 1]), x[0])"])
def test_what_has_no_derivative_says_so(text):
    def told(T):
        x = T.tensor([[0.0, 1.0], [1.0, 2.0]], requires_grad=True)
        made = eval(text, {"T": T, "x": x})
        with pytest.raises((RuntimeError, NotImplementedError)) as error:
            (made.sum() + x.sum()).backward()
        with T.no_grad():
            quiet = eval(text, {"T": T, "x": x})
        node = made.grad_fn
        return made.requires_grad, node.name(), len(node.next_functions), quiet.requires_grad, type(error.value), str(error.value)
    assert told(jtensor) == told(torch)


def test_the_product_of_reflections_has_a_gradient():
    def gradients(T):
        given = [[1.0, 2.0], [0.5, 1.0], [0.2, 0.3]], [1.2, 1.4], [[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]
        leaves = [T.tensor(x, requires_grad=True) for x in given]
        (T.ormqr(*leaves) ** 2).sum().backward()
        return [x.grad.tolist() for x in leaves]
    for ours, theirs in zip(gradients(jtensor), gradients(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-4, 1e-5)


def test_what_a_softmax_of_complex_numbers_leaves_out_is_said_once_by_us_alone():
    with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part") as said:
        found = jtensor.softmax(jtensor.tensor([1j, 2.0]), 0, dtype=jtensor.float32)
    assert len(said) == 1 and found.dtype is jtensor.float32
    np.testing.assert_allclose(found.tolist(), torch.softmax(torch.tensor([0.0, 2.0]), 0), 1e-6)
