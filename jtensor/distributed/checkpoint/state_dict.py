"""States of modules and optimizers as checkpoints have them: by the names of parameters, whatever is wrapped around the module.

Owns: how states are asked for and given back. May not know: how they are kept. Modules on several devices are not there.
"""
import dataclasses
import functools
import gc

import jtensor

from ...base import sites
from ...nn.modules.module import Module, _IncompatibleKeys
from ...optim import Optimizer
from ..collectives import broadcast
from ..objects import broadcast_object_list
from ..world import get_rank, is_initialized
from . import optimizer_state
from ._nested_dict import unflatten_state_dict
from .names import EXTRA, known, name_of

__all__ = ["DictValueType", "FQNS_T", "ListDictValueType", "OptimizerStateType", "PrimitiveType", "StateDictOptions", "ValueType",
           "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict",
           "set_optimizer_state_dict", "set_state_dict"]

FQNS_T = set[str]
PrimitiveType = jtensor.Tensor | int | float | str
ValueType = PrimitiveType | list[PrimitiveType] | tuple[PrimitiveType] | dict[str, "ValueType"]
DictValueType = dict[str, ValueType]
ListDictValueType = list[DictValueType]
OptimizerStateType = dict[str, DictValueType | ListDictValueType]


@dataclasses.dataclass
class StateDictOptions:
    """How states are given and taken.

    ``full_state_dict``: new dictionaries, without parts of tensors. ``cpu_offload``: tensors on the CPU; with both, processes other than
    the first get empty ones. ``ignore_frozen_params``: without parameters that are not trained. ``keep_submodule_prefixes``: whether names
    of chosen submodules begin with theirs. ``strict``: RuntimeError for names that are missing. ``broadcast_from_rank0``: the first process
    gives its state to all, with ``full_state_dict``. ``flatten_optimizer_state_dict``: an optimizer's state as one dictionary of dotted
    names.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


class _Info:
    """What one call is about: its options, and the names of parameters. ``names``: parameter -> names; shared ones have several."""

    def __init__(self, model, optimizers, optim_only, options, submodules=None):
        if submodules:
            sites.warn("Getting submodules only model/optim state_dict is deprecated and will be removed in 2.5. This feature can be "
                       "achieved by manually filtering out the state_dict returned from get_state_dict.", FutureWarning)
        if optim_only and not optimizers:
            raise RuntimeError("Optimizers are not passed in but optim_only is set to True.")
        self.options = options = options or StateDictOptions()
        self.names, self.shared = {}, set()
        for name, value in known(model):
            if value is not EXTRA:
                names = self.names.setdefault(value, {})
                names[name_of(model, name)] = True
                self.shared.update(names if len(names) > 1 else ())
        self.prefixes = {f"{name_of(model, name)}." for name, module in model.named_modules() if module in (submodules or ())}
        if options.broadcast_from_rank0 and not options.full_state_dict:
            raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
        self.of_model, self.of_optimizers = not optim_only, len(optimizers) > 0

    def check(self, model_state, optimizer_state):
        """RuntimeError for a state that is empty though it is asked for."""
        options = self.options
        elsewhere = options.cpu_offload and options.full_state_dict or options.broadcast_from_rank0
        if self.of_model and not model_state and options.strict and not (self.prefixes or options.ignore_frozen_params or elsewhere):
            raise RuntimeError("The option indicates that model state_dict is required to save or load, but model state_dict is empty."
                               f"rank = dist.get_rank()={get_rank()!r}.")
        if self.of_optimizers and not optimizer_state and not elsewhere:
            raise RuntimeError("The option indicates that model state_dict is required to save, or load but optim state_dict is empty. "
                               f"{optimizer_state}")
        for name in model_state:
            if "_flat_param" in name:
                raise RuntimeError(f"{name} contains _flat_param. This can happen if the model is not the root module.")

    def given(self, state):
        """A state as it is given: as the options say."""
        options = self.options
        if not options.full_state_dict and not options.cpu_offload:
            return state
        first = options.full_state_dict and options.cpu_offload and is_initialized()
        return {} if first and get_rank() != 0 else _copied(state, options.cpu_offload)


def _copied(value, to_cpu):
    """A nest in new containers. ValueError for what is no tensor, number, text or container."""
    if isinstance(value, jtensor.Tensor):
        return value.to("cpu") if to_cpu else value
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    if isinstance(value, dict):
        return {key: _copied(one, to_cpu) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(_copied(one, to_cpu) for one in value)
    raise ValueError(f"Unexpected value type {type(value)}")


def _undisturbed(function):
    """Without Python's collector, and without history, as long as it takes."""
    @functools.wraps(function)
    def called(*args, **kwargs):
        enabled = gc.isenabled()
        gc.disable()
        try:
            with jtensor.no_grad():
                return function(*args, **kwargs)
        finally:
            if enabled:
                gc.enable()
    return called


