"""Tensors that a module holds as its own: Parameter, Buffer and their uninitialised forms.

The room knows tensors (through their public face) and no module.
"""
from collections import OrderedDict

import jtensor

from ..tensor.calling.overriding import disabled, install
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


class UninitializedTensorMixin:
    """A parameter or buffer whose shape the first forward pass decides; ``materialize`` gives it one.

    ValueError from any function that is given one, but for a few (`_allowed_methods`).
    """

    cls_to_become = None
    _allowed_methods = [
        jtensor.Tensor.__hash__, jtensor.Tensor.size, jtensor.Tensor.copy_, jtensor.Tensor.is_complex, jtensor.Tensor.is_floating_point,
        jtensor.Tensor.half, jtensor.Tensor.float, jtensor.Tensor.double, jtensor.Tensor.char, jtensor.Tensor.short, jtensor.Tensor.int,
        jtensor.Tensor.long, jtensor.Tensor.cuda, jtensor.Tensor.cpu, jtensor.Tensor.to, jtensor.Tensor.get_device]

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

    __copy__ = None                                                # by `__reduce_ex__`

    __torch_function__ = staticmethod(disabled)                    # until there is one (`_ask`)


@classmethod
def _refusing(cls, func, types, args=(), kwargs=None):
    """``__torch_function__`` of what has no shape as yet."""
    if func in cls._allowed_methods or type(func).__name__ == "method-wrapper":                 # the latter of properties
        return super(UninitializedTensorMixin, cls).__torch_function__(func, types, args, kwargs or {})
    from .. import overridable
    raise ValueError(
        f"Attempted to use an uninitialized parameter in {overridable.printed(func)}. This error happens when you are using a "
        f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` "
        "with a dummy batch to initialize the parameters before calling torch functions")


def _ask():
    """Has functions ask, from the first parameter on that has no shape."""
    if UninitializedTensorMixin.__torch_function__ is disabled:
        UninitializedTensorMixin.__torch_function__ = _refusing
        install()


def is_lazy(param):
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter without a shape as yet, as the Lazy modules hold."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        _ask()
        return jtensor.Tensor._make_subclass(cls, jtensor.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return known


class UninitializedBuffer(UninitializedTensorMixin, jtensor.Tensor):
    """A buffer without a shape as yet, as the lazy normalisations hold."""

    cls_to_become = jtensor.Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        _ask()
        buffer = jtensor.Tensor._make_subclass(cls, jtensor.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer
