"""Optimizer: parameter groups, state, state dicts, hooks; and the frame that all first-order methods share.

Owns the order of things in one step: hooks, closure, the method's arithmetic on each parameter, the boundary at which the
lazy engine runs what was recorded. Knows nothing of modules.
"""
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from functools import wraps
from itertools import chain
from typing import Any

import jtensor

from ..trace.tape import LOCAL, TRIE
from ..utils.hooks import register
from ._asked import (  # noqa: F401
    DeviceDict,
    DeviceDtypeDict,
    _capturable_doc,
    _device_dtype_check_for_fused,
    _differentiable_doc,
    _disable_dynamo_if_unsupported,
    _foreach_doc,
    _fused_doc,
    _get_scalar_dtype,
    _maximize_doc,
    _params_doc,
    _to_scalar,
    _view_as_real,
)
from ._turns import NEW, goes_on

__all__ = ["Optimizer", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"]

_common_pre_hooks, _common_post_hooks = OrderedDict(), OrderedDict()
_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
          "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks")


class _RequiredParameter:
    """Stands as the default of an option that every group has to give."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()


# -- what optimizers that are written after PyTorch's own take from its room ------------------------------------------

ParamsT = Iterable[jtensor.Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, jtensor.Tensor]]


def _use_grad_for_differentiable(step):
    """``step`` records a history if the optimizer is ``differentiable`` alone."""
    @wraps(step)
    def wrapper(self, *args, **kwargs):
        with jtensor.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)
    return wrapper


def _get_value(x):
    """The number that a step count or a rate is."""
    return x.item() if isinstance(x, jtensor.Tensor) else x


def _get_capturable_supported_devices(supports_xla=True):
    """The kinds of devices on which PyTorch lets ``capturable=True`` stand."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _stack_if_compiling(x):
    return x


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """Whether to take the fused or the foreach form where the user has not said: here all forms are one."""
    return False, False


# -- hooks ------------------------------------------------------------------------------------------------------------

