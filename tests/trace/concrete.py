"""Plans of operators on tensors of one shape, for the laws of this folder."""
from jtensor.ops import build
from jtensor.ops import operator as kinds
from jtensor.trace import spec


def concrete(operator, shape, dtype, inplace=False, statics=None):
    """The plan of an operator on tensors of one shape and type, its numbers and statics as they are if nobody says. ``statics``: a function
    of the names of those that somebody has to say; None: there is no plan. Raises what the operator raises that does not take these."""
    template = []
    for parameter in operator.parameters:
        if parameter.kind in (kinds.Tensor, kinds.TensorOrNumber):
            template.append(spec.spec(shape, None, dtype, spec.devices.cpu))
        elif parameter.kind is kinds.Number and parameter.required:
            template.append(build.WRAPPED[float])
        elif parameter.kind is kinds.OptTensor:
            template.append(None)
        elif not parameter.required:
            template.append(parameter.default)
        elif statics is None:
            return None
        else:
            template.append(statics(parameter.name))
    return build.plan_for(operator, tuple(template), inplace)
