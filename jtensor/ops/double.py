"""What PyTorch's graph shows of a backward that is recorded (``create_graph``), and what the nodes of it save.

PyTorch's backward is a formula of operators, each with a node of its own; here it is one operation, whose node goes by the name of the
operator that the formula ends with. Owns: that name, and the tables of the inputs that such nodes save otherwise than a backward reads
them. May not know: formulas, graph nodes, tensors.
"""
from .build import broadcast_shapes
from .operator import Operator, TensorOrNumber

PASSED_ON, CONSTANT, SUMMED, CHOOSES, TIMES_ALPHA = "=", "-", "+", "!", "=*"


def parts(plan, needs):
    """The gradients that one node of PyTorch's makes under create_graph: ((name, positions), ...).

    The name is that of the operator which its formula ends with; `PASSED_ON` says that the gradient is handed on as it is, `CONSTANT` that
    the answer has no history.
    """
    key = ("parts", needs)
    found = plan.vjps.get(key)
    if found is None:
        groups = {}
        for at in needs:
            name = _double_name(plan, at)
            alone = "BackwardBackward" not in name and name not in (PASSED_ON, CONSTANT)           # each gradient has a formula of its own
            groups.setdefault((name, at if alone else None), []).append(at)
        found = plan.vjps[key] = tuple([(name, tuple(places)) for (name, _), places in groups.items()])
    return found


def positions_named(plan, codes, names):
    """Which of ``codes`` are inputs among ``names`` of parameters."""
    return tuple([k for k, code in enumerate(codes) if code >= 0 and parameter_at(plan, code) in names]) if names else ()


def passed_on(plan, needs):
    """The inputs among ``needs`` whose gradient is the very gradient that arrives."""
    key = ("passed on", needs)
    found = plan.vjps.get(key)
    if found is None:
        found = plan.vjps[key] = tuple([at for name, places in parts(plan, needs) if name == PASSED_ON for at in places])
    return found


def _double_name(plan, at):
    operator = plan.operator
    if operator.quirks.accumulates and not at and plan.notes.template[operator.by_name["accumulate"]]:
        return PASSED_ON
    declared = operator.double
    if operator.quirks.constant_if is not None and operator.quirks.constant_if(plan):
        return CONSTANT
    if type(declared) is dict:
        declared = declared.get(parameter_at(plan, at))
    if declared == CONSTANT:
        return CONSTANT
    if declared == TIMES_ALPHA:
        declared = "MulBackward1" if _scaled(plan, "alpha") else PASSED_ON
    shape = tuple(plan.inputs[at].shape)
    chooses = CHOOSES if type(operator.double) is str and operator.double.endswith(CHOOSES) else ""
    if isinstance(operator, Operator) and operator.promote is not None:
        if plan.notes.common is not None and plan.inputs[at].dtype is not plan.notes.common and not takes_part(plan, at):
            return "ToCopyBackward0" + chooses
        if shape != broadcast_shapes([tuple(a.shape) for a in plan.inputs]):
            declared = SUMMED
        elif declared == PASSED_ON and plan.inputs[at].dtype is not plan.outputs[0].dtype and not _part_of_complex(plan, at):
            return "ToCopyBackward0"                               # added in place to a tensor of another type
    elif declared == PASSED_ON and plan.inputs[at].dtype is not plan.outputs[0].dtype and not _part_of_complex(plan, at):
        return "ToCopyBackward0"
    elif declared == PASSED_ON and _scaled(plan, "beta"):
        declared = "MulBackward1"
    elif declared == PASSED_ON and shape != tuple(plan.outputs[0].shape):
        declared = SUMMED
    if declared == SUMMED:
        name = "SumBackward0" if not shape else "ViewBackward0" if len(shape) < len(plan.outputs[0].shape) else "SumBackward1"
        return name + chooses
    return declared or operator.backward.replace("Backward", "BackwardBackward", 1)


def _part_of_complex(plan, at):
    """Whether this input is real and of a complex result's shape: then PyTorch's gradient is the real part, a view, of a complex one."""
    a, out = plan.inputs[at], plan.outputs[0]
    return out.dtype.is_complex and not a.dtype.is_complex and tuple(a.shape) == tuple(out.shape)


def takes_part(plan, at):
    """Whether a formula makes that complex gradient. Of a number and a tensor without dimensions PyTorch makes one of double precision."""
    operator = plan.operator
    if not (isinstance(operator, Operator) and operator.promote is not None and operator.grad is not None and _part_of_complex(plan, at)):
        return False
    formula = operator.grad.get(parameter_at(plan, at))
    return bool(plan.inputs[at].shape) or formula is None or not any(is_number(operator, plan.notes, name) for name in formula[1])


def _scaled(plan, factor):
    """Whether the operation's ``alpha`` or ``beta`` is another than 1."""
    place = plan.operator.by_name.get(factor) if isinstance(plan.operator, Operator) else None
    return place is not None and plan.notes.template[place] is not plan.operator.parameters[place].default


def parameter_at(plan, at):
    for name, where in plan.notes.where.items():
        if at == where or type(where) is tuple and at in where:
            return name
    return None


def is_number(operator, signature, name):
    at = signature.where.get(name)
    return type(at) is int and at < 0 and operator.parameters[operator.by_name[name]].kind is TensorOrNumber