def register_optimizer_step_pre_hook(hook):
    """``hook(optimizer, args, kwargs)`` runs before every step of every optimizer; it may return new (args, kwargs)."""
    return register(_common_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """``hook(optimizer, args, kwargs)`` runs after every step of every optimizer."""
    return register(_common_post_hooks, hook)


def _hooked(step):
    """``step`` with the hooks around it and the boundary after it."""
    @wraps(step)
    def wrapper(*args, **kwargs):
        self = args[0]
        if _common_pre_hooks or self._optimizer_step_pre_hooks:
            for hook in (*_common_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                answer = hook(self, args, kwargs)
                if answer is None:
                    continue
                if not (isinstance(answer, tuple) and len(answer) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {answer}.")
                args, kwargs = answer
        if len(args) == 1 and not kwargs:                   # else a closure may compute the loss first
            segment = LOCAL.segment
            if segment.state.depth < 0:                     # nobody learns what stands before: the update has a tape of its own
                self._boundary()
                segment = LOCAL.segment
                TRIE.begin_update(segment)
            segment.update = len(segment.nodes)
        loss = step(*args, **kwargs)
        self._optimizer_step_code()
        if _common_post_hooks or self._optimizer_step_post_hooks:
            for hook in (*self._optimizer_step_post_hooks.values(), *_common_post_hooks.values()):
                hook(self, args, kwargs)
        self._boundary()
        return loss

    wrapper.hooked = True
    return wrapper


class Optimizer:
    """Base of all methods. ``params``: parameters, pairs of name and parameter, or dictionaries, each a group of parameters
    with options of its own; ``defaults``: the options of groups that do not say otherwise.

    A subclass writes ``step``. TypeError and ValueError for what cannot be optimized.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, jtensor.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + jtensor.typename(params))
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        NEW.add(self)

    def _patch_step_function(self):
        # On the class, since subclasses outside of this package bring a step of their own.
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = _hooked(cls.step)

    def _optimizer_step_code(self):
        """A place for debuggers and profilers."""

    _follower, _credit = None, 0         # a reference to the optimizer that steps next, and how sure that is (`_turns`)
    _has_stepped = False

    def _boundary(self):
        """The end of a step: a good moment for the lazy engine to run what was recorded, unless another optimizer is about to step."""
        boundary = getattr(jtensor, "trace_boundary", None)
        if boundary is not None and not goes_on(self):
            boundary("optimizer.step")

    def step(self, closure=None):
        """One update of all parameters; ``closure`` computes the loss anew, with gradients, and answers with it."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Forgets all gradients, or with ``set_to_none=False`` fills them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                auto = p._auto
                if set_to_none and auto is not None and auto.grad is not None:
                    auto.grad = None
                    continue
                if p.grad is None:
                    continue
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n" + "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    # ------------------------------------------------------------------------------------------------------------ groups

    def add_param_group(self, param_group):
        """Adds a group: a dictionary with ``params`` and options. TypeError and ValueError as of the constructor."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, jtensor.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                            "will change between runs. Please use a list instead.")
        params = list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        param_group["params"] = params = [p[1] if isinstance(p, tuple) else p for p in params]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, jtensor.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + jtensor.typename(p))
            if not self.defaults.get("differentiable", None) and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_new_group(param_group)
        self.param_groups.append(param_group)

    def _check_new_group(self, new):
        if len(new["params"]) != len(set(new["params"])):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                          "github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=4)
        known = set()
        for group in self.param_groups:
            known.update(group["params"])
            if ("param_names" in new) != ("param_names" in group):
                how = "with names" if "param_names" in new else "without names"
                raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                                 f"{how} to the optimizer")
        if not known.isdisjoint(new["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    # ------------------------------------------------------------------------------------------------------- state dicts

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
        from ..utils._foreach_utils import _group_tensors_by_device_and_dtype as grouped
        return grouped(tensorlistlist, with_indices)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__dict__.pop("_host_numbers", None)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def state_dict(self):
        """The state and the groups, parameters replaced by numbers in the order of the groups. The tensors are shared."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, start, groups = {}, 0, []
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            start += len(group["params"])
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(key)] if isinstance(key, jtensor.Tensor) else key: value for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            answer = hook(self, result)
            result = result if answer is None else answer
        return result

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` of an optimizer with groups of the same sizes gave; ValueError where they differ."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            answer = hook(self, state_dict)
            state_dict = state_dict if answer is None else answer
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = dict(zip(chain.from_iterable(s["params"] for s in saved), chain.from_iterable(g["params"] for g in groups)))
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _fitted(params[key], value, key, state_dict["param_groups"])
            else:
                state[key] = value
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """A tensor of a saved state in the parameter's dtype and on its device. The step count stays as it is, unless the
        group wants it on the device."""
        if param_groups is None:
            raise AssertionError("Expected param_groups to be set")
        group = next((g for g in param_groups if param_id in g["params"]), {})
        if key == "step":
            if group.get("capturable", False) or group.get("fused", False):
                return value.to(dtype=jtensor.float32, device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)

    # ------------------------------------------------------------------------------------------------------------- hooks

    def register_step_pre_hook(self, hook):
        """``hook(optimizer, args, kwargs)`` runs before each step; it may return new (args, kwargs)."""
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """``hook(optimizer, args, kwargs)`` runs after each step."""
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """``hook(optimizer)`` runs before ``state_dict``."""
        return register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """``hook(optimizer, state_dict)`` runs after ``state_dict``; what it returns (not None) is taken instead."""
        return register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """``hook(optimizer, state_dict)`` runs before ``load_state_dict``; what it returns (not None) is loaded instead."""
        return register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """``hook(optimizer)`` runs after ``load_state_dict``."""
        return register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _fitted(param, value, param_id, groups, key=None):
    """A saved state with every tensor in it made fit for its parameter."""
    if isinstance(value, jtensor.Tensor):
        return Optimizer._process_value_according_to_param_policy(param, value, param_id, groups, key)
    if isinstance(value, dict):
        return {k: _fitted(param, v, param_id, groups, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_fitted(param, v, param_id, groups) for v in value)
    return value
