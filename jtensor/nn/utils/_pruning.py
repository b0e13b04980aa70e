"""The hook that prunes, and several of them one after the other.

A pruned parameter ``name`` is kept as ``name_orig``, its mask is the buffer ``name_mask``, and ``name`` is their product. Owns: this
exchange, and the tensors' places that a structured method names. May not know: how a method chooses, nor layers.
"""
import abc

import jtensor


def along(t, dim, index):
    """The index of a tensor that takes ``index`` along a dimension, and all of the others."""
    slices = [slice(None)] * t.dim()
    slices[dim] = index
    return tuple(slices)


def taken_out(hooks, name):
    """Takes the pruning hook of a parameter out of a module's hooks, and answers it, or None."""
    found = [key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module. Use a PruningContainer.")
    return hooks.pop(found[0]) if found else None


class BasePruningMethod(abc.ABC):
    """A way to prune: `compute_mask` says what stays; ``PRUNING_TYPE`` is "unstructured", "structured" or "global"."""

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for scores ``t``, of which ``default_mask`` tells what has gone already."""

    def apply_mask(self, module):
        """The original times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter, by ``importance_scores`` or its own values, on top of what has pruned it before; answers the hook."""
        before, method = taken_out(module._forward_pre_hooks, name), cls(*args, **kwargs)
        method._tensor_name = name
        if before is not None:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if before is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = jtensor.ones_like(original)
        else:
            mask = getattr(module, name + "_mask").detach().clone(memory_format=jtensor.contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if before is None:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned tensor, without a module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        return t * self.compute_mask(scores, default_mask=jtensor.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Makes the pruned values the parameter's own; the mask goes."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Methods one after the other: the last one chooses of what the others have left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """One more, of the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}."
                             f" Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, at):
        return self._pruning_methods[at]

    def compute_mask(self, t, default_mask):
        """The last method's mask, of what is still there, in the whole one."""
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            there = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim + t.dim() if method.dim < 0 else method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
            there = along(t, dim, default_mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0)
        elif method.PRUNING_TYPE == "global":
            there = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.to(dtype=t.dtype).clone()
        mask[there] = method.compute_mask(t[there], default_mask=default_mask[there]).to(dtype=mask.dtype)
        return mask
