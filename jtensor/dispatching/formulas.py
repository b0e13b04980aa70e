"""Gradients as operators, where a tensor of a class that is asked below autograd arrives or was kept: formulas of numbers have none there.

Owns: the formulas, in the order of PyTorch's operations, which a class sees one by one, beside those that second backwards have already
(`tensor.replaying.differentiated`); which operator a view was. May not know: the walk over the graph, who is asked.
"""
import math
import weakref

import jtensor

from ..autograd import saved as saving
from ..autograd.graph import SECOND_TIME
from ..base.errors import missing
from ..ops import saves
from ..ops.operator import asked
from ..tensor.calling import overriding
from ..tensor.replaying import differentiated, replay
from ..tensor.viewing.views import ViewOperator
from ..trace.tape import LOCAL
from . import schemas
from .asking import CLASSES, ask

MADE_BY = weakref.WeakKeyDictionary()    # {the node of a view: (the operator, its further arguments)}


def _operator(name, *args):
    """An operator that has no public function."""
    return ask(*schemas.bound(name, list(args), {}))


def _nothing(grad):
    return jtensor.zeros_like(grad)


def _less_than_one(x):
    """1 - x, as C++ computes it."""
    return jtensor.empty_like(x).fill_(1).sub_(x)


def _clamp(grad, self, min, max):
    if min is not None and max is not None:
        there = (self >= min).logical_and_(self <= max)
    else:
        there = self >= min if min is not None else self <= max
    return _where(there, grad)


def _where(condition, grad):
    return jtensor.where(condition, grad, _number(0.0, grad))


def _number(value, like):
    return jtensor.full((), value, dtype=like.dtype, device=like.device)


def _power(grad, self, exponent):
    return _nothing(self) if exponent == 0 else grad * (self.pow(exponent - 1) * exponent).conj()


def _sinc(grad, self):
    turned = self * math.pi
    square = (self * self) * math.pi
    return jtensor.where(square == 0, _number(0.0, grad), grad * ((turned * turned.cos() - turned.sin()) / square))


def _larger(ahead):
    def formula(grad, self, other):
        both = jtensor.where(self == other, grad / 2, grad)
        return both.masked_fill_(ahead(self, other), 0)
    return formula


def _restored(x, dim, keepdim, ndim):
    """A result over dimensions with these again."""
    if not keepdim and ndim:
        for one in sorted(d % ndim for d in _dims(dim, ndim)):
            x = x.unsqueeze(one)
    return x


def _dims(dim, ndim):
    return (dim,) if isinstance(dim, int) else tuple(range(ndim)) if not dim else tuple(dim)


def _extreme(grad, self, result, dim, keepdim):
    there = self == _restored(result, dim, keepdim, self.ndim)
    grad = _restored(grad, dim, keepdim, self.ndim)
    return grad * there / there.sum(_dims(dim, self.ndim), keepdim=True)


def _mean(grad, shape, dim, keepdim):
    count = math.prod([shape[d] for d in _dims(dim, len(shape))])
    return _restored(grad, dim, keepdim, len(shape)).expand(shape) / count


def _norm(grad, self, result, ord, dim, keepdim):
    result, grad = _restored(result, dim, keepdim, self.ndim), _restored(grad, dim, keepdim, self.ndim)
    if ord == 0:
        return _zeros(grad, self.shape)
    if ord == 1:
        return self.sgn() * grad
    if ord == 2:
        return grad * (self / result).masked_fill_(result == 0, 0)
    if abs(ord) == math.inf:
        at = self.abs() == result
        return self.sgn() * (at / at.sum(_dims(dim, self.ndim), keepdim=True)) * grad
    return self * self.abs().pow(ord - 2).masked_fill_(self == 0, 0) * (grad / result.pow(ord - 1)).masked_fill_(result == 0, 0)


def finite(x):
    """`isfinite`, which PyTorch makes of other operators."""
    return (x == x) * (x.abs() != math.inf)


def _zeros(grad, shape):
    return jtensor.zeros(shape, dtype=grad.dtype, device=grad.device)


def _indexed(grad, shape):
    grad.new_zeros(shape)                                           # which most classes refuse
    raise missing("the gradient of an index as operators", "index_select")


def _columns(grad, shape, kernel_size, dilation, padding, stride):
    return jtensor.ops.aten.col2im(grad, list(shape[-2:]), kernel_size, dilation, padding, stride)


def _same(grad):
    return grad


