"""Methods, functions and operators of Python, derived from the registry's declarations.

Each operator gives ``torch.name``, ``Tensor.name``, ``Tensor.name_`` and ``out=``, as its declaration says; composites are installed as
they are.
The functions are written as source text with the operator's own signature, so that binding arguments costs what a Python call costs.
"""
import functools
import inspect

import numpy as np

from ..ops.families.aliases import ALIASES, INPLACE_FUNCTIONS
from ..ops.operator import Operator
from ..ops.registry import REGISTRY
from . import convert, from_data, likes
from .arguments import of_method
from .core import Tensor
from .dispatch import call
from .inplace import call_inplace

FUNCTIONS = {}


def _source(operator, name, first, inplace):
    """``def name(first, other, *, alpha=1, out=None): ...``: the operator's recorder, `call` for ``out=``."""
    defaults, parts, names = {}, [], []
    starred = False
    for at, p in enumerate(operator.parameters):
        shown = first if at == 0 else p.name
        if p.keyword_only and not starred:
            parts.append("*")
            starred = True
        if p.required:
            parts.append(shown)
        else:
            defaults[f"_d{at}"] = p.default
            parts.append(f"{shown}=_d{at}")
        names.append(shown)
    given = ", ".join(names)
    lines = []
    if operator.out and not inplace:
        parts += ["out=None"] if starred else ["*", "out=None"]
        lines.append(f"    if out is not None:\n        return _call(_op, ({given},), out)\n")
    if inplace:
        lines.append(f"    if isinstance({first}, _Tensor):\n        return _op.write({given})\n"
                     f"    return _call_inplace(_op, ({given},))\n")
    elif first == "self":
        lines.append(f"    try:\n        return _op.record({given})\n    except TypeError as error:\n"
                     f"        raise _of_method(error, {name!r}) from None\n")
    else:
        lines.append(f"    return _op.record({given})\n")
    return f"def {name}({', '.join(parts)}):\n{''.join(lines)}", defaults


def derive(operator, name, first="input", inplace=False):
    """A Python function for an operator."""
    source, scope = _source(operator, name, first, inplace)
    scope.update(_op=operator, _call=call, _call_inplace=call_inplace, _Tensor=Tensor, _of_method=of_method)
    exec(compile(source, f"<jtensor operator {operator.name}>", "exec"), scope)
    function = scope[name]
    function.__doc__, function.__qualname__, function.__module__ = operator.__doc__, name, "jtensor"
    return function


def install():
    """Fills `FUNCTIONS` (the names of the namespace ``jtensor``) and the Tensor's methods."""
    for operator in REGISTRY.operators.values():
        if operator.function:
            FUNCTIONS[operator.name] = derive(operator, operator.name)
        if operator.method:
            setattr(Tensor, operator.method_name, derive(operator, operator.method_name, "self"))
        name = operator.name + "_"
        if operator.inplace and (operator.method or name in INPLACE_FUNCTIONS):
            method = derive(operator, name, "self", inplace=True)
            if operator.method and not hasattr(Tensor, name):
                setattr(Tensor, name, method)
            if name in INPLACE_FUNCTIONS:
                FUNCTIONS[name] = method
    for composite in REGISTRY.composites.values():
        for name in (composite.name, *composite.aliases):
            if composite.function:
                FUNCTIONS[name] = composite.body
            if composite.method:
                setattr(Tensor, name, composite.body)
    _second_names()
    _numpy_names()
    _by_hand()


def _second_names():
    """``absolute`` for ``abs`` and so on, in all their forms."""
    for second, first in ALIASES.items():
        for tail in ("", "_"):
            if first + tail in FUNCTIONS and (not tail or second + tail in INPLACE_FUNCTIONS):
                FUNCTIONS[second + tail] = FUNCTIONS[first + tail]
            if hasattr(Tensor, first + tail):
                setattr(Tensor, second + tail, getattr(Tensor, first + tail))


