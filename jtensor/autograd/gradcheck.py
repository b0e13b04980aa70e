"""`gradcheck` and `gradgradcheck`: gradients against central differences, with PyTorch's conditions and messages.

Owns: the two functions and `GradcheckError`. Numbers are compared on the host. The public interface is imported when a function is called.
``fast_mode`` makes the same full check.
"""
import warnings

import numpy as np

from ..base.errors import missing

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
UNDEFINED = ("Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing "
             "callers of this function. If this is true for you, you can call this function with \"check_undefined_grad=False\" to "
             "disable the feature")


class GradcheckError(RuntimeError):
    """A gradient is not what differences say."""

    __module__ = "torch.autograd.gradcheck"


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
              check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False, masked=None):
    """Whether the gradients of ``func`` at ``inputs`` (double precision) are those of central differences; raises where they are not.

    >>> x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    for name, needed, value, there in (("check_batched_grad", "check_backward_ad", check_batched_grad, check_backward_ad),
                                       ("check_batched_forward_grad", "check_forward_ad", check_batched_forward_grad, check_forward_ad)):
        if value and not there:
            raise AssertionError(f"Setting {name}=True requires {needed} to be True")
    try:
        inputs = _tuple(inputs)
        if check_backward_ad:
            _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes)
        if check_forward_ad:
            _check_forwards(func, inputs, eps, atol, rtol)
        if check_batched_grad:
            _check_batch(*_backward_of_rows(func, inputs))
        if check_batched_forward_grad:
            _check_batch(*_columns(func, inputs))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
                  check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """Whether the gradients of the gradients are those of central differences.

    >>> x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    import jtensor as torch
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if not check_rev_over_rev:
        for name, value in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
            if value:
                raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    inputs = _tuple(inputs)
    if grad_outputs is None:
        weights = tuple([_random_like(out, gen_non_contig_grad_outputs) for out in _with_history(func(*inputs))])
    else:
        weights = _tuple(grad_outputs)
    count = len(weights)

    def gradient(*args):
        given = args[:len(args) - count]
        chosen = tuple([t for t in given if isinstance(t, torch.Tensor) and t.requires_grad])
        grads = torch.autograd.grad(_with_history(func(*given)), chosen, args[len(args) - count:], create_graph=True, allow_unused=True)
        return tuple([g for g in grads if g is not None])
    return gradcheck(gradient, inputs + weights, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev)


def _tuple(x):
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def _with_history(outputs):
    return tuple([o for o in _tuple(outputs) if o.requires_grad])


def _random_like(out, strided):
    import jtensor as torch
    made = (torch.rand(tuple(out.shape), dtype=out.dtype) * 2 - 1).detach()
    if strided and made.numel() > 1:
        made = torch.stack([made, made], -1)[..., 0]
    return made.requires_grad_()


# -- the check --------------------------------------------------------------------------------------------------------


def _check(func, inputs, eps, atol, rtol, nondet_tol, undefined, dtypes):
    chosen = _inputs_checked(inputs)
    given = func(*inputs)
    outputs = _with_history(given)
    if not outputs:
        _nothing_differentiable(func, inputs, chosen, given, eps)
        return
    parts = [(lambda o: o, "")]
    if any(o.is_complex() for o in outputs):
        parts = [(lambda o: o.imag if o.is_complex() else None, "While considering the imaginary part of complex outputs only, "),
                 (lambda o: o.real if o.is_complex() else o, "While considering the real part of complex outputs only, ")]
    for part, lead in parts:
        _compare(func, inputs, chosen, part, lead, eps, atol, rtol, nondet_tol, dtypes)
    _zero_times_gradient(outputs, chosen)
    if undefined:
        _without_gradients(func, inputs, chosen)


