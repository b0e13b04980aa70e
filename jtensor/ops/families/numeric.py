"""What the numerical families share: arithmetic of narrow floats in float32, dtypes of results, constants, errors.

Owns: helpers of bodies and checks. May not know: any operator.
"""
import functools

import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ...base.precision import ALLOWED
from ...trace.plan import is_for_cpu
from ...views.rules import wrap_dim

NARROW = (jnp.dtype(jnp.float16), jnp.dtype(jnp.bfloat16))


def precision(what):
    """What ``lax`` is to be told of a product: full precision, but on a GPU where PyTorch's switches permit TF32 ("matmul", "conv")."""
    return lax.Precision.DEFAULT if ALLOWED[what] and not is_for_cpu() else lax.Precision.HIGHEST


def is_array(x):
    """Whether an argument of a body is an array (tracers included) and not a static."""
    return hasattr(x, "dtype") and hasattr(x, "ndim")


def is_floating(x):
    """Whether an array is real floating-point."""
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_complex(x):
    """Whether an array is complex."""
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def is_integral(x):
    """Whether an array is of integers or bool."""
    return not jnp.issubdtype(x.dtype, jnp.inexact)


def cast(x, dtype):
    """A `Number` (0-d array, or its Python default) as a 0-d array of ``dtype``; a real type takes a complex number's real part."""
    x = jnp.asarray(float(x) if type(x) is int and x >= 1 << 63 else x)
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(dtype, jnp.complexfloating):
        x = x.real
    return x.astype(dtype)


def cast_like(number, x):
    """A `Number` in the type of the array ``x``."""
    return cast(number, x.dtype)


def widened(x):
    """An array of float16 or bfloat16 as float32; anything else as it is."""
    return x.astype(jnp.float32) if is_array(x) and x.dtype in NARROW else x


def wide(body):
    """The body computed in float32 where arrays are float16 or bfloat16, rounded once at the end, as PyTorch's kernels do."""
    @functools.wraps(body)
    def in_float32(*args, **kwargs):
        narrow = next((x.dtype for x in (*args, *kwargs.values()) if is_array(x) and x.ndim >= 0 and x.dtype in NARROW), None)
        if narrow is None:
            return body(*args, **kwargs)
        result = body(*[widened(x) for x in args], **{name: widened(x) for name, x in kwargs.items()})
        if isinstance(result, tuple):
            return tuple(x.astype(narrow) if x.dtype == jnp.float32 else x for x in result)
        return result.astype(narrow) if result.dtype == jnp.float32 else result
    return in_float32


def through_double(function, *xs):
    """A function of float32 arrays computed in float64 and rounded once; other types go to it as they are."""
    if any(x.dtype == jnp.float32 for x in xs):
        return function(*[x.astype(jnp.float64) for x in xs]).astype(jnp.float32)
    return function(*xs)


def larger(a, b):
    """The larger of two; NaN where one is NaN; ``a`` on a tie, so that the sign of a zero stays."""
    return jnp.where((a < b) | (b != b), b, a)


def smaller(a, b):
    """The smaller of two; NaN where one is NaN; ``a`` on a tie."""
    return jnp.where((a > b) | (b != b), b, a)


def kept_where(grad, mask):
    """A gradient where a mask is true, zeros elsewhere."""
    return jnp.where(mask, grad, jnp.zeros_like(grad))


def zeros_gradient(grad):
    """The gradient of a step function."""
    return jnp.zeros_like(grad)


def no_derivative(name, *inputs):
    """Formulas of an operator that PyTorch cannot differentiate either: asking for them raises its error.

    That is a ``NotImplementedError`` where only one derivative is missing: ``name`` says which, in quotes ("'igamma: input'").
    """
    def formula(grad):
        raise formula.never("")
    if name[0] == "'":
        formula.never = lambda mark: NotImplementedError(f"the derivative for {name} is not implemented.")
    else:
        formula.never = lambda mark: RuntimeError(f"derivative for aten::{name}{mark} is not implemented")
    return dict.fromkeys(inputs, formula)                  # raised when the backward is asked for, before it is traced


