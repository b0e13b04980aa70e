"""Values with a tangent: what differentiation forwards computes with.

Owns: `Dual`, a level whose values have two parts, the value itself and its tangent; the plan of an operation's tangent. Where an operator's
gradient is declared as formulas, the tangent is what these say, transposed, since they are linear in the gradient: so it is PyTorch's at
corners, too. Anything else is `jax.jvp` of the operation's function. A gradient that is owed to the outside of a level (`trace.lifted`) has
its roles turned: its tangent is the gradient of the value, and its value is that of the tangent.
May not know: tensors, graph nodes.
"""
import textwrap

import jax
import jax.numpy as jnp

from ..base.errors import missing
from ..trace import plan as plans
from ..trace import tape
from ..trace.lifted import Level, Lifted, beneath
from . import gradient, saves
from .operator import Operator


class Dual(Level):
    """``closed``: the level has ended, and of its values only they themselves count. ``plain``: it is PyTorch's own (`forward_ad`), and no
    level of a function of functions."""

    def __init__(self, depth=1, plain=False):
        super().__init__(depth, plain)
        self.closed, self.plain = False, plain

    def record(self, plan, values, scalars):
        mine = [v.position is tape.LIFTED and v.level is self for v in values]
        owed = any(flag and v.owed for v, flag in zip(values, mine, strict=True))
        primals = [v.parts[0] if flag else v for v, flag in zip(values, mine, strict=True)]
        results = tape.record(plan, primals, scalars)
        if self.closed and not owed and not self.awake:
            return results
        needs = _differentiable(plan, tuple([at for at, flag in enumerate(mine) if flag]))
        outs = _results(plan)
        if not needs or not outs:
            return results
        made, codes = tangent_plan(plan, needs, outs)
        saved = [primals[code] if code >= 0 else results[~code] for code in codes]
        tangents = tape.record(made, [*saved, *[values[at].parts[1] for at in needs]], scalars)
        for k, tangent in zip(outs, tangents, strict=True):
            results[k] = Lifted(self, (results[k], tangent), plan.outputs[k], owed)
        return results

    def seen(self, value, reason):
        return value.parts[0]

    def exported(self, value):
        if not self.closed:
            raise missing("memory that NumPy shares with a tensor that has a tangent", "unpack_dual(tensor).primal")
        return value.parts[0]

    def text(self, primal, tangent):
        if self.closed:
            return primal
        if self.plain:
            return None
        return f"GradTrackingTensor(lvl={self.depth}, value=\n{textwrap.indent(primal, '    ')}\n)"

    def left(self, value):
        return taken(self, value, 1)

    def entered(self, value):
        return joined(self, value, zeros(value.aval), True)


def _differentiable(plan, places):
    """Those of the inputs that have a derivative."""
    operator = plan.operator
    blocked = set()
    for name in operator.nondiff if operator is not None and plan.notes is not None else ():
        where = plan.notes.where.get(name) if isinstance(name, str) else None
        blocked.update(() if where is None else where if type(where) is tuple else (where,))
    return tuple([at for at in places if at not in blocked and plan.inputs[at].dtype.differentiable])


def _results(plan):
    """Those of the results that have one."""
    flags = plan.differentiable or [a.dtype.differentiable for a in plan.outputs]
    return tuple([k for k, flag in enumerate(flags) if flag])


def tangent_plan(plan, needs, outs):
    """(plan, codes): the plan takes what the codes name, an input or ``~`` a result each, then the tangents of the inputs ``needs``; it
    gives the tangents of the results ``outs``."""
    key = "tangent", needs, outs
    found = plan.vjps.get(key)
    if found is None:
        if isinstance(plan.operator, Operator) and plan.operator.grad is not None:
            codes, function = _by_formulas(plan, needs, outs)
        else:
            codes, function = tuple(range(len(plan.inputs))), _by_jvp(plan, needs, outs)
        inputs = tuple([plan.inputs[c] if c >= 0 else plan.outputs[~c] for c in codes]) + tuple([plan.inputs[at] for at in needs])
        made = plans.Plan(("jvp", plan.key, plan.inputs, needs, outs), function, inputs, tuple([plan.outputs[k] for k in outs]),
                          plan.scalar_kinds, plan.moves)
        found = plan.vjps[key] = made, codes
    return found


