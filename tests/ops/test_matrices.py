"""Linear algebra and Fourier transforms: PyTorch's values, gradients and words."""
import itertools

import pytest

import jtensor

from .twin import same, torch

S = "(a @ a.mT + T.eye(3) * 2)"


@pytest.mark.parametrize("text", [
    f"T.linalg.inv({S})", f"T.linalg.det({S})", f"T.linalg.slogdet({S})", f"T.linalg.cholesky({S})", f"T.linalg.cholesky({S}, upper=True)",
    f"T.linalg.solve({S}, b)", f"T.linalg.solve({S}, b[:, 0])", f"T.linalg.eigvalsh({S})", "T.linalg.svdvals(b)", "T.linalg.qr(b)[1].abs()",
    "T.linalg.pinv(b)", "T.linalg.matrix_exp(a)", "T.linalg.matrix_power(a, 3)", f"T.linalg.solve_triangular({S}, b, upper=True)",
    "T.linalg.matrix_norm(a, 'nuc')", "T.linalg.norm(b)", "T.linalg.lstsq(a, b).solution", f"T.linalg.cond({S})", "T.trace(a)",
    f"T.cholesky_solve(b, T.linalg.cholesky({S}))", "T.linalg.multi_dot((a, a, b))", "T.linalg.eigh(a + a.mT)[1].abs()",
])
def test_results(text):
    same(text, (3, 3), (3, 2), strides=False, nodes=False, tolerance=2e-3)


@pytest.mark.parametrize("text", [
    "T.linalg.inv(T.zeros(2, 2))", "T.linalg.inv(a[:2])", "T.linalg.inv(a[0])", "T.linalg.inv(T.ones(2, 2).long())",
    "T.linalg.cholesky(-T.eye(2))",
    "T.linalg.cholesky(T.stack([T.eye(2), -T.eye(2)]))", "T.linalg.solve(T.zeros(2, 2), T.ones(2))", "T.linalg.solve(a, b[:2])",
    "T.linalg.svd(T.tensor([[float('nan')]]))", "T.cholesky_inverse(T.ones(2, 2) - T.eye(2))",
    "T.cholesky_inverse(T.stack([T.eye(2), T.diag(T.tensor([1., 0.]))]), upper=True)",
])
def test_errors(text):
    same(text, (3, 3), (3, 2))


@pytest.mark.parametrize("text", [
    "T.linalg.inv(m)", "T.inverse(m)", "T.linalg.cholesky(m)", "T.cholesky(m)", "T.linalg.solve(m, m[:, :1])", "T.cholesky_inverse(m)",
    "T.linalg.lu_factor(m)", "T.linalg.tensorinv(m[:2, :2], 1)", "T.linalg.matrix_power(m, -2)", "T.linalg.inv_ex(m, check_errors=True)",
])
def test_on_the_meta_device_no_matrix_is_singular(text):
    shapes = []
    for T in (torch, jtensor):
        made = eval(text, {"T": T, "m": T.empty(3, 3, device="meta")})
        shapes.append([(tuple(x.shape), x.stride(), x.is_meta) for x in (made if isinstance(made, tuple) else (made,))])
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("text", [
    "T.fft.fft(a)", "T.fft.rfft(a, 6)", "T.fft.irfft(T.fft.rfft(a, norm='ortho'), 5)", "T.fft.fft2(a)", "T.fft.irfftn(T.fft.rfftn(a))",
    "T.fft.hfft(a.to(T.complex64))", "T.fft.fftshift(a)", "T.fft.fftfreq(5, 0.5)", "T.fft.fft(a, 0)", "T.fft.rfft(a * 1j)",
])
def test_fourier(text):
    same(text, (3, 4), strides=False, nodes=False, tolerance=1e-4)


def test_transforms_read_as_in_pytorch():
    """The node of each, the lazy conjugate of an inverse, and the sign of zeros in the mirrored half."""
    torch = pytest.importorskip("torch")

    def shown(T):
        x, z = T.ones(4, requires_grad=True), T.ones(2, 4, dtype=T.complex64, requires_grad=True)
        made = [T.fft.fft(x), T.fft.ifft(x), T.fft.ifft(z), T.fft.fft(z, norm="ortho"), T.fft.ifft2(z), T.fft.irfft(z),
                T.fft.rfft(x, norm="forward"), T.fft.ihfft(x), T.fft.fft(T.arange(5.0), n=3), T.fft.ifft(x.detach())]
        return [(str(y), y.is_conj()) for y in made], T.autograd.grad(T.fft.ifft(x * T.arange(4.0)).abs().pow(2).sum(), x)[0].tolist()
    assert shown(jtensor) == shown(torch)