def common_dtype(*given):
    """The promoted type of Specs and wrapped numbers, as a check sees them."""
    tensors = [g for g in given if hasattr(g, "ndim")]
    numbers = [g.dtype for g in given if not hasattr(g, "ndim") and hasattr(g, "dtype")]
    return dtypes.result_type([t.dtype for t in tensors if t.ndim], [t.dtype for t in tensors if not t.ndim], numbers)


def not_implemented(kernel, d):
    """PyTorch's error for a type that a kernel does not have."""
    return NotImplementedError(f'"{kernel}" not implemented for \'{dtypes.scalar_name(d)}\'')


def legacy_type(d):
    """A type as PyTorch's older messages name it: ``torch.FloatTensor``, or ``CPUBFloat16Type`` where there was no such class."""
    kind = dtypes.scalar_name(d)
    return f"CPU{kind}Type" if d.category in (0, 3) or d is dtypes.bfloat16 else f"torch.{kind}Tensor"


def refuses(kernel, *categories, error=None):
    """A check that the promoted type of the tensors is none of ``categories`` ("bool", "complex", "integral", "narrow": of 16 bits,
    floats "of 8 bits")."""
    def check(self, *others):
        d = common_dtype(self, *[t for t in others if hasattr(t, "size") or hasattr(t, "kind")])
        kind = "bool" if d.category == 0 else "integral" if d.category == 1 else "complex" if d.is_complex else "floating"
        if kind == "floating" and "narrow" in categories and d.itemsize == 2:
            kind = "narrow"
        if kind == "floating" and "of 8 bits" in categories and d.itemsize == 1:
            raise not_implemented(kernel, d)
        if kind in categories:
            raise error or not_implemented(kernel, d)
    return check


def same_scalar(dtype, *others):
    """PyTorch's error for the first of other tensors, of which some may be None, that is of another type than a kernel is made for."""
    for other in others:
        if other is not None and other.dtype is not dtype:
            raise RuntimeError(f"expected scalar type {dtypes.scalar_name(dtype)} but found {dtypes.scalar_name(other.dtype)}")


def unary(kernel):
    """What the declarations of unary functions say that a kernel does not have for complex numbers."""
    return {"inplace": True, "out": True, "check": refuses(kernel, "complex")}


def floats_only(kernel):
    """A check that a tensor is of floating-point numbers; the numbers beside it do not matter."""
    check = refuses(kernel, "bool", "integral", "complex")
    return lambda self, *numbers: check(self)


# -- dimensions -------------------------------------------------------------------------------------------------------

def axis_at(spec, dim):
    """A dimension counted from the front, or PyTorch's ``IndexError``; a 0-d tensor has no dimensions (for `wrap_dim` it has one)."""
    if not spec.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, spec.ndim)


def size_at(spec, dim):
    """``size(dim)``, or PyTorch's ``IndexError``."""
    return spec.size[axis_at(spec, dim)]


def axes_of(dim, ndim):
    """The axes that ``dim`` (None, an int or a tuple; () is all) names, counted from the front."""
    if dim is None or dim.__class__ is tuple and not dim:
        return tuple(range(ndim))
    axes = [wrap_dim(d, ndim) for d in (dim if isinstance(dim, tuple) else (dim,))]
    for at, axis in enumerate(axes):
        if axis in axes[:at]:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    return tuple(axes) if ndim else ()


def restored(x, axes, keepdim):
    """A reduced array with its reduced dimensions put back with size 1."""
    return x if keepdim or not axes else jnp.expand_dims(x, tuple(sorted(axes)))


def spread(x, shape, dim, keepdim):
    """A reduced array repeated over what was reduced."""
    return jnp.broadcast_to(restored(x, axes_of(dim, len(shape)), keepdim), shape)


def size_of(shape, axes):
    """The number of elements that a reduction over ``axes`` takes together."""
    n = 1
    for axis in axes:
        n *= shape[axis]
    return n
