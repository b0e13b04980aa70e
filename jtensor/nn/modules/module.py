"""Module, the base of all layers and models.

Owns attribute access, calling, modes and printing. The other methods stand in rooms of their own: ``_registration``, ``_traversal``,
``_convert``, ``_state_dict`` and ``_hooks``.
"""
from collections import OrderedDict

import jtensor

from ...trace.tape import LOCAL
from ..hooks import WrappedHook as _WrappedHook  # noqa: F401  where pickles of models look for it
from ..parameter import Buffer, Parameter
from . import _begun, _convert, _hooks, _registration, _state_dict, _traversal
from ._hooks import backward as _global_backward_hooks  # noqa: F401  these are where libraries look for them, too
from ._hooks import backward_pre as _global_backward_pre_hooks  # noqa: F401
from ._hooks import buffer_registration as _global_buffer_registration_hooks  # noqa: F401
from ._hooks import forward as _global_forward_hooks  # noqa: F401
from ._hooks import forward_always_called as _global_forward_hooks_always_called  # noqa: F401
from ._hooks import forward_pre as _global_forward_pre_hooks  # noqa: F401
from ._hooks import forward_with_kwargs as _global_forward_hooks_with_kwargs  # noqa: F401
from ._hooks import module_registration as _global_module_registration_hooks  # noqa: F401
from ._hooks import parameter_registration as _global_parameter_registration_hooks  # noqa: F401
from ._hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state_dict import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401
from ._state_dict import IncompatibleKeys as _IncompatibleKeys
from .utils import typename

__all__ = [
    "register_module_forward_pre_hook", "register_module_forward_hook", "register_module_full_backward_pre_hook",
    "register_module_backward_hook", "register_module_full_backward_hook", "register_module_buffer_registration_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook", "Module",
]

_IncompatibleKeys.__name__ = _IncompatibleKeys.__qualname__ = "_IncompatibleKeys"
_IncompatibleKeys.__module__ = __name__

_new = _begun.new

# What every module carries besides `training`: name -> how it is made.
_FRESH = {
    "_parameters": dict, "_buffers": dict, "_non_persistent_buffers_set": set, "_backward_pre_hooks": OrderedDict,
    "_backward_hooks": OrderedDict, "_is_full_backward_hook": lambda: None, "_forward_hooks": OrderedDict,
    "_forward_hooks_with_kwargs": OrderedDict, "_forward_hooks_always_called": OrderedDict,
    "_forward_pre_hooks": OrderedDict, "_forward_pre_hooks_with_kwargs": OrderedDict, "_state_dict_hooks": OrderedDict,
    "_state_dict_pre_hooks": OrderedDict, "_load_state_dict_pre_hooks": OrderedDict,
    "_load_state_dict_post_hooks": OrderedDict, "_modules": dict,
}


def _addindent(text, spaces):
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line if line.strip() else "" for line in rest)])


def _hooked(module):
    """Whether anything is to be done around a module's ``forward``."""
    return (module._backward_hooks or module._backward_pre_hooks or module._forward_hooks or module._forward_pre_hooks
            or _hooks.forward or _hooks.forward_pre or _hooks.backward or _hooks.backward_pre)


