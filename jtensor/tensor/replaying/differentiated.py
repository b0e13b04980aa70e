"""Gradients in terms of tensors, for backward passes that are differentiated again (`create_graph`).

Of a formula such as ``grad / (self * self + 1)`` PyTorch's second backward sees each operation: the quotient keeps the divisor that was
computed, the product the tensor itself. It shows where ``.data`` is written to in between, in the names of nodes, and in what may not be
written to. So operators whose formula computes more than one thing of what was saved have it here once more, of tensors, one operation
after the other as PyTorch has it. What one operation says is left to `tensor.replaying.replay`. May not know: the walk over the graph.
"""
import functools
import math

from ...ops import raw
from ...ops.operator import asked
from ..lifted.batching import is_batch


def _quotient_by(grad, self, other):
    return -grad * ((self / other) / other).conj()


def _from_angle(self, other):
    return (self * self + other * other).reciprocal().masked_fill((self == 0) & (other == 0), 0)


def _power_by_number(grad, self, exponent):
    return grad * (exponent * self.pow(exponent - 1)).conj() if exponent != 0 else _nothing(grad, self)


def _nothing(grad, self):
    """Zeros for a tensor, without a history: made of what arrives, as whose gradient they leave a level (`tensor.lifted.levels`)."""
    return raw.fill(grad.detach().expand(self.shape), 0)


def _power_of(grad, self, exponent):
    slope = grad * (exponent * self.pow(exponent - 1)).conj()
    return _zero_where(exponent == 0, slope)


def _power_by(grad, self, exponent, result):
    slope = (result * self.log()).conj()
    known = exponent >= 0 if not exponent.is_complex() else (exponent.imag == 0) & (exponent.real >= 0)
    return grad * _zero_where((self == 0) & known, slope)


def _zero_where(condition, otherwise):
    return otherwise.new_zeros(()).where(condition, otherwise)


def _conj(x):
    return x.conjugate() if isinstance(x, (bool, int, float, complex)) else x.conj()


def _along(x, dim, keepdim, like):
    """A result over ``dim`` with these dimensions again."""
    if keepdim or not like.ndim:
        return x
    dims = (dim,) if isinstance(dim, int) else tuple(dim) or tuple(range(like.ndim))
    for d in sorted(d % like.ndim for d in dims):
        x = x.unsqueeze(d)
    return x


def _log_of_sum(grad, self, result, dim, keepdim):
    return _along(grad, dim, keepdim, self) * (self - _along(result, dim, keepdim, self)).exp().conj()


def _silu(grad, self):
    s = self.sigmoid()
    return grad * s * (1.0 + self * (1.0 - s))


def _acosh(grad, self):
    if self.is_complex():
        return grad * ((self + 1).rsqrt() * (self - 1).rsqrt()).conj()
    return grad * (self.pow(2) - 1).rsqrt()


def _logit(grad, self, eps):
    low, outside = (0.0, math.nan) if eps is None else (eps, 0.0)
    return (grad / (self * (1.0 - self))).where((self >= low) & (self <= 1.0 - low), grad.new_full((), outside))


def _log_times(grad, self, other):
    return grad.xlogy(other).masked_fill((self == 0) & (other <= 0), 0)


def _log1p_times(grad, self, other):
    return raw.special_xlog1py(grad, other).masked_fill((self == 0) & (other <= -1), 0)


def _product_gradient(grad, self, result):
    if not self.ndim:
        return grad
    self = self.to(grad.dtype)
    if _without_zero(self):
        return grad * (result / self).conj()
    return _times_others(grad, self.contiguous().view(-1), 0).view_as(self)


def _product_gradient_along(grad, self, result, dim, keepdim):
    if not self.ndim:
        return grad
    self = self.to(grad.dtype)
    if not keepdim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    return grad * (result / self).conj() if _without_zero(self) else _times_others(grad, self, dim)


def _without_zero(self):
    """Whether PyTorch divides by these factors: it looks at them, for what its graph is depends on it; not at those of a batch."""
    return not self.is_meta and not is_batch(self) and bool((self.detach() != 0).all())


