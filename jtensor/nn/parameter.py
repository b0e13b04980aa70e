"""Tensors that a module holds as its own: Parameter, Buffer and their uninitialised forms.

The room knows tensors (through their public face) and no module.
"""
from collections import OrderedDict

import jtensor

from ..tensor.calling.overriding import disabled
from ..tensor.memory import sending
from ..tensor.states import set_state, state_of

__all__ = ["Parameter", "UninitializedParameter", "is_lazy", "Buffer", "UninitializedBuffer", "UninitializedTensorMixin"]


class _ParameterMeta(type(jtensor.Tensor)):
    """Lets a tensor of a user's own subclass count as a Parameter by its mark ``_is_param``."""

    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, jtensor.Tensor) and getattr(instance, "_is_param", False)


class _BufferMeta(type(jtensor.Tensor)):
    """A Buffer stays a plain tensor with the mark ``_is_buffer``; isinstance looks at the mark."""

    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Buffer and isinstance(instance, jtensor.Tensor) and getattr(instance, "_is_buffer", False)


def _rebuild_parameter(data, requires_grad, backward_hooks, state=None):
    """What a pickled Parameter is rebuilt by. The place of the hooks is PyTorch's; it is always empty."""
    param = Parameter(data, requires_grad)
    if state:
        set_state(param, state)
    return param


class Parameter(jtensor.Tensor, metaclass=_ParameterMeta):
    """A tensor that, assigned to an attribute of a Module, is one of its parameters.

    ``data``: any tensor (its shape, dtype and storage are taken over); absent: an empty one.
    ``requires_grad``: True unless said otherwise, inside ``no_grad`` too.

    >>> import jtensor as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = staticmethod(disabled)                    # what is made of a parameter is a plain tensor

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = jtensor.empty(0)
        kind = type(data)
        if kind is jtensor.Tensor or kind is Parameter:
            return jtensor.Tensor._make_subclass(cls, data, requires_grad)
        param = data.detach().requires_grad_(requires_grad)
        if type(param) is not kind:
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {kind.__name__} requires that detach() returns an instance "
                f"of the same type, but return type {type(param).__name__} was found instead. To use the type as a "
                "Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation.")
        param._is_param = True
        return param

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is None:
            data = self.data.clone(memory_format=jtensor.preserve_format)
            known = memo[id(self)] = type(self)(data, self.requires_grad)
        return known

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol):
        # Hooks are functions of the running program: like PyTorch, none of them travels.
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict(), state_of(self))


def _received(*sent):
    made = sending.receive_tensor(*sent)
    return Parameter(made.detach(), made.requires_grad)


sending.send(Parameter, _received)


class Buffer(jtensor.Tensor, metaclass=_BufferMeta):
    """A tensor that, assigned to an attribute of a Module, is one of its buffers.

    ``persistent``: whether it is part of the module's state dict. The result is a plain tensor.

    >>> import jtensor as torch
    >>> m = torch.nn.Module()
    >>> m.mean = torch.nn.Buffer(torch.zeros(2))
    >>> list(m.state_dict())
    ['mean']
    """

    __torch_function__ = staticmethod(disabled)                    # of this class there are no instances

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = jtensor.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
    "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before "
    "accessing their attributes.")


_ALLOWED = frozenset("""size copy_ is_complex is_floating_point half float double char short int long cuda cpu to get_device materialize
    share_memory_""".split())
_KERNELS = {"__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul",
            "__truediv__": "div", "__matmul__": "matmul", "__pow__": "pow", "__neg__": "neg", "__lt__": "lt", "__le__": "le",
            "__gt__": "gt", "__ge__": "ge", "__abs__": "abs", "__mod__": "remainder", "__iter__": "dim", "ndimension": "dim",
            "nelement": "numel", **{name: name for name in """
               __rsub__ __rtruediv__ __rpow__ __eq__ __ne__ __bool__ __float__ __int__ __len__ __contains__ __array__ __invert__ __and__
               __or__ __xor__ __floordiv__ __getitem__ __setitem__ __format__ __reversed__ __isub__ __imul__ __itruediv__
               __rmatmul__""".split()}}


# Methods that PyTorch has in Python.
_IN_PYTHON = frozenset("""__array__ __contains__ __deepcopy__ __floordiv__ __format__ __len__ __reversed__ __rpow__ __rsub__ __rtruediv__
    __rmatmul__ backward dim_order index is_shared istft lu norm register_hook register_post_accumulate_grad_hook resize resize_as split
    stft storage to_sparse_coo unflatten unique unique_consecutive""".split())


def _refused(name):
    """The method of a tensor without a shape: PyTorch lets few through."""
    if name in _IN_PYTHON:
        what = f"<function Tensor.{name} at {id(getattr(jtensor.Tensor, name)):#x}>"
    else:
        kind = "slot wrapper" if name in ("__getitem__", "__setitem__") else "method"
        what = f"<{kind} '{_KERNELS.get(name, name)}' of 'torch._C.TensorBase' objects>"

    def refuse(self, *args, **kwargs):
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {what}. This error happens when you are using a `LazyModule` or explicitly "
            f"manipulating `torch.nn.parameter.{type(self).__name__}` objects. When using LazyModules Call `forward` with a dummy batch to "
            "initialize the parameters before calling torch functions")
    refuse.__name__ = name
    return refuse


class UninitializedTensorMixin:
    """A parameter or buffer whose shape the first forward pass decides; ``materialize`` gives it one."""

    cls_to_become = None

    def materialize(self, shape, device=None, dtype=None):
        """Gives the tensor its shape; its values are uninitialised, its class becomes the ordinary one."""
        data = self.data
        self.data = jtensor.empty(shape, device=data.device if device is None else device,
                                  dtype=data.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(_NO_SHAPE)

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
                           "parameters before calling `module.share_memory()`.")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad,)


for _name in [*_KERNELS, *dir(jtensor.Tensor)]:
    if _name in _KERNELS or _name[0] != "_" and _name not in _ALLOWED and callable(getattr(jtensor.Tensor, _name)):
        setattr(UninitializedTensorMixin, _name, _refused(_name))


def is_lazy(param):
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter without a shape as yet, as the Lazy modules hold."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return jtensor.Tensor._make_subclass(cls, jtensor.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return known


class UninitializedBuffer(UninitializedTensorMixin, jtensor.Tensor):
    """A buffer without a shape as yet, as the lazy normalisations hold."""

    cls_to_become = jtensor.Tensor
    __torch_function__ = staticmethod(disabled)

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        buffer = jtensor.Tensor._make_subclass(cls, jtensor.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    __deepcopy__ = _refused("__deepcopy__")                        # PyTorch's parameter alone has its own


def _still_without_shape(name):
    """A conversion of a tensor, after which a buffer still waits for its shape: a module puts it in the old one's place."""
    convert = getattr(jtensor.Tensor, name)

    def converted(self, *args, **kwargs):
        made = convert(self, *args, **kwargs)
        return made if made is self else type(self)(self.requires_grad, made.device, made.dtype, self.persistent)
    converted.__name__ = name
    return converted


for _name in ("half", "float", "double", "char", "short", "int", "long", "cuda", "cpu", "to"):
    setattr(UninitializedBuffer, _name, _still_without_shape(_name))
