"""A mode of PyTorch's by which functions that are given to attention read a tensor at an index that is a tensor. Owns: its name."""
import contextlib


class TransformGetItemToIndex(contextlib.nullcontext):
    """Context in which ``x[i]`` inside of `vmap` takes a tensor for ``i``, as it does here anywhere."""


__all__ = ["TransformGetItemToIndex"]
