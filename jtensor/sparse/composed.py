"""Functions that PyTorch makes of others, whichever of their tensors is sparse, in coordinates or compressed.

Owns: these entries of both tables, and the older names of functions. What they are made of is looked up in its turn. May not know: places,
histories.
"""
import jtensor

from ..base import sites
from ..ops.families.contraction import CHAINED
from . import arithmetic
from .compressed import is_compressed
from .compressed_answers import COMPRESSED
from .products import kind_of
from .refusals import of_compressed, refused, without
from .tensors import is_sparse

TABLES = arithmetic.COORDINATES, COMPRESSED                    # both filled by rooms that are imported


def both(*names):
    """A decorator: the function answers for tensors of either kind."""
    def put(function):
        for table in TABLES:
            table.answers(*names)(function)
        return function
    return put


for _table in TABLES:
    for _name in ("erf", "expm1", "erfinv", "log1p"):
        _table.answers("special_" + _name)(_table.table[_name])


# -- products ----------------------------------------------------------------------------------------------------------


@both("linalg_matmul")
def linalg_matmul(input, other, *, out=None):
    return jtensor.matmul(input, other, out=out)


@both("__rmatmul__")
def rmatmul(self, other):
    if not isinstance(other, jtensor.Tensor):
        return NotImplemented
    return jtensor.matmul(other, self)


@both("matrix_power", "linalg_matrix_power")
def matrix_power(input, n, *, out=None):
    """The product of so many of a matrix; a power that needs no product, or an inverse, has no kernel."""
    if n < 0:
        raise refused("linalg_inv_ex", (input,))
    if n < 2:
        raise RuntimeError("unsupported memory format option Contiguous" if is_sparse(input) else
                           f"Sparse {input._layout.name[-3:].upper()} tensors do not have is_contiguous")
    if n == 3:
        return jtensor.matmul(jtensor.matmul(input, input), input)
    made, square = None, None
    while n:
        square = input if square is None else jtensor.matmul(square, square)
        if n % 2:
            made = square if made is None else jtensor.matmul(made, square)
        n //= 2
    return made


@both("chain_matmul")
def chain_matmul(*matrices, out=None):
    sites.warn_once(CHAINED)
    return multi_dot(*matrices)


@both("linalg_multi_dot")
def multi_dot(*matrices, out=None):
    """The product of all: two together at a time, in the order that costs a dense product least."""
    matrices = list(matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices)
    while len(matrices) > 1:
        at = min(range(len(matrices) - 1), key=lambda k: -matrices[k].shape[-1])
        matrices[at:at + 2] = [jtensor.matmul(matrices[at], matrices[at + 1])]
    return matrices[0]


@both("linalg_vecdot")
def vecdot(x, y, *, dim=-1, out=None):
    return jtensor.sum(x.conj() * y, dim)


@both("triangular_solve")
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """The solution for a compressed matrix; no copy of it is made."""
    if not is_compressed(A) or b.layout is not jtensor.strided:
        raise refused("triangular_solve", (b, A))
    found = jtensor.triangular_solve(b, A.to_dense(), upper, transpose, unitriangular)
    return type(found)((found[0], b.new_empty(0)))


# -- element by element ------------------------------------------------------------------------------------------------


@both("ldexp")
def ldexp(input, other, *, out=None):
    """``input`` times two to the power of ``other``."""
    if not isinstance(other, jtensor.Tensor) or other.layout is not jtensor.strided or other.ndim == 0:
        raise RuntimeError(f"unsupported tensor layout: {kind_of(input)}")
    return jtensor.mul(input, jtensor.pow(2., other), out=out)


@both("ldexp_")
def ldexp_(input, other):
    return input.mul_(jtensor.pow(2., other))


