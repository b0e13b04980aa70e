"""Tensors without values, for who looks at a program without running it. Owns: the question whether a tensor is one: never."""
import contextlib

from ..base.absent import kind
from ..base.errors import missing

__all__ = ["FakeTensor", "FakeTensorConverter", "FakeTensorMode", "is_fake", "maybe_get_fake_mode", "unset_fake_temporarily"]
_ABOUT = "tensors of torch._subclasses", 'tensors on the device "meta"'


class FakeTensor:
    """A tensor without values. To be named alone: there is no instance, a tensor on the device "meta" is an ordinary one."""

    def __new__(cls, *args, **kwargs):
        raise missing(*_ABOUT)


def is_fake(x):
    """Whether a tensor stands for one without values: no."""
    return False


FakeTensorMode = kind(__name__, "FakeTensorMode", *_ABOUT)
FakeTensorConverter = kind(__name__, "FakeTensorConverter", *_ABOUT)


def maybe_get_fake_mode(t):
    """The mode that a tensor without values was made in: None, since there is none such."""
    return None


@contextlib.contextmanager
def unset_fake_temporarily():
    """A context outside of the mode in which tensors have no values; it is given that mode: None, since there is none."""
    yield