_NUMPYS = {"axis": "dim", "keepdims": "keepdim"}


def _numpy_names():
    """Functions with a parameter ``dim`` or ``keepdim`` take NumPy's names for them, too."""
    made = {}
    for function in {*FUNCTIONS.values(), *vars(Tensor).values()}:
        code = getattr(function, "__code__", None)
        if code is not None and not {"dim", "keepdim"}.isdisjoint(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]):
            made[function] = _with_numpy_names(function)
    for name, function in FUNCTIONS.items():
        FUNCTIONS[name] = made.get(function, function)
    for name, function in list(vars(Tensor).items()):
        if getattr(function, "__code__", None) is not None and function in made:
            setattr(Tensor, name, made[function])


def _with_numpy_names(function):
    @functools.wraps(function)
    def called(*args, **kwargs):
        if kwargs and ("axis" in kwargs or "keepdims" in kwargs):
            kwargs = {_NUMPYS.get(name, name) if _NUMPYS.get(name) not in kwargs else name: value for name, value in kwargs.items()}
        return function(*args, **kwargs)
    return called


def _by_hand():
    """Methods that are not operators: conversions, indexing, factories."""
    for name, method in {**convert.CASTS, **likes.METHODS}.items():
        setattr(Tensor, name, method)
    for name in ("item", "tolist", "numpy", "to", "cpu", "cuda", "copy_", "fill_", "zero_", "type_as", "element_size"):
        setattr(Tensor, name, getattr(convert, name))
    from . import retyped, shapes
    Tensor.T, Tensor.mT = property(shapes.transposed), property(shapes.matrix_transposed)
    Tensor.H, Tensor.mH = (property(functools.partial(shapes.adjoint_property, name=name)) for name in ("H", "mH"))
    FUNCTIONS.update(detach=_named(lambda input: input.detach(), "detach"), detach_=_named(lambda input: input.detach_(), "detach_"),
                     zero_=convert.zero_, fill_=_named(lambda input, value: input.fill_(value), "fill_"),
                     as_strided_=Tensor.as_strided_, is_nonzero=_named(lambda input: input.is_nonzero(), "is_nonzero"),
                     is_same_size=_named(lambda input, other: input.is_same_size(other), "is_same_size"))
    Tensor.real, Tensor.imag = property(retyped.real, retyped.set_real), property(retyped.imag, retyped.set_imag)
    Tensor.type, Tensor.jax = convert.type_, convert.jax_array
    from . import quick
    Tensor.__getitem__, Tensor.__setitem__ = quick.getitem, quick.setitem
    Tensor.__bool__, Tensor.__int__, Tensor.__float__ = convert.to_bool, convert.to_int, convert.to_float
    Tensor.__complex__, Tensor.__index__ = convert.to_complex, convert.to_index
    Tensor.__array__, Tensor.__array_wrap__ = convert.array_protocol, convert.array_wrap
    Tensor._host = lambda self: convert.host_copy(self, "print")
    for name in dir(_Facts):
        if not name.startswith("__"):
            setattr(Tensor, name, _Facts.__dict__[name])
    _python_operators()
    _texts()