@both("diff")
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Without a difference the tensor itself; there is no kernel for one."""
    if n == 0:
        return jtensor.zeros_like(input) + input if is_sparse(input) else input
    raise refused("as_strided", (input,)) if is_sparse(input) else without(input._layout.name, "strides")


@both("trapezoid", "trapz")
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The sum along a dimension, of whose ends a half counts."""
    if x is not None:
        raise refused("as_strided", (y, x))
    return (jtensor.sum(y, dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx


@both("pairwise_distance")
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The norms of the differences, which must be dense."""
    return jtensor.linalg.vector_norm(x1 - x2 + eps, p, -1, keepdim)


@both("dist")
def dist(input, other, p=2):
    return jtensor.norm(input - other, p)


# -- shapes ------------------------------------------------------------------------------------------------------------


@both("broadcast_tensors")
def broadcast_tensors(*tensors):
    """Tensors of one size; dense ones are expanded to it."""
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    size = jtensor.broadcast_shapes(*[tuple(x.shape) for x in tensors])
    return tuple([x if tuple(x.shape) == tuple(size) else x.expand(size) for x in tensors])


def _of_size(name, method, refusal):
    """A function that asks its second tensor for nothing but its size."""
    def of_size(self, other):
        if self.layout is not jtensor.strided:
            raise refusal(self)
        return getattr(self, method)(other.shape)
    both(name)(of_size)


_of_size("view_as", "view", lambda x: refused("view", (x,)))
_of_size("reshape_as", "reshape", lambda x: RuntimeError("reshape is not implemented for sparse tensors" if is_sparse(x) else
                                                         f"Sparse {x._layout.name[-3:].upper()} tensors do not have is_contiguous"))
_of_size("expand_as", "expand", lambda x: RuntimeError(f"expand is unsupported for {kind_of(x)} tensors"))


@both("column_stack")
def column_stack(tensors, *, out=None):
    return jtensor.hstack([x.reshape(x.numel(), 1) if x.ndim < 2 else x for x in tensors])


@both("dstack")
def dstack(tensors, *, out=None):
    return jtensor.cat([x.unsqueeze(-1) if x.ndim == 2 else x for x in tensors], 2)


@both("storage_offset")
def storage_offset(self):
    return 0


# -- functions of networks ---------------------------------------------------------------------------------------------

_KERNELS = {
    "adaptive_avg_pool2d": "_adaptive_avg_pool2d", "adaptive_avg_pool3d": "_adaptive_avg_pool3d",
    "adaptive_max_pool1d": "adaptive_max_pool2d", "adaptive_max_pool2d": "", "adaptive_max_pool3d": "", "binary_cross_entropy": "",
    "binary_cross_entropy_with_logits": "log_sigmoid_forward", "celu": "elu", "elu": "", "fold": "col2im", "glu": "", "hardsigmoid": "",
    "hardswish": "", "hardtanh": "", "huber_loss": "", "leaky_relu": "", "lp_pool1d": "avg_pool2d", "lp_pool2d": "avg_pool2d",
    "lp_pool3d": "avg_pool3d", "max_pool1d": "max_pool2d_with_indices", "max_pool2d": "max_pool2d_with_indices",
    "max_pool3d": "max_pool3d_with_indices", "mish": "", "mse_loss": "", "multi_margin_loss": "",
    "multilabel_margin_loss": "multilabel_margin_loss_forward", "multilabel_soft_margin_loss": "log_sigmoid_forward",
    "nll_loss": "nll_loss_forward", "relu6": "hardtanh", "selu": "elu", "silu": "", "smooth_l1_loss": "", "threshold": "",
    "unfold": "im2col", "logsigmoid": "log_sigmoid_forward", "softplus": "", "gelu": "", "softmin": "_softmax", "softmax": "_softmax",
    "log_softmax": "_log_softmax"}


def _without_kernel(name, kernel):
    def without_kernel(*args, **kwargs):
        raise of_compressed(kernel or name, args) if any(map(is_compressed, args)) else refused(kernel or name, args)
    both("nn.functional." + name)(without_kernel)


for _name, _kernel in _KERNELS.items():
    _without_kernel(_name, _kernel)