_ROUNDED = dict.fromkeys(("ceil", "floor", "trunc", "round_whole", "round_places", "sign"), {"self": _nothing})
FORMULAS = {
    **_ROUNDED, **dict.fromkeys(("frac", "fmod_Scalar", "remainder_Scalar"), {"self": _same}),
    **dict.fromkeys(("clone", "contiguous_copy"), {"input": _same, "self": _same}),
    "neg": {"self": lambda grad: grad.neg()},
    "abs": {"self": lambda grad, self: grad * self.sgn()},
    "angle": {"self": lambda grad, self: _nothing(self)},
    "acosh": {"self": lambda grad, self: grad * (self.pow(2) - 1).rsqrt()},
    "atanh": {"self": lambda grad, self: grad * (1 / _less_than_one(self.pow(2)))},
    "clamp_Scalar": {"self": _clamp},
    "cos": {"self": lambda grad, self: grad * -self.sin()},
    "cosh": {"self": lambda grad, self: grad * self.sinh()},
    "deg2rad": {"self": lambda grad: grad * (math.pi / 180)},
    "rad2deg": {"self": lambda grad: grad * (180 / math.pi)},
    "exp": {"self": lambda grad, result: grad * result},
    "exp2": {"self": lambda grad, result: grad * result * math.log(2)},
    "expm1": {"self": lambda grad, result: grad * (result + 1)},
    "i0": {"self": lambda grad, self: grad * jtensor.special.i1(self)},
    "log": {"self": lambda grad, self: grad.div(self)},
    "log10": {"self": lambda grad, self: grad / (self * math.log(10))},
    "log1p": {"self": lambda grad, self: grad / (self + 1)},
    "log2": {"self": lambda grad, self: grad / (self * math.log(2))},
    "logit": {"self": lambda grad, self, eps: _operator("logit_backward", grad, self, eps)},
    "nan_to_num": {"self": lambda grad, self: grad * finite(self)},
    "reciprocal": {"self": lambda grad, result: -grad * (result * result)},
    "sigmoid": {"self": lambda grad, result: _operator("sigmoid_backward", grad, result)},
    "tanh": {"self": lambda grad, result: _operator("tanh_backward", grad, result)},
    "sin": {"self": lambda grad, self: grad * self.cos()},
    "sinh": {"self": lambda grad, self: grad * self.cosh()},
    "sinc": {"self": _sinc},
    **dict.fromkeys(("sgn", "eq", "ne", "lt", "le", "gt", "ge"), {"self": _zeros, "other": _zeros}),
    "index.raw": {"self": _indexed},
    "im2col": {"self": _columns},
    "copy": {"self": _nothing, "src": _same},
    "_to_copy": {"self": _same},
    "_conj_physical": {"self": lambda grad: grad.conj()},
    "add": {"self": _same, "other": lambda grad, alpha: grad if alpha == 1 else grad * alpha},
    "mul": {"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self},
    "sub": {"self": _same, "other": lambda grad, alpha: -grad if alpha == 1 else -grad * alpha},
    "tan": {"self": lambda grad, result: grad * (result.pow(2) + 1)},
    **dict.fromkeys(("pow_Tensor_Scalar", "pow_Tensor_Number"), {"self": _power}),
    "pow_Scalar": {"exponent": lambda grad, self, result: grad * (result * math.log(self))},
    "logaddexp": {"self": lambda grad, self, other: grad / ((other - self).exp() + 1),
                  "other": lambda grad, self, other: grad / ((self - other).exp() + 1)},
    "logaddexp2": {"self": lambda grad, self, other: grad / (jtensor.pow(2, other - self) + 1),
                   "other": lambda grad, self, other: grad / (jtensor.pow(2, self - other) + 1)},
    "remainder_Tensor": {"self": _same, "other": lambda grad, self, other: -grad * self.div(other, rounding_mode="floor")},
    "nextafter": {"self": lambda grad, self, other: _where(self == other, grad), "other": lambda grad, self, other: _where(
        self == other, grad)},
    "maximum": {"self": _larger(lambda self, other: self < other), "other": _larger(lambda self, other: self > other)},
    "minimum": {"self": _larger(lambda self, other: self > other), "other": _larger(lambda self, other: self < other)},
    "fmax": {"self": lambda grad, self, other: grad.masked_fill((self >= other).logical_or_(other.isnan()).logical_not_(), 0),
             "other": lambda grad, self, other: grad.masked_fill((self >= other).logical_or_(other.isnan()), 0)},
    "fmin": {"self": lambda grad, self, other: grad.masked_fill((self <= other).logical_or_(other.isnan()).logical_not_(), 0),
             "other": lambda grad, self, other: grad.masked_fill((self <= other).logical_or_(other.isnan()), 0)},
    "where_self": {"self": lambda grad, condition: _where(condition, grad),
                   "other": lambda grad, condition: jtensor.where(condition, _number(0.0, grad), grad)},
    "masked_fill.Scalar": {"self": lambda grad, mask: grad.masked_fill(mask, 0)},
    **dict.fromkeys(("amax", "amin"), {"self": _extreme}),
    "mean_all": {"self": lambda grad, shape: grad.expand(shape) / math.prod(shape)},
    "mean_dim": {"self": _mean},
    "linalg_vector_norm": {"self": _norm},
    "_softmax": {"self": lambda grad, result, dim: _operator("_softmax_backward_data", grad, result, dim, result.dtype)},
    "_log_softmax": {"self": lambda grad, result, dim: _operator("_log_softmax_backward_data", grad, result, dim, result.dtype)},
}


def concerns(node, grads):
    """Whether a tensor arrives, or was kept, whose class is asked."""
    return any(type(grad) in CLASSES for grad in grads) or any(
        type(entry) is tuple and type(entry[0]) in CLASSES for entry in node.saved or ())


def gradients(node, grads):
    """The gradients of a node's inputs, by operators."""
    with overriding.switched(overriding.NO_SUBCLASSES):
        return _gradients(node, grads)


def _gradients(node, grads):
    plan, answers = node.plan, [None] * len(node.edges)
    if node.saved is None:
        raise RuntimeError(SECOND_TIME)
    if len(grads) > 1 and any(grad is not None for grad in grads[1:]):
        raise _unknown(plan)
    grad = replay.fitted(grads[0], plan.spec if plan.spec is not None else plan.specs[0])
    made = plan.inverse(grad, node) if plan.inverse is not None else None
    if made is None:
        made = [_of_view(node, grad)] if isinstance(plan.operator, ViewOperator) else _by_formula(node, grad)
    for at, one in zip(node.needs, made, strict=True):
        answers[at] = one if one is None else replay._shaped(one, plan.inputs[at])
    return answers


def _unknown(plan):
    return missing(f"the gradient of {plan.operator.name} as operators, which __torch_dispatch__ of a class is asked for",
                   "__torch_function__, which is asked above autograd")


def _of_view(node, grad):
    """The gradient of a view that is no view itself: of a piece, zeros but there."""
    name, args = MADE_BY.get(node, ("", ()))
    if name not in _PIECES:
        raise _unknown(node.plan)
    args = [*args, *_PIECES[name][len(args):]]
    if name == "slice":
        args[1:3] = args[1] or 0, _END if args[2] is None else args[2]
    return _operator(f"{name}_backward", grad, list(node.plan.inputs[0].shape), *args)


_PIECES = {"select": (), "slice": (0, None, None, 1), "unfold": (), "diagonal": (0, 0, 1)}                 # their arguments' defaults
_END = (1 << 63) - 1


def remember(made, found):
    """Which operator a view of a class was, for the gradient."""
    if type(made) in CLASSES and made._edge is not None and isinstance(getattr(getattr(
            made._edge[0], "plan", None), "operator", None), ViewOperator):
        overload, (_, *args), _ = found
        MADE_BY[made._edge[0]] = overload.overloadpacket.__name__, args


def _by_formula(node, grad):
    plan = node.plan
    for name, formula in (getattr(plan.operator, "grad", None) or {}).items():
        if getattr(formula and formula[0], "never", None) is not None and plan.notes.where.get(name) in node.needs:
            raise formula[0].never("")
    formulas = FORMULAS.get(plan.operator.name) or differentiated.FORMULAS.get(plan.operator.name) or {}
    at = {plan.notes.where[name]: formula for name, formula in formulas.items() if name in plan.notes.where}
    if any(one not in at for one in node.needs):
        raise _unknown(plan)
    return [at[one](*[grad if name == "grad" else _asked_for(node, name) for name in asked(at[one])]) for one in node.needs]


def _asked_for(node, name):
    """What a formula asks for: an input or the result as the class has it, or a number."""
    plan = node.plan
    if name == "shape":
        return tuple(plan.inputs[plan.notes.where["self"]].shape)
    code = ~0 if name == "result" else plan.notes.where.get(name)
    if code is None:
        return plan.notes.template[plan.operator.by_name[name]]
    if name != "result" and code < 0:
        return node.scalars[~code]
    entry = node.saved[saves.codes(plan, node.needs).index(code)]
    if type(entry) is not tuple or type(entry[0]) not in CLASSES:
        return replay.saved_tensor(node, code)
    tensor, version = entry
    if tensor._counter.version != version:
        raise saving.modified(tensor._counter, version, tensor._spec, saving.edge_now(tensor) if code >= 0 else saving.of_result(
            node, ~code), node.site)
    if code < 0 and LOCAL.grad_enabled:
        tensor._edge, tensor._requires_grad = (node, ~code), True
    return tensor


def keep(node, code, tensor):
    """Has a node keep a tensor of a class in the place of what the engine keeps."""
    at = saves.codes(node.plan, node.needs).index(code)
    node.saved[at] = tensor, tensor._counter.version
