"""Factory functions: tensors made of numbers, ``zeros``, ``full``, ``arange`` and their like.

Owns: PyTorch's argument forms of the factories (a size, a dtype, a device, ``out=``). What is computed is recorded by the operators of
`ops.families.create`. From data: `from_data`; like another tensor: `likes`.
"""
import math
import numbers
from operator import index

import numpy as np

from ...base import devices, dtypes, geometry, info, sites
from ...base.naming import type_name
from ...ops.families import create as ops
from ...ops.families.composing import number_fits
from ...ops.families.numeric import not_implemented
from ...ops.fitting import as_double
from ...storage import cell
from ...trace import spec as specs
from ...trace.tape import LOCAL
from ..calling.taking import is_index
from ..core import Tensor, make_tensor
from ..dispatch import write_out
from ..history import edge_of, rebase
from ..values import read

# -- arguments of factories -------------------------------------------------------------------------------------------


_dtype = dtypes.dtype


def _device(device):
    return devices.place(devices.current() if device is None else devices.device(device))


def _type(dtype, default=None):
    if dtype is None:
        return default or dtypes.get_default_dtype()
    if isinstance(dtype, _dtype):
        return dtype
    if dtype in dtypes.OF_PYTHON:
        return dtypes.OF_PYTHON[dtype]
    raise TypeError(f"zeros(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")


def size_of(args, name="zeros"):
    """A size from PyTorch's forms: ``f(2, 3)``, ``f((2, 3))``, ``f([2, 3])``, ``f(torch.Size)``."""
    packed = len(args) == 1 and isinstance(args[0], (tuple, list))
    if packed:
        args = args[0]
    size = tuple([n if n.__class__ is int else _int(n, name, at, packed) for at, n in enumerate(args)])
    for n in size:
        if n < 0 and name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if n < 0 and name == "resize_":
            raise RuntimeError("numel: integer multiplication overflow")
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{', '.join(map(str, size))}]")
    return size


