"""View operators that read the same memory as other numbers: complex as pairs of reals, conjugated, negated.

Owns: these views and their history, which is a function of the base and no mere geometry (`tensor.viewing.views.replayed`). May not know:
how a bit is carried out when the value is read (`values`).
"""

from ...base import dtypes
from ...base.errors import missing
from ...ops.registry import composite
from ...trace import spec as specs
from ...trace.tape import LOCAL
from ...views import rules
from ..core import Tensor
from ..history import attach
from .shapes import contiguous
from .views import _pure_plan, geometry_of, replayed, share

# -- complex and real -------------------------------------------------------------------------------------------------


@composite(method=False)
def view_as_real(input):
    """A complex tensor as a real one with a last dimension of 2; a view."""
    import jax.numpy as jnp
    if not input._spec.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if input._spec.conj:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as "
            "real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
        )
    return _retyped(
        input,
        rules.view_as_real,
        "ViewAsRealBackward0",
        input._spec.dtype.to_real(),
        lambda x: jnp.stack([x.real, x.imag], -1),
        view_as_real,
        lambda grad, node: (view_as_complex(contiguous(grad)),),
    )


@composite(method=False)
def view_as_complex(input):
    """A real tensor whose last dimension is 2 as a complex one; a view."""
    import jax
    if input._spec.dtype.category != 2 or input._spec.dtype is dtypes.bfloat16:
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
                           f"{dtypes.scalar_name(input._spec.dtype)}")
    if input._spec.dtype is dtypes.float16:
        raise missing("complex numbers of half precision", "view_as_complex(x.float())")
    return _retyped(input, rules.view_as_complex, "ViewAsComplexBackward0", input._spec.dtype.computed_complex(),
                    lambda x: jax.lax.complex(x[..., 0], x[..., 1]), view_as_complex,
                    lambda grad, node: (view_as_real(resolve_conj(contiguous(grad))),))


def _retyped(self, rule, name, dtype, function, again, inverse):
    size, stride, offset = rule(*geometry_of(self))
    out = share(self, size, stride, offset, dtype, conj=False)
    replayed(self, out, again)
    if LOCAL.grad_enabled and self.requires_grad and out._auto is None:
        plan = _pure_plan(name, self._spec.aval, function, specs.aval(size, dtype, self._spec.device))
        plan.inverse = inverse
        attach(plan, [self], (0,), [out], ())
    return out


@composite(method=False)
def real(input):
    """The real part of a complex tensor, a view; a real tensor itself."""
    if not input._spec.dtype.is_complex:
        return input
    plain = _conj_view(input) if input._spec.conj else input
    return view_as_real(plain).select(-1, 0)


@composite(method=False)
def imag(input):
    """The imaginary part of a complex tensor; a view."""
    if not input._spec.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if input._spec.conj:
        return _neg_view(view_as_real(_conj_view(input))).select(-1, 1)
    return view_as_real(input).select(-1, 1)


def set_real(self, value):
    """``x.real = value``: written in place."""
    _put(real(self), value)


def set_imag(self, value):
    """``x.imag = value``: written in place."""
    _put(imag(self), value)


def _put(part, value):
    if isinstance(value, Tensor):
        part.copy_(value)
    else:
        part[...] = value

# -- conjugate and negative bits --------------------------------------------------------------------------------------


def _conj_view(self):
    import jax.numpy as jnp
    out = share(self, *geometry_of(self), conj=not self._spec.conj)
    replayed(self, out, _conj_view)
    if LOCAL.grad_enabled and self.requires_grad and out._auto is None:
        plan = _pure_plan("ConjBackward0", self._spec.aval, jnp.conj, self._spec.aval)
        plan.inverse = lambda grad, node: (conj(grad),)
        attach(plan, [self], (0,), [out], ())
    return out


def _neg_view(self):
    out = share(self, *geometry_of(self), neg=not self._spec.neg)
    replayed(self, out, _neg_view)
    if LOCAL.grad_enabled and self.requires_grad and out._auto is None:
        attach(_pure_plan("NegViewBackward0", self._spec.aval, lambda x: -x, self._spec.aval), [self], (0,), [out], ())
    return out


@composite()
def conj(input):
    """The complex conjugate, as a view; a real tensor itself."""
    return _conj_view(input) if input._spec.dtype.is_complex else input


@composite()
def resolve_conj(input):
    """The tensor with its conjugation carried out."""
    return input.clone() if input._spec.conj else input


@composite()
def resolve_neg(input):
    """The tensor with its negation carried out."""
    return input.clone() if input._spec.neg else input


@composite()
def is_conj(input):
    """Whether the conjugate bit is set."""
    return input._spec.conj


@composite()
def is_neg(input):
    """Whether the negative bit is set."""
    return input._spec.neg