class _Facts:
    """Metadata asked for by method."""

    def size(self, dim=None):
        """The shape, or the length of one dimension."""
        if dim is None:
            return self._spec.size
        n = self._spec.ndim
        if not -max(n, 1) <= dim < max(n, 1) or n == 0:
            if n == 0:
                raise IndexError("Dimension specified as " + str(dim) + " but tensor has no dimensions")
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
        return self._spec.size[dim]

    def stride(self, dim=None):
        """Elements to step over in memory, for each dimension or for one."""
        if dim is None:
            return self._spec.stride
        n = self._spec.ndim
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-max(n, 1)}, {max(n, 1) - 1}], but got {dim})"
                             if n else "Dimension specified as " + str(dim) + " but tensor has no dimensions")
        return self._spec.stride[dim]

    def storage_offset(self):
        """Where the tensor begins in its storage, in elements."""
        return self._offset

    def numel(self):
        """The number of elements."""
        return self._spec.numel

    nelement = numel

    def dim(self):
        """The number of dimensions."""
        return self._spec.ndim

    ndimension = dim

    def is_contiguous(self, memory_format=None):
        """Whether the elements lie in memory in their logical order."""
        if memory_format is not None and "channels_last" in str(memory_format):
            from ..base import geometry
            test = geometry.is_channels_last_3d if str(memory_format).endswith("3d") else geometry.is_channels_last
            return test(tuple(self._spec.size), self._spec.stride)
        return self._spec.contiguous

    def data_ptr(self):
        """The address of the first element: equal for equal memory, not one to be dereferenced."""
        if self._spec.numel == 0:
            return 0
        return self._storage.data_ptr() + self._offset * self._spec.dtype.itemsize

    def untyped_storage(self):
        """The storage as bytes."""
        from .storages import UntypedStorage
        return UntypedStorage(self._storage)

    def storage(self):
        """The storage with its type."""
        from .storages import typed
        return typed(self)

    def is_floating_point(self):
        """Whether the dtype is a floating-point one."""
        return self._spec.dtype.is_floating_point

    def is_complex(self):
        """Whether the dtype is a complex one."""
        return self._spec.dtype.is_complex

    def is_signed(self):
        """Whether the dtype is signed."""
        return self._spec.dtype.is_signed

    def is_inference(self):
        """Whether the tensor was made in inference mode."""
        return bool(self._inference_tensor())

    def is_nonzero(self):
        """Whether the only element is not zero."""
        if self._spec.numel != 1:
            raise RuntimeError(
                "Boolean value of Tensor with " + ("more than one value" if self._spec.numel else "no values") + " is ambiguous"
            )
        return bool(self.item())

    def is_shared(self):
        """Whether the memory is shared between processes: never, on this engine."""
        return False

    def is_pinned(self, device=None):
        """Whether the memory is pinned: never, on this engine."""
        return False

    def get_device(self):
        """The index of the device, -1 for the CPU."""
        return -1 if self._spec.device.index is None else self._spec.device.index

    def is_same_size(self, other):
        """Whether both have the same shape."""
        return tuple(self._spec.size) == tuple(other._spec.size)

    def is_set_to(self, tensor):
        """Whether both are the same geometry on the same memory."""
        return self._storage is tensor._storage and self._spec is tensor._spec and self._offset == tensor._offset

    def dim_order(self):
        """Dimensions from the slowest to the fastest in memory."""
        return tuple(sorted(range(self._spec.ndim), key=lambda d: -self._spec.stride[d]))

    def set_(self, source=None, storage_offset=None, size=None, stride=None):
        """Takes over another tensor's memory and geometry."""
        from .storages import set_
        return set_(self, source, storage_offset, size, stride)

    def resize_(self, *sizes, memory_format=None):
        """Another shape in the same memory, which grows as needed."""
        from .storages import resize_
        if not sizes:
            raise TypeError('resize_() missing 1 required positional arguments: "size"')
        return resize_(self, sizes, memory_format)

    def resize_as_(self, other, memory_format=None):
        """The other's shape in the same memory."""
        from .storages import resize_
        if str(memory_format).endswith("preserve_format"):
            from ..base import geometry
            memory_format = "channels_last" if geometry.looks_channels_last(tuple(other._spec.size), other._spec.stride) else None
        return resize_(self, (tuple(other._spec.size),), memory_format)

    def as_subclass(self, cls):
        """The same tensor as an object of a subclass."""
        return likes.as_subclass(self, cls)

    def __cuda_array_interface__(self):
        raise AttributeError("__cuda_array_interface__")


