"""An optimizer's state by the names of parameters, as a nest or as one dictionary of dotted names, and back.

Owns: those forms. May not know: options, other processes.
"""
import itertools

import jtensor

from ._nested_dict import flattened_by
from ._traverse import set_element
from .names import name_of

__all__ = ["flattened", "leaves", "make", "named", "split", "unflattened"]


def make(optimizer):
    """Has an optimizer that has none make its state, by a step with gradients of zero and a rate of zero; not one that has gradients."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in params):
        return
    for p in params:
        if p.requires_grad:
            p.grad = jtensor.zeros_like(p)
    rates = [(group, group["lr"]) for group in optimizer.param_groups if "lr" in group]
    for group, rate in rates:
        group["lr"] = jtensor.tensor(0.0) if isinstance(rate, jtensor.Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in rates:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def named(model, optimizer):
    """An optimizer's state dict, parameters' names in the place of their numbers. KeyError for parameters of another module."""
    make(optimizer)
    state = optimizer.state_dict()
    numbers = {p: at for at, p in enumerate(itertools.chain.from_iterable(group["params"] for group in optimizer.param_groups))}
    names = {numbers[p]: name_of(model, key) for key, p in model.named_parameters() if p in numbers}
    state["state"] = {names[number]: value for number, value in state["state"].items()}
    for group in state["param_groups"]:
        group["params"] = [names[number] for number in group["params"]]
    return state


def _names_in(group, names, shared, is_there):
    """(parameter, name) of a group; of a shared parameter the names that the state knows."""
    for p in group["params"]:
        for name in names[p]:
            if name not in shared or is_there(name):
                yield p, name


def split(optimizer, state, names, shared, strict):
    """The part of a state that is an optimizer's. RuntimeError for a parameter without one, if ``strict``."""
    if all(isinstance(key, int) for key in state["state"]):
        return state
    found, given, target = {"state": {}, "param_groups": []}, state["param_groups"], {}
    for group in optimizer.param_groups:
        mine = {"params": []}
        found["param_groups"].append(mine)
        for p, name in _names_in(group, names, shared, lambda name: any(name in one["params"] for one in given)):
            mine["params"].append(name)
            if p.requires_grad and name in state["state"]:
                found["state"][name] = state["state"][name]
            elif p.requires_grad and strict:
                raise RuntimeError(f"Missing optimizer state for parameter '{name}' in checkpoint. The parameter requires gradients but "
                                   "has no saved optimizer state. To load anyway, use StateDictOptions(strict=False).")
            target.update((id(one), mine) for one in given if name in one["params"])
        if not group["params"]:
            _check_empty(given, optimizer)
            target[id(given[-1])] = mine
    for one in given:
        if id(one) in target:
            target[id(one)].update((key, value) for key, value in one.items() if key != "params")
    return found


def _check_empty(given, optimizer):
    if sum(not one["params"] for one in given) != 1:
        raise ValueError("There are param groups that have zero parameters. In such a case, DSD only support exactly one param group with "
                         "zero parameters.But the loaded state_dict has zero or more than one param groups that have zero parameters.")
    if len(given) != len(optimizer.param_groups):
        raise ValueError("When there is a parameter group that has zero parameters, multiple optimizers are not supported.")


# -- as one dictionary -----------------------------------------------------------------------------------------------------

def flattened(state):
    """{"state.NAME.KEY" and "param_groups.NAME.OPTION": value}. NotImplementedError for states that are no tensors or numbers."""
    found = {}

    def add(values, prefix):
        for key, value in values.items():
            if isinstance(value, dict):
                add(value, f"{prefix}.{key}")
                continue
            if not isinstance(value, jtensor.Tensor | int | float):
                raise NotImplementedError("Flattening optimizer state_dict only supports tensor, int, float, dict states now. Type is "
                                          f"{type(value)}.")
            found[f"{prefix}.{key}"] = value
    for name, values in state["state"].items():
        add(values, f"state.{name}")
    for group in state["param_groups"]:
        names = group.pop("params")
        found.update((f"param_groups.{name}.{key}", value) for name in names for key, value in group.items())
    return found


def unflattened(optimizer, flat, names, shared):
    """The part of such a dictionary that is an optimizer's. KeyError where it lacks an option."""
    found = {"state": {}, "param_groups": []}
    for group in optimizer.param_groups:
        options = [key for key in group if key != "params"]
        mine = {"params": []}
        found["param_groups"].append(mine)
        for p, name in _names_in(group, names, shared, lambda name, first=options[0]: f"param_groups.{name}.{first}" in flat):
            mine["params"].append(name)
            if p.requires_grad:
                found["state"][name] = {key: _value(flat, f"state.{name}.{key}") for key in optimizer.state[p]}
        mine.update((key, flat[f"param_groups.{mine['params'][0]}.{key}"]) for key in options)
    return found


def _value(flat, name):
    """What is at a name, or the nest of what is below it."""
    if name in flat:
        return flat[name]
    made = {}
    for key, value in flat.items():
        if key.startswith(name + "."):
            set_element(made, tuple(key[len(name) + 1:].split(".")), value)
    return made


def leaves(state):
    """({dotted name: leaf}, {dotted name: path}) of a nest, lists and tuples taken apart as well; back it comes with lists for both."""
    return flattened_by(_everywhere, state)


def _everywhere(value, visitor, path=()):
    if not isinstance(value, dict | list | tuple):
        visitor(path, value)
        return
    named = isinstance(value, dict)
    for key, one in value.items() if named else enumerate(value):
        _everywhere(one, visitor, (*path, str(key) if named else key))
