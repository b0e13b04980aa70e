"""What becomes a parameter, a buffer or a submodule of a Module, and what is refused under its name.

The functions that take ``self`` are methods of Module. Owns: the checks of names and values, the hooks of registration. May not know: what
attribute access makes of the members.
"""
import inspect

import jtensor

from ..parameter import Buffer, Parameter
from . import _begun, _hooks
from .utils import typename


def _is_tensor_like(x):
    return isinstance(x, jtensor.Tensor) or hasattr(x, "__torch_function__")


def _filtered(hooks, module, name, value):
    """What registration hooks make of a value that is about to be registered."""
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value


# --------------------------------------------------------------------------------------------------- methods of Module


def register_buffer(self, name, tensor, persistent=True):
    """Adds a tensor that belongs to the module's state and is no parameter, such as a running mean.

    ``persistent=False`` keeps it out of the state dict. KeyError for a bad or taken name, TypeError for no tensor.
    """
    if "_buffers" not in self.__dict__:
        raise AttributeError("cannot assign buffer before Module.__init__() call")
    _check_name("buffer", self, name, self._buffers)
    if tensor is not None and not _is_tensor_like(tensor):
        raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
    _begun.registered(self._buffers.get(name), tensor)
    self._buffers[name] = _filtered(_hooks.buffer_registration, self, name, tensor)
    if persistent:
        self._non_persistent_buffers_set.discard(name)
    else:
        self._non_persistent_buffers_set.add(name)


def register_parameter(self, name, param):
    """Adds a Parameter (or None, which keeps the name). KeyError for a bad or taken name, TypeError for no Parameter."""
    if "_parameters" not in self.__dict__:
        raise AttributeError("cannot assign parameter before Module.__init__() call")
    _check_name("parameter", self, name, self._parameters)
    if param is not None:
        if not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None "
                            "required)")
        if param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                             f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                             "forward() method.")
        param = _filtered(_hooks.parameter_registration, self, name, param)
    _begun.registered(self._parameters.get(name), param)
    self._parameters[name] = param


def add_module(self, name, module):
    """Adds a submodule under that name."""
    from .module import Module
    if not isinstance(module, Module) and module is not None:
        raise TypeError(f"{typename(module)} is not a Module subclass")
    if not isinstance(name, str):
        raise TypeError(f"module name should be a string. Got {typename(name)}")
    if hasattr(self, name) and name not in self._modules:
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        raise KeyError(f'module name can\'t contain ".", got: {name}')
    if name == "":
        raise KeyError('module name can\'t be empty string ""')
    self._modules[name] = _filtered(_hooks.module_registration, self, name, module)


def register_module(self, name, module):
    """The same as ``add_module``."""
    self.add_module(name, module)


# --------------------------------------------------------------------------------------------------- attributes that are set


def _check_name(kind, module, name, members):
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(module, name) and name not in members:
        raise KeyError(f"attribute '{name}' already exists")


def forget(module, name, *kinds):
    """Lets go of whatever else stood under a name that changes its kind."""
    state = module.__dict__
    state.pop(name, None)
    for kind in kinds:
        state[kind].pop(name, None)
    state["_non_persistent_buffers_set"].discard(name)


def set_module(module, name, value):
    from .module import Module
    modules = module.__dict__.get("_modules")
    if isinstance(value, Module):
        if modules is None:
            raise AttributeError("cannot assign module before Module.__init__() call")
        forget(module, name, "_parameters", "_buffers")
    elif value is not None:
        raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
    modules[name] = _filtered(_hooks.module_registration, module, name, value)


def set_buffer(module, name, value):
    if value is not None and not _is_tensor_like(value):
        raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)")
    persistent = value.persistent if isinstance(value, Buffer) else name not in module._non_persistent_buffers_set
    register = module.register_buffer
    # A subclass may have a register_buffer of its own, written before there was `persistent`.
    if getattr(register, "__func__", None) is register_buffer \
            or "persistent" in inspect.signature(register).parameters:
        register(name, value, persistent)
    elif persistent:
        register(name, value)
    else:
        raise RuntimeError("Registering a non-persistent buffer on a Module subclass that implements register_buffer() "
                           "without the persistent argument is not allowed.")