@pytest.mark.parametrize("upper", [False, True])
def test_the_gradient_of_a_factors_diagonal_may_be_complex(upper):
    """The diagonal itself is real: PyTorch does not drop the imaginary part of what arrives for it."""
    def gradient(T):
        given = T.tensor([[3, 1 + 1j], [1 - 1j, 4]], requires_grad=True)
        arrives = T.tensor([[1 + 2j, 0.5j], [1 - 1j, 3 - 1j]])
        return T.autograd.grad(T.linalg.cholesky(given, upper=upper), given, arrives)[0].tolist()
    for ours, theirs in zip(gradient(jtensor), gradient(torch), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("n", [-1, 0, 1, 2])
def test_a_power_of_a_matrix_is_another_tensor(n):
    given = jtensor.tensor([[2.0, 1.0], [0.0, 4.0]], requires_grad=True)
    made = jtensor.linalg.matrix_power(given, n)
    assert made is not given and made.grad_fn is not None
    made.mul_(2)                                           # of a leaf that would be refused
    assert given.tolist() == [[2, 1], [0, 4]]
    assert n not in (0, 1) or jtensor.linalg.matrix_power(given.t(), n).is_contiguous()


def test_several_results_that_are_written_have_a_type_of_their_own():
    torch = pytest.importorskip("torch")
    for call in (lambda T, out: T.max(T.eye(2), 0, out=out), lambda T, out: T.sort(T.eye(2), out=out),
                 lambda T, out: T.linalg.svd(T.eye(2), out=out), lambda T, out: T.linalg.eigh(T.eye(2), out=out),
                 lambda T, out: T.linalg.inv_ex(T.eye(2), out=out), lambda T, out: T.linalg.cholesky_ex(T.eye(2), out=out)):
        told = []
        for T in (jtensor, torch):
            out = tuple([T.empty(0, dtype=result.dtype) for result in call(T, None)])
            made = call(T, out)
            told.append((type(made).__name__, made[0].tolist(), all(a is b for a, b in zip(made, out, strict=True))))
            with pytest.raises(TypeError) as raised:
                call(T, out[:1])
            told[-1] += str(raised.value),
        assert told[0] == told[1]


def test_condition_numbers_of_singular_matrices_and_their_refusals():
    torch = pytest.importorskip("torch")
    for call in (lambda T: T.linalg.cond(T.tensor([[[1.0, 0], [0, 0]], [[2.0, 0], [0, 2]]]), "nuc").tolist(),
                 lambda T: T.logdet(T.ones(2, 3)), lambda T: T.linalg.eigvalsh(T.ones(2, 3)), *[
                     lambda T, p=p: T.linalg.cond(T.ones(2, 3), p) for p in ("nuc", "fro", 1, -float("inf"))]):
        told = []
        for T in (jtensor, torch):
            try:
                told.append(call(T))
            except RuntimeError as error:
                told.append(str(error))
        assert told[0] == told[1]


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 1, 4), (2, 3, 2, 3)])
def test_transforms_lie_as_pytorchs_library_leaves_them(shape):
    """The dimensions that were transformed last are innermost; nothing is computed here, a stride is known before."""
    n, names = len(shape), ["fftn", "rfftn", "ihfftn", "ifft", "rfft"]
    if 1 not in shape:                               # of which there is no half
        names += ["irfftn", "hfftn", "irfft"]
    for order in ([*range(n)], [*range(n)][::-1], [n - 1, *range(n - 1)]):
        for dims in [(d,) for d in range(n)] + [*itertools.permutations(range(n), 2), (0, *range(2, n)), tuple(range(n))]:
            for name in names:
                if not name.endswith("n") and len(dims) > 1:
                    continue
                chosen = dims if name.endswith("n") else dims[0]
                ours, theirs = (getattr(T.fft, name)(T.ones(shape).permute(order), dim=chosen).stride() for T in (jtensor, torch))
                assert ours == theirs, (name, order, dims)


def test_nothing_sees_that_a_triangle_is_empty():
    """Of one element XLA could tell, and 0.0 + -0.0 became -0.0."""
    x = jtensor.tensor([[2.0]])
    for _ in range(4):
        for empty in (x.triu(1), x.tril(-1)):
            assert str((empty + -0.0).item()) == "0.0"
    assert jtensor.ones(2, 3).triu(3).tolist() == jtensor.ones(2, 3).tril(-2).tolist() == [[0.0] * 3] * 2
    assert jtensor.ones(2, 3).triu(2).tolist() == [[0, 0, 1], [0, 0, 0]] and jtensor.ones(0, 3).triu(5).shape == (0, 3)


