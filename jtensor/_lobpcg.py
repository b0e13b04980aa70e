"""`torch.lobpcg`: the largest or smallest eigenvalues of a large symmetric matrix, of which only products with vectors are needed.

Owns: the iteration, over the vectors, their preconditioned residuals and the last step, and the gradient of what it finds. May not know:
how products of sparse matrices are computed.
"""
import jtensor

from .base.errors import missing

__all__ = ["lobpcg"]


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None, ortho_iparams=None,
           ortho_fparams=None, ortho_bparams=None):
    """``k`` eigenvalues and eigenvectors of ``A x = w B x``, of a symmetric ``A`` and a positive definite ``B`` (the identity by default).

    ``A``, ``B``: (..., m, m), dense or, without batches, sparse; ``X``: (..., m, n), vectors to begin with, random ones by default; ``iK``:
    an approximate inverse of ``A`` that residuals are multiplied by; ``niter``: the most iterations (1000); ``tol``: how small residuals
    must become (the square root of the type's eps); ``largest``: which eigenvalues (True: the largest). What is left is taken, and changes
    nothing.

    Answers eigenvalues (..., k) and eigenvectors (..., m, k), of length 1 by ``B``. Gradients come for a dense ``A`` without ``B``.
    ValueError where m < 3 n; AssertionError for shapes that do not fit.

    >>> _ = torch.manual_seed(0)
    >>> values, vectors = torch.lobpcg(torch.diag(torch.arange(1., 21.)), k=2)
    >>> values
    tensor([20.0000, 19.0000])
    >>> vectors.shape
    torch.Size([20, 2])
    """
    if tracker is not None:
        raise missing("a tracker of lobpcg's iterations", "niter=..., to look at what a number of iterations gives")
    if A.shape[-1] != A.shape[-2]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if m < 3 * n:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested "
                         f"eigenpairs (={n})")
    if X is None:
        X = jtensor.randn(*A.shape[:-2], m, n, dtype=A.dtype, device=A.device)
    if X.shape[-2] != m:
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(m, n)}")
    settings = (1000 if niter is None else niter, jtensor.finfo(A.dtype).eps ** 0.5 if tol is None else tol, largest is None or largest)
    if A.requires_grad or B is not None and B.requires_grad:
        values, vectors = _Eigenpairs.apply(A, B, X, iK, settings)
    else:
        values, vectors = _batches(A, B, X, iK, settings)
    return values[..., :k], vectors[..., :k]


def _batches(A, B, X, iK, settings):
    if A.dim() == 2:
        return _iterated(A, B, X, iK, *settings)
    batch = A.shape[:-2]
    flat = [[None] * batch.numel() if t is None else t.reshape(-1, *t.shape[-2:]).unbind(0) for t in (A, B, X, iK)]
    found = [_iterated(*parts, *settings) for parts in zip(*flat, strict=True)]
    values, vectors = [jtensor.stack(parts) for parts in zip(*found, strict=True)]
    return values.reshape(*batch, -1), vectors.reshape(*batch, *vectors.shape[-2:])


def _iterated(A, B, X, iK, niter, tol, largest):
    with jtensor.no_grad():
        return _search(A, B, X, iK, niter, tol, largest)


def _search(A, B, X, iK, niter, tol, largest):
    n = X.shape[1]

    def by_b(V):
        return V if B is None else B @ V
    norm, size = (A @ X).norm() / X.norm(), by_b(X).norm() / X.norm()
    E, C = _best(A, by_b, X, n, largest)
    X, P = X @ C, None
    left = niter
    while left:
        BX = by_b(X)
        R = A @ X - BX * E
        if bool((R.norm(dim=0) < tol * X.norm(dim=0) * (norm + E.abs() * size)).all()):
            break
        W = R if iK is None else iK @ R
        W = W - X @ (BX.mT @ W)
        S = jtensor.cat([X, W] if P is None else [X, W, P], 1)
        S = S / S.norm(dim=0).clamp(min=jtensor.finfo(S.dtype).tiny)
        E, C = _best(A, by_b, S, n, largest)
        X, P = S @ C, S[:, n:] @ C[n:]
        left -= 1
    return E, X


def _best(A, by_b, S, n, largest):
    """The best eigenvalues that combinations of some vectors give, and the combinations, orthonormal by ``B``.

    Directions in which the vectors are as good as dependent are left out.
    """
    weights, turned = jtensor.linalg.eigh(S.mT @ by_b(S))
    least = weights[-1] * jtensor.finfo(S.dtype).eps * len(weights)
    T = jtensor.where(weights > least, turned / weights.clamp(min=jtensor.finfo(S.dtype).tiny).sqrt(), 0)
    values, vectors = jtensor.linalg.eigh(T.mT @ (S.mT @ (A @ S)) @ T)
    # a direction that was left out has become the eigenvalue 0 of no vector: it goes to the other end
    dead = (T @ vectors).norm(dim=0) < 0.5 / jtensor.sqrt(weights[-1].clamp(min=1))
    order = jtensor.argsort(jtensor.where(dead, jtensor.inf, -values if largest else values))[:n]
    return values[order], T @ vectors[:, order]


class _Eigenpairs(jtensor.autograd.Function):
    """The search with the gradient of eigenvalues and eigenvectors as such, however they were found."""

    @staticmethod
    def forward(ctx, A, B, X, iK, settings):
        values, vectors = _batches(A.detach(), None if B is None else B.detach(), X.detach(), iK, settings)
        ctx.save_for_backward(A, values, vectors)
        ctx.plain = B is None
        return values, vectors

    @staticmethod
    def backward(ctx, of_values, of_vectors):
        A, E, U = ctx.saved_tensors
        if A.layout is not jtensor.strided:
            raise ValueError("lobpcg.backward does not support sparse input yet. Note that lobpcg.forward does though.")
        if not ctx.plain:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        inside = U.mT @ of_vectors
        apart = E.unsqueeze(-2) - E.unsqueeze(-1)
        equal = apart == 0
        inside = jtensor.where(equal, 0, inside / jtensor.where(equal, 1, apart))
        grad = U @ (jtensor.diag_embed(of_values) + inside) @ U.mT
        # what turns the vectors out of what they span: (w - A) y = the rest of the gradient, where nothing of the span is left
        rest = of_vectors - U @ (U.mT @ of_vectors)
        eye, span = jtensor.eye(A.shape[-1], dtype=A.dtype, device=A.device), U @ U.mT
        out = [jtensor.linalg.solve(E[..., i, None, None] * eye - A + span * (A.norm() + 1), rest[..., i]) for i in range(E.shape[-1])]
        grad = grad + jtensor.stack(out, -1) @ U.mT
        return (grad + grad.mT) / 2, None, None, None, None