def _inputs_checked(inputs):
    """The inputs that require grad."""
    import jtensor as torch
    chosen = []
    for at, t in enumerate(inputs):
        if not isinstance(t, torch.Tensor) or not t.requires_grad:
            continue
        if t.layout is not torch.strided:
            raise missing("gradcheck of sparse inputs", "gradcheck of a function of the values, which makes the sparse tensor inside")
        if t.dtype not in (torch.float64, torch.complex128):
            warnings.warn(f"Input #{at} requires gradient and is not a double precision floating point or complex. This check will "
                          f"likely fail "
                          "if all the inputs are not of double precision floating point or complex. ", stacklevel=4)
        if any(stride == 0 and size > 1 for stride, size in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(f"The {at}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                               f"non-overlapping to be "
                               "able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                               "passing it "
                               "to gradcheck.")
        t.retain_grad()
        chosen.append((at, t))
    if not chosen:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
    return chosen


def _compare(func, inputs, chosen, part, lead, eps, atol, rtol, nondet_tol, dtypes):
    outputs = [part(o) for o in _with_history(func(*inputs))]

    def values():
        return [part(o) for o in _with_history(func(*inputs))]
    numerical = {at: _numerical(values, t, eps) for at, t in chosen}
    for nr, out in enumerate(outputs):
        if out is None:
            continue
        analytical = _analytical(out, chosen, nondet_tol, dtypes)
        for (at, t), found in zip(chosen, analytical, strict=True):
            expected = numerical[at][nr]
            if expected is not None and not np.allclose(found, expected, rtol, atol, equal_nan=False):
                raise GradcheckError(f"{lead}Jacobian mismatch for output {nr} with respect to input "
                                     f"{at},\nnumerical:{_shown(expected, t)}\n"
                                     f"analytical:{_shown(found, t)}\n")


def _check_forwards(func, inputs, eps, atol, rtol):
    """The same of tangents: each column is a derivative in the direction of one element."""
    chosen = _inputs_checked(inputs)
    kinds = [_is_continuous(o) for o in _tuple(func(*inputs))]

    def values():
        return [o for o, kind in zip(_tuple(func(*inputs)), kinds, strict=True) if kind]
    for at, t in chosen:
        numerical, found = _numerical(values, t, eps), _tangents(func, inputs, at, t, kinds)
        for nr, expected in enumerate(numerical):
            if expected is not None and not np.allclose(found[nr], expected, rtol, atol, equal_nan=False):
                raise GradcheckError(f"Jacobian computed with forward mode mismatch for output {nr} with respect to input {at},\n"
                                     f"numerical:{_shown(expected, t)}\nanalytical:{_shown(found[nr], t)}\n")


def _is_continuous(x):
    return hasattr(x, "dtype") and (x.is_floating_point() or x.is_complex())


def _tangents(func, inputs, at, t, kinds):
    """For each continuous output a matrix (elements of ``t``, of the output) of its derivatives."""
    columns = []
    for place in range(t.numel()):
        column = [_host(x) for x in _tangent(func, inputs, at, _direction(t, place), kinds)]
        if t.is_complex():                               # as differences are combined: the slope along i counts i times
            along = [_host(x) for x in _tangent(func, inputs, at, _direction(t, place) * 1j, kinds)]
            column = [a + 1j * b for a, b in zip(column, along, strict=True)]
        columns.append(column)
    return [np.array(rows) for rows in zip(*columns, strict=True)]


def _direction(t, place):
    import jtensor as torch
    made = torch.zeros(t.numel(), dtype=t.dtype)
    made[place] = 1
    return made.view(t.shape)


def _tangent(func, inputs, at, direction, kinds):
    """The tangents of the continuous outputs for one of the inputs' ``at``."""
    import jtensor as torch
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        given = [ad.make_dual(x, direction) if nr == at else x for nr, x in enumerate(inputs)]
        outputs = [ad.unpack_dual(o) for o, kind in zip(_tuple(func(*given)), kinds, strict=True) if kind]
        return [torch.zeros_like(o.primal) if o.tangent is None else o.tangent for o in outputs]


# -- batches of them --------------------------------------------------------------------------------------------------


def _backward_of_rows(func, inputs):
    """A backward of random gradients, and some of these."""
    import jtensor as torch
    outputs, tensors = _with_history(func(*inputs)), [t for _, t in _inputs_checked(inputs)]

    def backward(*grads):
        found = torch.autograd.grad(outputs, tensors, grads, retain_graph=True, allow_unused=True)
        return [g for g in found if g is not None]
    return backward, [torch.randn(2, *o.shape, dtype=o.dtype) for o in outputs], "Vmap for the backward"


def _columns(func, inputs):
    """Derivatives in a random direction, and some of these."""
    import jtensor as torch
    kinds, chosen = [_is_continuous(o) for o in _tuple(func(*inputs))], _inputs_checked(inputs)

    def forward(*directions):
        return [x for (at, _), d in zip(chosen, directions, strict=True) for x in _tangent(func, inputs, at, d, kinds)]
    return forward, [torch.randn(2, *t.shape, dtype=t.dtype) for _, t in chosen], "Vmap for forward AD"


def _check_batch(function, rows, what):
    """A function of a batch answers what it answers for each."""
    import jtensor as torch
    if not rows:
        return
    each = [function(*row) for row in zip(*rows, strict=True)]
    found = torch.func.vmap(function)(*rows)
    for batch, expected in zip(found, zip(*each, strict=True), strict=True):
        if not torch.allclose(batch, torch.stack(list(expected))):
            raise GradcheckError(f"{what} gives other numbers than one call after the other:\n{batch}\nand\n{torch.stack(list(expected))}")


def _host(t):
    return np.asarray(t.detach().resolve_conj().resolve_neg().contiguous().numpy()).reshape(-1).copy()


def _shown(matrix, like):
    import jtensor as torch
    return torch.from_numpy(np.ascontiguousarray(matrix)).to(like.dtype)


def _numerical(values, t, eps):
    """For each output a matrix (elements of ``t``, of the output) of central differences; ``t`` is changed in place and restored."""
    def seen():                                          # at once: an output may be the input itself
        return [o if o is None else (o.shape, o.dtype, _host(o)) for o in values()]
    data, columns = t.data, []
    host = np.asarray(t.detach().resolve_conj().resolve_neg().contiguous().numpy()).copy()
    for place in np.ndindex(*host.shape):
        column = None
        for step in (eps, eps * 1j) if t.is_complex() else (eps,):
            old = host[place].item()
            data[place] = old + step
            high = seen()
            data[place] = old - step
            low = seen()
            data[place] = old
            slopes = [None if h is None else _slope(w, h, place, step, eps) for h, w in zip(high, low, strict=True)]
            column = slopes if column is None else [None if a is None else a + 1j * b for a, b in zip(column, slopes, strict=True)]
        columns.append(column)
    outputs = len(columns[0]) if columns else len(values())
    return [np.array([c[nr] for c in columns]) if columns and columns[0][nr] is not None else None for nr in range(outputs)]


def _slope(low, high, place, step, eps):
    """The difference quotient of two (shape, dtype, elements). AssertionError where these are not alike."""
    for what, a, b in (("shape", low[0], high[0]), ("dtype", low[1], high[1])):
        if a != b:
            raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index {place} by "
                                 f"{step}, but got: {what}s {a} and {b}.")
    return (high[2] - low[2]) / (2 * eps)