def test_exponentials_of_single_precision_are_right_to_the_last_places():
    for rows in ([[4.0, 1.0], [2.0, 3.0]], [[2.0, 0.0], [0.0, 5.0]], [[0.0, -9.0], [9.0, 0.0]]):
        wanted = torch.linalg.matrix_exp(torch.tensor(rows, dtype=torch.float64))
        ours = torch.tensor(jtensor.linalg.matrix_exp(jtensor.tensor(rows)).tolist(), dtype=torch.float64)
        assert (ours - wanted).abs().max() < 2e-7 * wanted.abs().max()


@pytest.mark.parametrize("name, upper", [("float32", False), ("float64", True), ("complex64", True), ("complex128", False)])
def test_a_factor_that_does_not_come_to_its_end_is_left_as_lapack_leaves_it(name, upper):
    """The columns before the first pivot that is not positive, that pivot, and the matrix from there on."""
    found = 0
    for shape in ((1, 1), (3, 3), (20, 20), (4, 20, 20), (3, 64, 64)):
        torch.manual_seed(shape[-1])
        matrix = torch.randn(shape, dtype=getattr(torch, name))
        matrix = matrix + matrix.mH + 1.7 * shape[-1] ** 0.5 * torch.eye(shape[-1])
        wanted, wanted_info = torch.linalg.cholesky_ex(matrix, upper=upper)
        ours, info = jtensor.linalg.cholesky_ex(jtensor.tensor(matrix.tolist(), dtype=getattr(jtensor, name)), upper=upper)
        found += (wanted_info > 0).sum().item()
        assert info.tolist() == wanted_info.tolist()
        ours = torch.tensor(ours.tolist(), dtype=matrix.dtype)
        assert (ours - wanted).abs().max() < (1e-3 if name in ("float32", "complex64") else 1e-10)
    assert found > 5
    for rows in ([[-1.0, 0.0], [0.0, -1.0]], [[4.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]):
        ours, wanted = (T.linalg.cholesky_ex(T.tensor(rows, dtype=getattr(T, name)), upper=upper) for T in (jtensor, torch))
        assert ours.L.tolist() == wanted.L.tolist() and ours.info == wanted.info.item()


def test_the_driver_for_full_rank_asks_no_rcond():
    A, B = jtensor.tensor([[4.0, 0.0], [0.0, 1.0]]), jtensor.tensor([[4.0], [3.0]])
    assert jtensor.linalg.lstsq(A, B, rcond=0.5, driver="gels").solution.flatten().tolist() == pytest.approx([1.0, 3.0])
    assert jtensor.linalg.lstsq(A, B, rcond=0.5, driver="gelsd").solution.flatten().tolist() == pytest.approx([1.0, 0.0])


_LEAST_SQUARES = [[[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1e-9]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [[2.0]]]


@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
def test_each_driver_reads_rcond_in_its_own_way(driver):
    """Beyond (0, 1) they cut at the type's precision, at nothing, or at everything."""
    for rows in _LEAST_SQUARES:
        for rcond in (None, -1, 0.0, 0.3, 0.6, 1.0, 1.5):
            ours, wanted = (T.linalg.lstsq(T.tensor(rows), T.ones(len(rows), 1), rcond=rcond, driver=driver) for T in (jtensor, torch))
            assert ours.rank.item() == wanted.rank.item(), (rows, rcond)
            assert ours.solution.flatten().tolist() == pytest.approx(wanted.solution.flatten().tolist()), (rows, rcond)


def test_the_orthogonal_driver_keeps_the_greatest_and_those_at_the_limit():
    """As LAPACK's gelsy; PyTorch's own answers change from call to call, since it hands that marks of columns that nobody has written."""
    for rcond, wanted in ((None, [2, 2, 0, 1]), (-1, [3, 2, 0, 1]), (0.3, [2, 2, 0, 1]), (0.6, [1, 2, 0, 1]), (1.5, [1, 1, 0, 1])):
        ranks = [jtensor.linalg.lstsq(jtensor.tensor(rows), jtensor.ones(len(rows), 1), rcond=rcond, driver="gelsy").rank.item()
                 for rows in _LEAST_SQUARES]
        assert ranks == wanted, rcond
