"""Tensors whose writes are rewritten, for who looks at a program. Owns: the names of that; there is none."""
from ..base.errors import missing

__all__ = ["FunctionalTensor", "mb_unwrap_functional_tensor"]


class FunctionalTensor:
    """A tensor whose writes are rewritten. To be named alone: there is no instance."""

    def __new__(cls, *args, **kwargs):
        raise missing("tensors of torch._subclasses", "torch.func.functionalize")


def mb_unwrap_functional_tensor(tensor):
    """What a tensor stands for: itself."""
    return tensor
