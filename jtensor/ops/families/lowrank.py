"""Matrices of low rank: singular values and principal components by random projections (Halko, Martinsson and Tropp, 2009).

Owns: the projections. The numbers are drawn as PyTorch draws them, so that a seed gives its answer. May not know: operators of its own.
"""
from ..registry import composite


def _basis(A, q, niter, M):
    """``q`` orthonormal columns that nearly span ``A - M``: of a random image, sharpened by ``niter`` turns back and forth."""
    import jtensor

    def image(x, adjoint=False):
        made = (A.mH if adjoint else A) @ x
        return made if M is None else made - (M.mH if adjoint else M) @ x
    dtype = A.dtype if A.is_floating_point() or A.is_complex() else jtensor.float32
    found = jtensor.linalg.qr(image(jtensor.randn(A.shape[-1], q, dtype=dtype, device=A.device))).Q
    for _ in range(niter):
        found = jtensor.linalg.qr(image(found, True)).Q
        found = jtensor.linalg.qr(image(found)).Q
    return found


@composite(method=False)
def svd_lowrank(A, q=6, niter=2, M=None):
    """(left vectors as columns, singular values, right vectors as columns): about the ``q`` largest of matrices ``(*, m, n)``.

    ``niter``: how often the random projection is sharpened; ``M``: a mean to take off first.

    >>> torch.svd_lowrank(torch.diag(torch.tensor([3., 2., 0., 0.])), 2)[1]
    tensor([3.0000, 2.0000])
    """
    import jtensor
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    M = None if M is None else M.broadcast_to(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A, M = A.mH, None if M is None else M.mH
    basis = _basis(A, q, niter, M)
    small = basis.mH @ A
    u, s, vh = jtensor.linalg.svd(small if M is None else small - basis.mH @ M, full_matrices=False)
    u, v = basis.matmul(u), vh.mH
    return (v, s, u) if wide else (u, s, v)


@composite(method=False)
def pca_lowrank(A, q=None, center=True, niter=2):
    """(U, S, V) of `svd_lowrank` of ``m`` samples ``(*, m, n)``, whose mean is taken off if ``center``. Columns of V are directions.

    >>> torch.pca_lowrank(torch.tensor([[0., 1.], [2., 1.]]), 1)[1]
    tensor([1.4142])
    """
    import jtensor
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter)
    if A.layout is jtensor.strided:
        return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True), q, niter)
    if A.dim() != 2:
        raise ValueError("pca_lowrank input is expected to be 2-dimensional tensor")
    return svd_lowrank(A, q, niter, jtensor.sparse.sum(A, (-2,)).to_dense().div(m).unsqueeze(0))    # with the mean off it would be dense
