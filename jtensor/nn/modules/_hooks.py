"""Registering hooks on modules, and calling a module that has some.

Owns the hooks common to all modules, the functions that register hooks (methods of Module are taken from here), and
``call_with_hooks``, the path a call takes as soon as there is any hook. A module without hooks never comes here.
"""
import warnings
from collections import OrderedDict

import jtensor

from ...utils.hooks import register
from ..hooks import BackwardHook, WrappedHook

buffer_registration, module_registration, parameter_registration = OrderedDict(), OrderedDict(), OrderedDict()
backward_pre, backward, forward_pre, forward = OrderedDict(), OrderedDict(), OrderedDict(), OrderedDict()
forward_always_called, forward_with_kwargs = OrderedDict(), OrderedDict()
_backward_is_full = None  # whether the common backward hooks are full ones; None while there was none

_MIXED = ("Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them.")


# ------------------------------------------------------------------------------------------ hooks common to all modules

def register_module_buffer_registration_hook(hook):
    """``hook(module, name, buffer)`` runs whenever a buffer is registered; what it returns (not None) is taken instead."""
    return register(buffer_registration, hook)


def register_module_module_registration_hook(hook):
    """``hook(module, name, submodule)`` runs whenever a submodule is registered; its answer (not None) is taken instead."""
    return register(module_registration, hook)


def register_module_parameter_registration_hook(hook):
    """``hook(module, name, param)`` runs whenever a parameter is registered; its answer (not None) is taken instead."""
    return register(parameter_registration, hook)


def register_module_forward_pre_hook(hook):
    """``hook(module, args)`` runs before the forward of every module, before the module's own hooks."""
    return register(forward_pre, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """``hook(module, args, output)`` runs after the forward of every module, before the module's own hooks."""
    handle = register(forward, hook, flags=[(forward_always_called, always_call)])
    if with_kwargs:
        forward_with_kwargs[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook):
    """``hook(module, grad_output)`` runs before every module's backward."""
    return register(backward_pre, hook)


def _register_common_backward(hook, full):
    global _backward_is_full
    if _backward_is_full is (not full):
        raise RuntimeError(_MIXED.format("as a global Module hook"))
    _backward_is_full = full
    return register(backward, hook)


def register_module_backward_hook(hook):
    """The older form of ``register_module_full_backward_hook``: hangs on the last node of a module's forward only."""
    return _register_common_backward(hook, False)


def register_module_full_backward_hook(hook):
    """``hook(module, grad_input, grad_output)`` runs after every module's backward."""
    return _register_common_backward(hook, True)


# --------------------------------------------------------------------------------------------------- methods of Module

def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
    """``hook(module, args)`` (``hook(module, args, kwargs)``) runs before each forward; it may return new arguments."""
    return register(self._forward_pre_hooks, hook, prepend, [(self._forward_pre_hooks_with_kwargs, with_kwargs)])


def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
    """``hook(module, args, output)`` runs after each forward; it may return another output.

    ``always_call``: run even when forward raised.
    """
    return register(self._forward_hooks, hook, prepend, [(self._forward_hooks_with_kwargs, with_kwargs),
                                                             (self._forward_hooks_always_called, always_call)])


def register_full_backward_pre_hook(self, hook, prepend=False):
    """``hook(module, grad_output)`` runs before the module's backward; it may return other output gradients."""
    return register(self._backward_pre_hooks, hook, prepend)


def register_full_backward_hook(self, hook, prepend=False):
    """``hook(module, grad_input, grad_output)`` runs once the gradients of the module's inputs are known."""
    if self._is_full_backward_hook is False:
        raise RuntimeError(_MIXED.format("on a single Module"))
    self._is_full_backward_hook = True
    return register(self._backward_hooks, hook, prepend)


def register_backward_hook(self, hook):
    """The older form of ``register_full_backward_hook``: hangs on the last node of the forward only."""
    if self._is_full_backward_hook is True:
        raise RuntimeError(_MIXED.format("on a single Module"))
    self._is_full_backward_hook = False
    return register(self._backward_hooks, hook)


def _get_backward_hooks(self):
    """(full hooks, hooks of the older kind), the common ones first."""
    kinds = {True: [], False: []}
    for is_full, hooks in ((_backward_is_full, backward), (self._is_full_backward_hook, self._backward_hooks)):
        if is_full is not None:
            kinds[is_full] += hooks.values()
    return kinds[True], kinds[False]


def _get_backward_pre_hooks(self):
    return [*backward_pre.values(), *self._backward_pre_hooks.values()]


# ------------------------------------------------------------------------------------------------------------- calling

def call_with_hooks(module, args, kwargs):
    """Forward with everything that is registered around it."""
    called, result = set(), [None]
    try:
        return _call(module, args, kwargs, called, result)
    except Exception:
        _call_the_rest(module, args, kwargs, called, result[0])
        raise


def _call(module, args, kwargs, called, result):
    """``called`` and ``result`` tell the caller, should something raise, how far this has come."""
    pre_hooks = _get_backward_pre_hooks(module)
    full, older = _get_backward_hooks(module)
    args, kwargs = _run_pre_hooks(module, args, kwargs)
    around = None
    if full or pre_hooks:
        around = BackwardHook(module, full, pre_hooks)
        args = around.setup_input_hook(args)

    output = result[0] = module.forward(*args, **kwargs)

    for _, hook_id, hook in _all(forward, module._forward_hooks):
        if hook_id in module._forward_hooks_always_called or hook_id in forward_always_called:
            called.add(hook_id)
        if hook_id in module._forward_hooks_with_kwargs or hook_id in forward_with_kwargs:
            answer = hook(module, args, kwargs, output)
        else:
            answer = hook(module, args, output)
        if answer is not None:
            output = result[0] = answer
    if around is not None:
        if not isinstance(output, (jtensor.Tensor, tuple)):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                          f"received {type(output)}", stacklevel=4)
        output = around.setup_output_hook(output)
    if older:
        _hang_older_hooks(module, older, args, output)
    return output


