"""What a backward must do with gradients that are zero or not there at all, which `gradcheck` looks at after the numbers.

Owns: these two checks, `GradcheckError`, and how tensors are looked at. May not know: differences.
"""
import warnings

import numpy as np

NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
UNDEFINED = ("Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing "
             "callers of this function. If this is true for you, you can call this function with \"check_undefined_grad=False\" to "
             "disable the feature")


class GradcheckError(RuntimeError):
    """A gradient is not what differences say."""

    __module__ = "torch.autograd.gradcheck"


def tupled(x):
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def with_history(outputs):
    return tuple([o for o in tupled(outputs) if o.requires_grad])


def is_sparse(t):
    import jtensor as torch
    return isinstance(t, torch.Tensor) and t.layout is not torch.strided and not t.is_nested


def host(t):
    return np.asarray(t.detach().resolve_conj().resolve_neg().contiguous().numpy()).reshape(-1).copy()


def zero_times_gradient(outputs, chosen):
    import jtensor as torch
    tensors = [t for _, t in chosen]
    grads = torch.autograd.grad(outputs, tensors, [torch.zeros_like(o) for o in outputs], allow_unused=True, retain_graph=True)
    for g, t in zip(grads, tensors, strict=True):
        if g is None:
            continue
        if is_sparse(g):
            _check_layout(g, t)
        if np.any(host(g.to_dense()) != 0):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype != t.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.size() != t.size():
            raise GradcheckError("grad is incorrect size")


def _check_layout(g, t):
    if g.layout is not t.layout:
        raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {t.layout})")
    for dim in ("sparse_dim", "dense_dim"):
        found, expected = getattr(g, dim)(), getattr(t, dim)()
        if found != expected:
            kind = g.layout.name.replace("_coo", "")
            raise GradcheckError(f"grad is {kind} tensor, but has incorrect {dim} {found}, expected {expected}")


def without_gradients(func, inputs, chosen):
    """The backward must take undefined gradients: of all outputs, and of each alone."""
    import jtensor as torch

    class Undefined(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return None

    def grads(cut):
        outs = [Undefined.apply(o) if cut is None or at == cut else o for at, o in enumerate(with_history(func(*inputs)))]
        weights = [torch.zeros_like(o) for o in outs]
        try:
            found = torch.autograd.grad(outs, [t for _, t in chosen], weights, allow_unused=True)
        except RuntimeError as error:
            warnings.warn(UNDEFINED, stacklevel=5)
            raise GradcheckError("Expected backward function to handle undefined output grads. " + NOTES) from error
        for g in found:
            if g is not None and np.any(host(g.to_dense()) != 0):
                warnings.warn(UNDEFINED, stacklevel=5)
                raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                                     + NOTES)
    count = len(with_history(func(*inputs)))
    grads(None)
    for at in range(count if count > 1 else 0):
        grads(at)