def _analytical(out, chosen, nondet_tol, dtypes):
    """For each input the matrix of gradients of the output's elements; computed twice, as a backward may not be deterministic."""
    first, second = (_rows(out, chosen, dtypes) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        if not np.allclose(a, b, rtol=0, atol=nondet_tol, equal_nan=True):
            raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                                 "different values, although analytical gradient matches numerical gradient.The tolerance for "
                                 "nondeterminism "
                                 f"was {nondet_tol}.")
    return first


def _rows(out, chosen, dtypes):
    import jtensor as torch
    matrices = [np.zeros((t.numel(), out.numel()), _kind(t)) for _, t in chosen]
    for k in range(out.numel()):
        weight = torch.zeros(out.numel(), dtype=out.dtype)
        weight[k] = 1
        grads = torch.autograd.grad(out, [t for _, t in chosen], weight.view(out.shape), retain_graph=True, allow_unused=True)
        for matrix, (_, t), g in zip(matrices, chosen, grads, strict=True):
            if g is None:
                continue
            if g.shape != t.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if dtypes and g.dtype != t.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            matrix[:, k] = _host(g.to_dense())
    return matrices


def _kind(t):
    return np.complex128 if t.is_complex() else np.float64


def _nothing_differentiable(func, inputs, chosen, given, eps):
    """An output without history must not depend on the inputs."""
    kinds = [hasattr(o, "dtype") and (o.is_floating_point() or o.is_complex()) for o in _tuple(given)]

    def values():
        return [o for o, differentiable in zip(_tuple(func(*inputs)), kinds, strict=True) if differentiable]
    for _, t in chosen:
        if any(np.any(matrix != 0) for matrix in _numerical(values, t, eps)):
            raise GradcheckError("Numerical gradient for function expected to be zero")


def _zero_times_gradient(outputs, chosen):
    import jtensor as torch
    tensors = [t for _, t in chosen]
    grads = torch.autograd.grad(outputs, tensors, [torch.zeros_like(o) for o in outputs], allow_unused=True, retain_graph=True)
    for g, t in zip(grads, tensors, strict=True):
        if g is None:
            continue
        if g.layout is not t.layout:
            raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {t.layout})")
        if np.any(_host(g) != 0):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype != t.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.size() != t.size():
            raise GradcheckError("grad is incorrect size")


def _without_gradients(func, inputs, chosen):
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
        outs = [Undefined.apply(o) if cut is None or at == cut else o for at, o in enumerate(_with_history(func(*inputs)))]
        weights = [torch.zeros_like(o) for o in outs]
        try:
            found = torch.autograd.grad(outs, [t for _, t in chosen], weights, allow_unused=True)
        except RuntimeError as error:
            warnings.warn(UNDEFINED, stacklevel=5)
            raise GradcheckError("Expected backward function to handle undefined output grads. " + NOTES) from error
        for g in found:
            if g is not None and np.any(_host(g) != 0):
                warnings.warn(UNDEFINED, stacklevel=5)
                raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                                     + NOTES)
    count = len(_with_history(func(*inputs)))
    grads(None)
    for at in range(count if count > 1 else 0):
        grads(at)
