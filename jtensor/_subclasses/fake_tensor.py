"""Tensors without values, for who looks at a program without running it: what `node.meta` of a traced graph has.

Owns: `FakeTensor`, made of another tensor's geometry. May not know: who looks.
"""
import contextlib

from ..base import dtypes
from ..base.absent import kind
from ..base.errors import missing
from ..tensor.core import Tensor

__all__ = ["FakeTensor", "FakeTensorConverter", "FakeTensorMode", "is_fake", "maybe_get_fake_mode", "unset_fake_temporarily"]
_ABOUT = "tensors of torch._subclasses", 'tensors on the device "meta"'


class FakeTensor(Tensor):
    """A tensor without values that says where it would be. There are those in a traced graph's ``node.meta``; others cannot be made, a
    tensor on the device "meta" is an ordinary one."""

    def __new__(cls, *args, **kwargs):
        raise missing(*_ABOUT)

    @property
    def device(self):
        """Where the tensor would be."""
        return self.__dict__.get("fake_device") or Tensor.device.__get__(self)

    def __repr__(self, *, tensor_contents=None):
        parts = ["...", f"size={tuple(self.shape)}"]
        if self.__dict__.get("fake_device") is not None and self.fake_device.type != "cpu":
            parts.insert(1, f"device='{self.fake_device}'")
        if self.dtype not in (dtypes.get_default_dtype(), dtypes.bool):
            parts.append(f"dtype={self.dtype}")
        elif self.dtype is dtypes.bool:
            parts.append("dtype=torch.bool")
        if self.requires_grad:
            parts.append("requires_grad=True")
        return f"FakeTensor({', '.join(parts)})"


def fake_of(tensor):
    """A `FakeTensor` that is as a tensor is, but for its values; it needs no gradient."""
    made = _without_values(tensor).as_subclass(FakeTensor)
    made.fake_device = tensor.device
    return made


def _without_values(tensor):
    import jtensor
    sizes, strides = tuple(tensor.shape), tensor.stride()
    last = 0 if 0 in sizes else 1 + sum([(n - 1) * step for n, step in zip(sizes, strides, strict=True)])
    return jtensor.empty(last, dtype=tensor.dtype, device="meta").as_strided(sizes, strides)


def is_fake(x):
    """Whether a tensor stands for one without values.

    >>> from jtensor._subclasses.fake_tensor import is_fake
    >>> is_fake(torch.ones(2))
    False
    """
    return isinstance(x, FakeTensor)


FakeTensorMode = kind(__name__, "FakeTensorMode", *_ABOUT)
FakeTensorConverter = kind(__name__, "FakeTensorConverter", *_ABOUT)


def maybe_get_fake_mode(t):
    """The mode that a tensor without values was made in: None, since there is none such."""
    return None


@contextlib.contextmanager
def unset_fake_temporarily():
    """A context outside of the mode in which tensors have no values; it is given that mode: None, since there is none."""
    yield
