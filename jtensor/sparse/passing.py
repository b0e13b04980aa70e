"""Sparse gradients through the backward of dense functions: an embedding's, whose table is made of the parameter.

Owns: `through`, which the backward of a recorded operator asks where a sparse gradient has come to it. Of a function that goes element by
element the gradient is a product with its derivative, which is what the formula makes of ones; so the result has the places of what came,
each as often as it was there. May not know: formulas.
"""
import jtensor

from ..base.errors import missing
from ..tensor.viewing.views import ViewOperator
from .refusals import refused

# Element by element, though what they make does not lie as PyTorch lays out such results.
_BY_ELEMENTS = frozenset(("pow_Scalar", "nan_to_num"))
_ZERO = frozenset("floor ceil trunc sign round round_whole".split())
_RESHAPED = frozenset("view reshape unsafeview flatten unflatten reshapealias".split())
_STRIDED = frozenset("slice narrow split unbind chunk unfold asstrided diagonal unsqueeze".split())


def through(node, grad, rules):
    """The gradients of a node's inputs for a sparse one of its result; ``rules``: what the node makes of dense ones. RuntimeError for a
    view of which PyTorch has no gradient either."""
    plan, operator = node.plan, node.plan.operator
    if node.saved is None:
        return rules(node, [grad.to_dense()])                                              # which says that it is gone
    if isinstance(operator, ViewOperator):
        name = operator.name.removesuffix("Backward0").lower()
        return [_through_view(name, grad, tuple(plan.inputs[0].shape), tuple(plan.outputs[0].shape))]
    if operator.name == "clone":
        return [grad]
    made = plan.inverse(grad, node) if plan.inverse is not None else None                  # of public functions, which take sparse tensors
    if made is not None:
        return _placed(node, [x if x is None else x.sum_to_size(plan.inputs[at].shape) for at, x in zip(node.needs, made, strict=True)])
    if operator.layout != "pointwise" and operator.name not in _BY_ELEMENTS:
        raise missing(f"a sparse gradient through {operator.backward}", "sparse=False, or a function that goes element by element")
    if operator.name in _ZERO:
        return [jtensor.zeros_like(grad)]
    if operator.name == "div_Tensor" and node.needs == (0,) and len(plan.notes.specs) == 1:
        return _placed(node, [grad / node.scalars[0]])
    return _by_derivatives(node, grad, rules, tuple(plan.spec.size))


def _placed(node, made):
    answers = [None] * len(node.edges)
    for at, x in zip(node.needs, made, strict=True):
        answers[at] = x
    return answers


def _by_derivatives(node, grad, rules, size):
    factors = rules(node, [jtensor.ones(size, dtype=node.plan.spec.dtype)])
    whole = factors
    if any(x is not None and tuple(x.shape) != size for x in factors):
        whole = rules(node, [grad.to_dense()])                      # of an operand that was expanded: a sum, which is dense
    return [x if x is None or tuple(factor.shape) != size else (grad if grad.dtype is factor.dtype else grad.to(factor.dtype)) * factor
            for x, factor in zip(whole, factors, strict=True)]


def _through_view(name, grad, own, seen):
    if name in ("alias", "expand", "squeeze") and own == seen:
        return grad
    if name == "expand":
        return grad.sum_to_size(own)
    if name in _RESHAPED:
        raise RuntimeError("reshape is not implemented for sparse tensors")
    if name == "t":
        return grad.t()
    if len(own) == 2 and own[0] != own[1] and name in ("transpose", "permute"):
        return grad if own == seen else grad.transpose(0, 1) if name == "transpose" else grad.permute(1, 0)
    if name in _STRIDED:
        raise refused("as_strided", (grad,))
    if name == "select":
        raise refused("select_backward", (grad,))
    raise missing(f"a sparse gradient through {name}", "sparse=False, or the view made of the result")


def summed_to(x, size):
    """A sparse tensor summed to a size to which it could be expanded: over the dimensions that are longer there."""
    size, more = tuple(size), x.ndim - len(tuple(size))
    if size == tuple(x.shape):
        return x
    dims = [d for d in range(x.ndim) if d < more or size[d - more] == 1 != x.shape[d]]
    if not dims or any(size[d - more] != x.shape[d] for d in range(more, x.ndim) if d not in dims):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(x.shape)}}}.")
    made = x.sum(dims, True)
    for _ in range(more):
        made = made.select(0, 0)
    return made

