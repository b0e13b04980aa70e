"""State dicts: what a module saves under which key, and how it takes a saved state in again.

The functions here are methods of Module. They know parameters, buffers and extra state, and leave storage formats to others.
"""
import itertools
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

import jtensor

from ...utils.hooks import RemovableHandle
from ..hooks import WrappedHook
from ..parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"


class IncompatibleKeys(NamedTuple):
    missing_keys: list
    unexpected_keys: list

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    __str__ = __repr__


def _unreachable(which):
    return RuntimeError(
        f"Reached a code path in Module.{which}() that should never be called. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug.")


def get_extra_state(self):
    """Override to put something of your own into the state dict; ``set_extra_state`` gets it back."""
    raise _unreachable("get_extra_state")


def set_extra_state(self, state):
    """Override to take back what ``get_extra_state`` gave."""
    raise _unreachable("set_extra_state")


def _overrides(module, name, default):
    return getattr(type(module), name, default) is not default


# ------------------------------------------------------------------------------------------------------------- saving

def _save_to_state_dict(self, destination, prefix, keep_vars):
    """Writes this module's own tensors (not its submodules') into ``destination``."""
    persistent = ((name, buf) for name, buf in self._buffers.items() if name not in self._non_persistent_buffers_set)
    for name, tensor in itertools.chain(self._parameters.items(), persistent):
        if tensor is not None:
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if _overrides(self, "get_extra_state", get_extra_state):
        destination[prefix + EXTRA_STATE] = self.get_extra_state()


