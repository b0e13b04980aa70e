"""The plan of an operation's backward, and how the gradients lie that it gives.

A backward is an operation like any other: a `Plan` whose inputs are the gradients that arrived and what was saved (`saves`), so that it is
recorded on the tape, and differentiable in its turn (`double` has what PyTorch shows of that). Its function is in `pullback`.
May not know: tensors, graph nodes.
"""
from ..trace import plan as plans
from ..trace.spec import Spec, of_aval, spec
from . import saves
from .double import CHOOSES, parameter_at, parts, positions_named
from .layout import pointwise
from .operator import Operator
from .pullback import by_formulas, by_joining, by_vjp, touches, whole
from .quirks import NONE


class GradientOperator:
    """The operator of a backward plan: it is differentiated by `jax.vjp` and saves all its inputs."""

    __slots__ = ("name", "backward", "key", "node_class", "double")
    inverse = None
    grad = saves = outputs = None
    nondiff = frozenset()
    layout, promote, quirks = "contiguous", None, NONE

    def __init__(self, name):
        self.name, self.backward, self.key, self.node_class, self.double = name, name, name, None, name

    def __repr__(self):
        return f"<gradient operator {self.name}>"


_gradient_operators = {}


def gradient_operator(operator, name):
    """The operator of ``operator``'s backward, whose node goes by a name of PyTorch's."""
    found = _gradient_operators.get((operator, name))
    if found is None:
        found = _gradient_operators[operator, name] = GradientOperator(name)
    return found


def backward_plan(plan, needs, defined):
    """The plan of the backward: inputs are the defined gradients, then the saved values; outputs the gradients of ``needs``.

    ``needs`` are input positions, ``defined`` the output positions whose gradient is there (the others are zero).
    """
    key = (needs, defined)
    found = plan.vjps.get(key)
    if found is None:
        codes = saves.codes(plan, needs)
        operator = plan.operator
        if stays_complex(plan, needs):
            raise RuntimeError("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
                               "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
        if getattr(operator, "grad", None) is not None:
            _refuse(plan, needs)
            function = by_formulas(plan, needs, defined, codes)
        elif plan.joined is not None:
            function = by_joining(plan, defined)
        else:
            function = by_vjp(plan, needs, defined, codes)
        inputs = tuple(plan.outputs[k] for k in defined) + tuple(plan.inputs[c] if c >= 0 else plan.outputs[~c] for c in codes)
        outputs = tuple([whole(plan, at) for at in needs])
        found = plans.Plan(("vjp", plan.key, plan.inputs, needs, defined), function, inputs, outputs, plan.scalar_kinds)
        found.operator = gradient_operator(operator, parts(plan, needs)[0][0].removesuffix(CHOOSES))
        if plan.flipped:
            found.flipped = tuple(len(defined) + at for at, code in enumerate(codes) if code in plan.flipped)
        found.specs = tuple([_lying(plan, at, a) for at, a in zip(needs, outputs, strict=True)])
        found.spec = found.specs[0] if len(outputs) == 1 else None
        found.differentiable = tuple(a.dtype.differentiable for a in outputs)
        found.notes = len(defined)
        found.kept = tuple([len(defined) + k for k in positions_named(plan, codes, operator.quirks.kept)])
        if plan.elementwise and len({a.shape for a in (*plan.inputs, *plan.outputs)} - {()}) == 1:
            found.elementwise = "vjp", plan.elementwise, tuple([(a.dtype, a.shape == ()) for a in plan.inputs]), needs, defined
        plan.vjps[key] = found
    return found


def stays_complex(plan, needs):
    """Those of ``needs``, real, whose gradient PyTorch computes as a complex number, and then refuses."""
    if not plan.operator.quirks.keeps_complex or not plan.outputs[0].dtype.is_complex:
        return ()
    return tuple([at for at in needs if not plan.inputs[at].dtype.is_complex])


def _refuse(plan, needs):
    """Raises for an operator that PyTorch does not differentiate either."""
    for name, formula in plan.operator.grad.items():
        never = formula and getattr(formula[0], "never", None)
        if never and touches(plan.notes.where.get(name), needs):
            raise never("" if plan.key[0] == plan.operator.key else "_")                              # in place it has another name
        allows = formula and getattr(formula[0], "allows", None)
        if allows is not None:
            allows(*[plan.notes.template[plan.operator.by_name[asked]] for asked in formula[1] if asked in plan.operator.by_name])


# -- how gradients lie -------------------------------------------------------------------------------------------------

def lie_plainly(plan):
    """Whether the gradients are contiguous if those that arrive are."""
    found = plan.vjps.get("plain")
    if found is None:
        operator = plan.operator
        by_elements = isinstance(operator, Operator) and operator.name != "copy" and (
            operator.promote is not None or operator.layout == "like" or operator.quirks.by_elements)
        plain = by_elements and all(s.contiguous for s in (*plan.notes.specs, *plan.specs)) and not (
            operator.name == "_to_copy" and plan.specs[0].numel == 1)           # whose strides may be any, and are kept
        found = plan.vjps["plain"] = True if plain else False if by_elements else ALWAYS
    return found


ALWAYS = "always"        # not computed by elements: the gradients are contiguous whatever arrives


def elementwise(plan, needs, backward, codes, grads):
    """The Specs of gradients computed element by element: PyTorch lays them out by what they are computed of.

    ``grads``: the Specs of the gradients that arrived.
    """
    key = ("elementwise", needs, grads)
    found = plan.vjps.get(key)
    if found is None:
        operator = plan.operator
        operands = [plan.notes.specs[c] if c >= 0 else plan.specs[~c] for c in codes]
        operands = [*operands, *grads] if operator.quirks.saved_first else [*grads, *operands]
        found = []
        for at, a in zip(needs, backward.outputs, strict=True):
            shape = tuple(a.shape)
            own = [(shape, s.stride) for s in operands if tuple(s.size) == shape]
            by_elements = operator.quirks.by_elements or shape == tuple(plan.outputs[0].shape) and (at == 0 or bool(operator.promote))
            lying = pointwise(shape, own) if own and by_elements else None
            if operator.name == "_to_copy" and own and grads[0].dense:         # a copy, which keeps strides that do not matter, too
                lying = grads[0].stride
            found.append(spec(shape, lying, a.dtype, a.device))
        found = plan.vjps[key] = tuple(found)
    return found


def columns(plan):
    """Factors of a product that lie column by column: PyTorch makes their gradients as transposes of what does not."""
    found = plan.vjps.get("columns")
    if found is None:
        letters = plan.operator.flipped[1]
        found = plan.vjps["columns"] = tuple([
            at for at, s in enumerate(plan.notes.specs) if parameter_at(plan, at) in letters and s.stride == (1, s.size[0])])
    return found


def _lying(plan, at, a):
    """The Spec of an input's gradient."""
    if type(plan.notes) is Spec:
        return plan.notes
    if getattr(plan.operator, "flipped", None) is not None and at in columns(plan):
        return spec(a.shape, (1, a.shape[0]), a.dtype, a.device)
    if plan.operator.quirks.like_input and plan.notes.specs[at].dense:
        return spec(a.shape, plan.notes.specs[at].stride, a.dtype, a.device)
    return of_aval(a)