def _by_jvp(plan, needs, outs):
    count = len(plan.inputs)

    def function(*xs):
        primals, tangents, scalars = xs[:count], xs[count:count + len(needs)], xs[count + len(needs):]

        def forward(*chosen):
            full = list(primals)
            for at, x in zip(needs, chosen, strict=True):
                full[at] = x
            results = plan.function(*full, *scalars)
            return tuple([results[k] for k in outs])
        return jax.jvp(forward, [primals[at] for at in needs], list(tangents))[1]
    return function


def _by_formulas(plan, needs, outs):
    backward = gradient.backward_plan(plan, needs, outs)
    codes = tuple(saves.codes(plan, needs))
    count = len(codes)

    def function(*xs):
        saved, tangents, scalars = xs[:count], xs[count:count + len(needs)], xs[count + len(needs):]
        anywhere = [jnp.ones(plan.outputs[k].shape, plan.outputs[k].dtype.numpy) for k in outs]     # not 0, by which some choose
        _, transpose = jax.vjp(lambda *grads: backward.function(*grads, *saved, *scalars), *anywhere)
        given = [jnp.conj(t).astype(a.dtype.numpy) for t, a in zip(tangents, backward.outputs, strict=True)]
        return tuple([jnp.conj(x) for x in transpose(tuple(given))])
    return codes, function


# -- values of a level ------------------------------------------------------------------------------------------------


def zeros(a):
    """The Value of zeros."""
    key = "zeros", a
    plan = _zeros.get(key)
    if plan is None:
        plan = _zeros[key] = plans.Plan(key, lambda: (jnp.zeros(a.shape, a.dtype.numpy),), (), (a,))
    return tape.record(plan, ())[0]


_zeros = {}


def joined(level, primal, tangent, owed=False):
    """The value of the level that these two are."""
    inner = max([v.level for v in (primal, tangent) if beneath(v, level)], key=lambda found: found.serial, default=None)
    if inner is None:
        return Lifted(level, (primal, tangent), primal.aval, owed)
    parts = zip(_parts(inner, primal), _parts(inner, tangent), strict=True)
    mine = [v for v in (primal, tangent) if v.position is tape.LIFTED and v.level is inner]
    return Lifted(inner, tuple([joined(level, *pair, owed) for pair in parts]), primal.aval, any(v.owed for v in mine))


def _parts(level, value):
    """The parts of a value at a level, whether or not it is lifted there."""
    if value.position is tape.LIFTED and value.level is level:
        return value.parts
    if level.extra:
        return level.joined(value).parts
    return value, zeros(value.aval)


def taken(level, value, which):
    """One part of a value of the level: itself (0) or its tangent (1), which is None for a value that is not of the level."""
    if beneath(value, level):
        parts = [taken(level, part, which) for part in value.parts]
        if None in parts:
            return None
        return Lifted(value.level, tuple(parts), value.aval, value.owed)
    if value.position is tape.LIFTED and value.level is level:
        return value.parts[which]
    return None if which else value


def plain(value):
    """The value without tangents, of whichever levels; the very value where it has none."""
    if value.position is not tape.LIFTED or value.owed:
        return value
    if isinstance(value.level, Dual):
        return plain(value.parts[0])
    parts = [plain(part) for part in value.parts]
    if all(new is old for new, old in zip(parts, value.parts, strict=True)):
        return value
    return Lifted(value.level, tuple(parts), value.aval, value.owed)


__all__ = ["Dual", "joined", "plain", "taken", "tangent_plan", "zeros"]