def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
    """An ordered dict of all parameters and persistent buffers, submodules' names joined by dots.

    The tensors share memory with the module; they are detached unless ``keep_vars``. Its attribute ``_metadata`` holds
    the version of every module.

    >>> import jtensor as torch
    >>> list(torch.nn.Linear(2, 3).state_dict())
    ['weight', 'bias']
    """
    if args:
        warnings.warn("Positional args are being deprecated, use kwargs instead. Refer to "
                      "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                      FutureWarning, stacklevel=2)
        given = dict(zip(("destination", "prefix", "keep_vars"), args))
        destination = given["destination"] if destination is None else destination
        prefix = given.get("prefix", prefix) if prefix == "" else prefix
        keep_vars = given.get("keep_vars", keep_vars) if keep_vars is False else keep_vars
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local_metadata = {"version": self._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata

    for hook in self._state_dict_pre_hooks.values():
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in self._state_dict_hooks.values():
        answer = hook(self, destination, prefix, local_metadata)
        if answer is None:
            continue
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("state_dict post-hook must return None")
        destination = answer
    return destination


# ------------------------------------------------------------------------------------------------------------ loading

def _load_one(self, name, param, given, key, assign, error_msgs):
    """Takes one tensor of the state dict in; a failure becomes a line of the report that load_state_dict raises."""
    if not (isinstance(given, jtensor.Tensor) or hasattr(given, "__torch_function__")):
        error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                          f"checkpoint but received {type(given)}")
        return
    if not is_lazy(param):
        # Checkpoints of before version 0.4 hold one-element vectors where there are scalars now.
        if len(param.shape) == 0 and len(given.shape) == 1 and given.shape[0] == 1:
            given = given[0]
        if given.shape != param.shape:
            error_msgs.append(f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape "
                              f"in current model is {param.shape}.")
            return
    if param.is_meta and not given.is_meta and not assign:
        warnings.warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                      "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                      "to their corresponding key in the module instead of copying them in place?)", stacklevel=2)
    try:
        with jtensor.no_grad():
            if jtensor.__future__.get_swap_module_params_on_conversion():
                _swap_in(param, given, assign)
                return
            if not assign:
                param.copy_(given)
                return
            if isinstance(param, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(param.requires_grad)
                else:
                    given = Parameter(given, requires_grad=param.requires_grad)
            setattr(self, name, given)
    except Exception as e:
        error_msgs.append(f'While copying the parameter named "{key}", whose dimensions in the model are {param.size()} and '
                          f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {e.args}.")


def _swap_in(param, given, assign):
    """Exchanges ``param`` for what its ``module_load`` makes of the tensor to be loaded (`torch.__future__`)."""
    new = param.module_load(given, assign=assign)
    if new is given or new is param:
        raise RuntimeError("module_load returned one of self or other, please .detach() the result if returning one of the inputs in "
                           "module_load")
    if isinstance(param, Parameter):
        new = new.requires_grad_(param.requires_grad) if isinstance(new, Parameter) else Parameter(new, param.requires_grad)
    jtensor.utils.swap_tensors(param, new)


def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
    """Takes in this module's own tensors; what does not fit is added to the three lists."""
    for hook in self._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    buffers = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
    own = {k: v for k, v in itertools.chain(self._parameters.items(), buffers.items()) if v is not None}
    assign = local_metadata.get("assign_to_params_buffers", False)
    for name, param in own.items():
        key = prefix + name
        if key in state_dict:
            _load_one(self, name, param, state_dict[key], key, assign, error_msgs)
        elif strict:
            missing_keys.append(key)

    extra_key = prefix + EXTRA_STATE
    if _overrides(self, "set_extra_state", set_extra_state):
        if extra_key in state_dict:
            self.set_extra_state(state_dict[extra_key])
        elif strict:
            missing_keys.append(extra_key)
    elif strict and extra_key in state_dict:
        unexpected_keys.append(extra_key)

    if strict:
        for key in state_dict:
            if not key.startswith(prefix) or key == extra_key:
                continue
            head, dot, _ = key[len(prefix):].partition(".")
            if head not in (self._modules if dot else own):
                unexpected_keys.append(key)


def load_state_dict(self, state_dict, strict=True, assign=False):
    """Copies the tensors of a state dict into this module and its submodules.

    ``strict``: the keys have to match exactly. ``assign``: take the tensors themselves instead of copying.
    Answers with the missing and the unexpected keys. RuntimeError lists everything that did not fit.
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing_keys, unexpected_keys, error_msgs = [], [], []
    metadata = getattr(state_dict, "_metadata", None)
    state_dict = OrderedDict(state_dict)
    if metadata is not None:
        state_dict._metadata = metadata

    def load(module, state, prefix):
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = assign
        module._load_from_state_dict(state, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                load(child, {k: v for k, v in state.items() if k.startswith(below)}, below)
        found = IncompatibleKeys(missing_keys, unexpected_keys)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, found) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                    "incompatible_keys need to be modified, it should be done inplace.")

    load(self, state_dict, "")
    load = None                                        # it refers to itself, and to the state
    if strict:
        lines = [(f"{kind} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in keys) + ". ")
                 for kind, keys in (("Missing", missing_keys), ("Unexpected", unexpected_keys)) if keys]
        error_msgs[:0] = lines
    if error_msgs:
        raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(error_msgs))
    return IncompatibleKeys(missing_keys, unexpected_keys)


# -------------------------------------------------------------------------------------------------------------- hooks

def _add(hooks, hook):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _register_state_dict_hook(self, hook):
    """``hook(module, state_dict, prefix, local_metadata)`` runs after state_dict; it may return another dict."""
    if getattr(hook, "_from_public_api", False):
        raise RuntimeError("Cannot register the same function as the state dict post hook that was previously registered via "
                           "register_state_dict_post_hook")
    return _add(self._state_dict_hooks, hook)


def register_state_dict_post_hook(self, hook):
    """``hook(module, state_dict, prefix, local_metadata)`` runs after state_dict; it changes the dict in place."""
    hook._from_public_api = True
    return _add(self._state_dict_hooks, hook)


def register_state_dict_pre_hook(self, hook):
    """``hook(module, prefix, keep_vars)`` runs before state_dict."""
    return _add(self._state_dict_pre_hooks, hook)


def _register_load_state_dict_pre_hook(self, hook, with_module=False):
    return _add(self._load_state_dict_pre_hooks, WrappedHook(hook, self if with_module else None))


def register_load_state_dict_pre_hook(self, hook):
    """``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`` runs before
    this module's own tensors are loaded."""
    return _register_load_state_dict_pre_hook(self, hook, with_module=True)


def register_load_state_dict_post_hook(self, hook):
    """``hook(module, incompatible_keys)`` runs after this module and its submodules were loaded."""
    return _add(self._load_state_dict_post_hooks, hook)
