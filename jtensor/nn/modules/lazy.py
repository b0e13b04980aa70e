"""Modules that learn the shapes of their parameters from the first input."""
import itertools

import jtensor

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Put before a module class: its uninitialised parameters get their shapes at the first call or from a state dict,
    after which the module is of class ``cls_to_become``. The subclass writes ``initialize_parameters``."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        # As for any module, but what is uninitialised cannot be detached and goes in as it is.
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Gives uninitialised parameters the shapes that the state dict has for them."""
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and tensor is not None and is_lazy(tensor) and not is_lazy(given):
                with jtensor.no_grad():
                    tensor.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Gets what forward gets, and gives the parameters their shapes."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether any parameter or buffer still waits for its shape."""
        return any(map(is_lazy, itertools.chain(self._parameters.values(), self._buffers.values())))

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