def _all(common, own):
    """Every hook with its id; a snapshot, since a hook may remove itself while it runs."""
    return [(False, *item) for item in common.items()] + [(True, *item) for item in own.items()]


def _run_pre_hooks(module, args, kwargs):
    for _, hook_id, hook in _all(forward_pre, module._forward_pre_hooks):
        if hook_id in module._forward_pre_hooks_with_kwargs:
            answer = hook(module, args, kwargs)
            if answer is None:
                continue
            if not (isinstance(answer, tuple) and len(answer) == 2):
                raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                                   f"{answer}.")
            args, kwargs = answer
        else:
            answer = hook(module, args)
            if answer is not None:
                args = answer if isinstance(answer, tuple) else (answer,)
    return args, kwargs


def _call_the_rest(module, args, kwargs, called, result):
    """After an exception: the hooks that asked to be called always and were not called as yet."""
    for own, hook_id, hook in _all(forward, module._forward_hooks):
        always = module._forward_hooks_always_called if own else forward_always_called
        if hook_id not in always or hook_id in called:
            continue
        try:
            if own and hook_id in module._forward_hooks_with_kwargs:
                answer = hook(module, args, kwargs, result)
            else:
                answer = hook(module, args, result)
            if answer is not None:
                result = answer
        except Exception as e:
            which = "module forward hook" if own else "global module forward hook"
            warnings.warn(f"{which} with ``always_call=True`` raised an exception that was silenced as another error was "
                          f"raised in forward: {e}", stacklevel=4)


# ------------------------------------------------------------------------------- backward hooks of the older kind

def _hang_older_hooks(module, hooks, args, output):
    found = output
    while not isinstance(found, jtensor.Tensor):
        if isinstance(found, dict):
            found = next(v for v in found.values() if isinstance(v, jtensor.Tensor))
        else:
            found = found[0]
    node = found.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(WrappedHook(hook, module))
        _warn_of_older_hooks(args, output, node)


def _as_tensors(x):
    if isinstance(x, jtensor.Tensor):
        return (x,)
    return x if isinstance(x, tuple) and all(isinstance(t, jtensor.Tensor) for t in x) else None


def _warn_of_older_hooks(inputs, result, node):
    """Says where a hook of the older kind cannot see the whole module."""
    use_full = "Please use register_full_backward_hook to get the documented behavior."
    outputs, inputs = _as_tensors(result), _as_tensors(inputs)
    message = None
    if outputs is None:
        message = ("Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors is "
                   "deprecated and will be removed in future versions. This hook will be missing some of the grad_output. "
                   + use_full)
    elif inputs is None:
        message = ("Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
                   "Tensors is deprecated and will be removed in future versions. This hook will be missing some of the "
                   "grad_input. " + use_full)
    else:
        nodes = {t.grad_fn for t in outputs if t.grad_fn is not None}
        if not nodes or (len(nodes) == 1 and node not in nodes):
            message = ("Using a non-full backward hook when outputs are nested in python data structure is deprecated and "
                       "will be removed in future versions. This hook will be missing some grad_output.")
        elif len(nodes) > 1:
            message = ("Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated "
                       "and will be removed in future versions. This hook will be missing some grad_output. " + use_full)
        elif {t.grad_fn for t in inputs if t.grad_fn is not None} != {edge[0] for edge in node.next_functions}:
            message = ("Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and "
                       "will be removed in future versions. This hook will be missing some grad_input. " + use_full)
    if message:
        warnings.warn(message, FutureWarning, stacklevel=6)
