"""What the node of an operation saves: which of its inputs and results, as the declaration says, or as its backward reads them.

Owns: `codes`. May not know: tensors, graph nodes, how a value is kept.
"""
import jax

from ..base.errors import real_only
from ..trace import plan as plans
from .double import is_number, parameter_at
from .operator import Operator
from .pullback import by_vjp, touches


def codes(plan, needs):
    """What a node of this plan saves if these inputs (a tuple of positions) need gradients: codes i (input) or ~k (output k)."""
    cache = plan.saves
    if cache is None:
        cache = plan.saves = {}
    found = cache.get(needs)
    if found is None:
        found = cache[needs] = _saved(plan, needs)
    return found


def only_for(plan, code):
    """The positions of the one parameter whose gradient alone reads a saved input, of an operator with several; None if others read it."""
    operator = plan.operator
    if not isinstance(operator, Operator) or code < 0:
        return None
    rules = operator.saves
    if operator.grad is not None:
        rules = {name: formula[1] for name, formula in operator.grad.items() if formula is not None}
    if not isinstance(rules, dict) or len(rules) < 2:
        return None
    where = plan.notes.where
    readers = [name for name, saved in rules.items() if any(touches(where.get(one), (code,)) for one in saved)]
    if len(readers) != 1:
        return None
    return [at for at in range(len(plan.inputs)) if touches(where.get(readers[0]), (at,))]


def _refuse(plan, needs):
    """Raises for a gradient that PyTorch's function does not have."""
    quirks = plan.operator.quirks
    if quirks.real_only and plan.outputs[0].dtype.is_complex and plan.key[0] == plan.operator.key:
        raise real_only(quirks.real_only)
    function, parameters = quirks.never_needed
    for name in parameters:
        if touches(plan.notes.where.get(name), needs):
            raise RuntimeError(f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot have "
                               "requires_grad True.")


def _saved(plan, needs):
    operator = plan.operator
    names = None
    _refuse(plan, needs)
    if not isinstance(operator, Operator) and operator.saves is not None:
        return operator.saves
    if isinstance(operator, Operator):
        if 0 in operator.nondiff:
            return ()
        signature = plan.notes
        if operator.grad is not None:
            names = set()
            for name, formula in operator.grad.items():
                if formula is not None and touches(signature.where.get(name), needs):
                    names.update(formula[1])
        elif operator.saves is not None:
            if isinstance(operator.saves, dict):
                names = set()
                for name, wanted in operator.saves.items():
                    if touches(signature.where.get(name), needs):
                        names.update(wanted)
            else:
                names = set(operator.saves)
    if names is None:
        return _by_name(plan, range(len(plan.inputs))) if isinstance(operator, Operator) else _read(plan, needs)
    asked = [at for at in range(len(plan.inputs)) if any(touches(signature.where.get(name), (at,)) for name in names)]
    listed = list(_by_name(plan, asked))
    if "result" in names or "results" in names:
        listed.extend(~k for k in range(len(plan.outputs)))
    # In one order in every process: a program on disk takes what was saved in the order of the process that made it.
    listed.extend(~at for at in sorted(int(name[6:]) for name in names if name.startswith("result") and name[6:].isdigit()))
    if not listed and any(is_number(operator, signature, name) for name in names):
        return ONLY_NUMBERS
    return tuple(listed)


def _by_name(plan, positions):
    """Input positions by their parameters' names: in that order PyTorch looks at what was saved, to complain of the first that changed."""
    return tuple(sorted(positions, key=lambda at: parameter_at(plan, at) or ""))


class _OnlyNumbers(tuple):
    """Nothing to save as PyTorch would count it empty: a number that it keeps as a tensor, so that the graph can be freed."""

    __slots__ = ()

    def __bool__(self):
        return True


ONLY_NUMBERS = _OnlyNumbers()


def _read(plan, needs):
    """The inputs of a backward that its own backward reads: PyTorch's formulas save no others, so a later write to those is allowed."""
    every = tuple(range(len(plan.inputs)))
    function = by_vjp(plan, needs, tuple(range(len(plan.outputs))), every)
    structs = [a.struct for a in plan.outputs] + [a.struct for a in plan.inputs] + [plans.scalar_struct(kind) for kind in plan.scalar_kinds]
    try:
        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(function)(*structs).jaxpr
    except (ValueError, NotImplementedError):                      # no second derivative: that is said when it is asked for
        return every
    live = {v for v in jaxpr.outvars if not hasattr(v, "val")}
    for equation in reversed(jaxpr.eqns):
        if any(v in live for v in equation.outvars):
            live.update(v for v in equation.invars if not hasattr(v, "val"))
    return tuple([at for at in every if jaxpr.invars[len(plan.outputs) + at] in live or at in plan.kept])
