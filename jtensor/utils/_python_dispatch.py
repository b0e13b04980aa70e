"""Classes of tensors that PyTorch asks below its public functions, where here is nothing to be asked. Owns: the question for them: no."""

from ..base.absent import kind

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass"]

TorchDispatchMode = kind(__name__, "TorchDispatchMode", "__torch_dispatch__", "torch.overrides.TorchFunctionMode")


def is_traceable_wrapper_subclass(t):
    """Whether a tensor holds others and is taken apart into them by a compiler: no."""
    return False
