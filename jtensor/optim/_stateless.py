"""An optimizer's step on other parameters and another state than its own: `swap_in_optimizer_params_and_state`.

Owns: what is swapped, and the refusals of what does not fit. May not know: what a step computes.
"""
import contextlib
from collections import defaultdict

from ..tensor.core import Tensor

_WHO = "swap_in_optimizer_params_and_state requires "
_LIKE_STATE_DICT = _WHO + "optimizer.state_dict()-style "


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """A context in which an optimizer has other parameters and another state; at its end it has its own again.

    ``optimizer``: one that has a state. ``swapin_parameters``: {name: tensor}, in the order of its parameters. ``swapin_optim_state``:
    what `Optimizer.state_dict` of an optimizer like it gives. The tensors in there are changed by a step; what else the step puts into
    its state is forgotten. ``RuntimeError`` for what does not fit the optimizer.

    >>> p, other = torch.zeros(1, requires_grad=True), torch.ones(1, requires_grad=True)
    >>> optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.9)
    >>> p.grad, other.grad = torch.ones(1), torch.ones(1)
    >>> optimizer.step()
    >>> with torch.optim.swap_in_optimizer_params_and_state(optimizer, {"p": other}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> p.detach(), other.detach()
    (tensor([-0.5000]), tensor([0.0500]))
    """
    swapped = list(_checked(optimizer, swapin_parameters, swapin_optim_state))
    own, groups = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        state = defaultdict(dict)
        for group, new, parameters in swapped:
            group.update(new, params=parameters)
            for parameter, number in zip(parameters, new["params"], strict=True):
                state[parameter] = dict(swapin_optim_state["state"].get(number, {}))
        optimizer.state = state
        yield
    finally:
        for group, before in zip(optimizer.param_groups, groups, strict=True):
            group.clear()
            group.update(before)
        optimizer.state = own


def _checked(optimizer, parameters, given):
    """For each of the optimizer's groups: (the group, the one that takes its place, that one's parameters)."""
    if not optimizer.state:
        raise RuntimeError(_WHO + "initialized optimizer state.")
    if not isinstance(given, dict):
        raise RuntimeError(_WHO + "a DCP-style optimizer state_dict.")
    state, groups, parameters = given.get("state"), given.get("param_groups"), list(parameters.values())
    _check_state(state)
    if not isinstance(groups, list):
        raise RuntimeError(f"{_WHO}swapin_optim_state['param_groups'] to be a list of param-group dicts, got {type(groups).__name__}.")
    if len(optimizer.param_groups) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    known, found = set(), []
    for number, (group, new) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        _check_group(number, group, new)
        known.update(new["params"])
        count = len(new["params"])
        if count > len(parameters):
            raise RuntimeError(_WHO + "the explicit parameter state to match optimizer.param_groups ordering.")
        found.append((group, new, parameters[:count]))
        parameters = parameters[count:]
    extra = [key for key in state if key not in known]
    if extra:
        raise RuntimeError(f"{_WHO}swapin_optim_state['state'] to be keyed only by packed parameter ids from param_groups[*]['params']; "
                           f"got extra keys {extra!r}.")
    return found


def _check_state(state):
    if not isinstance(state, dict):
        raise RuntimeError(f"{_WHO}swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param state dicts, got "
                           f"{type(state).__name__}.")
    if any(isinstance(key, Tensor) for key in state):
        raise RuntimeError(_LIKE_STATE_DICT + "state keyed by packed parameter ids.")
    if any(isinstance(key, int) and not isinstance(value, dict) for key, value in state.items()):
        raise RuntimeError(_WHO + "per-parameter optimizer state entries to be dictionaries.")


def _check_group(number, group, new):
    if not isinstance(new, dict):
        raise RuntimeError(_WHO + "each optimizer param group to be a dictionary.")
    numbers = new.get("params")
    if not isinstance(numbers, list) or not all(isinstance(one, int) for one in numbers):
        raise RuntimeError(_LIKE_STATE_DICT + "param_groups[*]['params'] entries keyed by packed parameter ids.")
    if len(group["params"]) != len(numbers):
        raise RuntimeError(f"swapin_optim_state param group {number} has a different number of params than the live optimizer param group.")
    more, fewer = [key for key in new if key not in group], [key for key in group if key not in new]
    if more or fewer:
        raise RuntimeError(f"{_LIKE_STATE_DICT}param group keys to exactly match the live optimizer group keys for group {number}. "
                           f"Keys only in swap-in: {more}. Keys only in live: {fewer}.")