def _times_others(grad, self, dim):
    """The gradient times the products of all other factors along ``dim``, without division or the result."""
    n = self.shape[dim]
    if not self.numel():
        return _nothing(grad, self)
    if n == 1:
        return grad
    first = self.narrow(dim, 0, n - 1)
    one = grad.new_ones(()).expand_as(self.narrow(dim, 0, 1))
    before = raw.cat([one, first], dim).cumprod(dim)
    after = raw.cat([one, self.narrow(dim, 1, n - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return grad * (before * after).conj()


# {operator: {parameter: its gradient}}; the parameters of a formula are `grad`, `result` and the operator's own.
FORMULAS = {
    "div_Tensor": {"self": lambda grad, other: grad / _conj(other), "other": _quotient_by},
    "addcdiv": {"self": lambda grad: grad,
                "tensor1": lambda grad, tensor2, value: grad * (grad.new_full((), value) / tensor2).conj(),
                "tensor2": lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)).conj()},
    "lerp_Tensor": {"self": lambda grad, weight: grad * (1 - weight).conj(), "end": lambda grad, weight: grad * weight.conj(),
                    "weight": lambda grad, self, end: grad * (end - self).conj()},
    "fmod_Tensor": {"self": lambda grad: grad, "other": lambda grad, self, other: -grad * self.div(other, rounding_mode="trunc")},
    "hypot": {"self": lambda grad, self, result: grad * self / result, "other": lambda grad, other, result: grad * other / result},
    "atan2": {"self": lambda grad, self, other: grad * other * _from_angle(self, other),
              "other": lambda grad, self, other: grad * -self * _from_angle(self, other)},
    "xlogy_Tensor": {"self": _log_times, "other": lambda grad, self, other: grad * self / other},
    "xlogy_Scalar_Self": {"other": lambda grad, self, other: grad * self / other},
    "pow_Tensor_Scalar": {"self": _power_by_number},
    "pow_Tensor_Number": {"self": _power_by_number},
    "pow_Tensor_Tensor": {"self": _power_of, "exponent": _power_by},
    "sqrt": {"self": lambda grad, result: grad / (2 * result.conj())},
    "rsqrt": {"self": lambda grad, result: -0.5 * grad * result.pow(3).conj()},
    "asin": {"self": lambda grad, self: grad * (-self * self + 1).rsqrt().conj()},
    "acos": {"self": lambda grad, self: grad * -(-self * self + 1).rsqrt().conj()},
    "atan": {"self": lambda grad, self: grad / (self * self + 1).conj()},
    "asinh": {"self": lambda grad, self: grad * (self.pow(2) + 1).rsqrt().conj()},
    "acosh": {"self": _acosh},
    "atanh": {"self": lambda grad, self: grad * 1 / (1 - self.pow(2)).conj()},
    "erf": {"self": lambda grad, self: 2 / math.sqrt(math.pi) * (-self.pow(2)).exp() * grad},
    "erfc": {"self": lambda grad, self: -2 / math.sqrt(math.pi) * (-self.pow(2)).exp() * grad},
    "erfinv": {"self": lambda grad, self: 0.5 * math.sqrt(math.pi) * self.erfinv().pow(2).exp() * grad},
    "lgamma": {"self": lambda grad, self: grad * self.digamma()},
    "digamma": {"self": lambda grad, self: grad * self.polygamma(1)},
    "polygamma_of": {"self": lambda grad, self, n: grad * self.polygamma(n + 1)},
    **dict.fromkeys(("xlog1py_Tensor", "xlog1py_Scalar_Self", "xlog1py_Scalar_Other"), {
        "self": _log1p_times, "other": lambda grad, self, other: grad * self / (other + 1)}),
    "silu": {"self": _silu},
    "logit": {"self": _logit},
    "logsumexp": {"self": _log_of_sum},
    "prod_all": {"self": _product_gradient},
    "prod_dim": {"self": _product_gradient_along},
}


@functools.cache
def _formulas_of(operator):
    """{parameter: (formula, names it asks for)} of an operator, or None."""
    found = FORMULAS.get(getattr(operator, "name", None)) if getattr(operator, "grad", None) is not None else None
    return found and {name: (formula, asked(formula)) for name, formula in found.items()}


def gradients(node, grad, fit):
    """The gradients of the inputs that a node's plan needs, by operations on tensors; None where there are no formulas for them here."""
    plan = node.plan
    formulas = _formulas_of(plan.operator)
    if formulas is None or not plan.outputs[0].dtype.differentiable:
        return None
    where = plan.notes.where
    wanted = {where[name]: formula for name, formula in formulas.items() if name in where}
    if any(at not in wanted for at in node.needs):
        return None
    answers = [None] * len(node.edges)
    for at in node.needs:
        formula, names = wanted[at]
        answers[at] = fit(formula(*[grad if name == "grad" else _asked_for(node, name) for name in names]), plan.inputs[at])
    return answers


def _asked_for(node, name):
    """What a formula asks for: the result, an input or a number, as a tensor with its history where it was one."""
    if name == "result":
        return node.saved_tensor(~0)
    where = node.plan.notes.where.get(name)
    if where is None:
        return node.plan.notes.template[node.plan.operator.by_name[name]]
    return node.saved_tensor(where) if where >= 0 else node.scalars[~where]