def _forward_unimplemented(self, *input):
    """Every subclass says here what it computes."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module:
    """Base of all layers and models: assign Parameters, buffers and Modules to attributes, and write ``forward``.

    Calling the module runs ``forward`` and the hooks registered around it.

    >>> import jtensor as torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(3.))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(torch.ones(2))
    tensor([3., 3.], grad_fn=<MulBackward0>)
    """

    dump_patches = False
    _version = 1
    call_super_init = False
    _compiled_call_impl = None

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        state = self.__dict__
        state["training"] = True
        for name, make in _FRESH.items():
            state[name] = make()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward = _forward_unimplemented

    # ------------------------------------------------------------------------------------------------ attribute access

    def __getattr__(self, name):
        # Reached only for names that are no ordinary attributes: at every `self.weight` of a forward, so there is no loop here.
        state = self.__dict__
        if "_modules" in state:
            if name in (members := state["_parameters"]) or name in (members := state["_modules"]) or \
                    name in (members := state["_buffers"]):
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        state = self.__dict__
        params = state.get("_parameters")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _registration.forget(self, name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif isinstance(value, Module) or name in state.get("_modules", ()):
            _registration.set_module(self, name, value)
        elif isinstance(value, Buffer) or name in state.get("_buffers", ()):
            _registration.set_buffer(self, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name):
        for members in (self._parameters, self._buffers, self._modules):
            if name in members:
                del members[name]
                if members is self._buffers:
                    self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self):
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    # ---------------------------------------------------------------------------------------------------------- calling

    def _call_impl(self, *args, **kwargs):
        if _hooked(self):
            return _hooks.call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        if _new:
            _begun.begin()
        segment = LOCAL.segment
        if segment.mark is None:
            segment.mark = len(segment.nodes)
        state = self.__dict__                   # an attribute of a class that has a `__getattr__` costs more
        try:
            hooked = (state["_forward_hooks"] or state["_forward_pre_hooks"] or state["_backward_hooks"] or state["_backward_pre_hooks"]
                      or _hooks.forward or _hooks.forward_pre or _hooks.backward or _hooks.backward_pre)
        except KeyError:
            hooked = _hooked(self)
        if hooked:
            return _hooks.call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs) if kwargs else self.forward(*args)

    _wrapped_call_impl = __call__

    def compile(self, *args, **kwargs):
        """From now on calls go through ``jtensor.compile``."""
        self._compiled_call_impl = jtensor.compile(self._call_impl, *args, **kwargs)

    # ------------------------------------------------------------------------------------------------------------ modes

    def train(self, mode=True):
        """Sets ``training`` here and below; dropout, normalisations and the like behave accordingly."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """The same as ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets ``requires_grad`` of every parameter, e.g. to freeze a part of a model."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients of all parameters, or with ``set_to_none=False`` fills them with zeros."""
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    # ---------------------------------------------------------------------------------------------- printing, pickling

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What ``repr`` shows between the brackets; a subclass says its settings here."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra = extra.split("\n") if extra else []
        below = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if len(extra) == 1 and not below:
            inside = extra[0]
        else:
            lines = extra + below
            inside = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({inside})"

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name, make in _FRESH.items():  # a module pickled by an older version may lack some
            if name not in self.__dict__:
                self.__dict__[name] = make()

    # ------------------------------------------------------------------------------------ methods from the other rooms

    register_buffer = _registration.register_buffer
    register_parameter = _registration.register_parameter
    add_module = _registration.add_module
    register_module = _registration.register_module

    _named_members = _traversal._named_members
    named_parameters = _traversal.named_parameters
    parameters = _traversal.parameters
    named_buffers = _traversal.named_buffers
    buffers = _traversal.buffers
    named_children = _traversal.named_children
    children = _traversal.children
    named_modules = _traversal.named_modules
    modules = _traversal.modules
    get_submodule = _traversal.get_submodule
    set_submodule = _traversal.set_submodule
    get_parameter = _traversal.get_parameter
    get_buffer = _traversal.get_buffer

    _apply = _convert._apply
    apply = _convert.apply
    float = _convert.float
    double = _convert.double
    half = _convert.half
    bfloat16 = _convert.bfloat16
    type = _convert.type
    cpu = _convert.cpu
    cuda = _convert.cuda
    to = _convert.to
    to_empty = _convert.to_empty
    share_memory = _convert.share_memory

    get_extra_state = _state_dict.get_extra_state
    set_extra_state = _state_dict.set_extra_state
    _save_to_state_dict = _state_dict._save_to_state_dict
    _load_from_state_dict = _state_dict._load_from_state_dict
    state_dict = _state_dict.state_dict
    load_state_dict = _state_dict.load_state_dict
    _register_state_dict_hook = _state_dict._register_state_dict_hook
    register_state_dict_post_hook = _state_dict.register_state_dict_post_hook
    register_state_dict_pre_hook = _state_dict.register_state_dict_pre_hook
    _register_load_state_dict_pre_hook = _state_dict._register_load_state_dict_pre_hook
    register_load_state_dict_pre_hook = _state_dict.register_load_state_dict_pre_hook
    register_load_state_dict_post_hook = _state_dict.register_load_state_dict_post_hook

    register_forward_pre_hook = _hooks.register_forward_pre_hook
    register_forward_hook = _hooks.register_forward_hook
    register_full_backward_pre_hook = _hooks.register_full_backward_pre_hook
    register_full_backward_hook = _hooks.register_full_backward_hook
    register_backward_hook = _hooks.register_backward_hook
    _get_backward_hooks = _hooks._get_backward_hooks
    _get_backward_pre_hooks = _hooks._get_backward_pre_hooks


for _room in (_registration, _traversal, _convert, _state_dict, _hooks):  # so that tracebacks and help() say Module.x
    for _name, _function in vars(_room).items():
        if callable(_function) and vars(Module).get(_name) is _function:
            _function.__qualname__ = f"Module.{_name}"
del _room, _name, _function
