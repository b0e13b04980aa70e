"""The function of a backward: from the gradients that arrived and what was saved to the gradients of the inputs.

It replays the operator's own function through `jax.vjp`, or evaluates the operator's formulas, or puts pieces together. Inputs that are not
saved stand as zeros in the replay, since by declaration the gradient does not depend on them. May not know: plans of backwards, tensors,
graph nodes.
"""
import jax
import jax.numpy as jnp

from ..trace.spec import aval
from .build import argument_dtype, cast_to
from .double import takes_part


def touches(where, positions):
    """Whether a parameter's arrays, which are at ``where`` among the inputs, have one in common with ``positions``."""
    if where is None:
        return False
    if type(where) is tuple:
        return any(w in positions for w in where)
    return where in positions


def whole(plan, at):
    """The aval of an input's gradient as its formula makes it."""
    a = plan.inputs[at]
    return aval(tuple(a.shape), plan.outputs[0].dtype, a.device) if takes_part(plan, at) else a


def _unpack(plan, defined, codes, xs):
    """The backward's inputs by role: cotangents of all outputs (None where undefined), saved by code, scalars."""
    cotangents = [None] * len(plan.outputs)
    for k, x in zip(defined, xs, strict=False):
        cotangents[k] = x
    at = len(defined)
    values = dict(zip(codes, xs[at:at + len(codes)], strict=True))
    return cotangents, values, xs[at + len(codes):]


def _zeros(a):
    return jnp.zeros(a.shape, a.dtype.numpy)


def _is_complex(x):
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def by_vjp(plan, needs, defined, codes):
    """Replays the function through `jax.vjp`; PyTorch's complex gradient is the conjugate of JAX's, but of what only moves numbers, a view
    or an assignment: the zeros that it leaves would be 0 - 0j."""
    conj = (lambda x: x) if plan.moves or getattr(plan.operator, "overwrites", False) else (lambda x: jnp.conj(x) if _is_complex(x) else x)
    def function(*xs):
        cotangents, values, scalars = _unpack(plan, defined, codes, xs)
        primals = [values[i] if i in values else _zeros(a) for i, a in enumerate(plan.inputs)]

        def forward(*chosen):
            full = list(primals)
            for at, x in zip(needs, chosen, strict=True):
                full[at] = x
            outs = plan.function(*full, *scalars)
            return [outs[k] for k in defined]

        _, pull = jax.vjp(forward, *[primals[at] for at in needs])
        return tuple(map(conj, pull([conj(cotangents[k]) for k in defined])))
    return function


def by_joining(plan, defined):
    """Puts the gradients of a tensor's pieces together, with zeros for those that have none."""
    def function(*xs):
        cotangents, _, _ = _unpack(plan, defined, (), xs)
        return (plan.joined([_zeros(a) if c is None else c for c, a in zip(cotangents, plan.outputs, strict=True)]),)
    return function


def formula_alone(plan, at, defined, codes):
    """The formula of one input's gradient, whose answer is left as it is."""
    return by_formulas(plan, (at,), defined, codes, False)


def by_formulas(plan, needs, defined, codes, fit=True):
    """Evaluates the operator's formulas and sums each answer to its input's shape."""
    operator, signature = plan.operator, plan.notes
    target = signature.common.numpy if signature.common is not None else None

    def function(*xs):
        cotangents, values, scalars = _unpack(plan, defined, codes, xs)
        cotangents = [_zeros(a) if c is None else c for c, a in zip(cotangents, plan.outputs, strict=True)]

        def array(at, name):
            x = values[at] if at in values else None
            if x is None:
                return None
            cast = argument_dtype(operator, name, signature.template[operator.by_name[name]], target)
            return x if cast is None else cast_to(x, cast)

        def asked(name):
            if name == "grad":
                return cotangents[0]
            if name == "grads":
                return cotangents
            if name == "result":
                return values[~0]
            if name == "results":
                return [values.get(~k) for k in range(len(plan.outputs))]
            if name.startswith("result") and name[6:].isdigit():
                return values[~int(name[6:])]
            if name == "needs":
                return needs
            if name == "defined":
                return defined
            if name == "shapes":
                return [a.shape for a in plan.inputs]
            where = signature.where.get(name)
            if where is None:
                return signature.template[operator.by_name[name]]
            if type(where) is tuple:
                return [array(w, name) for w in where]
            if where < 0:
                x = scalars[~where]
                tensor_like = operator.parameters[operator.by_name[name]].kind.name == "TensorOrNumber"
                cast = argument_dtype(operator, name, signature.template[operator.by_name[name]], target) if tensor_like else None
                return x if cast is None else cast_to(x, cast)
            return array(where, name)

        answers = {}
        for name, formula in operator.grad.items():
            where = signature.where.get(name)
            if where is None or not touches(where, needs):
                continue
            answer = formula[0](*[asked(n) for n in formula[1]])
            for at, x in zip(where, answer, strict=True) if type(where) is tuple else ((where, answer),):
                answers[at] = x
        return tuple([_fit(answers[at], whole(plan, at)) if fit else answers[at] for at in needs])
    return function


def _fit(x, a):
    """A formula's answer summed over broadcast dimensions and cast to the input's type."""
    if x.ndim > len(a.shape):
        x = x.sum(tuple(range(x.ndim - len(a.shape))))
    axes = tuple(d for d, (n, m) in enumerate(zip(x.shape, a.shape, strict=True)) if n != m and m == 1)
    if axes:
        x = x.sum(axes, keepdims=True)
    if x.shape != tuple(a.shape):
        x = jnp.broadcast_to(x, a.shape)
    return cast_to(x, a.dtype.numpy)
