"""Helpers of the distributions: parameters of one shape, probabilities and logits, values worked out when they are first read."""
from numbers import Number

import jtensor

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "standard_normal", "tril_matrix_to_vec",
           "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape; numbers take the type of the first tensor, or the default type.

    >>> torch.distributions.utils.broadcast_all(1.0, torch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    is_tensor_like = jtensor.overrides.is_tensor_like
    if not all(is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    first = next((v for v in values if isinstance(v, jtensor.Tensor)), None)
    options = {"dtype": jtensor.get_default_dtype()} if first is None else {"dtype": first.dtype, "device": first.device}
    return jtensor.broadcast_tensors(*[v if is_tensor_like(v) else jtensor.tensor(v, **options) for v in values])


def standard_normal(shape, dtype, device):
    """Normal numbers from the stream of ``torch.normal``."""
    return jtensor.normal(jtensor.zeros(shape, dtype=dtype, device=device), jtensor.ones(shape, dtype=dtype, device=device))


def batch_shape_of(made, *given):
    """The batch shape of a distribution: none if only numbers were given, else that of what they were broadcast to."""
    return jtensor.Size() if all(isinstance(x, Number) for x in given) else made.size()


def _sum_rightmost(value, dim):
    """The sum over the last ``dim`` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def tril_matrix_to_vec(mat, diag=0):
    """What stands in the lower triangles, up to a diagonal, of matrices ``(*, D, D)``, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    row, column = jtensor.tril_indices(n, n, diag)
    return mat[..., row, column]


def vec_to_tril_matrix(vec, diag=0):
    """The matrices ``(*, D, D)`` that have these numbers in their lower triangles, and zeros elsewhere.

    >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    # D (D + 1) / 2 + diag D - diag (diag + 1) / 2 numbers above the main diagonal or on it, and a smaller triangle's below it
    length, k = vec.shape[-1], diag
    corner = 4 * abs(k) * (k + 1)
    found = (((1 + 2 * k) ** 2 + 8 * length + corner) ** 0.5 - (1 + 2 * k)) / 2
    size = round(found)
    if size - found > jtensor.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {length} which cannot be expressed as the lower triangular part of a square D x D "
                         "matrix.")
    mat = vec.new_zeros(vec.shape[:-1] + (size, size))
    row, column = jtensor.tril_indices(size, size, k)
    mat[..., row, column] = vec
    return mat


def clamp_probs(probs):
    """Probabilities kept away from 0 and 1, so that their logarithms are finite."""
    eps = jtensor.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


_standard_normal = standard_normal          # as other libraries import it


def probs_to_logits(probs, is_binary=False):
    """Log-probabilities, or of one probability each the log-odds."""
    inner = clamp_probs(probs)
    return jtensor.log(inner) - jtensor.log1p(-inner) if is_binary else jtensor.log(inner)


def logits_to_probs(logits, is_binary=False):
    """What `probs_to_logits` started from; logits need not be normalised."""
    return jtensor.sigmoid(logits) if is_binary else jtensor.softmax(logits, dim=-1)


class lazy_property:
    """A property that is worked out once, with gradients, and then is an attribute."""

    def __init__(self, wrapped):
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with jtensor.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
