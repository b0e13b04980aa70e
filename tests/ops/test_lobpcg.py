"""Eigenvalues by iteration: those of the whole decomposition, its gradients, PyTorch's shapes and refusals."""
import pytest

import jtensor

CASES = {                                   # name -> (options, whether with a preconditioner)
    "largest": ({"k": 3}, False), "smallest": ({"k": 2, "largest": False}, False), "conditioned": ({"k": 2, "largest": False}, True),
    "more vectors than wanted": ({"k": 1, "n": 4}, False), "one": ({}, False), "basic": ({"k": 2, "method": "basic"}, False),
}


def matrix(torch, n=24):
    i = torch.arange(float(n), dtype=torch.float64)
    return torch.diag(i + 1) + 0.3 * torch.cos(i[:, None] + i)


@pytest.mark.parametrize("case", CASES)
def test_values_and_vectors_are_those_of_the_whole_decomposition(case):
    options, conditioned = CASES[case]
    a = matrix(jtensor)
    values, vectors = jtensor.lobpcg(a, iK=jtensor.linalg.inv(a) if conditioned else None, **options)
    k = options.get("k", 1)
    every = jtensor.linalg.eigvalsh(a)
    wanted = every.flip(0) if options.get("largest", True) else every
    jtensor.testing.assert_close(values, wanted[:k])
    jtensor.testing.assert_close(a @ vectors, vectors * values, atol=1e-4, rtol=0)
    jtensor.testing.assert_close(vectors.mT @ vectors, jtensor.eye(k, dtype=a.dtype))


def test_generalised_sparse_and_batches():
    a, b = matrix(jtensor), jtensor.diag(jtensor.arange(1., 25., dtype=jtensor.float64) ** 2)
    values, vectors = jtensor.lobpcg(a, k=2, B=b)
    jtensor.testing.assert_close(a @ vectors, b @ vectors * values, atol=1e-4, rtol=0)
    jtensor.testing.assert_close(vectors.mT @ b @ vectors, jtensor.eye(2, dtype=a.dtype))
    jtensor.testing.assert_close(jtensor.lobpcg(a.to_sparse(), k=2)[0], jtensor.lobpcg(a, k=2)[0])
    values, vectors = jtensor.lobpcg(jtensor.stack([a, 2 * a]).reshape(2, 1, 24, 24), k=2)
    jtensor.testing.assert_close(values[1], 2 * values[0])
    assert vectors.shape == (2, 1, 24, 2)


def test_dependent_vectors_do_no_harm():
    for a, wanted in ((jtensor.ones(9, 9), [9, 0]), (jtensor.zeros(9, 9), [0, 0]), (jtensor.eye(9), [1, 1])):
        jtensor.testing.assert_close(jtensor.lobpcg(a, k=2)[0], jtensor.tensor(wanted, dtype=jtensor.float32), atol=1e-5, rtol=0)
    x = jtensor.ones(24, 2, dtype=jtensor.float64)
    jtensor.testing.assert_close(jtensor.lobpcg(matrix(jtensor), X=x)[0], jtensor.lobpcg(matrix(jtensor), k=2)[0])


def test_gradients_are_those_of_the_whole_decomposition():
    weights = jtensor.cos(jtensor.arange(48., dtype=jtensor.float64)).reshape(24, 2)
    grads = []
    for decompose in (lambda a: jtensor.lobpcg(a, k=2, tol=1e-12), lambda a: [t.flip(-1)[..., :2] for t in jtensor.linalg.eigh(a)]):
        a = matrix(jtensor).requires_grad_()
        values, vectors = decompose(a)
        ((vectors * weights).sum(0) ** 2).sum().add((values * values).sum()).backward()
        grads.append((a.grad + a.grad.mT) / 2)
    jtensor.testing.assert_close(*grads, atol=1e-8, rtol=1e-8)


def test_beside_pytorch():
    torch = pytest.importorskip("torch")
    for options in ({"k": 2}, {"k": 3, "largest": False}, {"k": 2, "n": 3}, {"k": 3, "n": 2}):
        theirs, ours = torch.lobpcg(matrix(torch), **options), jtensor.lobpcg(matrix(jtensor), **options)
        assert [tuple(t.shape) for t in theirs] == [tuple(t.shape) for t in ours]
        assert str(theirs[0].dtype) == str(ours[0].dtype)
        jtensor.testing.assert_close(jtensor.from_numpy(theirs[0].numpy()), ours[0])


def test_refusals():
    def said(library):
        a = matrix(library)
        texts = []
        for wrong in (lambda: library.lobpcg(a[:20]), lambda: library.lobpcg(a, k=9), lambda: library.lobpcg(a, k=1, B=a[:20]),
                      lambda: library.lobpcg(a, X=library.ones(23, 2, dtype=a.dtype)),
                      lambda: library.lobpcg(a.clone().requires_grad_(), k=2, B=a)[0].sum().backward(),
                      lambda: library.lobpcg(a.to_sparse().requires_grad_(), k=2)[0].sum().backward()):
            with pytest.raises(Exception) as error:
                wrong()
            texts.append((error.type.__name__, str(error.value)))
        return texts
    ours = said(jtensor)
    assert ours[1][0] == "ValueError"
    with pytest.raises(NotImplementedError, match="jtensor does not have a tracker"):
        jtensor.lobpcg(matrix(jtensor), k=1, tracker=print)
    assert ours == said(pytest.importorskip("torch"))
