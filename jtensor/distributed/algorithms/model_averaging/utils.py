"""The mean of the processes' parameters. Owns: which parameters take part, and how they travel."""
import jtensor

from ...collectives import all_reduce
from ...world import _group, _is_outside, get_world_size

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params, process_group):
    """Gives the parameters their mean over the group, which all go there in one tensor."""
    if _is_outside(process_group):
        return
    params, group = list(params), _group(process_group)
    parcel = jtensor.cat([p.data.reshape(-1) for p in params])
    parcel /= get_world_size(group)
    all_reduce(parcel, group=group)
    for p, part in zip(params, parcel.split([p.numel() for p in params]), strict=True):
        p.data = part.view_as(p).type_as(p)


def get_params_to_average(params):
    """Those that have a gradient, of parameters or an optimizer's groups; NotImplementedError for what is neither."""
    found = []
    for one in params:
        if not isinstance(one, jtensor.nn.Parameter | dict):
            raise NotImplementedError(f"Parameter input of type {type(one)} is not supported")
        found += [p for p in (one["params"] if isinstance(one, dict) else [one]) if p.grad is not None]
    return found


def average_parameters_or_parameter_groups(params, process_group):
    """The two together."""
    average_parameters(iter(get_params_to_average(params)), process_group)