def _several(optimizers):
    return (optimizers,) if isinstance(optimizers, Optimizer) else tuple(optimizers)


# -- asking ----------------------------------------------------------------------------------------------------------------

@_undisturbed
def get_model_state_dict(model, *, submodules=None, options=None):
    """The module's state, by names without those of wrappers.

    >>> from jtensor.distributed.checkpoint.state_dict import get_model_state_dict
    >>> list(get_model_state_dict(torch.compile(torch.nn.Linear(2, 1))))
    ['weight', 'bias']
    """
    info = _Info(model, (), False, options, submodules)
    state = _of_model(model, info)
    info.check(state, {})
    return state


@_undisturbed
def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    """The state of one or several optimizers, by the names of the module's parameters. An optimizer that has not stepped yet makes its
    state first, by a step that changes nothing.
    """
    optimizers = _several(optimizers)
    info = _Info(model, optimizers, True, options, submodules)
    state = _of_optimizers(model, optimizers, info)
    info.check({}, state)
    return state


@_undisturbed
def get_state_dict(model, optimizers, *, submodules=None, options=None):
    """(`get_model_state_dict`, `get_optimizer_state_dict`)."""
    optimizers = _several(optimizers)
    info = _Info(model, optimizers, False, options, submodules)
    state, of_optimizers = _of_model(model, info), _of_optimizers(model, optimizers, info)
    info.check(state, of_optimizers)
    return state, of_optimizers


def _of_model(model, info):
    state = model.state_dict()
    for key in list(state):
        name = name_of(model, key)
        if name != key:
            state[name] = state.pop(key)
    if info.prefixes:
        cut = (lambda name, prefix: name) if info.options.keep_submodule_prefixes else (lambda name, prefix: name[len(prefix):])
        state = {cut(name, prefix): value for name, value in state.items() for prefix in info.prefixes if name.startswith(prefix)}
    if info.options.ignore_frozen_params:
        for key, param in model.named_parameters():
            if not param.requires_grad:
                state.pop(name_of(model, key))
    return info.given(state)


def _of_optimizers(model, optimizers, info):
    if not info.of_optimizers:
        return {}
    found = {"state": {}, "param_groups": []}
    for optimizer in optimizers:
        state = optimizer_state.named(model, optimizer)
        found["state"].update(state["state"])
        found["param_groups"].extend(state["param_groups"])
    return info.given(optimizer_state.flattened(found) if info.options.flatten_optimizer_state_dict else found)


# -- giving back -----------------------------------------------------------------------------------------------------------

def set_model_state_dict(model, model_state_dict, *, options=None):
    """Gives a module such a state; answers its `load_state_dict`'s missing and unexpected keys. In ``model_state_dict`` names become those
    that the module has.
    """
    return _set(model, (), model_state_dict, {}, False, options)


def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    """Gives one or several optimizers such a state."""
    _set(model, _several(optimizers), {}, optim_state_dict, True, options)


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    """Both; an empty state of the module leaves it alone."""
    return _set(model, _several(optimizers), model_state_dict, optim_state_dict, not model_state_dict, options)


@_undisturbed
def _set(model, optimizers, model_state, of_optimizers, optim_only, options):
    model_state = _by_names(model, model_state)
    info = _Info(model, optimizers, optim_only, options)
    info.check(model_state, of_optimizers)
    for optimizer in optimizers:
        optimizer.load_state_dict(_for_optimizer(model, optimizer, of_optimizers, info))
    return _give_model(model, model_state, info)