def _int(n, name, at, packed):
    if isinstance(n, (numbers.Integral, np.integer)) and (at or not isinstance(n, bool)):
        return int(n)
    if is_index(n) or isinstance(n, np.ndarray) and not n.ndim and n.dtype.kind in "iu":
        return int(n.item() if hasattr(n, "item") else n.__index__())
    kind = type_name(type(n))
    if at:
        raise TypeError(
            f"{name}(): argument 'size' failed to unpack the object at pos {at + 1} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    found = f"but found element of type {kind} at pos 0" if packed else f"not {kind}"
    raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, {found}")


def _finish(tensor, requires_grad):
    if requires_grad is not False and requires_grad is not None:
        if not isinstance(requires_grad, bool):
            raise TypeError("requires_grad must be bool")                     # PyTorch's words: `refusals`
        if not requires_grad:
            return tensor
        if not tensor._spec.dtype.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        tensor._require(True)
    return tensor


def _say_nothing(out, made):
    """A factory resizes what it is given without a word,"""


def _say_counted(out, made):
    """but for one whose count of elements may be off by one."""
    if out._spec.numel:
        sites.warn(f"The number of elements in the out tensor of shape {list(out._spec.size)} is {out._spec.numel} which does not match "
                   f"the computed number of elements {made._spec.numel}. Note that this may occur as a result of rounding error. The out "
                   f"tensor will be resized to a tensor of shape ({made._spec.numel},).")


_BY_COUNT = frozenset(("arange", "range", "linspace", "logspace"))
_FOLDS = {"eye": "amax", **dict.fromkeys(("ones", "zeros", "full", "empty"), "last")}          # as `Quirks.out_fold`


def _out(name, made, out, requires_grad, dtype=None):
    """What a factory has made written to ``out``: a leaf then requires a gradient as asked, another tensor's history has no derivative."""
    if made._spec.device is not devices.cpu and made._spec.device.type != out._spec.device.type:
        raise RuntimeError(f"device type {made._spec.device.type} does not match device type of out parameter ({out._spec.device.type})")
    if dtype is not None and made._spec.dtype is not out._spec.dtype:
        raise RuntimeError(f"dtype {dtypes.scalar_name(made._spec.dtype)} does not match dtype of out parameter "
                           f"({dtypes.scalar_name(out._spec.dtype)})")
    edges = ()
    if LOCAL.grad_enabled and out.requires_grad:
        if out.is_leaf:
            raise RuntimeError(f"aten::{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                               "arguments requires grad.")
        edges = (edge_of(out),)
    if name in _BY_COUNT and made._spec.numel == out._spec.numel:
        made = made.reshape(out._spec.size)                              # any shape of so many elements will do
    write_out(made, out, _say_counted if name == "arange" else _say_nothing, fold=_FOLDS.get(name))
    if edges:
        from ..underivable import underivable
        rebase(out, underivable(edges, name))
    elif out.is_leaf and out._requires_grad is not requires_grad:
        out.requires_grad_(requires_grad)
    return out


def _size_alone(kw, name):
    """The size given by name only."""
    if "size" not in kw:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return (kw.pop("size"),)


def _checked(layout, pin_memory=False, unknown=(), name=""):
    """Refuses what a factory does not take, or does not have."""
    for argument in unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{argument}'")
    if pin_memory and not devices.accelerators():
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this system."
        )
    if layout is not None and layout.name != "strided":
        from ...base.errors import missing
        raise RuntimeError("full(...) is not implemented for sparse layout") if name in ("ones", "") else missing(
            f"the layout {layout!r} for {name}", "torch.strided")


def _sparse(layout, *about):
    """Zeros in a sparse layout."""
    from ...sparse.making import empty as sparse_empty
    return sparse_empty(layout, *about)

# -- from numbers -----------------------------------------------------------------------------------------------------


def zeros(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **kw):
    """A tensor of zeros.

    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    size = size_of(size or _size_alone(kw, "zeros"), "zeros")
    if layout is not None and layout.name != "strided":
        return _sparse(layout, size, dtype, device, requires_grad)
    _checked(layout, pin_memory, kw, "zeros")
    made = ops.zeros_of.record(size, _type(dtype, out.dtype if out is not None else None), _device(device))
    return _finish(made, requires_grad) if out is None else _out("zeros", made, out, requires_grad, dtype)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor filled with a number; its type follows the number's.

    >>> torch.full((2,), 3)
    tensor([3, 3])
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type_name(type(size))}")
    size = size_of((size,), "full")
    _checked(layout, pin_memory)
    if isinstance(fill_value, Tensor) and not fill_value._spec.ndim and not fill_value.requires_grad:
        fill_value = fill_value.item()
    if not isinstance(fill_value, (numbers.Number, np.bool_)):
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type_name(type(fill_value))}")
    said = float(fill_value) if isinstance(fill_value, np.bool_) else fill_value           # NumPy's truth values are floats to PyTorch here
    kind = _type(dtype, out.dtype if out is not None else dtypes.of_scalar(said))
    made = ops.full_of.record(size, number_fits(fill_value, kind, alone=math.prod(size) == 1), kind, _device(device))
    return _finish(made, requires_grad) if out is None else _out("full", made, out, requires_grad, dtype)


def ones(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **kw):
    """A tensor of ones.

    >>> torch.ones(2)
    tensor([1., 1.])
    """
    size = size_of(size or _size_alone(kw, "ones"), "ones")
    _checked(layout, pin_memory, kw, "ones")
    made = ops.full_of.record(size, 1, _type(dtype, out.dtype if out is not None else None), _device(device))
    return _finish(made, requires_grad) if out is None else _out("ones", made, out, requires_grad, dtype)


class _Unwritten:
    """Memory that nobody has written yet. It is zeros, which costs nothing; where ``filled`` says so (`settings`), it is what no program
    wants to see: NaN, or the largest number that the type has."""

    filled = False

    def make(self, size, dtype, device):
        """A new tensor of it."""
        if not self.filled:
            return ops.zeros_of.record(size, dtype, device)
        return ops.full_of.record(size, self.number(dtype), dtype, device)

    @staticmethod
    def number(dtype):
        """What it is filled with."""
        if dtype is dtypes.bool:
            return True
        return float("nan") if dtype.is_floating_point or dtype.is_complex else info.iinfo(dtype).max


UNWRITTEN = _Unwritten()


def empty(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None, **kw):
    """A tensor of this size whose values mean nothing (here they are zeros).

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    size = size_of(size or _size_alone(kw, "empty"), "empty")
    if layout is not None and layout.name != "strided":
        return _sparse(layout, size, dtype, device, requires_grad)
    _checked(layout, pin_memory, kw, "empty")
    if out is not None and out.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    made = UNWRITTEN.make(size, _type(dtype, out.dtype if out is not None else None), _device(device))
    if memory_format is not None:
        if str(memory_format).endswith("preserve_format"):
            raise RuntimeError("unsupported memory format Preserve")
        made = like_spec(specs.spec(size, geometry.strides_in_format(size, memory_format), made.dtype, made.device), UNWRITTEN.make)
    return _finish(made, requires_grad) if out is None else _out("empty", made, out, requires_grad, dtype)


def zeros_like_spec(s):
    """A fresh tensor of zeros with this geometry (dense, or as much memory as the strides need)."""
    return like_spec(s, ops.zeros_of.record)


def like_spec(s, make):
    """The same of what ``make(size, dtype, device)`` makes."""
    if s.dense:
        made = make(tuple(s.size), s.dtype, s.device)
        made._spec = made._storage.spec = made._storage.layout = specs.spec(s.size, s.stride, s.dtype, s.device)
        return made
    count = geometry.extent(tuple(s.size), s.stride, 0)
    made = make((count,), s.dtype, s.device)
    return make_tensor(made._storage, specs.spec(s.size, s.stride, s.dtype, s.device), inference=LOCAL.inference)


def empty_strided_like(s, source):
    """A fresh copy of ``source`` (no history) with the strides of the spec ``s`` if that is dense."""
    layout = specs.spec(s.size, s.stride if s.dense else None, source._spec.dtype, s.device)
    value = read(source)
    return make_tensor(cell.new(value, layout), layout)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with these sizes and strides whose values mean nothing."""
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    size, stride = tuple(size), tuple(stride)
    if min(size, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if min(stride, default=0) < 0 or geometry.extent(size, stride, 0) * _type(dtype).itemsize >> 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    made = like_spec(specs.spec(size, stride, _type(dtype), _device(device)), UNWRITTEN.make)
    return _finish(made, requires_grad)


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor whose values mean nothing, its dimensions in memory from the outermost to the innermost as ``physical_layout`` lists them.

    >>> torch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    n = len(size)
    if len(physical_layout) != n:
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {n} is not equal to len(physical_layout) = {len(physical_layout)}")
    for at, dim in enumerate(physical_layout):
        if not 0 <= dim < n:
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {n - 1}, but got {dim} at index {at}).  NB: negative "
                               "dims not currently supported; file an issue if you want it.")
        if dim in physical_layout[:at]:
            raise RuntimeError("Duplicate dim not allowed")
    if any(m < 0 for m in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {[size[dim] for dim in physical_layout]}")
    stride, step = [0] * n, 1
    for dim in reversed(physical_layout):
        stride[dim], step = step, step * max(size[dim], 1)
    return empty_strided(size, stride, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


def arange(start=None, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Values from ``start`` (0) up to, not including, ``end``.

    >>> torch.arange(1, 6, 2)
    tensor([1, 3, 5])
    """
    if start is None or end is None:
        if start is end or type(step) is not int or step != 1:                    # a step goes with two numbers
            from ..calling.refusals import refusal
            given = {name: x for name, x in (("step", step), ("end", end)) if x is not None and start is not end}
            raise refusal("arange", () if start is None else (start,), given) or TypeError("arange() wants the number to count to")
        start, end = 0, start if end is None else end
    start, end, step = (x.item() if isinstance(x, (Tensor, np.generic)) else x for x in (start, end, step))
    for at, x in enumerate((start, end, step)):
        if isinstance(x, str) or not isinstance(x, (int, float, complex)):
            raise TypeError(f"arange(): argument '{('start', 'end', 'step')[at]}' must be Number, not {type(x).__name__}")
        dtypes.fits_a_word(x)
    written = dtype
    if dtype is None:
        dtype = out.dtype if out is not None else dtypes.int64 if all(isinstance(x, int) for x in (start, end, step)) \
            else dtypes.get_default_dtype()
    dtype = _type(dtype)
    if dtype.category in (0, 3) or dtype.name in ("uint16", "uint32", "uint64"):
        raise not_implemented("arange_cpu", dtype)
    start, end, step = map(as_double, (start, end, step))
    if not step > 0 and not step < 0:                # nor NaN
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (step > 0) != (end >= start) and start != end:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is dtypes.int64:                       # alone counts in its own type
        if not int(step):
            raise ValueError("step must be nonzero")
        count = max(0, -((int(start) - int(end)) // int(step)))
    else:
        count = max(0, math.ceil((end - start) / step))
    kind = int if dtype.category == 1 else float
    start, step = kind(start), kind(step)
    made = ops.arange_of.record(count, start, step, dtype, _device(device))
    return _finish(made, requires_grad) if out is None else _out("arange", made, out, requires_grad, written)


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones on the diagonal, zeros elsewhere.

    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is None else m
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    made = ops.eye_of.record(index(n), index(m), _type(dtype, out.dtype if out is not None else None), _device(device))
    return _finish(made, requires_grad) if out is None else _out("eye", made, out, requires_grad, dtype)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A 0-d tensor of the number."""
    return full((), s, dtype=_type(dtype), device=device, requires_grad=requires_grad)
