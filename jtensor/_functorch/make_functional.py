"""Modules made functions of their parameters, as before `torch.func.functional_call`, on which these stand.

A function keeps a copy of the module on the meta device, which holds no values; these are its arguments.
"""
import copy

import jtensor

from ..func.calling import functional_call
from ..nn import Module, Parameter


def _names(found):
    """{first name: all names} of the tensors of ``named_parameters`` or ``named_buffers``, tied ones under one name."""
    groups = {}
    for name, tensor in found:
        groups.setdefault(id(tensor), []).append(name)
    return {names[0]: names for names in groups.values()}


def _apart(model):
    """(a copy of the module without values, its parameters and their names, its buffers and theirs)."""
    made = copy.deepcopy(model)
    parameters, buffers = dict(made.named_parameters(remove_duplicate=False)), dict(made.named_buffers(remove_duplicate=False))
    parameter_names, buffer_names = _names(parameters.items()), _names(buffers.items())
    for module in made.modules():
        for held in (module._parameters, module._buffers):
            for name, tensor in held.items():
                if tensor is not None:
                    empty = tensor.detach().to("meta")
                    held[name] = Parameter(empty, tensor.requires_grad) if held is module._parameters else empty
    return made, [parameters[n] for n in parameter_names], parameter_names, [buffers[n] for n in buffer_names], buffer_names


def _under_all_names(names, tensors):
    return {name: tensor for (_, group), tensor in zip(names.items(), tensors, strict=False) for name in group}


class FunctionalModule(Module):
    """A module without parameters of its own: ``function(params, *args, **kwargs)``. `make_functional` makes it."""

    __module__ = "torch._functorch.make_functional"

    def __init__(self, stateless_model, param_names, names_map):
        super().__init__()
        self.stateless_model, self.param_names, self.names_map = stateless_model, param_names, names_map

    def forward(self, params, *args, **kwargs):
        return functional_call(self.stateless_model, _under_all_names(self.names_map, params), args, kwargs, tie_weights=False)


class FunctionalModuleWithBuffers(Module):
    """A module without parameters and buffers of its own: ``function(params, buffers, *args, **kwargs)``."""

    __module__ = "torch._functorch.make_functional"

    def __init__(self, stateless_model, param_names, buffer_names, param_names_map, buffer_names_map):
        super().__init__()
        self.stateless_model, self.param_names, self.buffer_names = stateless_model, param_names, buffer_names
        self.param_names_map, self.buffer_names_map = param_names_map, buffer_names_map

    def forward(self, params, buffers, *args, **kwargs):
        given = {**_under_all_names(self.param_names_map, params), **_under_all_names(self.buffer_names_map, buffers)}
        return functional_call(self.stateless_model, given, args, kwargs, tie_weights=False)


def make_functional(model, disable_autograd_tracking=False):
    """``(function, parameters)``: copies of a module without buffers and of its parameters. ``RuntimeError`` where it has buffers.

    >>> from jtensor._functorch.make_functional import make_functional
    >>> function, parameters = make_functional(torch.nn.Linear(2, 1))
    >>> function([torch.ones(1, 2), torch.zeros(1)], torch.ones(2))
    tensor([2.])
    """
    if list(model.buffers()):
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead.")
    made, parameters, names, _, _ = _apart(model)
    return FunctionalModule(made, tuple(names), names), _tracked(parameters, disable_autograd_tracking)


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """``(function, parameters, buffers)``: copies of a module, its parameters and its buffers."""
    made, parameters, names, buffers, buffer_names = _apart(model)
    function = FunctionalModuleWithBuffers(made, tuple(names), tuple(buffer_names), names, buffer_names)
    return function, _tracked(parameters, disable_autograd_tracking), tuple(buffers)


def _tracked(parameters, disabled):
    if disabled:
        for parameter in parameters:
            parameter.requires_grad_(False)
    return tuple(parameters)


def combine_state_for_ensemble(models):
    """``(function, parameters, buffers)`` of equal modules, whose parameters and buffers are stacked along a new first dimension."""
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, parameters, buffers = zip(*map(make_functional_with_buffers, models), strict=True)
    return functions[0], _stacked(parameters), _stacked(buffers)


def _stacked(states):
    return tuple([jtensor.stack(shards).detach() for shards in zip(*states, strict=True)])


__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
           "make_functional_with_buffers"]
