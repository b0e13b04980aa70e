"""Hooks on the gradients that flow into and out of a module.

A full backward hook sees the gradients of the module's inputs and outputs as a whole. To have one place where they
are all known, identity nodes are put around the forward pass:

    args -> [identity node] -> forward -> [identity node] -> result
             sees grad_input                sees grad_output

``nn.modules._hooks`` decides when such a pair is needed; this room builds it.
"""
import weakref
from functools import update_wrapper

import jtensor

from ..base import sites

__all__ = ["BackwardHook", "WrappedHook"]

_function = None  # the autograd Function, made at its first use: autograd need not be there when nn is imported


def _identity(*tensors):
    global _function
    if _function is None:
        class BackwardHookFunction(jtensor.autograd.Function):
            """Passes tensors through; its node is where module hooks are hung up."""

            @staticmethod
            def forward(ctx, *tensors):
                ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
                return tensors

            @staticmethod
            def backward(ctx, *grads):
                return grads

        _function = BackwardHookFunction
    return _function.apply(*tensors)


class WrappedHook:
    """A hook that gets its module as first argument, holds it weakly, and can be pickled with it."""

    def __init__(self, hook, module=None):
        self.hook = hook
        update_wrapper(self, hook)
        self.with_module = module is not None
        if self.with_module:
            self.module = weakref.ref(module)

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state):
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


# a model's pickle names it, as PyTorch's does
WrappedHook.__module__, WrappedHook.__qualname__ = f"{__name__.rpartition('.')[0]}.modules.module", "_WrappedHook"


def _spread(positions, values, size):
    """A tuple of ``size`` entries: the values at their positions, None elsewhere."""
    placed = [None] * size
    for position, value in zip(positions, values, strict=True):
        placed[position] = value
    return tuple(placed)


class BackwardHook:
    """The pair of identity nodes around one call of a module, and the hooks that fire at them.

    The node behind the outputs fires first: it keeps the output gradients (after the pre-hooks had their say); the node
    before the inputs then calls the hooks with both.
    """

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None
        self.inputs = self.outputs = None    # positions of the tensors, or None where nothing needs a gradient
        self.n_inputs = self.n_outputs = -1

    def setup_input_hook(self, args):
        """The arguments, passed through the input node."""
        passed, self.inputs = self._pass(args, self._at_inputs)
        self.n_inputs = len(args)
        return passed

    def setup_output_hook(self, result):
        """The result, passed through the output node."""
        single = not isinstance(result, tuple)
        results = (result,) if single else result
        passed, self.outputs = self._pass(results, self._at_outputs)
        self.n_outputs = len(results)
        return passed[0] if single else passed

    def _pass(self, args, at_node):
        positions = [i for i, arg in enumerate(args) if isinstance(arg, jtensor.Tensor)]
        if not (jtensor.is_grad_enabled() and any(args[i].requires_grad for i in positions)):
            return args, None
        passed = _identity(*(args[i] for i in positions))
        node = next((t.grad_fn for t in passed if t.grad_fn is not None), None)
        if node is None:
            raise RuntimeError("Error while setting up backward hooks. Please open an issue with a code sample to "
                               "reproduce this.")
        def hook(grad_input, grad_output):                     # by this name messages call it
            return at_node(grad_input, grad_output)

        node.register_hook(hook)
        merged = list(args)
        for position, tensor in zip(positions, passed, strict=True):
            merged[position] = tensor
        return (tuple(merged) if type(args) is tuple else type(args)(*merged)), positions

    def _at_outputs(self, _, grad_output):
        grads = _spread(self.outputs, grad_output, self.n_outputs)
        expected = len(grads)
        for pre_hook in self.pre_hooks:
            changed = pre_hook(self.module, grads)
            if changed is None:
                continue
            if len(changed) != expected:
                raise RuntimeError(f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but "
                                   f"expected {expected}")
            grads = changed
        self.grad_outputs = grads
        if self.inputs is None:
            self._fire_without_inputs(grads)
        return tuple(grads[i] for i in self.outputs)

    def _fire_without_inputs(self, grad_outputs):
        # No input needs a gradient: there is no input node, so this is the only occasion.
        sites.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no "
                   "inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                   "#torch.nn.Module.register_full_backward_hook for more details.")
        nothing = (None,) * self.n_inputs
        for hook in self.hooks:
            answer = hook(self.module, nothing, grad_outputs)
            if answer is not None and not (isinstance(answer, tuple) and all(part is None for part in answer)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None "
                                   "or None for all gradients.")
        self.grad_outputs = None

    def _at_inputs(self, grad_input, _):
        if self.grad_outputs is None:  # the gradient came another way than through the module's outputs
            return None
        grads = _spread(self.inputs, grad_input, self.n_inputs)
        for hook in self.hooks:
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is None:
                continue
            if len(changed) != len(grads):
                raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but "
                                   f"expected {len(grads)}")
            grads = changed
        self.grad_outputs = None
        return tuple(grads[i] for i in self.inputs)
