"""Cholesky factors of positive definite matrices, and what is solved and inverted by them.

Owns: the composites that check and look at what came of the factorization (`factor`), and the operators that begin with a factor.
May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import sites
from ..operator import RAW, Tensor, op
from ..registry import composite
from . import factor
from .composing import put_out
from .factor import adjoint, product, together
from .matrices import checked, floating, singular, square
from .right_sides import fitting


def _not_positive(name):
    return lambda k: (name, "The factorization could not be completed because the input is not positive-definite (the leading minor of "
                      f"order {k} is not positive-definite).")


@composite("linalg_cholesky_ex", **RAW, asked=True)
def linalg_cholesky_ex(input, *, upper=False, check_errors=False, out=None):
    """The Cholesky factor and, instead of an exception, the order of the first minor that is not positive (0: none).

    >>> torch.linalg.cholesky_ex(torch.diag(torch.tensor([4., -1.]))).info
    tensor(2, dtype=torch.int32)
    """
    square("linalg.cholesky", input)
    made = factor.cholesky_ex_raw(input, bool(upper))
    if check_errors:
        checked(made[1], _not_positive("linalg.cholesky_ex"))
    return put_out("linalg_cholesky_ex", made, out)


@composite("linalg_cholesky", **RAW, asked=True)
def linalg_cholesky(A, *, upper=False, out=None):
    """The triangular factor of positive-definite matrices; ``LinAlgError`` if one is not.

    >>> torch.linalg.cholesky(torch.tensor([[4.]]))
    tensor([[2.]])
    """
    square("linalg.cholesky", A)
    made = factor.cholesky_ex_raw(A, bool(upper))
    checked(made[1], _not_positive("linalg.cholesky"))
    return put_out("linalg_cholesky", made[0], out)


@op(name="cholesky.empty", backward="CholeskyBackward0", grad={"self": lambda grad: grad}, **RAW)
def cholesky_empty(self: Tensor):
    """That of matrices without elements, whatever their shape."""
    return jnp.zeros_like(self)


@composite(asked=True)
def cholesky(input, upper=False, *, out=None):
    """The triangular factor of positive-definite matrices.

    >>> torch.cholesky(torch.tensor([[4.]]))
    tensor([[2.]])
    """
    sites.warn_once("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\n"
                    "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\n"
                    "should be replaced with\nU = torch.linalg.cholesky(A).mH\n"
                    "This transform will produce equivalent results for all valid (symmetric positive definite) inputs.")
    if not input._spec.numel:                                        # PyTorch asks no more of it then
        return put_out("cholesky", cholesky_empty(input), out)
    square("cholesky", input)
    made = factor.cholesky_raw(input, bool(upper))
    checked(made[1], _not_positive("cholesky"))
    return put_out("cholesky", made[0], out, copied=True)


def _factor_gradient(symmetric, triangle, upper):
    """Of a function of ``L L^H``, whose gradient by that is ``symmetric``: as PyTorch has it, both triangles of the factor get one."""
    return product(triangle, symmetric) if upper else product(symmetric, triangle)


def _by_factor(b, u, upper):
    return _factored(*together(b, u), upper)


def _factored(b, u, upper):
    """The solution for a matrix given by its factor; its derivatives, of every order and both ways, have both triangles: they are those of
    the product of the factors."""
    def multiplied(x):
        return product(adjoint(u), product(u, x)) if upper else product(u, product(adjoint(u), x))

    def solved(_, b):
        solve = lax.linalg.triangular_solve
        first = solve(u, b, left_side=True, lower=not upper, transpose_a=upper, conjugate_a=upper)
        return solve(u, first, left_side=True, lower=not upper, transpose_a=not upper, conjugate_a=not upper)

    def solved_turned(_, b):
        return jnp.conj(solved(_, jnp.conj(b)))
    return lax.custom_linear_solve(multiplied, b, solved, solved_turned)


def _solved_factor(grad, input2, result, upper):
    g, x, u = together(_by_factor(grad, input2, upper), result, input2)
    both = product(g, adjoint(x))
    return _factor_gradient(-(both + adjoint(both)), u, upper)


@op(name="cholesky_solve.raw", layout="columns", backward="CholeskySolveBackward0", grad={
    "self": lambda grad, input2, upper: _by_factor(grad, input2, upper), "input2": _solved_factor}, **RAW)
def cholesky_solve_raw(self: Tensor, input2: Tensor, upper=False):
    """The solution of ``A X = B`` for a matrix given by its Cholesky factor."""
    return _by_factor(self, input2, upper)


@composite(asked=True)
def cholesky_solve(input, input2, upper=False, *, out=None):
    """The solution of ``A X = input`` for the matrix whose Cholesky factor is ``input2``.

    >>> torch.cholesky_solve(torch.tensor([[8.]]), torch.tensor([[2.]]))
    tensor([[2.]])
    """
    for name, t in (("b", input), ("u", input2)):
        if t._spec.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t._spec.ndim} dimensions instead")
    fitting("cholesky_solve", input, input2)
    floating("cholesky_solve", input2._spec)
    return put_out("cholesky_solve", cholesky_solve_raw(input, input2, bool(upper)), out, copied=True)


def _inverse_factor(grads, self, result0, upper):
    grad = grads[0]
    return _factor_gradient(-product(product(result0, grad + adjoint(grad)), result0), self, upper)


@op(name="cholesky_inverse.raw", layout="columns", backward="CholeskyInverseBackward0", nondiff=(1,), outputs=("inverse", "info"),
    grad={"self": _inverse_factor}, **RAW)
def cholesky_inverse_raw(self: Tensor, upper=False):
    """(the inverse of a matrix given by its Cholesky factor, the first zero on the factor's diagonal or 0)."""
    eye = jnp.broadcast_to(jnp.eye(self.shape[-1], dtype=self.dtype), self.shape)
    half = lax.linalg.triangular_solve(self, eye, left_side=True, lower=not upper)
    return product(half, adjoint(half)) if upper else product(adjoint(half), half), factor.lu_info(self)


@composite(asked=True)
def cholesky_inverse(input, upper=False, *, out=None):
    """The inverse of the matrix whose Cholesky factor is ``input``; ``LinAlgError`` for a zero on its diagonal.

    >>> torch.cholesky_inverse(torch.tensor([[2.]]))
    tensor([[0.2500]])
    """
    square("cholesky_inverse", input)
    made = cholesky_inverse_raw(input, bool(upper))
    checked(made[1], singular("cholesky_inverse"))
    return put_out("cholesky_inverse", made[0], out)