def _by_names(model, state):
    """A state that was given by modules instead of names."""
    if not state or not isinstance(next(iter(state)), Module):
        return state
    sites.warn("Passing model_state_dict as a ``Dict[nn.Module, Dict[str, Any]]``is deprecated and will be removed in 2.5. If you need "
               "this feature, please preprocess the model_state_dict to achieve the same functionality.", FutureWarning)
    return {f"{name_of(model, name)}.{key}": value for module, values in state.items()
            for name, one in model.named_modules() if one is module for key, value in values.items()}


def _give_model(model, state, info):
    options = info.options
    if not info.of_model or not state and not options.broadcast_from_rank0:
        return _IncompatibleKeys({}, {})
    mine = {}
    for key, value in known(model, options.dsd_fqn_modifiers):
        name, whole = (name_of(model, key, whole, options.dsd_fqn_modifiers) for whole in (False, True))
        if name != whole and (not options.broadcast_from_rank0 or get_rank() == 0):
            given = state.pop(name, None)
            if given is not None:
                state[whole] = given
            elif options.strict:
                raise RuntimeError(f"Missing key: {name}.")
        mine[whole] = value
    assign = False
    if options.full_state_dict:
        devices = {value.device for value in mine.values() if isinstance(value, jtensor.Tensor) and value.dim() > 0}
        assign = any(device.type == "meta" for device in devices)
        devices = {device for device in devices if device.type != "meta"} or {jtensor.device("cpu")}
        if len(devices) > 1:
            raise ValueError("Multiple devices found")
        _fill(state, mine, devices.pop(), options)
        state.update(mine)
    return model.load_state_dict(state_dict=state, strict=options.strict, assign=assign)


def _fill(state, mine, device, options, strict=None):
    """Puts what a flat state has, or that of the first process, in the places of ``mine``, which are replaced."""
    if not options.broadcast_from_rank0:
        for name, value in state.items():
            if not isinstance(value, jtensor.Tensor):
                mine[name] = value
            elif value.dim() == 0 or mine.get(name) is not None:
                mine[name] = value.cpu() if value.dim() == 0 else value.detach().to(device)
        return
    told = [{name: (tuple(one.size()), one.dtype) if isinstance(one, jtensor.Tensor) and one.dim() else (None, one)
             for name, one in state.items()} if get_rank() == 0 else {}]
    broadcast_object_list(told, 0)
    before = set(mine)
    for name, (size, value) in told[0].items():
        if size is not None:
            value = state[name].detach().to(device) if get_rank() == 0 else jtensor.empty(size, dtype=value, device=device)
            broadcast(value, 0)
            value = value.cpu() if options.cpu_offload and strict is None else value
        if name in mine if size is None else mine.get(name) is not None:
            mine[name] = value
    if options.strict if strict is None else strict:
        for name in before - set(told[0]):
            del mine[name]


def _for_optimizer(model, optimizer, state, info):
    """The part of a state that is an optimizer's, as its `load_state_dict` takes it."""
    optimizer_state.make(optimizer)
    if not state:
        found = {}
    elif "state" in state:
        found = optimizer_state.split(optimizer, state, info.names, info.shared, info.options.strict)
    else:
        found = optimizer_state.unflattened(optimizer, state, info.names, info.shared)
    if not info.options.full_state_dict:
        return found
    mine = optimizer_state.named(model, optimizer)
    if info.options.flatten_optimizer_state_dict:
        mine = optimizer_state.flattened(mine)
    devices = {one.device for one in jtensor.utils._pytree.tree_leaves(mine) if isinstance(one, jtensor.Tensor) and one.dim() > 0}
    if len(devices) > 1:
        raise ValueError("Device mismatch")
    if not devices:
        raise AssertionError("Expected device to be set")
    flat, paths = optimizer_state.leaves(found)
    flat_mine, my_paths = optimizer_state.leaves(mine)
    _fill(flat, flat_mine, devices.pop(), info.options, strict=False)
    for name in flat:
        if name not in flat_mine:
            flat_mine[name], my_paths[name] = flat[name], paths[name]
    made = unflatten_state_dict(flat_mine, my_paths)
    for group in made["param_groups"]:
        group.setdefault("params", [])
    return made
