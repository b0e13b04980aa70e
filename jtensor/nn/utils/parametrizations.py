"""Parametrizations to use: weight and spectral normalisation, orthogonal matrices.

Owns: their formulas. How a tensor is replaced by one that is computed: `parametrize`.
"""
import numpy as np

import jtensor

from ...ops.families.weight_norm import norm_except_dim
from ...tensor import raw
from ...tensor.core import Tensor as Tensor
from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_of(module, name):
    found = getattr(module, name, None)
    if not isinstance(found, jtensor.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


# -- weight normalisation ---------------------------------------------------------------------------------------------


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, length, direction):
        return raw._weight_norm(direction, length, self.dim)

    def right_inverse(self, weight):
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """A parameter as a length along ``dim`` (``original0``) times a direction (``original1``); ``dim=None``: one length for all.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape, layer.parametrizations.weight.original1.shape
    (torch.Size([2, 1]), torch.Size([2, 3]))
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def of_the_hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Names of states that `torch.nn.utils.weight_norm` saved."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for at, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{at}"] = state_dict.pop(key)
    module._register_load_state_dict_pre_hook(of_the_hook)
    return module


# -- spectral normalisation -------------------------------------------------------------------------------------------


class _SpectralNorm(Module):
    """Divides by the largest singular value, which power iterations follow from step to step."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        n = weight.ndim
        if dim >= n or dim < -n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % n, eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._as_matrix(weight)
            rows, columns = matrix.shape
            u, v = (matrix.new_empty(count).normal_(0, 1) for count in (rows, columns))
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _as_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    @jtensor.no_grad()
    def _iterate(self, matrix, times):
        for _ in range(times):
            self._u = F.normalize(jtensor.mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
            self._v = F.normalize(jtensor.mv(matrix.H, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()                # the buffers are written to at the next step
        return weight / jtensor.vdot(u, jtensor.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """A parameter divided by its largest singular value as a matrix of ``dim`` (1 for transposed convolutions, else 0) by the rest.

    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(20, 40))
    >>> round(torch.linalg.matrix_norm(layer.weight, 2).item(), 1)
    1.0
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


# -- orthogonal matrices ----------------------------------------------------------------------------------------------


def _is_orthogonal(q):
    identity = jtensor.eye(q.size(-1), dtype=q.dtype, device=q.device)
    eps = 10.0 * identity.size(-1) * jtensor.finfo(q.dtype).eps
    return jtensor.allclose(q.mH @ q, identity, atol=eps)


def _any_orthogonal(a):
    q, r = jtensor.linalg.qr(a)
    return q * jtensor.sgn(r.diagonal(dim1=-2, dim2=-1)).unsqueeze(-2)


def _reflections(a):
    """The reflections that triangulate a matrix, below the diagonal, and on it the signs of what is left, 1 where none was needed."""
    packed, scale = np.linalg.qr(a.numpy(), mode="raw")
    packed, scale = jtensor.from_numpy(np.ascontiguousarray(packed.swapaxes(-2, -1))), jtensor.from_numpy(scale)
    diagonal = packed.diagonal(dim1=-2, dim2=-1)
    diagonal.sgn_()
    diagonal[scale == 0] *= -1
    return packed


class _Orthogonal(Module):
    """A product of reflections, or the exponential or the Cayley transform of a skew matrix; times an orthogonal base."""

    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        n, k = x.size(-2), x.size(-1)
        wide = n < k
        if wide:
            x, n, k = x.mT, k, n
        if self.orthogonal_map == "householder":
            q = jtensor.linalg.householder_product(x, self._factors(x))
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = x.tril()
            if n != k:
                x = jtensor.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
            skew = x - x.mH
            if self.orthogonal_map == "matrix_exp":
                q = jtensor.matrix_exp(skew)
            else:
                identity = jtensor.eye(n, dtype=skew.dtype, device=skew.device)
                q = jtensor.linalg.solve(jtensor.add(identity, skew, alpha=-0.5), jtensor.add(identity, skew, alpha=0.5))
            if n != k:
                q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    @staticmethod
    def _factors(x):
        """The scale of each reflection whose vector stands below the diagonal."""
        below = x.tril(diagonal=-1)
        return 2.0 / (1.0 + (below * below).sum(dim=-2))

    @jtensor.no_grad()
    def right_inverse(self, q):
        if q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}.")
        start = q
        n, k = q.size(-2), q.size(-1)
        wide = n < k
        if wide:
            q, n, k = q.mT, k, n
        if not hasattr(self, "base") and self.orthogonal_map == "householder":
            kept = _reflections(q)
            return kept.mT if wide else kept
        if not hasattr(self, "base"):
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                                      "use_trivialization=False.")
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _any_orthogonal(q)
        else:
            noise = jtensor.randn(*q.size()[:-2], n, n - k, dtype=q.dtype, device=q.device)
            q = _any_orthogonal(jtensor.cat([q, noise], dim=-1))
        self.base = q
        zero = jtensor.zeros_like(start)
        zero.diagonal(dim1=-2, dim2=-1).fill_(-1.0)    # diagonals are not read; PyTorch marks them so
        return zero


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A matrix, or batch of them, whose columns (rows, where there are more columns) are orthonormal.

    ``orthogonal_map``: "matrix_exp" (the default for square matrices), "cayley" or "householder" (for others). What is there now becomes
    the base that the map's result is multiplied with, and is made orthogonal for that; without ``use_trivialization`` there is none.

    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3), orthogonal_map="cayley")
    >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-5)
    True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    return parametrize.register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
