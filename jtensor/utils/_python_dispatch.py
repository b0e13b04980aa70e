"""Classes of tensors that PyTorch asks below its public functions, where here is nothing to be asked. Owns: the question for them: no."""

__all__ = ["is_traceable_wrapper_subclass"]


def is_traceable_wrapper_subclass(t):
    """Whether a tensor holds others and is taken apart into them by a compiler: no."""
    return False
