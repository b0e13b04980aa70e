"""Tensors without values, for who looks at a program without running it. Owns: the question whether a tensor is one: never."""
from ..base.errors import missing

__all__ = ["FakeTensor", "is_fake"]


class FakeTensor:
    """A tensor without values. To be named alone: there is no instance, a tensor on the device "meta" is an ordinary one."""

    def __new__(cls, *args, **kwargs):
        raise missing("tensors of torch._subclasses", 'tensors on the device "meta"')


def is_fake(x):
    """Whether a tensor stands for one without values: no."""
    return False