def _named(function, name):
    """A small function of the namespace, under its name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`Tensor.{name}` as a function."
    return function


def _texts():
    from . import printing
    Tensor.__repr__ = lambda self, *, tensor_contents=None: printing.tensor_str(self, tensor_contents=tensor_contents)
    Tensor.__str__ = lambda self: printing.tensor_str(self)
    Tensor.__format__ = printing.tensor_format


_ARITHMETIC = {
    "__add__": "add",
    "__sub__": "sub",
    "__mul__": "mul",
    "__truediv__": "div",
    "__floordiv__": "floor_divide",
    "__mod__": "remainder",
    "__pow__": "pow",
    "__matmul__": "matmul",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
}
_REFLECTED = {"__radd__": "add", "__rmul__": "mul", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor"}
_INPLACE = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
            "__imod__": "remainder_", "__ipow__": "pow_", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_",
            "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_"}
_NUMBERS = (int, float, bool, complex)


def _python_operators():
    from . import hot
    for dunder, name in _ARITHMETIC.items():
        if hasattr(Tensor, name):
            setattr(
                Tensor,
                dunder,
                hot.binary_dunder(REGISTRY.operators.get({"div": "div_Tensor"}.get(name, name)), getattr(Tensor, name), dunder),
            )
    for dunder, name in _REFLECTED.items():
        if hasattr(Tensor, name):
            setattr(Tensor, dunder, _reflected(getattr(Tensor, name), dunder))
    for dunder, name in _INPLACE.items():
        if hasattr(Tensor, name):
            setattr(
                Tensor,
                dunder,
                hot.inplace_dunder(REGISTRY.operators.get({"div_": "div_Tensor"}.get(name, name[:-1])), getattr(Tensor, name), dunder),
            )
    for dunder, name in (("__neg__", "neg"), ("__abs__", "abs"), ("__pos__", "positive")):
        if hasattr(Tensor, name):
            setattr(Tensor, dunder, getattr(Tensor, name))
    for dunder, name in _TURNED.items():
        setattr(Tensor, dunder, _turned(name, dunder))
    Tensor.__rsub__ = _reflected(FUNCTIONS["rsub"], "__rsub__")
    Tensor.__rtruediv__ = lambda self, other: FUNCTIONS["reciprocal"](self) * other if not isinstance(other, Tensor) else other / self
    Tensor.__invert__, Tensor.__reversed__ = _inverted, _reversed
    Tensor.__hash__ = object.__hash__
    Tensor.__contains__ = _contains


def _inverted(self):
    if self._spec.dtype.category > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return self.bitwise_not()


def _reversed(self):
    """The elements of the first dimension in the opposite order."""
    return self.flip(0) if self._spec.ndim else self


def _tensor(number, like):
    return from_data.tensor(number, device=like.device)


def _contains(self, element):
    if isinstance(element, (Tensor, *_NUMBERS)):
        return bool((element == self).any().item())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


_TURNED = {"__rpow__": "pow", "__rfloordiv__": "floor_divide", "__rmod__": "remainder", "__rmatmul__": "matmul",
           "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift"}


def _turned(name, dunder):
    """``number <op> tensor`` for an operator whose operands cannot be exchanged."""
    function = FUNCTIONS[name]

    def turned(self, other):
        if isinstance(other, np.generic):
            other = other.item()
        if not isinstance(other, (Tensor, *_NUMBERS)) or name == "matmul" and not isinstance(other, Tensor):
            return NotImplemented
        return function(_tensor(other, self) if name == "floor_divide" else other, self)
    turned.__name__ = turned.__qualname__ = dunder
    return turned


def _reflected(method, dunder):
    def reflected(self, other):
        if isinstance(other, np.ndarray):               # PyTorch takes an ndarray on the right only
            return NotImplemented
        if type(other) in _NUMBERS or isinstance(other, Tensor):
            return method(self, other)
        try:
            return method(self, other)
        except TypeError:
            return NotImplemented
    reflected.__name__ = reflected.__qualname__ = dunder
    return reflected


__all__ = ["FUNCTIONS", "Operator", "inspect", "install"]
